"""Images a zoo is trained and tested on: checked, standardised by the training set, with a fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError, KindError
from unseen.core.rng import stream

__all__ = ["ZooData", "zoo_data"]

PARTS = ("X_train", "y_train", "X_test", "y_test")


@dataclass(frozen=True, eq=False, kw_only=True)
class ZooData:
    """Standardised inputs and labels of a zoo.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : torch.Tensor
        Inputs with mean 0 and standard deviation 1 per channel over the training set, and class numbers. The test part may be empty.
    value_range : tuple of list
        Black and white after standardising, per channel.
    fingerprint : str
        Of the raw training data.
    """

    X_train: torch.Tensor
    y_train: torch.Tensor
    X_test: torch.Tensor
    y_test: torch.Tensor
    value_range: tuple[Any, Any]
    fingerprint: str

    def to(self, device: Any) -> ZooData:
        """Return the data on a device."""
        return replace(self, **{name: getattr(self, name).to(device) for name in PARTS})

    @property
    def n_classes(self) -> int:
        """Number of classes in the training labels."""
        return int(self.y_train.max()) + 1

    def labels_with_noise(self, share: float) -> torch.Tensor:
        """Return the training labels with this share of them replaced by another class, drawn evenly.

        The rows follow from the data alone, and more noise adds to less: what .2 changes, .4 changes alike.

        References
        ----------
        C. Zhang, S. Bengio, M. Hardt, B. Recht, O. Vinyals (2017). Understanding deep learning requires rethinking generalization. ICLR.

        Examples
        --------
        >>> d = zoo_data({"X_train": np.zeros((10, 2)), "y_train": [0, 1] * 5})
        >>> [int((d.labels_with_noise(share) != d.y_train).sum()) for share in (0.0, 0.2, 0.4)]
        [0, 2, 4]
        """
        if not 0 <= share < 1:
            raise InputError(f"the share of noisy labels is {share!r}; give one from 0 to below 1.")
        n, classes = len(self.y_train), self.n_classes
        rng = stream(int(self.fingerprint[:12], 16), "zoo", "label-noise")
        order, moves = rng.permutation(n), rng.integers(1, classes, n)
        rows = torch.as_tensor(order[: round(share * n)], device=self.y_train.device)
        labels = self.y_train.clone()
        labels[rows] = (labels[rows] + torch.as_tensor(moves, device=labels.device)[rows]) % classes
        return labels

    def of_cell(self, cell: Mapping[str, Any]) -> ZooData:
        """Return the data that a network with these hyper-parameters is trained on."""
        labels, rows = self.labels_with_noise(cell.get("label_noise", 0.0)), cell.get("train_rows", len(self.y_train))
        return replace(self, X_train=self.X_train[:rows], y_train=labels[:rows])


def zoo_data(data: Any) -> ZooData:
    """Turn raw arrays into the data of a zoo.

    Parameters
    ----------
    data : ZooData, mapping or sequence
        X_train, y_train, X_test, y_test by name or in this order; test parts may be left out. Images are (n, channels, height, width), bytes or floats between 0 and 1;
        other inputs are (n, features).

    Examples
    --------
    >>> X = np.array([[[[0, 255]]], [[[255, 0]]]], dtype=np.uint8)
    >>> d = zoo_data({"X_train": X, "y_train": [0, 1]})
    >>> float(d.X_train.mean()), d.value_range, len(d.X_test)
    (0.0, ([-1.0], [1.0]), 0)
    """
    if isinstance(data, ZooData):
        return data
    if not isinstance(data, Mapping):
        try:
            data = dict(zip(PARTS, data))
        except TypeError as error:
            raise KindError(f"data is a {type(data).__name__}; give X_train, y_train, X_test, y_test.") from error
    if "X_train" not in data or "y_train" not in data:
        raise InputError("the data of a zoo need X_train and y_train, and X_test and y_test to know the gaps.")
    raw, y = _raw("X_train", data["X_train"]), _labels("y_train", data["y_train"], len(data["X_train"]))
    digest = hashlib.sha256(np.ascontiguousarray(raw).tobytes() + y.tobytes()).hexdigest()[:16]
    X, low, high = _unit("X_train", raw)
    axes = (0, *range(2, X.ndim))
    mean = X.mean(axes, dtype=np.float64)
    wide = (1, -1, *([1] * (X.ndim - 2)))
    shift = mean.reshape(wide).astype(np.float32)
    away = X - shift  # squares of the values themselves would drown a small spread far from zero
    squares = np.square(away, out=away).mean(axes, dtype=np.float64)
    sd = np.sqrt(np.maximum(squares - (mean - shift.ravel()) ** 2, 0.0))
    sd = np.where(sd > 1e-7, sd, 1.0)
    scale = sd.reshape(wide).astype(np.float32)

    def standard(values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy((values.astype(np.float32) - shift) / scale)

    X_test, y_test = np.empty((0, *X.shape[1:])), np.empty(0, np.int64)
    if "X_test" in data and len(data["X_test"]):
        if "y_test" not in data:
            raise InputError("X_test is given without y_test; give the labels of the test inputs too, or neither.")
        X_test = _unit("X_test", _raw("X_test", data["X_test"]))[0]
        y_test = _labels("y_test", data["y_test"], len(X_test))
        if X_test.shape[1:] != X.shape[1:]:
            raise InputError(f"test inputs have shape {X_test.shape[1:]}, training inputs {X.shape[1:]}.")
    ends = tuple(((v - mean) / sd).tolist() for v in (low, high))
    return ZooData(
        X_train=standard(X),
        y_train=torch.from_numpy(y),
        X_test=standard(X_test),
        y_test=torch.from_numpy(y_test),
        value_range=ends,
        fingerprint=digest,
    )


def _raw(name: str, values: Any) -> np.ndarray:
    array = np.asarray(values.cpu() if isinstance(values, torch.Tensor) else values)
    if array.dtype.kind not in "fiub" or array.ndim not in (2, 4) or len(array) == 0:
        raise InputError(
            f"{name} has shape {array.shape} and kind {array.dtype}; give numbers as (n, features) or (n, channels, height, width)."
        )
    return array


def _unit(name: str, array: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return images between 0 and 1; plain features as they are, with their own ends."""
    values: np.ndarray = array.astype(np.float32)
    if not np.isfinite(values).all():
        raise InputError(f"{name} holds values that are not finite; remove or replace them.")
    if array.ndim == 2:
        return values, float(values.min()), float(values.max())
    if array.dtype == np.uint8:
        values = values / 255
    if values.min() < 0 or values.max() > 1:
        raise InputError(
            f"{name} holds values from {values.min():.4g} to {values.max():.4g}; images are bytes, or floats between 0 and 1."
        )
    return values, 0.0, 1.0


def _labels(name: str, values: Any, n: int) -> np.ndarray:
    array = np.asarray(values.cpu() if isinstance(values, torch.Tensor) else values)
    if array.dtype.kind not in "iub" or array.shape != (n,) or (n and array.min() < 0):
        raise InputError(
            f"{name} has shape {array.shape} and kind {array.dtype}; {n} whole class numbers from 0 are needed."
        )
    return array.astype(np.int64)
