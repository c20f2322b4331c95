"""Grids of networks to train: which hyper-parameters vary, how a cell becomes a network, how training goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from typing import Any

import torch
from torch import nn

from unseen.core.errors import InputError, UnknownName
from unseen.nets.augmentation.flips_and_crops import flips_and_crops
from unseen.nets.modules.architectures import initialise_he, make_mlp

__all__ = ["GRIDS", "ZooGrid", "early_pooled_nin", "early_pooled_vgg", "zoo_grid"]

TRAINING = ("dropout", "weight_decay", "lr", "batch_size", "augment")
DATA = ("label_noise", "train_rows")


@dataclass(frozen=True)
class ZooGrid:
    """A full-factorial grid of networks and how they are trained.

    Parameters
    ----------
    id : str
        Name.
    factory : callable
        Makes an architecture from `n_features`, `n_classes`, the axes that are not training options, and `dropout`.
    axes : mapping
        Values of each hyper-parameter. "dropout", "weight_decay", "lr", "batch_size" and "augment" (whether training batches are changed) are options of
        training; "label_noise" (share of training labels replaced by another class) and "train_rows" (first so many rows) change the training data; the
        others are options of the factory.
    lr, momentum : float
        Step length (if it is no axis) and momentum.
    batch_size : int
        Where it is no axis.
    lr_by_batch : mapping of int to float, optional
        Step length for each batch size, if small batches need shorter steps.
    epochs : int
        Most epochs.
    stop_loss, accuracy : float
        Training stops when the loss on the training set falls below the first; a network below the second fails its cell.
    augment : callable, optional
        Changes training batches, see `fit_many`; in cells where the axis "augment" is false it does not.
    halve_every : int, optional
        Halve the step length every so many epochs.
    data : str
        Images it is meant for.

    Examples
    --------
    >>> zoo_grid("cifar-vgg").n, zoo_grid("mnist-mlp").n, zoo_grid("cifar-vgg").shape
    (64, 48, (2, 2, 2, 2, 2, 2))
    """

    id: str
    factory: Callable[..., nn.Module]
    axes: Mapping[str, tuple[Any, ...]]
    _: KW_ONLY
    lr: float = 0.02
    momentum: float = 0.9
    batch_size: int = 64
    lr_by_batch: Mapping[int, float] | None = None
    epochs: int = 150
    stop_loss: float = 0.02
    accuracy: float = 0.95
    augment: Callable[..., torch.Tensor] | None = field(default=None, repr=False)
    data: str = ""
    halve_every: int | None = None

    def __post_init__(self) -> None:
        if not self.axes or any(len(values) != len(set(values)) or not values for values in self.axes.values()):
            raise InputError(f"every axis of the grid {self.id!r} needs different values, and there must be an axis.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of each hyper-parameter."""
        return tuple(len(values) for values in self.axes.values())

    @property
    def n(self) -> int:
        """Number of networks per seed."""
        return len(self.cells())

    @property
    def has_dropout(self) -> bool:
        """Whether networks carry dropout layers, with rate 0 in some cells."""
        return "dropout" in self.axes

    def cells(self) -> list[dict[str, Any]]:
        """Return the hyper-parameters of every network, the last axis running fastest."""
        return [dict(zip(self.axes, values)) for values in product(*self.axes.values())]

    def lr_of(self, cell: Mapping[str, Any]) -> float:
        """Return the step length of a cell: its own, that of its batch size, or the grid's."""
        by_batch = (self.lr_by_batch or {}).get(cell.get("batch_size", self.batch_size), self.lr)
        return float(cell.get("lr", by_batch))

    def group_of(self, cell: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return what networks must share to be trained side by side: architecture, batch size and augmentation."""
        shared = ("batch_size", "augment")
        return tuple(cell[name] for name in self.axes if name in shared or name not in (*TRAINING, *DATA))

    def maker(self, cell: Mapping[str, Any]) -> Callable[[Any, int], nn.Module]:
        """Return a function (n_features, n_classes) that makes the architecture of a cell."""
        shape = {name: value for name, value in cell.items() if name not in (*TRAINING, *DATA)}
        if self.has_dropout:  # layers are there in every cell, so that networks with and without share one program
            shape["dropout"] = cell["dropout"] or max(self.axes["dropout"])

        def make(n_features: Any, n_classes: int) -> nn.Module:
            return self.factory(n_features=n_features, n_classes=n_classes, **shape)

        return make

    def to_dict(self) -> dict[str, Any]:
        """Return what a manifest keeps of the grid."""
        names = ("id", "lr", "lr_by_batch", "momentum", "batch_size", "epochs", "stop_loss", "accuracy", "data")
        kept = {name: getattr(self, name) for name in (*names, *(["halve_every"] if self.halve_every else []))}
        return {
            **kept,
            "axes": {name: list(values) for name, values in self.axes.items()},
            "factory": self.factory.__name__,
        }


def early_pooled_vgg(
    n_features: Any, n_classes: int, blocks: int, width: int, dense: int = 1, dropout: float = 0.0, hidden: int = 256
) -> nn.Module:
    """Return a small VGG-like net that costs about the same with one block as with three: the first convolution halves the image.

    A convolution with stride 2, then `blocks` convolutions, the first followed by pooling, all `width` wide; maps of 8 x 8; dropout once, before the hidden
    dense layers of `hidden` units. Weights start as He and others (2015) advise for ReLU, without which most of the grid's networks never leave their first loss.

    References
    ----------
    K. He, X. Zhang, S. Ren, J. Sun (2015). Delving deep into rectifiers. ICCV.

    Examples
    --------
    >>> early_pooled_vgg((3, 32, 32), 10, blocks=3, width=8)(torch.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """
    layers: list[nn.Module] = [nn.Conv2d(n_features[0], width, 3, stride=2, padding=1), nn.ReLU()]
    for block in range(blocks):
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), *([nn.MaxPool2d(2)] if block == 0 else [])]
    layers += [nn.AdaptiveAvgPool2d(8), nn.Flatten(), *([nn.Dropout(dropout)] if dropout else [])]
    last = 64 * width
    for _ in range(dense):
        layers += [nn.Linear(last, hidden), nn.ReLU()]
        last = hidden
    net = nn.Sequential(*layers, nn.Linear(last, n_classes))
    for layer in net:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu" if layer is not net[-1] else "linear")
            nn.init.zeros_(layer.bias)
    return net


def early_pooled_nin(n_features: Any, n_classes: int, blocks: int, width: int, dropout: float = 0.0) -> nn.Module:
    """Return a network in network with batch normalisation whose first convolution is pooled at once: maps of 8 x 8, then 4 x 4.

    Blocks of a 3 x 3 and two 1 x 1 convolutions, all `width` wide and normalised (as in the nets of Dziugaite and others, 2020); dropout once, after the last
    block; a 1 x 1 convolution to the classes and the mean over places.

    References
    ----------
    M. Lin, Q. Chen, S. Yan (2014). Network in network. ICLR.
    G. K. Dziugaite and others (2020). In search of robust measures of generalization. NeurIPS.

    Examples
    --------
    >>> early_pooled_nin((3, 32, 32), 10, blocks=3, width=8)(torch.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """
    layers: list[nn.Module] = []
    for block in range(blocks):
        for size in (3, 1, 1):
            stride, channels = 2 if size == 3 and block < 2 else 1, width if layers else n_features[0]
            pool = [] if layers else [nn.MaxPool2d(2)]
            layers.append(nn.Conv2d(channels, width, size, stride=stride, padding=size // 2, bias=False))
            layers += [*pool, nn.BatchNorm2d(width), nn.ReLU()]
    layers += [*([nn.Dropout(dropout)] if dropout else []), nn.Conv2d(width, n_classes, 1)]
    return initialise_he(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()))


def _as_mlp(n_features: Any, n_classes: int, depth: int, width: int, dropout: float = 0.0) -> nn.Module:
    return make_mlp(n_features, n_classes, depth=depth, width=width, dropout=dropout)


# the two or three levels of each axis: usual values that are far apart
HALF, DECAY, BATCHES, NOISE = (0.0, 0.5), (0.0, 1e-3), (64, 512), (0.0, 0.2, 0.4)
GRIDS = {
    grid.id: grid
    for grid in (
        ZooGrid(
            "cifar-vgg",
            early_pooled_vgg,
            {
                "blocks": (1, 3),
                "width": (32, 64),
                "dense": (1, 2),
                "dropout": HALF,
                "weight_decay": DECAY,
                "batch_size": BATCHES,
            },
            lr_by_batch={64: 0.005, 512: 0.02},
            data="cifar",
        ),
        ZooGrid(
            "fashion-vgg",
            early_pooled_vgg,
            {
                "blocks": (1, 3),
                "width": (32, 64),
                "dropout": HALF,
                "weight_decay": DECAY,
                "lr": (0.01, 0.03),
                "batch_size": BATCHES,
            },
            data="fashion",
        ),
        ZooGrid(
            "cifar-nin",
            early_pooled_nin,
            {
                "blocks": (2, 3),
                "width": (64, 128),
                "dropout": (0.0, 0.25),
                "weight_decay": DECAY,
                "batch_size": BATCHES,
                "lr": (0.03, 0.1),
            },
            halve_every=20,
            data="cifar",
        ),
        ZooGrid(
            "mnist-mlp",
            _as_mlp,
            {
                "depth": (1, 2, 3),
                "width": (64, 256),
                "dropout": (0.0, 0.2),
                "weight_decay": DECAY,
                "batch_size": (32, 256),
            },
            lr=0.02,
            data="mnist",
        ),
        ZooGrid(
            "fashion-mlp",
            _as_mlp,
            {
                "depth": (1, 2, 3),
                "width": (64, 256),
                "dropout": (0.0, 0.2),
                "weight_decay": DECAY,
                "batch_size": (32, 256),
            },
            lr=0.02,
            data="fashion",
        ),
        # from here on networks need not fit their labels: who ranks checkpoints cannot choose either
        ZooGrid(
            "cifar-noise",
            early_pooled_vgg,
            {
                "blocks": (2,),
                "width": (32, 64),
                "dropout": HALF,
                "augment": (False, True),
                "train_rows": (2500, 10_000),
                "label_noise": NOISE,
            },
            batch_size=128,
            epochs=40,
            accuracy=0.0,
            augment=flips_and_crops,
            halve_every=10,
            data="cifar",
        ),
        ZooGrid(
            "mnist-noise",
            early_pooled_vgg,
            {
                "blocks": (1,),
                "width": (8, 32),
                "dropout": HALF,
                "weight_decay": DECAY,
                "train_rows": (500, 2000),
                "label_noise": NOISE,
            },
            lr=0.01,
            epochs=80,
            accuracy=0.0,
            halve_every=20,
            data="mnist",
        ),
        ZooGrid(
            "fashion-noise",
            _as_mlp,
            {
                "depth": (1, 3),
                "width": (64, 256),
                "weight_decay": DECAY,
                "train_rows": (1000, 4000),
                "label_noise": NOISE,
            },
            epochs=80,
            accuracy=0.0,
            halve_every=20,
            data="fashion",
        ),
        ZooGrid(
            "letter-noise",
            _as_mlp,
            {
                "depth": (1, 3),
                "width": (32, 128),
                "dropout": (0.0, 0.2),
                "train_rows": (1000, 5000),
                "label_noise": NOISE,
            },
            lr=0.05,
            epochs=80,
            accuracy=0.0,
            halve_every=20,
            data="letter",
        ),
    )
}


def zoo_grid(grid: str | ZooGrid) -> ZooGrid:
    """Return a grid by name, or the grid itself."""
    if isinstance(grid, ZooGrid):
        return grid
    if grid not in GRIDS:
        raise UnknownName("zoo", grid, GRIDS, "A grid of your own is given as a `ZooGrid`, from Python.")
    return GRIDS[grid]
