"""Product of squared spectral norms over the squared 10% margin (Bartlett, Foster and Telgarsky, 2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets.measures.inverse_margin import SMALLEST_MARGIN, output_margins
from unseen.nets.measures.layer_norms import spectral_norms
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["SpectralMargin"]


@register
@dataclass(frozen=True)
class SpectralMargin(Measure):
    """Logarithm of the product of squared spectral norms divided by the squared 10% margin.

    References
    ----------
    P. Bartlett, D. Foster, M. Telgarsky (2017). Spectrally-normalized margin bounds for neural networks. NeurIPS.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> SpectralMargin()(sample_net("mlp")).used
    ('1', '3', '5')
    """

    id: ClassVar[str] = "spectral-margin"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the logarithm."""
        margin = max(float(output_margins(net).quantile(0.1)), SMALLEST_MARGIN)
        return sum(2 * math.log(max(norm, 1e-30)) for norm in spectral_norms(net, layers)) - 2 * math.log(margin)
