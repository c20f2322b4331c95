"""The wire between this process and a model's process: length-prefixed JSON and npy frames, never a pickle."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.core.errors import InputError

__all__ = ["LARGEST_FRAME", "pack", "table_of", "table_parts", "unpack"]

# a broken length must not ask for all memory
LARGEST_FRAME = 4 << 30
_HEAD = struct.Struct("<cQ")


def pack(message: dict[str, Any], arrays: Sequence[Array] = (), blobs: Sequence[bytes] = ()) -> list[bytes]:
    """Return one message as byte strings to be written in turn: JSON first, then arrays, then raw bytes.

    Examples
    --------
    >>> stream = io.BytesIO(b"".join(pack({"do": "predict"}, [np.arange(3)])))
    >>> message, arrays, blobs = unpack(stream.read)
    >>> message["do"], arrays[0].tolist(), blobs
    ('predict', [0, 1, 2], [])
    """
    out: list[bytes] = []
    counts = {**message, "_arrays": len(arrays), "_blobs": len(blobs)}
    for kind, body in [
        (b"J", json.dumps(counts).encode()),
        *((b"A", _npy(a)) for a in arrays),
        *((b"B", b) for b in blobs),
    ]:
        out += [_HEAD.pack(kind, len(body)), body]
    return out


def unpack(read: Callable[[int], bytes]) -> tuple[dict[str, Any], list[Array], list[bytes]]:
    """Read one message; `read(n)` must return exactly n bytes, or fewer at the end of the stream (`EOFError`)."""
    message = json.loads(_frame(read, b"J"))
    arrays = [np.load(io.BytesIO(_frame(read, b"A")), allow_pickle=False) for _ in range(int(message.pop("_arrays")))]
    blobs = [_frame(read, b"B") for _ in range(int(message.pop("_blobs")))]
    return message, arrays, blobs


def _frame(read: Callable[[int], bytes], expected: bytes) -> bytes:
    head = read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError("the stream ended")
    kind, size = _HEAD.unpack(head)
    if kind != expected or size > LARGEST_FRAME:
        raise ValueError(f"unexpected frame {kind!r} of {size} bytes")
    body = read(size)
    if len(body) < size:
        raise EOFError("the stream ended within a frame")
    return body


def _npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def table_parts(X: Any) -> tuple[dict[str, Any], list[Array]]:
    """Take a feature table apart into plain arrays: dense, CSR, or a frame column by column."""
    if hasattr(X, "tocsr"):
        matrix = X.tocsr()
        return {"table": "csr", "shape": list(matrix.shape)}, [matrix.data, matrix.indices, matrix.indptr]
    if hasattr(X, "iloc"):
        arrays: list[Array] = []
        for k in range(X.shape[1]):
            arrays += _column(X.iloc[:, k])
        return {"table": "frame", "columns": [str(c) for c in X.columns]}, arrays
    array = np.asarray(X)
    if array.dtype.kind not in "fiub":
        raise InputError("a model file takes numbers, or a data frame whose columns are numbers or text.")
    return {"table": "dense"}, [array]


def _column(column: Any) -> list[Array]:
    """A column as values and the mask of what is missing in it."""
    values = np.asarray(column.to_numpy())
    missing = np.asarray(column.isna().to_numpy())
    if values.dtype.kind in "fiub":
        return [values, missing]
    if column.dtype.kind in "fiub" and not missing.any():
        return [values.astype(column.dtype.kind + "8" if column.dtype.kind != "b" else bool), missing]
    return [np.where(missing, "", values.astype(object)).astype(str), missing]


def table_of(message: dict[str, Any], arrays: list[Array]) -> Any:
    """Put a feature table together again."""
    if message["table"] == "dense":
        return arrays[0]
    if message["table"] == "csr":
        from scipy.sparse import csr_matrix

        return csr_matrix((arrays[0], arrays[1], arrays[2]), shape=tuple(message["shape"]))
    from pandas import DataFrame

    columns = {}
    for k, name in enumerate(message["columns"]):
        values, missing = arrays[2 * k], arrays[2 * k + 1]
        columns[name] = values if values.dtype.kind in "fiub" else np.where(missing, np.nan, values.astype(object))
    return DataFrame(columns)
