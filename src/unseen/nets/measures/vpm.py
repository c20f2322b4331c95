"""VPM: variation of mixed labels along a graph of penultimate features (Lassance et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn import functional

from unseen.nets.measures._graphs import features_into, last_layers, nearest
from unseen.nets.measures._subsets import balanced_rows
from unseen.nets.measures.measure import LayerLog, MedianMeasure, register
from unseen.nets.modules.net import Net

__all__ = ["Vpm"]


@register
@dataclass(frozen=True)
class Vpm(MedianMeasure):
    """How much mixed labels differ between an input and its nearest neighbour in the features before the last layer.

    Inputs, as many of every class, are mixed in pairs with weights from Beta(2, 2), and their labels with them. Each is linked
    to its nearest neighbour among the penultimate features, scaled to unit length; the variation of the labels along the links is
    divided by four times the number of inputs. Links have no weights, so that the authors' radial kernel, whatever its width, gives
    the same graph. A draw is one graph, the value the median over graphs; its error is that of a median of normal values.

    Parameters
    ----------
    points : int
        Inputs of a graph.

    References
    ----------
    Lassance, C., Béthune, L., Bontonou, M., Hamidouche, M. and Gripon, V. (2020). Ranking deep learning generalization using label
    variation in latent geometry graphs. arXiv:2011.12737; details as in the repository cadurosar/pgdl.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> Vpm()(sample_net("conv")).used
    ('9',)
    """

    points: int = 500

    id: ClassVar[str] = "vpm"
    range: ClassVar[tuple[float, float]] = (0.0, 0.25)
    default_draws: ClassVar[int] = 10

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the variation along one graph."""
        (name,) = last_layers(net, 1, layers)
        rows = balanced_rows(net, max(2, self.points // net.n_classes), generator, self.id)
        other = rows[torch.randperm(len(rows), generator=generator).to(rows.device)]
        share = _beta22(len(rows), generator).to(net.X_train)
        wide = share.reshape(-1, *[1] * (net.X_train.ndim - 1))
        (features,), _ = features_into(net, wide * net.X_train[rows] + (1 - wide) * net.X_train[other], (name,))
        hot = functional.one_hot(net.y_train, net.n_classes).double()
        part = share.double()[:, None]
        targets = part * hot[rows] + (1 - part) * hot[other]
        varied = (targets * targets).sum() - (targets * targets[nearest(features)]).sum()
        return max(0.0, float(varied) / (4 * len(rows)))


def _beta22(n: int, generator: torch.Generator) -> torch.Tensor:
    """Beta(2, 2) is the median of three uniform numbers."""
    return torch.rand(n, 3, generator=generator).median(dim=1).values
