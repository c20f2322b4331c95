"""What designs share: drawing units, turning units into rows, and refusing what cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from math import comb
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from unseen.core.arrays import Array, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.notes import Note, note
from unseen.core.plan import Plan, Rests, RowParts, Split

__all__ = [
    "MAX_REDRAWS",
    "check_count",
    "check_fraction",
    "complement",
    "distinct_possible",
    "draw_every_class",
    "draw_rests",
    "fold_of_units",
    "lack_class",
    "lacks_class",
    "left_out_size",
    "make_plan",
    "redraw_note",
    "rests_of",
    "rows_of",
    "scarce_note",
    "shuffled_folds",
    "strata_of",
    "too_rare",
    "training_size",
]

Drawn = TypeVar("Drawn", bound=Sequence[Split])

MAX_REDRAWS = 200  # a class that 200 random training parts miss is too rare for the design
DRAWN_AT_ONCE = 1 << 26  # units times splits whose marks are in memory together, 64 MB
MAX_SHUFFLES = 20  # a class that 20 shuffles could not spread is left as it falls, with a note


def make_plan(
    design: Any, data: Data, splits: Sequence[Split], notes: tuple[Note, ...] = (), complementary: bool = False
) -> Plan:
    """Return the plan with the design's options written down."""
    options: Mapping[str, Any] = MappingProxyType({f.name: getattr(design, f.name) for f in fields(design)})
    made = splits if isinstance(splits, Rests) else tuple(splits)
    return Plan(design.id, made, data.units, options=options, notes=notes, complementary=complementary)


def rows_of(data: Data, chosen: Ints) -> Ints:
    """Return the rows that belong to the chosen units, in ascending order."""
    if not data.grouped:
        ordered = chosen if np.all(chosen[1:] >= chosen[:-1]) else np.sort(chosen)
        return ordered.astype(np.int64, copy=False)
    member = np.zeros(data.n_units, dtype=bool)
    member[chosen] = True
    return np.flatnonzero(member[data.units]).astype(np.int64)


def complement(n: int, chosen: Ints) -> Ints:
    """Return the numbers below n that were not chosen, in ascending order."""
    left = np.ones(n, dtype=bool)
    left[chosen] = False
    return np.flatnonzero(left).astype(np.int64)


