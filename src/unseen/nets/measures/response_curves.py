"""Gi-score and Pal-score: how accuracy decays as training inputs are mixed with others (Schiff and others, 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.core.errors import InputError
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["SHARES", "GiScore", "GiScoreBetween", "PalScore", "PalScoreBetween", "response_curves"]


SHARES = tuple(k / 40 for k in range(21))  # 0 to one half, where the two inputs weigh the same


def _partners(y: torch.Tensor, within: bool, generator: torch.Generator) -> torch.Tensor:
    """Return for each row another one of its own class, or one of another class; a lone row of a class stays with itself."""
    noise = torch.rand(len(y), len(y), generator=generator)
    fitting = (y[:, None] == y) if within else (y[:, None] != y)
    fitting.fill_diagonal_(False)
    choice = noise.masked_fill(~fitting, -1.0).argmax(1)
    return torch.where(fitting.any(1), choice, torch.arange(len(y)))


def response_curves(net: Net, count: int, n: int, within: bool, generator: torch.Generator) -> Any:
    """Return the accuracy at each of `SHARES`, one row per draw of inputs and partners."""
    if not within and int(net.y_train.min()) == int(net.y_train.max()):
        raise InputError("mixing between classes needs training inputs of two classes; there is one.")
    shares = torch.tensor(SHARES, device=net.device, dtype=net.X_train.dtype)
    curves = []
    for _ in range(count):
        rows = torch.randperm(net.n, generator=generator)[:n]
        partners = rows[_partners(net.y_train.cpu()[rows], within, generator)].to(net.device)
        own, other, y = net.X_train[rows.to(net.device)], net.X_train[partners], net.y_train[rows.to(net.device)]
        weight = shares.reshape(-1, *([1] * own.ndim))
        mixed = ((1 - weight) * own + weight * other).flatten(0, 1)
        right = net.logits(mixed).argmax(1).reshape(len(SHARES), -1) == y
        curves.append(right.double().mean(1).tolist())
    return curves


@dataclass(frozen=True)
class ResponseCurveMeasure(Measure):
    """Base of the scores: they differ in what they make of the curves.

    Parameters
    ----------
    n : int
        Training inputs per draw.
    """

    n: int = 400

    family: ClassVar[str] = "response_curves"
    within: ClassVar[bool] = True  # inputs are mixed within their class
    default_draws: ClassVar[int] = 4

    def __post_init__(self) -> None:
        if self.n < 2:
            raise InputError(f"n is {self.n}; at least 2 inputs are needed to mix.")

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return the accuracy curve of each draw."""
        return response_curves(net, count, self.n, self.within, generator)


@register
@dataclass(frozen=True)
class GiScore(ResponseCurveMeasure):
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

    id: ClassVar[str] = "gi-score"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def statistic(self, sample: NDArray[np.float64]) -> float:
        """Return the area between the cumulative curves."""
        lost = 1 - sample.mean(axis=0)
        width = SHARES[1] - SHARES[0]
        cumulative = np.concatenate([[0.0], np.cumsum((lost[1:] + lost[:-1]) / 2 * width)])
        area = ((cumulative[1:] + cumulative[:-1]) / 2 * width).sum()
        return float(area / (SHARES[-1] ** 2 / 2))


@register
@dataclass(frozen=True)
class GiScoreBetween(GiScore):
    """As `gi-score`, but every input is mixed with one of another class.

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
    >>> 0 <= GiScoreBetween()(sample_net("conv"), draws=2).value <= 1
    True
    """

    id: ClassVar[str] = "gi-score-between"
    within: ClassVar[bool] = False


@register
@dataclass(frozen=True)
class PalScore(ResponseCurveMeasure):
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

    id: ClassVar[str] = "pal-score"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def statistic(self, sample: NDArray[np.float64]) -> float:
        """Return the ratio of the two ends."""
        mean = sample.mean(axis=0)
        mild, strong = max(1, round(0.1 * len(SHARES))), max(1, round(0.6 * len(SHARES)))
        worst = mean[-strong:].mean()
        return float(mean[:mild].mean() / worst) if worst > 0 else math.inf

    def explain_infinite(self) -> str:
        """Return when it divides by zero."""
        return "no strongly mixed input keeps its class."


@register
@dataclass(frozen=True)
class PalScoreBetween(PalScore):
    """As `pal-score`, but every input is mixed with one of another class.

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
    >>> PalScoreBetween()(sample_net("conv"), draws=2).value > 0
    True
    """

    id: ClassVar[str] = "pal-score-between"
    within: ClassVar[bool] = False
