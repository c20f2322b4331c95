"""Product of the layers' spectral norms (Bartlett, Foster and Telgarsky, 2017; Jiang and others, 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets._weight_layers import input_shapes, left_out, spectral_norm, weight_layers

__all__ = ["SpectralProduct", "spectral_norms"]


def spectral_norms(net: Net, layers: LayerLog) -> list[float]:
    """Return the spectral norm of every dense and convolution layer that an input reaches."""
    shapes = input_shapes(net.module, net.X_train)
    for name in left_out(net.module):
        layers.skip(name, "neither dense nor convolution")
    norms = []
    for name, layer in weight_layers(net.module).items():
        if name not in shapes:
            layers.skip(name, "not reached by a forward pass")
            continue
        layers.use(name)
        norms.append(spectral_norm(layer, shapes[name]))
    return norms


@register
@dataclass(frozen=True)
class SpectralProduct(Measure):
    """Logarithm of the product of squared spectral norms of the layers.

    References
    ----------
    P. Bartlett, D. Foster, M. Telgarsky (2017). Spectrally-normalized margin bounds for neural networks. NeurIPS.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> SpectralProduct()(sample_net("mlp")).used
    ('1', '3', '5')
    """

    id: ClassVar[str] = "spectral-product"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the sum of log squared norms."""
        return sum(2 * math.log(max(norm, 1e-30)) for norm in spectral_norms(net, layers))
