"""Always Generalize: how much predictions change under seven augmentations (Aithal, Kashyap & Subramanyam 2021)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch.nn import functional

from unseen.nets.augmentation.augment import blacken, transform
from unseen.nets.augmentation.factors import Factors, no_augmentation
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["AlwaysGeneralize", "changed_images"]

NAMES = ("mirrored", "saturation", "centre crop", "Sobel filter", "brighter", "mirrored, saturation", "black rectangle")


@register
@dataclass(frozen=True)
class AlwaysGeneralize(Measure):
    """Mean over images of seven penalties for predictions that change under augmentation.

    Where the predicted class changes, a flip costs 6, a change of saturation 1, a 90 % centre crop 2, a Sobel filter 3,
    brightness + 0.5 1, flip with saturation 12, and a black rectangle 2; where it stays, the change of the largest probability. True labels
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
        black = _rectangles(len(rows), net.X_train.shape[2:], generator)
        parts = [slice(k, k + net.batch_size) for k in range(0, len(rows), net.batch_size)]
        costs = torch.cat([_penalties(net, rows[part], factor[part], black[part]) for part in parts])
        return costs.reshape(count, size).mean(dim=1).cpu().numpy()


def _penalties(net: Net, rows: torch.Tensor, factor: torch.Tensor, black: Factors) -> torch.Tensor:
    X = net.X_train[rows]
    p, label = net.logits(X).double().softmax(1).max(1)
    total = torch.zeros_like(p)
    for cost, images in _changed(net.to_unit(X), factor.to(X), black.to(X.device, X.dtype)):
        q, other = net.logits(net.from_unit(images)).double().softmax(1).max(1)
        total += torch.where(other == label, (p - q).abs(), cost)
    return total


def _changed(X: torch.Tensor, factor: torch.Tensor, black: Factors) -> Iterator[tuple[float, torch.Tensor]]:
    """Give each penalty with the images it is for; `X` lies between 0 and 1."""
    n = len(X)
    flipped = X.flip(-1)
    yield 6.0, flipped
    yield 1.0, saturate(X, factor[:, 0])
    crop = torch.full((n,), 0.9, dtype=X.dtype, device=X.device)
    yield 2.0, transform(X, dataclasses.replace(_still(X), zoom_horizontal=crop, zoom_vertical=crop))
    yield 3.0, across(X) / 4 + 0.5
    yield 1.0, X + 0.5
    yield 12.0, saturate(flipped, factor[:, 1])
    yield 2.0, blacken(X, black)


def changed_images(X: torch.Tensor, generator: torch.Generator) -> list[tuple[str, float, torch.Tensor]]:
    """Return each of the seven changes of images between 0 and 1: its name, its penalty, and the images.

    Examples
    --------
    >>> changes = changed_images(torch.rand(2, 3, 8, 8), torch.Generator().manual_seed(0))
    >>> [(name, cost) for name, cost, _ in changes][:2], sum(cost for _, cost, _ in changes)
    ([('mirrored', 6.0), ('saturation', 1.0)], 27.0)
    """
    factor = 0.6 + torch.rand(len(X), 2, generator=generator)
    found = _changed(X, factor.to(X), _rectangles(len(X), X.shape[2:], generator).to(X.device, X.dtype))
    return [(name, cost, images.clamp(0, 1)) for name, (cost, images) in zip(NAMES, found, strict=True)]


def _still(X: torch.Tensor) -> Factors:
    return no_augmentation(len(X)).to(X.device, X.dtype)


def saturate(X: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Multiply the saturation of colour images, at most to full, keeping hue and value; other images stay.

    Examples
    --------
    >>> saturate(torch.tensor([0.8, 0.4, 0.6]).reshape(1, 3, 1, 1), torch.tensor([0.5])).flatten()
    tensor([0.8000, 0.6000, 0.7000])
    """
    if X.shape[1] != 3:
        return X
    most, least = X.amax(1, keepdim=True), X.amin(1, keepdim=True)
    saturation = (most - least) / most.clamp(min=1e-12)
    wanted = (saturation * factor[:, None, None, None]).clamp(max=1)
    return most - (most - X) * wanted / saturation.clamp(min=1e-12)


def across(X: torch.Tensor) -> torch.Tensor:
    """Return the Sobel derivative from left to right of each channel, the border reflected."""
    kernel = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]], dtype=X.dtype, device=X.device)
    padded = functional.pad(X, (1, 1, 1, 1), mode="reflect")
    return functional.conv2d(padded, kernel.expand(X.shape[1], 1, 3, 3), groups=X.shape[1])


def _rectangles(n: int, shape: torch.Size, generator: torch.Generator) -> Factors:
    """Draw whole-pixel rectangles with sides between sqrt(0.006 area) and the smaller of sqrt(1.33 area) and the side."""
    area = shape[0] * shape[1]
    shortest, longest = round(math.sqrt(0.02 * area * 0.3)), round(math.sqrt(0.4 * area / 0.3))
    sides = [
        torch.randint(shortest, max(min(longest, side), shortest + 1), (n,), generator=generator) for side in shape
    ]
    places = [(torch.rand(n, generator=generator) * (side - s)).floor() for side, s in zip(shape, sides)]
    shares = [s / side for s, side in zip(sides, shape)]
    starts = [p / (side - s).clamp(min=1) for p, s, side in zip(places, sides, shape)]
    return dataclasses.replace(
        no_augmentation(n), cut_height=shares[0], cut_width=shares[1], cut_top=starts[0], cut_left=starts[1]
    )
