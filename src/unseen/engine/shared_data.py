"""Data in a file that all workers map into memory, instead of a copy for each of them."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from unseen.core.data import Data
from unseen.core.errors import InputError

__all__ = ["FOLDER", "SharedData", "share_data", "sharing"]

FOLDER = "UNSEEN_SHARED_FOLDER"  # a folder that this machine and all workers of a cluster reach at the same path
SMALLEST = 1_000_000  # bytes; less is sent as quickly as a file is opened
ALIGNED = 64  # bytes: where arrays may begin
KEPT = 2  # files that a worker keeps open: the data, and those of the baseline


@dataclass(frozen=True)
class SharedData:
    """Where the data of a run lie: a pickle, and after it the arrays that it leaves out, which stay on disk until they are touched.

    Parameters
    ----------
    path : str
        The file; only the process that runs the fits writes it.
    sizes : tuple of int
        Bytes of the pickle and of each array.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> data = unseen.datasets.load("iris")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shared = SharedData.write(data, Path(folder) / "data")
    ...     bool(np.array_equal(shared.read().X, data.X)), shared.read().X.flags.writeable
    (True, False)
    """

    path: str
    sizes: tuple[int, ...]

    @classmethod
    def write(cls, data: Data, path: Path) -> SharedData:
        """Write data to a new file."""
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps(data, protocol=5, buffer_callback=arrays.append)
        parts = [memoryview(head), *(a.raw() for a in arrays)]
        with path.open("xb") as file:
            for part in parts:
                file.write(part)
                file.write(bytes(-len(part) % ALIGNED))
        return cls(str(path), tuple(len(p) for p in parts))

    def read(self) -> Data:
        """Return the data; their arrays are read-only, and those of one file are mapped once per process."""
        return _map_file(self.path, self.sizes)


@lru_cache(maxsize=KEPT)
def _map_file(path: str, sizes: tuple[int, ...]) -> Data:
    try:
        with Path(path).open("rb") as file:
            whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise InputError(
            f"this worker cannot open {path}; {FOLDER} must name a folder that the driver and all workers reach at the same path."
        ) from error
    parts, at = [], 0
    for size in sizes:
        parts.append(whole[at : at + size])
        at += size + -size % ALIGNED
    data: Data = pickle.loads(parts[0], buffers=parts[1:])
    return data


@dataclass
class _Shelf:
    """Files of one call: each sample is written once, however many runs it has."""

    folder: Path
    written: dict[int, tuple[Data, SharedData]] = field(default_factory=dict)


_shelf: ContextVar[_Shelf | None] = ContextVar("unseen_shared_data", default=None)


@contextmanager
def sharing(local: bool) -> Iterator[None]:
    """Share data by files while this lasts: with workers of this machine always, with others if `UNSEEN_SHARED_FOLDER` names a folder."""
    place = os.environ.get(FOLDER) or (tempfile.gettempdir() if local else None)
    if place is None:
        yield
        return
    if not Path(place).is_dir():
        raise InputError(f"{FOLDER} is {place!r}, which is no folder; name one that all workers reach, or unset it.")
    with tempfile.TemporaryDirectory(prefix="unseen-", dir=place) as folder:
        token = _shelf.set(_Shelf(Path(folder)))
        try:
            yield
        finally:
            _shelf.reset(token)


def share_data(data: Data) -> Data | SharedData:
    """Return a file with the data if workers can open one and it is worth it, else the data themselves."""
    shelf = _shelf.get()
    if shelf is None or _size(data.X) < SMALLEST:
        return data
    if id(data) not in shelf.written:
        path = shelf.folder / f"{len(shelf.written)}.data"
        shelf.written[id(data)] = (data, SharedData.write(data, path))
    return shelf.written[id(data)][1]


def _size(X: Any) -> int:
    """Return about how many bytes features have."""
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False).sum())
    return int(getattr(getattr(X, "data", X), "nbytes", 0))
