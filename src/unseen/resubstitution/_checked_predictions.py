"""Predictions of a trained model, checked: whatever is wrong with them becomes a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.errors import InputError, UnseenError
from unseen.core.training import codes_of

__all__ = ["checked_predictions"]


def checked_predictions(predict: Callable[[Any], Any], X: Any, n: int, data: Data) -> Array:
    """Return one prediction for each of the n rows of X: class codes, or numbers if the target holds numbers.

    Examples
    --------
    >>> data = Data(np.zeros((2, 1)), np.array(["a", "b"]), "classification", np.array(["a", "b"]))
    >>> checked_predictions(lambda X: np.full(len(X), "b"), data.X, 2, data).tolist()
    [1, 1]
    >>> checked_predictions(lambda X: "b", data.X, 2, data)
    Traceback (most recent call last):
    ...
    unseen.core.errors.InputError: the model returned predictions of shape () for 2 points.
    """
    try:
        labels = np.asarray(predict(X))
    except UnseenError:
        raise
    except Exception as error:  # a user's model may raise anything; its message is passed on
        raise InputError(f"the model could not predict: {type(error).__name__}: {error}") from error
    if labels.shape == (n, 1):
        labels = labels[:, 0]
    if labels.shape != (n,):
        raise InputError(f"the model returned predictions of shape {labels.shape} for {n} points.")
    try:
        return codes_of(labels, data)
    except UnseenError:
        raise
    except (TypeError, ValueError, np.exceptions.DTypePromotionError) as error:
        known = "a number" if data.classes is None else f"among {data.classes.tolist()}"
        raise InputError(f"the model predicts {labels.tolist()[0]!r}, which is not {known}.") from error
