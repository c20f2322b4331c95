"""Bootstrap intervals for any measure on held-out units: percentile (Efron, 1979) and BCa (Efron, 1987)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, finish
from unseen.core.notes import note
from unseen.core.registry import find, register
from unseen.core.rng import stream
from unseen.designs.holdout import Holdout
from unseen.estimators.unit_mean import of_the_model

__all__ = [
    "Bca",
    "BootstrapPercentile",
    "Resampled",
    "bca_ends",
    "measure_of",
    "no_variation",
    "resampled",
    "with_interval",
]

FAMILY = ("bootstrap-percentile", "bca")


MOST_BLOCKS = 400
CELLS_AT_ONCE = 4_000_000
ROUND_OFF = 1e-12
LEAST_UNITS, FEW_UNITS = 5, 20


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """A measure's value, its bootstrap draws, its leave-one-out values, and the measure's name and range."""

    value: float
    draws: Floats
    left_out: Floats
    name: str
    range: tuple[float, float]


def measure_of(method: Any) -> Any:
    """Return the measure a method was asked for, or None for the table's own loss."""
    return None if method.measure == "auto" else find(method.measure, "measures")()


def resampled(method: Any, table: LossTable, n_bootstrap: int) -> Resampled:
    """Return what percentile and BCa intervals are made of; whole units (groups) are drawn and left out."""
    if n_bootstrap < 100:
        raise InputError(f"{method.id} needs at least 100 bootstrap draws; n_bootstrap is {n_bootstrap}.")
    measure, rows = measure_of(method), table.test.row
    if measure is not None and measure.task not in (table.data.task, "any"):
        raise NotApplicable(f"{method.id}: {measure.id} is a measure for {measure.task}.")
    tested, place = np.unique(table.data.units[rows], return_inverse=True)
    n = len(tested)
    if n < LEAST_UNITS:
        raise InputError(f"{method.id} needs at least {LEAST_UNITS} held-out units; there are {n}.")
    rng = stream(table.source[0].seed, method.id, method.measure)
    draws = rng.multinomial(n, np.full(n, 1 / n), n_bootstrap).astype(float)
    blocks = np.arange(n) * min(n, MOST_BLOCKS) // n
    left = np.array([blocks != k for k in range(blocks[-1] + 1)], dtype=float)
    weight = table.row_weights(rows)
    values = [_values(measure, table, w, place.reshape(-1), weight) for w in (np.ones((1, n)), draws, left)]
    kept = values[1][np.isfinite(values[1])]
    if not np.isfinite(values[0][0]) or len(kept) < n_bootstrap / 2:
        raise InputError(f"{method.id}: {method.measure} is undefined on this test part or on most of its resamples.")
    name, span = (table.loss, table.range) if measure is None else (measure.id, measure.range)
    return Resampled(
        value=float(values[0][0]), draws=kept, left_out=values[2][np.isfinite(values[2])], name=name, range=span
    )


