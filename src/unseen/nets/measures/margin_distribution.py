"""Distribution of margins measured in input space (Jiang, Krishnan, Mobahi and Bengio, 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from unseen.core.errors import InputError
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["MarginDistribution"]


@register
@dataclass(frozen=True)
class MarginDistribution(Measure):
    """Minus the mean of quantiles of the first-order distance from training inputs to the decision boundary.

    The distance is (f_a - f_b) over the norm of its gradient with respect to the input, a the true class and b the strongest other one, divided by the
    root of the total variance of the inputs so that data sets compare.

    Parameters
    ----------
    quantiles : tuple of float
        Quantiles of the distances that are averaged; ``(0.5,)`` gives the median.
    n : int
        Training inputs per draw.

    References
    ----------
    Y. Jiang, D. Krishnan, H. Mobahi, S. Bengio (2019). Predicting the generalization gap in deep networks with margin distributions. ICLR.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> MarginDistribution()(sample_net("conv"), draws=2).value < 0
    True
    """

    quantiles: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 0.9)
    n: int = 500

    id: ClassVar[str] = "margin-distribution"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "gradients"
    default_draws: ClassVar[int] = 4

    def __post_init__(self) -> None:
        if self.n < 1 or not self.quantiles or not all(0 <= q <= 1 for q in self.quantiles):
            raise InputError(
                f"quantiles {self.quantiles} must lie between 0 and 1, and n = {self.n} must be at least 1."
            )

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Draw rows, and return minus the mean quantile of each draw."""
        spread = net.X_train.flatten(1).var(0).sum().sqrt()
        size = min(self.n, net.n)
        rows = torch.cat([torch.randperm(net.n, generator=generator)[:size] for _ in range(count)]).to(net.device)
        distances = torch.cat([self._distances(net, part) for part in rows.split(net.batch_size)]) / spread
        levels = torch.tensor(self.quantiles, dtype=torch.float64, device=net.device)
        return [-float(part.double().quantile(levels).mean()) for part in distances.split(size)]

    @staticmethod
    def _distances(net: Net, rows: torch.Tensor) -> torch.Tensor:
        X = net.X_train[rows].requires_grad_()
        with torch.enable_grad():
            logits = net.module(X)
            own = logits.gather(1, net.y_train[rows, None])[:, 0]
            other = logits.scatter(1, net.y_train[rows, None], float("-inf")).amax(1)
            (slope,) = torch.autograd.grad((own - other).sum(), X)
        return ((own - other).detach() / slope.flatten(1).norm(dim=1).clamp_min(1e-12)).detach()
