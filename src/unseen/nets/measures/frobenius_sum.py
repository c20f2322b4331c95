"""Squared norm of all weights: the sum of the layers' squared Frobenius norms (Jiang and others, 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures.frobenius_product import frobenius_norms

__all__ = ["FrobeniusSum"]


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
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the sum."""
        return sum(norm**2 for norm in frobenius_norms(net, layers))
