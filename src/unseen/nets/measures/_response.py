"""Perturbation-response curves: accuracy on mixed training inputs against the share that is mixed in (Schiff and others, 2021)."""

from __future__ import annotations

from typing import Any

import torch

from unseen.core.errors import InputError
from unseen.nets._net import Net

__all__ = ["SHARES", "response_curves"]

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
