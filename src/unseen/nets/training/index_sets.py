"""Which rows each net trains on and which it keeps for stopping, padded to one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unseen.core.errors import InputError
from unseen.nets.training.draws import bits, keys_of

__all__ = ["IndexSets", "index_arrays", "make_sets", "names_of_copies", "rows_with_weight", "sets_and_seeds"]


@dataclass(frozen=True, eq=False)
class IndexSets:
    """Rows of S nets: training rows (S, W) with their lengths, validation rows (S, V) with theirs."""

    rows: Tensor
    lengths: Tensor
    kept: Tensor
    kept_lengths: Tensor

    def of(self, nets: Tensor) -> IndexSets:
        """Return the sets of some nets, no wider than they need."""
        width, kept = int(self.lengths[nets].max()), int(self.kept_lengths[nets].max())
        return IndexSets(self.rows[nets, :width], self.lengths[nets], self.kept[nets, :kept], self.kept_lengths[nets])

    def to(self, device: torch.device) -> IndexSets:
        """Return the sets on a device."""
        return IndexSets(*(t.to(device) for t in (self.rows, self.lengths, self.kept, self.kept_lengths)))


def index_arrays(index_sets: Any, n: int, count: int | None) -> list[np.ndarray]:
    """Return index arrays after checking them; None means all rows for every one of `count` nets."""
    if index_sets is None:
        return [np.arange(n)] * (count or 1)
    out = []
    for number, given in enumerate(index_sets):
        rows = np.asarray(given.cpu() if isinstance(given, Tensor) else given)
        if rows.dtype == bool and rows.shape == (n,):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or rows.size == 0 or not np.issubdtype(rows.dtype, np.integer):
            raise InputError(
                f"index set {number} must be a non-empty list of row indices; it has shape {rows.shape} and kind {rows.dtype}."
            )
        if rows.min() < 0 or rows.max() >= n:
            wrong = int(rows.min() if rows.min() < 0 else rows.max())
            raise InputError(f"index set {number} names {wrong}, but the rows of X have the indices 0 to {n - 1}.")
        out.append(rows.astype(np.int64))
    if not out:
        raise InputError("index_sets is empty; give one set of rows per net.")
    return out


def sets_and_seeds(index_sets: Any, seeds: Any, n: int) -> tuple[list[np.ndarray], list[int]]:
    """Return index sets and seeds, one each per net."""
    single = isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool)
    if not single:
        seeds = _seeds(seeds)
    rows = index_arrays(index_sets, n, 1 if single else len(seeds))
    numbers = [int(seeds) + i for i in range(len(rows))] if single else [int(s) for s in seeds]
    if len(numbers) != len(rows):
        raise InputError(f"there are {len(rows)} index sets and {len(numbers)} seeds; give one seed per net.")
    return rows, numbers


def _seeds(seeds: Any) -> list[int]:
    given = seeds.tolist() if isinstance(seeds, (Tensor, np.ndarray)) else seeds
    values = np.asarray(list(given) if isinstance(given, Iterable) and not isinstance(given, str) else given)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise InputError(f"seeds must be a whole number or one per net; it is {seeds!r}.")
    return [int(s) for s in values]


def rows_with_weight(sets: Sequence[np.ndarray], weights: np.ndarray | None) -> list[np.ndarray]:
    """Return the sets without rows of weight 0, so that such a row is as good as absent."""
    if weights is None:
        return list(sets)
    out = [rows[weights[rows] > 0] for rows in sets]
    empty = next((number for number, rows in enumerate(out) if rows.size == 0), None)
    if empty is not None:
        raise InputError(f"sample_weight is zero for all rows of index set {empty}; there is nothing to learn from.")
    return out


def names_of_copies(copies: Any, n: int) -> np.ndarray:
    """Return a number for each row of X, the same for copies of one example; the row's own if nothing is said."""
    if copies is None:
        return np.arange(n)
    given = np.asarray(copies.detach().cpu() if isinstance(copies, Tensor) else copies)
    if given.shape != (n,):
        raise InputError(f"copies has shape {given.shape}; it must hold one name per row of X ({n}).")
    return np.unique(given, return_inverse=True)[1].reshape(-1)


def make_sets(
    index_sets: Sequence[np.ndarray], seeds: Sequence[int], validation: Any, names: np.ndarray | None = None
) -> IndexSets:
    """Split off each net's validation rows by its own seed and pad what is left.

    `validation` is a share (0 for none) or one index set per net; rows with one name are copies and stay together.
    """
    if isinstance(validation, (int, float)):
        called = [rows if names is None else names[rows] for rows in index_sets]
        given = zip(index_sets, called, seeds)
        pairs = [_hold_out(rows, own, seed, float(validation)) for rows, own, seed in given]
    else:
        if len(validation) != len(index_sets):
            raise InputError(
                f"validation names {len(validation)} sets of rows for {len(index_sets)} nets; give one per net."
            )
        pairs = list(zip(index_sets, validation))
    train, lengths = _pad([p[0] for p in pairs])
    kept, kept_lengths = _pad([p[1] for p in pairs])
    return IndexSets(train, lengths, kept, kept_lengths)


def _hold_out(rows: np.ndarray, names: np.ndarray, seed: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Keep about `share` of the rows for validation, by their places in the set; rows with one name stay on one side."""
    if not share:
        return rows, rows[:0]
    distinct, where, counts = np.unique(names, return_index=True, return_counts=True)
    if len(distinct) < 2:
        raise InputError(
            f"a validation share of {share} needs at least two different rows; this index set has {len(distinct)}."
        )
    rank = bits(keys_of([seed], "validate") + torch.from_numpy(where) * 0x5851F42D4C957F2D).numpy()
    order = np.argsort(rank, kind="stable")
    wanted = max(1, round(share * len(rows)))
    number = min(int(np.searchsorted(np.cumsum(counts[order]), wanted)) + 1, len(distinct) - 1)
    chosen = np.isin(names, distinct[order[:number]])
    return rows[~chosen], rows[chosen]


def _pad(sets: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
    lengths = np.array([len(s) for s in sets], dtype=np.int64)
    table = np.zeros((len(sets), int(lengths.max(initial=0))), dtype=np.int64)
    for line, rows in zip(table, sets):
        line[: len(rows)] = rows
    return torch.from_numpy(table), torch.from_numpy(lengths)
