"""Gi-score: how fast accuracy decays as training inputs are mixed with others of their class (Schiff and others, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.core.errors import InputError
from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures._response import SHARES, response_curves

__all__ = ["GiScore"]


@register
@dataclass(frozen=True)
class GiScore(Measure):
    """Area between the cumulative accuracy of a network that never errs and the one seen, as a share of its largest value.

    Inputs are averaged with another one of their class, the share mixed in rising from 0 to one half; 0 says no accuracy is lost, 1 that every answer is wrong.

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
    >>> 0 <= GiScore()(sample_net("conv"), draws=2).value <= 1
    True
    """

    n: int = 400

    id: ClassVar[str] = "gi-score"
    within: ClassVar[bool] = True  # inputs are mixed within their class
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    default_draws: ClassVar[int] = 4

    def __post_init__(self) -> None:
        if self.n < 2:
            raise InputError(f"n is {self.n}; at least 2 inputs are needed to mix.")

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return the accuracy curve of each draw."""
        return response_curves(net, count, self.n, self.within, generator)

    def statistic(self, sample: NDArray[np.float64]) -> float:
        """Return the area between the cumulative curves."""
        lost = 1 - sample.mean(axis=0)
        width = SHARES[1] - SHARES[0]
        cumulative = np.concatenate([[0.0], np.cumsum((lost[1:] + lost[:-1]) / 2 * width)])
        area = ((cumulative[1:] + cumulative[:-1]) / 2 * width).sum()
        return float(area / (SHARES[-1] ** 2 / 2))
