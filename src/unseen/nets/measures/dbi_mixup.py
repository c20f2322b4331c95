"""Davies-Bouldin index times label-wise mixup error, the competition's winner (Natekar & Sharma 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.core.errors import NotApplicable
from unseen.nets.measures._subsets import balanced_rows, random_rows
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.layers import Layer, capture_features, layers_of
from unseen.nets.modules.net import Net

__all__ = ["DbiMixup", "davies_bouldin"]


@register
@dataclass(frozen=True)
class DbiMixup(Measure):
    """How badly early features cluster by class, times how often averages of two inputs of a class are misclassified.

    The index is that of the output of the first convolution or pooling layer after 4 x 4 max-pooling, with the labels as
    clusters; a module without such a layer is measured at its first dense layer. For the second factor all pairs of `per_class`
    inputs of a class are averaged 1:1. A draw takes new inputs for both; the value is the product of the two means.

    Parameters
    ----------
    points : int
        Inputs behind each index.
    per_class : int
        Inputs of each class whose pairs are averaged.

    References
    ----------
    Natekar, P. and Sharma, M. (2020). Representation based complexity measures for predicting generalization in deep
    learning. arXiv:2012.02775. Davies, D. L. and Bouldin, D. W. (1979). IEEE Trans. Pattern Anal. Mach. Intell. 1, 224-227.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> DbiMixup()(sample_net("conv", epochs=5)).value > 0
    True
    """

    points: int = 120
    per_class: int = 10

    id: ClassVar[str] = "dbi-mixup"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    default_draws: ClassVar[int] = 10

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> tuple[float, float]:
        """Return one Davies-Bouldin index and one share of averages that keep their label."""
        layer = _early_layer(net)
        layers.use(layer.name)
        for other in layers_of(net.module, net.X_train):
            if (other.is_weighted or other.has_strides) and other.name != layer.name:
                layers.skip(other.name, "the measure looks at the first layer only")
        rows = random_rows(net, self.points, generator)
        with torch.no_grad(), capture_features(net.module, outputs=(layer.name,)) as kept:
            net.module(net.X_train[rows])
        index = davies_bouldin(_pool(kept[layer.name]), net.y_train[rows])
        return index, self._share_of_right_midpoints(net, generator)

    def _share_of_right_midpoints(self, net: Net, generator: torch.Generator) -> float:
        rows = balanced_rows(net, self.per_class, generator, self.id)
        X, y = net.X_train[rows], net.y_train[rows]
        first, second = torch.triu_indices(len(rows), len(rows), 1, device=net.device)
        pairs = y[first] == y[second]
        first, second = first[pairs], second[pairs]
        right = torch.cat(
            [
                net.logits((X[i] + X[j]) / 2).argmax(1) == y[i]
                for i, j in zip(first.split(net.batch_size), second.split(net.batch_size))
            ]
        ).double()
        counts = torch.bincount(y[first], minlength=net.n_classes)
        shares = torch.bincount(y[first], weights=right, minlength=net.n_classes)[counts > 0] / counts[counts > 0]
        return float(shares.mean())

    def statistic(self, sample: NDArray[np.float64]) -> float:
        """Return the mean index times one minus the mean share."""
        index, kept = sample.mean(axis=0)
        return float(index * (1 - kept))


def _early_layer(net: Net) -> Layer:
    found = layers_of(net.module, net.X_train)
    for layer in found:
        if layer.has_strides:
            return layer
    for layer in found:
        if layer.is_weighted:
            return layer
    raise NotApplicable("dbi-mixup needs a convolution, pooling or dense layer, which this module does not have.")


def _pool(features: torch.Tensor) -> torch.Tensor:
    if features.ndim == 4:
        height, width = (min(4, side) for side in features.shape[2:])
        features = torch.nn.functional.max_pool2d(features, (height, width))
    return features.flatten(1)


def davies_bouldin(points: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the mean over clusters of the worst ratio of spreads to the distance of centres; 0 for one cluster only.

    Centres that coincide count as infinitely far apart, so that they cannot decide.

    Examples
    --------
    >>> points = torch.tensor([[0.0], [2.0], [10.0], [12.0]])
    >>> davies_bouldin(points, torch.tensor([0, 0, 1, 1]))
    0.2
    """
    found, which = torch.unique(labels, return_inverse=True)
    points, k = points.double(), len(found)
    member = torch.nn.functional.one_hot(which, k).to(points)
    counts = member.sum(0)
    centres = (member.T @ points) / counts[:, None]
    to_centre = (points - centres[which]).norm(dim=1)
    spread = (member.T @ to_centre) / counts
    apart = torch.cdist(centres, centres, compute_mode="donot_use_mm_for_euclid_dist")
    if k < 2 or bool((spread < 1e-8).all()) or bool((apart < 1e-8).all()):
        return 0.0
    ratio = (spread[:, None] + spread[None, :]) / torch.where(apart == 0, torch.inf, apart)
    return float(ratio.amax(1).mean())
