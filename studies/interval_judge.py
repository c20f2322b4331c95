"""Judges the interval of the headline once, on the families of `interval_families`, which no choice has seen.

    python -m studies.interval_judge run --minutes 40 --part 0/2   # resumable; writes interval_judge.csv.gz
    python -m studies.interval_judge judge                         # writes docs/tables/interval_judge.md

Eighty minutes of one core were set aside for it; boosting on wide samples of many classes is left out, because it would take all of them.
The headline is what `unseen.estimate(method="auto")` gives a user; the rival is the corrected t on 5 x 10-fold in Wilson's form. What is judged, and how, was fixed in
`interval_families`.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import unseen
from studies.combination_evidence import markdown
from studies.combination_rows import Row, Task, append_rows, pack_rows
from studies.interval_families import FAMILY_OF, Cell, cells, version
from studies.small_samples import FURTHER_RULES, LARGEST_TEST, RULES, rule
from unseen.core.rng import stream, task_seed

HERE = Path(__file__).parent
PACKED = HERE / "interval_judge.csv.gz"
PAGE = HERE.parent / "docs" / "tables" / "interval_judge.md"
SEED = 47
LEVEL = 0.95
RULES_PER_CELL = 4
ROUNDS = 5
SLOW = ("forest", "boosting")  # run last
MOST_WORK = 100_000  # rows x features x classes; boosting above it takes a quarter of an hour for one sample
MANY_FAMILIES = 12  # a cell with fewer is reported and not judged
FEW_EACH = 3  # rows of a class; a sample with fewer is drawn again
COLUMNS = ("left", "rarest", "equal", "led", "estimate", "low", "high", "rival", "rival_low", "rival_high")


def tasks() -> Iterator[Task]:
    """Yield (set and version, n, rule, draw); the rules of a cell are taken in turn."""
    rules = (*FURTHER_RULES, *RULES)
    every = [
        (cell, rules[(RULES_PER_CELL * i + k) % len(rules)])
        for k in range(RULES_PER_CELL)
        for i, cell in enumerate(cells())
    ]
    for cell, method in sorted(every, key=lambda task: SLOW.index(task[1]) if task[1] in SLOW else -1):
        if method == "boosting" and _work(cell) > MOST_WORK:
            continue
        yield f"{cell.set}:{cell.kind}", cell.n, method, 0


def _work(cell: Cell) -> int:
    found = version(cell.set, cell.kind)
    assert found is not None
    return cell.n * found[0].shape[1] * len(np.unique(found[1]))


def one(name: str, n: int, method: str, k: int) -> dict[str, float]:
    """Return the true error, the headline and its rival for one sample."""
    cell = Cell(*name.split(":"), n)
    found = version(cell.set, cell.kind)
    assert found is not None
    X, y = found
    rng = stream(SEED, "draw", name, n, k)
    classes = np.unique(y)
    while True:
        order = rng.permutation(len(y))
        own, rest = order[:n], order[n : n + LARGEST_TEST]
        if min(np.sum(y[own] == c) for c in classes) >= FEW_EACH:
            break
    seed = task_seed(SEED, name, n, method, k)
    model = rule(method)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed % 2**31)
    truth = float(np.mean(model.fit(X[own], y[own]).predict(X[rest]) != y[rest]))
    e = unseen.estimate(model, X[own], y[own], method="auto", random_state=seed, n_jobs=1, progress=False)
    if e.method == "range-t" and e.n_fits == ROUNDS * min(10, n):  # the same folds in the same form
        rival, low, high = e.value, *e.interval
    else:
        rival, low, high = _rival(model, X[own], y[own], seed)
    return {
        "d": X.shape[1],
        "classes": len(classes),
        "truth": truth,
        "left": len(rest),
        "rarest": float(np.unique(y[own], return_counts=True)[1].min() / n),
        "equal": 1 - len(np.unique(np.column_stack([X[own], y[own]]), axis=0)) / n,
        "led": float(e.method == "combined"),
        "estimate": e.value,
        "low": e.interval.low,
        "high": e.interval.high,
        "rival": rival,
        "rival_low": low,
        "rival_high": high,
    }


def _rival(model: Any, X: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Return mean and interval of the corrected t on 5 x 10-fold in Wilson's form; n units count where no fold differs."""
    folds = min(10, len(y))
    design = unseen.designs.RepeatedKFold(folds, ROUNDS)
    e = unseen.estimate(model, X, y, method="corrected-t", design=design, random_state=seed, n_jobs=1, progress=False)
    m, se = e.value, e.std_error or 0.0
    quantile = float(stats.t.ppf((1 + LEVEL) / 2, e.df or ROUNDS * folds - 1))
    units = m * (1 - m) / se**2 if se > 0 and 0 < m < 1 else len(y)
    middle = (m + quantile**2 / (2 * units)) / (1 + quantile**2 / units)
    half = quantile / (1 + quantile**2 / units) * math.sqrt(m * (1 - m) / units + quantile**2 / (4 * units**2))
    return m, middle - half, middle + half


