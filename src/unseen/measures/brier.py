"""Brier score of class probabilities (Brier, 1950)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.measure import Loss
from unseen.core.registry import register

__all__ = ["Brier"]


@register
@dataclass(frozen=True)
class Brier(Loss):
    """Squared distance of probabilities from the truth: of the positive class if there are two, else summed over all classes.

    Two classes give (p - y)^2, from 0 to 1. More classes give Brier's own sum, from 0 to 2, which is twice as large for the
    same two probabilities; a note (U045) says so.

    References
    ----------
    Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly Weather Review 78, 1-3.

    Examples
    --------
    >>> Brier().per_example(np.array([1]), np.array([1]), np.array([[0.2, 0.8]])).round(4).tolist()
    [0.04]
    >>> Brier().per_example(np.array([1]), np.array([1]), np.array([[0.2, 0.7, 0.1]])).round(4).tolist()
    [0.14]
    """

    id: ClassVar[str] = "brier"
    aliases: ClassVar[tuple[str, ...]] = (
        "brier_score",
        "brier_score_loss",
        "neg_brier_score",
    )
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    needs_score: ClassVar[bool] = True
    convention: ClassVar[str] = "brier is the sum over the classes of squared distances, from 0 to 2"

    def for_data(self, data: Data) -> Brier:
        """Return the measure with the range and the convention of so many classes."""
        made = Brier()
        if data.classes is not None and len(data.classes) == 2:
            object.__setattr__(made, "range", (0.0, 1.0))
            object.__setattr__(made, "convention", "")
        return made

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the sum over classes of (p_k - [y = k])^2, or its one half if there are two classes."""
        assert score is not None
        result: Floats = np.square(score).sum(axis=1) - 2.0 * score[np.arange(len(y)), y] + 1.0
        return result * _share(score)

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean loss over all pairs, from class shares and moments of the probabilities."""
        assert score is not None
        share = np.bincount(y, minlength=score.shape[1]) / len(y)
        mean = np.square(score).sum(axis=1).mean() - 2.0 * share @ score.mean(axis=0) + 1.0
        return float(mean * _share(score))


def _share(score: Floats) -> float:
    """Return what a sum over classes counts: with two classes both terms are the same, and one of them is the score."""
    return 0.5 if score.shape[1] == 2 else 1.0
