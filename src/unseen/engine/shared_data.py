"""Data in a file that workers map into memory, instead of a copy for each of them: written by the driver, sent in pieces, or filled from Parquet."""

from __future__ import annotations

import logging
import mmap
import os
import pickle
import platform
import tempfile
import threading
import uuid
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

import numpy as np

from unseen.core.arrays import Array, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.datasets.conversion import mark_of
from unseen.datasets.parquet import read_columns, release_memory, rows_of
from unseen.datasets.read import Origin, origin_of

__all__ = [
    "FOLDER",
    "DataByPath",
    "DataInPieces",
    "FrameForm",
    "MappedData",
    "Piece",
    "SharedData",
    "share_data",
    "sharing",
]

log = logging.getLogger("unseen")

FOLDER = "UNSEEN_SHARED_FOLDER"  # a folder that this machine and all workers of a cluster reach at the same path
SMALLEST = 1_000_000  # bytes; less is sent as quickly as a file is opened
ALIGNED = 64  # bytes: where arrays may begin
KEPT = 2  # files that a worker keeps open: the data, and those of the baseline
STRIP = 1 << 25  # bytes of a mapped file that are looked at before its pages are given back
PIECE = 1 << 24  # bytes that travel at once; what a worker holds of them is in a file before the next comes
# what a file raises whose columns are not those that the driver has
NOT_THESE = (InputError, OSError, ValueError, TypeError, KeyError, AttributeError)


@dataclass(frozen=True, eq=False)
class MappedData(Data):
    """A sample that lies in a mapped file: rows are copied a strip at a time, and the pages they came from are given back.

    So a process that fits holds its training rows and hardly any of the file; the system fetches pages again when they
    are needed.

    Parameters
    ----------
    pages : mmap
        The file. The other parameters are those of `Data`.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> data = unseen.datasets.load("iris")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mapped = SharedData.write(data, Path(folder) / "data").read()
    ...     type(mapped).__name__, type(mapped.take(np.arange(3))).__name__
    ('MappedData', 'Data')
    """

    _: KW_ONLY
    pages: mmap.mmap

    @classmethod
    def of(cls, data: Data, pages: mmap.mmap) -> MappedData:
        """Return a sample whose arrays lie in `pages`."""
        return cls(**{f.name: getattr(data, f.name) for f in fields(Data)}, pages=pages)

    @cached_property
    def _rest(self) -> Data:
        return Data(**{f.name: getattr(self, f.name) for f in fields(Data)}).without_features()

    def features(self, indices: Ints) -> Any:
        """Return the features of the rows at `indices`, in memory."""
        if len(self.pages) <= STRIP or not hasattr(self.pages, "madvise"):
            return super().features(indices)
        rows, visit = np.asarray(indices), _Visit(self.pages, len(indices))
        if hasattr(self.X, "iloc"):
            return _rows_of_frame(self.X, rows, visit)
        if isinstance(self.X, np.ndarray) and self.X.flags.c_contiguous:
            return _rows_of_array(self.X, rows, visit)
        taken = self.X[rows]
        visit.leave(_size(self.X))
        return taken

    def take(self, indices: Ints) -> Data:
        """Return the rows at `indices`, in memory."""
        return replace(self._rest.take(indices), X=self.features(indices))


class _Visit:
    """Counts what is touched of a mapped file while rows are copied, and gives its pages back before they are many."""

    def __init__(self, pages: mmap.mmap, n_rows: int) -> None:
        self.pages, self.most, self.touched = pages, n_rows * mmap.PAGESIZE, 0

    def leave(self, size: int) -> None:
        """Note that so many bytes were passed over; of each column, a row touches one page at most."""
        self.touched += min(size, self.most)
        if self.touched >= STRIP:
            _give_back(self.pages)
            self.touched = 0


def _give_back(pages: mmap.mmap) -> None:
    """Take a mapped file out of this process's memory; the system keeps it, as long as there is room."""
    if hasattr(pages, "madvise"):
        pages.madvise(mmap.MADV_DONTNEED)


