"""Small nets by name: LeNet-5, multi-layer perceptrons, VGG-like and network-in-network stacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from torch import nn

from unseen.core.errors import InputError

__all__ = ["initialise_he", "make_lenet5", "make_mlp", "make_nin", "make_vgg"]


def _image(n_features: Any, name: str) -> tuple[tuple[int, int, int], list[nn.Module]]:
    """Return the shape of an image, and the layer that gives flat rows of square images that shape."""
    shape = tuple(n_features) if isinstance(n_features, (tuple, list)) else (int(n_features),)
    if len(shape) == 3:
        return shape, []
    for channels in (1, 3) if len(shape) == 1 else ():
        side = math.isqrt(shape[0] // channels)
        if channels * side * side == shape[0]:
            return (channels, side, side), [nn.Unflatten(1, (channels, side, side))]
    raise InputError(
        f"{name} reads images (channels, height, width), or flat rows of square images with 1 or 3 channels; it was given examples of shape {shape}."
    )


def make_lenet5(n_features: Any = (1, 28, 28), n_classes: int = 10) -> nn.Sequential:
    """Return LeNet-5 with tanh and average pooling (LeCun, Bottou, Bengio & Haffner, 1998, Proc. IEEE 86, 2278).

    28 x 28 images are padded to 32 x 32 as in the paper; 61,706 weights for ten classes and one channel.

    Parameters
    ----------
    n_features : tuple of int or int
        Channels, height and width (at least 12 x 12), or the length of flat rows of square images.
    n_classes : int
        Number of logits.

    Examples
    --------
    >>> import torch
    >>> net = make_lenet5()
    >>> net(torch.zeros(2, 1, 28, 28)).shape, sum(p.numel() for p in net.parameters())
    (torch.Size([2, 10]), 61706)
    """
    (channels, height, width), first = _image(n_features, "make_lenet5")
    if min(height, width) < 12:
        raise InputError(f"make_lenet5 reads images of at least 12 x 12 pixels; these have {height} x {width}.")
    after = [(side // 2 - 4) // 2 for side in (height, width)]
    return nn.Sequential(
        *first,
        nn.Conv2d(channels, 6, 5, padding=2),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * after[0] * after[1], 120),
        nn.Tanh(),
        nn.Linear(120, 84),
        nn.Tanh(),
        nn.Linear(84, n_classes),
    )


def make_mlp(
    n_features: Any, n_classes: int, depth: int = 1, width: int = 32, dropout: float = 0.0, activation: str = "relu"
) -> nn.Sequential:
    """Return a multi-layer perceptron.

    Parameters
    ----------
    n_features : int or tuple of int
        Features, or the shape of an image, which is flattened.
    n_classes : int
        Number of logits.
    depth, width : int
        Hidden layers and units in each; depth 0 is a linear classifier.
    dropout : float
        Rate after each hidden layer.
    activation : {"relu", "tanh"}
        Kind of hidden unit.

    Examples
    --------
    >>> make_mlp(4, 3, depth=2, width=8, dropout=0.1)[-1]
    Linear(in_features=8, out_features=3, bias=True)
    """
    kinds = {"relu": nn.ReLU, "tanh": nn.Tanh}
    if activation not in kinds:
        raise InputError(f'activation must be "relu" or "tanh"; it is {activation!r}.')
    layers: list[nn.Module] = [] if np.ndim(n_features) == 0 else [nn.Flatten()]
    last = int(np.prod(n_features))
    for _ in range(depth):
        layers += [nn.Linear(last, width), kinds[activation](), *([nn.Dropout(dropout)] if dropout else [])]
        last = width
    return nn.Sequential(*layers, nn.Linear(last, n_classes))


def make_vgg(
    n_features: Any = (3, 32, 32),
    n_classes: int = 10,
    blocks: int = 3,
    width: int = 32,
    dense: int = 1,
    dropout: float = 0.0,
) -> nn.Sequential:
    """Return a small VGG-like net: blocks of two 3 x 3 convolutions and a pooling, then dense layers.

    Widths double from block to block up to `width` in the last; the maps are pooled to 4 x 4 before the dense layers,
    so that the number of weights hardly depends on the image (after Simonyan & Zisserman, 2015, and the nets of PGDL
    task 1, Jiang et al., 2020).

    Parameters
    ----------
    n_features : tuple of int or int
        Channels, height and width, or the length of flat rows of square images.
    n_classes : int
        Number of logits.
    blocks, width, dense : int
        Convolution blocks, channels of the last one, and hidden dense layers of 128 units.
    dropout : float
        Rate after each hidden dense layer and after the last block.

    Examples
    --------
    >>> import torch
    >>> make_vgg(blocks=3, width=64, dense=2)(torch.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """
    (channels, height, side), layers = _image(n_features, "make_vgg")
    for block in range(blocks):
        wide = max(8, width // 2 ** (blocks - 1 - block))
        for _ in range(2):
            layers += [nn.Conv2d(channels, wide, 3, padding=1), nn.ReLU()]
            channels = wide
        if min(height, side) >= 2:
            layers.append(nn.MaxPool2d(2))
            height, side = height // 2, side // 2
    layers += [nn.AdaptiveAvgPool2d(4), nn.Flatten(), *([nn.Dropout(dropout)] if dropout else [])]
    last = channels * 16
    for _ in range(dense):
        layers += [nn.Linear(last, 128), nn.ReLU(), *([nn.Dropout(dropout)] if dropout else [])]
        last = 128
    return initialise_he(nn.Sequential(*layers, nn.Linear(last, n_classes)))


def make_nin(
    n_features: Any = (3, 32, 32), n_classes: int = 10, blocks: int = 2, width: int = 64, dropout: float = 0.0
) -> nn.Sequential:
    """Return a network in network: blocks of a 3 x 3 (stride 2) and two 1 x 1 convolutions, global average pooling at the end.

    (Lin, Chen & Yan, 2014; the nets of PGDL tasks 2 and 9 are of this kind.)

    Parameters
    ----------
    n_features : tuple of int or int
        Channels, height and width, or the length of flat rows of square images.
    n_classes : int
        Number of logits.
    blocks, width : int
        Blocks and channels of every convolution.
    dropout : float
        Rate after each block.

    Examples
    --------
    >>> import torch
    >>> make_nin(blocks=3, dropout=0.25)(torch.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """
    (channels, _, _), layers = _image(n_features, "make_nin")
    for _ in range(blocks):
        for size in (3, 1, 1):
            stride = 2 if size == 3 else 1
            layers += [nn.Conv2d(channels, width, size, stride=stride, padding=size // 2), nn.ReLU()]
            channels = width
        if dropout:
            layers.append(nn.Dropout(dropout))
    return initialise_he(
        nn.Sequential(*layers, nn.Conv2d(channels, n_classes, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    )


def initialise_he(net: nn.Sequential) -> nn.Sequential:
    """Draw weights for ReLU (He, Zhang, Ren & Sun, 2015, ICCV); torch's own start is too small for nine layers without normalisation."""
    for layer in net:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return net
