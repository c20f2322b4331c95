"""PAC-Bayes flatness: how much noise the weights bear (Neyshabur and others, 2017; Jiang and others, 2020)."""

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

__all__ = ["PacBayesFlatness", "PacBayesMagnitude"]


STEPS = 7  # sizes of noise at which accuracy is read
SPAN = 3.0  # they reach from a third to three times the middle
RECENTRINGS = 4  # moves of the middle, if the mean over draws does not cross within them
BRACKET = (1e-6, 1e3)  # sizes of noise between which the first draw is bisected


@register
@dataclass(frozen=True)
class PacBayesFlatness(Measure):
    """One over sigma squared, sigma the largest noise on the weights that costs at most a given share of the training accuracy on average.

    Parameters
    ----------
    cost_of_noise : float
        Share of accuracy the noise may cost: 0.1 in the papers.
    n : int
        Training inputs on which accuracy is read, the same for every draw.

    References
    ----------
    B. Neyshabur, S. Bhojanapalli, D. McAllester, N. Srebro (2017). Exploring generalization in deep learning. NeurIPS.
    Y. Jiang, B. Neyshabur, H. Mobahi, D. Krishnan, S. Bengio (2020). Fantastic generalization measures and where to find them. ICLR.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> PacBayesFlatness()(sample_net("mlp"), draws=3).value > 0
    True
    """

    cost_of_noise: float = 0.1
    n: int = 1000

    id: ClassVar[str] = "pac-bayes-flatness"
    family: ClassVar[str] = "pac_bayes"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    default_draws: ClassVar[int] = 8
    relative: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.cost_of_noise < 1 or self.n < 1:
            raise InputError(
                f"cost_of_noise is {self.cost_of_noise} and n is {self.n}; it must lie in (0, 1), n be at least 1."
            )

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return one row per noise draw: log sigmas, accuracies at them, and the accuracy that must be kept."""
        rows = torch.randperm(net.n, generator=generator)[: self.n].to(net.device)
        X, y = net.X_train[rows], net.y_train[rows]
        weights = net.weights()
        layers.use(*(name.rpartition(".")[0] for name in weights))
        kept = self._accuracy(net, weights, X, y) - self.cost_of_noise
        draws = [self._noise(weights, generator) for _ in range(count)]
        middle = self._bracket(net, weights, draws[0], X, y, kept)
        apart, centre = 2 * math.log(SPAN) / (STEPS - 1), 0
        known: list[dict[int, float]] = [
            {} for _ in draws
        ]  # accuracies by steps from the first middle: windows overlap
        for _ in range(RECENTRINGS):
            places = range(centre - STEPS // 2, centre + STEPS // 2 + 1)
            logs = [middle + k * apart for k in places]
            for z, seen in zip(draws, known):
                for k in places:
                    if k not in seen:
                        noisy = self._with_noise(weights, z, math.exp(middle + k * apart))
                        seen[k] = self._accuracy(net, noisy, X, y)
            curves = [[seen[k] for k in places] for seen in known]
            below = np.flatnonzero(np.minimum.accumulate(np.mean(curves, axis=0)) < kept)
            if below.size and below[0] > 0:
                break
            centre += STEPS // 2 * (-1 if below.size else 1)  # one draw misled: look where the mean crosses
        return [[*logs, *curve, kept] for curve in curves]

    def statistic(self, sample: NDArray[np.float64]) -> float:
        """Return 1 / sigma squared where the mean accuracy over draws crosses what must be kept."""
        logs, mean, kept = sample[0, :STEPS], sample[:, STEPS:-1].mean(axis=0), sample[0, -1]
        falling = np.minimum.accumulate(mean)
        below = np.flatnonzero(falling < kept)
        if below.size == 0 or below[0] == 0:
            edge = logs[-1] if below.size == 0 else logs[0]
            return math.exp(-2 * edge)
        k = below[0]
        share = (falling[k - 1] - kept) / (falling[k - 1] - falling[k])
        return math.exp(-2 * (logs[k - 1] + share * (logs[k] - logs[k - 1])))

    def _noise(self, weights: dict[str, torch.Tensor], generator: torch.Generator) -> dict[str, torch.Tensor]:
        drawn = {name: torch.randn(p.shape, generator=generator).to(p) for name, p in weights.items()}
        return {name: z * weights[name].abs() for name, z in drawn.items()} if self.relative else drawn

    @staticmethod
    def _with_noise(
        weights: dict[str, torch.Tensor], noise: dict[str, torch.Tensor], sigma: float
    ) -> dict[str, torch.Tensor]:
        return {name: p + sigma * noise[name] for name, p in weights.items()}

    @staticmethod
    def _accuracy(net: Net, weights: dict[str, torch.Tensor], X: torch.Tensor, y: torch.Tensor) -> float:
        with torch.no_grad():
            parts = zip(X.split(net.batch_size), y.split(net.batch_size))
            right = sum((net.logits_with(weights, a).argmax(1) == b).sum() for a, b in parts)
        return float(right) / len(y)

    def _bracket(self, net: Net, weights: Any, noise: Any, X: torch.Tensor, y: torch.Tensor, kept: float) -> float:
        """Return the log of the noise at which one draw crosses, by bisection."""
        low, high = math.log(BRACKET[0]), math.log(BRACKET[1])
        for _ in range(10):
            middle = (low + high) / 2
            if self._accuracy(net, self._with_noise(weights, noise, math.exp(middle)), X, y) >= kept:
                low = middle
            else:
                high = middle
        return (low + high) / 2


@register
@dataclass(frozen=True)
class PacBayesMagnitude(PacBayesFlatness):
    """One over sigma squared, the noise of each weight having sigma times its magnitude as standard deviation.

    References
    ----------
    Y. Jiang, B. Neyshabur, H. Mobahi, D. Krishnan, S. Bengio (2020). Fantastic generalization measures and where to find them. ICLR.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> PacBayesMagnitude()(sample_net("mlp"), draws=3).value > 0
    True
    """

    id: ClassVar[str] = "pac-bayes-magnitude"
    family: ClassVar[str] = "pac_bayes"
    relative: ClassVar[bool] = True