def _rows_of_array(X: Array, rows: Ints, visit: _Visit) -> Array:
    """Return `X[rows]`."""
    out = np.empty((len(rows), X.shape[1]), X.dtype)
    width = max(mmap.PAGESIZE, X.shape[1] * X.itemsize)
    step = max(1, STRIP // width)
    for k in range(0, len(rows), step):
        np.take(X, rows[k : k + step], axis=0, out=out[k : k + step], mode="clip")
        visit.leave(step * width)
    return out


def _rows_of_frame(X: Any, rows: Ints, visit: _Visit) -> Any:
    """Return `X.iloc[rows]`: one block if the columns are of one kind, else a column after the other."""
    import pandas as pd

    index = X.index[rows]
    kinds = set(X.dtypes)
    kind = next(iter(kinds))
    if len(kinds) == 1 and isinstance(kind, np.dtype) and kind.kind != "O":
        block = np.empty((X.shape[1], len(rows)), kind)
        step = max(1, STRIP // max(1, X.shape[0] * kind.itemsize))
        for j in range(0, X.shape[1], step):
            columns = X.iloc[:, j : j + step].to_numpy()
            np.take(columns.T, rows, axis=1, out=block[j : j + step], mode="clip")
            visit.leave(columns.nbytes)
        return pd.DataFrame(block.T, index=index, columns=X.columns, copy=False)
    taken = {}
    for j in range(X.shape[1]):
        column = X.iloc[:, j].array
        taken[j] = column.take(rows)
        visit.leave(column.nbytes)
    frame = pd.DataFrame(taken, index=index, copy=False)
    frame.columns = X.columns
    return frame


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
        parts = _parts_of(data)
        with path.open("xb") as file:
            _write_parts(parts, file)
        return cls(str(path), tuple(map(len, parts)))

    def read(self) -> Data:
        """Return the data; their arrays are read-only, and those of one file are mapped once per process."""
        return _map_file(self.path, self.sizes)


@lru_cache(maxsize=KEPT)
def _map_file(path: str, sizes: tuple[int, ...]) -> MappedData:
    try:
        with Path(path).open("rb") as file:
            return _map_parts(file, sizes)
    except OSError as error:
        raise InputError(
            f"this worker cannot open {path}; {FOLDER} must name a folder that the driver and all workers reach at the same path."
        ) from error


def _parts_of(data: Data) -> list[memoryview]:
    """Return a pickle, and the arrays that it leaves out."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(data, protocol=5, buffer_callback=arrays.append)
    return [memoryview(head), *(a.raw() for a in arrays)]


def _write_parts(parts: list[memoryview], file: IO[bytes]) -> None:
    for part in parts:
        file.write(part)
        file.write(bytes(-len(part) % ALIGNED))
    file.flush()


def _starts(sizes: Sequence[int]) -> list[int]:
    """Return where parts begin in a file, and where the last one ends."""
    return [0, *accumulate(size + -size % ALIGNED for size in sizes)]


def _map_parts(file: IO[bytes], sizes: tuple[int, ...]) -> MappedData:
    pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    whole = memoryview(pages)
    parts = [whole[at : at + size] for at, size in zip(_starts(sizes), sizes)]
    return MappedData.of(pickle.loads(parts[0], buffers=parts[1:]), pages)


class _Arriving:
    """A file without a name that fills with the pieces of a sample, in this process."""

    def __init__(self, total: int) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="unseen-")  # noqa: SIM115  it lasts as long as this object
        self.file.truncate(total)
        weakref.finalize(self, self.file.close)
        self.made: MappedData | None = None
        self.lock = threading.Lock()

    def write(self, values: Any, at: int) -> None:
        """Put bytes at their place."""
        rest = memoryview(values).cast("B")
        with self.lock:
            self.file.seek(at)
            self.file.write(rest)
            self.file.flush()

    def read(self, at: int, size: int) -> bytes:
        """Return bytes from their place."""
        with self.lock:
            self.file.seek(at)
            return self.file.read(size)

    def sample(self, sizes: tuple[int, ...]) -> MappedData:
        """Return the sample, once all pieces are here."""
        with self.lock:
            if self.made is None:
                self.made = _map_parts(self.file, sizes)
            return self.made


# as long as any piece of it lives
_arriving: weakref.WeakValueDictionary[str, _Arriving] = weakref.WeakValueDictionary()
_arriving_lock = threading.Lock()


def _place_of(name: str, total: int) -> _Arriving:
    with _arriving_lock:
        found = _arriving.get(name)
        if found is None:
            found = _arriving[name] = _Arriving(total)
        return found


class Piece:
    """Some bytes of a sample that travels: in the process they reach they go to a file, and are no memory of it.

    Parameters
    ----------
    name : str
        Of this sending.
    total, at : int
        Bytes of all pieces, and where these begin.
    values : buffer
        The bytes.

    Examples
    --------
    >>> piece = pickle.loads(pickle.dumps(Piece("a sending", 6, 2, b"cd")))
    >>> pickle.loads(pickle.dumps(piece)).place.read(2, 2)
    b'cd'
    """

    def __init__(self, name: str, total: int, at: int, values: Any) -> None:
        self.name, self.total, self.at, self.size = name, total, at, len(values)
        self.values: Any = values

    @cached_property
    def place(self) -> _Arriving:
        """The file of this process, with these bytes in it."""
        place = _place_of(self.name, self.total)
        place.write(self.values, self.at)
        self.values = None
        return place

    def __reduce_ex__(self, protocol: Any) -> Any:
        values = self.values if self.values is not None else self.place.read(self.at, self.size)
        return _arrive, (
            self.name,
            self.total,
            self.at,
            pickle.PickleBuffer(values) if protocol >= 5 else bytes(values),
        )

    def __sizeof__(self) -> int:  # dask sends as many at once as it thinks are small
        return self.size


def _arrive(name: str, total: int, at: int, values: Any) -> Piece:
    piece = Piece(name, total, at, memoryview(values).cast("B"))
    try:
        piece.place  # noqa: B018  the bytes go to the file now
    except OSError as error:
        raise InputError(
            f"the data cannot be kept on {platform.node()}: {error.strerror} in {tempfile.gettempdir()}; set TMPDIR to a folder with room for them."
        ) from error
    return piece


class DataInPieces:
    """A sample that is sent to workers once per call, in pieces.

    Parameters
    ----------
    sizes : tuple of int
        Bytes of the pickle and of each array.
    pieces : sequence of Piece
        They travel on their own, once to each worker; what travels with every chunk of work has none.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.datasets.load("iris")
    >>> sent, pieces = pickle.loads(pickle.dumps((cut := DataInPieces.cut(data), cut.pieces)))
    >>> again = sent.read(pieces)
    >>> len(sent.pieces), again.fingerprint == data.fingerprint, bool((again.X == data.X).all())
    (0, True, True)
    """

    def __init__(self, sizes: tuple[int, ...], pieces: Sequence[Piece] = ()) -> None:
        self.sizes, self.pieces = sizes, pieces
        self.futures: list[Any] = []

    @classmethod
    def cut(cls, data: Data) -> DataInPieces:
        """Cut a sample into pieces; nothing is copied."""
        parts = _parts_of(data)
        sizes = tuple(map(len, parts))
        name, (*starts, total) = uuid.uuid4().hex, _starts(sizes)
        pieces = [
            Piece(name, total, start + k, part[k : k + PIECE])
            for part, start in zip(parts, starts)
            for k in range(0, len(part), PIECE)
        ]
        return cls(sizes, pieces)

    def __reduce__(self) -> Any:
        return DataInPieces, (self.sizes,)

    def read(self, pieces: Sequence[Piece]) -> Data:
        """Return the sample of these pieces, which are all of one sending; it is mapped once per process."""
        places = [piece.place for piece in pieces]
        return places[0].sample(self.sizes)


@dataclass(frozen=True)
class DataByPath:
    """A sample whose features every worker reads from Parquet at a path that it reaches too; all else of it travels.

    Parameters
    ----------
    origin : Origin
        Where and how they are read, and the fingerprint of what should be found there.
    rest : Data
        The sample without its features.
    form : FrameForm
        What the features are in memory.
    """

    origin: Origin
    rest: Data = field(compare=False)
    form: FrameForm = field(compare=False)

    def read(self) -> Data:
        """Return the sample; the features are read once per process and lie in a file that is mapped into memory."""
        X, pages = _map_features(self)
        return MappedData.of(replace(self.rest, X=X), pages)


@dataclass(frozen=True)
class FrameForm:
    """A frame of plain columns as it lies in a file: columns of one kind as one block, others one after the other.

    Parameters
    ----------
    n : int
        Number of rows.
    names : tuple of str
        Names of the columns.
    kinds : tuple of dtype
        Their types: numbers, truth values, dates or categories.

    Examples
    --------
    >>> import pandas as pd
    >>> FrameForm.of(pd.DataFrame({"a": [1.0, 2.0], "b": [True, False]})).starts
    [0, 64, 128]
    """

    n: int
    names: tuple[str, ...]
    kinds: tuple[Any, ...]

    @classmethod
    def of(cls, X: Any) -> FrameForm | None:
        """Return the form of a frame; None if it holds anything else than plain columns."""
        if not hasattr(X, "iloc"):
            return None
        kinds = tuple(X.dtypes)
        plain = all(k.kind in "fiubM" if isinstance(k, np.dtype) else hasattr(k, "categories") for k in kinds)
        return cls(len(X), tuple(map(str, X.columns)), kinds) if plain else None

    @cached_property
    def in_file(self) -> list[np.dtype[Any]]:
        """What each column is in the file: a category is its number."""
        return [
            k if isinstance(k, np.dtype) else np.min_scalar_type(-max(len(k.categories), 1) - 1) for k in self.kinds
        ]

    @cached_property
    def alike(self) -> bool:
        """Whether all columns are numbers of one kind."""
        return len(set(self.kinds)) == 1 and isinstance(self.kinds[0], np.dtype)

    @cached_property
    def starts(self) -> list[int]:
        """Where each column begins in the file, and where the last one ends."""
        sizes = [kind.itemsize * self.n for kind in self.in_file]
        return [0, *accumulate(sizes)] if self.alike else _starts(sizes)

    def write(self, file: IO[bytes], column: int, first: int, values: Any) -> None:
        """Put values of a column, from a row on, at their place."""
        import pandas as pd

        kind, stored = self.kinds[column], self.in_file[column]
        if not isinstance(kind, np.dtype):
            values = pd.Categorical(values, dtype=kind).codes
        file.seek(self.starts[column] + first * stored.itemsize)
        file.write(np.ascontiguousarray(values, dtype=stored).view(np.uint8).data)

    def map(self, pages: mmap.mmap) -> Any:
        """Return the frame that lies in a file."""
        import pandas as pd

        if self.alike:
            block = np.frombuffer(pages, self.in_file[0], self.n * len(self.names)).reshape(len(self.names), self.n)
            return pd.DataFrame(block.T, columns=list(self.names), copy=False)
        columns = {}
        for j, (kind, stored, start) in enumerate(zip(self.kinds, self.in_file, self.starts)):
            values = np.frombuffer(pages, stored, self.n, start)
            columns[j] = values if isinstance(kind, np.dtype) else pd.Categorical.from_codes(values, dtype=kind)
        frame = pd.DataFrame(columns, copy=False)
        frame.columns = list(self.names)
        return frame


@lru_cache(maxsize=KEPT)
def _map_features(wanted: DataByPath) -> tuple[Any, mmap.mmap]:
    """Read features into a file, check that they are the driver's, and map it: the system may drop it from memory and fetch it again."""
    origin = wanted.origin
    with tempfile.TemporaryFile(prefix="unseen-") as file:
        try:
            X, pages = _fill(file, wanted.form, read_columns(origin.path, wanted.form.names))
            same = mark_of(replace(wanted.rest, X=X)) == origin.fingerprint
        except NOT_THESE:
            same = False
    if not same:
        X, pages = _read_whole(origin)
    release_memory()
    _give_back(pages)
    return X, pages


def _fill(file: IO[bytes], form: FrameForm, columns: Iterator[tuple[int, int, Any]]) -> tuple[Any, mmap.mmap]:
    file.truncate(form.starts[-1])
    for column, first, values in columns:
        form.write(file, column, first, values)
    file.flush()
    pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return form.map(pages), pages


def _read_whole(origin: Origin) -> tuple[Any, mmap.mmap]:
    """Read features as the driver did, where its columns are not those of the files as they stand."""
    try:
        data = origin.read()
    except InputError as error:
        raise InputError(
            f"the worker on {platform.node()} cannot read {origin.path}: {error} Put it at one path that the driver and all workers reach."
        ) from error
    if data.fingerprint != origin.fingerprint:
        raise _differs(origin, f"on {platform.node()}")
    parts = _parts_of(data)
    sizes = tuple(map(len, parts))
    del data
    with tempfile.TemporaryFile(prefix="unseen-") as file:
        _write_parts(parts, file)
        del parts
        mapped = _map_parts(file, sizes)
    return mapped.X, mapped.pages


def _differs(origin: Origin, where: str) -> InputError:
    return InputError(
        f"the worker {where} finds another table at {origin.path} than the driver; the driver and all workers must reach the same files at this path."
    )


@dataclass
class _Shelf:
    """What one call shares: each sample is written, cut or looked for at its path once, however many runs it has."""

    folder: Path | None
    shared: dict[int, tuple[Data, SharedData | DataByPath | DataInPieces]] = field(default_factory=dict)
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


def share_data(data: Data, client: Any = None) -> Data | SharedData | DataByPath | DataInPieces:
    """Return how the workers of a dask client get the data: a file of them, the path they came from, or pieces; small data as they are."""
    shelf = _shelf.get()
    if shelf is None or _size(data.X) < SMALLEST or (client is None and shelf.folder is None):
        return data
    if id(data) not in shelf.shared:
        shelf.shared[id(data)] = (data, _shared(data, client, shelf))
    return shelf.shared[id(data)][1]


def _shared(data: Data, client: Any, shelf: _Shelf) -> SharedData | DataByPath | DataInPieces:
    if shelf.folder is not None:
        return SharedData.write(data, shelf.folder / f"{len(shelf.shared)}.data")
    origin, form = origin_of(data.X), FrameForm.of(data.X)
    # other files are read whole, and parts of a file are no columns of it
    if origin is None or form is None or rows_of(origin.path) != data.n:
        return DataInPieces.cut(data)
    if origin not in shelf.found:
        shelf.found[origin] = _is_reached(origin, client)
    return DataByPath(origin, data.without_features(), form) if shelf.found[origin] else DataInPieces.cut(data)


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
