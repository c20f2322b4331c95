"""What fits gave, kept until their table is made; beyond a limit the arrays lie in temporary files that are mapped into memory."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.core.errors import NotWritten
from unseen.core.losses import Predictions
from unseen.engine.chunk import Outcome

__all__ = ["IN_MEMORY", "Outcomes", "join_outcomes", "keep_predictions"]

# bytes of predictions; as outcomes and as a table they are there twice for a moment, an eighth of the 4 GB for a million rows
IN_MEMORY = 250_000_000
PIECE = 64_000_000  # bytes that wait for a file of their own: each file takes a descriptor, of which a process has a thousand
MOST_FILES = 100  # of outcomes; beyond, pieces grow with what is kept
ALIGNED = 8  # bytes: where arrays may begin
ARRAYS = ("test", "test_score", "train_rows", "train_count", "train", "train_score")
COLUMNS = ("split", "row", "value", "score", "count")


class Outcomes(dict[int, Outcome]):
    """Outcomes by the number of their split.

    Examples
    --------
    >>> kept = Outcomes()
    >>> kept.add(Outcome(index=3, seconds=0.1, test=np.array([1, 0])))
    >>> kept[3].test.tolist(), kept.on_disk
    ([1, 0], 0)
    """

    def __init__(self) -> None:
        super().__init__()
        self.on_disk = 0
        self._waiting: list[int] = []
        self._bytes = 0

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome."""
        self[outcome.index] = outcome
        self._waiting.append(outcome.index)
        self._bytes += sum(a.nbytes for a in _arrays_of(outcome).values())
        if self._bytes > (max(PIECE, self.on_disk // MOST_FILES) if self.on_disk else IN_MEMORY):
            self._write()

    def _write(self) -> None:
        """Put the arrays of the outcomes that wait into one file."""
        found = [(j, name, array) for j in self._waiting for name, array in _arrays_of(self[j]).items()]
        mapped = _map_pieces(piece for *_, array in found for piece in (array, bytes(-array.nbytes % ALIGNED)))
        at = 0
        for j, name, array in found:
            here: Any = mapped[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
            self[j] = replace(self[j], **{name: here})
            at += array.nbytes + -array.nbytes % ALIGNED
        self.on_disk += self._bytes
        self._waiting, self._bytes = [], 0


def _arrays_of(outcome: Outcome) -> dict[str, Array]:
    """Return the arrays of an outcome that a file can hold."""
    found = {name: getattr(outcome, name) for name in ARRAYS}
    return {name: a for name, a in found.items() if a is not None and a.dtype != object}


def join_outcomes(outcomes: Sequence[Outcome], rows: Sequence[Any], part: str) -> Predictions:
    """Return the test or training predictions of outcomes in one table; `rows` are the rows they are for."""
    lengths = [len(r) for r in rows]
    values = [getattr(o, part) for o in outcomes]
    scores = [getattr(o, f"{part}_score") for o in outcomes]
    columns: dict[str, list[Any]] = {"value": values}
    if all(s is not None for s in scores):
        columns["score"] = scores
    size = 2 * np.dtype(np.int64).itemsize * sum(lengths) + sum(a.nbytes for c in columns.values() for a in c)
    large = size > IN_MEMORY
    counted = part == "train" and any(o.train_count is not None for o in outcomes)
    made = {name: _stack(pieces, pieces, large) for name, pieces in columns.items()}
    numbers = (np.full(size, o.index, dtype=np.int64) for o, size in zip(outcomes, lengths))
    kind = [np.zeros(0, np.int64)]
    counts = (
        np.ones(len(r), np.int64) if o.train_count is None else o.train_count.astype(np.int64, copy=False)
        for o, r in zip(outcomes, rows)
    )
    return Predictions(
        split=_stack(numbers, kind, large),
        row=_stack((r.astype(np.int64, copy=False) for r in rows), kind, large),
        count=_stack(counts, kind, large) if counted else None,
        **made,
    )


def keep_predictions(made: Predictions) -> Predictions:
    """Return predictions as they are, or in files if they are many."""
    found = {name: a for name in COLUMNS if (a := getattr(made, name)) is not None and a.dtype != object}
    if sum(a.nbytes for a in found.values()) <= IN_MEMORY:
        return made
    return replace(made, **{name: _stack([a], [a], True) for name, a in found.items()})


def _stack(pieces: Iterable[Array], like: Sequence[Array], large: bool) -> Array:
    """Return pieces one after the other, of the type and width of `like`: in memory, or in a file."""
    kind = np.result_type(*like)
    if not large or kind.hasobject:
        return np.concatenate(list(pieces))
    flat = _map_pieces(np.asarray(piece, dtype=kind) for piece in pieces).view(kind)
    return flat.reshape(-1, *like[0].shape[1:])


def _map_pieces(pieces: Iterable[Array | bytes]) -> Array:
    """Return the bytes of arrays one after the other, in a file without a name, which is gone when nobody maps it any more."""
    try:
        # written, not assigned to a map: a full disk is then an error and not the end of the process
        with tempfile.TemporaryFile(prefix="unseen-") as file:
            for piece in pieces:
                file.write(
                    piece if isinstance(piece, bytes) else np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
                )
            file.flush()
            if not file.tell():
                return np.zeros(0, dtype=np.uint8)
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
    except OSError as error:
        raise NotWritten(
            f"the predictions are too many for memory, and the folder {tempfile.gettempdir()!r} cannot take them: "
            f"{error.strerror}; set TMPDIR to a folder with room, or ask for fewer splits."
        ) from error
