"""The usual augmentation of small images while nets are trained side by side."""

from __future__ import annotations

from collections.abc import Callable

import torch

__all__ = ["flips_and_crops"]


def flips_and_crops(x: torch.Tensor, draw: Callable[..., torch.Tensor], shift: int = 4) -> torch.Tensor:
    """Flip half of the images left to right and shift all by up to four pixels, empty places filled with each image's edge.

    Give it as `augment` to `fit_many` or a `ZooGrid`; every net draws from its own stream.

    Parameters
    ----------
    x : torch.Tensor
        Batches of images of several networks: (networks, batch, channels, height, width).
    draw : callable
        ``draw(*shape)`` gives uniform numbers, an array of that shape for each network and image of the batch.
    shift : int
        Largest shift in pixels.

    Returns
    -------
    torch.Tensor
        The changed images, of the same shape.

    References
    ----------
    K. He, X. Zhang, S. Ren, J. Sun (2016). Deep residual learning for image recognition. CVPR, section 4.2.

    Examples
    --------
    >>> x = torch.arange(4.0).reshape(1, 1, 1, 1, 4)
    >>> flips_and_crops(x, lambda *shape: torch.full((1, 1, *shape), 0.25), shift=0).flatten().tolist()
    [3.0, 2.0, 1.0, 0.0]
    """
    height, width = x.shape[-2:]
    flip = draw(1) < 0.5
    columns = torch.arange(width, device=x.device)
    columns = torch.where(flip, width - 1 - columns, columns)
    move = (draw(2) * (2 * shift + 1)).floor() - shift
    columns = (columns + move[..., :1]).long().clamp(0, width - 1)
    rows = (torch.arange(height, device=x.device) + move[..., 1:]).long().clamp(0, height - 1)
    taken = x.gather(3, rows[:, :, None, :, None].expand(-1, -1, x.shape[2], -1, width))
    return taken.gather(4, columns[:, :, None, None, :].expand(-1, -1, x.shape[2], height, -1))
