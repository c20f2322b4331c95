"""Is it worth choosing the method by its RMS in situations like one's own? Judged on families of data sets that the choice has not seen.

    python -m studies.combination_choice    # writes docs/tables/combination_choice.md, about two minutes

For each twelfth of the families, evidence is made of the other eleven as it is shipped, and every sample of the twelfth gets the method whose RMS is the smallest in its situation. Where that is not `combined`,
its deviation from the true error is set beside that of `combined`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping

import numpy as np

from studies import combination_bounded as bounded
from studies.combination_cells import MAIN_SIZE, SINGLES, Cells, load
from studies.combination_evidence import FAMILY_OF_RULE, HEAD, auto_by_row, cell_share, evidence_rows, markdown
from studies.combination_tables import TABLES, shipped
from unseen.estimators.combined.evidence import Table, error_band, look_up, table_of

SIZES = (20, MAIN_SIZE, 100)
Rows = list[dict[str, str]]


def every_value(rows: Rows, cells: Cells, given: bounded.Samples) -> dict[str, np.ndarray]:
    """Return all estimates of all rows, recipes on held-out families."""
    fitted_on = cells.comparable()
    auto = auto_by_row(rows, given, fitted_on, tuple(shipped(fitted_on)["any"]))
    singles = {name: np.array([float(r[name]) for r in rows]) for name in SINGLES}
    return singles | {"combined": bounded.held_out(given, given), "auto-resub": auto}


def smallest_in_situation(table: Table, row: Mapping[str, str], combined: float) -> str:
    """Return the method with the smallest RMS in the situation of a row."""
    d, classes = int(float(row["d"])), int(float(row["classes"]))
    situation = (FAMILY_OF_RULE[row["rule"]], int(row["n"]), d, classes, error_band(combined, "combined"))
    found = {name: look_up(table, name, *situation) for name in (*SINGLES, "combined", "auto-resub")}
    return min((name for name, one in found.items() if one), key=lambda name: found[name].pooled)


def chosen(rows: Rows, given: bounded.Samples, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return for each row the method that the evidence of other families would choose."""
    out = np.empty(len(rows), dtype=object)
    for rest, inside in bounded.folds(given):
        kept = np.flatnonzero(rest)
        own = {name: value[kept] for name, value in values.items()}
        by_combined = np.array([error_band(float(v), "combined") for v in own["combined"]])
        bands = dict.fromkeys(own, by_combined)
        lines = evidence_rows([rows[k] for k in kept], given.where(rest), own, bands)
        table = table_of(csv.DictReader([",".join(HEAD), *lines]))
        for k in np.flatnonzero(inside):
            out[k] = smallest_in_situation(table, rows[k], float(values["combined"][k]))
    return out


def compared(given: bounded.Samples, values: Mapping[str, np.ndarray], choice: np.ndarray) -> list[list[str]]:
    """Return by sample size the RMS of what would be chosen and of `combined`, where they are not the same."""
    share = cell_share(given)
    picked = np.array([values[name][k] for k, name in enumerate(choice)])
    real = ~np.char.startswith(given.set.astype(str), "population/")
    lines = []
    for label, sizes in (*((f"n = {n}", (n,)) for n in SIZES), ("all", SIZES)):
        at = real & np.isin(given.n, sizes)
        other = at & (choice != "combined")
        squares = [np.square(v - given.truth)[other] for v in (picked, values["combined"])]
        gap = (squares[0] - squares[1]) * share[other]
        sums = np.array([gap[given.group[other] == g].sum() for g in np.unique(given.group[other])])
        t = sums.sum() / np.sqrt(np.square(sums).sum())
        rms = [f"{np.sqrt(np.average(s, weights=share[other])):.4f}" for s in squares]
        lines.append([label, f"{100 * other.sum() / at.sum():.0f}%", *rms, f"{t:+.1f}"])
    return lines


def main() -> None:
    """Write the table."""
    rows, cells = load()
    given = bounded.samples(rows)
    values = every_value(rows, cells, given)
    lines = compared(given, values, chosen(rows, given, values))
    head = [
        "samples of real sets",
        "with another choice",
        "RMS of that",
        "RMS of `combined`",
        "difference in standard errors over families",
    ]
    (TABLES / "combination_choice.md").write_text(markdown(head, lines) + "\n")
    print(markdown(head, lines))


if __name__ == "__main__":
    main()
