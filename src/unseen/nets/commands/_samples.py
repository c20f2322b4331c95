"""Samples of a net's posterior that a user made, read for `unseen nets estimate --samples`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unseen.core.errors import InputError

__all__ = ["own_samples"]

WEIGHTS = (".safetensors", ".pt", ".pth", ".ckpt")


def own_samples(path: Path, net: Any, device: str) -> Any:
    """Return the posterior in a file of logits (samples, rows, classes), or in a folder with one file of weights per sample."""
    from unseen.nets import Posterior
    from unseen.nets.files.weights import read_state
    from unseen.nets.modules.logits import inner_module

    if not path.exists():
        raise InputError(f"there is no file or folder {str(path)!r}.")
    if path.is_file():
        return Posterior.from_logits(_logits(path))
    files = sorted(file for file in path.iterdir() if file.suffix in WEIGHTS)
    if not files:
        raise InputError(f"{str(path)!r} holds no files of weights ({', '.join(WEIGHTS)}); one per sample is needed.")
    module: Any = inner_module(net)
    return Posterior.from_states(module, [read_state(file) for file in files], device)


def _logits(path: Path) -> Any:
    from unseen.nets.files.examples import open_arrays

    with open_arrays(path, "an NPY or NPZ file of logits (samples, rows, classes)") as held:
        if not hasattr(held, "files"):
            return held
        names = [name for name in held.files if name == "logits"] or held.files
        if len(names) != 1:
            raise InputError(f"{str(path)!r} holds {', '.join(held.files)}; one array called logits is needed.")
        return held[names[0]]
