"""The evidence that is shipped: RMS of every estimator in situations a user can tell his own from.

A situation is a family of rules, a number of features and of classes, and a sample size; for a recipe also whether errors are rare or frequent *by what it says itself*. The true error would
not do: nobody sees it, and among samples with a small one those estimators look good that are too low. Nor would the value of another method: what to expect would depend on what else was run.

Beside the pooled RMS stand the median and the largest RMS of a family of data sets: a mean of squares is ruled by the one set on which a method fails.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from studies.combination_bounded import Samples
from studies.combination_cells import N_FOLDS, Cells, by_rule, fold_of
from studies.small_samples import LARGEST_TEST, SHARED
from unseen.estimators.combined.evidence import ANY, FEW_SETS, RECIPES, error_band
from unseen.estimators.combined.situation import dimension_band

FEW_SAMPLES = 30  # a band of the error may hold few samples of many data sets
LEAST_SQUARE = 1e-4  # an RMS below .01 is the noise of the true error
HEAD = ("estimator", "n", "family", "features", "classes", "error", "rms", "typical", "worst", "sets")
FAMILY_OF_RULE = {
    "linear-svm": "linear",
    "rbf-svm": "kernel",
    "cart": "tree",
    "3nn": "neighbours",
    "gaussian-nb": "generative",
}


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def auto_by_row(
    rows: Sequence[Mapping[str, str]], given: Samples, fitted_on: Cells, members: Sequence[str]
) -> np.ndarray:
    """Return `auto-resub` of each row, by weights that never saw a data set of its family."""
    parts = np.array([[float(r[name]) for name in members] for r in rows])
    out = np.empty(len(rows))
    for k in range(N_FOLDS):
        weights = by_rule(fitted_on.where(fold_of(fitted_on.group) != k), members)
        inside = fold_of(given.group, fitted_on.group) == k
        if not inside.any():
            continue
        out[inside] = (parts[inside] * np.array([weights[rule] for rule in given.rule[inside]])).sum(axis=1)
    return out


def noise_of(given: Samples) -> np.ndarray:
    """Return the variance of the "true" error itself, which rests on the rows that were not drawn."""
    with (SHARED / "MANIFEST.csv").open(newline="") as file:
        size = {row["name"]: int(row["n"]) for row in csv.DictReader(file) if row["n"]}
    left = np.array([min(size.get(s, 10**9) - n, LARGEST_TEST) for s, n in zip(given.set, given.n)])
    return np.asarray(given.truth * (1 - given.truth) / (left - 1))


def cell_share(given: Samples) -> np.ndarray:
    """Return weights by which every cell counts the same, however many draws it has."""
    _, index, count = np.unique(given.cell, return_inverse=True, return_counts=True)
    return 1 / count[index]


def pooled_rms(deviation: np.ndarray, noise: np.ndarray, share: np.ndarray) -> float:
    """Return the RMS without the noise of the true error, which a user's true error does not have."""
    return float(np.sqrt(max(np.average(deviation**2 - noise, weights=share), LEAST_SQUARE)))


def figures_of(squares: np.ndarray, share: np.ndarray, group: np.ndarray) -> tuple[float, float, float]:
    """Return the pooled RMS, and the median and the largest RMS of a family, from squared deviations less their noise.

    In the median a family counts as often as it is met: a band of the error has many families that fall into it with a few
    samples only, just because these are far off.
    """
    _, index = np.unique(group, return_inverse=True)
    weight = np.bincount(index, share)
    each = np.bincount(index, squares * share) / weight
    figures = (np.average(squares, weights=share), weighted_median(each, weight), each.max())
    pooled, typical, worst = (float(np.sqrt(max(v, LEAST_SQUARE))) for v in figures)
    return pooled, typical, worst


def weighted_median(values: np.ndarray, weight: np.ndarray) -> float:
    """Return the value below which half of the weight lies; halfway between two if it divides there."""
    order = np.argsort(values)
    values, below = values[order], np.cumsum(weight[order]) / weight.sum()
    return float((values[np.searchsorted(below, 0.5 - 1e-9)] + values[np.searchsorted(below, 0.5 + 1e-9)]) / 2)


def own_bands(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the band of each sample by what a recipe says of it itself, for every recipe."""
    return {recipe: np.array([error_band(float(v), recipe) for v in values[recipe]]) for recipe in RECIPES}


def evidence_rows(
    rows: Sequence[Mapping[str, str]],
    given: Samples,
    values: Mapping[str, np.ndarray],
    bands: Mapping[str, np.ndarray] | None = None,
) -> list[str]:
    """Return the lines of the shipped table: `figures_of` every situation, with the families of data sets behind them.

    `bands` are bands of the error by which the figures of a method are split, those of `own_bands` unless given.
    """
    noise, share = noise_of(given), cell_share(given)
    family = np.array([FAMILY_OF_RULE[rule] for rule in given.rule])
    band = np.array([dimension_band(int(float(r["d"]))) for r in rows])
    classes = np.array(["2" if int(float(r["classes"])) == 2 else "3 or more" for r in rows])
    whole = np.full(len(rows), ANY)
    split = own_bands(values) if bands is None else bands
    squares = {name: np.square(value - given.truth) - noise for name, value in values.items()}
    lines = []
    for name in values:
        for level in (whole, *([split[name]] if name in split else [])):
            for keys in (
                (family, band, classes, level),
                (family, whole, classes, level),
                (family, whole, whole, level),
                (whole, whole, whole, level),
            ):
                label = np.array([",".join(map(str, key)) for key in zip(given.n, *keys)])
                for one in np.unique(label):
                    inside = label == one
                    families = len(np.unique(given.group[inside]))
                    if families >= FEW_SETS and inside.sum() >= FEW_SAMPLES:
                        found = figures_of(squares[name][inside], share[inside], given.group[inside])
                        lines.append(f"{name},{one},{','.join(f'{v:.4f}' for v in found)},{families}")
    return sorted(lines)


def by_size_of_error(
    given: Samples, values: Mapping[str, np.ndarray], by: np.ndarray, edges: Sequence[float]
) -> list[list[str]]:
    """Return the pooled RMS of every estimator among the samples of real sets that `by` places between two edges."""
    noise, share = noise_of(given), cell_share(given)
    real = ~np.char.startswith(given.set.astype(str), "population/")
    inside = [real & (by >= low) & (by < high) for low, high in pairwise(edges)]
    return [
        [name, *(f"{pooled_rms((value - given.truth)[m], noise[m], share[m]):.3f}" for m in inside)]
        for name, value in values.items()
    ]
