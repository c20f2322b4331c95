"""A module made ready for training: dropout that draws from the net's own stream."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from unseen.nets.training.draws import derive, keep_mask

__all__ = ["SeededDropout", "dropout_keys", "dropouts_of", "key_of_use", "norms_of", "with_seeded_dropout"]

WHOLE_CHANNELS = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class SeededDropout(nn.Module):
    """Dropout whose mask is a function of a key for net, step and layer (Srivastava et al., 2014, JMLR 15:1929).

    Parameters
    ----------
    rate : float
        Share of units set to zero while training.
    layer : int
        Number of the layer, so that two layers of a net draw different masks.
    whole_channels : bool
        Drop channels as a whole, as `nn.Dropout2d` does.
    """

    def __init__(self, rate: float, layer: int, whole_channels: bool = False) -> None:
        super().__init__()
        self.layer = layer
        self.uses = 0
        self.whole_channels = whole_channels
        self.register_buffer("rate", torch.tensor(float(rate), dtype=torch.float64), persistent=False)
        self.register_buffer("key", torch.tensor(0, dtype=torch.int64), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return x with units dropped and the rest scaled up; x itself in evaluation mode."""
        if not self.training:
            return x
        self.uses += 1
        return x * self.scale(key_of_use(self.key, self.uses), self.rate, x.shape, x.dtype)

    def scale(self, key: Tensor, rate: Tensor, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the factors 0 or 1 / (1 - rate); keys of shape (S,) give factors (S, *shape)."""
        drawn = tuple(shape[:2]) if self.whole_channels else tuple(shape)
        kept = keep_mask(key, rate, drawn, dtype)
        kept = kept.reshape(*kept.shape, *([1] * (len(shape) - len(drawn))))
        gain = torch.where(rate < 1, 1 / (1 - rate), 0.0).to(dtype)
        return kept * gain.reshape(*gain.shape, *([1] * len(shape)))


def key_of_use(key: Tensor, use: int) -> Tensor:
    """Return the key of a layer's first, second, ... use in one pass: each place draws a mask of its own."""
    return key if use == 1 else derive(key, use)


def _begin_pass(module: nn.Module, args: object) -> None:
    for _, layer in dropouts_of(module):
        layer.uses = 0


def with_seeded_dropout(module: nn.Module) -> nn.Module:
    """Return a copy whose dropout layers draw from the net's own stream."""
    module = copy.deepcopy(module)
    named = module.named_modules(remove_duplicate=False)  # one layer may stand in several places
    found = [(path, layer) for path, layer in named if isinstance(layer, (nn.Dropout, *WHOLE_CHANNELS))]
    for number, (path, layer) in enumerate(found):
        seeded = SeededDropout(layer.p, number, isinstance(layer, WHOLE_CHANNELS))
        if not path:
            return seeded
        parent, _, name = path.rpartition(".")
        setattr(module.get_submodule(parent), name, seeded)
    module.register_forward_pre_hook(_begin_pass)
    return module


def dropout_keys(keys: Tensor, epoch: int, n_batches: int, layers: int) -> Tensor:
    """Return the keys (layers, batches, S) of an epoch's dropout masks."""
    steps = torch.arange(n_batches, device=keys.device)[:, None]
    numbers = torch.arange(1, layers + 1, device=keys.device)[:, None, None]
    return derive(derive(derive(keys, epoch), steps), numbers)


def dropouts_of(module: nn.Module) -> Iterator[tuple[str, SeededDropout]]:
    """Yield paths and layers of seeded dropout."""
    yield from ((path, layer) for path, layer in module.named_modules() if isinstance(layer, SeededDropout))


def norms_of(module: nn.Module) -> list[str]:
    """Return the paths of batch normalisation layers."""
    return [path for path, layer in module.named_modules() if isinstance(layer, nn.modules.batchnorm._BatchNorm)]
