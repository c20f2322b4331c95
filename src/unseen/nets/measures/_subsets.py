"""Random parts of the training data, drawn on the CPU: plain, or with as many of every class."""

from __future__ import annotations

import torch

from unseen.core.errors import NotApplicable
from unseen.nets.modules.net import Net

__all__ = ["balanced_rows", "class_partners", "random_rows"]


def random_rows(net: Net, count: int, generator: torch.Generator) -> torch.Tensor:
    """Return rows drawn without replacement, all of them if there are no more than `count`."""
    return torch.randperm(net.n, generator=generator)[:count].to(net.device)


def balanced_rows(net: Net, per_class: int, generator: torch.Generator, name: str) -> torch.Tensor:
    """Return up to `per_class` rows of every class, sorted by class; every class present needs at least two."""
    order = torch.randperm(net.n, generator=generator)
    y = net.y_train.cpu()[order]
    parts = []
    for k in range(net.n_classes):
        rows = order[y == k][:per_class]
        if len(rows) == 1:
            raise NotApplicable(f"{name} needs at least 2 training examples of every class; class {k} has 1.")
        parts.append(rows)
    return torch.cat(parts).to(net.device)


def class_partners(y: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return for each example the place of a partner of its class: a random permutation within classes."""
    labels = y.cpu()
    partner = torch.arange(len(labels))
    for k in torch.unique(labels):
        places = torch.nonzero(labels == k)[:, 0]
        partner[places] = places[torch.randperm(len(places), generator=generator)]
    return partner.to(y.device)
