"""Splits given by the user: a scikit-learn splitter or a list of index pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, KindError
from unseen.core.notes import note
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import build, classes_in, register
from unseen.designs.kfold import KFold
from unseen.designs.loo import LeaveOneOut

__all__ = ["Splits", "as_design", "design_of_cv", "recognise"]


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
    words : str
        What the source is called in the record of the run; its own text by default.

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
    words: str = ""
    id: ClassVar[str] = "splits"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return the given splits, checked."""
        splits = self.splits_of(data, rng)
        if self.kind == "repeated-kfold":
            splits = _in_rounds(splits)
        overlap = _overlapping(splits, data)
        notes = (
            (note("U002", f"in {overlap} of {len(splits)} given splits, units stand on both sides"),) if overlap else ()
        )
        return Plan(
            self.kind,
            tuple(splits),
            data.units,
            options={"source": self.words or _words(self.source), "kind": self.kind},
            notes=notes,
        )

    def splits_of(self, data: Data, rng: np.random.Generator) -> list[Split]:
        """Return the splits as they come, their indices checked."""
        splits = [
            Split(_indices(a, data.n, "training"), _indices(b, data.n, "test"), repeat=j)
            for j, (a, b) in enumerate(self._pairs(data, rng))
        ]
        if not splits:
            raise InputError("the given splits are empty; give at least one pair of training and test indices.")
        return splits

    def _pairs(self, data: Data, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        source = self.source
        if hasattr(source, "split"):
            if getattr(source, "random_state", 0) is None and getattr(source, "shuffle", True):
                import copy

                source = copy.copy(source)
                source.random_state = int(rng.integers(2**31 - 1))
            try:
                return list(source.split(np.zeros((data.n, 1)), data.y, data.units if data.grouped else None))
            except (TypeError, ValueError) as error:
                # scikit-learn says so, or counts a single group
                missing = "" if data.grouped or "group" not in str(error).lower() else " Give groups."
                raise InputError(f"the splitter {_words(source)} cannot split these data: {error}{missing}") from error
        return [_pair(one) for one in source]


def _pair(given: Any) -> tuple[Any, Any]:
    try:
        train, test = given
    except (TypeError, ValueError) as error:
        raise InputError(f"index pairs are (train, test); one of them is {str(given)[:60]!r}.") from error
    return train, test


def _in_rounds(splits: list[Split]) -> list[Split]:
    """Return splits with the number of their round and of their fold in it; a round ends once it has tested every row."""
    out, seen, size, repeat, fold = [], 0, sum(len(s.test) for s in splits) // _rounds(splits), 0, 0
    for s in splits:
        out.append(Split(s.train, s.test, repeat=repeat, fold=fold))
        seen, fold = seen + len(s.test), fold + 1
        if seen >= size:
            repeat, seen, fold = repeat + 1, 0, 0
    return out


def _rounds(splits: list[Split]) -> int:
    """Return how often the first tested row is tested."""
    first = splits[0].test[0]
    return sum(bool(np.any(s.test == first)) for s in splits)


def recognise(splits: Sequence[Split], n: int) -> str:
    """Return the id of the design that splits have the form of; "splits" if none is seen.

    Folds are test parts that hold every row once, each trained on all the others, in one round or several. Splits are in time
    if training rows come before test rows and the test parts follow each other. One split is a hold-out.

    Examples
    --------
    >>> rows = np.arange(6)
    >>> folds = [Split(np.setdiff1d(rows, rows[k::3]), rows[k::3]) for k in range(3)]
    >>> recognise(folds, 6), recognise(folds[:2], 6), recognise(folds[:1], 6)
    ('repeated-kfold', 'splits', 'holdout')
    """
    if len(splits) == 1:
        return "holdout"
    covered, whole = np.zeros(n, dtype=bool), True
    for s in splits:
        apart = len(s.train) + len(s.test) == n and not np.intersect1d(s.train, s.test).size
        if not apart or covered[s.test].any():
            whole = False
            break
        covered[s.test] = True
        if covered.all():
            covered[:] = False
    if whole and not covered.any():
        return "repeated-kfold"
    ends = [(s.train.max(), s.test.min(), s.test.max()) for s in splits]
    later = all(a[2] < b[1] for a, b in pairwise(ends))
    return "time-ordered" if later and all(last < first for last, first, _ in ends) else "splits"


def design_of_cv(cv: Any, data: Data, rng: np.random.Generator) -> Any:
    """Return the design for what scikit-learn calls `cv`, so that the methods made for it apply.

    Parameters
    ----------
    cv : int, splitter, iterable of index pairs, design or id of one
        A whole number is one round of so many folds, shuffled, and stratified for classes.
    data : Data
        The sample that is split.
    rng : Generator
        Seeds a splitter that has no seed of its own.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.model_selection import ShuffleSplit, StratifiedKFold
    >>> iris, rng = unseen.datasets.load("iris"), np.random.default_rng(0)
    >>> design_of_cv(StratifiedKFold(5), iris, rng).kind, design_of_cv(ShuffleSplit(9), iris, rng).kind
    ('repeated-kfold', 'monte-carlo')
    >>> design_of_cv(5, iris, rng)
    RepeatedKFold(n_folds=5, n_repeats=1, stratify='auto')
    """
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(f"cv is {cv}; folds are at least 2.")
        return build("repeated-kfold", "designs", options={"n_folds": int(cv), "n_repeats": 1})
    if isinstance(cv, type):
        raise KindError(f"cv is the class {cv.__name__}; give an object of it, such as {cv.__name__}().")
    known = isinstance(cv, (str, Iterable)) or hasattr(cv, "split") or hasattr(cv, "plan")
    if isinstance(cv, Mapping) or not known:
        raise KindError(
            f"cv is {_words_of_value(cv)}; give a number of folds, a scikit-learn splitter, pairs of training and test rows, or the id of a design."
        )
    made = as_design(cv)
    if isinstance(made, (KFold, LeaveOneOut)):  # one round of folds is one, whoever draws it
        return Splits(tuple((s.train, s.test) for s in made.plan(data, rng).splits), "repeated-kfold", repr(made))
    if not isinstance(made, Splits) or made.kind != "splits":
        return made
    found = made.splits_of(data, rng)
    kind = recognise(found, data.n)
    if kind == "splits" and "ShuffleSplit" in type(cv).__name__:
        kind = "monte-carlo"
    return Splits(tuple((s.train, s.test) for s in found), kind, _words(cv))


def _overlapping(splits: list[Split], data: Data) -> int:
    """Return in how many splits a unit stands on both sides."""
    trained = np.zeros(data.n_units, dtype=bool)
    count = 0
    for split in splits:
        trained[data.units[split.train]] = True
        count += bool(trained[data.units[split.test]].any())
        trained[:] = False
    return count


def _words_of_value(value: Any) -> str:
    return repr(value) if isinstance(value, (bool, float)) else f"a {type(value).__name__}"


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
