"""kV-Margin: the median margin over the transport spread of features within classes (Chuang et al. 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.core.errors import NotApplicable
from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures._k_variance import check_layer, chosen_layer, class_spreads
from unseen.nets.measures._layer_margins import leads_at
from unseen.nets.measures._subsets import random_rows

__all__ = ["KvMargin"]


@register
@dataclass(frozen=True)
class KvMargin(Measure):
    """Minus the median lead of the true class, over the class-weighted spread of features times their steepest slope.

    The spread of a class is the 1-Wasserstein distance between two random halves of its features; the slope is the largest
    gradient norm of the lead within the class, at the same layer. A draw takes a new random subset.

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
    >>> KvMargin(layer=-1)(sample_net("mlp")).used
    ('5',)
    """

    layer: int = 1
    per_class: int = 200

    id: ClassVar[str] = "kv-margin"
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
        return self._over_spread(leads, norms, y, class_spreads(features, y, net, self.id))

    def _over_spread(
        self, leads: torch.Tensor, norms: torch.Tensor, y: torch.Tensor, spreads: dict[int, tuple[float, float]]
    ) -> float:
        scale = sum(weight * spread * float(norms[y == k].max()) for k, (weight, spread) in spreads.items())
        if not scale:
            raise NotApplicable(f"{self.id} divides by the steepest slope of the lead, which is 0 for this network.")
        return -float(leads.median()) / scale
