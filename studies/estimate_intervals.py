"""How far intervals of `unseen.nets.estimate` can be trusted, zoo by zoo: every data set is left out with all its zoos.

Run from the root: python -m studies.estimate_intervals [--to FILE] [--table FILE]. Reads the records of the zoos (studies/zoo): networks with
their test error, the error of one copy trained on 80% on the rows it left out, and the bolstered error. Writes what the package predicts with, and the tables of docs/validation/net-estimates.md. Networks
whose error `unseen.nets.estimate` gave with five copies (zoo/copies.csv, by gpu_copies.py) are judged in the same way, by what zoos of other data say.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from studies.gap_transfer import ZOOS, networks_of, read_zoos
from unseen.nets.estimates.error_interval import LogOddsTransfer, interval_from_zoos, log_odds_of

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "unseen" / "nets" / "estimates" / "interval_transfer.json"
TABLE = ROOT / "docs" / "tables" / "estimate_intervals.md"
COPIES_TABLE = ROOT / "docs" / "tables" / "estimate_copies.md"
ROWS = {
    "mnist": 2000,
    "fashion": 10_000,
    "cifar": 10_000,
    "letter": 5000,
}  # training rows if the grid does not vary them
LEVEL = 0.95
BOLSTERED = 1000  # rows behind the bolstered error in the records


@dataclass(frozen=True)
class ZooErrors:
    """True errors of a zoo's networks, and what an estimate gave: log-odds and the variance of their sampling."""

    error: np.ndarray
    log_odds: np.ndarray
    sampling: np.ndarray

    @property
    def distance(self) -> np.ndarray:
        """Log-odds of the true error less those of the estimate."""
        return np.log(self.error / (1 - self.error)) - self.log_odds


def errors_of_copies() -> dict[str, ZooErrors]:
    """Return the zoos whose networks have a copy trained on 80%."""
    found = {}
    for name, table in read_zoos().items():
        nets = networks_of(ZOOS / f"networks_{name}.csv")
        if any(not row["holdout_error"] for row in nets):
            continue
        rows = [round(0.2 * float(row.get("train_rows") or ROWS[name.split("-")[0]])) for row in nets]
        pairs = [log_odds_of(float(row["holdout_error"]) * m, m) for row, m in zip(nets, rows)]
        found[name] = ZooErrors(table.error, *np.array(pairs).T)
    return found


def bolstered_errors() -> dict[str, ZooErrors]:
    """Return the zoos with their bolstered errors; nothing was sampled but the training rows."""
    found = {}
    for name, table in read_zoos().items():
        pairs = [log_odds_of(value * BOLSTERED, BOLSTERED)[0] for value in table.values["bolster"]]
        found[name] = ZooErrors(table.error, np.array(pairs), np.zeros(len(pairs)))
    return found


def transfer_of(zoos: dict[str, ZooErrors]) -> LogOddsTransfer:
    """Return the transfer from some zoos; their networks share the rows left out, so their means differ by sampling too, which stays in `between`."""
    means = [float(zoo.distance.mean()) for zoo in zoos.values()]
    within = np.mean([max(float(zoo.distance.var() - zoo.sampling.mean()), 0.0) for zoo in zoos.values()])
    return LogOddsTransfer(
        shift=round(float(np.mean(means)), 4),
        between=round(float(np.std(means, ddof=1)), 4),
        within=round(float(np.sqrt(within)), 4),
        zoos=len(means),
    )


def judge(zoos: dict[str, ZooErrors]) -> list[dict[str, float | str]]:
    """Return coverage and width in each zoo, with the transfer from zoos of other data."""
    rows: list[dict[str, float | str]] = []
    for name, zoo in zoos.items():
        rest = transfer_of({z: v for z, v in zoos.items() if z.split("-")[0] != name.split("-")[0]})
        ends = np.array([rest.interval(x, v, LEVEL) for x, v in zip(zoo.log_odds, zoo.sampling)])
        inside = (ends[:, 0] <= zoo.error) & (zoo.error <= ends[:, 1])
        estimate = 1 / (1 + np.exp(-zoo.log_odds))
        rows.append(
            {
                "zoo": name,
                "networks": len(zoo.error),
                "error": float(zoo.error.mean()),
                "off": float(np.abs(estimate - zoo.error).mean()),
                "coverage": float(inside.mean()),
                "width": float(np.diff(ends, axis=1).mean()),
            }
        )
    return rows


