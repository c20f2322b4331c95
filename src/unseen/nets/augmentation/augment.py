"""Image augmentation in plain torch with a factor per image: one resampling, a Sobel filter, a product and a mask."""

from __future__ import annotations

import torch
from torch.nn import functional

from unseen.core.errors import InputError, KindError
from unseen.nets.augmentation.factors import Factors

__all__ = ["augment", "blacken", "brighten", "sobel", "transform"]


def augment(X: torch.Tensor, factors: Factors) -> torch.Tensor:
    """Augment images, each by its own factors.

    Flip, rotation, zooms and shifts come first in one bilinear resampling that repeats the edge; then the Sobel filter,
    brightness, and the blackened rectangle.

    Parameters
    ----------
    X : torch.Tensor
        Images of shape (n, channels, height, width), black 0 and white 1, on any device.
    factors : Factors
        One set per image; see `draw_factors` and `no_augmentation`.

    Returns
    -------
    torch.Tensor
        Images of the same shape in 0 to 1.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 3.2 and table 3.2.

    Examples
    --------
    >>> import dataclasses
    >>> from unseen.nets import augment, no_augmentation
    >>> X = torch.tensor([[[[0.0, 1.0], [0.0, 0.5]]]])
    >>> augment(X, dataclasses.replace(no_augmentation(1), flip=torch.tensor([True])))
    tensor([[[[1.0000, 0.0000], [0.5000, 0.0000]]]])
    """
    factors = _check(X, factors)
    out = transform(X, factors)
    if bool(factors.sobel.any()):
        out = torch.where(factors.sobel[:, None, None, None], sobel(out), out)
    return blacken(brighten(out, factors.brightness), factors)


def transform(X: torch.Tensor, f: Factors) -> torch.Tensor:
    """Mirror, rotate, zoom and shift images about their centre, repeating the edge."""
    n, _, height, width = X.shape
    cos, sin = torch.cos(f.rotation), torch.sin(f.rotation)
    side = 1 - 2 * f.flip.to(X.dtype)
    # rows give the input's x and y for an output pixel: mirror of the turn of the zoomed, unshifted place
    xx, xy = side * cos * f.zoom_horizontal, -side * sin * f.zoom_vertical
    yx, yy = sin * f.zoom_horizontal, cos * f.zoom_vertical
    right, down = f.shift_width * width, f.shift_height * height
    theta = torch.stack(
        [
            xx,
            xy * height / width,
            -2 / width * (xx * right + xy * down),
            yx * width / height,
            yy,
            -2 / height * (yx * right + yy * down),
        ],
        dim=1,
    ).reshape(n, 2, 3)
    grid = functional.affine_grid(theta, list(X.shape), align_corners=False)
    return functional.grid_sample(X, grid, mode="bilinear", padding_mode="border", align_corners=False)


def sobel(X: torch.Tensor) -> torch.Tensor:
    """Return the gradient magnitude of each channel over 4, at most 1.

    Examples
    --------
    >>> step = torch.tensor([[0.0, 0.0, 1.0, 1.0]]).expand(1, 1, 4, 4)
    >>> sobel(step)[0, 0, 1]
    tensor([0., 1., 1., 0.])
    """
    channels = X.shape[1]
    across = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]], dtype=X.dtype, device=X.device)
    kernels = torch.stack([across, across.T])[:, None].repeat(channels, 1, 1, 1)
    padded = functional.pad(X, (1, 1, 1, 1), mode="replicate")
    both = functional.conv2d(padded, kernels, groups=channels)
    return (both[:, 0::2].square() + both[:, 1::2].square()).sqrt().div(4).clamp(max=1)


def brighten(X: torch.Tensor, brightness: torch.Tensor) -> torch.Tensor:
    """Multiply the pixel values of each image, at most to white."""
    return (X * brightness[:, None, None, None]).clamp(0, 1)


def blacken(X: torch.Tensor, f: Factors) -> torch.Tensor:
    """Blacken a rectangle of each image; it lies wholly inside."""
    height, width = X.shape[-2:]
    inside = [
        _between(height, f.cut_top * (1 - f.cut_height), f.cut_height, X)[:, :, None],
        _between(width, f.cut_left * (1 - f.cut_width), f.cut_width, X)[:, None, :],
    ]
    return X.masked_fill((inside[0] & inside[1])[:, None], 0)


def _between(size: int, start: torch.Tensor, length: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return for each image which of `size` pixel centres lie in [start, start + length), shares of the side."""
    centres = (torch.arange(size, dtype=like.dtype, device=like.device) + 0.5) / size
    return (centres >= start[:, None]) & (centres < (start + length)[:, None])


def _check(X: torch.Tensor, factors: Factors) -> Factors:
    if not isinstance(X, torch.Tensor) or not X.is_floating_point():
        raise KindError("images must be a torch.Tensor of floats, black 0 and white 1.")
    if X.ndim != 4 or 0 in X.shape:
        raise InputError(f"images have shape {tuple(X.shape)}; (n, channels, height, width) is needed.")
    if len(factors) != len(X):
        raise InputError(f"{len(X)} images and factors for {len(factors)}; one set per image is needed.")
    return factors.to(X.device, X.dtype)
