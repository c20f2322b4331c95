"""Sum of the layers' squared spectral norms (Jiang and others, 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures.spectral_product import spectral_norms

__all__ = ["SpectralSum"]


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
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the sum."""
        return sum(norm**2 for norm in spectral_norms(net, layers))
