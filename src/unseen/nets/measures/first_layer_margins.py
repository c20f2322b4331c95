"""Mixup margin and augment margin: margins of changed images at the first hidden layer (Natekar & Sharma 2020)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.nets.augmentation.augment import transform
from unseen.nets.augmentation.factors import no_augmentation
from unseen.nets.measures._layer_margins import leads_at, trimmed_mean
from unseen.nets.measures._subsets import class_partners, random_rows
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.layers import first_hidden_layer, layers_of
from unseen.nets.modules.net import Net

__all__ = ["AugmentMargin", "MixupMargin", "normalised_margins"]


TINY = 1e-7  # as the authors add it, against division by zero
Change = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def normalised_margins(
    net: Net, count: int, batch: int, generator: torch.Generator, layers: LayerLog, change: Change
) -> NDArray[np.float64]:
    """Return minus the mean margin of each of `count` batches of changed images, over the features' spread in all of them."""
    layer = first_hidden_layer(net.module, net.X_train)
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


@register
@dataclass(frozen=True)
class MixupMargin(Measure):
    """Minus the mean margin, at the first hidden layer, of training inputs averaged 1:1 with another of their class.

    The margin is the lead of the true class over the best other one, divided by the norm of its gradient at the layer, and by
    the spread of the layer's features (square root of their 5%-trimmed mean variance). A draw is one batch.

    Parameters
    ----------
    batch : int
        Inputs of a draw.

    References
    ----------
    Natekar, P. and Sharma, M. (2020). Representation based complexity measures for predicting generalization in deep
    learning. arXiv:2012.02775.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> MixupMargin()(sample_net("conv")).used
    ('0',)
    """

    batch: int = 50

    id: ClassVar[str] = "mixup-margin"
    family: ClassVar[str] = "first_layer_margins"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "gradients"
    default_draws: ClassVar[int] = 10

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return minus the mean margin of each batch."""

        def mix(X: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (X + X[class_partners(y, generator)]) / 2

        return normalised_margins(net, count, self.batch, generator, layers, mix)


@register
@dataclass(frozen=True)
class AugmentMargin(Measure):
    """Minus the mean margin, at the first hidden layer, of training images after mild augmentation.

    Each image is mirrored by a fair coin, its contrast multiplied by 0.7 to 1, and, by another fair coin, its central 85 to
    100% blown up. The margin is that of `mixup-margin`. A draw is one batch.

    Parameters
    ----------
    batch : int
        Images of a draw.

    References
    ----------
    Natekar, P. and Sharma, M. (2020). Representation based complexity measures for predicting generalization in deep
    learning. arXiv:2012.02775; augmentations as in the repository parthnatekar/pgdl.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> AugmentMargin()(sample_net("mlp")).used
    ('1',)
    """

    batch: int = 50

    id: ClassVar[str] = "augment-margin"
    family: ClassVar[str] = "first_layer_margins"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "gradients"
    needs: ClassVar[frozenset[str]] = frozenset({"images"})
    default_draws: ClassVar[int] = 10

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return minus the mean margin of each batch."""

        def mild(X: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return net.from_unit(mildly(net.to_unit(X), generator))

        return normalised_margins(net, count, self.batch, generator, layers, mild)


def mildly(X: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Mirror, pale and crop images, each by factors of its own."""
    u = torch.rand(4, len(X), generator=generator).to(X)
    zoom = torch.where(u[2] < 0.5, torch.ones_like(u[3]), 0.85 + 0.15 * u[3])
    factors = dataclasses.replace(
        no_augmentation(len(X), X.device), flip=u[0] < 0.5, zoom_horizontal=zoom, zoom_vertical=zoom
    ).to(X.device, X.dtype)
    contrast = (0.7 + 0.3 * u[1])[:, None, None, None]
    centre = X.mean(dim=(2, 3), keepdim=True)
    return transform(centre + contrast * (X - centre), factors)
