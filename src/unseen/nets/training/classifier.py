"""A torch module as a scikit-learn classifier: labels of any kind, early stopping, cross-validation as one batched training."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from unseen.core.errors import InputError, KindError, UnseenError
from unseen.nets.modules.architectures import make_mlp
from unseen.nets.modules.device import (
    device_of,
    dtype_of,
    exact_float32,
    is_out_of_memory,
    limited_torch,
    rows_at_once,
    tensor_of,
)
from unseen.nets.modules.logits import LogitFunction
from unseen.nets.training.classifier_file import read_classifier, write_classifier
from unseen.nets.training.fit_many import fit_many
from unseen.nets.training.fits import Fits
from unseen.nets.training.initial_weights import count_outputs, strip_softmax
from unseen.nets.training.settings import seed_of, weights_by_number, weights_of_rows
from unseen.nets.training.sklearn_conventions import (
    SklearnEstimator,
    check_features,
    check_labels,
    encode_labels,
    reshape_rows,
)

__all__ = ["Classifier", "TrainingSpec", "inputs_for", "predict_splits", "softmax"]


# parameters that say how a net is trained, under the names that `fit_many` has for them
TRAINING = (
    "epochs",
    "batch_size",
    "lr",
    "momentum",
    "weight_decay",
    "dropout",
    "patience",
    "validation",
    "stop",
    "stop_at",
    "optimizer",
)


class Classifier(SklearnEstimator):
    """Train a torch module with `fit` and ask it with `predict` and `predict_proba`.

    Everything in this package takes it; a cross-validation of it is one batched training of all its nets (see `fit_many`).

    Parameters
    ----------
    module : nn.Module, class or callable, optional
        Architecture, as for `fit_many`; a perceptron with one hidden layer of 32 units by default.
    epochs, batch_size, lr, momentum, weight_decay, dropout, patience, validation, stop, stop_at, optimizer
        As for `fit_many`. Momentum is .9 here.
    class_weight : None, "balanced" or dict
        Weights of classes in the loss, by label.
    input_shape : tuple of int, optional
        Shape of an example, if X comes flat: (channels, height, width).
    device, dtype
        "auto", "cpu" or "cuda"; "float32" or "float64".
    random_state : int, Generator or None
        Same number, same net (bit for bit on a CPU).
    progress : bool or None
        Show a bar after two seconds; None shows it in a terminal.
    after_epoch : callable, optional
        As for `fit_many`, such as `Monitor.follow`.

    Attributes
    ----------
    module_ : nn.Module
        The trained net, on the CPU, in evaluation mode.
    classes_ : ndarray
        Labels in the order of the logits.
    history_, reason_, n_epochs_, how_
        What `Fits` says of the net.

    Examples
    --------
    >>> import numpy as np, unseen.nets as nets
    >>> rng = np.random.default_rng(0)
    >>> y = np.array(["calm", "wild"])[np.arange(80) % 2]
    >>> X = rng.normal(size=(80, 3)) + 2 * (y == "wild")[:, None]
    >>> net = nets.Classifier(epochs=30, random_state=0).fit(X, y)
    >>> bool((net.predict(X) == y).mean() > 0.9), net.predict_proba(X).shape
    (True, (80, 2))
    """

    def __init__(
        self,
        module: Any = None,
        *,
        epochs: int = 200,
        batch_size: int = 32,
        lr: float = 0.02,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        dropout: float | None = None,
        patience: int = 10,
        validation: float = 0.1,
        stop: str = "patience",
        stop_at: float | None = None,
        optimizer: str = "sgd",
        class_weight: Any = None,
        input_shape: tuple[int, ...] | None = None,
        device: str = "auto",
        dtype: str = "float32",
        random_state: Any = None,
        progress: bool | None = False,
        after_epoch: Any = None,
    ) -> None:
        self.module = module
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.patience = patience
        self.validation = validation
        self.stop = stop
        self.stop_at = stop_at
        self.optimizer = optimizer
        self.class_weight = class_weight
        self.input_shape = input_shape
        self.device = device
        self.dtype = dtype
        self.random_state = random_state
        self.progress = progress
        self.after_epoch = after_epoch

    def fit(self, X: Any, y: Any, sample_weight: Any = None, copies: Any = None) -> Classifier:
        """Train a net on rows and labels; an earlier fit is forgotten.

        Parameters
        ----------
        X, y : array-like
            Rows, flat or in their shape, and labels of any kind.
        sample_weight : array-like, optional
            Weight of each row in the loss, as for `fit_many`.
        copies : array-like, optional
            Name of the example that each row is a copy of, as for `fit_many`; the engine gives it for rows that it drew with repeats.
        """
        array = check_features(self, X, first=True)
        classes, codes = encode_labels(check_labels(y, len(array), type(self).__name__))
        weights = weights_of_rows(sample_weight, len(array))
        counted = classes if weights is None else classes[np.unique(codes[weights > 0])]
        if len(counted) < 2:
            raise InputError(
                f"y holds one class only ({counted.tolist()[0]!r}); Classifier can't train with one class."
            )
        fits = self._train(array, codes, classes, None, [seed_of(self.random_state)], weights, copies)
        self._store_fit(fits, classes)
        return self

    def _store_fit(self, fits: Fits, classes: np.ndarray) -> None:
        self.module_ = fits.module(0)
        self.classes_ = classes
        self.history_, self.reason_, self.how_ = fits.history[0], fits.reasons[0], fits.how
        self.n_epochs_ = int(fits.epochs[0])
        self.sample_shape_ = fits.sample_shape

    def _train(
        self,
        array: np.ndarray,
        codes: np.ndarray,
        classes: np.ndarray,
        sets: Any,
        seeds: Sequence[int],
        rows: Any,
        copies: Any,
        progress: bool = False,
    ) -> Fits:
        options = {name: getattr(self, name) for name in (*TRAINING, "device", "dtype", "after_epoch")}
        options["progress"] = progress or self.progress
        return fit_many(
            make_mlp if self.module is None else self.module,
            self._reshape(array),
            codes,
            sets,
            seeds=list(seeds),
            class_weight=weights_by_number(self.class_weight, classes),
            n_classes=len(classes),
            sample_weight=rows,
            copies=copies,
            **options,
        )

    def _reshape(self, array: np.ndarray) -> np.ndarray:
        return array if self.input_shape is None else reshape_rows(array, self.input_shape)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the logits, one column per class; for two classes the second minus the first."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the softmax of the logits, in the order of `classes_`."""
        return softmax(self._logits(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the label with the largest logit."""
        best = self._logits(X).argmax(axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows, or of their weights, whose label is predicted."""
        hits = self.predict(X) == np.asarray(y)
        return float(np.average(hits, weights=weights_of_rows(sample_weight, len(hits))))

    @limited_torch()
    @torch.no_grad()
    def _logits(self, X: Any) -> np.ndarray:
        self._check_fitted()
        rows = tensor_of(self._reshape(check_features(self, self._as_images(X), first=False)))
        if tuple(rows.shape[1:]) != tuple(self.sample_shape_):
            raise InputError(
                f"the net reads examples of shape {tuple(self.sample_shape_)}; X has shape {tuple(rows.shape)}."
            )
        where, trained = device_of(self.device), dtype_of(self.dtype)
        # float64 on a CPU: what is said of a row must not depend on the rows asked about with it
        dtype = trained if where.type == "cuda" else torch.float64
        try:
            return self._logits_with(rows, where, dtype)
        except RuntimeError as error:
            if dtype == trained or is_out_of_memory(error):
                raise
            return self._logits_with(rows, where, trained)  # a module may insist on the kind it was trained in

    def _logits_with(self, rows: Tensor, where: torch.device, dtype: torch.dtype) -> np.ndarray:
        net: nn.Module = copy.deepcopy(self.module_).to(where, dtype)
        with exact_float32():
            function = LogitFunction(
                raw=net, module=net, device=where, dtype=dtype, most=[rows_at_once(self.sample_shape_, where)]
            )
            logits = function.map_batches(lambda part: net(part.to(where, dtype, copy=True)).double().cpu(), rows)
        return logits.numpy()[:, : len(self.classes_)]

    def _as_images(self, X: Any) -> Any:
        """Return flat rows in the shape of the examples that the net was trained on."""
        shape = self.sample_shape_
        flat = self.input_shape is None and len(shape) > 1 and getattr(X, "ndim", 0) == 2
        return np.asarray(X).reshape(len(X), *shape) if flat and X.shape[1] == int(np.prod(shape)) else X

    def fit_many(
        self,
        data: Any,
        splits: Sequence[Any],
        seeds: Sequence[int],
        tables: Sequence[tuple[Any, Any]] | None = None,
        progress: bool = False,
    ) -> Any:
        """Train one net per split, all together, and return predictions and probabilities for all rows of each.

        The engine asks this before it fits split by split. The answer is None, which sends it there, if a training
        part lacks a class or a net fails: `fit` then gives the reason.

        Parameters
        ----------
        data : Data
            Sample.
        splits : sequence of Split
            Rows that each net learns.
        seeds : sequence of int
            One per split.
        tables : sequence of pairs, optional
            For each split, its training rows and all rows, as transformers fitted on that split give them.
        progress : bool
            Show a bar of the training.
        """
        return predict_splits(self, data, splits, seeds, tables, progress)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trained net as one safetensors file whose header holds labels, shape and parameters; no pickle."""
        self._check_fitted()
        write_classifier(path, self)

    @classmethod
    def from_module(cls, module: nn.Module, X: Any, classes: Any = None, **params: Any) -> Classifier:
        """Return a fitted classifier around a net that was trained elsewhere, such as one filled by `load_weights`.

        Parameters
        ----------
        module : nn.Module
            Trained net that returns logits; it is copied.
        X : array-like
            Rows as the net takes them, at least one; they give the shape.
        classes : sequence, optional
            Label of each output, in their order; 0, 1, ... by default.
        params
            Of the classifier: how `fit`, and so a cross-validation, is to train the net anew.

        Examples
        --------
        >>> import numpy as np, unseen.nets as nets
        >>> trained = nets.make_mlp(3, 2)
        >>> net = nets.Classifier.from_module(trained, np.zeros((1, 3)), classes=["calm", "wild"])
        >>> wanted = np.diff(trained(torch.ones(1, 3)).detach())[0]
        >>> bool(np.allclose(net.decision_function(np.ones((1, 3))), wanted, atol=1e-5))
        True
        """
        return cast(Classifier, _classifier_around(cls, module, X, classes, params))

    @classmethod
    def load(cls, path: str | PathLike[str], module: Any = None) -> Classifier:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path
            File.
        module : nn.Module, class or callable, optional
            Architecture; needed unless it is one of this package's, since a file must not name code to run.
        """
        return read_classifier(cls, path, module)


@dataclass(frozen=True, eq=False)
class TrainingSpec:
    """How a net is made and trained: what makes it, and options of `fit_many`; None for a net that does not know.

    Examples
    --------
    >>> import unseen.nets as nets
    >>> X, y = np.eye(6), np.arange(6) % 2
    >>> net = nets.Classifier(epochs=1, lr=0.5, stop="none", device="cpu", random_state=0).fit(X, y)
    >>> TrainingSpec.of(net).training["lr"], TrainingSpec.of(net.module_).training
    (0.5, None)
    """

    factory: Any = None
    training: dict[str, Any] | None = None

    @classmethod
    def of(cls, module: Any) -> TrainingSpec:
        """Return what a fitted `Classifier` knows; nothing of other nets."""
        if not isinstance(module, Classifier):
            return cls()
        if not hasattr(module, "module_"):
            raise InputError("the Classifier is not trained yet; call fit(X, y) first.")
        training = {name: getattr(module, name) for name in TRAINING}
        weights = module.class_weight
        if isinstance(weights, dict):
            weights = {k: weights[label] for k, label in enumerate(module.classes_.tolist()) if label in weights}
        training["class_weight"] = weights
        return cls(make_mlp if module.module is None else module.module, training)


def inputs_for(module: Any, X: Any) -> Any:
    """Return inputs in the shape that the net of a fitted `Classifier` reads; for other nets as they are."""
    if not isinstance(module, Classifier):
        return X
    return module._as_images(X) if module.input_shape is None else module._reshape(np.asarray(X))


def _classifier_around(kind: Any, module: Any, X: Any, classes: Any, params: dict[str, Any]) -> Any:
    """Return a fitted classifier around a net that was trained elsewhere; see `Classifier.from_module`."""
    if not isinstance(module, nn.Module):
        raise KindError(f"module is a {type(module).__name__}; give a trained torch.nn.Module.")
    first = next((p for p in module.parameters() if p.is_floating_point()), None)
    dtype = "float64" if first is not None and first.dtype == torch.float64 else "float32"
    net = kind(copy.deepcopy(module).cpu(), **{"dtype": dtype, **params})
    rows = tensor_of(net._reshape(check_features(net, X, first=True))).to(dtype_of(net.dtype))
    (net.module_,) = strip_softmax([copy.deepcopy(net.module).to(rows.dtype).eval()], rows)
    outputs = count_outputs(net.module_, rows)
    if outputs == 1:
        raise InputError(
            "the module has one output; a classifier needs a logit per class. For two classes put the output beside a zero, "
            "as in torch.cat([torch.zeros_like(z), z], dim=1)."
        )
    net.classes_ = np.arange(outputs) if classes is None else np.asarray(classes)
    if net.classes_.shape != (outputs,) or len(np.unique(net.classes_)) != outputs:
        raise InputError(f"classes must name {outputs} different labels, one per output; it is {classes!r}.")
    net.sample_shape_ = tuple(int(size) for size in rows.shape[1:])
    net.history_, net.reason_, net.how_, net.n_epochs_ = {}, "trained elsewhere", "trained elsewhere", 0
    return net


Tables = Sequence[tuple[Any, Any]]


def predict_splits(
    net: Any, data: Any, splits: Sequence[Any], seeds: Sequence[int], tables: Tables | None, progress: bool = False
) -> Any:
    """Return labels and probabilities of all rows for each split, or None if splits must be fitted one by one."""
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
        with limited_torch():
            if tables is None:
                rows = _numbers(data.X.reshape(data.n, *data.sample_shape) if data.sample_shape else data.X)
                fits = net._train(rows, codes, np.asarray(classes), trains, own, data.weights, named, progress)
            else:
                rows = np.stack([_numbers(every) for _, every in tables])
                learnt = [table for table, _ in tables]
                fits = _train_own_tables(net, learnt, codes, trains, own, data, named, progress)
            if fits.failed.any():
                return None
            lead = rows.shape[: 1 if tables is None else 2]
            logits = fits.logits(rows.reshape(*lead, *fits.sample_shape), own=tables is not None)
    except (UnseenError, TypeError, ValueError):
        return None
    each = logits.double().cpu().numpy()[:, :, : len(classes)]
    return [(classes[one.argmax(axis=1)], (softmax(one), "probability")) for one in each]


def _train_own_tables(
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
    fits: Fits = net._train(array, codes[rows], classes, sets, seeds, weights, named[rows], progress)
    return fits


def _numbers(X: Any) -> np.ndarray:
    return check_features(SklearnEstimator(), X, first=True)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return the softmax over the last axis.

    Examples
    --------
    >>> softmax(np.array([0.0, np.log(3.0)])).tolist()
    [0.25, 0.75]
    """
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)
