"""Judges the interval of the headline on the families of `interval_families`, each list once and before any choice has seen it.

    python -m studies.interval_judge run --minutes 40 --part 0/2    # resumable; the fifth list, to interval_judge_fifth.csv.gz
    python -m studies.interval_judge judge                          # writes docs/tables/interval_judge_fifth.md

`run` and `judge --list first`, `second`, `third`, `fourth` and `forests` do the same for the lists before, whose rows are stored beside this file. All ends are stored as they were
when the list was judged; those of the third are a refit's that failed. The processor time was set aside before each run: 80 minutes of one core for the first list, 75 for the second,
80 for the third, 60 for the fourth, of which about half were used (it ended at an hour set when it was started), and 80 for the fifth. The headline is what `unseen.estimate(method="auto")` gives a user; the
rival is the corrected t on 5 x 10-fold in Wilson's form. What is judged, and how, was fixed in `interval_families`.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import unseen
from studies.combination_evidence import markdown
from studies.combination_rows import Row, Task, append_rows, pack_rows
from studies.interval_families import (
    FAMILY_OF,
    FIFTH_FAMILY_OF,
    FOURTH_FAMILY_OF,
    THIRD_FAMILY_OF,
    USED_FAMILY_OF,
    Cell,
    cells,
    drawn,
)
from studies.small_samples import FURTHER_RULES, RULES, rule
from unseen.core.rng import stream, task_seed

HERE = Path(__file__).parent
LEVEL = 0.95
RULES_PER_CELL = 4
ROUNDS = 5
MOST_LED = 280  # units up to which `combined` may lead
SLOW = ("forest", "boosting")  # run last in the first list
MANY_FAMILIES = 12  # a cell with fewer is reported and not judged
COLUMNS = ("left", "rarest", "equal", "led", "estimate", "low", "high", "rival", "rival_low", "rival_high")
EVERY_RULE = (*FURTHER_RULES, *RULES)
TURNS = (*SLOW, *("logistic", *RULES) * 3)  # from the second list on: a slow sample takes the time of ten
# of the fourth list: forest and boosting one sample in 44 each, a third of the time at most
RARE_TURNS = (*SLOW, *("logistic", *RULES) * 7)
# of the fifth list: forests were judged too seldom in the fourth to tell .859 from .90, so that they get one sample in eight; boosting one in 43
FOREST_TURNS = (*("forest",) * 11, *("boosting",) * 2, *("logistic", *RULES) * 12)
STEP = 7  # in the turns from round to round; it shares no divisor with their number


@dataclass(frozen=True)
class Listed:
    """A list of families and how it is run."""

    family_of: Mapping[str, str]
    packed: Path
    page: Path
    seed: int
    most_left: int  # rows the true error is counted on, at most
    most_work: int  # rows x features x classes; boosting above it takes minutes for one sample
    turns: tuple[str, ...] = TURNS
    same_by_size: bool = False  # as many samples of every size in each round, whatever the cells

    def without(self, task: Task) -> bool:
        """Say whether a task is left out for the time it would take."""
        name, n, method, _ = task
        if method != "boosting":
            return False
        X, y, *_ = drawn(Cell(*name.split(":"), n), np.random.default_rng(0), 1)
        return n * X.shape[1] * len(np.unique(y)) > self.most_work


TABLES = HERE.parent / "docs" / "tables"
FIRST = Listed(USED_FAMILY_OF, HERE / "interval_judge.csv.gz", TABLES / "interval_judge.md", 47, 2000, 100_000)
SECOND = Listed(FAMILY_OF, HERE / "interval_judge_second.csv.gz", TABLES / "interval_judge_second.md", 53, 8000, 40_000)
THIRD = Listed(
    THIRD_FAMILY_OF, HERE / "interval_judge_third.csv.gz", TABLES / "interval_judge_third.md", 59, 8000, 40_000
)
FOURTH = Listed(
    FOURTH_FAMILY_OF,
    HERE / "interval_judge_fourth.csv.gz",
    TABLES / "interval_judge_fourth.md",
    61,
    8000,
    40_000,
    RARE_TURNS,
    same_by_size=True,
)
# forests alone, on other samples of the fourth list: 71 of them were too few to say whether .859 was chance; nothing is changed in between
FORESTS = Listed(
    FOURTH_FAMILY_OF,
    HERE / "interval_judge_forests.csv.gz",
    TABLES / "interval_judge_forests.md",
    67,
    8000,
    40_000,
    ("forest",),
    same_by_size=True,
)
FIFTH = Listed(
    FIFTH_FAMILY_OF,
    HERE / "interval_judge_fifth.csv.gz",
    TABLES / "interval_judge_fifth.md",
    71,
    8000,
    40_000,
    FOREST_TURNS,
    same_by_size=True,
)
LISTS = {"first": FIRST, "second": SECOND, "third": THIRD, "fourth": FOURTH, "forests": FORESTS, "fifth": FIFTH}


def first_tasks() -> Iterator[Task]:
    """Yield (set and version, n, rule, draw); the rules of a cell are taken in turn."""
    every = [
        (cell, EVERY_RULE[(RULES_PER_CELL * i + k) % len(EVERY_RULE)])
        for k in range(RULES_PER_CELL)
        for i, cell in enumerate(cells(USED_FAMILY_OF))
    ]
    for cell, method in sorted(every, key=lambda task: SLOW.index(task[1]) if task[1] in SLOW else -1):
        yield f"{cell.set}:{cell.kind}", cell.n, method, 0


def tasks_in_rounds(given: Listed) -> Iterator[Task]:
    """Yield (set and version, n, rule, draw): in each round every cell in a random order, with the rule whose turn it is and a new sample."""
    every = list(cells(given.family_of))
    rng = stream(given.seed, "turns")
    turn = rng.permutation(len(every)) % len(given.turns)
    draws = [0] * len(every)
    for _ in range(len(given.turns)):
        for i in _round(every, rng) if given.same_by_size else rng.permutation(len(every)):
            cell, k = every[i], draws[i]
            draws[i] += 1
            yield f"{cell.set}:{cell.kind}", cell.n, given.turns[(turn[i] + STEP * k) % len(given.turns)], k


def _round(every: list[Cell], rng: np.random.Generator) -> np.ndarray:
    """Return numbers of cells in a random order, as many of each size; where a size has fewer cells they come again."""
    by_size = [np.flatnonzero([cell.n == n for cell in every]) for n in sorted({cell.n for cell in every})]
    most = max(map(len, by_size))
    again = [np.concatenate([rng.permutation(own) for _ in range(-(-most // len(own)))])[:most] for own in by_size]
    return np.asarray(rng.permutation(np.concatenate(again)))


def one(given: Listed, name: str, n: int, method: str, k: int) -> dict[str, float] | None:
    """Return the true error, the headline and its rival for one sample."""
    if given.without((name, n, method, k)):
        return None
    X, y, X_rest, y_rest = drawn(Cell(*name.split(":"), n), stream(given.seed, "draw", name, n, k), given.most_left)
    seed = task_seed(given.seed, name, n, method, k)
    model = rule(method)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed % 2**31)
    truth = float(np.mean(model.fit(X, y).predict(X_rest) != y_rest))
    e, rival = headline_and_rival(model, X, y, seed)
    middle, low, high = in_wilsons_form(rival, len(y))
    return {
        "d": X.shape[1],
        "classes": len(np.unique(y)),
        "truth": truth,
        "left": len(y_rest),
        "rarest": float(np.unique(y, return_counts=True)[1].min() / n),
        "equal": 1 - len(np.unique(np.column_stack([X, y]), axis=0)) / n,
        "led": float(e.method == "combined"),
        "estimate": e.value,
        "low": e.interval.low,
        "high": e.interval.high,
        "rival": middle,
        "rival_low": low,
        "rival_high": high,
    }


def headline_and_rival(model: Any, X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Any]:
    """Return what `unseen.estimate(method="auto")` gives, and the corrected t on 5 x 10-fold; both from the same fits where folds lead.

    Copies of rows may be kept together, which leaves fewer units than rows, and no more folds than units.
    """
    fixed = {"random_state": seed, "n_jobs": 1, "progress": False}
    if len(y) > MOST_LED:
        made = unseen.run(model, X, y, design=unseen.designs.RepeatedKFold(10, ROUNDS), **fixed)
        return unseen.estimate(made, method="range-t"), unseen.estimate(made, method="corrected-t")
    e = unseen.estimate(model, X, y, method="auto", **fixed)
    design = unseen.designs.RepeatedKFold(min(10, e.n_units), ROUNDS)
    return e, unseen.estimate(model, X, y, method="corrected-t", design=design, **fixed)


def in_wilsons_form(e: Any, n: int) -> tuple[float, float, float]:
    """Return the value of an estimate and its ends in Wilson's form; n units count where no fold differs."""
    m, se = e.value, e.std_error or 0.0
    quantile = float(stats.t.ppf((1 + LEVEL) / 2, e.df or ROUNDS * min(10, e.n_units) - 1))
    units = m * (1 - m) / se**2 if se > 0 and 0 < m < 1 else n
    middle = (m + quantile**2 / (2 * units)) / (1 + quantile**2 / units)
    half = quantile / (1 + quantile**2 / units) * math.sqrt(m * (1 - m) / units + quantile**2 / (4 * units**2))
    return m, middle - half, middle + half


