"""The check in front of `unseen.measure`: truth and predictions, as codes, decisions and scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import check_size_of_weights
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.losses import PredictionTable

__all__ = ["ScoredCases", "check_scored_cases", "one_round", "scored_cases_of"]

# whole numbers with more different values are more likely counts than classes
MOST_CLASSES = 20
# probabilities written with three digits may miss a sum of 1 by this much
ROUNDING_OF_SHARES = 1e-3


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredCases:
    """Truth, decisions and scores of a set of cases.

    Parameters
    ----------
    task : {"classification", "regression"}
        What was predicted.
    y, value : ndarray
        Class codes, or numbers: the truth and the decision.
    score : ndarray or None
        One column per class, or a single column that is higher for the second class.
    probability : bool
        Whether the scores are probabilities.
    classes : ndarray or None
        Sorted labels.
    positive : int
        Code of the positive class.
    units : ndarray of int
        Independent unit of each case.
    weight : ndarray
        Weight of each case.
    threshold : float or None
        Score from which on a case was called positive.
    outputs : tuple of str
        Names of several numbers predicted per case, which then follow one another in y and value.
    """

    task: str
    y: Array
    value: Array
    score: Floats | None
    probability: bool
    classes: Array | None
    positive: int
    units: Ints
    weight: Floats
    threshold: float | None = None
    outputs: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of predictions."""
        return len(self.y)

    @property
    def n_cases(self) -> int:
        """Number of cases; each has one prediction, or one per output."""
        return self.n // max(len(self.outputs), 1)

    @property
    def n_units(self) -> int:
        """Number of independent units."""
        return int(self.units.max()) + 1

    @property
    def simple(self) -> bool:
        """Whether every case is its own unit and counts once."""
        return self.n_units == self.n and bool(np.all(self.weight == 1))

    @property
    def size(self) -> int:
        """Number of classes."""
        return 0 if self.classes is None else len(self.classes)

    def label(self, code: int) -> str:
        """Return the name of a class."""
        assert self.classes is not None
        return str(self.classes[code])

    def code(self, label: Any) -> int:
        """Return the code of a label; None means the positive class."""
        if label is None:
            return self.positive
        names = [] if self.classes is None else [str(c) for c in self.classes]
        if str(label) not in names:
            raise UnknownName("class", label, names)
        return names.index(str(label))

    def column(self, code: int) -> Floats:
        """Return the score of a class, higher for it."""
        if self.score is None:
            raise InputError("there are no scores, only decisions; give probabilities or decision values for a curve.")
        if self.score.shape[1] > 1:
            return self.score[:, code]
        return self.score[:, 0] if code == 1 else -self.score[:, 0]


def check_scored_cases(
    y_true: Any, y_score: Any, y_pred: Any, positive: Any, threshold: float | None, groups: Any, weight: Any, task: Any
) -> ScoredCases:
    """Check truth and predictions and return them as cases; groups are the independent units."""
    y, given = _vector(y_true, "y_true"), np.asarray(y_score)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim not in (1, 2) or len(given) != len(y) or not len(y):
        raise InputError(f"y_score has shape {given.shape} for {len(y)} true values; give one row per case.")
    units = (
        np.arange(len(y)) if groups is None else np.unique(_vector(groups, "groups", len(y)), return_inverse=True)[1]
    )
    weights = _weights(weight, len(y))
    if task not in (None, "classification", "regression"):
        raise InputError(f"task is {task!r}; it is 'classification' or 'regression'.")
    if (task or _task(y, given, y_pred)) == "regression":
        numbers = _numbers(given, "y_score")
        if numbers.ndim != 1 or y_pred is not None:
            raise InputError(
                f"the truth holds {len(np.unique(y)):,} different numbers, and numbers are predicted one per case: give one column of "
                "predictions, as scores or as decisions, not both; or say that the task is classification."
            )
        return ScoredCases(
            task="regression",
            y=_numbers(y, "y_true"),
            value=numbers,
            score=None,
            probability=False,
            classes=None,
            positive=1,
            units=units.reshape(-1),
            weight=weights,
        )
    return _classified_cases(y, given, y_pred, positive, threshold, units.astype(np.int64).reshape(-1), weights)


def _classified_cases(
    y: Array, given: Array, y_pred: Any, positive: Any, threshold: float | None, units: Ints, weights: Floats
) -> ScoredCases:
    scored = given.ndim == 2 or (_numeric(given) and len(np.unique(y)) <= 2)
    decided = _vector(y_pred, "y_pred", len(y)) if y_pred is not None else None if scored else given
    columns = [y] if decided is None else [y, decided]
    text = any(not _numeric(c) for c in columns) and any(_numeric(c) for c in columns)
    columns = [c.astype(str) for c in columns] if text else columns
    classes, codes = np.unique(np.concatenate(columns), return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64)
    true = codes[: len(y)]
    if len(np.unique(true)) < 2:
        raise InputError(f"y_true holds the single class {str(classes[true[0]])!r}; measures of a classifier need two.")
    place = int(true.max())
    if positive is not None:
        names = [str(c) for c in classes]
        if str(positive) not in names:
            raise UnknownName("class for positive", positive, names)
        place = names.index(str(positive))
    if not scored:
        return ScoredCases(
            task="classification",
            y=true,
            value=codes[len(y) :],
            score=None,
            probability=False,
            classes=classes,
            positive=place,
            units=units,
            weight=weights,
        )
    if threshold is not None and np.isnan(threshold):
        raise InputError("threshold is nan; give the score from which on a case is called positive.")
    score, probability = _scores(given, classes, place)
    if score.shape[1] > 2 or (decided is None and len(classes) > 2):
        value = score.argmax(axis=1)
        threshold = None
    else:
        column = score[:, place] if score.shape[1] == 2 else score[:, 0] if place == 1 else -score[:, 0]
        threshold = (0.5 if probability else 0.0) if threshold is None else float(threshold)
        value = np.where(column >= threshold, place, 1 - place)
    if decided is not None:
        value, threshold = codes[len(y) :], None
    return ScoredCases(
        task="classification",
        y=true,
        value=value.astype(np.int64),
        score=score,
        probability=probability,
        classes=classes,
        positive=place,
        units=units,
        weight=weights,
        threshold=threshold,
    )


