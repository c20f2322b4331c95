"""Patterns whose errors stand out: numbers far from the others, and cases that calibrated probabilities rule out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array, Floats, Ints

__all__ = ["NORMAL_RATIO", "Outlying", "outlying", "surprising"]

NORMAL_RATIO = float(np.sqrt(2 / np.pi))  # E_abs / E_rms of normal errors
FAR = 3.5  # modified z-score of an outlier (Iglewicz & Hoaglin, 1993)
FAIR = 0.5  # an error of a probability beyond it is a wrong call


@dataclass(frozen=True)
class Outlying:
    """Patterns whose errors stand out: E_abs / E_rms, what is usual (0.798 for normal errors), and which they are."""

    ratio: float
    rows: Ints
    errors: Floats
    usual: float = NORMAL_RATIO

    @property
    def suspicious(self) -> bool:
        """Whether some patterns have errors far from the others'."""
        return len(self.rows) > 0


def outlying(errors: Floats, limit: float = FAR) -> Outlying:
    """Find errors far from the rest by their modified z-score, which large errors themselves do not move.

    Parameters
    ----------
    errors : array
        Target minus output.
    limit : float
        Modified z-score above which an error stands out.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299 (E_abs well below E_rms). Iglewicz, B. and Hoaglin, D. C. (1993). How to detect and
    handle outliers. ASQC Quality Press (modified z-score above 3.5).

    Examples
    --------
    >>> found = outlying(np.array([0.1, -0.2, 0.15, 0.0, -0.1, 5.0]))
    >>> found.rows.tolist(), found.ratio < NORMAL_RATIO
    ([5], True)
    """
    errors = np.asarray(errors, dtype=float)
    rms = float(np.sqrt(np.square(errors).mean()))
    gap = np.abs(errors - np.median(errors))
    spread = 1.4826 * float(np.median(gap)) or 1.2533 * float(gap.mean())
    rows = np.flatnonzero(gap > limit * spread).astype(np.int64) if spread > 0 else np.zeros(0, np.int64)
    rows = rows[np.argsort(-gap[rows], kind="stable")]
    return Outlying(float(np.abs(errors).mean()) / rms if rms > 0 else NORMAL_RATIO, rows, errors[rows])


def surprising(positive: Array, probability: Floats, level: float = 0.95) -> Outlying:
    """Find cases whose true class was given a probability that calibrated probabilities would hardly ever give it.

    The limit is set so that with calibrated probabilities no case at all stands out with a chance of at least `level`: the
    smaller probabilities of the cases below it add up to at most 1 - level. Usual are the ratio 2 mean(p (1 - p)) to
    sqrt(mean(p (1 - p))), not that of normal errors.

    Parameters
    ----------
    positive : array of bool
        Which cases are of the class.
    probability : array
        Probabilities of the class.
    level : float
        Chance that nothing stands out in a calibrated set.

    Examples
    --------
    >>> found = surprising(np.array([1, 0, 1, 1, 0], bool), np.array([0.8, 0.3, 0.9, 0.01, 0.2]))
    >>> found.rows.tolist(), found.errors.tolist()
    ([3], [0.99])
    """
    errors = np.asarray(positive, dtype=float) - probability
    smaller = np.minimum(probability, 1 - probability)
    order = np.argsort(smaller, kind="stable")
    below = np.zeros(len(errors), dtype=bool)
    below[order] = np.cumsum(smaller[order]) <= 1 - level
    rows = np.flatnonzero(below & (np.abs(errors) > FAIR))
    rows = rows[np.argsort(-np.abs(errors[rows]), kind="stable")].astype(np.int64)
    rms, spread = float(np.sqrt(np.square(errors).mean())), float(np.mean(probability * (1 - probability)))
    usual = 2 * float(np.sqrt(spread)) if spread > 0 else 1.0
    return Outlying(float(np.abs(errors).mean()) / rms if rms > 0 else usual, rows, errors[rows], usual)