def _values(measure: Any, table: LossTable, units: Floats, place: Any, weight: Floats) -> Floats:
    """Return the measure for each row of unit multiplicities."""
    step = max(1, CELLS_AT_ONCE // len(place))
    parts = [_some(measure, table, units[k : k + step][:, place] * weight) for k in range(0, len(units), step)]
    return np.concatenate(parts)


def _some(measure: Any, table: LossTable, weights: Floats) -> Floats:
    if measure is None:
        return np.asarray(weights @ table.test.value / weights.sum(axis=1))
    data, test = table.data, table.source[0].test
    y = data.target[test.row]
    code = 1 if data.classes is None or data.positive is None else int(np.searchsorted(data.classes, data.positive))
    if measure.kind == "set":
        return np.asarray(measure.of_weights(y, test.value, test.score, weights, code))
    return np.asarray(weights @ measure.per_example(y, test.value, test.score) / weights.sum(axis=1))


def with_interval(
    method: Any, table: LossTable, r: Resampled, ends: tuple[float, float] | None, level: float
) -> Estimate:
    """Return the estimate with its bootstrap standard error; no interval where the draws do not vary."""
    placed = replace(table, range=r.range)
    notes = () if ends is not None else (note("U010", "all resamples of the held-out units gave the same value"),)
    n = len(np.unique(table.data.units[table.test.row]))
    if n < FEW_UNITS:
        notes = (*notes, note("U009", f"only {n} held-out units, of which a bootstrap shows too little spread"))
    interval = None if ends is None else Interval(float(ends[0]), float(ends[1]), level)
    made = finish(method, placed, r.value, float(r.draws.std(ddof=1)), interval, None, notes=notes)
    return of_the_model(replace(made, loss=r.name), table)


def no_variation(r: Resampled) -> bool:
    """Say whether the draws are all the same but for rounding."""
    return float(np.ptp(r.draws)) <= ROUND_OFF * max(1.0, abs(r.value))


@register
@dataclass(frozen=True)
class BootstrapPercentile(TableMethod):
    """A measure of one model on held-out units, with quantiles of its values on resampled units; `bca` is usually better.

    Parameters
    ----------
    measure : str
        Any measure, such as auc, f1 or pov, reported as it is (higher may be better); "auto" is the mean loss.
    n_bootstrap : int
        Resamples.

    References
    ----------
    Efron, B. (1979). Bootstrap methods: another look at the jackknife. Annals of Statistics 7, 1-26.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="bootstrap-percentile", measure="auc", random_state=0)
    >>> e.loss, 0.9 < e.interval.low < e.value < e.interval.high <= 1
    ('auc', True)
    """

    measure: str = "auto"
    n_bootstrap: int = 2000
    id: ClassVar[str] = "bootstrap-percentile"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout"})
    target: ClassVar[Target] = Target.MODEL
    needs: ClassVar[frozenset[str]] = frozenset({"test", "predictions"})
    linear: ClassVar[bool] = False
    centred: ClassVar[bool] = False

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the measure and its percentile interval."""
        level = check_table(self, table, level)
        r = resampled(self, table, self.n_bootstrap)
        if no_variation(r):
            return with_interval(self, table, r, None, level)
        low, high = np.quantile(r.draws, [(1 - level) / 2, (1 + level) / 2])
        return with_interval(self, table, r, (low, high), level)


def bca_ends(value: float, draws: Floats, left_out: Floats, level: float) -> tuple[float, float]:
    """Return the ends: quantiles of the draws, moved by their median bias and by the skewness of the jackknife values.

    Examples
    --------
    >>> draws = np.linspace(0.0, 1.0, 1001)
    >>> [round(end, 2) for end in bca_ends(0.5, draws, np.linspace(0.4, 0.6, 11), 0.9)]
    [0.05, 0.95]
    """
    from scipy.special import ndtr, ndtri

    below = (np.sum(draws < value) + 0.5 * np.sum(draws == value)) / len(draws)
    bias = float(ndtri(np.clip(below, 1 / (2 * len(draws)), 1 - 1 / (2 * len(draws)))))
    gap = left_out.mean() - left_out
    spread = np.square(gap).sum()
    skew = float(np.sum(gap**3) / (6 * spread**1.5)) if spread > 0 else 0.0
    shares = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + float(ndtri(tail))
        shares.append(float(ndtr(bias + z / max(1 - skew * z, 1e-9))))
    low, high = np.quantile(draws, shares)
    return float(low), float(high)


@register
@dataclass(frozen=True)
class Bca(TableMethod):
    """A measure of one model on held-out units, with the bootstrap interval that allows for bias and skewness.

    Parameters
    ----------
    measure : str
        Any measure, such as auc, f1 or pov, reported as it is (higher may be better); "auto" is the mean loss.
    n_bootstrap : int
        Resamples.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> e = unseen.estimate(LinearRegression(), X, y, method="bca", measure="pov", random_state=0)
    >>> e.loss, 0.3 < e.interval.low < e.value < e.interval.high < 0.7
    ('pov', True)
    """

    measure: str = "auto"
    n_bootstrap: int = 2000
    id: ClassVar[str] = "bca"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout"})
    target: ClassVar[Target] = Target.MODEL
    needs: ClassVar[frozenset[str]] = frozenset({"test", "predictions"})
    linear: ClassVar[bool] = False
    centred: ClassVar[bool] = False

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the measure and its BCa interval."""
        level = check_table(self, table, level)
        r = resampled(self, table, self.n_bootstrap)
        ends = None if no_variation(r) else bca_ends(r.value, r.draws, r.left_out, level)
        return with_interval(self, table, r, ends, level)
