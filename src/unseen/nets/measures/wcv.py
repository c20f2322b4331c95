"""WCV: the worst variation of labels along neighbour graphs of the last layers (Lassance et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn import functional

from unseen.nets.measures._graphs import features_into, last_layers, nearest, normalised_variation
from unseen.nets.measures._subsets import balanced_rows
from unseen.nets.measures.measure import LayerLog, MedianMeasure, register
from unseen.nets.modules.layers import weighted_layers
from unseen.nets.modules.net import Net

__all__ = ["Wcv"]


@register
@dataclass(frozen=True)
class Wcv(MedianMeasure):
    """Largest variation of labels along the nearest-neighbour graph of the features into the last third of the layers.

    For each of these layers (a third of the dense and convolution layers, and one more), inputs, as many of every class, are
    linked to their nearest neighbours in either direction; the variation is that of the normalised Laplacian over four times the number of
    inputs. A draw takes new inputs; the value is the median over draws.

    Parameters
    ----------
    points : int
        Inputs of a graph.

    References
    ----------
    Lassance, C., Béthune, L., Bontonou, M., Hamidouche, M. and Gripon, V. (2020). Ranking deep learning generalization using label
    variation in latent geometry graphs. arXiv:2011.12737; details as in the repository cadurosar/pgdl. (There every
    Keras layer counts, activations and poolings too.)

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> Wcv()(sample_net("mlp")).used
    ('3', '5')
    """

    points: int = 500

    id: ClassVar[str] = "wcv"
    range: ClassVar[tuple[float, float]] = (0.0, 0.5)
    default_draws: ClassVar[int] = 10

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the worst layer's variation."""
        count = len(weighted_layers(net.module, net.X_train)) // 3 + 1
        names = last_layers(net, count, layers)
        rows = balanced_rows(net, max(2, self.points // net.n_classes), generator, self.id)
        targets = functional.one_hot(net.y_train[rows], net.n_classes).double()
        features, _ = features_into(net, net.X_train[rows], names)
        return max(0.0, *(normalised_variation(_links(f), targets) / (4 * len(rows)) for f in features))


def _links(features: torch.Tensor) -> torch.Tensor:
    one_way = functional.one_hot(nearest(features), len(features)).double()
    return torch.maximum(one_way, one_way.T)
