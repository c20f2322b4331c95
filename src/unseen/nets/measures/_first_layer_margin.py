"""What mixup margin and augment margin share: margins at the first hidden layer, over the spread of its features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.nets._measure import LayerLog
from unseen.nets._net import Net
from unseen.nets._traced import first_hidden, layers_of
from unseen.nets.measures._layer_margins import leads_at, trimmed_mean
from unseen.nets.measures._subsets import random_rows

__all__ = ["normalised_margins"]

TINY = 1e-7  # as the authors add it, against division by zero
Change = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def normalised_margins(
    net: Net, count: int, batch: int, generator: torch.Generator, layers: LayerLog, change: Change
) -> NDArray[np.float64]:
    """Return minus the mean margin of each of `count` batches of changed images, over the features' spread in all of them."""
    layer = first_hidden(net.module, net.X_train)
    layers.use(layer.name)
    for other in layers_of(net.module, net.X_train):
        if other.is_weighted and other.name != layer.name:
            layers.skip(other.name, "the measure looks at the first hidden layer only")
    means, features = [], []
    for _ in range(count):
        rows = random_rows(net, batch, generator)
        X, y = net.X_train[rows], net.y_train[rows]
        leads, norms, seen = leads_at(net, change(X, y), y, layer.name)
        means.append(float((leads / (norms + TINY)).mean()))
        features.append(seen)
    spread = torch.cat(features).double().var(dim=0, correction=0)
    scale = float(trimmed_mean(spread).sqrt())
    return -np.array(means) / (scale + TINY)
