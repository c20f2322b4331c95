"""How far up does `combined` lead? The study's sets that are large enough, 400 rows drawn.

    python -m studies.combination_large --minutes 20 --part 0/2   # resumable; `choose_combination fit` then writes combination_large.csv.gz

The weights of a row are fitted on the study (20, 40 and 100 rows) without the families of its twelfth, so they have seen neither the data set nor the sample size. `choose_combination fit` ships the
pooled RMS of all estimators, by which the package knows up to which size it may name `combined` as the best single figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from studies import combination_bounded as bounded
from studies.choose_combination import COLUMNS, one
from studies.combination_cells import SINGLES, Cells
from studies.combination_evidence import auto_by_row, cell_share, evidence_rows, markdown, noise_of, pooled_rms
from studies.combination_rows import append_rows, pack_rows
from studies.small_samples import FAMILY_OF, RULES, table

HERE = Path(__file__).parent
TABLES = HERE.parent / "docs" / "tables"
PACKED = HERE / "combination_large.csv.gz"
LARGE = 400
DRAWS = 6
LEAST_LEFT = 1000  # rows that give the true error: with fewer its own noise is as large as what is measured


def large(name: str) -> bool:
    """Tell whether a set is large enough."""
    return name.startswith("population/") or len(table(name)[1]) >= LARGE + LEAST_LEFT


def run(minutes: float, part: int, parts: int) -> None:
    """Append rows of a part of the samples until the time is used up."""
    tasks = [(name, LARGE, rule, k) for k in range(DRAWS) for name in FAMILY_OF if large(name) for rule in RULES]
    append_rows(HERE / f"combination_large.{part}.csv", PACKED, tasks[part::parts], one, COLUMNS, minutes)


def large_rows(study: bounded.Samples, fitted_on: Cells, members: Sequence[str]) -> list[str]:
    """Return the evidence at this size, and write the table of the documentation."""
    rows = pack_rows(PACKED)
    given = bounded.samples(rows)
    values = {name: np.array([float(r[name]) for r in rows]) for name in SINGLES}
    values |= {"combined": bounded.held_out(study, given), "auto-resub": auto_by_row(rows, given, fitted_on, members)}
    noise, share = noise_of(given), cell_share(given)
    real = ~np.char.startswith(given.set.astype(str), "population/")
    cell = {name: bounded.cell_rms(given.cell[real], (v - given.truth)[real])[1].mean() for name, v in values.items()}
    own = {name: pooled_rms((v - given.truth)[real], noise[real], share[real]) for name, v in values.items()}
    order = sorted(cell, key=lambda name: cell[name])
    text = f"{LARGE} rows drawn, {DRAWS} draws of each set and rule: {len(set(given.set[real]))} real sets of {len(set(given.group[real]))} families, {real.sum()} samples."
    lines = [[name, f"{cell[name]:.4f}", f"{own[name]:.4f}"] for name in order]
    head = ["estimator", "mean RMS", "pooled RMS without the noise of the true error"]
    (TABLES / "combination_large.md").write_text(f"{text}\n\n{markdown(head, lines)}\n")
    return evidence_rows(rows, given, values)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0, help="CPU time")
    parser.add_argument("--part", default="0/1", help="k/m: this process does every m-th task, starting at the k-th")
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    run(given.minutes, part, parts)


if __name__ == "__main__":
    main()
