"""Stacked optimisers: one update moves the weights of every active net, with a step length of its own each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from unseen.nets.training.settings import TrainingSettings

__all__ = ["Adam", "Sgd", "optimizer_for", "zero_resting"]


def zero_resting(grads: Sequence[Tensor], active: Tensor) -> list[Tensor]:
    """Return the gradients with those of resting nets set to 0: a product with 0 would let their NaN through."""
    return [torch.where(_each(active, g) > 0, g, 0.0) for g in grads]


def _each(values: Tensor, like: Tensor) -> Tensor:
    """Return (S,) numbers shaped to multiply (S, ...)."""
    return values.reshape(-1, *([1] * (like.dim() - 1)))


class Sgd:
    """Gradient descent with momentum and weight decay, as torch.optim.SGD computes it (no dampening)."""

    def __init__(self, params: Mapping[str, Tensor], settings: TrainingSettings, nets: Sequence[int]) -> None:
        first = next(iter(params.values()))

        def column(values: Sequence[float]) -> Tensor:
            return torch.tensor([values[i] for i in nets], dtype=first.dtype, device=first.device)

        self.base_lr = column(settings.lr)
        self.lr = self.base_lr.clone()
        self.momentum, self.decay = column(settings.momentum), column(settings.weight_decay)
        self.halve_every = settings.halve_every
        self.decays = any(settings.weight_decay[i] for i in nets)
        self.moves = any(settings.momentum[i] for i in nets)
        self.state = self._start(params)

    def _start(self, params: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: torch.zeros_like(p) for name, p in params.items()} if self.moves else {}

    def begin(self, epoch: int) -> None:
        """Set the step lengths of an epoch (counted from 0)."""
        factor = 1.0 if not self.halve_every else 0.5 ** (epoch // self.halve_every)
        self.lr.copy_(self.base_lr * factor)

    def pick(self, nets: Tensor) -> None:
        """Keep some nets only."""
        for name in ("base_lr", "lr", "momentum", "decay"):
            setattr(self, name, getattr(self, name)[nets])
        self.state = {name: value[nets] for name, value in self.state.items()}

    @torch.no_grad()
    def step(self, params: Mapping[str, Tensor], grads: Sequence[Tensor], active: Tensor) -> None:
        """Move the weights of active nets (`active` is 0 or 1 per net)."""
        scale, keep = self.lr * active, 1 + active * (self.momentum - 1)
        for (name, p), g in zip(params.items(), grads):
            if self.decays:
                g = torch.addcmul(g, _each(self.decay, p), p)
            if self.moves:
                velocity = self.state[name]
                velocity.mul_(_each(keep, p)).addcmul_(_each(active, p), g)
                g = velocity
            p.addcmul_(_each(scale, p), g, value=-1)


class Adam(Sgd):
    """Adam (Kingma & Ba, 2015) with torch.optim.Adam's defaults: betas .9 and .999, eps 1e-8."""

    def _start(self, params: Mapping[str, Tensor]) -> dict[str, Tensor]:
        state = {f"{kind}.{name}": torch.zeros_like(p) for kind in ("mean", "square") for name, p in params.items()}
        return {**state, "steps": torch.zeros_like(self.base_lr)}

    @torch.no_grad()
    def step(self, params: Mapping[str, Tensor], grads: Sequence[Tensor], active: Tensor) -> None:
        """Move the weights of active nets."""
        steps = self.state["steps"].add_(active)
        first = 1 - 0.9 ** steps.clamp(min=1)
        second = (1 - 0.999 ** steps.clamp(min=1)).sqrt()
        for (name, p), g in zip(params.items(), grads):
            if self.decays:
                g = torch.addcmul(g, _each(self.decay, p), p)
            mean, square = self.state[f"mean.{name}"], self.state[f"square.{name}"]
            mean.addcmul_(_each(0.1 * active, p), g - mean)
            square.addcmul_(_each(0.001 * active, p), g * g - square)
            size = square.sqrt() / _each(second, p) + 1e-8
            p.addcmul_(_each(self.lr * active / first, p), mean / size, value=-1)


def optimizer_for(params: Mapping[str, Tensor], settings: TrainingSettings, nets: Sequence[int]) -> Sgd:
    """Return the optimiser that the settings name."""
    return (Adam if settings.optimizer == "adam" else Sgd)(params, settings, nets)
