"""Sharpness: the loss a short step uphill costs (Foret, Kleiner, Mobahi and Neyshabur, 2021; Keskar and others, 2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from unseen.core.errors import InputError
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["Sharpness"]


@register
@dataclass(frozen=True)
class Sharpness(Measure):
    """Rise of the training loss after one step of length rho along the gradient, mean over batches (m-sharpness).

    Parameters
    ----------
    rho : float
        Length of the step; relative to the norm of the weights when `relative`.
    relative : bool
        Measure the step in parts of the norm of all weights, so that networks of different size compare.
    m : int
        Training inputs per batch; one batch is one draw.

    References
    ----------
    P. Foret, A. Kleiner, H. Mobahi, B. Neyshabur (2021). Sharpness-aware minimization for efficiently improving generalization. ICLR.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> Sharpness(m=16)(sample_net("conv"), draws=2).value > 0
    True
    """

    rho: float = 0.01
    relative: bool = True
    m: int = 128

    id: ClassVar[str] = "sharpness"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "gradients"
    default_draws: ClassVar[int] = 8

    def __post_init__(self) -> None:
        if not self.rho > 0 or self.m < 1:
            raise InputError(f"rho is {self.rho} and m is {self.m}; rho must be above 0 and m at least 1.")

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return the rise of the loss on each batch."""
        weights = net.weights()
        layers.use(*(name.rpartition(".")[0] for name in weights))
        length = self.rho
        if self.relative:
            length *= math.sqrt(sum(float(p.double().square().sum()) for p in weights.values()))
        rises = []
        for _ in range(count):
            rows = torch.randperm(net.n, generator=generator)[: self.m].to(net.device)
            rises.append(self._rise(net, weights, rows, length))
        return rises

    @staticmethod
    def _rise(net: Net, weights: dict[str, torch.Tensor], rows: torch.Tensor, length: float) -> float:
        X, y = net.X_train[rows], net.y_train[rows]
        with torch.enable_grad():
            free = {name: p.clone().requires_grad_() for name, p in weights.items()}
            loss = torch.nn.functional.cross_entropy(net.logits_with(free, X), y)
            slopes = torch.autograd.grad(loss, list(free.values()), allow_unused=True)
        slopes = [torch.zeros_like(p) if g is None else g for g, p in zip(slopes, weights.values())]
        norm = torch.stack([g.norm() for g in slopes]).norm().clamp_min(1e-12)
        moved = {name: p + length / norm * g for (name, p), g in zip(weights.items(), slopes)}
        with torch.no_grad():
            uphill = torch.nn.functional.cross_entropy(net.logits_with(moved, X), y)
        return float(uphill - loss.detach())