def run(given: Listed, minutes: float, part: int, parts: int) -> None:
    """Append rows of a part of the samples of a list until the time is used up."""
    warnings.simplefilter("ignore")
    own = list(first_tasks() if given is FIRST else tasks_in_rounds(given))[part::parts]
    path = given.packed.with_name(given.packed.name.replace(".csv.gz", f".{part}.csv"))
    append_rows(path, given.packed, own, partial(one, given), COLUMNS, minutes)


class Judged:
    """Rows as arrays, and what an interval did on some of them, families being the units."""

    def __init__(self, rows: list[Row], family_of: Mapping[str, str]) -> None:
        self.names = np.array([r["set"] for r in rows])
        self.family = np.array([family_of[name.split(":")[0]] for name in self.names])
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
        return [
            name,
            str(families),
            str(int(mask.sum())),
            f"{mean:.3f}",
            f"{low:.3f} to {high:.3f}",
            f"{self.rival_covered[mask].mean():.3f}",
            f"{width:.3f}",
            f"{rival:.3f}",
            said,
        ]


def judged_cells(j: Judged) -> list[tuple[str, np.ndarray]]:
    """Return the cells of the table, each with its rows."""
    masks: list[tuple[str, np.ndarray]] = [("all samples", np.full(len(j.names), True))]
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
    return masks + [(name, test(j.of["estimate"])) for name, test in bands]


