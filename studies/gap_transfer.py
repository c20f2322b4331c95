"""What the zoos say about the size of a gap: how far measures follow it within a zoo, and how its level transfers to data left out.

Run from the root: python -m studies.gap_transfer [--to FILE]. Writes what `unseen.nets.rank` predicts gaps with; data sets are left out in turn.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from pathlib import Path

import numpy as np

from unseen.nets.ranking.bench import read_rows

ZOOS = Path(__file__).resolve().parent / "zoo"
TARGET = Path(__file__).resolve().parents[1] / "src" / "unseen" / "nets" / "ranking" / "gap_transfer.json"
LEVEL_MEASURE = (
    "vpm"  # takes any inputs, and of the measures that every zoo has it was nearest to the level of data left out
)


def read_zoos(folder: Path = ZOOS) -> dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]:
    """Return for each zoo the gaps and the measures that all of its networks have."""
    found = {}
    for path in sorted(folder.glob("networks_*.csv")):
        name = path.stem.removeprefix("networks_")
        with path.open(newline="") as file:
            nets = [row for row in csv.DictReader(file) if float(row["gap"]) > 0]
        values: dict[str, dict[tuple[int, str], float]] = {}
        for row in read_rows(folder / f"measures_{name}.csv"):
            values.setdefault(row.measure, {})[row.seed, row.net] = row.value
        keys = [(int(row["seed"]), row["name"]) for row in nets]
        whole = {m: np.array([held.get(k, math.nan) for k in keys]) for m, held in values.items()}
        found[name] = (
            np.array([float(row["gap"]) for row in nets]),
            {m: column for m, column in whole.items() if np.isfinite(column).all()},
        )
    return found


def places(column: np.ndarray) -> np.ndarray:
    """Return places from 0 to 1, ties sharing their mean place."""
    less = (column[None, :] < column[:, None]).sum(1)
    same = (column[None, :] == column[:, None]).sum(1) - 1
    return (less + same / 2) / (len(column) - 1)


def agreement(zoos: dict, measure: str) -> float | None:
    """Return the mean over zoos of the correlation between a measure's places and the logarithm of the gap; None without one."""
    each = []
    for gap, values in zoos.values():
        if measure in values and np.ptp(values[measure]) > 0:
            each.append(float(np.corrcoef(places(values[measure]), np.log(gap))[0, 1]))
    return float(np.mean(each)) if each else None


def line(zoos: dict, names: list[str]) -> tuple[float, float]:
    """Return intercept and slope of the logarithm of the gap on that of the level measure, every zoo with the same weight."""
    x = np.concatenate([np.log(zoos[z][1][LEVEL_MEASURE]) for z in names])
    y = np.concatenate([np.log(zoos[z][0]) for z in names])
    w = np.concatenate([np.full(len(zoos[z][0]), 1 / len(zoos[z][0])) for z in names])
    mx, my = np.average(x, weights=w), np.average(y, weights=w)
    slope = max(0.0, float(np.average((x - mx) * (y - my), weights=w) / np.average((x - mx) ** 2, weights=w)))
    return float(my - slope * mx), slope


def transfer(zoos: dict) -> dict:
    """Return what a prediction of gaps needs, with the error of the level on data sets left out."""
    spread = math.sqrt(np.mean([np.log(gap).var() for gap, _ in zoos.values()]))
    known = sorted({m for _, values in zoos.values() for m in values})
    rows, errors = [], []
    for left in sorted({z.split("-")[0] for z in zoos}):
        rest = [z for z in zoos if z.split("-")[0] != left]
        intercept, slope = line(zoos, rest)
        own = [
            float(np.mean(np.log(zoos[z][0]) - intercept - slope * np.log(zoos[z][1][LEVEL_MEASURE])))
            for z in zoos
            if z.split("-")[0] == left
        ]
        errors.append(float(np.mean(np.square(own))))
        rows.append({"left_out": left, "log_error": round(float(np.mean(own)), 3)})
    intercept, slope = line(zoos, list(zoos))
    levels = [float(np.log(gap).mean()) for gap, _ in zoos.values()]
    return {
        "spread": round(spread, 4),
        "agreement": {m: round(r, 3) for m in known if (r := agreement(zoos, m)) is not None},
        "level": {
            "measure": LEVEL_MEASURE,
            "intercept": round(intercept, 4),
            "slope": round(slope, 4),
            "log_error": round(math.sqrt(np.mean(errors)), 4),
            "typical": round(math.exp(np.mean(levels)), 4),
            "typical_log_error": round(float(np.std(levels, ddof=1)), 4),
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
