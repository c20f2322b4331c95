"""Write the bench tables and figures of the documentation from the stored networks and measures.

    python studies/zoo_table.py [ZOO ...] [--folder studies/zoo] [--docs docs]

Reads {networks,measures}_<zoo>.csv of every zoo in the folder; writes bench_<zoo>.csv beside them, docs/tables/zoo_<zoo>.md and docs/images/zoo_<zoo>_{scores,scatter}.png.
Published scores stand beside ours in columns of their own: they were reached on other networks. A zoo that cannot be scored is named with the reason, the others are written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from zoo_benches import DOCS, ZOOS, stored_benches

from unseen.nets.ranking.bench import write_table
from unseen.nets.ranking.bench_record import Bench

# CMI x 100 as published for tasks of the competition (other networks; sources in docs/validation/zoo.md)
PUBLISHED = {
    "task 1": {"dbi-mixup": 25.22, "mixup-margin": 1.11, "augment-margin": 15.66, "vpm": 6.07, "wcv": 27.75, "vr": 9.32, "kv-margin": 5.83, "kv-gn-margin": 18.17, "distance-from-initial": 5.13, "sharpness": 0.00},
    "task 2": {"dbi-mixup": 22.19, "mixup-margin": 47.33, "augment-margin": 48.34, "vpm": 6.44, "wcv": 37.44, "vr": 19.58, "kv-margin": 29.11, "kv-gn-margin": 45.24, "distance-from-initial": 4.71, "sharpness": 0.00},
    "mean 6-9": {"dbi-mixup": 22.92, "mixup-margin": 13.93, "augment-margin": 9.29, "always-generalize": 9.59, "vpm": 9.99, "kv-margin": 6.04, "kv-gn-margin": 7.71, "weighted-augment": 19.59, "multi-augment": 3.39},
}  # fmt: skip
HEADS = ("measure", "CMI", "over seeds", "honest", "p", "tau", "granulated", "worst", "s")


def markdown(bench: Bench) -> str:
    heads = [*HEADS, *(f"*published, {task}*" for task in PUBLISHED)]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for line in bench.lines:
        name = f"*{line.measure}* (control)" if line.control else f"`{line.measure}`"
        over = f"{line.cmi_low:.1f} to {line.cmi_high:.1f}" if len(set(bench.seeds.tolist())) > 1 else "-"
        cells = [
            name,
            f"{line.cmi:.2f}",
            over,
            f"{line.cmi_honest:.2f}",
            f"{line.p_value:.3f}",
            f"{line.tau:.2f}",
            f"{line.granulated_tau:.2f}",
            f"{line.robust_error:.2f}",
            f"{line.seconds:.3f}",
            *(f"{task[line.measure]:.2f}" if line.measure in task else "" for task in PUBLISHED.values()),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", beneath(bench)]) + "\n"


def beneath(bench: Bench) -> str:
    """Say what the table rests on: networks, gaps, noise floor, values dropped, measures left out."""
    seeds = len(set(bench.seeds.tolist()))
    text = [
        f"{len(bench.gap)} networks, {seeds} {'seeds' if seeds > 1 else 'seed'}; axes {', '.join(bench.axes)}; gaps {bench.gap.min():.3f} to {bench.gap.max():.3f}, standard "
        f"deviation {bench.gap.std():.4f}. One in twenty measures without information scores above {bench.noise_floor:.2f}."
    ]
    text += [f"Dropped: {note.text}." for note in bench.notes if note.code == "N004"]
    if bench.left_out:
        text.append(
            "Without a value for every network: "
            + "; ".join(f"`{name}` ({reason})" for name, reason in bench.left_out.items())
            + "."
        )
    return " ".join(text)


def write(bench: Bench, folder: Path, docs: Path) -> None:
    rounded = [{k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()} for row in bench.rows()]
    write_table(folder / f"bench_{bench.zoo}.csv", rounded)
    for place in ("tables", "images"):
        (docs / place).mkdir(parents=True, exist_ok=True)
    (docs / "tables" / f"zoo_{bench.zoo}.md").write_text(markdown(bench))
    for name in ("scores", "scatter"):
        figure = bench.plot(name).figure
        figure.savefig(docs / "images" / f"zoo_{bench.zoo}_{name}.png", dpi=90, bbox_inches="tight")
        plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoos", nargs="*", help="all by default")
    parser.add_argument("--folder", type=Path, default=ZOOS)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    benches, left_out = stored_benches(options.folder, options.zoos)
    for bench in benches.values():
        print(bench, flush=True)
        write(bench, options.folder, options.docs)
    for zoo, reason in left_out.items():
        print(f"left out: {zoo}: {reason}", flush=True)


if __name__ == "__main__":
    main()