def amended_text(j: Judged, masks: list[tuple[str, np.ndarray]]) -> str:
    """Say what the first list would have given with the change that was made after it."""
    reach = np.where(j.of["low"] < 0.5 / j.of["n"], 0.0, j.of["low"])
    amended = ((reach <= j.of["truth"]) & (j.of["truth"] <= j.of["high"])).astype(float)
    after = j.limits(amended, j.usable)
    cells = [
        f"{name} {amended[mask & j.usable].mean():.3f}"
        for name, mask in masks[1:]
        if not name.startswith("combined") and len(np.unique(j.family[mask & j.usable])) >= MANY_FAMILIES
    ]
    return (
        f"Of the {int((j.usable & ~j.covered).sum())} misses {int((j.usable & (j.of['truth'] < j.of['low'])).sum())} lie below the interval, most of them true errors of 0 or nearly so under a lower end of a few thousandths. "
        "That was mended after this judgement, so these families are no evidence for it: a lower end below half an error in n rows is now 0. "
        f"With it the same samples are covered in {after[0]:.3f} (limits over families {after[1]:.3f} to {after[2]:.3f}); by cell: {', '.join(cells)}."
    )


def verdict_text(j: Judged, masks: list[tuple[str, np.ndarray]]) -> str:
    """Say which of the demands a list met."""
    mean, low, _ = j.limits(j.covered.astype(float), j.usable)
    failed = [
        name
        for name, mask in masks[1:]
        if len(np.unique(j.family[mask & j.usable])) >= MANY_FAMILIES and j.covered[mask & j.usable].mean() < 0.9
    ]
    tables = j.usable & ~np.char.startswith(j.family, "made/")
    alone = j.limits(j.covered.astype(float), tables)
    return (
        f"Coverage in total {mean:.3f}, asked .93 to .97: {'met' if 0.93 <= mean <= 0.97 else 'not met'}. Lower limit {low:.3f}, asked .91: {'met' if low >= 0.91 else 'not met'}. "
        f"Cells of {MANY_FAMILIES} families or more below .90: {', '.join(failed) or 'none'}. "
        f"Truth below the interval in {int((j.usable & (j.of['truth'] < j.of['low'])).sum())} samples, above in {int((j.usable & (j.of['truth'] > j.of['high'])).sum())}. "
        f"Without the made populations {alone[0]:.3f} ({alone[1]:.3f} to {alone[2]:.3f})."
    )


