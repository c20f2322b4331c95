"""Train one zoo on a GPU and measure its networks, within a time limit, resumable; numpy and torch alone.

    PYTHONPATH=src python3 studies/gpu_zoo.py mnist-mlp --seeds 0,1 --budget 300

Reads `carry/<data>.xz` (made by zoo_data.py). Copies on 80% of the rows are trained beside the networks by a second process. Writes under the folder named by OUT as it goes: networks_<zoo>.csv (hyper-parameters, accuracies, gap,
epochs, loss), measures_<zoo>.csv (value, standard error, seconds), weights_<zoo>_<k>.safetensors (half precision, while they fit), log_<zoo>.txt.
The zoo itself lies under --folder, so that a second call on the same machine goes on where the first stopped. The last thing printed is a table of seconds per measure.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing as mp
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import zoo_data as images

from unseen.nets import Zoo
from unseen.nets.files.weights import read_weights, write_weights
from unseen.nets.measures.measure import build_measures
from unseen.nets.ranking.bench import MeasureRow, measure_zoo, read_rows, write_table
from unseen.nets.zoo.data import zoo_data
from unseen.nets.zoo.grids import zoo_grid

# controls and what needs no draws first, what is slow last: a run that is stopped leaves whole columns of the others
LAST = (
    "dbi-mixup",
    "vpm",
    "wcv",
    "vr",
    "constrained-margin",
    "bayesian",
    "multi-augment",
    "always-generalize",
    "par-search",
)
NEED_COPIES = ("holdout80", "par-search")
FILE_LIMIT = 15 * 2**20


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("zoo")
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--budget", type=float, default=480.0, help="seconds in all")
    parser.add_argument("--train-budget", type=float, help="seconds for the networks themselves, copies apart")
    parser.add_argument("--folder", help="where the zoo is kept between calls")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("--no-copies", action="store_true")
    parser.add_argument("--no-weights", action="store_true", help="leave the weights on the machine")
    parser.add_argument("--last-seconds", type=float, default=45.0, help="seconds kept for measures that need copies")
    parser.add_argument(
        "--group-seconds", type=float, default=60.0, help="end a group that takes longer; it is tried again at the end"
    )
    parser.add_argument("--draws", default="{}", help="JSON: draws of single measures")
    parser.add_argument("--measures", default="all", help="'all' or ids with commas")
    parser.add_argument("--train-images", type=int, help="take only the first so many training images")
    parser.add_argument("--toy", type=int, help="use so many images and the two first values of the two first axes")
    return parser.parse_args()


def say(out: Path, zoo: str, text: str) -> None:
    print(text, flush=True)
    with (out / f"log_{zoo}.txt").open("a") as file:
        file.write(text + "\n")


def toy_grid(grid):
    axes = {name: values[:2] if k < 2 else values[:1] for k, (name, values) in enumerate(grid.axes.items())}
    return replace(grid, axes=axes, epochs=10)


def ordered_measures(names: str) -> list[str]:
    found = [m.id for m in build_measures("all" if names == "all" else names.split(","))]
    return [m for m in found if m not in LAST] + [m for m in LAST if m in found]


def worker(number, count, folder, raw, grid, measures, draws, device, path, deadline) -> None:
    torch.set_num_threads(1)
    logging.getLogger("unseen").setLevel(logging.ERROR)
    zoo = Zoo.load(folder, dict(np.load(raw)), grid=grid)
    left = deadline - time.time()
    try:
        measure_zoo(
            zoo, measures, path=path, nets=range(number, len(zoo), count), draws=draws, device=device, max_seconds=left
        )
    except Exception as error:  # one worker's failure must not hide the others' rows
        Path(path).with_suffix(".error").write_text(repr(error))
        raise


def merged(parts: list[Path]) -> list[MeasureRow]:
    return [row for part in parts if part.exists() for row in read_rows(part)]


def measure(
    zoo: Zoo, options, names: list[str], folder: Path, out: Path, device: str, deadline: float
) -> list[MeasureRow]:
    """Measure all networks in parallel processes that share the device; merge what they wrote every few seconds."""
    draws = json.loads(options.draws)
    parts = [folder / f"measures-{k}-of-{options.workers}.csv" for k in range(options.workers)]
    for part in parts:
        part.with_suffix(".error").unlink(missing_ok=True)
    context = mp.get_context("spawn")
    jobs = [
        context.Process(
            target=worker,
            args=(
                k,
                options.workers,
                str(zoo.folder),
                str(folder / "raw.npz"),
                zoo.grid,
                names,
                draws,
                device,
                str(part),
                deadline - 4,
            ),
            daemon=True,
        )
        for k, part in enumerate(parts)
    ]
    for job in jobs:
        job.start()
    target = out / f"measures_{zoo.grid.id}.csv"
    while any(job.is_alive() for job in jobs) and time.time() < deadline:
        time.sleep(2)
        if rows := merged(parts):
            write_table(target, [vars(row) for row in rows])
    for job in jobs:
        if job.is_alive():
            job.terminate()
        job.join()
    for part in parts:
        if part.with_suffix(".error").exists():
            say(out, zoo.grid.id, f"worker failed: {part.with_suffix('.error').read_text()}")
    if rows := merged(parts):
        write_table(target, [vars(row) for row in rows])
    return rows


def export(zoo: Zoo, folder: Path, out: Path, most: int = 3) -> None:
    """Bring the networks home in half precision, the copies on 80% left out, while they fit into a few files."""
    tensors: dict[str, torch.Tensor] = {}
    size = number = 0
    for group in sorted({net.group for net in zoo.nets}):
        for name, value in read_weights(folder / f"group-{group:03d}.safetensors").items():
            if ".copy80/" in name:
                continue
            value = value.half() if value.is_floating_point() else value
            if size + value.nbytes + 200 * (len(tensors) + 1) > FILE_LIMIT:
                write_weights(out / f"weights_{zoo.grid.id}_{number}.safetensors", tensors)
                tensors, size, number = {}, 0, number + 1
                if number == most:
                    return
            tensors[name] = value
            size += value.nbytes
    if tensors:
        write_weights(out / f"weights_{zoo.grid.id}_{number}.safetensors", tensors)
    (out / f"manifest_{zoo.grid.id}.json").write_bytes((folder / "manifest.json").read_bytes())


def train(
    options, grid, data, folder: Path, out: Path, begun: float, seeds: list[int], label: str, until: float
) -> Zoo:
    """Train all groups, twice where the first try left some out; no group runs past the hour set."""

    def tell(zoo: Zoo) -> None:
        if not label:
            write_table(out / f"networks_{grid.id}.csv", zoo.rows())
        newest = [net for net in zoo.nets if net.group == seen[-1]] if seen else zoo.nets
        for group in sorted({net.group for net in zoo.nets} - set(seen)):
            seen.append(group)
            newest = [net for net in zoo.nets if net.group == group]
        epochs, right = [n.epochs for n in newest], [n.train_accuracy for n in newest]
        say(
            out,
            grid.id,
            f"{time.time() - begun:6.1f} s{label}  group {newest[0].group + 1}  {newest[0].hyper}  epochs {min(epochs)}-{max(epochs)}  "
            f"train accuracy {min(right):.3f}-{max(right):.3f}  gap {np.mean([n.gap for n in newest]):.4f}",
        )

    seen: list[int] = []
    extra = {"tf32": True} if options.tf32 else {}
    for share in (options.group_seconds, 1e9):
        left = begun + until - time.time()
        if left < 2:
            break
        zoo = Zoo.train(
            grid,
            data,
            store=folder,
            seeds=seeds,
            copies=copies_inside(grid) and not options.no_copies,
            device=options.device,
            weights="float16",
            max_seconds=left - 2,
            max_group_seconds=max(1.0, min(share, left)),
            on_group=tell,
            **extra,
        )
        if not [n for n in zoo.notes if n.code == "N005"]:
            break
    if not (folder / "manifest.json").exists():
        raise SystemExit("no group was done in time")
    zoo = Zoo.load(folder, data, grid=grid)
    how = json.loads((folder / "manifest.json").read_text())["how"]
    say(out, grid.id, "how: " + "; ".join(f"group {int(k) + 1} {v}" for k, v in how.items()))
    return zoo


def copies_inside(grid) -> bool:
    """Say whether copies on 80% are trained in the groups of the networks: those that see noisy labels must see the same noise."""
    return "label_noise" in grid.axes


def with_copies(zoo: Zoo, copies: Zoo, held: list[int], folder: Path) -> Zoo:
    """Write a third zoo, of the networks with their copies and hold-out errors: the other two can still be gone on with."""
    folder.mkdir(exist_ok=True)
    errors = {net.name: 1 - net.test_accuracy for net in copies.nets}
    copied = {net.group for net in copies.nets}
    for group in sorted({net.group for net in zoo.nets}):
        file, twins = f"group-{group:03d}.safetensors", {}
        if group in copied:
            stored = read_weights(copies.folder / file)
            twins = {name.replace("/", ".copy80/", 1): value for name, value in stored.items()}
        write_weights(folder / file, {**read_weights(zoo.folder / file), **twins})
    manifest = json.loads((zoo.folder / "manifest.json").read_text())
    manifest["held_out"] = held
    for records in manifest["groups"].values():
        for record in records:
            record["holdout_error"] = errors.get(record["name"])
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    return Zoo.load(folder, zoo.data, grid=zoo.grid)


def parted(data):
    """Return the data of the copies, trained on 80% of the rows and tested on the others, and which these are."""
    order = np.random.default_rng(0).permutation(len(data.y_train))
    held, kept = np.sort(order[: len(order) // 5]), np.sort(order[len(order) // 5 :])
    part = replace(
        data,
        X_train=data.X_train[kept],
        y_train=data.y_train[kept],
        X_test=data.X_train[held],
        y_test=data.y_train[held],
        fingerprint=f"{data.fingerprint}-80",
    )
    return part, held.tolist()


def train_copies(options, grid, folder: Path, out: Path, begun: float, seeds: list[int], until: float) -> None:
    """Train copies of all networks on 80% of the rows, in a process of its own beside the networks themselves."""
    logging.getLogger("unseen").setLevel(logging.ERROR)
    part, _ = parted(zoo_data(dict(np.load(folder / "raw.npz"))))
    train(options, grid, part, folder / "copies", out, begun, seeds, "_copies", until)


def joined(zoo: Zoo, folder: Path, out: Path) -> Zoo:
    """Return the zoo with those copies that were trained in time."""
    if not (folder / "copies" / "manifest.json").exists():
        return zoo
    part, held = parted(zoo.data)
    zoo = with_copies(zoo, Zoo.load(folder / "copies", part, grid=zoo.grid), held, folder / "joined")
    write_table(out / f"networks_{zoo.grid.id}.csv", zoo.rows())
    return zoo


def gaps_by_axis(zoo: Zoo) -> str:
    """Say how far each hyper-parameter moves the gap."""
    lines = [f"gap: standard deviation {zoo.gap.std():.4f}"]
    for name, column in zoo.axes.items():
        texts = np.array([str(v) for v in column])
        lines.append(f"  {name}: " + ", ".join(f"{v} {zoo.gap[texts == v].mean():.4f}" for v in dict.fromkeys(texts)))
    return "\n".join(lines)


def main() -> None:
    begun, options = time.time(), arguments()
    out = Path(os.environ.get("OUT", "out"))
    out.mkdir(exist_ok=True)
    logging.basicConfig(filename=out / f"training_{options.zoo}.txt", format="%(relativeCreated)9.0f ms  %(message)s")
    logging.getLogger("unseen").setLevel(logging.INFO)
    grid = zoo_grid(options.zoo)
    raw = images.read(Path("carry") / f"{grid.data}.xz")
    if options.train_images:
        raw = {k: v[: options.train_images] if k.endswith("train") else v for k, v in raw.items()}
    if options.toy:
        raw, grid = {k: v[: options.toy] for k, v in raw.items()}, toy_grid(grid)
    data = zoo_data(raw)
    folder = Path(options.folder or f"/tmp/zoo-{grid.id}")
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "raw.npz", **raw)  # workers read it again: tensors passed on would need shared memory
    device = options.device if options.device != "auto" else ("cuda" if torch.cuda.is_available() else "cpu")
    say(
        out,
        grid.id,
        f"{time.time() - begun:6.1f} s  data read: {len(data.y_train)} / {len(data.y_test)} images, device {device}",
    )
    seeds, budget = [int(x) for x in options.seeds.split(",")], options.budget
    names = ordered_measures(options.measures)
    later = [name for name in names if name in NEED_COPIES]
    wanted = bool(later) and not options.no_copies and not copies_inside(grid)
    copying = mp.get_context("spawn").Process(
        target=train_copies, args=(options, grid, folder, out, begun, seeds, budget - options.last_seconds), daemon=True
    )
    if wanted:
        copying.start()
    zoo = train(options, grid, data, folder / "networks", out, begun, seeds, "", options.train_budget or 0.5 * budget)
    say(out, grid.id, f"{zoo}\n{gaps_by_axis(zoo)}")
    if not options.no_weights:
        export(zoo, zoo.folder, out)
    first = budget - options.last_seconds if wanted else budget
    asked = names if copies_inside(grid) else [n for n in names if n not in later]
    rows = measure(zoo, options, asked, folder, out, device, begun + first)
    say(out, grid.id, f"{time.time() - begun:6.1f} s  {len(rows)} measures of {len(zoo)} networks")
    if wanted:
        copying.join(max(0.0, begun + budget - options.last_seconds + 5 - time.time()))
        if copying.is_alive():
            copying.kill()
        zoo = joined(zoo, folder, out)
        rows = measure(zoo, options, later + [n for n in names if n not in later], folder, out, device, begun + budget)
    say(out, grid.id, f"{time.time() - begun:6.1f} s  {len(rows)} measures of {len(zoo)} networks")
    table: dict[str, list[MeasureRow]] = {}
    for row in rows:
        table.setdefault(row.measure, []).append(row)
    for name, found in table.items():
        seconds = np.array([r.seconds for r in found])
        bad = [r.reason for r in found if r.reason]
        say(
            out,
            grid.id,
            f"{name:24s} {len(found):4d} networks  {np.median(seconds):8.4f} s median  {seconds.sum():8.2f} s in all  {len(bad)} not applicable {bad[:1]}",
        )


if __name__ == "__main__":
    main()
