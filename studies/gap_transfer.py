"""What the zoos say about the size of errors: how far measures follow the test error among networks of the same data, and how the level of the gap transfers to data left out.

Run from the root: python -m studies.gap_transfer [--to FILE]. Writes what `unseen.nets.rank` predicts errors with; data sets are left out in turn.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unseen.nets.ranking.bench import read_rows

ZOOS = Path(__file__).resolve().parent / "zoo"
CLASSES = {"letter": 26}  # the others have ten
TARGET = Path(__file__).resolve().parents[1] / "src" / "unseen" / "nets" / "ranking" / "gap_transfer.json"


@dataclass(frozen=True)
class ZooTable:
    """Gaps, test errors, full columns of measures, and which networks saw the same rows and labels.

    Test errors are those on labels as noisy as the training labels, which is what a test set from the same source shows.
    """

    gap: np.ndarray
    error: np.ndarray
    values: dict[str, np.ndarray]
    sets: list[np.ndarray]


def networks_of(path: Path) -> list[dict[str, str]]:
    """Return the networks of a zoo as its file has them."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def read_zoos(folder: Path = ZOOS) -> dict[str, ZooTable]:
    """Return the tables of every zoo."""
    found = {}
    for path in sorted(folder.glob("networks_*.csv")):
        name = path.stem.removeprefix("networks_")
        nets = networks_of(path)
        values: dict[str, dict[tuple[int, str], float]] = {}
        for row in read_rows(folder / f"measures_{name}.csv"):
            values.setdefault(row.measure, {})[row.seed, row.net] = row.value
        keys = [(int(row["seed"]), row["name"]) for row in nets]
        whole = {m: np.array([held.get(k, math.nan) for k in keys]) for m, held in values.items()}
        noise = np.array([float(row.get("label_noise") or 0.0) for row in nets])
        right = np.array([float(row["test_accuracy"]) for row in nets])
        error = 1 - (1 - noise) * right - noise * (1 - right) / (CLASSES.get(name.split("-")[0], 10) - 1)
        same = [(row["seed"], row.get("label_noise"), row.get("train_rows")) for row in nets]
        found[name] = ZooTable(
            gap=error - 1 + np.array([float(row["train_accuracy"]) for row in nets]),
            error=error,
            values={m: column for m, column in whole.items() if np.isfinite(column).all()},
            sets=[np.array([k for k, other in enumerate(same) if other == key]) for key in dict.fromkeys(same)],
        )
    return found


def places(column: np.ndarray) -> np.ndarray:
    """Return places from 0 to 1, ties sharing their mean place."""
    less = (column[None, :] < column[:, None]).sum(1)
    same = (column[None, :] == column[:, None]).sum(1) - 1
    return (less + same / 2) / (len(column) - 1)


def within(table: ZooTable, column: np.ndarray) -> np.ndarray:
    """Return a column less its mean over networks of the same data."""
    out = np.empty(len(column))
    for own in table.sets:
        out[own] = column[own] - column[own].mean()
    return out


def agreement(zoos: dict[str, ZooTable], measure: str) -> float | None:
    """Return the mean over zoos of the correlation between a measure's places and the logarithm of the test error, among networks of the same data."""
    each = []
    for table in zoos.values():
        if measure in table.values and np.ptp(table.values[measure]) > 0:
            place = np.empty(len(table.error))
            for own in table.sets:
                place[own] = places(table.values[measure][own])
            each.append(float(np.corrcoef(within(table, place), within(table, np.log(table.error)))[0, 1]))
    return float(np.mean(each)) if each else None


def log_level(table: ZooTable) -> float:
    """Return the mean logarithm of the gap over networks that have one."""
    return float(np.log(table.gap[table.gap > 0]).mean())


def transfer(zoos: dict[str, ZooTable]) -> dict[str, Any]:
    """Return what a prediction of errors needs, and how far the level of each data set is from that of the others."""
    spread = math.sqrt(np.mean([within(table, np.log(table.error)).var() for table in zoos.values()]))
    known = sorted({m for table in zoos.values() for m in table.values})
    levels = {name: log_level(table) for name, table in zoos.items()}
    rows = []
    for left in sorted({z.split("-")[0] for z in zoos}):
        own, rest = ([v for z, v in levels.items() if (z.split("-")[0] == left) == here] for here in (True, False))
        rows.append({"left_out": left, "log_error": round(float(np.mean(own) - np.mean(rest)), 3)})
    return {
        "spread": round(spread, 4),
        "agreement": {m: round(r, 3) for m in known if (r := agreement(zoos, m)) is not None},
        "level": {
            "typical": round(math.exp(np.mean(list(levels.values()))), 4),
            "log_error": round(float(np.std(list(levels.values()), ddof=1)), 4),
        },
        "left_out": rows,
        "zoos": list(zoos),
    }


def main() -> None:
    """Write the file, and print the error of the level on data left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=TARGET)
    found = transfer(read_zoos())
    parser.parse_args().to.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({key: found[key] for key in ("spread", "level", "left_out")}, indent=1))


if __name__ == "__main__":
    main()
