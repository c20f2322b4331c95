"""What every direct method starts with: a trained model, fitted once if it is not yet, and its labels as codes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.errors import FitError, InputError, UnseenError
from unseen.core.model import Fitted, Model, is_fitted

__all__ = ["Training", "advice_on", "classes_in_one_group", "codes_of", "fit_once", "fit_rows", "model_errors"]

MOST_NAMED = 5  # columns that a message names; their number says the rest


@dataclass(frozen=True)
class Training:
    """A trained model, how many fits that took, and how many seconds."""

    fitted: Fitted
    n_fits: int = 0
    seconds: float = 0.0

    def plus(self, n_fits: int, seconds: float) -> Training:
        """Return the same model with further fits and seconds counted, such as those of a calibration."""
        return replace(self, n_fits=self.n_fits + n_fits, seconds=self.seconds + seconds)


def fit_rows(model: Model, data: Data, seed: int) -> Fitted:
    """Fit a model outside a run of splits; whatever it raises becomes one sentence.

    Parameters
    ----------
    model : Model
        Anything with `fit(data, seed)`.
    data : Data
        The rows to fit.
    seed : int
        Seed of the fit.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> from unseen.request.prepare import model_of
    >>> data = unseen.datasets.load("gaussian-blocks")
    >>> fitted = fit_rows(model_of(LogisticRegression(), data), data, 0)
    >>> fitted.predict(data.X).shape == (data.n,)
    True
    """
    try:
        with model_errors(f"the fit on {data.n:,} rows failed"):
            return model.fit(data, seed)
    except FitError as error:
        raise FitError(f"{error}{advice_on(data, str(error))}") from error.__cause__


def advice_on(data: Data, reason: str) -> str:
    """Return what to do where a fit failed at columns of words or with gaps, or had one class, as a sentence to add; nothing otherwise.

    Parameters
    ----------
    data : Data
        The rows of the fit.
    reason : str
        What the model said.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([0.0, 1.0]), "regression", names=("age", "dose"))
    >>> print(advice_on(data, "ValueError: Input X contains NaN.").strip())
    The column dose has gaps: put an imputer before the model in a pipeline, or give a model by name, such as "ridge", which fills them by itself.
    """
    alone = classes_in_one_group(data)
    if data.classes is not None and "class" in reason and alone.any():
        names = ", ".join(repr(str(label)) for label in data.classes[alone][:MOST_NAMED])
        way = "give other groups, or collect more groups of the class"
        return f"{_stop(reason)} All rows of {names} stand in one group, and whole groups are left out: {way}."
    if hasattr(data.X, "tocsr"):
        return ""
    if "NaN" in reason:
        said, step, done = ("has gaps", "have gaps"), "an imputer", "fills them"
        found = _columns_where(
            data, lambda values: np.any(values.isna() if hasattr(values, "isna") else values != values)
        )
    elif "to float" in reason:
        said, step, done = ("holds words", "hold words"), "an encoder", "encodes them"
        found = _columns_where(data, lambda values: any(isinstance(v, str) for v in values))
    else:
        return ""
    if not found:
        return ""
    names = ", ".join(found[:MOST_NAMED]) + f" and {len(found) - MOST_NAMED} more" * (len(found) > MOST_NAMED)
    which = f"The column {names} {said[0]}" if len(found) == 1 else f"The columns {names} {said[1]}"
    name = "ridge" if data.classes is None else "logistic"
    return (
        f'{_stop(reason)} {which}: put {step} before the model in a pipeline, or give a model by name, such as "{name}", '
        f"which {done} by itself."
    )


def _stop(reason: str) -> str:
    """Return the full stop that a reason lacks."""
    return "" if reason.rstrip().endswith((".", "!", "?")) else "."


def classes_in_one_group(data: Data) -> Array:
    """Say of each class whether all its rows stand in one group; nothing to say without classes or groups.

    Examples
    --------
    >>> import numpy as np
    >>> X, labels = np.zeros((4, 1)), np.array(["a", "b"])
    >>> data = Data(X, labels[[0, 0, 1, 1]], "classification", classes=labels, groups=np.array([0, 1, 2, 2]))
    >>> classes_in_one_group(data).tolist()
    [False, True]
    """
    if data.classes is None or data.groups is None:
        return np.zeros(0, dtype=bool)
    pairs = np.unique(np.column_stack([data.codes, data.units]), axis=0)[:, 0]
    return np.asarray(np.bincount(pairs, minlength=len(data.classes)) == 1)


def _columns_where(data: Data, test: Callable[[Any], Any]) -> list[str]:
    """Return the names of the columns whose values pass a test."""
    columns = data.X.items() if hasattr(data.X, "items") else zip(data.names, np.asarray(data.X).T)
    return [str(name) for name, values in columns if test(values)]


@contextmanager
def model_errors(what: str) -> Iterator[None]:
    """Turn whatever a user's model raises into one sentence that begins with what failed.

    Examples
    --------
    >>> with model_errors("the fit failed"):
    ...     raise ValueError("C is negative")
    Traceback (most recent call last):
    unseen.core.errors.FitError: the fit failed; it says: ValueError: C is negative
    """
    try:
        yield
    except UnseenError:
        raise
    except Exception as error:  # a user's model may raise anything; its words are passed on
        reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        raise FitError(f"{what}; it says: {reason[:500]}") from error


def fit_once(model: Model | Fitted, data: Data, rng: np.random.Generator) -> Training:
    """Return a trained model as it is, or fit the model once on all rows."""
    if is_fitted(model):
        return Training(cast(Fitted, model))
    start = time.perf_counter()
    fitted = fit_rows(cast(Model, model), data, int(rng.integers(2**31 - 1)))
    return Training(fitted, 1, time.perf_counter() - start)


def codes_of(labels: Array, data: Data) -> Array:
    """Return predicted labels as class codes (or numbers as they are), refusing labels the data do not have."""
    if data.classes is None:
        return np.asarray(labels, dtype=float)
    codes = np.minimum(np.searchsorted(data.classes, labels), len(data.classes) - 1)
    wrong = data.classes[codes] != labels
    if np.any(wrong):
        raise InputError(
            f"the model predicts {labels.tolist()[int(np.argmax(wrong))]!r}, which is not among the labels {data.classes.tolist()}."
        )
    return codes.astype(np.int64)
