"""The seven changes of Always Generalize and what each costs (Aithal, Kashyap & Subramanyam 2021)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import torch
from torch.nn import functional

from unseen.nets.augmentation.augment import blacken, transform
from unseen.nets.augmentation.factors import Factors, no_augmentation

__all__ = ["across", "change_images", "draw_rectangles", "named_changes", "saturate"]


NAMES = ("mirrored", "saturation", "centre crop", "Sobel filter", "brighter", "mirrored, saturation", "black rectangle")


def change_images(X: torch.Tensor, factor: torch.Tensor, black: Factors) -> Iterator[tuple[float, torch.Tensor]]:
    """Yield each penalty with the images it is for; `X` lies between 0 and 1."""
    n = len(X)
    flipped = X.flip(-1)
    yield 6.0, flipped
    yield 1.0, saturate(X, factor[:, 0])
    crop = torch.full((n,), 0.9, dtype=X.dtype, device=X.device)
    yield 2.0, transform(X, dataclasses.replace(_no_change(X), zoom_horizontal=crop, zoom_vertical=crop))
    yield 3.0, across(X) / 4 + 0.5
    yield 1.0, X + 0.5
    yield 12.0, saturate(flipped, factor[:, 1])
    yield 2.0, blacken(X, black)


def named_changes(X: torch.Tensor, generator: torch.Generator) -> list[tuple[str, float, torch.Tensor]]:
    """Return each of the seven changes of images between 0 and 1: its name, its penalty, and the images.

    Examples
    --------
    >>> changes = named_changes(torch.rand(2, 3, 8, 8), torch.Generator().manual_seed(0))
    >>> [(name, cost) for name, cost, _ in changes][:2], sum(cost for _, cost, _ in changes)
    ([('mirrored', 6.0), ('saturation', 1.0)], 27.0)
    """
    factor = 0.6 + torch.rand(len(X), 2, generator=generator)
    found = change_images(X, factor.to(X), draw_rectangles(len(X), X.shape[2:], generator).to(X.device, X.dtype))
    return [(name, cost, images.clamp(0, 1)) for name, (cost, images) in zip(NAMES, found, strict=True)]


def _no_change(X: torch.Tensor) -> Factors:
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


def draw_rectangles(n: int, shape: torch.Size, generator: torch.Generator) -> Factors:
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
