"""Path norm: all products of squared weights along paths from input to output (Neyshabur, Salakhutdinov and Srebro, 2015)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules import weight_layers as weights
from unseen.nets.modules.net import Net

__all__ = ["PathNorm"]


@register
@dataclass(frozen=True)
class PathNorm(Measure):
    """Square root of the sum over paths and outputs of the product of squared weights, biases as weights of a constant input.

    References
    ----------
    B. Neyshabur, R. Salakhutdinov, N. Srebro (2015). Path-SGD: path-normalized optimization in deep neural networks. NeurIPS.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> PathNorm()(sample_net("mlp")).value > 0
    True
    """

    id: ClassVar[str] = "path-norm"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the norm."""
        layers.use(*weights.weight_layers(net.module), *weights.other_layers(net.module))
        return weights.path_norm(net.module, tuple(net.X_train.shape[1:]))
