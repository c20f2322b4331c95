"""Alpha-hat: power-law exponents weighted by the log of the largest eigenvalue (Martin, Peng and Mahoney, 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets.measures.alpha import layer_fits

__all__ = ["AlphaHat"]


@register
@dataclass(frozen=True)
class AlphaHat(Measure):
    """Mean over layers of the exponent times the decimal logarithm of the largest eigenvalue.

    References
    ----------
    C. H. Martin, T. Peng, M. W. Mahoney (2021). Predicting trends in the quality of state-of-the-art neural networks without access to
    training or testing data. Nature Communications 12, 4122.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> AlphaHat()(sample_net("conv")).skipped["0"]
    '9 eigenvalues, fewer than 20'
    """

    id: ClassVar[str] = "alpha-hat"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean of the weighted exponents."""
        fits = layer_fits(net, layers)
        return sum(fit.alpha * math.log10(fit.largest) for fit in fits) / len(fits)
