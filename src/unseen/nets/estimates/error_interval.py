"""Interval of a net's error: from copies trained on 80%, or, without them, from how far an estimate was off on the zoos."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import NormalDist
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.estimate import Interval

__all__ = ["LogOddsTransfer", "interval_from_copies", "interval_from_zoos", "zoo_transfer"]


@dataclass(frozen=True, kw_only=True)
class LogOddsTransfer:
    """How far log-odds of the true error were from those of an estimate, on the zoos.

    Parameters
    ----------
    shift : float
        Mean over zoos.
    between : float
        Standard deviation over the means of zoos.
    within : float
        Standard deviation among networks of one zoo; 0 if sampling of the rows left out explains it.
    zoos : int
        How many.
    """

    shift: float
    between: float
    within: float
    zoos: int

    def interval(self, log_odds: float, sampling: float, level: float) -> Interval:
        """Return the interval of an error whose estimate has these log-odds, with this variance from sampling.

        Student's t, since the zoos are few; degrees of freedom as Satterthwaite has them.

        Examples
        --------
        >>> t = LogOddsTransfer(shift=0.0, between=0.0, within=0.0, zoos=8)
        >>> [round(end, 3) for end in t.interval(0.0, 0.01, 0.95)]  # .5 from 400 rows
        [0.451, 0.549]
        """
        unknown = self.between**2 * (1 + 1 / self.zoos)
        variance = unknown + self.within**2 + sampling
        df = (self.zoos - 1) * (variance / unknown) ** 2 if unknown > 0 else math.inf
        half = _t_quantile((1 + level) / 2, df) * math.sqrt(variance)
        low, high = (1 / (1 + math.exp(-(log_odds + self.shift + sign * half))) for sign in (-1, 1))
        return Interval(low, high, level)


def _t_quantile(probability: float, df: float) -> float:
    """Return Student's quantile by Cornish and Fisher's expansion: to .001 from 5 degrees of freedom at 95%. Nets run without scipy."""
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / df**k for k, term in enumerate(terms, start=1))


@cache
def zoo_transfer() -> dict[str, LogOddsTransfer]:
    """Return what `studies/estimate_intervals.py` found on the zoos: for errors of copies, and for estimates by name."""
    held: dict[str, Any] = json.loads(
        (files("unseen.nets.estimates") / "interval_transfer.json").read_text(encoding="utf-8")
    )
    return {name: LogOddsTransfer(**values) for name, values in held.items()}


def log_odds_of(wrong: float, rows: float) -> tuple[float, float]:
    """Return log-odds of a share and their variance, with half a case added to both sides so that none is infinite.

    Examples
    --------
    >>> log_odds_of(2, 4)
    (0.0, 0.8)
    """
    right = rows - wrong
    return math.log((wrong + 0.5) / (right + 0.5)), 1 / (wrong + 0.5) + 1 / (right + 0.5)


def interval_from_copies(
    wrong: Sequence[Floats], rows: Sequence[Ints], level: float, transfer: LogOddsTransfer | None = None
) -> Interval:
    """Return the interval of a net's error from copies of it trained on 80%.

    Parameters
    ----------
    wrong : sequence of arrays
        Of each copy, 1 for each row it left out and got wrong, else 0.
    rows : sequence of arrays
        Which rows they are: one that several copies left out counts once.
    level : float
        Confidence level.
    transfer : LogOddsTransfer, optional
        From errors of copies to that of the net; by default that of all zoos.

    Examples
    --------
    >>> interval = interval_from_copies([np.repeat([0.0, 1.0], [90, 10])], [np.arange(100)], 0.95)
    >>> 0.1 in interval, interval.low > 0.03, interval.high < 0.25
    (True, True, True)
    """
    different = len(np.unique(np.concatenate(rows)))
    share = float(np.mean([np.mean(w) for w in wrong]))
    log_odds, variance = log_odds_of(share * different, different)
    return (transfer or zoo_transfer()["copies"]).interval(log_odds, variance, level)


def interval_from_zoos(
    method: str, value: float, n: int, level: float, transfer: LogOddsTransfer | None = None
) -> Interval | None:
    """Return the interval of a net's error from an estimate without copies; None for methods that the zoos did not judge.

    Examples
    --------
    >>> interval_from_zoos("resub", 0.1, 100, 0.95) is None
    True
    """
    known = transfer or zoo_transfer().get(method)
    if known is None:
        return None
    return known.interval(log_odds_of(value * n, n)[0], 0.0, level)
