"""A torch module as a scikit-learn classifier: labels of any kind, early stopping, cross-validation as one batched training."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from os import PathLike
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from unseen.core.errors import InputError
from unseen.nets._architectures import make_mlp
from unseen.nets._classifier_file import saved_classifier, write_classifier
from unseen.nets._device import device_of, dtype_of, exact_float32, ran_out, rows_at_once, tensor_of
from unseen.nets._estimator import Estimator, checked_features, checked_labels, encode, reshaped
from unseen.nets._fit_many import fit_many
from unseen.nets._fits import Fits
from unseen.nets._recipe import around
from unseen.nets._settings import seed_of, weights_by_number, weights_of_rows
from unseen.nets._splits_together import answers, softmax
from unseen.nets._view import View

__all__ = ["Classifier"]


class Classifier(Estimator):
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
        Shape of an example, where X comes flat: (channels, height, width).
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
        array = checked_features(self, X, first=True)
        classes, codes = encode(checked_labels(y, len(array), type(self).__name__))
        weights = weights_of_rows(sample_weight, len(array))
        counted = classes if weights is None else classes[np.unique(codes[weights > 0])]
        if len(counted) < 2:
            raise InputError(
                f"y holds one class only ({counted.tolist()[0]!r}); Classifier can't train with one class."
            )
        fits = self._trained(array, codes, classes, None, [seed_of(self.random_state)], weights, copies)
        self._keep(fits, classes)
        return self

    def _keep(self, fits: Fits, classes: np.ndarray) -> None:
        self.module_ = fits.module(0)
        self.classes_ = classes
        self.history_, self.reason_, self.how_ = fits.history[0], fits.reasons[0], fits.how
        self.n_epochs_ = int(fits.epochs[0])
        self.sample_shape_ = fits.sample_shape

    def _trained(
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
        names = (
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
            "device",
            "dtype",
            "after_epoch",
        )
        options = {name: getattr(self, name) for name in names}
        options["progress"] = progress or self.progress
        return fit_many(
            make_mlp if self.module is None else self.module,
            self._shaped(array),
            codes,
            sets,
            seeds=list(seeds),
            class_weight=weights_by_number(self.class_weight, classes),
            n_classes=len(classes),
            sample_weight=rows,
            copies=copies,
            **options,
        )

    def _shaped(self, array: np.ndarray) -> np.ndarray:
        return array if self.input_shape is None else reshaped(array, self.input_shape)

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

    @torch.no_grad()
    def _logits(self, X: Any) -> np.ndarray:
        self._demand_fit()
        rows = tensor_of(self._shaped(checked_features(self, self._as_images(X), first=False)))
        if tuple(rows.shape[1:]) != tuple(self.sample_shape_):
            raise InputError(
                f"the net reads examples of shape {tuple(self.sample_shape_)}; X has shape {tuple(rows.shape)}."
            )
        where, trained = device_of(self.device), dtype_of(self.dtype)
        # float64 on a CPU: what is said of a row must not depend on the rows asked about with it
        dtype = trained if where.type == "cuda" else torch.float64
        try:
            return self._answers(rows, where, dtype)
        except RuntimeError as error:
            if dtype == trained or ran_out(error):
                raise
            return self._answers(rows, where, trained)  # a module may insist on the kind it was trained in

    def _answers(self, rows: Tensor, where: torch.device, dtype: torch.dtype) -> np.ndarray:
        net: nn.Module = copy.deepcopy(self.module_).to(where, dtype)
        with exact_float32():
            view = View(raw=net, module=net, device=where, dtype=dtype, most=[rows_at_once(self.sample_shape_, where)])
            logits = view.batched(lambda part: net(part.to(where, dtype, copy=True)).double().cpu(), rows)
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

        The engine asks this before it fits split by split. None, which sends it there, is the answer for training parts
        that lack a class, and where a net fails, so that the reason is told by fit.

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
        return answers(self, data, splits, seeds, tables, progress)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trained net as one safetensors file whose header holds labels, shape and parameters; no pickle."""
        self._demand_fit()
        write_classifier(path, self)

    @classmethod
    def from_module(cls, module: nn.Module, X: Any, classes: Any = None, **params: Any) -> Classifier:
        """Return a fitted classifier around a net that was trained elsewhere, such as one filled by `load_weights`.

        Parameters
        ----------
        module : nn.Module
            Trained net that returns logits; it is copied.
        X : array-like
            Rows as the net takes them, one at least; they tell the shape.
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
        return cast(Classifier, around(cls, module, X, classes, params))

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
        return saved_classifier(cls, path, module)
