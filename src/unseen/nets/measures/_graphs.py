"""Graphs of nearest neighbours among features, and how much labels vary along them."""

from __future__ import annotations

import torch
from torch.nn import functional

from unseen.core.errors import NotApplicable
from unseen.nets.measures.measure import LayerLog
from unseen.nets.modules.layers import capture_features, weighted_layers
from unseen.nets.modules.net import Net

__all__ = ["features_into", "last_layers", "nearest", "neighbours", "normalised_variation", "plain_variation"]


def last_layers(net: Net, count: int, layers: LayerLog) -> tuple[str, ...]:
    """Return the names of the last dense and convolution layers and note the others as skipped."""
    found = [layer.name for layer in weighted_layers(net.module, net.X_train)]
    if not found:
        raise NotApplicable("the module runs no dense or convolution layer; there are no features to link inputs by.")
    kept = tuple(found[-count:])
    layers.use(*kept)
    for name in found[:-count]:
        layers.skip(name, f"the measure looks at the last {len(kept)} layers only")
    return kept


@torch.no_grad()
def features_into(net: Net, X: torch.Tensor, names: tuple[str, ...]) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return what flows into the named layers, flattened, and the logits."""
    with capture_features(net.module, inputs=names) as kept:
        logits = net.module(X)
    return [kept[name].flatten(1).double() for name in names], logits.double()


def nearest(features: torch.Tensor) -> torch.Tensor:
    """Return each point's nearest other point after scaling all to unit length."""
    unit = functional.normalize(features, dim=1)
    similar = unit @ unit.T
    return similar.fill_diagonal_(-torch.inf).argmax(1)


def neighbours(features: torch.Tensor, k: int) -> torch.Tensor:
    """Return the symmetric matrix of cosines (at least 0) between points and their k nearest ones, 0 elsewhere."""
    unit = functional.normalize(features, dim=1)
    similar = (unit @ unit.T).clamp(0, 1)
    ranked = similar.clone().fill_diagonal_(-torch.inf)
    k = min(k, len(features) - 1)
    linked = torch.zeros_like(similar).scatter_(1, ranked.topk(k, dim=1).indices, 1)
    return similar * torch.maximum(linked, linked.T)


def normalised_variation(adjacency: torch.Tensor, targets: torch.Tensor) -> float:
    """Return trace(Y' L Y) for L = 1 - D^(-1/2) A D^(-1/2), rows of Y the targets."""
    scale = adjacency.sum(1).rsqrt()
    smooth = scale[:, None] * adjacency * scale[None, :]
    return float((targets * targets).sum() - (targets * (smooth @ targets)).sum())


def plain_variation(adjacency: torch.Tensor, targets: torch.Tensor) -> float:
    """Return trace(Y' L Y) for L = D - A."""
    degree = adjacency.sum(1)
    return float((degree[:, None] * targets * targets).sum() - (targets * (adjacency @ targets)).sum())
