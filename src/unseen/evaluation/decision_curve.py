"""Net benefit of acting on a probability, threshold by threshold (Vickers & Elkin, 2006), with a band for the whole curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.core.result import Result
from unseen.core.rng import stream
from unseen.evaluation.scored_cases import ScoredCases

__all__ = ["DecisionCurve", "decision_curve_of"]

# thresholds from 1% to 99%; at 100% no false alarm would be worth a hit
THRESHOLDS = np.arange(1, 100) / 100
# the standard error of fewer cases on one side of a threshold means little
LEAST_DECIDED = 10
# the Monte-Carlo error of a quantile at 95% is then .01 standard errors
DRAWS = 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class DecisionCurve(Result):
    """Net benefit of treating those above a threshold, next to treating all and treating none (which is 0).

    Parameters
    ----------
    label : str
        The class that is to be treated.
    threshold : ndarray
        Probability from which on a case is treated; its odds are what a false alarm costs beside a hit.
    net_benefit, low, high : ndarray
        Hits minus false alarms weighted by the odds, per case, and the band that holds the whole curve.
    treat_all : ndarray
        Net benefit of treating everyone.
    gain_low, gain_high : ndarray
        Band of net benefit less that of treating all, which holds for all thresholds together.
    decided : ndarray of int
        Cases on the smaller side of each threshold; with fewer than 10 nothing is claimed there.
    prevalence : float
        Share of the class.
    level : float
        Confidence of each band.

    References
    ----------
    Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction models. Medical
    Decision Making 26, 565-574. Agresti, A. and Coull, B. A. (1998). Approximate is better than "exact" for interval estimation of
    binomial proportions. American Statistician 52, 119-126.

    Examples
    --------
    >>> import unseen
    >>> m = unseen.measure([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> curve = m.decision_curve([0.5])
    >>> float(curve.net_benefit[0]), float(curve.treat_all[0])
    (0.0, 0.0)
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    label: str
    threshold: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    treat_all: Floats
    gain_low: Floats
    gain_high: Floats
    decided: Ints
    prevalence: float
    level: float

    @property
    def useful(self) -> list[tuple[float, float]]:
        """Ranges of thresholds at which both bands lie above treating none and treating all: there the model helps."""
        helps = (self.low > 0) & (self.gain_low > 0) & (self.decided >= LEAST_DECIDED)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], helps.astype(int), [0]])))
        return [(float(self.threshold[a]), float(self.threshold[b - 1])) for a, b in zip(edges[::2], edges[1::2])]

    def sentence(self) -> str:
        """Say at which thresholds the model is better than treating all and than treating none."""
        if not self.useful:
            return "At no threshold is acting on these probabilities shown to be better than treating all and treating none."
        spans = " and ".join(f"{100 * a:g}%" if a == b else f"{100 * a:g}% to {100 * b:g}%" for a, b in self.useful[:3])
        return (
            f"Acting on these probabilities is better than treating all and than treating none at thresholds of {spans} "
            f"({100 * self.level:g}% confidence for all thresholds together)."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per threshold."""
        names = ("threshold", "net_benefit", "low", "high", "treat_all", "gain_low", "gain_high")
        return [dict(zip(names, map(float, line))) for line in zip(*(getattr(self, name) for name in names))]

    def __str__(self) -> str:
        return f"decision curve of {self.label}: {self.sentence()}"


def decision_curve_of(
    cases: ScoredCases, code: int, level: float, seed: int, thresholds: Sequence[float] | None = None
) -> DecisionCurve:
    """Return the decision curve of one class's probabilities; groups are the independent units."""
    cuts = THRESHOLDS if thresholds is None else np.asarray(thresholds, dtype=float)
    if cuts.ndim != 1 or not len(cuts) or cuts.min() <= 0 or cuts.max() >= 1:
        raise InputError("thresholds of a decision curve lie strictly between 0 and 1, such as [0.1, 0.2].")
    y, p = (cases.y == code).astype(float), cases.column(code)
    odds = cuts / (1 - cuts)
    share = cases.weight / cases.weight.sum()
    order = np.argsort(p, kind="stable")
    begin = np.searchsorted(p[order], cuts, side="left")  # from here on cases are treated

    def treated(values: Floats) -> Floats:
        sums = np.concatenate([[0.0], np.cumsum(values[order])])
        return np.asarray(sums[-1] - sums[begin])

    prevalence = float(share @ y)
    benefit = treated(share * y) - odds * treated(share * (1 - y))
    everyone = prevalence - odds * (1 - prevalence)
    called = p[:, None] >= cuts
    gained = called * (y[:, None] - (1 - y[:, None]) * odds)
    # as Agresti & Coull (1998) do for a share: two hits and two false alarms more, so that few cases are no certainty
    extra = 2 * (1 + np.square(odds)) / cases.n_units**2
    low, high = _band(cases, share[:, None] * (gained - benefit), benefit, extra, level, seed)
    against = gained - (y[:, None] - (1 - y[:, None]) * odds)
    gain = benefit - everyone
    gain_low, gain_high = _band(cases, share[:, None] * (against - gain), gain, extra, level, seed)
    return DecisionCurve(
        label=cases.label(code),
        threshold=cuts,
        net_benefit=benefit,
        low=low,
        high=high,
        treat_all=everyone,
        gain_low=gain_low,
        gain_high=gain_high,
        decided=np.minimum(begin, len(y) - begin),
        prevalence=prevalence,
        level=level,
    )


def _band(
    cases: ScoredCases, pull: Floats, mean: Floats, extra: Floats, level: float, seed: int
) -> tuple[Floats, Floats]:
    """Return limits that hold a whole curve of means, from the pull of each case on it: the largest error, by normal draws."""
    n = cases.n_units
    if n < cases.n:
        pull = np.stack([np.bincount(cases.units, column, n) for column in pull.T], axis=1)
    covariance = pull.T @ pull * (n / max(n - 1, 1)) + np.diag(extra)
    error = np.sqrt(np.diag(covariance))
    size, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(size, 0.0))
    z = stream(seed, "decision-curve").standard_normal((DRAWS, root.shape[1]))
    largest = (np.abs(z @ root.T) / error).max(axis=1)
    width = float(np.quantile(largest, level))
    return mean - width * error, mean + width * error
