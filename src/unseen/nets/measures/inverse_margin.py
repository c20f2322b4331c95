"""Inverse squared 10% margin of the training set (Jiang and others, 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.core.errors import InputError
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["SMALLEST_MARGIN", "InverseMargin", "output_margins"]

SMALLEST_MARGIN = 1e-3  # keeps the measure finite if the margin is 0 or below


def output_margins(net: Net) -> torch.Tensor:
    """Return, per training input, the logit of its class less the largest other logit."""
    logits = net.logits(net.X_train).double()
    own = logits.gather(1, net.y_train[:, None])[:, 0]
    return own - logits.scatter(1, net.y_train[:, None], float("-inf")).amax(1)


@register
@dataclass(frozen=True)
class InverseMargin(Measure):
    """One over the squared quantile of the training margins; a quantile below 0.001 counts as 0.001.

    Parameters
    ----------
    quantile : float
        Which quantile of the margins: 0.1 in the paper.

    References
    ----------
    Y. Jiang, B. Neyshabur, H. Mobahi, D. Krishnan, S. Bengio (2020). Fantastic generalization measures and where to find them. ICLR.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> InverseMargin()(sample_net("conv")).value < InverseMargin(quantile=0.02)(sample_net("conv")).value
    True
    """

    quantile: float = 0.1

    id: ClassVar[str] = "inverse-margin"
    range: ClassVar[tuple[float, float]] = (0.0, SMALLEST_MARGIN**-2)

    def __post_init__(self) -> None:
        if not 0 <= self.quantile <= 1:
            raise InputError(f"quantile is {self.quantile}; it must lie between 0 and 1.")

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the inverse square."""
        return max(float(output_margins(net).quantile(self.quantile)), SMALLEST_MARGIN) ** -2
