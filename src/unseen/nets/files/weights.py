"""Weights in safetensors files, read and written with numpy and torch alone; nothing in them is executed."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import torch

from unseen.core.errors import InputError

__all__ = ["read_metadata", "read_weights", "write_weights"]


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
