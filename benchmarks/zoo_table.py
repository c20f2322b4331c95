"""Write the bench tables and figures of the documentation from the stored networks and measures.

    python benchmarks/zoo_table.py

Reads benchmarks/zoo/{networks,measures}_<zoo>.csv, writes benchmarks/zoo/bench_<zoo>.csv, docs/tables/zoo_<zoo>.md and docs/images/zoo_<zoo>_{scores,scatter}.png. Published scores
stand beside ours in columns of their own: they were reached on other networks.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from unseen.nets import bench_of
from unseen.nets._bench_record import Bench
from unseen.nets._bench_rows import write_table

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
# CMI x 100 as published for tasks of the competition (other networks; sources in docs/zoo.md)
PUBLISHED = {
    "task 1": {"dbi-mixup": 25.22, "mixup-margin": 1.11, "augment-margin": 15.66, "vpm": 6.07, "wcv": 27.75, "vr": 9.32, "kv-margin": 5.83, "kv-gn-margin": 18.17, "distance-from-initial": 5.13, "sharpness": 0.00},
    "task 2": {"dbi-mixup": 22.19, "mixup-margin": 47.33, "augment-margin": 48.34, "vpm": 6.44, "wcv": 37.44, "vr": 19.58, "kv-margin": 29.11, "kv-gn-margin": 45.24, "distance-from-initial": 4.71, "sharpness": 0.00},
    "mean 6-9": {"dbi-mixup": 22.92, "mixup-margin": 13.93, "augment-margin": 9.29, "always-generalize": 9.59, "vpm": 9.99, "kv-margin": 6.04, "kv-gn-margin": 7.71, "weighted-augment": 19.59, "multi-augment": 3.39},
}  # fmt: skip


def markdown(bench: Bench) -> str:
    heads = [
        "measure",
        "CMI",
        "over seeds",
        "honest",
        "p",
        "tau",
        "granulated",
        "worst",
        "s",
        *(f"*published, {task}*" for task in PUBLISHED),
    ]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for line in bench.lines:
        name = f"*{line.measure}* (control)" if line.control else f"`{line.measure}`"
        over = f"{line.cmi_low:.1f} to {line.cmi_high:.1f}" if len(set(bench.seeds.tolist())) > 1 else "-"
        cells = [
            name, f"{line.cmi:.2f}", over, f"{line.cmi_honest:.2f}", f"{line.p_value:.3f}", f"{line.tau:.2f}", f"{line.granulated_tau:.2f}",
            f"{line.robust_error:.2f}", f"{line.seconds:.3f}", *(f"{task[line.measure]:.2f}" if line.measure in task else "" for task in PUBLISHED.values()),
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    wanted = sys.argv[1:] or sorted(
        path.stem.removeprefix("networks_") for path in (HERE / "zoo").glob("networks_*.csv")
    )
    for zoo in wanted:
        bench = bench_of(HERE / "zoo" / f"networks_{zoo}.csv", HERE / "zoo" / f"measures_{zoo}.csv", n_permutations=999)
        print(bench, flush=True)
        rounded = [{k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()} for row in bench.rows()]
        write_table(HERE / "zoo" / f"bench_{zoo}.csv", rounded)
        (DOCS / "tables" / f"zoo_{zoo}.md").write_text(markdown(bench))
        for name in ("scores", "scatter"):
            ax = bench.plot(name)
            ax.figure.savefig(DOCS / "images" / f"zoo_{zoo}_{name}.png", dpi=90, bbox_inches="tight")


if __name__ == "__main__":
    main()