def run(minutes: float, part: int, parts: int) -> None:
    """Append rows of a part of the samples until the time is used up."""
    warnings.simplefilter("ignore")
    own = list(tasks())[part::parts]
    append_rows(HERE / f"interval_judge.{part}.csv", PACKED, own, one, COLUMNS, minutes)


class Judged:
    """Rows as arrays, and what an interval did on some of them, families being the units."""

    def __init__(self, rows: list[Row]) -> None:
        self.names = np.array([r["set"] for r in rows])
        self.family = np.array([FAMILY_OF[name.split(":")[0]] for name in self.names])
        self.kind = np.array([name.split(":")[1] for name in self.names])
        self.rule = np.array([r["rule"] for r in rows])
        numbers = ("n", "truth", "d", "classes", *COLUMNS)
        self.of = {c: np.array([float(r[c]) for r in rows]) for c in numbers}
        truth, low, high = self.of["truth"], self.of["low"], self.of["high"]
        self.covered = (low <= truth) & (truth <= high)
        self.score = self._interval_score(low, high)
        self.rival_score = self._interval_score(self.of["rival_low"], self.of["rival_high"])
        self.rival_covered = (self.of["rival_low"] <= truth) & (truth <= self.of["rival_high"])
        # by the estimate and not by the truth: a choice by the outcome would keep the rows whose truth is near 0
        middle = (low + high) / 2
        error = np.sqrt(middle * (1 - middle) / self.of["left"])
        self.usable = error < (high - low) / 8

    def _interval_score(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        truth, miss = self.of["truth"], 2 / (1 - LEVEL)
        return (high - low) + miss * np.maximum(low - truth, 0) + miss * np.maximum(truth - high, 0)

    def by_family(self, value: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return sums and counts of each family."""
        _, index = np.unique(self.family[mask], return_inverse=True)
        return np.column_stack([np.bincount(index, value[mask]), np.bincount(index)])

    def limits(self, value: np.ndarray, mask: np.ndarray, draws: int = 4000) -> tuple[float, float, float]:
        """Return the mean over rows and the 95% limits of a bootstrap over families."""
        each = self.by_family(value, mask)
        rng = np.random.default_rng(0)
        drawn = each[rng.integers(0, len(each), (draws, len(each)))].sum(axis=1)
        low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
        return float(value[mask].mean()), float(low), float(high)

    def gain(self, mask: np.ndarray, draws: int = 4000) -> tuple[float, float, float]:
        """Return by how much the mean interval score lies below the rival's, with limits over families."""
        a, b = self.by_family(self.score, mask), self.by_family(self.rival_score, mask)
        rng = np.random.default_rng(0)
        pick = rng.integers(0, len(a), (draws, len(a)))
        ratio = 1 - a[pick].sum(axis=1)[:, 0] / b[pick].sum(axis=1)[:, 0]
        low, high = np.quantile(ratio, [0.025, 0.975])
        return float(1 - self.score[mask].sum() / self.rival_score[mask].sum()), float(low), float(high)

    def line(self, name: str, mask: np.ndarray) -> list[str] | None:
        """Return a line of the table: coverage, limits, widths and whether it is judged."""
        mask = mask & self.usable
        families = len(np.unique(self.family[mask]))
        if not families:
            return None
        mean, low, high = self.limits(self.covered.astype(float), mask)
        width, rival = (
            float(np.median((self.of[h] - self.of[lo])[mask]))
            for lo, h in (("low", "high"), ("rival_low", "rival_high"))
        )
        said = ("yes" if mean >= 0.9 else "no") if families >= MANY_FAMILIES else "too few families"
        return [name, str(families), str(int(mask.sum())), f"{mean:.3f}", f"{low:.3f} to {high:.3f}", f"{self.rival_covered[mask].mean():.3f}", f"{width:.3f}", f"{rival:.3f}", said]  # fmt: skip


def judge() -> None:
    """Write the table."""
    j = Judged(pack_rows(PACKED, "estimate"))
    everything = np.full(len(j.names), True)
    masks: list[tuple[str, np.ndarray]] = [("all samples", everything)]
    masks += [(f"n = {n:g}", j.of["n"] == n) for n in np.unique(j.of["n"])]
    masks += [(f"combined leads, n = {n:g}", (j.of["n"] == n) & (j.of["led"] == 1)) for n in np.unique(j.of["n"])]
    masks += [(name, j.rule == name) for name in np.unique(j.rule)]
    masks += [
        ("a class below 10%", j.of["rarest"] < 0.1),
        ("10% of the rows or more repeat others", j.of["equal"] >= 0.1),
        ("three classes or more", j.of["classes"] > 2),
        ("five classes or more", j.of["classes"] > 4),
        ("more features than rows", j.of["d"] > j.of["n"]),
    ]
    bands: list[tuple[str, Callable[[np.ndarray], np.ndarray]]] = [
        ("estimate below 5%", lambda v: v < 0.05),
        ("5% to 10%", lambda v: (v >= 0.05) & (v < 0.1)),
        ("10% to 20%", lambda v: (v >= 0.1) & (v < 0.2)),
        ("20% to 40%", lambda v: (v >= 0.2) & (v < 0.4)),
        ("40% or more", lambda v: v >= 0.4),
    ]
    masks += [(name, test(j.of["estimate"])) for name, test in bands]
    lines = [line for name, mask in masks if (line := j.line(name, mask)) is not None]
    head = ["samples", "families", "number", "coverage", "limits over families", "rival", "median width", "rival's", "at least .90"]  # fmt: skip
    gain, low, high = j.gain(j.usable)
    reach = np.where(j.of["low"] < 0.5 / j.of["n"], 0.0, j.of["low"])
    amended = ((reach <= j.of["truth"]) & (j.of["truth"] <= j.of["high"])).astype(float)
    after = j.limits(amended, j.usable)
    cells = [
        f"{name} {amended[mask & j.usable].mean():.3f}"
        for name, mask in masks[1:]
        if not name.startswith("combined") and len(np.unique(j.family[mask & j.usable])) >= MANY_FAMILIES
    ]
    text = [
        f"{len(np.unique(j.family))} families that no choice has seen, {len(j.names)} samples, of which {int(j.usable.sum())} have a true error known to a quarter of the interval's half-width.",
        markdown(head, lines),
        f"Of the {int((j.usable & ~j.covered).sum())} misses {int((j.usable & (j.of['truth'] < j.of['low'])).sum())} lie below the interval, most of them true errors of 0 or nearly so under a lower end of a few thousandths. "
        "That was mended after this judgement, so these families are no evidence for it: a lower end below half an error in n rows is now 0. "
        f"With it the same samples are covered in {after[0]:.3f} (limits over families {after[1]:.3f} to {after[2]:.3f}); by cell: {', '.join(cells)}.",
        f"Mean interval score {100 * gain:.1f}% below that of the corrected t on 5 x 10-fold in Wilson's form (limits over families {100 * low:.1f}% to {100 * high:.1f}%).",
    ]
    PAGE.write_text("\n\n".join(text) + "\n")
    print(PAGE.read_text())


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("run", "judge"))
    parser.add_argument("--minutes", type=float, default=40.0, help="CPU time")
    parser.add_argument("--part", default="0/1", help="k/m: this process does every m-th task, starting at the k-th")
    given = parser.parse_args()
    if given.do == "judge":
        judge()
    else:
        part, parts = map(int, given.part.split("/"))
        run(given.minutes, part, parts)


if __name__ == "__main__":
    main()
