"""A third try at `combined`: do weights that also go by how frequent errors are bring 8%?

    python -m benchmarks.combination_by_level     # writes docs/tables/combination_by_level.md

Where errors are rare, smoothed estimates are far too high and the bootstrap is hardly wrong; where they are frequent, it is the other way round. The procedure was
fixed, and committed, before its figures were seen:

- Rows, families of data sets, the twelve folds over them, scaling to n = 40 for fitting, pool of members and the threshold for dropping members are those
  of `combination_tables`.
- The level of a sample is "rare" where its .632 estimate is below 15%, the band that the shipped evidence knows, else "frequent". It needs no second run: .632 is a member.
- Weights of at least 0 that sum to 1 are fitted for every rule and level on the samples of that rule and level, every cell (set, rule, size) counting by its share
  of samples there. Where fewer than five families of data sets have samples of a rule and level, the weights of the rule alone are taken.
- The figure is the mean RMS over cells of real sets at n = 40, against the best single estimator there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.combination_tables import LEAST_WEIGHT, MAIN_SIZE, N_FOLDS, POOLS, SINGLES, load, markdown
from benchmarks.combination_try import error_over_families, folds_of, weights_of
from benchmarks.small_samples import FAMILY_OF

PAGE = Path(__file__).parent.parent / "docs" / "tables" / "combination_by_level.md"
RARE, FEW_FAMILIES = 0.15, 5
LEVELS = ("any", "rare", "frequent")
Weights = dict[tuple[str, str], np.ndarray]


@dataclass(frozen=True)
class Samples:
    """Every sample with its deviations from the true error."""

    cell: np.ndarray
    group: np.ndarray
    rule: np.ndarray
    n: np.ndarray
    real: np.ndarray
    rare: np.ndarray
    deviation: np.ndarray
    share: np.ndarray

    def where(self, mask: np.ndarray) -> Samples:
        """Return the samples of a mask."""
        return Samples(*(value[mask] for value in vars(self).values()))

    def at(self, rule: str, level: str) -> np.ndarray:
        """Return which samples are of a rule and a level."""
        own = self.rule == rule
        return own if level == "any" else own & (self.rare == (level == "rare"))


def samples() -> Samples:
    """Return all samples of the study."""
    rows, _ = load()
    cell = np.array([f"{r['set']} {r['rule']} {r['n']}" for r in rows])
    _, place, count = np.unique(cell, return_inverse=True, return_counts=True)
    text = {key: np.array([r[key] for r in rows]) for key in ("set", "rule", "n")}
    return Samples(
        cell, np.array([FAMILY_OF[s] for s in text["set"]]), text["rule"], text["n"].astype(int),
        np.array([not s.startswith("population/") for s in text["set"]]),
        np.array([float(r["632"]) < RARE for r in rows]),
        np.array([[float(r[c]) - float(r["truth"]) for c in SINGLES] for r in rows]), 1 / count[place],
    )  # fmt: skip


def fitted(some: Samples, names: tuple[str, ...]) -> np.ndarray:
    """Return weights over some samples, deviations scaled to the main size."""
    index = [SINGLES.index(name) for name in names]
    scaled = some.deviation[:, index] * np.sqrt(some.n / MAIN_SIZE)[:, None]
    return weights_of((scaled * some.share[:, None]).T @ scaled / some.share.sum(), None, 0.0)


def by_rule_and_level(some: Samples, names: tuple[str, ...], levels: tuple[str, ...]) -> Weights:
    """Return weights for every rule and level; those of the rule where too few families stand behind a level."""
    found: Weights = {}
    for rule in np.unique(some.rule):
        for level in ("any", *(one for one in levels if one != "any")):
            own = some.where(some.at(rule, level))
            enough = level == "any" or len(np.unique(own.group)) >= FEW_FAMILIES
            found[rule, level] = fitted(own, names) if enough else found[rule, "any"]
    return found


def recipe(some: Samples, levels: tuple[str, ...]) -> tuple[tuple[str, ...], Weights]:
    """Return members and weights."""
    pool = POOLS["combined"]
    first = by_rule_and_level(some, pool, levels)
    mean = np.mean([w for (_, level), w in first.items() if level in levels], axis=0)
    names = tuple(name for name, weight in zip(pool, mean) if weight >= LEAST_WEIGHT)
    return names, by_rule_and_level(some, names, levels)


def deviations(some: Samples, names: tuple[str, ...], weights: Weights, levels: tuple[str, ...]) -> np.ndarray:
    """Return the deviation of the recipe in every sample."""
    index = [SINGLES.index(name) for name in names]
    out = np.empty(len(some.cell))
    for rule in np.unique(some.rule):
        for level in levels:
            own = some.at(rule, level)
            out[own] = some.deviation[own][:, index] @ weights[rule, level]
    return out


def held_out(every: Samples, levels: tuple[str, ...]) -> np.ndarray:
    """Return the deviation of every sample by members and weights that never saw a data set of its family."""
    fold = folds_of(every.group, N_FOLDS)
    out = np.empty(len(every.cell))
    for k in range(N_FOLDS):
        names, weights = recipe(every.where(fold != k), levels)
        out[fold == k] = deviations(every.where(fold == k), names, weights, levels)
    return out


def rms_of(some: Samples, deviation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the RMS of every cell, and its family of data sets."""
    cells = np.unique(some.cell)
    rms = np.array([np.sqrt(np.mean(deviation[some.cell == c] ** 2)) for c in cells])
    return rms, np.array([some.group[np.argmax(some.cell == c)] for c in cells])


def main() -> None:
    """Judge the recipe as shipped and by level, and write the table."""
    every = samples()
    judged = every.real & (every.n == MAIN_SIZE)
    inside = every.where(judged)
    singles = {name: rms_of(inside, inside.deviation[:, k])[0] for k, name in enumerate(SINGLES)}
    best = min(singles, key=lambda name: singles[name].mean())
    rows = [[best, f"{singles[best].mean():.4f}", "", ""]]
    for name, levels in (("weights by rule", ("any",)), ("weights by rule and level", ("rare", "frequent"))):
        own, group = rms_of(inside, held_out(every, levels)[judged])
        gain = (singles[best] - own) / singles[best].mean()
        rows.append(
            [name, f"{own.mean():.4f}", f"{100 * gain.mean():.1f}%", f"{100 * error_over_families(gain, group):.1f}%"],
        )
    head = ["estimate", "held-out mean RMS", "below the best single by", "standard error over families"]
    PAGE.write_text(markdown(head, rows) + "\n")
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
