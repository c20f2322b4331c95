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
from unseen.estimators.unit_mean import for_this_model

__all__ = ["Bca", "BootstrapInterval", "BootstrapPercentile", "Resampled", "bca_ends"]

FAMILY = ("bootstrap-percentile", "bca")


MOST_BLOCKS = 400  # leave-out values behind the skewness of BCa; with more units some are left out together
CELLS_AT_ONCE = 4_000_000  # 32 MB of weights at a time
LARGEST_CUBED = 1e90  # the cubes of larger numbers, and their sums, may be none
ROUND_OFF = 1e-12  # draws that differ by less are the same value
FEWEST_DRAWS = 100  # fewer leave at most two draws beyond each end of a 95% interval
LEAST_UNITS = 5  # four units have 35 different resamples
FEW_UNITS = 20  # a bootstrap of 20 units shows 97.5% of their spread, sqrt(19/20)


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """A measure's value, its bootstrap draws, its leave-one-out values, and the measure's name and range."""

    value: float
    draws: Floats
    left_out: Floats
    name: str
    range: tuple[float, float]

    @property
    def constant(self) -> bool:
        """Whether the draws are all the same but for rounding."""
        return float(np.ptp(self.draws)) <= ROUND_OFF * max(1.0, abs(self.value))


@dataclass(frozen=True)
class BootstrapInterval(TableMethod):
    """A measure of one model on held-out units with an interval from resampled units; a file says which ends.

    Parameters
    ----------
    measure : str
        Any measure, such as auc, f1 or pov, reported as it is (higher may be better); "auto" is the mean loss.
    n_bootstrap : int
        Resamples.
    """

    measure: str = "auto"
    n_bootstrap: int = 2000
    designs: ClassVar[frozenset[str]] = frozenset({"holdout"})
    target: ClassVar[Target] = Target.MODEL
    needs: ClassVar[frozenset[str]] = frozenset({"test", "predictions"})
    linear: ClassVar[bool] = False
    centred: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U009"})

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def ends(self, resampled: Resampled, level: float) -> tuple[float, float]:
        """Return the ends of the interval."""
        raise NotImplementedError

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the measure, its bootstrap standard error and the interval; none if the draws do not vary."""
        level = check_table(self, table, level)
        r = self.resample(table)
        notes = (note("U010", "all resamples of the held-out units gave the same value"),) if r.constant else ()
        n = len(np.unique(table.data.units[table.test.row]))
        if n < FEW_UNITS:
            notes = (*notes, note("U009", f"only {n} held-out units, of which a bootstrap shows too little spread"))
        interval = None if r.constant else Interval(*self.ends(r, level), level)
        placed = replace(table, range=r.range)
        made = finish(self, placed, r.value, float(r.draws.std(ddof=1)), interval, None, notes=notes)
        return for_this_model(replace(made, loss=r.name), table)

    def resample(self, table: LossTable) -> Resampled:
        """Return the measure on all held-out units, on resamples of them and with some left out; groups stay whole."""
        if self.n_bootstrap < FEWEST_DRAWS:
            raise InputError(
                f"{self.id} needs at least {FEWEST_DRAWS} bootstrap draws; n_bootstrap is {self.n_bootstrap}."
            )
        measure = None if self.measure == "auto" else find(self.measure, "measures")()
        if measure is not None and measure.task not in (table.data.task, "any"):
            raise NotApplicable(f"{self.id}: {measure.id} is a measure for {measure.task}.")
        rows = table.test.row
        tested, place = np.unique(table.data.units[rows], return_inverse=True)
        n = len(tested)
        if n < LEAST_UNITS:
            raise InputError(f"{self.id} needs at least {LEAST_UNITS} held-out units; there are {n}.")
        rng = stream(table.source[0].seed, self.id, self.measure)
        draws = rng.multinomial(n, np.full(n, 1 / n), self.n_bootstrap).astype(float)
        blocks = np.arange(n) * min(n, MOST_BLOCKS) // n
        left = np.array([blocks != k for k in range(blocks[-1] + 1)], dtype=float)
        weight = table.row_weights(rows)
        values = [_values(measure, table, w, place.reshape(-1), weight) for w in (np.ones((1, n)), draws, left)]
        kept = values[1][np.isfinite(values[1])]
        if not np.isfinite(values[0][0]) or len(kept) < self.n_bootstrap / 2:
            raise InputError(f"{self.id}: {self.measure} is undefined on this test part or on most of its resamples.")
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
    """Return the measure for each row of weights."""
    if measure is None:
        return np.asarray(weights @ table.test.value / weights.sum(axis=1))
    data, test = table.data, table.source[0].test
    y = data.target[test.row]
    code = 1 if data.classes is None or data.positive is None else int(np.searchsorted(data.classes, data.positive))
    if measure.kind == "set":
        return np.asarray(measure.of_weights(y, test.value, test.score, weights, code))
    return np.asarray(weights @ measure.per_example(y, test.value, test.score) / weights.sum(axis=1))


@register
@dataclass(frozen=True)
class BootstrapPercentile(BootstrapInterval):
    """A measure of one model on held-out units, with quantiles of its values on resampled units; `bca` is usually better.

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

    id: ClassVar[str] = "bootstrap-percentile"

    def ends(self, resampled: Resampled, level: float) -> tuple[float, float]:
        """Return quantiles of the draws."""
        low, high = np.quantile(resampled.draws, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


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
    if np.any(np.abs(gap) > LARGEST_CUBED):  # the skewness has no unit
        gap = gap / np.abs(gap).max()
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
class Bca(BootstrapInterval):
    """A measure of one model on held-out units, with the bootstrap interval that allows for bias and skewness.

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

    id: ClassVar[str] = "bca"

    def ends(self, resampled: Resampled, level: float) -> tuple[float, float]:
        """Return quantiles of the draws, moved by bias and skewness."""
        return bca_ends(resampled.value, resampled.draws, resampled.left_out, level)
