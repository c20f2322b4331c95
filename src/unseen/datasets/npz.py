"""Arrays in an npz archive; nothing in it is unpickled."""

from __future__ import annotations

import zipfile
import zlib
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.core.errors import InputError, UnknownName
from unseen.core.unpacking import check_archive
from unseen.datasets.source import SourceFile

__all__ = ["FEATURES", "TARGETS", "read_npz"]

FEATURES = ("X", "x", "data", "features")
TARGETS = ("y", "Y", "target", "labels", "label")
# what numpy and zipfile raise for damaged archives and headers, and for arrays that do not fit into memory
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    ValueError,
    EOFError,
    KeyError,
    NotImplementedError,
    MemoryError,
    OverflowError,
    SyntaxError,
    RuntimeError,
    TypeError,
)


def read_npz(source: SourceFile, target: str | None) -> tuple[dict[str, Array], str, str]:
    """Return the arrays of an archive, the name of the features and of the target.

    Features are the array X (or x, data, features), of two or more dimensions. The target is the array named, or y (or Y,
    target, labels, label).
    """
    try:
        with source.seekable() as file, np.load(file, allow_pickle=False) as archive:
            check_archive(archive, source.path)
            arrays = {name: archive[name] for name in archive.files}
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(_reason(source, error)) from error
    features = _first_present(arrays, FEATURES, source, "features")
    name = target if target is not None else _first_present(arrays, TARGETS, source, "the target")
    if name not in arrays:
        raise UnknownName("target array", name, arrays, f"The file is {str(source.path)!r}.")
    if name == features:
        raise InputError(f"the target and the features are both the array {name!r}; give another target.")
    return arrays, features, name


def _reason(source: SourceFile, error: Exception) -> str:
    reason = " ".join(str(error).split()) or type(error).__name__
    if "allow_pickle" in reason or "Object arrays" in reason:
        reason = "it holds pickled objects, which are never read; save plain arrays of numbers or text"
    return f"the file {str(source.path)!r} cannot be read as an npz archive of arrays: {reason.rstrip('.')}."


def _first_present(arrays: dict[str, Any], wanted: tuple[str, ...], source: SourceFile, what: str) -> str:
    for name in wanted:
        if name in arrays:
            return name
    held = ", ".join(sorted(arrays)[:10]) or "nothing"
    raise InputError(f"{str(source.path)!r} has no array for {what} ({', '.join(wanted)}); it holds {held}.")
