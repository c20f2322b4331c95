"""Data in a file that all workers map into memory, or read themselves, instead of a copy for each of them."""

from __future__ import annotations

import logging
import mmap
import os
import pickle
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.datasets.parquet import release_memory
from unseen.datasets.read import Origin, origin_of

__all__ = ["FOLDER", "DataByPath", "SharedData", "share_data", "sharing"]

log = logging.getLogger("unseen")

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
        return cls(str(path), _write_parts(data, path))

    def read(self) -> Data:
        """Return the data; their arrays are read-only, and those of one file are mapped once per process."""
        data: Data = _map_file(self.path, self.sizes)
        return data


@dataclass(frozen=True)
class DataByPath:
    """A sample whose features every worker reads from a path that it reaches too; all else of it travels.

    Parameters
    ----------
    rest : Data
        The sample without its features.
    origin : Origin
        Where and how they are read, and the fingerprint of what should be found there.
    """

    rest: Data
    origin: Origin

    def read(self) -> Data:
        """Return the sample; the features are read once per process and lie in a file that is mapped into memory."""
        return self._whole

    @cached_property
    def _whole(self) -> Data:
        return replace(self.rest, X=_map_features(self.origin))


@lru_cache(maxsize=KEPT)
def _map_features(origin: Origin) -> Any:
    """Read features, check that they are the driver's, and put them where the system may drop them from memory and fetch them again."""
    try:
        data = origin.read()
    except InputError as error:
        raise InputError(
            f"the worker on {platform.node()} cannot read {origin.path}: {error} Put it at one path that the driver and all workers reach."
        ) from error
    if data.fingerprint != origin.fingerprint:
        raise _differs(origin, f"on {platform.node()}")
    X = data.X
    del data
    # removed at once: the mapped file lasts as long as the process, however that ends (Windows keeps it)
    with tempfile.TemporaryDirectory(prefix="unseen-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "features"
        sizes = _write_parts(X, path)
        del X
        release_memory()
        return _map_parts(path, sizes)


def _differs(origin: Origin, where: str) -> InputError:
    return InputError(
        f"the worker {where} finds another table at {origin.path} than the driver; the driver and all workers must reach the same files at this path."
    )


def _write_parts(thing: Any, path: Path) -> tuple[int, ...]:
    """Write a pickle and after it the arrays that it leaves out; return the bytes of each."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
    parts = [memoryview(head), *(a.raw() for a in arrays)]
    with path.open("xb") as file:
        for part in parts:
            file.write(part)
            file.write(bytes(-len(part) % ALIGNED))
    return tuple(len(p) for p in parts)


def _map_parts(path: Path, sizes: tuple[int, ...]) -> Any:
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    parts, at = [], 0
    for size in sizes:
        parts.append(whole[at : at + size])
        at += size + -size % ALIGNED
    return pickle.loads(parts[0], buffers=parts[1:])


@lru_cache(maxsize=KEPT)
def _map_file(path: str, sizes: tuple[int, ...]) -> Any:
    try:
        return _map_parts(Path(path), sizes)
    except OSError as error:
        raise InputError(
            f"this worker cannot open {path}; {FOLDER} must name a folder that the driver and all workers reach at the same path."
        ) from error


@dataclass
class _Shelf:
    """What one call shares: each sample is written once, or looked for at its path once, however many runs it has."""

    folder: Path | None
    written: dict[int, tuple[Data, SharedData]] = field(default_factory=dict)
    found: dict[Origin, bool] = field(default_factory=dict)


_shelf: ContextVar[_Shelf | None] = ContextVar("unseen_shared_data", default=None)


@contextmanager
def sharing(local: bool) -> Iterator[None]:
    """Share data by files while this lasts: with workers of this machine always, with others if `UNSEEN_SHARED_FOLDER` names a folder."""
    place = os.environ.get(FOLDER) or (tempfile.gettempdir() if local else None)
    if place is None:
        with _shelved(_Shelf(None)):
            yield
        return
    if not Path(place).is_dir():
        raise InputError(f"{FOLDER} is {place!r}, which is no folder; name one that all workers reach, or unset it.")
    with tempfile.TemporaryDirectory(prefix="unseen-", dir=place) as folder, _shelved(_Shelf(Path(folder))):
        yield


@contextmanager
def _shelved(shelf: _Shelf) -> Iterator[None]:
    token = _shelf.set(shelf)
    try:
        yield
    finally:
        _shelf.reset(token)


def share_data(data: Data, client: Any = None) -> Data | SharedData | DataByPath:
    """Return a file with the data, or the path they came from, if the workers of a dask client reach it and it is worth it; else the data."""
    shelf = _shelf.get()
    if shelf is None or _size(data.X) < SMALLEST:
        return data
    if shelf.folder is not None:
        if id(data) not in shelf.written:
            path = shelf.folder / f"{len(shelf.written)}.data"
            shelf.written[id(data)] = (data, SharedData.write(data, path))
        return shelf.written[id(data)][1]
    origin = origin_of(data.X)
    if client is None or origin is None:
        return data
    if origin not in shelf.found:
        shelf.found[origin] = _is_reached(origin, client)
    return DataByPath(data.without_features(), origin) if shelf.found[origin] else data


def _is_reached(origin: Origin, client: Any) -> bool:
    """Say whether all workers reach the path; if only some do, or find other files there, the call is refused before any fit."""
    own, answers = origin.sizes(), client.run(origin.sizes, on_error="return")
    # a worker that cannot even look says why when it runs a chunk
    seen = {worker: answer for worker, answer in answers.items() if not isinstance(answer, Exception)}
    if not any(seen.values()):
        log.warning(
            "no worker reaches %s, so the data are sent; at a path that all reach, each would read them itself.",
            origin.path,
        )
        return False
    for worker, sizes in seen.items():
        if not sizes:
            raise InputError(
                f"the worker {worker} does not reach {origin.path}, and others do; put it at one path that the driver and all workers reach."
            )
        if sizes != own:
            raise _differs(origin, worker)
    return True


def _size(X: Any) -> int:
    """Return about how many bytes features have."""
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False).sum())
    return int(getattr(getattr(X, "data", X), "nbytes", 0))
