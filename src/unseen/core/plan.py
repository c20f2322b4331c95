"""What is fitted on what: splits, and plans made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, overload

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data, fingerprint_of
from unseen.core.notes import Note

__all__ = ["Design", "Plan", "Rest", "Rests", "RowParts", "Split"]


@dataclass(frozen=True, eq=False)
class Split:
    """One fit: the rows it is trained on and the rows it is tested on.

    Parameters
    ----------
    train, test : ndarray of int
        Row numbers; a bootstrap's `train` repeats rows.
    repeat, fold : int
        Number of the repetition and of the fold within it.
    part : int
        Half of the data (split-halves) or outer fold (nested) the split lives in; -1 for the whole.
    """

    train: Ints
    test: Ints
    _: KW_ONLY
    repeat: int = 0
    fold: int = 0
    part: int = -1

    @property
    def n_train(self) -> int:
        """Number of rows it is trained on, repeats counted."""
        return len(self.train)


class Rest(Split):
    """One split that is trained on all rows but those it tests; the training rows are listed whenever they are asked for.

    The training parts of n single rows left out are n (n - 1) numbers, of which algebra needs none.
    """

    @classmethod
    def of(cls, n: int, test: Ints, *, repeat: int = 0, fold: int = 0) -> Rest:
        """Return the split of n rows that tests some, in ascending order.

        Examples
        --------
        >>> split = Rest.of(4, np.array([1]))
        >>> split.n_train, split.train.tolist()
        (3, [0, 2, 3])
        """
        made = object.__new__(cls)
        made.__dict__.update(n=n, test=test, repeat=repeat, fold=fold, part=-1)
        return made

    @property
    def n_train(self) -> int:
        """Number of rows it is trained on."""
        return len(self.train) if "train" in self.__dict__ else int(self.__dict__["n"]) - len(self.test)

    def __getattr__(self, name: str) -> Ints:
        if name != "train" or "n" not in self.__dict__:
            raise AttributeError(name)
        beside = np.ones(self.__dict__["n"], dtype=bool)
        beside[self.test] = False
        return beside.nonzero()[0]


@dataclass(frozen=True, eq=False)
class RowParts(Sequence[Ints]):
    """Several lists of row numbers, one after the other in one array.

    Parameters
    ----------
    row : ndarray of int
        The row numbers.
    starts : ndarray of int
        Where each list begins, and where the last one ends.

    Examples
    --------
    >>> parts = RowParts.of([np.array([4, 7]), np.array([1])])
    >>> parts.row.tolist(), parts.part.tolist(), parts[1].tolist()
    ([4, 7, 1], [0, 0, 1], [1])
    """

    row: Ints
    starts: Ints

    @classmethod
    def of(cls, lists: Sequence[Ints]) -> RowParts:
        """Return lists of row numbers as one array."""
        starts = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)), out=starts[1:])
        row = np.concatenate(lists) if lists else np.zeros(0, np.int64)
        return cls(row.astype(np.int64, copy=False), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, at: int) -> Ints: ...
    @overload
    def __getitem__(self, at: slice) -> RowParts: ...
    def __getitem__(self, at: int | slice) -> Ints | RowParts:
        if isinstance(at, slice):
            return RowParts.of([self[j] for j in range(len(self))[at]])
        at = range(len(self))[at]
        return self.row[self.starts[at] : self.starts[at + 1]]

    @cached_property
    def sizes(self) -> Ints:
        """Length of each list."""
        return np.diff(self.starts)

    def of_one_length(self, most: int | None = None) -> Iterator[tuple[Ints, Ints]]:
        """Yield lists of one length together: their numbers, and the lists as lines of a matrix, at most so many numbers each time.

        Examples
        --------
        >>> parts = RowParts.of([np.array([4, 7]), np.array([1]), np.array([2, 3])])
        >>> [(which.tolist(), rows.tolist()) for which, rows in parts.of_one_length()]
        [([1], [[1]]), ([0, 2], [[4, 7], [2, 3]])]
        """
        sizes = self.sizes
        for size in np.unique(sizes).tolist():
            alike = np.flatnonzero(sizes == size)
            step = len(alike) if most is None else max(1, most // max(size, 1))
            for which in np.split(alike, range(step, len(alike), step)):
                if len(which) == len(self):
                    yield which, self.row.reshape(len(self), size)
                else:
                    yield which, self.row[self.starts[which][:, None] + np.arange(size)]

    @cached_property
    def part(self) -> Ints:
        """Number of the list that each row number stands in."""
        return np.repeat(np.arange(len(self)), self.sizes)


@dataclass(frozen=True, eq=False)
class Rests(Sequence[Split]):
    """Splits of n rows, each trained on all rows but those it tests; they are made when somebody asks for one.

    Parameters
    ----------
    n : int
        Number of rows.
    tests : RowParts
        Rows that each split tests, in ascending order.
    repeat, fold : ndarray of int
        Number of the repetition of each split, and of the fold within it.

    Examples
    --------
    >>> two = Rests(3, RowParts.of([np.array([0]), np.array([1, 2])]), np.zeros(2, int), np.arange(2))
    >>> [(s.train.tolist(), s.test.tolist(), s.fold) for s in two]
    [([1, 2], [0], 0), ([0], [1, 2], 1)]
    """

    n: int
    tests: RowParts
    repeat: Ints
    fold: Ints

    def __len__(self) -> int:
        return len(self.tests)

    @overload
    def __getitem__(self, at: int) -> Split: ...
    @overload
    def __getitem__(self, at: slice) -> Rests: ...
    def __getitem__(self, at: int | slice) -> Split | Rests:
        if isinstance(at, slice):
            return Rests(self.n, self.tests[at], self.repeat[at], self.fold[at])
        return self._made[at]

    @cached_property
    def _made(self) -> tuple[Split, ...]:
        labels = zip(self.repeat.tolist(), self.fold.tolist())
        return tuple(Rest.of(self.n, test, repeat=r, fold=f) for test, (r, f) in zip(self.tests, labels))


@dataclass(frozen=True, eq=False)
class Plan:
    """All splits of a run, with the design that made them.

    Parameters
    ----------
    design : str
        Id of the design.
    splits : sequence of Split
        The splits.
    units : ndarray of int
        Unit of each row.
    options, notes
        Of the design; remarks on the splits.
    complementary : bool
        Whether every split trains on all rows that it does not test, once each.

    Examples
    --------
    >>> import numpy as np
    >>> plan = Plan("holdout", (Split(np.array([0, 1]), np.array([2])),), units=np.arange(3))
    >>> len(plan), plan.mean_sizes()
    (1, (1.0, 2.0))
    """

    design: str
    splits: Sequence[Split]
    units: Ints
    _: KW_ONLY
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[Note, ...] = ()
    complementary: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled; a read-only view of a mapping cannot be."""
        return self.__dict__ | {"options": dict(self.options)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, options=MappingProxyType(state["options"]))

    def __len__(self) -> int:
        return len(self.splits)

    def __iter__(self) -> Iterator[Split]:
        return iter(self.splits)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.units)

    @property
    def n_units(self) -> int:
        """Number of independent units."""
        return int(self.units.max()) + 1 if self.n else 0

    @property
    def grouped(self) -> bool:
        """Whether a unit may hold several rows."""
        return self.n_units < self.n

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of every index set; two runs with the same one are paired split by split."""
        parts: list[object] = [self.n, len(self.splits)]
        for s in self.splits:
            parts += [s.train.astype("<i8"), s.test.astype("<i8"), (s.repeat, s.fold, s.part)]
        return fingerprint_of(*parts)

    @cached_property
    def tests(self) -> RowParts:
        """Rows that each split tests."""
        return self.splits.tests if isinstance(self.splits, Rests) else RowParts.of([s.test for s in self.splits])

    @cached_property
    def train_sizes(self) -> Ints:
        """Number of rows that each split is trained on, repeats counted."""
        if isinstance(self.splits, Rests):
            return self.n - self.tests.sizes
        return np.fromiter((s.n_train for s in self.splits), np.int64, len(self.splits))

    @property
    def shares_fits(self) -> bool:
        """Whether a fit answers for several splits."""
        return not self.complementary and len(self.fits) < len(self.splits)

    @property
    def n_fits(self) -> int:
        """Number of fits."""
        return len(self.fits) if self.shares_fits else len(self.splits)

    @cached_property
    def fits(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the splits each fit answers for: one repetition, the same training rows, other test rows.

        Nested folds {i, j} are left out twice, once to test i and once to test j; a split drawn twice is fitted twice.
        """
        if self.complementary:
            return tuple((j,) for j in range(len(self.splits)))  # the same training rows leave the same rows to test
        keys = [(s.repeat, len(s.train), int(np.add.reduce(s.train))) for s in self.splits]
        if len(set(keys)) == len(keys):
            return tuple((j,) for j in range(len(keys)))
        groups: list[list[int]] = []
        alike: dict[tuple[int, int, int], list[list[int]]] = {}
        for j, split in enumerate(self.splits):
            key = keys[j]
            group = next((g for g in alike.get(key, ()) if self._joins(split, g)), None)
            if group is None:
                group = []
                groups.append(group)
                alike.setdefault(key, []).append(group)
            group.append(j)
        return tuple(map(tuple, groups))

    def _joins(self, split: Split, group: list[int]) -> bool:
        others = [self.splits[j] for j in group]
        return np.array_equal(split.train, others[0].train) and not any(
            np.array_equal(split.test, other.test) for other in others
        )

    @cached_property
    def sizes(self) -> Ints:
        """Units tested and units trained on (counting repeats) of each split, as a (J, 2) array."""
        if not self.grouped:
            return np.column_stack([self.tests.sizes, self.train_sizes])
        rows = [(len(np.unique(self.units[s.test])), len(np.unique(self.units[s.train]))) for s in self.splits]
        return np.array(rows, dtype=np.int64)

    def mean_sizes(self) -> tuple[float, float]:
        """Return the mean number of test and training units of a split."""
        n_test, n_train = self.sizes.mean(axis=0)
        return float(n_test), float(n_train)


class Design:
    """Draws a plan; a design is a frozen dataclass whose fields are its options.

    `group` is the group it registers in, also the entry-point group of plug-ins; `version` is raised when its splits change.
    """

    group: ClassVar[str] = "designs"
    id: ClassVar[str] = ""
    version: ClassVar[int] = 1

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return the splits for `data`."""
        raise NotImplementedError
