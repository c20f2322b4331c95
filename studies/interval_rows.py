"""Samples on which the interval of `combined` is fitted, beyond those of `choose_combination`: larger, with rare classes, many classes or equal rows, and with
forests, boosting and logistic regression.

    python -m studies.interval_rows run --minutes 45 --part 0/2   # resumable; parts are packed by studies.interval_fit

Forty-five minutes of one core were spent on it.

Sets are those of `small_samples` and `combination_fresh`, which have been looked at, and made populations; none of `interval_families`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studies import combination_fresh as fresh
from studies import small_samples as small
from studies.choose_combination import COLUMNS, all_estimates
from studies.combination_rows import Task, append_rows
from studies.small_samples import FURTHER_RULES, LARGEST_TEST, RULES, Drawn, table
from unseen.core.rng import stream, task_seed
from unseen.datasets.conversion import as_data

HERE = Path(__file__).parent
PACKED = HERE / "interval_rows.csv.gz"
SEED = 31
SIZES = (40, 100, 200, 400, 20)
LEAST_TIMES = 4  # rows of a set over those of a sample: fewer leave a true error as uncertain as the estimate
DRAWS = 20


@dataclass(frozen=True)
class Mixture:
    """Normal classes with means on random axes; coarse features repeat rows."""

    shares: tuple[float, ...]
    d: int
    distance: float
    coarse: bool = False

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return n features and labels."""
        y = rng.choice(len(self.shares), n, p=self.shares)
        means = np.random.default_rng(len(self.shares) * 100 + self.d).standard_normal((len(self.shares), self.d))
        means *= self.distance / np.linalg.norm(means, axis=1, keepdims=True)
        X = means[y] + rng.standard_normal((n, self.d))
        return (np.clip(np.round(X), -1, 1) if self.coarse else X), y


POPULATIONS = {
    "made/rare-5": Mixture((0.95, 0.05), 5, 1.6),
    "made/rare-20": Mixture((0.93, 0.07), 20, 1.8),
    "made/rare-three": Mixture((0.6, 0.34, 0.06), 8, 1.6),
    "made/rare-easy": Mixture((0.94, 0.06), 6, 2.6),
    "made/six": Mixture((0.3, 0.2, 0.15, 0.15, 0.1, 0.1), 8, 2.0),
    "made/eight": Mixture((0.125,) * 8, 12, 2.5),
    "made/ten": Mixture((0.1,) * 10, 20, 3.5),
    "made/coarse": Mixture((0.6, 0.4), 3, 1.0, coarse=True),
    "made/coarse-five": Mixture((0.5, 0.5), 5, 1.2, coarse=True),
    "made/coarse-rare": Mixture((0.93, 0.07), 4, 1.6, coarse=True),
    "made/wide": Mixture((0.5, 0.5), 150, 2.0),
}
FAMILY_OF = {**small.FAMILY_OF, **fresh.FAMILY_OF, **{name: name for name in POPULATIONS}}


def draw(name: str, n: int, rng: np.random.Generator) -> Drawn | None:
    """Return a sample with three rows of each class at least, or None if too few rows would be left."""
    if name in POPULATIONS:
        source = POPULATIONS[name]
        if n * min(source.shares) < 4:
            return None
        while True:
            X, y = source.draw(n, rng)
            if min(np.bincount(y, minlength=len(source.shares))) >= 3:
                return Drawn(as_data(X, y, task="classification"), *source.draw(LARGEST_TEST, rng))
    if not name.startswith("population/"):
        y = table(name)[1]
        rarest = np.unique(y, return_counts=True)[1].min()
        if len(y) < LEAST_TIMES * n or rarest * n < 4 * len(y):
            return None
    return small.draw(name, n, rng)


def one(name: str, n: int, rule: str, k: int) -> dict[str, float] | None:
    """Return the true error, how many rows it was counted on, and every estimate of one sample."""
    drawn = draw(name, n, stream(SEED, "draw", name, n, k))
    if drawn is None:
        return None
    row = all_estimates(drawn, rule, task_seed(SEED, name, n, rule, k))
    shares = np.bincount(drawn.sample.codes) / n
    distinct = len(np.unique(np.column_stack([drawn.sample.X, drawn.sample.codes]), axis=0))
    return {**row, "left": len(drawn.y_test), "rarest": float(shares.min()), "equal": 1 - distinct / n}


def tasks() -> Iterator[Task]:
    """Yield (set, n, rule, draw), so that every prefix is spread over sets, sizes and rules."""
    names = list(FAMILY_OF)
    rules = (*FURTHER_RULES, *RULES)
    for k in range(DRAWS):
        for shift in range(len(SIZES)):
            for i, name in enumerate(names):
                # a set meets another rule at every size and round; most of them the further rules, which have no rows yet
                turn = (i + 3 * shift + 5 * k) % (len(rules) + 6)
                rule = rules[turn if turn < len(rules) else turn % 3]
                yield name, SIZES[(i + shift) % len(SIZES)], rule, k


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("run",))
    parser.add_argument("--minutes", type=float, default=20.0, help="CPU time")
    parser.add_argument("--part", default="0/1", help="k/m: this process does every m-th task, starting at the k-th")
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    own: list[Any] = list(tasks())[part::parts]
    append_rows(
        HERE / f"interval_rows.{part}.csv", PACKED, own, one, (*COLUMNS, "left", "rarest", "equal"), given.minutes
    )


if __name__ == "__main__":
    main()
