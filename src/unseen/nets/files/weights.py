"""Weights in files: safetensors, read and written with numpy and torch alone, and state dictionaries of torch; nothing is unpickled."""

from __future__ import annotations

import json
import struct
import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unseen.core.errors import InputError

__all__ = ["load_weights", "read_metadata", "read_state", "read_weights", "write_weights"]


DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
MAX_HEADER = 100_000_000  # bytes; the limit of the safetensors format itself
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def write_weights(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """Write named tensors, and texts about them, as one safetensors file.

    The format is eight bytes with the length of a JSON header, the header (kind, shape and place of each tensor), then the raw numbers.

    Examples
    --------
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_weights(os.path.join(folder, "a.safetensors"), {"w": torch.arange(3.0)})
    ...     read_weights(os.path.join(folder, "a.safetensors"))["w"].tolist()
    [0.0, 1.0, 2.0]
    """
    header: dict[str, dict[str, object]] = {"__metadata__": dict(metadata)} if metadata else {}
    blocks: list[bytes] = []
    start = 0
    for name, tensor in tensors.items():
        flat = tensor.detach().cpu().contiguous()
        if flat.dtype not in NAMES:
            raise InputError(
                f"weights {name!r} are {flat.dtype}; a safetensors file holds {', '.join(map(str, NAMES))}."
            )
        raw = flat.reshape(-1).view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        header[name] = {
            "dtype": NAMES[flat.dtype],
            "shape": list(flat.shape),
            "data_offsets": [start, start + len(raw)],
        }
        blocks.append(raw)
        start += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    partial = Path(path).with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.writelines(blocks)
        partial.replace(path)  # a file under its own name is always whole
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from error


def read_metadata(path: str | PathLike[str]) -> dict[str, str]:
    """Return the texts that a safetensors file keeps beside its weights."""
    with _existing_file(path).open("rb") as file:
        try:
            (length,) = struct.unpack("<Q", file.read(8))
            size = Path(path).stat().st_size
            if length > min(MAX_HEADER, size - 8):
                raise ValueError(f"its header would be {length:,} bytes long, and the file has {size:,}")
            header = json.loads(file.read(length))
            return {str(k): str(v) for k, v in header.get("__metadata__", {}).items()}
        except (struct.error, ValueError, AttributeError) as error:
            raise InputError(f"{str(path)!r} is no readable safetensors file: {error}.") from error


def read_weights(path: str | PathLike[str]) -> dict[str, torch.Tensor]:
    """Read a safetensors file; nothing in it is ever executed."""
    raw = _existing_file(path).read_bytes()
    try:
        (length,) = struct.unpack("<Q", raw[:8])
        if length > min(MAX_HEADER, len(raw) - 8):
            raise ValueError(f"its header would be {length:,} bytes long, and the file has {len(raw):,}")
        header = json.loads(raw[8 : 8 + length])
        body = memoryview(bytearray(raw[8 + length :]))
        return {
            name: _tensor(body, entry["dtype"], entry["shape"], *entry["data_offsets"])
            for name, entry in header.items()
            if name != "__metadata__"
        }
    except (
        struct.error,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RuntimeError,
        OverflowError,
        MemoryError,
    ) as error:
        raise InputError(f"{str(path)!r} is no readable safetensors file: {error}.") from error


def _existing_file(path: str | PathLike[str]) -> Path:
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    return file


def _tensor(body: memoryview, kind: str, shape: list[int], start: int, stop: int) -> torch.Tensor:
    if kind not in DTYPES:
        raise ValueError(f"weights of kind {kind!r}; known are {', '.join(DTYPES)}")
    dtype = DTYPES[kind]
    if start == stop:
        if 0 not in shape:  # a few bytes must not ask for any amount of memory
            raise ValueError(f"weights of shape {shape} without numbers")
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(body[start:stop], dtype=dtype).reshape(shape)


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
    return fill_module(module, read_state(path), str(path))


def fill_module(module: nn.Module, state: dict[str, Tensor], name: str) -> nn.Module:
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
