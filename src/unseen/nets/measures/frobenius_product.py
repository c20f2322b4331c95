"""Product of the layers' Frobenius norms (Neyshabur, Tomioka and Srebro, 2015; Jiang and others, 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets._weight_layers import frobenius_norm, left_out, weight_layers

__all__ = ["FrobeniusProduct", "frobenius_norms"]


def frobenius_norms(net: Net, layers: LayerLog) -> list[float]:
    """Return the Frobenius norm of every dense and convolution layer."""
    for name in left_out(net.module):
        layers.skip(name, "neither dense nor convolution")
    found = weight_layers(net.module)
    layers.use(*found)
    return [frobenius_norm(layer) for layer in found.values()]


@register
@dataclass(frozen=True)
class FrobeniusProduct(Measure):
    """Logarithm of the product of squared Frobenius norms of the layers.

    References
    ----------
    B. Neyshabur, R. Tomioka, N. Srebro (2015). Norm-based capacity control in neural networks. COLT.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> FrobeniusProduct()(sample_net("conv")).skipped
    {'4': 'neither dense nor convolution'}
    """

    id: ClassVar[str] = "frobenius-product"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the sum of log squared norms."""
        return sum(2 * math.log(max(norm, 1e-30)) for norm in frobenius_norms(net, layers))
