"""Number of trained parameters; a control that any measure should beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net

__all__ = ["ParameterCount"]


@register
@dataclass(frozen=True)
class ParameterCount(Measure):
    """Number of parameters, biases included.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> ParameterCount()(sample_net("vector")).value
    1899.0
    """

    id: ClassVar[str] = "parameter-count"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Count."""
        return float(sum(p.numel() for p in net.module.parameters()))
