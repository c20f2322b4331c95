"""Small images as text that JSON can hold: one byte a value, compressed."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.core.errors import InputError

__all__ = ["packed", "unpacked"]

MOST_BYTES = 50_000_000  # a text of a few bytes must not fill the memory


def packed(images: NDArray[np.float64]) -> dict[str, Any]:
    """Return an array of values between 0 and 1, rounded to bytes, as its shape and a text.

    Examples
    --------
    >>> held = packed(np.array([[0.0, 0.5, 1.0]]))
    >>> held["shape"], (255 * unpacked(held)).round().tolist()
    ([1, 3], [[0.0, 128.0, 255.0]])
    """
    values = np.round(255 * np.clip(images, 0, 1)).astype(np.uint8)
    return {
        "shape": list(values.shape),
        "bytes": base64.b64encode(zlib.compress(values.tobytes(), 9)).decode("ascii"),
    }


def unpacked(held: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the array that `packed` was given, to the byte; never more than its shape says.

    Examples
    --------
    >>> unpacked({"shape": [10**9], "bytes": ""})
    Traceback (most recent call last):
    ...
    unseen.core.errors.InputError: images of shape [1000000000] are not what a record holds.
    """
    shape = held["shape"]
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n <= MOST_BYTES for n in shape):
        raise InputError(f"images of shape {shape!r} are not what a record holds.")
    size = math.prod(shape)
    if size > MOST_BYTES:
        raise InputError(f"images of shape {shape!r} are not what a record holds.")
    try:
        raw = zlib.decompressobj().decompress(base64.b64decode(held["bytes"], validate=True), size + 1)
    except (zlib.error, ValueError) as error:
        raise InputError(f"the images of the record are damaged: {error}.") from error
    if len(raw) != size:
        raise InputError(f"the images of the record are damaged: shape {shape!r} does not fit them.")
    return np.frombuffer(raw, np.uint8).reshape(shape).astype(float) / 255