def sharpness_text(given: Listed, j: Judged, gain: float, low: float) -> str:
    """Say whether the score is as far below the rival's as was asked, and what it is by which method leads."""
    where = {method: j.gain(j.usable & (j.of["led"] == led)) for method, led in (("combined", 1), ("range-t", 0))}
    said = {
        method: f"{100 * mean:.1f}% ({100 * below:.1f}% to {100 * above:.1f}%)"
        for method, (mean, below, above) in where.items()
    }
    large = (
        f"where `range-t` leads, from some 280 rows on, {said['range-t']}"
        if given is FIFTH
        else "from 280 rows on headline and rival are the same interval"  # range-t did not count single units then
    )
    return (
        f" Asked were 10% and limits above 0: {'met' if gain >= 0.1 else 'not met'}, and {'met' if low > 0 else 'not met'}. "
        f"Where `combined` leads it is {said['combined']}; {large}."
    )


def page_of(given: Listed, rows: list[Row]) -> str:
    """Return table and verdict of the rows of a list."""
    j = Judged(rows, given.family_of)
    masks = judged_cells(j)
    lines = [line for name, mask in masks if (line := j.line(name, mask)) is not None]
    head = [
        "samples",
        "families",
        "number",
        "coverage",
        "limits over families",
        "rival",
        "median width",
        "rival's",
        "at least .90",
    ]
    gain, low, high = j.gain(j.usable)
    text = [
        f"{len(np.unique(j.family))} families that no choice has seen, {len(j.names)} samples, of which {int(j.usable.sum())} have a true error known to a quarter of the interval's half-width.",
        markdown(head, lines),
        amended_text(j, masks) if given is FIRST else verdict_text(j, masks),
        f"Mean interval score {100 * gain:.1f}% below that of the corrected t on 5 x 10-fold in Wilson's form (limits over families {100 * low:.1f}% to {100 * high:.1f}%)."
        + ("" if given is FIRST else sharpness_text(given, j, gain, low)),
    ]
    return "\n\n".join(text) + "\n"


def judge(given: Listed) -> None:
    """Write the table of a list."""
    rows = pack_rows(given.packed, "estimate")
    given.page.write_text(page_of(given, rows))
    print(given.page.read_text())


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("run", "judge"))
    parser.add_argument("--list", choices=tuple(LISTS), default="fifth", help="list of families to judge")
    parser.add_argument("--minutes", type=float, default=80.0, help="CPU time")
    parser.add_argument("--part", default="0/1", help="k/m: this process does every m-th task, starting at the k-th")
    given = parser.parse_args()
    if given.do == "judge":
        judge(LISTS[given.list])
    else:
        part, parts = map(int, given.part.split("/"))
        run(LISTS[given.list], given.minutes, part, parts)


if __name__ == "__main__":
    main()
