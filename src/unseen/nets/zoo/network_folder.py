"""Networks in a folder: a zoo, or a manifest that names for each network its architecture and its file of weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError, UnknownName
from unseen.nets.files.examples import open_arrays, read_examples
from unseen.nets.files.weights import read_weights
from unseen.nets.modules import architectures
from unseen.nets.modules.device import device_of
from unseen.nets.modules.net import Net
from unseen.nets.training.initial_weights import maker_of
from unseen.nets.zoo.zoo import Zoo

__all__ = ["read_networks", "read_zoo_data"]

MAKERS = [name for name in architectures.__all__ if name.startswith("make_")]


def read_networks(
    folder: str | PathLike[str],
    data: str | PathLike[str],
    *,
    make: Callable[..., torch.nn.Module] | None = None,
    only: Sequence[str] = (),
    device: Any = "cpu",
) -> dict[str, Net]:
    """Read networks and their training data from files, ready to be ranked.

    Parameters
    ----------
    folder : path
        Holds `manifest.json`: of a zoo (`Zoo.train`), or ``{"networks": {"a": {"weights": "a.safetensors", "make": "make_vgg", "options": {"blocks": 3}}, ...},
        "value_range": [0, 1]}``. Weights are safetensors files beside it; nothing in them is executed.
    data : path
        Training data: NPZ with X and y (or X_train and y_train), or a folder of images, see `read_examples`. A zoo needs the very images it was trained on.
    make : callable, optional
        Makes the untrained network if the manifest names no architecture of this package.
    only : sequence of str
        Names of the networks wanted; all by default.
    device : str
        Where networks and data go.

    Returns
    -------
    dict of str to Net
    """
    root = Path(folder)
    try:
        manifest = json.loads((root / "manifest.json").read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"{str(root)!r} holds no readable manifest.json: {error}.") from error
    if not isinstance(manifest, dict):
        raise InputError(
            f"the manifest in {str(root)!r} is a {type(manifest).__name__}; it must be an object with networks."
        )
    if "grid" in manifest:
        zoo = Zoo.load(root, read_zoo_data(data))
        names = _select([net.name for net in zoo.nets], only)
        return {name: zoo.net(name, device) for name in names}
    if not isinstance(manifest.get("networks"), dict):
        raise InputError(
            f"the manifest in {str(root)!r} has neither a grid nor networks; see `unseen.nets.rank`'s page for its form."
        )
    examples = read_examples(data)
    where = device_of(device)
    X = torch.as_tensor(examples.X).to(where)
    y = torch.as_tensor(np.searchsorted(np.asarray(examples.classes), examples.y)).to(where)
    ends = manifest.get("value_range", (0.0, 1.0))
    if not isinstance(ends, (list, tuple)) or len(ends) != 2:
        raise InputError(
            f"value_range of the manifest is {ends!r}; give the values of black and white, such as [0, 1]."
        )
    return {
        name: Net(
            _module(root, name, manifest["networks"][name], make, X, len(examples.classes)).to(where),
            X,
            y,
            value_range=tuple(ends),
        )
        for name in _select(list(manifest["networks"]), only)
    }


def read_zoo_data(path: str | PathLike[str]) -> dict[str, np.ndarray]:
    """Read the raw arrays of a zoo from an NPZ file with X_train, y_train and, if gaps are wanted, X_test and y_test."""
    with open_arrays(path) as file:
        if not hasattr(file, "files"):
            raise InputError(f"{str(path)!r} holds one array; an NPZ file with X_train and y_train is needed.")
        found = {name: file[name] for name in file.files}
    renamed = {"X": "X_train", "x": "X_train", "y": "y_train", "x_train": "X_train", "x_test": "X_test"}
    return {renamed.get(name, name): values for name, values in found.items()}


def _select(names: list[str], only: Sequence[str]) -> list[str]:
    for name in only:
        if name not in names:
            raise UnknownName("network", name, names)
    return list(only) or names


def _module(root: Path, name: str, entry: Any, make: Any, X: torch.Tensor, n_classes: int) -> torch.nn.Module:
    if not isinstance(entry, dict) or not isinstance(entry.get("weights"), str):
        raise InputError(f"network {name!r} of the manifest names no file of weights.")
    file = (root / entry["weights"]).resolve()
    if not file.is_relative_to(root.resolve()):
        raise InputError(
            f"network {name!r}: weights must lie in the folder of the manifest; {entry['weights']!r} does not."
        )
    if "make" in entry:
        if entry["make"] not in MAKERS:
            raise UnknownName("architecture", entry["make"], MAKERS, "Others need a function of your own.")
        factory, options = getattr(architectures, entry["make"]), entry.get("options", {})
        shape = int(X.shape[1]) if X.ndim == 2 else tuple(X.shape[1:])
        if not isinstance(options, dict):
            raise InputError(f'network {name!r}: options is {options!r}; give an object such as {{"width": 32}}.')
        try:
            module = factory(n_features=shape, n_classes=n_classes, **options)
        except (TypeError, ValueError, RuntimeError) as error:
            raise InputError(f"network {name!r}: {entry['make']} cannot be made with {options!r}: {error}.") from error
    elif make is not None:
        module = maker_of(make, tuple(X.shape[1:]), n_classes)()
    else:
        raise InputError(f"network {name!r} names no architecture; give a function that makes it.")
    state = read_weights(file)
    try:
        module.load_state_dict({k: v.float() if v.is_floating_point() else v for k, v in state.items()})
    except RuntimeError as error:
        raise InputError(
            f"the weights of {name!r} do not fit its architecture: {str(error).splitlines()[-1].strip()}"
        ) from error
    return module.eval()
