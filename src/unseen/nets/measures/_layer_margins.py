"""Margins measured at a layer: the lead of the true class over the norm of its gradient there."""

from __future__ import annotations

import torch

from unseen.nets.modules.layers import capture_features
from unseen.nets.modules.net import Net

__all__ = ["lead", "leads_at", "rivals", "trimmed_mean"]


def rivals(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the best class other than the true one: the runner-up if right, the predicted class if wrong."""
    return logits.detach().scatter(1, y[:, None], -torch.inf).argmax(1)


def lead(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the logit of the true class minus the best other one."""
    other = rivals(logits, y)
    return (logits.gather(1, y[:, None]) - logits.gather(1, other[:, None]))[:, 0]


def leads_at(
    net: Net, X: torch.Tensor, y: torch.Tensor, name: str, *, at: str = "output"
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return each example's lead, the norm of the lead's gradient at a layer, and the flattened features there."""
    leads, norms, features = [], [], []
    with torch.enable_grad():
        for start in range(0, len(X), net.batch_size):
            part = slice(start, start + net.batch_size)
            places = {"outputs": (name,)} if at == "output" else {"inputs": (name,)}
            with capture_features(net.module, **places) as kept:
                led = lead(net.module(X[part]), y[part])
            (slope,) = torch.autograd.grad(led.sum(), kept[name])
            leads.append(led.detach().double())
            norms.append(slope.flatten(1).double().norm(dim=1))
            features.append(kept[name].detach().flatten(1))
    return torch.cat(leads), torch.cat(norms), torch.cat(features)


def trimmed_mean(values: torch.Tensor, share: float = 0.05) -> torch.Tensor:
    """Return the mean without a share of the values at either end.

    Examples
    --------
    >>> trimmed_mean(torch.tensor([0.0, 1, 2, 3, 100]), 0.2)
    tensor(2.)
    """
    cut = int(share * values.numel())
    ordered = values.flatten().sort().values
    return ordered[cut : values.numel() - cut].mean()
