"""Splits as they travel to workers: row numbers in as few bytes as they need, and training rows left out where test rows tell them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unseen.core.arrays import Array, Ints
from unseen.core.plan import Split

__all__ = ["PackedTask", "pack_tasks", "unpack_tasks"]

Task = tuple[int, Split, int]
PackedTask = tuple[
    int, Split, int, int
]  # the last is the number of rows of which the test rows leave the training rows, or 0


def pack_tasks(tasks: Sequence[Task], n: int) -> list[PackedTask]:
    """Return tasks on n rows in a short form.

    Examples
    --------
    >>> split = Split(np.delete(np.arange(50_000), [3, 7]), np.array([3, 7]))
    >>> (index, packed, seed, whole), = pack_tasks([(0, split, 1)], 50_000)
    >>> packed.train.nbytes, packed.test.nbytes, whole
    (0, 4, 50000)
    >>> (_, again, _), = unpack_tasks([(index, packed, seed, whole)])
    >>> bool(np.array_equal(again.train, split.train)), again.train.dtype == split.train.dtype
    (True, True)
    """
    kind = np.min_scalar_type(max(n - 1, 0))
    out = []
    for index, split, seed in tasks:
        rest = len(split.train) + len(split.test) == n and np.array_equal(_rows_beside(split.test, n), split.train)
        train = split.train[:0] if rest else split.train
        short = replace(split, train=train.astype(kind), test=split.test.astype(kind))
        out.append((index, short, seed, n if rest else 0))
    return out


def unpack_tasks(tasks: Sequence[PackedTask]) -> list[Task]:
    """Return tasks as they were packed."""
    out = []
    for index, short, seed, n in tasks:
        test = short.test.astype(np.int64)
        train = _rows_beside(test, n) if n else short.train.astype(np.int64)
        out.append((index, replace(short, train=train, test=test), seed))
    return out


def _rows_beside(rows: Array, n: int) -> Ints:
    beside = np.ones(n, dtype=bool)
    beside[rows] = False
    return np.flatnonzero(beside).astype(np.int64, copy=False)
