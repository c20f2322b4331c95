"""What a run knows of single units and of its splits: hard and unstable units, optimism, the ranking of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.losses import LossTable

__all__ = ["OptimismLink", "RankingStability", "UnitReport", "optimism_link", "ranking_stability", "unit_report"]

MOST_MISSED = 0.5
UNSTABLE = 0.8


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitReport:
    """How each tested unit fared over the splits that left it out.

    Parameters
    ----------
    units : ndarray of int
        Numbers of the units.
    names : tuple of str
        What they are called: group, id, or row number counted from 1.
    rows : tuple of ndarray
        Their rows in the data, so that they can be looked at.
    error : ndarray
        Mean loss over the splits that tested them.
    agreement : ndarray
        Chance that two models trained on different splits say the same of the unit (classes), or the standard deviation
        of their predictions (numbers).
    tested : ndarray of int
        How often they were tested.
    task : str
        "classification" or "regression".
    row_names : tuple of tuple of str
        What their rows are called: by id, or by number in the data counted from 1.
    """

    units: Ints
    names: tuple[str, ...]
    rows: tuple[Ints, ...]
    error: Floats
    agreement: Floats
    tested: Ints
    task: str
    row_names: tuple[tuple[str, ...], ...] = ()

    @property
    def hard(self) -> Ints:
        """Places of the units missed by most splits (classes), or with an outlying loss (numbers), hardest first."""
        if self.task == "classification":
            limit = MOST_MISSED
        else:
            low, high = np.quantile(self.error, [0.25, 0.75])
            limit = float(high + 3 * (high - low))
        found = np.flatnonzero(self.error > limit)
        return found[np.argsort(-self.error[found], kind="stable")].astype(np.int64)

    @property
    def unstable(self) -> Ints:
        """Places of the units on which models trained on different splits disagree, worst first."""
        seen = np.flatnonzero(np.isfinite(self.agreement))
        if self.task == "classification":
            found = seen[self.agreement[seen] < UNSTABLE]
            return found[np.argsort(self.agreement[found], kind="stable")].astype(np.int64)
        low, high = np.quantile(self.agreement[seen], [0.25, 0.75])
        found = seen[self.agreement[seen] > high + 3 * (high - low)]
        return found[np.argsort(-self.agreement[found], kind="stable")].astype(np.int64)

    @property
    def stability(self) -> float:
        """Mean over units of the chance that two models agree; the mean standard deviation for numbers."""
        return float(np.nanmean(self.agreement))

    def table(self, places: Ints) -> list[dict[str, Any]]:
        """Return one dict per unit at `places`."""
        word = "agreement" if self.task == "classification" else "spread"
        return [
            {
                "unit": self.names[k],
                "rows": " ".join(self.row_names[k][:5]),
                "error": float(self.error[k]),
                word: float(self.agreement[k]),
                "tested": int(self.tested[k]),
            }
            for k in places
        ]


def _name(data: Data, unit: int, rows: Ints) -> str:
    if data.groups is not None:
        return str(data.groups[rows[0]])
    return str(rows[0] + 1 if data.ids is None else data.ids[rows[0]])


def unit_report(losses: LossTable) -> UnitReport:
    """Return how each tested unit fared over the splits of a table of losses."""
    data, test = losses.data, losses.source[0].test
    error = losses.by_unit()
    units = np.flatnonzero(np.isfinite(error))
    order = np.argsort(data.units, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(data.units[order])) + 1)
    times = np.bincount(test.row, minlength=data.n)
    by_row = _agreement(data, test.row, test.value)
    with np.errstate(invalid="ignore"):
        agreement = np.array(
            [np.nanmean(by_row[parts[u]]) if np.isfinite(by_row[parts[u]]).any() else np.nan for u in units]
        )
    return UnitReport(
        units=units.astype(np.int64),
        names=tuple(_name(data, int(u), parts[u]) for u in units),
        rows=tuple(parts[u] for u in units),
        error=error[units],
        agreement=agreement,
        tested=np.array([times[parts[u]].max() for u in units], dtype=np.int64),
        task=data.task,
        row_names=tuple(tuple(str(r + 1 if data.ids is None else data.ids[r]) for r in parts[u]) for u in units),
    )


def _agreement(data: Data, row: Ints, value: Any) -> Floats:
    """Return, by row, the share of pairs of models that say the same, or the standard deviation of what they say."""
    times = np.bincount(row, minlength=data.n).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        if data.classes is None:
            mean = np.bincount(row, value, data.n) / times
            squares = np.bincount(row, np.square(value - mean[row]), data.n)
            return np.where(times > 1, np.sqrt(squares / (times - 1)), np.nan)
        pairs = np.zeros(data.n)
        for code in range(len(data.classes)):
            count = np.bincount(row[value == code], minlength=data.n).astype(float)
            pairs += count * (count - 1)
        return np.where(times > 1, pairs / (times * (times - 1)), np.nan)


@dataclass(frozen=True)
class OptimismLink:
    """How optimism (test minus training error) goes with the training error over splits.

    A negative correlation means that a constant shift does not cure the bias of the training error (Laur, 2021).
    """

    train: Floats
    optimism: Floats

    @property
    def correlation(self) -> float:
        """Correlation over splits; NaN where either does not vary."""
        if np.ptp(self.train) == 0 or np.ptp(self.optimism) == 0:
            return float("nan")
        return float(np.corrcoef(self.train, self.optimism)[0, 1])

    @property
    def mean(self) -> float:
        """Mean optimism."""
        return float(self.optimism.mean())


def optimism_link(losses: LossTable) -> OptimismLink:
    """Return training errors and optimisms of the splits."""
    return OptimismLink(losses.train_errors(), losses.optimism())


@dataclass(frozen=True)
class RankingStability:
    """How stable the ranking of several models is over splits.

    Parameters
    ----------
    names : tuple of str
        The models, best first by mean error.
    error : tuple of float
        Their mean errors.
    first : tuple of float
        Share of splits in which each has the smallest error; shared first places are divided.
    tau : float
        Mean Kendall tau-b between the ranking of a split and that by mean error; 1 where they never differ.
    """

    names: tuple[str, ...]
    error: tuple[float, ...]
    first: tuple[float, ...]
    tau: float


def ranking_stability(tables: Mapping[str, LossTable]) -> RankingStability:
    """Return the stability of the ranking of models that were run on the same splits.

    References
    ----------
    Kendall, M. G. (1938). A new measure of rank correlation. Biometrika 30, 81-93.
    """
    from scipy.stats import kendalltau

    names = list(tables)
    if len(names) < 2:
        raise InputError("a ranking needs at least two models.")
    if len({t.plan.fingerprint for t in tables.values()}) > 1:
        raise InputError("the tables come from different splits; run all models with the same data, design and seed.")
    shared = set.intersection(*(set(t.completed.tolist()) for t in tables.values()))
    means = np.array([t.split_means()[np.isin(t.completed, list(shared))] for t in tables.values()])
    order = np.argsort(means.mean(axis=1), kind="stable")
    means = means[order]
    best = np.isclose(means, means.min(axis=0), rtol=0, atol=1e-12)
    first = (best / best.sum(axis=0)).mean(axis=1)
    overall = means.mean(axis=1)
    taus = [kendalltau(column, overall).statistic for column in means.T]
    tau = float(np.mean(np.nan_to_num(taus)))  # a split in which all tie tells nothing: tau 0
    return RankingStability(tuple(names[k] for k in order), tuple(map(float, overall)), tuple(map(float, first)), tau)
