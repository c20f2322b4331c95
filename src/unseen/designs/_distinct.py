"""Random splits of one test size, none of them drawn twice."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from unseen.core.arrays import Array, Ints
from unseen.core.data import Data
from unseen.core.plan import Split
from unseen.designs.drawing import distinct_possible, draw_every_class, lacks_class, too_rare

__all__ = ["distinct_splits", "every_test_part", "split_off"]

FEW_ENOUGH_TO_LIST = 2000  # so few test parts are listed and drawn from; more are drawn until they differ


def split_off(data: Data, test: Ints, repeat: int) -> Split:
    """Return the split that tests some units and trains on the others."""
    tested = np.zeros(data.n_units, dtype=bool)
    tested[test] = True
    return _split_by(data, tested, repeat)


def _split_by(data: Data, tested: Array, repeat: int) -> Split:
    rows = tested[data.units] if data.grouped else tested
    return Split(np.flatnonzero(~rows), np.flatnonzero(rows), repeat=repeat)


def every_test_part(n: int, size: int) -> Ints:
    """Return all choices of `size` out of n units, one per line."""
    return np.array(list(combinations(range(n), size)), dtype=np.int64)


def distinct_splits(
    design: str, data: Data, size: int, n_splits: int, rng: np.random.Generator
) -> tuple[list[Split], int]:
    """Return distinct random splits that leave `size` units out, and how many were passed over for lack of a class."""
    possible = distinct_possible(data.n_units, size, n_splits)
    if possible <= max(FEW_ENOUGH_TO_LIST, 4 * n_splits):
        return _from_all(design, data, size, n_splits, rng)
    return _by_drawing(design, data, size, n_splits, possible, rng)


def _from_all(design: str, data: Data, size: int, n_splits: int, rng: np.random.Generator) -> tuple[list[Split], int]:
    """List every test part and take the first that will do, in random order: no draw can run dry."""
    every = every_test_part(data.n_units, size)
    splits: list[Split] = []
    for drawn, k in enumerate(rng.permutation(len(every))):
        if len(splits) == n_splits:
            return splits, drawn - len(splits)
        split = split_off(data, every[k], len(splits))
        if not lacks_class(data, split.train):
            splits.append(split)
    if len(splits) < n_splits:
        raise too_rare(design, data)
    return splits, len(every) - len(splits)


def _by_drawing(
    design: str, data: Data, size: int, n_splits: int, possible: int, rng: np.random.Generator
) -> tuple[list[Split], int]:
    seen: set[bytes] = set()
    splits: list[Split] = []
    redrawn = 0

    def draw() -> Split:
        while len(seen) < possible:
            tested = np.zeros(data.n_units, dtype=bool)
            tested[rng.permutation(data.n_units)[:size]] = True
            key = tested.tobytes()
            if key not in seen:
                seen.add(key)
                return _split_by(data, tested, len(splits))
        raise too_rare(design, data)

    for _ in range(n_splits):
        split, again = draw_every_class(design, data, draw)
        splits.append(split)
        redrawn += again
    return splits, redrawn
