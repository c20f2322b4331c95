"""What losses and measures declare: a loss has a value for each example, a measure of sets only for many of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats

__all__ = ["Loss", "PredictionMeasure", "SetMeasure"]

PAIRS_AT_ONCE = 2_000_000  # 16 MB of losses at a time


class PredictionMeasure:
    """What every loss and measure declares, with the usual values.

    Attributes
    ----------
    group : str
        Group that it registers in, also the entry-point group of plug-ins.
    kind : str
        "loss" if it decomposes over examples, else "set".
    id : str
        Name as the papers say it, in kebab-case.
    aliases : tuple of str
        Other names that people type, those of scikit-learn among them.
    task : {"classification", "regression", "any"}
        What it is for.
    range : tuple of float
        Smallest and largest possible value.
    direction : {"lower", "higher"}
        Which side is better.
    neutral : float or None
        Value that guessing gives; None if it depends on the data.
    needs_score : bool
        Whether it reads class probabilities or scores.
    """

    group: ClassVar[str] = "measures"
    kind: ClassVar[str] = ""
    id: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False


class Loss(PredictionMeasure):
    """A loss of single examples, lower for better predictions; a file gives `per_example`.

    Examples
    --------
    >>> class Wrong(Loss):
    ...     id = "wrong"
    ...
    ...     def per_example(self, y, value, score=None):
    ...         return (y != value).astype(float)
    >>> Wrong().no_information(np.array([0, 1]), np.array([0, 1]))
    0.5
    """

    kind: ClassVar[str] = "loss"

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the loss of each example."""
        raise NotImplementedError

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean loss over all n^2 pairs of a target and a prediction (Efron & Tibshirani, 1997).

        A loss with a closed form gives its own; here all pairs are evaluated, some rows at a time.
        """
        n = len(y)
        rows = max(1, PAIRS_AT_ONCE // n)
        total = 0.0
        for start in range(0, n, rows):
            block = y[start : start + rows]
            every = np.tile(np.arange(n), len(block))
            picked = None if score is None else score[every]
            total += float(np.sum(self.per_example(np.repeat(block, n), value[every], picked)))
        return total / n**2


class SetMeasure(PredictionMeasure):
    """A measure of a whole set of predictions; a file gives `of_weights`, or `of_set` if it has no faster form for many sets."""

    kind: ClassVar[str] = "set"

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the measure for many weightings of one set, a row of `weights` each."""
        return np.array([self.of_set(y, value, score, weight, positive) for weight in weights])

    def of_set(
        self, y: Array, value: Array, score: Floats | None = None, weight: Floats | None = None, positive: int = 1
    ) -> float:
        """Return the measure of a set of predictions; NaN if it does not exist, as when a class is missing."""
        weights = np.ones((1, len(y))) if weight is None else np.asarray(weight, dtype=float)[None]
        return float(self.of_weights(y, value, score, weights, positive)[0])
