"""Resubstitution: the error on the training data itself (Smith, 1947)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["Resubstitution"]


@register
@dataclass(frozen=True)
class Resubstitution(Measure):
    """Share of training inputs that the network gets wrong.

    References
    ----------
    Smith, C. A. B. (1947). Some examples of discrimination. Annals of Eugenics 13, 272-282.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> Resubstitution()(sample_net("mlp")).value
    0.0
    """

    id: ClassVar[str] = "resubstitution"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the error."""
        return 1 - net.training_accuracy()