def table_of(copies: list[dict[str, float | str]], without: list[dict[str, float | str]]) -> str:
    """Return both judgements as one table, a zoo a line."""
    head = "| zoo | networks | mean test error | copy: distance | copy: coverage | copy: width | no copy: distance | no copy: coverage | no copy: width |"
    known = {row["zoo"]: row for row in copies}

    def cells(row: dict[str, float | str] | None) -> str:
        return "| | " if row is None else f"{row['off']:.3f} | {row['coverage']:.2f} | {row['width']:.3f}"

    lines = [
        f"| {row['zoo']} | {row['networks']} | {row['error']:.3f} | {cells(known.get(row['zoo']))} | {cells(row)} |"
        for row in without
    ]
    return "\n".join([head, "|" + "---|" * 9, *lines]) + "\n"


def judge_five(copies: dict[str, ZooErrors]) -> list[dict[str, float | str]]:
    """Return how far estimates with five copies are from the test error, zoo by zoo, and how often the interval of other data holds it."""
    rows: list[dict[str, float | str]] = []
    known = networks_of(ZOOS / "copies.csv")
    for zoo in dict.fromkeys(row["zoo"] for row in known):
        rest = transfer_of({z: v for z, v in copies.items() if z.split("-")[0] != zoo.split("-")[0]})
        own = [{k: float(v) for k, v in row.items() if k not in ("zoo", "notes")} for row in known if row["zoo"] == zoo]
        error = np.array([row["test_error"] for row in own])
        pairs = [log_odds_of(row["copies_error"] * row["different_rows"], row["different_rows"]) for row in own]
        ends = np.array([rest.interval(*pair, LEVEL) for pair in pairs])
        off = {
            name: float(np.mean(np.abs(np.array([row[name] for row in own]) - error)))
            for name in ("train_error", "uncalibrated", "estimate", "first_copy_error", "copies_error")
        }
        rows.append(
            {
                "zoo": zoo,
                "networks": len(own),
                "error": float(error.mean()),
                **off,
                "bias": float(np.mean([row["estimate"] for row in own]) - error.mean()),
                "coverage": float(np.mean((ends[:, 0] <= error) & (error <= ends[:, 1]))),
                "width": float(np.diff(ends, axis=1).mean()),
            }
        )
    return rows


def table_of_five(rows: list[dict[str, float | str]]) -> str:
    """Return the judgement of five copies as a table, a zoo a line, and all networks in the last."""
    names = ("train_error", "uncalibrated", "estimate", "first_copy_error", "copies_error")
    head = "| zoo | networks | mean test error | training error | bolster | calibrated-bolster | its bias | one copy | five copies | coverage | width |"
    count = np.array([row["networks"] for row in rows], dtype=float)
    numbers = [key for key in rows[0] if key not in ("zoo", "networks")]
    mean = {key: float(np.array([row[key] for row in rows], dtype=float) @ count / count.sum()) for key in numbers}
    lines = [
        f"| {row['zoo']} | {row['networks']:.0f} | {row['error']:.3f} | "
        + " | ".join(f"{row[name]:.3f}" for name in names[:3])
        + f" | {row['bias']:+.3f} | {row['first_copy_error']:.3f} | {row['copies_error']:.3f} | {row['coverage']:.2f} | {row['width']:.3f} |"
        for row in [*rows, {"zoo": "all", "networks": count.sum(), **mean}]
    ]
    return "\n".join([head, "|---|" + "---:|" * 10, *lines]) + "\n"


def main() -> None:
    """Write the transfer of all zoos and the table of those left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=TARGET)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--copies-table", type=Path, default=COPIES_TABLE)
    given = parser.parse_args()
    copies, without = errors_of_copies(), bolstered_errors()
    found = {"copies": transfer_of(copies), "bolster": transfer_of(without)}
    given.to.write_text(json.dumps({name: asdict(one) for name, one in found.items()}, indent=1) + "\n")
    made = table_of(judge(copies), judge(without))
    given.table.write_text(made)
    five = table_of_five(judge_five(copies))
    given.copies_table.write_text(five)
    print(made, five, sep="\n")
    print(found, interval_from_zoos("bolster", 0.1, 1000, LEVEL, found["bolster"]))


if __name__ == "__main__":
    main()
