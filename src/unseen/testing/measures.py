"""The contract of a loss or measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import declare
from unseen.testing._describe import check_described, check_record

__all__ = ["MEASURE_CHECKS", "check_measure"]


def _examples(measure: Any, n: int = 25) -> tuple[Array, Array, Floats | None]:
    """Return targets, predictions and scores that suit the measure's task."""
    rng = np.random.default_rng(1)
    if measure.task == "regression":
        return rng.standard_normal(n), rng.standard_normal(n), None
    y, value = rng.integers(0, 2, n), rng.integers(0, 2, n)
    y[:2] = 0, 1
    score = rng.dirichlet([1.0, 1.0], n)
    return y, value, score


def is_described(measure: Any) -> None:
    """File, docstring and class attributes."""
    cls = type(measure)
    check_described(cls)
    check_record(cls)
    assert cls.task in ("classification", "regression", "any"), f"{cls.id}: task is {cls.task!r}"
    assert cls.direction in ("lower", "higher"), f"{cls.id}: direction is {cls.direction!r}"
    assert isinstance(cls.needs_score, bool), f"{cls.id}: needs_score is not declared"
    low, high = cls.range
    assert low < high, f"{cls.id}: range is {cls.range}"
    assert cls.kind in ("loss", "set"), f"{cls.id}: kind is {cls.kind!r}"
    formula = "per_example" if cls.kind == "loss" else "of_set"
    assert callable(getattr(cls, formula, None)), f"{cls.id} is of the kind {cls.kind!r} and has no {formula}"
    neutral = cls.neutral
    assert neutral is None or low <= neutral <= high, f"{cls.id}: the neutral value {neutral} is out of range"


def losses_are_in_range(measure: Any) -> None:
    """One finite number per example, inside the declared range, lower being better."""
    if measure.kind != "loss":
        return
    y, value, score = _examples(measure)
    losses = np.asarray(measure.per_example(y, value, score))
    assert losses.shape == y.shape and losses.dtype.kind == "f", f"{measure.id}: one float per example is needed"
    low, high = measure.range
    assert np.all((losses >= low - 1e-12) & (losses <= high + 1e-12)), f"{measure.id}: a loss is out of range"
    assert measure.direction == "lower", f"{measure.id}: inside this package losses are lower for better predictions"


def truth_costs_least(measure: Any) -> None:
    """Predicting the truth costs no more than anything else."""
    if measure.kind != "loss":
        return
    y, value, score = _examples(measure)
    right = None if score is None else np.eye(2)[y]
    best = np.mean(measure.per_example(y, y, right))
    assert best < np.mean(measure.per_example(y, value, score)), f"{measure.id}: the truth is not the best prediction"


def examples_stand_alone(measure: Any) -> None:
    """The loss of an example does not depend on its neighbours."""
    if measure.kind != "loss":
        return
    y, value, score = _examples(measure)
    whole = measure.per_example(y, value, score)
    one = [
        measure.per_example(y[k : k + 1], value[k : k + 1], None if score is None else score[k : k + 1])[0]
        for k in range(5)
    ]
    assert np.allclose(whole[:5], one), f"{measure.id}: the loss of an example depends on the others"


def no_information_is_the_mean_over_pairs(measure: Any) -> None:
    """The closed form of the no-information rate equals the mean over all n^2 pairs."""
    if measure.kind != "loss":
        return
    y, value, score = _examples(measure)
    n = len(y)
    left, right = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    pairs = measure.per_example(y[left], value[right], None if score is None else score[right])
    rate = measure.no_information(y, value, score)
    assert np.isclose(rate, np.mean(pairs), rtol=1e-10), f"{measure.id}: {rate} against {np.mean(pairs)} over all pairs"


def sets_are_in_range(measure: Any) -> None:
    """A measure of a set lies in its range, and predicting the truth is better than guessing in its direction."""
    if measure.kind != "set":
        return
    y, value, score = _examples(measure)
    got = measure.of_set(y, value, score)
    low, high = measure.range
    assert low - 1e-12 <= got <= high + 1e-12, f"{measure.id}: {got} is out of range"
    best = measure.of_set(y, y, None if score is None else np.eye(2)[y])
    better = best > got if measure.direction == "higher" else best < got
    assert better, f"{measure.id}: the truth gives {best}, a guess {got}, and {measure.direction} is said to be better"


def whole_weights_are_copies(measure: Any) -> None:
    """A row of weight 2 counts as two rows, one of weight 0 as none; all weightings at once give the same numbers."""
    if measure.kind != "set":
        return
    y, value, score = _examples(measure)
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    weight[:2] = 1
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    weighted = measure.of_set(y, value, score, weight)
    plain = measure.of_set(y[copies], value[copies], None if score is None else score[copies])
    assert np.isclose(weighted, plain, rtol=1e-10), f"{measure.id}: {weighted} with weights, {plain} with copies"
    both = measure.of_weights(y, value, score, np.stack([np.ones(len(y)), weight]))
    single = [measure.of_set(y, value, score), weighted]
    assert np.allclose(both, single, rtol=1e-10), f"{measure.id}: of_weights gives {both}, of_set {single}"


MEASURE_CHECKS = (
    is_described,
    losses_are_in_range,
    truth_costs_least,
    examples_stand_alone,
    no_information_is_the_mean_over_pairs,
    sets_are_in_range,
    whole_weights_are_copies,
)


def check_measure(cls: type[Any], **options: Any) -> None:
    """Run the whole contract over a loss or measure.

    Parameters
    ----------
    cls : type
        A registered measure.
    **options
        Options to build it with; none by default.

    Examples
    --------
    >>> from unseen.measures.brier import Brier
    >>> check_measure(Brier)
    """
    declare(cls)
    for check in MEASURE_CHECKS:
        check(cls(**options))
