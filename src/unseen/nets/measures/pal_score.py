"""Pal-score: accuracy under the mildest mixing over accuracy under the strongest, inputs mixed with others of their class (Schiff and others, 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.core.errors import InputError
from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures._response import SHARES, response_curves

__all__ = ["PalScore"]


@register
@dataclass(frozen=True)
class PalScore(Measure):
    """Mean accuracy over the mildest tenth of the shares mixed in, over the mean accuracy in the strongest six tenths.

    The published description leaves the two ends open to reading; these are those of the Palma ratio turned so that larger means worse.
    Inputs are averaged with another one of their class.

    Parameters
    ----------
    n : int
        Training inputs per draw.

    References
    ----------
    Y. Schiff, B. Quanz, P. Das, P.-Y. Chen (2021). Predicting deep neural network generalization with perturbation response curves. NeurIPS.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> PalScore()(sample_net("conv"), draws=2).value > 0
    True
    """

    n: int = 400

    id: ClassVar[str] = "pal-score"
    within: ClassVar[bool] = True  # inputs are mixed within their class
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    default_draws: ClassVar[int] = 4

    def __post_init__(self) -> None:
        if self.n < 2:
            raise InputError(f"n is {self.n}; at least 2 inputs are needed to mix.")

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return the accuracy curve of each draw."""
        return response_curves(net, count, self.n, self.within, generator)

    def statistic(self, sample: NDArray[np.float64]) -> float:
        """Return the ratio of the two ends."""
        mean = sample.mean(axis=0)
        mild, strong = max(1, round(0.1 * len(SHARES))), max(1, round(0.6 * len(SHARES)))
        worst = mean[-strong:].mean()
        return float(mean[:mild].mean() / worst) if worst > 0 else math.inf

    def explain_infinite(self) -> str:
        """Say when it divides by zero."""
        return "no strongly mixed input keeps its class."
