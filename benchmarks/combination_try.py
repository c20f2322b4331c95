"""A second try at `combined`: does shrinkage, cross-validation or the no-information rate as a member bring 8%?

    python -m benchmarks.combination_try rates     # no-information rate of every sample; one fit each, resumable
    python -m benchmarks.combination_try judge     # writes docs/tables/combination_try.md

The procedure was fixed, and committed, before its figures were seen:

- Rows: those of `choose_combination` (those of `real_small_samples` were to be added, but there were none yet). Cells, scaling
  to n = 40, and the threshold for dropping members are those of `combination_tables`.
- Candidates: the pool as shipped; with 10-fold cross-validation; with the no-information rate. Each with weights that sum to
  1, or with any weights of at least 0. Each with weights drawn towards equal ones (a ridge of 0, .01 or .1 of the mean square)
  and towards those of all rules together (by 0, .25 or .5).
- The candidate is chosen, for every one of the twelve outer folds, by six inner folds over the remaining families of data
  sets: the smallest mean RMS on real sets at n = 40. Families are never split between fitting and judging.
- The figure is the mean RMS of the choices on the outer folds, against the best single estimator there.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks import combination_tables as tables
from benchmarks.choose_combination import SEED
from benchmarks.combination_tables import LEAST_WEIGHT, MAIN_SIZE, POOLS, SINGLES, Cells, load, markdown
from benchmarks.small_samples import Rule, draw
from unseen.core.rng import stream, task_seed
from unseen.estimators._no_information import no_information_rate
from unseen.measures.zero_one import ZeroOne

HERE = Path(__file__).parent
RATES = HERE / "no_information.csv.gz"
PAGE = HERE.parent / "docs" / "tables" / "combination_try.md"
RATE = "no-information"
OUTER, INNER = 12, 6
Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Candidate:
    """A way to fit weights."""

    pool: tuple[str, ...]
    convex: bool
    ridge: float
    pooling: float

    def __str__(self) -> str:
        extra = ", ".join(sorted(set(self.pool) - set(POOLS["combined"]))) or "none"
        return f"added: {extra}; sum {'1' if self.convex else 'free'}; ridge {self.ridge:g}; pooling {self.pooling:g}"


def candidates() -> list[Candidate]:
    """Return all that is tried."""
    shipped = POOLS["combined"]
    pools = (shipped, (*shipped, "kfold"), (*shipped, RATE))
    grid = itertools.product(pools, (True, False), (0.0, 0.01, 0.1), (0.0, 0.25, 0.5))
    return [Candidate(*one) for one in grid]


def weights_of(moments: np.ndarray, truth: tuple[np.ndarray, float] | None, ridge: float) -> np.ndarray:
    """Return weights of at least 0 that minimise the mean squared deviation; with `truth` their sum is free.

    `moments` are those of deviations (sum 1), or, with `truth`, of the estimates themselves, beside their moments with the
    true error and its own.
    """
    k = len(moments)
    penalty = ridge * np.trace(moments) / k
    if truth is None:
        values, vectors = np.linalg.eigh(moments + penalty * np.eye(k))
        root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
        heavy = 1e3 * np.sqrt(np.trace(moments))
        found, _ = nnls(np.vstack([root, np.full(k, heavy)]), np.append(np.zeros(k), heavy))
        return np.asarray(found / found.sum())
    values, vectors = np.linalg.eigh(moments + penalty * np.eye(k))
    values = np.maximum(values, 1e-12 * values.max())
    root = np.sqrt(values)[:, None] * vectors.T
    target = (vectors.T @ (truth[0] + penalty / k)) / np.sqrt(values)
    return np.asarray(nnls(root, target)[0])


@dataclass(frozen=True)
class Moments:
    """Cells with the mean products of all estimates and the true error, truth last."""

    cells: Cells
    raw: np.ndarray
    names: tuple[str, ...]

    def where(self, mask: np.ndarray) -> Moments:
        """Return the cells of a mask."""
        return Moments(self.cells.where(mask), self.raw[mask], self.names)

    def fitted(self, names: tuple[str, ...], convex: bool, ridge: float) -> np.ndarray:
        """Return the weights of some members over all these cells."""
        index = [self.names.index(name) for name in names]
        mean = self.raw.mean(axis=0)
        both = mean[np.ix_(index, index)]
        cross, own = mean[index, -1], float(mean[-1, -1])
        if convex:
            return weights_of(both - cross[:, None] - cross[None, :] + own, None, ridge)
        return weights_of(both, (cross, own), ridge)

    def squares(self, names: tuple[str, ...], weights: np.ndarray) -> np.ndarray:
        """Return the mean squared deviation of a weighted sum in each cell."""
        index = [*(self.names.index(name) for name in names), len(self.names)]
        full = np.append(weights, -1.0)
        part = self.raw[:, index][:, :, index]
        return np.maximum(np.einsum("i,cij,j->c", full, part, full), 0.0)


def recipe(moments: Moments, one: Candidate) -> tuple[tuple[str, ...], dict[str, np.ndarray]]:
    """Return members and weights by rule, fitted to these cells as the candidate says."""
    rules = np.unique(moments.cells.rule)

    def by_rule(names: tuple[str, ...]) -> dict[str, np.ndarray]:
        every = moments.fitted(names, one.convex, one.ridge)
        return {
            rule: (1 - one.pooling) * moments.where(moments.cells.rule == rule).fitted(names, one.convex, one.ridge)
            + one.pooling * every
            for rule in rules
        }

    mean = np.mean(list(by_rule(one.pool).values()), axis=0)
    names = tuple(name for name, weight in zip(one.pool, mean) if weight >= LEAST_WEIGHT)
    return names, by_rule(names)


def rms(moments: Moments, made: tuple[tuple[str, ...], dict[str, np.ndarray]]) -> np.ndarray:
    """Return the RMS in each cell, the weights chosen by its rule."""
    out = np.empty(len(moments.cells.name))
    for rule in np.unique(moments.cells.rule):
        own = moments.cells.rule == rule
        out[own] = np.sqrt(moments.where(own).squares(made[0], made[1][rule]))
    return out


def folds_of(groups: np.ndarray, count: int) -> np.ndarray:
    """Return the fold of each cell; a family of data sets is in one."""
    place = {group: k % count for k, group in enumerate(np.unique(groups))}
    return np.array([place[g] for g in groups])


def chosen(scaled: Moments, plain: Moments, options: list[Candidate]) -> Candidate:
    """Return the candidate with the smallest mean RMS over inner folds, on real sets at the main size."""
    fold = folds_of(scaled.cells.group, INNER)
    judged = plain.cells.real & (plain.cells.n == MAIN_SIZE)
    total = np.zeros(len(options))
    for k in range(INNER):
        rest, inside = scaled.where(fold != k), plain.where((fold == k) & judged)
        total += [rms(inside, recipe(rest, one)).sum() for one in options]
    return options[int(np.argmin(total))]


def rates() -> None:
    """Write the no-information rate of every sample that has none yet."""
    have = _rates_in()
    for key in sorted(set(_rows()) - set(have)):
        name, n, rule, k = key
        drawn = draw(name, int(n), stream(SEED, "draw", name, int(n), int(k)))
        assert drawn is not None
        data = drawn.sample
        fitted = Rule(rule).fit(data, task_seed(SEED, name, int(n), rule, int(k)))
        codes = np.searchsorted(data.classes, fitted.predict(data.X))
        have[key] = no_information_rate(ZeroOne(), data.codes, codes)
    lines = [",".join([*key, f"{have[key]:.6g}"]) for key in sorted(have)]
    with gzip.GzipFile(RATES, "wb", mtime=0) as packed:
        packed.write(("\n".join(["set,n,rule,draw,rate", *lines]) + "\n").encode())


def _rates_in() -> dict[Key, float]:
    if not RATES.exists():
        return {}
    with gzip.open(RATES, "rt", newline="") as file:
        return {(r["set"], r["n"], r["rule"], r["draw"]): float(r["rate"]) for r in csv.DictReader(file)}


def _rows() -> dict[Key, dict[str, str]]:
    rows, _ = load()
    return {(r["set"], r["n"], r["rule"], r["draw"]): r for r in rows}


def moments_of() -> tuple[Moments, Moments]:
    """Return the moments of all cells, scaled to the main sample size for fitting, and as they are for judging."""
    rows, rate = _rows(), _rates_in()
    names = (*SINGLES, RATE)
    label = np.array([f"{key[0]} {key[2]} {key[1]}" for key in rows])
    values = np.array([[*(float(r[c]) for c in SINGLES), rate[key], float(r["truth"])] for key, r in rows.items()])
    kept = list(rows.values())
    parts, raw, scaled = [], [], []
    for name in np.unique(label):
        own = np.flatnonzero(label == name)
        r, v = kept[own[0]], values[own]
        n, zero = int(r["n"]), np.zeros(len(SINGLES))
        about = (r["set"], tables.FAMILY_OF[r["set"]], r["rule"], n, int(float(r["d"])), int(float(r["classes"])))
        parts.append((name, *about, len(own), v[:, -1].mean(), zero, np.zeros((len(zero), len(zero)))))
        raw.append(v.T @ v / len(own))
        # deviations from the truth grow as 1/sqrt(n); the truth itself stays
        stretched = v[:, -1:] + (v - v[:, -1:]) * np.sqrt(n / MAIN_SIZE)
        scaled.append(stretched.T @ stretched / len(own))
    cells = Cells(*(np.array(column) for column in zip(*parts)))
    plain = Moments(cells, np.array(raw), names)
    return replace(plain, raw=np.array(scaled)), plain


def judge() -> None:
    """Choose within, judge without, and write the table."""
    scaled, plain = moments_of()
    judged = plain.cells.real & (plain.cells.n == MAIN_SIZE)
    fold = folds_of(plain.cells.group, OUTER)
    options, picks = candidates(), []
    found = {name: np.full(len(fold), np.nan) for name in ("as shipped", "chosen within")}
    for k in range(OUTER):
        rest, inside = fold != k, (fold == k) & judged
        pick = chosen(scaled.where(rest), plain.where(rest), options)
        picks.append(str(pick))
        for name, one in (("as shipped", options[0]), ("chosen within", pick)):
            found[name][inside] = rms(plain.where(inside), recipe(scaled.where(rest), one))
    singles = {name: np.sqrt(plain.where(judged).squares((name,), np.ones(1))) for name in SINGLES}
    best = min(singles, key=lambda name: singles[name].mean())
    rows = [[best, f"{singles[best].mean():.4f}", "", ""]]
    for name, values in found.items():
        own = values[judged]
        gap = (singles[best] - own) / singles[best].mean()
        rows.append(
            [
                name,
                f"{own.mean():.4f}",
                f"{100 * gap.mean():.1f}%",
                f"{100 * error_over_families(gap, plain.cells.group[judged]):.1f}%",
            ]
        )
    text = [
        markdown(["estimate", "held-out mean RMS", "below the best single by", "standard error over families"], rows)
    ]
    counts = sorted(((picks.count(p), p) for p in set(picks)), reverse=True)
    text.append("Chosen in the outer folds: " + "; ".join(f"{p} ({c} of {OUTER})" for c, p in counts) + ".")
    PAGE.write_text("\n\n".join(text) + "\n")
    print(PAGE.read_text(), int(judged.sum()), "cells")


def error_over_families(gap: np.ndarray, group: np.ndarray) -> float:
    """Return the standard error of a mean over cells, families of data sets being the units."""
    sums = np.array([gap[group == g].sum() for g in np.unique(group)])
    sizes = np.array([(group == g).sum() for g in np.unique(group)])
    residual = sums - sizes * gap.mean()
    return float(np.sqrt(len(sums) / (len(sums) - 1) * np.square(residual).sum()) / sizes.sum())


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("rates", "judge"))
    {"rates": rates, "judge": judge}[parser.parse_args().do]()


if __name__ == "__main__":
    main()