def check_count(design: str, name: str, value: object, least: int = 1) -> int:
    """Return a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{design}: {name} is {value!r}; it must be a whole number of at least {least}.")
    return int(value)


def check_fraction(design: str, value: float, name: str = "fraction") -> float:
    """Return a share strictly between 0 and 1."""
    if not isinstance(value, (int, float, np.number)) or not 0 < value < 1:
        raise InputError(f"{design}: {name} is {value!r}; a share of the units lies strictly between 0 and 1.")
    return float(value)


def left_out_size(design: str, fraction: float, n_units: int, name: str = "fraction") -> int:
    """Return n2 = ceil(fraction n), refusing sizes that leave nothing to train on."""
    size = int(np.ceil(check_fraction(design, fraction, name) * n_units - 1e-9))
    if n_units < 2 or size >= n_units:
        raise InputError(
            f"{design}: leaving out {size} of {n_units} units leaves nothing to train on; use more data or a smaller {name}."
        )
    return max(size, 1)


def training_size(design: str, train_fraction: float | None, left_out: int, n_units: int) -> int:
    """Return n1: all units that are not left out, or the stated share of all units, the rest being thrown out."""
    if train_fraction is None:
        return n_units - left_out
    n_train = round(check_fraction(design, train_fraction, "train_fraction") * n_units)
    if not 1 <= n_train <= n_units - left_out:
        raise InputError(
            f"{design}: training on {n_train} and testing on {left_out} of {n_units} units cannot be; "
            "train_fraction and fraction add up to 1 at most."
        )
    return n_train


def lacks_class(data: Data, train: Ints) -> bool:
    """Say whether a training part misses a class that the data have."""
    if data.task != "classification":
        return False
    sizes = data.class_sizes
    there = np.bincount(data.codes[train], minlength=len(sizes))
    return bool(((sizes > 0) & (there == 0)).any())


def lack_class(data: Data, splits: Sequence[Split]) -> Array:
    """Say of each split whether its training part misses a class that the data have."""
    if data.task != "classification":
        return np.zeros(len(splits), dtype=bool)
    if not isinstance(splits, Rests):
        return np.fromiter((lacks_class(data, s.train) for s in splits), bool, len(splits))
    sizes, tests = data.class_sizes, splits.tests
    J, K = len(tests), len(sizes)
    lacking = np.zeros(J, dtype=bool)
    if tests.sizes.max(initial=0) < sizes[sizes > 0].min(initial=data.n):
        return lacking  # test parts too small to hold a whole class
    tested = np.bincount(tests.part * K + data.codes[tests.row], minlength=J * K).reshape(J, K)
    lacking[np.nonzero((tested == sizes) & (sizes > 0))[0]] = True
    return lacking


def rests_of(data: Data, tested: Array) -> Rests:
    """Return the splits that test the units marked in each line, and train on all others."""
    rows = tested[:, data.units] if data.grouped else tested
    J, n = rows.shape
    starts = np.zeros(J + 1, dtype=np.int64)
    np.cumsum(np.count_nonzero(rows, axis=1), out=starts[1:])
    # in two dimensions numpy looks for them much more slowly
    flat = np.flatnonzero(rows)
    flat -= np.repeat(np.arange(J) * n, np.diff(starts))
    return Rests(n, RowParts(flat, starts), np.arange(J), np.zeros(J, dtype=np.int64))


def draw_rests(
    design: str,
    data: Data,
    n_splits: int,
    draw: Callable[[], Ints],
    is_new: Callable[[bytes], bool] | None = None,
) -> tuple[Rests, int]:
    """Draw test units until so many training parts have every class; return their splits and how many were thrown away.

    Parameters
    ----------
    design : str
        Id of the design.
    data : Data
        The sample.
    n_splits : int
        Number of splits.
    draw : callable
        Returns the units to test, as many each time.
    is_new : callable, optional
        Gets the marks of the units; where it says False, the draw is passed over without being counted.
    """
    n, kept, redrawn, missed = data.n_units, 0, 0, 0
    found: list[Array] = []
    while kept < n_splits:
        # never more than are still needed, so that as much randomness is used as by drawing one after the other
        picked = np.stack([draw() for _ in range(min(n_splits - kept, max(1, DRAWN_AT_ONCE // n)))])
        tested = np.zeros((len(picked), n), dtype=bool)
        picked += np.arange(0, tested.size, n)[:, None]
        tested.reshape(-1)[picked.reshape(-1)] = True
        if is_new is not None:
            tested = tested[np.fromiter((is_new(marks.tobytes()) for marks in tested), bool, len(tested))]
        rests = rests_of(data, tested)
        lacking = lack_class(data, rests)
        if len(tested) == n_splits and not lacking.any():
            return rests, redrawn
        for lacks in lacking.tolist():
            missed = missed + 1 if lacks else 0
            if missed == MAX_REDRAWS:
                raise too_rare(design, data)
        redrawn += int(np.count_nonzero(lacking))
        found.append(tested[~lacking])
        kept += len(found[-1])
    return rests_of(data, np.concatenate(found)), redrawn


def draw_every_class(design: str, data: Data, draw: Callable[[], Split]) -> tuple[Split, int]:
    """Draw until the training part has every class; return the split and how many were thrown away."""
    for redrawn in range(MAX_REDRAWS):
        split = draw()
        if not lacks_class(data, split.train):
            return split, redrawn
    raise too_rare(design, data)


def too_rare(design: str, data: Data) -> InputError:
    """Return the error for a class so small that training parts keep missing it."""
    sizes = np.unique(data.y, return_counts=True)
    counts = ", ".join(f"{label}: {count}" for label, count in zip(*sizes))
    return InputError(
        f"{design}: draws keep leaving a class out of the training part (class sizes {counts}); "
        "merge or drop the smallest class, or leave less out."
    )


def redraw_note(redrawn: int, kept: int) -> tuple[Note, ...]:
    """Return the note on redrawn splits, if any were."""
    if not redrawn:
        return ()
    return (
        note(
            "U011",
            f"{redrawn} draws lacked a class in the training part and were replaced to get {kept} splits",
        ),
    )


def strata_of(data: Data, stratify: bool | str) -> Ints | None:
    """Return a stratum per unit, or None if units are drawn simply at random."""
    if stratify == "auto":
        stratify = data.task == "classification" and data.groups is None
    if not stratify:
        return None
    if data.task != "classification":
        raise InputError("stratify=True needs classes; a regression target has none.")
    if data.groups is not None:
        raise InputError("stratify=True cannot be kept with groups: whole groups are drawn; leave it out.")
    if data.joined is None:
        return data.codes
    first = np.zeros(data.n_units, dtype=np.int64)
    first[data.units[::-1]] = np.arange(data.n)[::-1]
    return data.codes[first]  # copies may have several classes; the first one stands for them


def fold_of_units(data: Data, n_folds: int, stratify: bool | str, rng: np.random.Generator) -> Ints:
    """Return a fold number per unit: shuffled, sizes as equal as can be, strata spread evenly."""
    n = data.n_units
    if n_folds > n:
        raise InputError(f"n_folds is {n_folds}, but there are only {n} units; use at most {n}.")
    strata = strata_of(data, stratify)
    order = rng.permutation(n)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % n_folds
    return folds


def shuffled_folds(
    data: Data,
    n_folds: int,
    stratify: bool | str,
    rng: np.random.Generator,
    splits_of: Callable[[Ints], Drawn],
) -> tuple[Drawn, int]:
    """Shuffle units into folds until no training part lacks a class; a shuffle is kept as it is if none will do."""
    for redrawn in range(MAX_SHUFFLES):
        splits = splits_of(fold_of_units(data, n_folds, stratify, rng))
        if not lack_class(data, splits).any():
            return splits, redrawn
    return splits, 0


def scarce_note(lacking: int, total: int) -> tuple[Note, ...]:
    """Return the note on training parts that lack a class, if any do."""
    if not lacking:
        return ()
    return (note("U020", f"{lacking} of {total} training parts lack a class, which is then never predicted"),)


def distinct_possible(n: int, size: int, wanted: int) -> int:
    """Return how many distinct test parts there are, refusing to draw more than that."""
    possible = comb(n, size)
    if wanted > possible:
        raise InputError(
            f"{wanted} distinct splits were asked for, but {size} of {n} units can be left out in only {possible} ways; "
            f"use n_splits={possible} or the design 'monte-carlo', which allows repeats."
        )
    return possible
