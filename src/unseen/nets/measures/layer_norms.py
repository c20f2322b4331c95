"""Products and sums of the layers' spectral and Frobenius norms (Bartlett, Foster and Telgarsky, 2017; Jiang and others, 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net
from unseen.nets.modules.weight_layers import frobenius_norm, input_shapes, other_layers, spectral_norm, weight_layers

__all__ = ["FrobeniusProduct", "FrobeniusSum", "SpectralProduct", "SpectralSum", "frobenius_norms", "spectral_norms"]


def spectral_norms(net: Net, layers: LayerLog) -> list[float]:
    """Return the spectral norm of every dense and convolution layer that an input reaches."""
    shapes = input_shapes(net.module, net.X_train)
    for name in other_layers(net.module):
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
    family: ClassVar[str] = "layer_norms"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the sum of log squared norms."""
        return sum(2 * math.log(max(norm, 1e-30)) for norm in spectral_norms(net, layers))


@register
@dataclass(frozen=True)
class SpectralSum(Measure):
    """Sum over layers of the squared spectral norm.

    References
    ----------
    Y. Jiang, B. Neyshabur, H. Mobahi, D. Krishnan, S. Bengio (2020). Fantastic generalization measures and where to find them. ICLR.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> SpectralSum()(sample_net("mlp")).value > 0
    True
    """

    id: ClassVar[str] = "spectral-sum"
    family: ClassVar[str] = "layer_norms"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the sum."""
        return sum(norm**2 for norm in spectral_norms(net, layers))


def frobenius_norms(net: Net, layers: LayerLog) -> list[float]:
    """Return the Frobenius norm of every dense and convolution layer."""
    for name in other_layers(net.module):
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
    family: ClassVar[str] = "layer_norms"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the sum of log squared norms."""
        return sum(2 * math.log(max(norm, 1e-30)) for norm in frobenius_norms(net, layers))


@register
@dataclass(frozen=True)
class FrobeniusSum(Measure):
    """Sum over layers of the squared Frobenius norm.

    References
    ----------
    Y. Jiang, B. Neyshabur, H. Mobahi, D. Krishnan, S. Bengio (2020). Fantastic generalization measures and where to find them. ICLR.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> FrobeniusSum()(sample_net("conv")).used
    ('0', '3', '9')
    """

    id: ClassVar[str] = "frobenius-sum"
    family: ClassVar[str] = "layer_norms"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the sum."""
        return sum(norm**2 for norm in frobenius_norms(net, layers))
