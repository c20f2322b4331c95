"""Splits given by the user: a scikit-learn splitter or a list of index pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, KindError
from unseen.core.notes import note
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import build, classes_in, register

__all__ = ["Splits", "as_design"]


@register
@dataclass(frozen=True)
class Splits(Design):
    """Index pairs taken as they come.

    Parameters
    ----------
    source : scikit-learn splitter, or iterable of (train, test) index arrays
        Where the splits come from. A splitter with `random_state=None` is seeded from the run's seed.
    kind : str
        Id of the design these splits stand for ("kfold", "monte-carlo", ...), if an estimator should accept them as
        such; "splits" by default, which only plain means accept.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.model_selection import ShuffleSplit
    >>> data = unseen.datasets.load("iris")
    >>> plan = Splits(ShuffleSplit(3, random_state=0), kind="monte-carlo").plan(data, np.random.default_rng(0))
    >>> len(plan), plan.design
    (3, 'monte-carlo')
    """

    source: Any = ()
    kind: str = "splits"
    id: ClassVar[str] = "splits"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return the given splits, checked."""
        pairs = self._pairs(data, rng)
        splits = [
            Split(_indices(a, data.n, "training"), _indices(b, data.n, "test"), repeat=j)
            for j, (a, b) in enumerate(pairs)
        ]
        if not splits:
            raise InputError("the given splits are empty; give at least one pair of training and test indices.")
        overlap = _overlapping(splits, data)
        notes = (
            (note("U002", f"in {overlap} of {len(splits)} given splits, units stand on both sides"),) if overlap else ()
        )
        return Plan(
            self.kind,
            tuple(splits),
            data.units,
            options={"source": _words(self.source), "kind": self.kind},
            notes=notes,
        )

    def _pairs(self, data: Data, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        source = self.source
        if hasattr(source, "split"):
            if getattr(source, "random_state", 0) is None and getattr(source, "shuffle", True):
                import copy

                source = copy.copy(source)
                source.random_state = int(rng.integers(2**31 - 1))
            return list(source.split(np.zeros((data.n, 1)), data.y, data.units if data.grouped else None))
        return [tuple(pair) for pair in source]


def _overlapping(splits: list[Split], data: Data) -> int:
    """Return in how many splits a unit stands on both sides."""
    trained = np.zeros(data.n_units, dtype=bool)
    count = 0
    for split in splits:
        trained[data.units[split.train]] = True
        count += bool(trained[data.units[split.test]].any())
        trained[:] = False
    return count


def _words(source: Any) -> str:
    return " ".join(repr(source).split())[:200] if hasattr(source, "split") else "index pairs"


def _indices(values: Any, n: int, side: str) -> Ints:
    array = np.asarray(values)
    if array.dtype == bool and len(array) == n:
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise InputError(f"a {side} part of the given splits is not a list of row indices with at least one entry.")
    if array.min() < 0 or array.max() >= n:
        wrong = int(array.min() if array.min() < 0 else array.max())
        raise InputError(
            f"a {side} part of the given splits names the index {wrong}, but the rows have the indices 0 to {n - 1}."
        )
    return array.astype(np.int64)


def as_design(design: Any) -> Any:
    """Return a design for what a user may pass: a design, its id, a scikit-learn splitter, index pairs, or a number of folds."""
    if isinstance(design, bool):
        raise KindError("design is a truth value; give a design, its id or a splitter.")
    if isinstance(design, int):
        return build("kfold", "designs", options={"n_folds": design})
    if isinstance(design, str):
        return build(design, "designs")
    if hasattr(design, "plan") and hasattr(design, "id"):
        return design
    if hasattr(design, "split") or isinstance(design, Iterable):
        return Splits(design if hasattr(design, "split") else tuple(design))
    raise KindError(
        f"design is a {type(design).__name__}; give one of {', '.join(classes_in('designs'))}, a scikit-learn splitter or index pairs."
    )
