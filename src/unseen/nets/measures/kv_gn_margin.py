"""kV-GN-Margin: the median gradient-normed margin over the transport spread within classes (Chuang et al. 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures._k_variance import check_layer, chosen_layer, class_spreads
from unseen.nets.measures._layer_margins import leads_at
from unseen.nets.measures._subsets import random_rows

__all__ = ["KvGnMargin"]


@register
@dataclass(frozen=True)
class KvGnMargin(Measure):
    """Minus the median of lead over gradient norm, over the class-weighted spread of features within classes.

    As `kv-margin`, but each lead is divided by the norm of its own gradient at the layer, and the spreads are not multiplied by the
    steepest slope.

    Parameters
    ----------
    layer : int
        Whose input the features are, counting dense and convolution layers from 0: 1 the first hidden features, -1 the last.
    per_class : int
        Inputs of the subset, per class on average.

    References
    ----------
    Chuang, C.-Y., Mroueh, Y., Greenewald, K., Torralba, A. and Jegelka, S. (2021). Measuring generalization with optimal transport. NeurIPS.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> KvGnMargin()(sample_net("mlp")).used
    ('3',)
    """

    layer: int = 1
    per_class: int = 200

    id: ClassVar[str] = "kv-gn-margin"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "gradients"
    default_draws: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_layer(self.layer, self.per_class)

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return minus the median margin over the spread of one subset."""
        name = chosen_layer(net, self.layer, layers, self.id)
        rows = random_rows(net, self.per_class * net.n_classes, generator)
        y = net.y_train[rows]
        leads, norms, features = leads_at(net, net.X_train[rows], y, name, at="input")
        scale = sum(weight * spread for weight, spread in class_spreads(features, y, net, self.id).values())
        return -float((leads / (norms + 1e-6)).median()) / scale
