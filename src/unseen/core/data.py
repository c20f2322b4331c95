"""The sample: features, target and what is known about the rows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from math import prod
from typing import Any, Literal

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError
from unseen.core.notes import Note

__all__ = ["Data", "Task", "check_size_of_weights", "fingerprint_of"]

Task = Literal["classification", "regression"]
HASHED_AT_ONCE = 1 << 24  # bytes
# between these the squares of weights, and their sums, are numbers
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100


def check_size_of_weights(weights: Floats) -> None:
    """Refuse weights so large or so small that arithmetic on them overflows; only their ratios count."""
    largest = float(weights.max())
    if not SMALLEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise InputError(
            f"the largest weight is {largest:g}; it must lie between {SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}: only the ratios of weights count."
        )


@dataclass(frozen=True, eq=False)
class Data:
    """A checked sample.

    Parameters
    ----------
    X : ndarray, scipy CSR matrix, pandas DataFrame or None
        Features; None in a table that keeps only predictions.
    y : ndarray
        Labels (classification) or numbers (regression).
    task : {"classification", "regression"}
        What is predicted.
    classes : ndarray or None
        Sorted labels, kept by `take`.
    groups, weights, order, ids : ndarray or None
        Group of a row, its weight, its place in time, its name.
    names : tuple of str
        Feature names.
    target_name : str
        Name of the target.
    positive : object
        The class that sensitivity and AUC refer to.
    fingerprint : str
        Short hash of the content, made at the boundary.
    sample_shape : tuple of int
        Shape of an example, such as (channels, height, width), where X came in more than two dimensions and its rows are
        flattened examples; empty for tables.
    source : ndarray of int or None
        Row that each row was taken from, so that copies are known as such; None for a sample as it came.
    joined : ndarray of int or None
        Unit of each row if rows that are copies of each other are kept together; takes the place of the groups.
    group_name : str
        Name of the column of groups, if it has one.
    notes : tuple of Note
        What was left out of the sample on its way in: rows without a target, columns that only name rows.

    Examples
    --------
    >>> import numpy as np
    >>> d = Data(np.zeros((3, 2)), np.array(["a", "b", "a"]), "classification", np.array(["a", "b"]))
    >>> d.n, d.codes.tolist(), d.take(np.array([1])).n
    (3, [0, 1, 0], 1)
    >>> d.take(np.array([2, 0, 2])).take(np.array([0, 2])).source.tolist()
    [2, 2]
    """

    X: Any
    y: Array
    task: Task
    classes: Array | None = None
    _: KW_ONLY
    groups: Array | None = None
    weights: Floats | None = None
    order: Array | None = None
    ids: Array | None = None
    names: tuple[str, ...] = ()
    target_name: str = "y"
    positive: Any = None
    fingerprint: str = ""
    sample_shape: tuple[int, ...] = ()
    source: Ints | None = None
    joined: Ints | None = None
    group_name: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return 0 if self.X is None else int(self.X.shape[1])

    @property
    def xy(self) -> tuple[Any, Array]:
        """Features and target, as scikit-learn takes them."""
        return self.X, self.y

    @cached_property
    def codes(self) -> Ints:
        """Labels as 0, 1, ... in the order of `classes`."""
        if self.classes is None:
            raise TypeError("a regression target has no class codes")
        return np.searchsorted(self.classes, self.y).astype(np.int64)

    @cached_property
    def class_sizes(self) -> Ints:
        """Number of rows of each class."""
        return np.bincount(self.codes, minlength=0 if self.classes is None else len(self.classes))

    @cached_property
    def target(self) -> Array:
        """What losses compare with: class codes, or the numbers themselves."""
        return self.codes if self.task == "classification" else self.y

    @cached_property
    def units(self) -> Ints:
        """Independent unit of each row: its group, the row and its copies if these are kept together, or the row itself."""
        names = self.groups if self.joined is None else self.joined
        if names is None:
            return np.arange(self.n, dtype=np.int64)
        return np.unique(names, return_inverse=True)[1].astype(np.int64).reshape(-1)

    @property
    def grouped(self) -> bool:
        """Whether a unit may hold several rows: there are groups, or copies are kept together."""
        return self.groups is not None or self.joined is not None

    @property
    def unit(self) -> str:
        """What an independent unit is called: "row", "distinct row" if copies are kept together, or a word for a group.

        The word comes from the name of the column of groups, if that is one: "patient" from `patient` or `patient_id`.
        """
        if self.groups is None:
            return "row" if self.joined is None else "distinct row"
        word = re.sub(r"([_\- ]+[iI][dD]|(?<=[a-z])I[Dd])$", "", self.group_name).lower()
        return word if re.fullmatch(r"[a-z]{3,}", word) else "group"

    @cached_property
    def n_units(self) -> int:
        """Number of independent units."""
        if not self.grouped:
            return self.n
        return int(self.units.max()) + 1 if self.n else 0

    @property
    def together(self) -> Ints | None:
        """Which rows a further split should not part: those of one group where there are several, or copies of one row."""
        names = self.source if not self.grouped or self.n_units < 2 else self.units
        return None if names is None or len(np.unique(names)) == self.n else names

    def features(self, indices: Ints) -> Any:
        """Return the features of the rows at `indices`, in the form they are kept in."""
        if self.X is None:
            return None
        return self.X.iloc[indices] if hasattr(self.X, "iloc") else self.X[indices]

    def take(self, indices: Ints) -> Data:
        """Return the rows at `indices`, in that order; repeats are allowed."""
        parts: dict[str, Any] = {
            k: None if (v := getattr(self, k)) is None else v[indices]
            for k in ("groups", "weights", "order", "ids", "joined")
        }
        source = np.arange(self.n)[indices] if self.source is None else self.source[indices]
        return replace(self, X=self.features(indices), y=self.y[indices], source=source, **parts)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what was computed from them is quicker to compute again than to send."""
        return {f.name: self.__dict__[f.name] for f in fields(self)}

    def without_features(self) -> Data:
        """Return the same rows with no features, as tables keep them."""
        made = object.__new__(type(self))
        # with what was computed once, none of which depends on the features
        made.__dict__.update(self.__dict__, X=None)
        return made


