"""Single units over splits: which are hard, and on which models disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.losses import LossTable

__all__ = ["UnitReport", "unit_report"]

MOST_MISSED = 0.5  # a unit is hard if most splits that tested it got it wrong
UNSTABLE = 0.8  # two models trained on different splits agree on fewer than four of five


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
        result: Ints = found[np.argsort(-self.agreement[found], kind="stable")].astype(np.int64)
        return result

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
