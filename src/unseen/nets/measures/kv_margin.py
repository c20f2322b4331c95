"""kV-Margin and kV-GN-Margin: margins over the transport spread of features within classes (Chuang et al. 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.core.errors import InputError, NotApplicable
from unseen.nets.measures._layer_margins import leads_at
from unseen.nets.measures._subsets import random_rows
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.layers import weighted_layers
from unseen.nets.modules.net import Net

__all__ = [
    "KvGnMargin",
    "KvMargin",
    "cheapest_assignment",
    "check_layer",
    "class_spreads",
    "layer_of_features",
    "wasserstein",
]

Floats = NDArray[np.float64]
BIDS = 3  # rounds of bids: they assign most rows at a fraction of what a path costs


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
    family: ClassVar[str] = "kv_margin"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "gradients"
    default_draws: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_layer(self.layer, self.per_class)

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return minus the median margin over the spread of one subset."""
        name = layer_of_features(net, self.layer, layers, self.id)
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


@register
@dataclass(frozen=True)
class KvGnMargin(KvMargin):
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

    id: ClassVar[str] = "kv-gn-margin"
    family: ClassVar[str] = "kv_margin"

    def _over_spread(
        self, leads: torch.Tensor, norms: torch.Tensor, y: torch.Tensor, spreads: dict[int, tuple[float, float]]
    ) -> float:
        scale = sum(weight * spread for weight, spread in spreads.values())
        return -float((leads / (norms + 1e-6)).median()) / scale


def check_layer(layer: object, per_class: int) -> None:
    """Refuse options that cannot be meant."""
    if isinstance(layer, bool) or not isinstance(layer, int):
        raise InputError(f"layer is {layer!r}; give a whole number: 1 the first hidden features, -1 the last.")
    if per_class < 2:
        raise InputError(f"per_class is {per_class}; two halves need at least 2 inputs of a class.")


def layer_of_features(net: Net, layer: int, layers: LayerLog, name: str) -> str:
    """Return the layer whose input is looked at; the last one if the module has fewer."""
    found = [one.name for one in weighted_layers(net.module, net.X_train)]
    if len(found) < 2:
        raise NotApplicable(f"{name} needs a hidden layer; the module has {len(found)} dense or convolution layers.")
    place = max(1, len(found) + layer) if layer < 0 else min(max(1, layer), len(found) - 1)
    layers.use(found[place])
    for k, other in enumerate(found):
        if k != place:
            layers.skip(other, "the measure looks at the features into one layer only")
    return found[place]


def class_spreads(features: torch.Tensor, y: torch.Tensor, net: Net, name: str) -> dict[int, tuple[float, float]]:
    """Return for every class its share and the transport distance between two halves of its features (in random order)."""
    if not bool(torch.isfinite(features).all()):  # the search for the cheapest transport would never end
        raise NotApplicable(f"{name} needs finite features, and some of this network's are not.")
    counts = torch.bincount(net.y_train, minlength=net.n_classes).double() / net.n
    found = {}
    for k in range(net.n_classes):
        own = features[y == k]
        half = len(own) // 2
        if half:
            found[k] = float(counts[k]), wasserstein(own[:half], own[half : 2 * half])
    if not any(weight * spread for weight, spread in found.values()):
        raise NotApplicable(f"{name} divides by the spread of features within classes, which is 0 for this network.")
    return found


def wasserstein(a: torch.Tensor, b: torch.Tensor) -> float:
    """Return the 1-Wasserstein distance (Euclidean cost) of two clouds with as many points each.

    Examples
    --------
    >>> wasserstein(torch.tensor([[0.0], [1.0]]), torch.tensor([[3.0], [0.5]]))
    1.25
    """
    cost = torch.cdist(a.double(), b.double(), compute_mode="donot_use_mm_for_euclid_dist").cpu().numpy()
    return float(cost[np.arange(len(cost)), cheapest_assignment(cost)].mean())


def cheapest_assignment(cost: Floats) -> NDArray[np.int64]:
    """Return for each row the column it is assigned to, so that the sum of costs is smallest.

    Rows first bid for their cheapest column; those left over are added one by one by the shortest augmenting path with dual prices, in the manner of
    Jonker and Volgenant (1987), Computing 38, 325-340.

    Examples
    --------
    >>> cheapest_assignment(np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])).tolist()
    [1, 0, 2]
    """
    n, price = len(cost), cost.min(axis=0)
    row_of, column_of = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    free = list(range(n))
    for _ in range(BIDS if n > 1 else 0):
        bidders, free = free, []
        for row in bidders:
            _bid(cost[row] - price, row, price, row_of, column_of, free)
    pay = (cost - price).min(axis=1)
    for start in np.flatnonzero(column_of < 0).tolist():
        column, came_from = _shortest_path(cost, start, pay, price, row_of)
        while True:
            row = came_from[column]
            row_of[column], column, column_of[row] = row, column_of[row], column
            if row == start:
                break
    return column_of


def _bid(left: Floats, row: int, price: Floats, row_of: Any, column_of: Any, free: list[int]) -> None:
    """Give a row the column with the least cost left, whose price falls until the second best is as good; whoever had it is free again."""
    best = int(left.argmin())
    least, left[best] = left[best], np.inf
    price[best] -= left.min() - least
    if row_of[best] >= 0:
        column_of[row_of[best]] = -1
        free.append(int(row_of[best]))
    row_of[best], column_of[row] = row, best


def _shortest_path(
    cost: Floats, start: int, pay: Floats, price: Floats, row_of: NDArray[np.int64]
) -> tuple[int, NDArray[np.int64]]:
    """Return the free column that a new row reaches most cheaply and the row each column was reached from; adjust prices."""
    n = len(cost)
    shortest, came_from = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
    done = np.zeros(n, dtype=bool)
    row, length, column = start, 0.0, -1
    while row >= 0:
        reach = length + cost[row] - pay[row] - price
        better = ~done & (reach < shortest)
        shortest[better], came_from[better] = reach[better], row
        column = int(np.argmin(np.where(done, np.inf, shortest)))
        length = shortest[column]
        done[column] = True
        row = int(row_of[column])
    done[column] = False
    pay[row_of[done]] += length - shortest[done]
    pay[start] += length
    price[done] += shortest[done] - length
    return column, came_from
