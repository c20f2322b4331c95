"""Train one zoo on a GPU and measure its networks, within a time limit, resumable; numpy and torch alone.

    PYTHONPATH=src python3 benchmarks/gpu_zoo.py mnist-mlp --seeds 0,1 --budget 300

Reads `carry/<data>.xz` (made by zoo_data.py). Writes under the folder named by OUT as it goes: networks_<zoo>.csv (hyper-parameters, accuracies, gap,
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
from unseen.nets._bench_rows import MeasureRow, measure_zoo, measures_named, read_rows, write_table
from unseen.nets._weight_files import read_weights, write_weights
from unseen.nets._zoo_data import zoo_data
from unseen.nets._zoo_grids import zoo_grid

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
FILE_LIMIT = 15 * 2**20


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("zoo")
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--budget", type=float, default=480.0, help="seconds in all")
    parser.add_argument("--train-budget", type=float, help="begin no group of networks after so many seconds")
    parser.add_argument("--folder", help="where the zoo is kept between calls")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("--no-copies", action="store_true")
    parser.add_argument("--more-seeds", help="seeds to add when the first ones are done early")
    parser.add_argument("--more-before", type=float, default=120.0, help="seconds until which further seeds are begun")
    parser.add_argument("--draws", default="{}", help="JSON: draws of single measures")
    parser.add_argument("--measures", default="all", help="'all' or ids with commas")
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
    found = [m.id for m in measures_named("all" if names == "all" else names.split(","))]
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


def measure(zoo: Zoo, options, folder: Path, out: Path, device: str, deadline: float) -> list[MeasureRow]:
    """Measure all networks in parallel processes that share the device; merge what they wrote every few seconds."""
    names, draws = ordered_measures(options.measures), json.loads(options.draws)
    parts = [folder / f"measures-{k}-of-{options.workers}.csv" for k in range(options.workers)]
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
                deadline - 5,
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
        rows = merged(parts)
        if rows:
            write_table(target, [vars(row) for row in rows])
    for job in jobs:
        if job.is_alive():
            job.terminate()
        job.join()
    for part in parts:
        if part.with_suffix(".error").exists():
            say(out, zoo.grid.id, f"worker failed: {part.with_suffix('.error').read_text()}")
    rows = merged(parts)
    if rows:
        write_table(target, [vars(row) for row in rows])
    return rows


def export(zoo: Zoo, folder: Path, out: Path, most: int = 3) -> None:
    """Bring the networks home in half precision, the copies on 80 % left out, while they fit into a few files."""
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


def train(options, grid, data, folder: Path, out: Path, begun: float, seeds: list[int], label: str) -> Zoo:
    """Train group by group until all are done or the time for training is over."""
    extra = {"tf32": True} if options.tf32 else {}
    while True:
        start = time.time()
        zoo = Zoo.train(
            grid, data, folder=folder, seeds=seeds, copies=False, device=options.device, weights="float16", max_seconds=0, **extra
        )  # fmt: skip
        if not label:
            write_table(out / f"networks_{grid.id}.csv", zoo.rows())
        left = [n for n in zoo.notes if n.code == "N005"]
        newest = [net for net in zoo.nets if net.group == max(n.group for n in zoo.nets)]
        epochs, right = [n.epochs for n in newest], [n.train_accuracy for n in newest]
        say(
            out, grid.id,
            f"{time.time() - begun:6.1f} s{label}  group in {time.time() - start:5.1f} s  {newest[0].hyper}  epochs {min(epochs)}-{max(epochs)}  "
            f"train accuracy {min(right):.3f}-{max(right):.3f}  gap {np.mean([n.gap for n in newest]):.4f}",
        )  # fmt: skip
        if not left or time.time() - begun > (options.train_budget or 0.7 * options.budget):
            return zoo


def with_copies(zoo: Zoo, copies: Zoo, held: list[int]) -> Zoo:
    """Put the weights of the copies beside those of their networks, and their hold-out errors into the manifest."""
    errors = {net.name: 1 - net.test_accuracy for net in copies.nets}
    for group in sorted({net.group for net in copies.nets}):
        file = f"group-{group:03d}.safetensors"
        twins = {name.replace("/", ".copy80/", 1): value for name, value in read_weights(copies.folder / file).items()}
        write_weights(zoo.folder / file, {**read_weights(zoo.folder / file), **twins})
    path = zoo.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["held_out"] = held
    for records in manifest["groups"].values():
        for record in records:
            record["holdout_error"] = errors.get(record["name"])
    path.write_text(json.dumps(manifest, indent=1))
    return Zoo.load(zoo.folder, zoo.data, grid=zoo.grid)


def train_all(options, grid, data, folder: Path, out: Path, begun: float) -> Zoo:
    """Train the networks, then their copies on 80 % of the rows: a grid that is not complete would be worth nothing."""
    seeds = [int(s) for s in options.seeds.split(",")]
    zoo = train(options, grid, data, folder / "networks", out, begun, seeds, "")
    if options.more_seeds and time.time() - begun < options.more_before:
        wider = seeds + [int(s) for s in options.more_seeds.split(",")]
        say(out, grid.id, f"{time.time() - begun:6.1f} s  time is left: further seeds {options.more_seeds}")
        more = train(options, grid, data, folder / "more", out, begun, wider[len(seeds) :], "_more")
        if not [n for n in more.notes if n.code == "N005"]:
            zoo = joined(zoo, more, folder / "both")
            write_table(out / f"networks_{grid.id}.csv", zoo.rows())
    if options.no_copies or [n for n in zoo.notes if n.code == "N005"]:
        return zoo
    order = np.random.default_rng(0).permutation(len(data.y_train))
    held, kept = np.sort(order[: len(order) // 5]), np.sort(order[len(order) // 5 :])
    part = replace(
        data, X_train=data.X_train[kept], y_train=data.y_train[kept], X_test=data.X_train[held], y_test=data.y_train[held],
        fingerprint=f"{data.fingerprint}-80",
    )  # fmt: skip
    copies = train(options, grid, part, folder / "copies", out, begun, sorted({n.seed for n in zoo.nets}), "_copies")
    zoo = with_copies(zoo, copies, held.tolist())
    write_table(out / f"networks_{grid.id}.csv", zoo.rows())
    return zoo


def joined(first: Zoo, second: Zoo, folder: Path) -> Zoo:
    """Make one zoo of two that differ in their seeds."""
    folder.mkdir(parents=True, exist_ok=True)
    manifests = [json.loads((z.folder / "manifest.json").read_text()) for z in (first, second)]
    for group in manifests[0]["groups"]:
        file = f"group-{int(group):03d}.safetensors"
        write_weights(folder / file, {k: v for z in (first, second) for k, v in read_weights(z.folder / file).items()})
        manifests[0]["groups"][group] += manifests[1]["groups"][group]
    manifests[0]["seeds"] += manifests[1]["seeds"]
    (folder / "manifest.json").write_text(json.dumps(manifests[0], indent=1))
    return Zoo.load(folder, first.data, grid=first.grid)


def main() -> None:
    begun, options = time.time(), arguments()
    out = Path(os.environ.get("OUT", "out"))
    out.mkdir(exist_ok=True)
    grid = zoo_grid(options.zoo)
    raw = images.read(Path("carry") / f"{grid.data}.xz")
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
    zoo = train_all(options, grid, data, folder, out, begun)
    say(out, grid.id, str(zoo))
    export(zoo, zoo.folder, out)
    rows = measure(zoo, options, folder, out, device, begun + options.budget)
    say(out, grid.id, f"{time.time() - begun:6.1f} s  {len(rows)} measures of {len(zoo)} networks")
    table: dict[str, list[MeasureRow]] = {}
    for row in rows:
        table.setdefault(row.measure, []).append(row)
    for name, found in table.items():
        seconds = np.array([r.seconds for r in found])
        bad = [r.reason for r in found if r.reason]
        say(
            out, grid.id,
            f"{name:24s} {len(found):4d} networks  {np.median(seconds):8.4f} s median  {seconds.sum():8.2f} s in all  {len(bad)} not applicable {bad[:1]}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
