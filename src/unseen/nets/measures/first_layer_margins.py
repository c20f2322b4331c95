"""Augment margin: margins of images that were flipped, paled and cropped a little (Natekar & Sharma 2020)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from unseen.nets._augment import transform
from unseen.nets._factors import no_augmentation
from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures._first_layer_margin import normalised_margins

__all__ = ["AugmentMargin"]


@register
@dataclass(frozen=True)
class AugmentMargin(Measure):
    """Minus the mean margin, at the first hidden layer, of training images after mild augmentation.

    Each image is mirrored by a fair coin, its contrast multiplied by 0.7 to 1, and, by another fair coin, its central 85 to
    100 % blown up. The margin is that of `mixup-margin`. A draw is one batch.

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
