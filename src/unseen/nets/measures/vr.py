"""VR: how the variation of labels along neighbour graphs changes from layer to layer (Lassance et al. 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch.nn import functional

from unseen.nets.measures._graphs import features_into, last_layers, neighbours, plain_variation
from unseen.nets.measures._subsets import random_rows
from unseen.nets.measures.measure import LayerLog, MedianMeasure, register
from unseen.nets.modules.net import Net

__all__ = ["Vr"]


@register
@dataclass(frozen=True)
class Vr(MedianMeasure):
    """Mean change of the variation of labels over the last layers: into the last but one, into the last, and out of it.

    Inputs are linked to their `neighbours` nearest ones by cosine, weighted by it; the variation is that of the plain Laplacian
    over 200 times the number of inputs. A draw takes new inputs; the value is the median over draws.

    Parameters
    ----------
    points : int
        Inputs of a graph.
    neighbours : int
        Links of each input.

    References
    ----------
    Lassance, C., Béthune, L., Bontonou, M., Hamidouche, M. and Gripon, V. (2020). Ranking deep learning generalization using label
    variation in latent geometry graphs. arXiv:2011.12737; details as in the repository cadurosar/pgdl.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> Vr()(sample_net("mlp")).used
    ('3', '5')
    """

    points: int = 500
    neighbours: int = 20

    id: ClassVar[str] = "vr"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    default_draws: ClassVar[int] = 11

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean absolute change between neighbouring layers."""
        names = last_layers(net, 2, layers)
        rows = random_rows(net, self.points, generator)
        targets = functional.one_hot(net.y_train[rows], net.n_classes).double()
        features, logits = features_into(net, net.X_train[rows], names)
        graphs = [neighbours(f, self.neighbours) for f in (*features, logits)]
        varied = np.array([plain_variation(graph, targets) / (200 * len(rows)) for graph in graphs])
        return float(np.abs(np.diff(varied)).mean())
