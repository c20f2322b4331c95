"""How often the alarms find planted faults, and how often they sound on real data sets; writes `docs/tables/alarms.md`.

    python -m studies.alarms [--quick]

Real sets: every table of classes or numbers in the shared data with at most 8,000 rows and 3,200 columns (the first 8,000 rows of
longer ones), missing cells filled with the column's median, assessed by naive Bayes, 5 nearest neighbours or least squares.

What counts as a known fault: the notes on the data name it (dependent rows, or a defect), or the number is measurably wrong. The latter is for
alarms of order on tables that the notes do not name. Such an alarm is false unless folds of neighbouring rows are worse than random ones:
ten blocks within each class in the order of the file, and a paired t test over the blocks at level .05, shared between the two models.
Planted faults go into the sets that are not named and have no alarm of their own, and into simulated series. `--quick` takes eight sets and
five series, and prints the table.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtr

import unseen
from studies.small_samples import SHARED
from unseen.checks.registry import data_notes, run_notes
from unseen.core.data import Data
from unseen.core.trust import trust
from unseen.datasets.conversion import as_data
from unseen.datasets.copies import find_copies, with_copies
from unseen.designs.repeated_kfold import RepeatedKFold

TABLE = Path(__file__).parents[1] / "docs" / "tables" / "alarms.md"
MOST_ROWS, MOST_COLUMNS = 8_000, 3_200
LEAST_ROWS = 60  # below it no fault of order shows
MANY_VALUES = 20  # a column with more is no category
REPEATS = 50
FOLDS, LEVEL = 10, 0.05
REGRESSION = ("uci/boston", "uci/servo", "uci/ozone_la")
LEFT_OUT = ("genomics/nki70_survival", "genomics/nki272_survival")  # outcomes, not features

# the notes on the data name these as rows that are not independent; the repeat patients of breast_cancer_wisconsin are a matter of copies
DEPENDENT = (
    "fd121/parkinsons",
    "fd121/musk-1",
    "uci/satellite",
    "uci/vowel",
    "uci/vowel_mlbench",
)
# and these as defective
DEFECTIVE = {
    "fd121/statlog-australian-credit": "the true class is among the features",
    "fd121/congressional-voting": "yes and no share one value",
    "uci/horse-colic": "outcomes among the features",
}


def sets() -> Iterator[tuple[str, Data]]:
    """Yield names and samples."""
    for folder in ("uci", "fd121", "genomics"):
        for path in sorted((SHARED / folder).glob("*.csv.gz")):
            name = f"{folder}/{path.name.removesuffix('.csv.gz')}"
            with path.open("rb") as file:
                head = pd.read_csv(file, nrows=1, compression="gzip")
            if name in LEFT_OUT or head.shape[1] > MOST_COLUMNS:
                continue
            frame = pd.read_csv(path)
            frame = frame[frame["target"].notna()].iloc[:MOST_ROWS]
            X = frame.drop(columns="target").to_numpy(float)
            middle = np.nanmedian(X, axis=0)
            X = np.where(np.isnan(X), np.where(np.isnan(middle), 0.0, middle), X)
            y = frame["target"].to_numpy()
            if name not in REGRESSION and (len(np.unique(y)) < 2 or len(y) < LEAST_ROWS):
                continue
            task = "regression" if name in REGRESSION else "classification"
            yield name, as_data(X, y if task == "regression" else y.astype(int), task=task)


def models(data: Data) -> tuple[str, ...]:
    """Return the models a set is assessed with."""
    return ("ols", "knn:5") if data.classes is None else ("naive-bayes", "knn:5")


def alarms(data: Data, model: str, seed: int = 0) -> set[str]:
    """Return the codes that make an assessment one not to trust."""
    data = with_copies(data)
    table = unseen.run(model, data, random_state=seed).losses()
    return {n.code for n in (*data_notes(data), *run_notes(table, data)) if not trust([n]).ok}


def blocks(data: Data) -> np.ndarray:
    """Return ten folds of neighbouring rows, within classes."""
    strata = np.zeros(data.n, dtype=int) if data.classes is None else data.codes
    fold = np.empty(data.n, dtype=int)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        fold[rows] = np.arange(len(rows)) * FOLDS // len(rows)
    return fold


def is_worse_in_blocks(data: Data) -> bool:
    """Say whether folds of neighbouring rows have a larger error than random folds, by one of the models of a set."""
    fold = blocks(data)
    pairs = [(np.flatnonzero(fold != j), np.flatnonzero(fold == j)) for j in range(FOLDS)]
    found = []
    for model in models(data):
        options = {"random_state": 0, "train": False, "duplicates": "apart"}
        random = unseen.run(model, data, design=RepeatedKFold(FOLDS, 3), **options).losses().by_unit()
        gap = unseen.run(model, data, design=pairs, **options).losses().by_unit() - random
        means = np.array([gap[test].mean() for _, test in pairs])
        t = means.mean() / (means.std(ddof=1) / np.sqrt(FOLDS)) if np.ptp(means) > 0 else 0.0
        found.append(float(stdtr(FOLDS - 1, -t)))
    return min(found) * len(found) <= LEVEL


def with_copied_rows(data: Data, rng: np.random.Generator, relabel: bool) -> Data:
    """Return the sample with a tenth of its rows once more, in random order; with other targets if asked for."""
    again = rng.choice(data.n, max(data.n // 10, 1), replace=False)
    rows = np.r_[np.arange(data.n), again]
    y = data.y[rows]
    if relabel:
        y[data.n :] = rng.permutation(y[data.n :])
    order = rng.permutation(len(rows))
    return as_data(data.X[rows][order], y[order], task=data.task)


def with_leak(data: Data, rng: np.random.Generator) -> Data:
    """Return the sample with the target as a column: classes with noise of a fifth of their distance, numbers with one of 2%."""
    if data.classes is None:
        column = data.y + 0.02 * data.y.std() * rng.standard_normal(data.n)
    else:
        column = data.codes + 0.2 * rng.uniform(-1, 1, data.n)
    return as_data(np.column_stack([data.X, column]), data.y, task=data.task)


def series(rng: np.random.Generator, n: int, correlation: float, classes: bool) -> Data:
    """Return rows in time: four inputs and the noise are autoregressive, the target is linear in two inputs."""
    steps = rng.standard_normal((n, 5))
    values = np.empty_like(steps)
    values[0] = steps[0]
    for i in range(1, n):
        values[i] = correlation * values[i - 1] + np.sqrt(1 - correlation**2) * steps[i]
    y = values[:, 0] + 0.5 * values[:, 1] + values[:, 4]
    return as_data(values[:, :4], (y > 0).astype(int) if classes else y)


def share(found: int, total: int) -> str:
    """Return a count with its share."""
    return f"{found} of {total} ({100 * found / max(total, 1):.1f}%)"


def rows(most: int | None = None, repeats: int = REPEATS) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of the table: what was planted, where, and how often an alarm (or, for copies, joining) came."""
    sounded: dict[str, set[str]] = {}
    clean, others, false, ordered = {}, 0, [], []
    for name, data in islice(sets(), most):
        codes: set[str] = set()
        for model in models(data):
            codes |= alarms(data, model)
        sounded[name] = codes
        named = name in DEPENDENT or name in DEFECTIVE
        worse = not named and "U037" in codes and is_worse_in_blocks(data)
        print(name, data.n, *sorted(codes), "worse in blocks" if worse else "", file=sys.stderr, flush=True)
        others += not named
        if worse:
            ordered.append(name)
            codes = codes - {"U037"}
        if not named and codes:
            false.append(f"{name} ({' '.join(sorted(codes))})")
        if not named and not sounded[name]:
            clean[name] = data
    listed = f": {', '.join(false)}" if false else ""
    yield (
        "none",
        "sets that the notes on the data do not name, false alarms of any kind",
        share(len(false), others) + listed,
    )
    yield (
        "none",
        "the same, alarms of order that folds of neighbouring rows confirm",
        share(len(ordered), others) + f": {', '.join(ordered)}",
    )
    known = [name for name in (*DEPENDENT, *DEFECTIVE) if name in sounded]
    yield (
        "none",
        "sets that the notes on the data name, any alarm",
        share(sum(bool(sounded[n]) for n in known), len(known)),
    )
    rng = np.random.default_rng(0)
    own = {name: data for name, data in clean.items() if not find_copies(data.X).rows}
    distinct = {n: d for n, d in own.items() if max(len(np.unique(v)) for v in d.X.T) > MANY_VALUES}
    for relabel in (False, True):
        joined = parted = 0
        for data in distinct.values():
            copied = with_copied_rows(data, rng, relabel)
            joined += with_copies(copied).joined is not None
            parted += "U002" in {n.code for n in data_notes(copied)}
        what = "a tenth of the rows copied" + (", targets shuffled among the copies" if relabel else "")
        yield (
            what,
            "sets without equal rows of their own and with a column of over 20 values; kept together",
            share(joined, len(distinct)),
        )
        yield what, "the same with `duplicates='apart'`; alarm U002", share(parted, len(distinct))
    found = sum("U005" in {n.code for n in data_notes(with_leak(data, rng))} for data in clean.values())
    yield "the target as a column, with noise", "sets without a fault; alarm U005", share(found, len(clean))
    grouped = [replace(d, groups=d.codes) for d in clean.values() if d.classes is not None]
    found = sum("U038" in {n.code for n in data_notes(data)} for data in grouped)
    yield "groups that are the classes", "sets without a fault; alarm U038", share(found, len(grouped))
    for classes in (True, False):
        for n, correlation in ((200, 0.7), (200, 0.8), (400, 0.0)):
            made = [series(np.random.default_rng([n, s]), n, correlation, classes) for s in range(repeats)]
            model = "logistic" if classes else "ols"
            found = sum("U037" in alarms(data, model, seed) for seed, data in enumerate(made))
            fault = f"rows in time, autocorrelation {correlation:g}" if correlation else "none"
            where = f"{n} rows, {'two classes' if classes else 'a number'}, {repeats} series; alarm U037"
            yield fault, where, share(found, repeats)


def main() -> None:
    """Run everything and write the table, or print a small one."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="eight sets and five series; prints the table")
    quick = parser.parse_args().quick
    made = rows(8, 5) if quick else rows()
    lines = ["| planted | where | found |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in made)]
    if quick:
        print("\n".join(lines))
    else:
        TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
