"""All splits of a design answered by one batched training, for the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unseen.core.errors import UnseenError
from unseen.nets._device import _one_thread
from unseen.nets._estimator import Estimator, checked_features
from unseen.nets._fits import Fits

__all__ = ["answers", "softmax"]

Tables = Sequence[tuple[Any, Any]]


def answers(
    net: Any, data: Any, splits: Sequence[Any], seeds: Sequence[int], tables: Tables | None, progress: bool = False
) -> Any:
    """Return labels and probabilities of all rows for each split, or None where splits must be fitted one by one."""
    classes = data.classes
    if classes is None or len(splits) < 2:
        return None
    codes = np.searchsorted(classes, data.y)
    counts = np.ones(data.n, dtype=bool) if data.weights is None else data.weights > 0
    if any(len(np.unique(codes[s.train[counts[s.train]]])) < len(classes) for s in splits):
        return None
    if net.random_state is None:
        own = [int(s) % (2**31 - 1) for s in seeds]
    elif isinstance(net.random_state, (int, np.integer)):
        own = [int(net.random_state)] * len(splits)
    else:
        return None
    trains = [s.train for s in splits]
    if data.groups is not None and any(len(np.unique(data.units[rows])) < 2 for rows in trains):
        return None  # a single group must be parted after all, as a fit by itself does
    named = np.arange(data.n) if data.together is None else data.together
    try:
        with _one_thread():
            if tables is None:
                rows = _numbers(data.X.reshape(data.n, *data.sample_shape) if data.sample_shape else data.X)
                fits = net._trained(rows, codes, np.asarray(classes), trains, own, data.weights, named, progress)
            else:
                rows = np.stack([_numbers(every) for _, every in tables])
                learnt = [table for table, _ in tables]
                fits = _trained_apart(net, learnt, codes, trains, own, data, named, progress)
            if fits.failed.any():
                return None
            lead = rows.shape[: 1 if tables is None else 2]
            logits = fits.logits(rows.reshape(*lead, *fits.sample_shape), own=tables is not None)
    except (UnseenError, TypeError, ValueError):
        return None
    each = logits.double().cpu().numpy()[:, :, : len(classes)]
    return [(classes[one.argmax(axis=1)], (softmax(one), "probability")) for one in each]


def _trained_apart(
    net: Any,
    tables: Sequence[Any],
    codes: np.ndarray,
    trains: Sequence[np.ndarray],
    seeds: Sequence[int],
    data: Any,
    named: np.ndarray,
    progress: bool,
) -> Fits:
    """Train nets that each have a table of their own, laid end to end."""
    ends = np.cumsum([len(t) for t in trains])
    sets = [np.arange(end - len(t), end) for t, end in zip(trains, ends)]
    rows = np.concatenate(trains)
    weights = None if data.weights is None else data.weights[rows]
    array = np.concatenate([_numbers(table) for table in tables])
    classes = np.asarray(data.classes)
    fits: Fits = net._trained(array, codes[rows], classes, sets, seeds, weights, named[rows], progress)
    return fits


def _numbers(X: Any) -> np.ndarray:
    return checked_features(Estimator(), X, first=True)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return the softmax over the last axis.

    Examples
    --------
    >>> softmax(np.array([0.0, np.log(3.0)])).tolist()
    [0.25, 0.75]
    """
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)
