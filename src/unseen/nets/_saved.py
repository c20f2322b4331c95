"""Trained nets in files: safetensors with a JSON header, state dictionaries, never a pickled object."""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unseen.core.errors import InputError
from unseen.nets._weight_files import read_weights

__all__ = ["load_weights", "read_state"]

CHECKPOINT_KEYS = (
    "state_dict",
    "model_state_dict",
)  # where checkpoints of Lightning and of torch's tutorials keep the weights


def read_state(path: str | PathLike[str]) -> dict[str, Tensor]:
    """Return named weights from a safetensors file or a torch file that holds nothing but tensors."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    if file.suffix == ".safetensors":
        return read_weights(file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch wonders about pickles that are refused anyway
            state = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # what a damaged or hostile file makes torch raise is not foreseeable
        raise InputError(
            f"{str(path)!r} holds pickled objects or is no torch file, and pickles can run code when opened; it was not opened. "
            "Save the weights alone: safetensors.torch.save_file(module.state_dict(), 'net.safetensors'), or torch.save(module.state_dict(), 'net.pt')."
        ) from error
    for key in CHECKPOINT_KEYS:
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
            break
    if not isinstance(state, dict) or not state or not all(isinstance(v, Tensor) for v in state.values()):
        raise InputError(
            f"{str(path)!r} must hold a state dictionary (names to tensors); it holds a {type(state).__name__}."
        )
    return state


def load_weights(module: nn.Module, path: str | PathLike[str]) -> nn.Module:
    """Fill a module with weights from a file and return it, or say where they do not fit.

    Parameters
    ----------
    module : nn.Module
        Net of the right architecture.
    path : path
        A safetensors file, or a .pt file with a state dictionary; one with pickled objects is refused.

    Examples
    --------
    >>> import os, tempfile, unseen.nets as nets
    >>> a, b = nets.make_mlp(2, 2), nets.make_mlp(2, 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     torch.save(a.state_dict(), os.path.join(folder, "net.pt"))
    ...     b = nets.load_weights(b, os.path.join(folder, "net.pt"))
    >>> bool((a[0].weight == b[0].weight).all())
    True
    """
    return _filled(module, read_state(path), str(path))


def _filled(module: nn.Module, state: dict[str, Tensor], name: str) -> nn.Module:
    wanted = module.state_dict()
    state = _without_prefix(state, wanted)
    missing, extra = sorted(set(wanted) - set(state)), sorted(set(state) - set(wanted))
    if missing or extra:
        what = f"lack {missing[0]!r}" if missing else f"hold {extra[0]!r}, which the module has not"
        raise InputError(f"the weights in {name!r} do not fit the module: they {what}; give the module they came from.")
    for key, value in state.items():
        if value.shape != wanted[key].shape:
            raise InputError(
                f"the weights in {name!r} do not fit the module: {key!r} has shape {tuple(value.shape)} there and {tuple(wanted[key].shape)} in the module."
            )
    module.load_state_dict(state)
    return module


def _without_prefix(state: dict[str, Tensor], wanted: dict[str, Any]) -> dict[str, Tensor]:
    """Return the weights without a first name that a wrapper (DataParallel, a compiled or Lightning module) put before all of them."""
    first = next(iter(state)).partition(".")[0] + "."
    bare = {name.removeprefix(first): value for name, value in state.items() if name.startswith(first)}
    return bare if set(state) != set(wanted) and len(bare) == len(state) and set(bare) == set(wanted) else state
