"""Cells of the study, by their moments, and how the weighted mean `auto-resub` is fitted to them.

A cell is a data set, a rule and a sample size. What is minimised and shown is the RMS of a cell, averaged over cells, so
that every data set counts the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Self

import numpy as np
from scipy.optimize import nnls

from studies.combination_rows import pack_rows
from studies.small_samples import FAMILY_OF

HERE = Path(__file__).parent
RUNS = HERE / "combination_runs.csv.gz"
MAIN_SIZE = 40
LEAST_DRAWS = 1
DIRECT = (
    "resub",
    "bolster",
    "semi-bolster",
    "posterior",
    "bolster-posterior",
    "bolster-posterior-accuracy",
    "naive-bayes-bolster",
    "bayesian",
)
RESAMPLED = ("kfold", "bootstrap-zero", "bootstrap-loo", "632", "632plus")
SINGLES = (*DIRECT, *RESAMPLED)
LEAST_WEIGHT = 0.03  # mean weight over rules below which a part is dropped
N_FOLDS = 12
Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class Columns:
    """Arrays of the same length, side by side."""

    def where(self, mask: np.ndarray) -> Self:
        """Return the entries of a mask."""
        return type(self)(*(getattr(self, f.name)[mask] for f in fields(self)))


def fold_of(groups: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
    """Return the fold of each entry; a group is never divided, and `known` groups count where they are more than those here."""
    number = {group: k % N_FOLDS for k, group in enumerate(np.unique(groups if known is None else known))}
    return np.array([number[group] for group in groups])


@dataclass(frozen=True)
class Cells(Columns):
    """First and second moments of all deviations from the true error, cell by cell."""

    name: np.ndarray
    set: np.ndarray
    group: np.ndarray
    rule: np.ndarray
    n: np.ndarray
    d: np.ndarray
    classes: np.ndarray
    count: np.ndarray
    truth: np.ndarray
    means: np.ndarray
    moments: np.ndarray

    def comparable(self) -> Cells:
        """Return the cells with deviations scaled to the main sample size, for fitting on all sizes at once."""
        scale = np.sqrt(self.n / MAIN_SIZE)
        return replace(self, means=self.means * scale[:, None], moments=self.moments * (scale**2)[:, None, None])

    @property
    def real(self) -> np.ndarray:
        """Whether the data are real."""
        return np.array([not s.startswith("population/") for s in self.set])

    def rms(self, names: Sequence[str], weights: np.ndarray) -> np.ndarray:
        """Return the RMS of a weighted mean in each cell."""
        index = [SINGLES.index(name) for name in names]
        part = self.moments[:, index][:, :, index]
        return np.sqrt(np.einsum("i,cij,j->c", weights, part, weights))

    def bias(self, names: Sequence[str], weights: np.ndarray) -> np.ndarray:
        """Return the mean deviation of a weighted mean in each cell."""
        return np.asarray(self.means[:, [SINGLES.index(name) for name in names]] @ weights)

    def judged(self, names: Sequence[str], weights: Weights) -> np.ndarray:
        """Return RMS and bias in each cell, the weights chosen by its rule."""
        out = np.empty((len(self.name), 2))
        for rule in np.unique(self.rule):
            own = self.rule == rule
            cells = self.where(own)
            out[own, 0], out[own, 1] = cells.rms(names, weights[rule]), cells.bias(names, weights[rule])
        return out


def load() -> tuple[list[dict[str, str]], Cells]:
    """Read all parts of the study, pack them into one file, and return the rows and their cells."""
    ordered = pack_rows(RUNS)
    label = np.array([f"{r['set']} {r['rule']} {r['n']}" for r in ordered])
    deviation = np.array([[float(r[c]) - float(r["truth"]) for c in SINGLES] for r in ordered])
    parts = []
    for name in np.unique(label):
        own = np.flatnonzero(label == name)
        first = ordered[own[0]]
        if len(own) >= LEAST_DRAWS:
            about = (first["set"], FAMILY_OF[first["set"]], first["rule"], int(first["n"]), int(float(first["d"])))
            moments = deviation[own].T @ deviation[own] / len(own)
            truth = float(np.mean([float(ordered[k]["truth"]) for k in own]))
            parts.append(
                (name, *about, int(float(first["classes"])), len(own), truth, deviation[own].mean(axis=0), moments)
            )
    return ordered, Cells(*(np.array(column) for column in zip(*parts)))


def weights_of(cells: Cells, names: Sequence[str]) -> np.ndarray:
    """Return weights of at least 0 that sum to 1 and minimise the mean squared deviation over cells."""
    index = [SINGLES.index(name) for name in names]
    moments = cells.moments.mean(axis=0)[np.ix_(index, index)]
    values, vectors = np.linalg.eigh(moments)
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    heavy = 1e3 * np.sqrt(np.trace(moments))  # a heavy row keeps the sum at 1
    solution, _ = nnls(np.vstack([root, np.full(len(names), heavy)]), np.append(np.zeros(len(names)), heavy))
    return np.asarray(solution / solution.sum())


def by_rule(cells: Cells, names: Sequence[str]) -> Weights:
    """Return weights for each rule, fitted on its own cells."""
    return {rule: weights_of(cells.where(cells.rule == rule), names) for rule in np.unique(cells.rule)}


def members_of(cells: Cells) -> tuple[str, ...]:
    """Return the parts of `auto-resub`: those that keep a weight worth having when all are fitted together."""
    mean = np.mean(list(by_rule(cells, DIRECT).values()), axis=0)
    return tuple(name for name, weight in zip(DIRECT, mean) if weight >= LEAST_WEIGHT)


def held_out(cells: Cells, judged: Cells, fixed: Sequence[str] | None = None) -> np.ndarray:
    """Return RMS and bias of `auto-resub` in each judged cell, by members and weights that never saw a data set of its group.

    `cells` are fitted on, `judged` are judged; with `fixed` only the weights are fitted.
    """
    known = np.concatenate([cells.group, judged.group])
    fitted_on, judged_in = fold_of(cells.group, known), fold_of(judged.group, known)
    out = np.empty((len(judged.name), 2))
    for k in range(N_FOLDS):
        rest, inside = cells.where(fitted_on != k), judged_in == k
        names = tuple(fixed) if fixed else members_of(rest)
        out[inside] = judged.where(inside).judged(names, by_rule(rest, names))
    return out


def rounded(weights: np.ndarray) -> np.ndarray:
    """Return weights in steps of .01 that still sum to 1."""
    steps = np.round(weights * 100)
    steps[np.argmax(weights)] += 100 - steps.sum()
    return steps / 100
