"""Mixup margin: margins of images averaged with others of their class (Natekar & Sharma 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures._first_layer_margin import normalised_margins
from unseen.nets.measures._subsets import class_partners

__all__ = ["MixupMargin"]


@register
@dataclass(frozen=True)
class MixupMargin(Measure):
    """Minus the mean margin, at the first hidden layer, of training inputs averaged 1:1 with another of their class.

    The margin is the lead of the true class over the best other one, divided by the norm of its gradient at the layer, and by
    the spread of the layer's features (square root of their 5 %-trimmed mean variance). A draw is one batch.

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
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "gradients"
    default_draws: ClassVar[int] = 10

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return minus the mean margin of each batch."""

        def mixed(X: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (X + X[class_partners(y, generator)]) / 2

        return normalised_margins(net, count, self.batch, generator, layers, mixed)
