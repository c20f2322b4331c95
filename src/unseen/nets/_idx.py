"""The IDX format of MNIST: four bytes of magic, the sizes, then the numbers, all big-endian; plain or gzip."""

from __future__ import annotations

import gzip
import struct
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError

__all__ = ["read_idx", "write_idx"]

KINDS = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
LARGEST = 1 << 33
PIECE = 1 << 24


def read_idx(path: str | PathLike[str]) -> Any:
    """Return the array in an IDX file.

    References
    ----------
    LeCun, Y., Cortes, C. and Burges, C. J. C. The MNIST database of handwritten digits (description of the file format).

    Examples
    --------
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_idx(os.path.join(folder, "a.gz"), np.arange(6, dtype=np.uint8).reshape(2, 3))
    ...     read_idx(os.path.join(folder, "a.gz")).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    place = Path(path)
    try:
        with place.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
        with gzip.open(place) if zipped else place.open("rb") as file:
            return _decoded(file, str(path))
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{str(path)!r} is damaged or was cut short: {error}.") from error


def _decoded(file: Any, name: str) -> Any:
    head = file.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in KINDS or head[3] == 0:
        raise InputError(
            f"{name!r} is no IDX file: it begins with {head.hex(' ') or 'nothing'} instead of 00 00, a kind and a number of sizes."
        )
    sizes = file.read(4 * head[3])
    if len(sizes) < 4 * head[3]:
        raise InputError(f"{name!r} was cut short within its sizes.")
    shape = struct.unpack(f">{head[3]}I", sizes)
    kind = np.dtype(KINDS[head[2]])
    wanted = int(np.prod(shape, dtype=object)) * kind.itemsize
    if wanted > LARGEST:
        raise InputError(f"{name!r} announces {wanted >> 20} MiB; at most {LARGEST >> 20} MiB are read.")
    content = _exactly(file, wanted)
    if len(content) < wanted:
        raise InputError(f"{name!r} was cut short: {wanted} bytes of numbers are announced, {len(content)} are there.")
    if file.read(1):
        raise InputError(f"{name!r} holds more than the {wanted} bytes of numbers it announces.")
    values = np.frombuffer(content, dtype=kind).reshape(shape)
    return values.astype(kind.newbyteorder("="))


def _exactly(file: Any, wanted: int) -> bytes:
    """Read so many bytes or all there are, piece by piece, so that a header's promise alone reserves no memory."""
    parts, left = [], wanted
    while left > 0:
        piece = file.read(min(left, PIECE))
        if not piece:
            break
        parts.append(piece)
        left -= len(piece)
    return b"".join(parts)


def write_idx(path: str | PathLike[str], values: Any) -> None:
    """Write an array as IDX, compressed where the name ends in .gz."""
    values = np.asarray(values)
    codes = {np.dtype(kind).newbyteorder("="): code for code, kind in KINDS.items()}
    if values.dtype not in codes or values.ndim < 1:
        raise InputError(
            f"IDX holds bytes, short and long whole numbers and floats in at least one dimension; got {values.dtype}."
        )
    code = codes[values.dtype]
    content = bytes([0, 0, code, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    content += values.astype(KINDS[code]).tobytes()
    Path(path).write_bytes(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)