def _scores(given: Array, classes: Array, positive: int) -> tuple[Floats, bool]:
    """Return scores, with a column per class if they are probabilities, and whether they are."""
    values = _numbers(given, "y_score")
    inside = values.min() >= 0 and values.max() <= 1
    if values.ndim == 1:
        if len(classes) > 2:
            raise InputError(
                f"one column of scores serves two classes, and there are {len(classes)}; give one per class."
            )
        if inside:
            pair = [1 - values, values] if positive == 1 else [values, 1 - values]
            return np.column_stack(pair), True
        return (values if positive == 1 else -values)[:, None], False
    if values.shape[1] != len(classes):
        raise InputError(
            f"y_score has {values.shape[1]} columns for {len(classes)} classes; give one per class, sorted."
        )
    sums_to_one = bool(np.allclose(values.sum(axis=1), 1, atol=ROUNDING_OF_SHARES))
    if len(classes) == 2 and not (inside and sums_to_one):
        return values[:, 1:] - values[:, :1], False  # logits of two classes decide by which is larger
    return values, bool(inside and sums_to_one)


def scored_cases_of(table: PredictionTable) -> ScoredCases:
    """Return the rows that a table of predictions tested, each once, as cases."""
    data, test = table.data, table.test
    if len(np.unique(test.row)) < len(test.row):
        raise InputError(
            f"the design {table.plan.design!r} tests rows several times; measure a table whose rows are tested once, "
            "such as kfold, loo or holdout."
        )
    weight = np.ones(len(test)) if data.weights is None else data.weights[test.row]
    units = np.unique(data.units[test.row], return_inverse=True)[1].astype(np.int64).reshape(-1)
    if data.classes is None:
        return ScoredCases(
            task="regression",
            y=data.y[test.row],
            value=test.value,
            score=None,
            probability=False,
            classes=None,
            positive=1,
            units=units,
            weight=weight,
        )
    place = len(data.classes) - 1 if data.positive is None else int(np.searchsorted(data.classes, data.positive))
    kind = table.score_kind == "probability"
    return ScoredCases(
        task="classification",
        y=data.codes[test.row],
        value=test.value.astype(np.int64),
        score=test.score,
        probability=kind,
        classes=data.classes,
        positive=place,
        units=units,
        weight=weight,
    )


def one_round(table: PredictionTable) -> PredictionTable:
    """Return the first round of cross-validation, which tests every row once."""
    first = np.array([s.repeat == 0 for s in table.plan.splits])
    return replace(table, test=table.test.where(first[table.test.split]), train=None)


def _numeric(values: Array) -> bool:
    return values.dtype.kind in "fiub"


def _task(y: Array, given: Array, y_pred: Any) -> str:
    if not _numeric(y) or given.ndim == 2 or (y_pred is not None and not _numeric(np.asarray(y_pred))):
        return "classification"
    kinds = len(np.unique(y))
    if kinds <= 2:
        return "classification"
    whole = y.dtype.kind in "iub" or bool(np.all(y == np.round(y)))
    labels = y_pred is not None or not _numeric(given) or bool(np.all(given == np.round(given)))
    return "classification" if whole and labels and kinds <= MOST_CLASSES else "regression"


def _vector(values: Any, name: str, n: int | None = None) -> Array:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise KindError(f"{name} has shape {array.shape}; give one value per case.")
    if n is not None and len(array) != n:
        raise InputError(f"{name} has {len(array)} values for {n} cases.")
    if array.dtype == object:
        lost = np.array([v is None or v != v for v in array])
        if lost.any():
            raise InputError(
                f"{name} lacks a value in {int(lost.sum())} cases (first: number {int(np.argmax(lost)) + 1})."
            )
        array = np.array(array.tolist())
        if array.ndim != 1:
            raise KindError(f"{name} holds sequences; give one value per case.")
    if array.dtype.kind == "f" and np.isnan(array).any():
        lost = np.isnan(array)
        raise InputError(f"{name} is NaN in {int(lost.sum())} cases (first: number {int(np.argmax(lost)) + 1}).")
    return array


def _numbers(values: Array, name: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} holds something that is no number: {error}.") from error
    bad = ~np.isfinite(numbers)
    if bad.any():
        first = int(np.argmax(bad.reshape(len(bad), -1).any(axis=1))) + 1
        raise InputError(
            f"{name} is not finite in {int(bad.sum())} places (first: case {first}); leave such cases out."
        )
    return numbers


def _weights(weight: Any, n: int) -> Floats:
    if weight is None:
        return np.ones(n)
    values = _numbers(_vector(weight, "sample_weight", n), "sample_weight")
    if values.min() < 0 or values.sum() <= 0:
        raise InputError("sample_weight holds a negative weight, or nothing but zeros.")
    check_size_of_weights(values)
    return values
