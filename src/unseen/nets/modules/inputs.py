"""Checks of what a net is given: inputs as a tensor, labels as columns of its output."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from unseen.core.errors import FitError, InputError, KindError
from unseen.nets.modules.device import is_out_of_memory, tensor_of

__all__ = ["class_codes", "input_tensor"]

_LABELS = "[label of class 0, label of class 1, ...]"


def input_tensor(X: Any, device: torch.device, dtype: torch.dtype | None) -> torch.Tensor:
    """Return inputs as a finite tensor on the device, refusing what is not one; a dtype of None keeps whole numbers (tokens)."""
    if not isinstance(X, torch.Tensor):
        try:
            X = tensor_of(X)
        except (TypeError, ValueError) as error:
            raise KindError(f"X is a {type(X).__name__} that does not read as numbers; give an array.") from error
    if X.ndim < 2 or len(X) < 1:
        raise InputError(f"X has shape {tuple(X.shape)}; at least one row of at least one number is needed.")
    if X.dtype in (torch.bool, torch.complex64, torch.complex128):
        raise KindError(f"X holds {X.dtype}; convert it to the floats the net was trained on.")
    try:
        X = X.detach().to(device=device, dtype=torch.int64 if dtype is None else dtype)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        size = X.numel() * X.element_size() / 1e9
        raise FitError(
            f"X needs {size:.1f} GB on {device} at once, and there is less; use device='cpu' or fewer rows."
        ) from error
    if not bool(torch.isfinite(X).all()):
        raise InputError("X holds NaN or infinite values; remove or replace them.")
    return X


def class_codes(y: Any, n_classes: int, classes: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as columns of the net's output, and the label of each column.

    Examples
    --------
    >>> class_codes(["b", "a", "b"], 2, np.array(["a", "b"]), 3)[0].tolist()
    [1, 0, 1]
    """
    y = np.asarray(y.detach().cpu() if isinstance(y, torch.Tensor) else y)
    if y.shape != (n,):
        raise InputError(f"y has shape {y.shape}; {n} labels in one dimension are needed, one per row of X.")
    if classes is not None:
        return _codes_among(y, np.asarray(classes), n_classes)
    if y.dtype.kind in "biuf":
        if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
            raise InputError("y holds numbers that are not whole; estimates of a net's error need class labels.")
        codes = y.astype(np.int64)
        if codes.min() < 0 or codes.max() >= n_classes:
            raise InputError(
                f"y holds class indices from {codes.min()} to {codes.max()}, but {_known_classes(n_classes)}, classes 0 to "
                f"{n_classes - 1}; number the classes so, or give classes={_LABELS}."
            )
        return codes, np.arange(n_classes)
    labels = np.unique(y)
    if len(labels) != n_classes:
        raise InputError(
            f"y holds {len(labels)} different labels, but {_known_classes(n_classes)}; give classes={_LABELS}."
        )
    return _codes_among(y, labels, n_classes)


def _known_classes(n_classes: int) -> str:
    """Return how many classes a net knows, in words; one output column may stand for two classes, so outputs are not counted."""
    return f"the net distinguishes {n_classes} classes"


def _codes_among(y: np.ndarray, classes: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    if classes.ndim != 1 or len(classes) != n_classes:
        raise InputError(f"classes names {classes.size} labels, but {_known_classes(n_classes)}; name as many.")
    order = np.argsort(classes)
    place = np.clip(np.searchsorted(classes[order], y), 0, n_classes - 1)
    codes = order[place]
    unknown = np.flatnonzero(classes[codes] != y)
    if len(unknown):
        raise InputError(f"y holds the label {y[unknown[0]]!r}, which is none of the net's classes {classes.tolist()}.")
    return codes.astype(np.int64), classes
