"""Tiny trained networks for examples and tests: stripes, checks and blobs on 8 x 8 pixels."""

from __future__ import annotations

import copy
from functools import cache

import torch
from torch import nn

from unseen.core.errors import UnknownName
from unseen.nets.modules.device import limited_torch
from unseen.nets.modules.net import Copy80, Net

__all__ = ["sample_net"]


def _images(n: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Noisy vertical stripes, checks and bright corners: classes that a small network can learn and augmentation can hurt."""
    y = torch.arange(n) % 3
    i, j = torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")
    patterns = torch.stack([(j % 4 < 2), ((i // 2 + j // 2) % 2 == 0), (i < 4) & (j < 4)]).float()
    X = 0.25 + 0.5 * patterns[y][:, None] + 0.2 * torch.randn(n, 1, 8, 8, generator=generator)
    return X.clamp(0, 1), y


def _conv() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(32, 3),
    )


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 12), nn.Tanh(), nn.Linear(12, 3))


MAKERS = {"conv": _conv, "mlp": _mlp, "vector": _mlp}


def _train(module: nn.Module, X: torch.Tensor, y: torch.Tensor, epochs: int) -> float:
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    module.train()
    for _ in range(epochs):
        optimizer.zero_grad()
        nn.functional.cross_entropy(module(X), y).backward()
        optimizer.step()
    optimizer.zero_grad()
    module.eval()
    with torch.no_grad():
        return float(nn.functional.cross_entropy(module(X), y))


def sample_net(kind: str = "conv", seed: int = 0, epochs: int = 30) -> Net:
    """Return a tiny network trained on 48 made-up images of 8 x 8 pixels in three classes, in a fraction of a second.

    Parameters
    ----------
    kind : str
        "conv" (two convolutions), "mlp" (three dense layers on images), or "vector" (the same on plain vectors).
    seed : int
        Of the images and of the weights.
    epochs : int
        Passes over the data.

    Returns
    -------
    Net
        With initial weights, hyper-parameters and a copy trained on 38 of the 48 images.

    Examples
    --------
    >>> sample_net("mlp").training_accuracy()
    1.0
    """
    if kind not in MAKERS:
        raise UnknownName("kind of sample network", kind, MAKERS)
    return _fresh(_train_sample(kind, seed, epochs))


def _fresh(net: Net) -> Net:
    return copy.deepcopy(net)


@limited_torch()
@cache
def _train_sample(kind: str, seed: int, epochs: int) -> Net:
    generator = torch.Generator().manual_seed(seed)
    X, y = _images(48, generator)
    X = X.flatten(1) if kind == "vector" else X
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = MAKERS[kind]()
        initial = {k: v.clone() for k, v in module.state_dict().items()}
        loss = _train(module, X, y, epochs)
        other = MAKERS[kind]()
        other.load_state_dict(initial)
        _train(other, X[:38], y[:38], epochs)
    hyper = {"kind": kind, "epochs": epochs}
    copy80 = Copy80(other, torch.arange(38, 48))
    return Net(module, X, y, initial=initial, hyper=hyper, copy80=copy80, epochs=epochs, train_loss=loss)
