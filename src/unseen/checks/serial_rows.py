"""U037: rows depend on the rows before them: features and residuals are both alike from row to row."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.checks.dependent_rows import unit_order
from unseen.checks.registry import check
from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note
from unseen.core.rng import stream

__all__ = ["serial_correlation", "serial_rows"]

# neighbours are compared within so many units: long enough for a correlation, short against the blocks of a sorted file
WINDOW = 20
# median over the features; chosen on 140 real sets, where those above it seem to come in the order of time, place or person, and all
# others have at most .30 (docs/validation/alarms.md says what was verified)
LEAST_CORRELATION = 0.35
# features of fewer values belong to designs that go through all combinations, and alternate in their own way
FEW_VALUES = 20
# one feature may be what the file is sorted by
LEAST_FEATURES = 2
# inputs may be alike and errors not, which does no harm; the features have excluded sorting, so that a usual level will do
RESIDUAL_LEVEL = 0.05
PERMUTATIONS = 199
# these show it as well as all would, and bound the time
MOST_UNITS = 5_000
MOST_FEATURES = 200


@check(
    "U037",
    "rows",
    alarm=True,
    title="serial dependence",
    sentence="Neighbouring rows are alike in their features and in their residuals: half of the features have a rank "
    f"correlation of at least {LEAST_CORRELATION:g} from row to row, within {WINDOW} rows and within classes, so that sorting alone gives no alarm; "
    f"and a permutation test finds neighbouring residuals alike at level {RESIDUAL_LEVEL:g}. "
    f"Only features with more than {FEW_VALUES} values count, and there must be two of them. Not given if `time` is.",
    advice="Random splits put neighbours on both sides, so the error looks too small. Give `time`, or `groups` of rows that belong together.",
)
def serial_rows(table: LossTable, data: Data) -> tuple[Note, ...]:
    """Return U037 if features and residuals of neighbouring units are alike.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.datasets.load("iris")
    >>> serial_rows(unseen.run("lda", data, random_state=0).losses(), data)
    ()
    """
    if data.order is not None:
        return ()
    correlation = serial_correlation(data)
    if not correlation >= LEAST_CORRELATION:
        return ()
    if _residual_test(_residuals(table), stream(0, "serial-rows", table.plan.fingerprint)) > RESIDUAL_LEVEL:
        return ()
    what = data.unit if data.groups is not None else "row"
    text = (
        f"each {what} is like the one before it, in features (median correlation {correlation:.2f}) and in the errors of the model; "
        "random splits put such neighbours on both sides"
    )
    return (note("U037", text),)


def serial_correlation(data: Data) -> float:
    """Return the median over features (the lower one of two) of the rank correlation of neighbouring units, within windows and classes.

    Parameters
    ----------
    data : Data
        The sample; of a unit of several rows the first one counts.

    Returns
    -------
    float
        Lag-one correlation after the mean of each class within each window of 20 units is subtracted, less its expectation
        for rows in random order; NaN if fewer than two features have more than 20 values.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> walk = np.cumsum(rng.normal(size=(400, 3)), axis=0)
    >>> bool(serial_correlation(as_data(walk, y)) > 0.5)
    True
    >>> bool(abs(serial_correlation(as_data(rng.permutation(walk), y))) < 0.1)
    True
    """
    rows = _first_rows(data)[:MOST_UNITS]
    values = [v for v in _numeric_columns(data, rows) if len(np.unique(v)) > FEW_VALUES]
    if len(values) < LEAST_FEATURES:
        return np.nan
    ranks = np.argsort(np.argsort(np.column_stack(values), axis=0, kind="stable"), axis=0, kind="stable").astype(float)
    window = np.arange(len(rows)) // WINDOW
    strata = window if data.classes is None else window * len(data.classes) + data.codes[rows]
    each = _neighbour_correlations(ranks, np.unique(strata, return_inverse=True)[1].reshape(-1))
    return float(np.quantile(each, 0.5, method="lower"))


def _residuals(table: LossTable) -> Floats:
    """Return truth less mean prediction of each tested unit, in order: one column per class, or ranks of numbers."""
    from scipy.stats import rankdata

    data, test = table.data, table.source[0].test
    if data.classes is None:
        residual = rankdata(data.y[test.row] - test.value)[:, None]
    else:
        one = np.eye(len(data.classes))
        residual = one[data.codes[test.row]] - one[test.value.astype(np.int64)]
    units = data.units[test.row]
    times = np.bincount(units, minlength=data.n_units)
    sums = np.column_stack([np.bincount(units, column, data.n_units) for column in residual.T])
    order = unit_order(data)
    order = order[times[order] > 0][:MOST_UNITS]
    return sums[order] / times[order][:, None]


def _residual_test(residuals: Floats, rng: np.random.Generator) -> float:
    """Return the share of orders in which neighbouring residuals are at least as alike, the one at hand counted among them."""
    centred = residuals - residuals.mean(axis=0)
    observed = float((centred[1:] * centred[:-1]).sum())
    slack = 1e-9 * float((centred**2).sum())
    exceed = 1
    for _ in range(PERMUTATIONS):
        other = rng.permutation(centred)
        exceed += float((other[1:] * other[:-1]).sum()) >= observed - slack
    return exceed / (PERMUTATIONS + 1)


def _first_rows(data: Data) -> Ints:
    """Return the first row of each unit, in the order in which units appear."""
    first = np.full(data.n_units, data.n, dtype=np.int64)
    np.minimum.at(first, data.units, np.arange(data.n))
    return first[unit_order(data)]


def _numeric_columns(data: Data, rows: Ints) -> list[Any]:
    """Return numeric columns at some rows, missing values as the median; many columns are thinned out."""
    X = data.features(rows)
    places = range(0, data.n_features, -(-data.n_features // MOST_FEATURES))
    if hasattr(X, "tocsr"):
        return list(X[:, list(places)].toarray().astype(float).T)
    columns = (np.asarray(X.iloc[:, k] if hasattr(X, "iloc") else X[:, k]) for k in places)
    numbers = (v.astype(float) for v in columns if v.dtype.kind in "fiu")
    return [np.where(np.isnan(v), np.nanmedian(v), v) for v in numbers if not np.all(np.isnan(v))]


def _neighbour_correlations(values: Floats, strata: Ints) -> Floats:
    """Return the correlation of successive members of the strata, column by column, less its mean over all orders."""
    order = np.argsort(strata, kind="stable")
    values, strata = values[order], strata[order]
    size = np.bincount(strata)
    starts = np.cumsum(size) - size
    centred = values - (np.add.reduceat(values, starts, axis=0) / size[:, None])[strata]
    squares = centred**2
    together = (centred[1:] * centred[:-1])[strata[1:] == strata[:-1]].sum(axis=0)
    # two different members of a stratum of size m have a product of -SS / (m (m - 1)) on average, and there are m - 1 neighbours
    by_chance = -(squares / size[strata][:, None]).sum(axis=0)
    total = squares.sum(axis=0)
    result: Floats = np.divide(together - by_chance, total, out=np.zeros_like(total), where=total > 0)
    return result
