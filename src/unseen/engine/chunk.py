"""One chunk of tasks: fit, predict, and turn whatever happens into outcomes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.model import Model
from unseen.core.plan import Split
from unseen.engine.packing import PackedTask, unpack_tasks
from unseen.engine.threads import limited_threads

__all__ = ["Outcome", "Probe", "Wants", "distinct", "outcome_of", "run_chunk", "run_chunk_in_worker", "wanted_rows"]

Probe = Callable[[Any, Data, Data], Any]

SPARSE_ROWS = 64  # largest row number over number of rows from which counting up to it is slower than sorting


@dataclass(frozen=True)
class Wants:
    """What a run must keep of each fit."""

    train: bool = False
    scores: bool = False
    probes: Mapping[str, Probe] = field(default_factory=dict)
    threads: int | None = 1
    shortcuts: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What one fit gave, or why it failed."""

    index: int
    seconds: float
    reason: str = ""
    test: Array | None = None
    test_score: Floats | None = None
    train_rows: Ints | None = None
    train_count: Ints | None = None
    train: Array | None = None
    train_score: Floats | None = None
    score_kind: str | None = None
    probes: Mapping[str, Any] = field(default_factory=dict)


def encode(values: Array, data: Data) -> Array:
    """Return predictions as class codes or finite numbers, or say what is wrong with them."""
    if data.classes is not None:
        codes = np.searchsorted(data.classes, values)
        found = np.minimum(codes, len(data.classes) - 1)
        wrong = data.classes[found] != values
        if np.any(wrong):
            raise InputError(f"the model predicted {str(values[np.argmax(wrong)])!r}, which is not a label of the data")
        return found.astype(np.int64)
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if not np.all(np.isfinite(numbers)):
        raise InputError("the model predicted a value that is not finite")
    return numbers


def outcome_of(index: int, split: Split, data: Data, seconds: float, values: Array, rows: Ints, score: Any) -> Outcome:
    """Sort predictions for `rows` (test rows first) into an outcome."""
    if len(values) != len(rows):
        raise InputError(f"the model returned {len(values)} predictions for {len(rows)} rows")
    codes = encode(values, data)
    n_test = len(split.test)
    scores, kind = (None, None) if score is None else score
    parts: dict[str, Any] = {
        "test": codes[:n_test],
        "test_score": None if scores is None else scores[:n_test],
    }
    if len(rows) > n_test:
        unique = rows[n_test:]
        repeats = len(unique) < len(split.train)
        parts |= {
            "train_rows": unique,
            "train_count": np.bincount(split.train)[unique] if repeats else None,
            "train": codes[n_test:],
        }
        parts["train_score"] = None if scores is None else scores[n_test:]
    return Outcome(index=index, seconds=seconds, score_kind=kind, **parts)


def wanted_rows(split: Split, wants: Wants) -> Ints:
    """Return the rows one predict call must cover: test rows, then distinct training rows."""
    if not wants.train and len(split.test):
        return split.test
    return np.concatenate([split.test, distinct(split.train)])


def distinct(rows: Ints) -> Ints:
    """Return each row once, in ascending order; counting is a hundred times quicker than numpy's hashes or a sort.

    Examples
    --------
    >>> distinct(np.array([4, 0, 4, 2])).tolist()
    [0, 2, 4]
    """
    if len(rows) and int(rows.max()) > SPARSE_ROWS * len(rows):
        return np.unique(rows)
    return np.flatnonzero(np.bincount(rows)).astype(np.int64, copy=False)


def _one(index: int, split: Split, model: Model, data: Data, seed: int, wants: Wants) -> Outcome:
    start = time.perf_counter()
    try:
        np.random.seed(seed)  # noqa: NPY002  models that draw from numpy's global state repeat too
        fitted, train = None, cast(Any, None)
        if wants.shortcuts and not wants.probes and hasattr(model, "fit_part"):
            fitted = model.fit_part(data, split.train, seed)
        if fitted is None:
            train = data.take(split.train)
            fitted = model.fit(train, seed)
        if not wants.probes:
            train = None  # its memory is free for the rows that are predicted
        rows = wanted_rows(split, wants)
        X = data.features(rows)
        both = getattr(fitted, "predict_with_scores", None) if wants.scores else None
        if both is None:
            values, score = fitted.predict(X), fitted.scores(X) if wants.scores else None
        else:
            values, score = both(X)
        probes = {name: probe(fitted, train, data.take(split.test)) for name, probe in wants.probes.items()}
        outcome = outcome_of(index, split, data, time.perf_counter() - start, values, rows, score)
        return replace(outcome, probes=probes) if probes else outcome
    except Exception as error:  # a user's model may raise anything; the reason is kept as the row's
        reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        return Outcome(index=index, seconds=time.perf_counter() - start, reason=reason[:500])


def run_chunk(tasks: Sequence[tuple[int, Split, int]], model: Model, data: Data, wants: Wants) -> list[Outcome]:
    """Run (index, split, seed) tasks one after the other, with numpy's global state and warnings left as they were."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [_one(index, split, model, data, seed, wants) for index, split, seed in tasks]
    finally:
        np.random.set_state(state)  # noqa: NPY002


def run_chunk_in_worker(tasks: Sequence[PackedTask], model: Model, data: Data, wants: Wants) -> list[Outcome]:
    """Run a packed chunk with the wanted number of BLAS threads; a driver sets that limit once for all its chunks."""
    with limited_threads(wants.threads):
        return run_chunk(unpack_tasks(tasks), model, data, wants)