def _blocks_of(table: Any) -> Iterator[Array]:
    """Yield the rows of an array, or of a frame of numbers of one kind, some megabytes at a time: no second copy of all is made."""
    if not np.shape(table):
        yield np.ascontiguousarray(table)
        return
    width = prod(table.shape[1:]) * (table.dtype.itemsize if isinstance(table, np.ndarray) else 8)
    rows = max(1, HASHED_AT_ONCE // max(width, 1))
    for k in range(0, len(table), rows):
        block = table[k : k + rows] if isinstance(table, np.ndarray) else table.iloc[k : k + rows].to_numpy()
        yield np.ascontiguousarray(block)


def fingerprint_of(*parts: Any) -> str:
    """Hash arrays, frames of numbers of one kind and plain values into 16 hexadecimal digits, the same in every process.

    Examples
    --------
    >>> import numpy as np
    >>> fingerprint_of(np.arange(3), "a") == fingerprint_of(np.arange(3), "a") != fingerprint_of(np.arange(4), "a")
    True
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype == object:
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(repr(part.tolist()).encode())
        elif isinstance(part, np.ndarray) or hasattr(part, "iloc"):
            kind = part.dtype if isinstance(part, np.ndarray) else np.result_type(*part.dtypes)
            digest.update(f"{kind.str}{part.shape}".encode())
            for block in _blocks_of(part):
                digest.update(block.reshape(-1).view(np.uint8).data)
        else:
            digest.update(repr(part).encode())
        digest.update(b"\x1e")
    return digest.hexdigest()[:16]
