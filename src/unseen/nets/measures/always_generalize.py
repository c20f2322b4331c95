"""Always Generalize: how much predictions change under seven augmentations (Aithal, Kashyap & Subramanyam 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from unseen.nets.augmentation.changes import change_images, draw_rectangles
from unseen.nets.augmentation.factors import Factors
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["AlwaysGeneralize"]


@register
@dataclass(frozen=True)
class AlwaysGeneralize(Measure):
    """Mean over images of seven penalties for predictions that change under augmentation.

    Where the predicted class changes, a flip costs 6, a change of saturation 1, a 90% centre crop 2, a Sobel filter 3,
    brightness + 0.5 1, flip with saturation 12, and a black rectangle 2; if it stays, the change of the largest probability. True labels
    are not used. A draw is a batch of 64 images, by default 201 of them or as many as the training images fill. Saturation exists for three channels only and
    leaves other images alone.

    Parameters
    ----------
    batch : int
        Images of a draw.

    References
    ----------
    Aithal, S. K., Kashyap, D. and Subramanyam, N. (2021). Robustness to augmentations as a generalization metric.
    arXiv:2101.06459; penalties as in the repository sumukhaithal6/pgdl, here with the sign that larger is worse.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> 0 <= AlwaysGeneralize()(sample_net("conv"), draws=5).value <= 27
    True
    """

    batch: int = 64

    id: ClassVar[str] = "always-generalize"
    range: ClassVar[tuple[float, float]] = (0.0, 27.0)
    needs: ClassVar[frozenset[str]] = frozenset({"images"})
    sheets: ClassVar[tuple[str, ...]] = ("changes",)
    default_draws: ClassVar[int] = 201

    def draws_for(self, net: Net) -> int:
        """Return 201 batches, or as many as the training images fill."""
        return max(2, min(self.default_draws, net.n // self.batch))

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return the mean penalty of each batch."""
        size = min(self.batch, net.n)
        passes = -(-count * size // net.n)
        order = torch.cat([torch.randperm(net.n, generator=generator) for _ in range(passes)])[: count * size]
        rows = order.to(net.device)
        factor = 0.6 + torch.rand(len(rows), 2, generator=generator)
        black = draw_rectangles(len(rows), net.X_train.shape[2:], generator)
        parts = [slice(k, k + net.batch_size) for k in range(0, len(rows), net.batch_size)]
        costs = torch.cat([_penalties(net, rows[part], factor[part], black[part]) for part in parts])
        return costs.reshape(count, size).mean(dim=1).cpu().numpy()


def _penalties(net: Net, rows: torch.Tensor, factor: torch.Tensor, black: Factors) -> torch.Tensor:
    X = net.X_train[rows]
    p, label = net.logits(X).double().softmax(1).max(1)
    total = torch.zeros_like(p)
    for cost, images in change_images(net.to_unit(X), factor.to(X), black.to(X.device, X.dtype)):
        q, other = net.logits(net.from_unit(images)).double().softmax(1).max(1)
        total += torch.where(other == label, (p - q).abs(), cost)
    return total
