"""Random splits of one test size, none of them drawn twice."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.plan import Rests, RowParts
from unseen.designs.drawing import distinct_possible, draw_rests, lack_class, rests_of, too_rare

__all__ = ["distinct_splits", "every_test_part", "splits_off"]

FEW_ENOUGH_TO_LIST = 2000  # so few test parts are listed and drawn from; more are drawn until they differ


def splits_off(data: Data, tests: Ints) -> Rests:
    """Return the splits that test the units of each line and train on the others."""
    J, size = tests.shape
    if not data.grouped:
        parts = RowParts(np.sort(tests, axis=1).reshape(-1), np.arange(J + 1) * size)
        return Rests(data.n, parts, np.arange(J), np.zeros(J, dtype=np.int64))
    tested = np.zeros((J, data.n_units), dtype=bool)
    np.put_along_axis(tested, tests, True, axis=1)
    return rests_of(data, tested)


def every_test_part(n: int, size: int) -> Ints:
    """Return all choices of `size` out of n units, one per line."""
    return np.array(list(combinations(range(n), size)), dtype=np.int64)


def distinct_splits(design: str, data: Data, size: int, n_splits: int, rng: np.random.Generator) -> tuple[Rests, int]:
    """Return distinct random splits that leave `size` units out, and how many were passed over for lack of a class."""
    possible = distinct_possible(data.n_units, size, n_splits)
    if possible <= max(FEW_ENOUGH_TO_LIST, 4 * n_splits):
        return _from_all(design, data, size, n_splits, rng)
    return _by_drawing(design, data, size, n_splits, possible, rng)


def _from_all(design: str, data: Data, size: int, n_splits: int, rng: np.random.Generator) -> tuple[Rests, int]:
    """List every test part and take the first that will do, in random order: no draw can run dry."""
    every = every_test_part(data.n_units, size)
    order = rng.permutation(len(every))
    good = np.flatnonzero(~lack_class(data, splits_off(data, every[order])))[:n_splits]
    if len(good) < n_splits:
        raise too_rare(design, data)
    return splits_off(data, every[order[good]]), int(good[-1]) + 1 - n_splits


def _by_drawing(
    design: str, data: Data, size: int, n_splits: int, possible: int, rng: np.random.Generator
) -> tuple[Rests, int]:
    """Draw test parts and pass over those that came before."""
    seen: set[bytes] = set()

    def is_new(marks: bytes) -> bool:
        if marks not in seen:
            seen.add(marks)
            return True
        if len(seen) == possible:
            raise too_rare(design, data)
        return False

    return draw_rests(design, data, n_splits, lambda: rng.permutation(data.n_units)[:size], is_new)
