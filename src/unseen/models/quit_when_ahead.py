"""Early stopping that keeps the weights of the best monitored epoch, as an estimator of its own (Hutton, 1992)."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted, validate_data

from unseen.core.errors import InputError
from unseen.models.progress import outputs_of, steps_of, targets_of

__all__ = ["QuitWhenAhead"]


class QuitWhenAhead(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Train step by step, watch a part of the training rows that is not trained on, and keep the best epoch.

    The watched part is taken out of what `fit` is given, so the wrapped model can be assessed like any other: the test part
    of an outer split never takes part in the choice of the epoch.

    Parameters
    ----------
    estimator : estimator with partial_fit, or boosted model with n_estimators and warm_start
        What is trained.
    fraction : float
        Share of the rows that is watched.
    epochs : int
        Most epochs or stages.
    patience : int or None
        Stop after so many epochs without a new best; None trains all epochs.
    random_state : int or None
        Seed of the watched part, and of the estimator if its own is unset.

    Attributes
    ----------
    best_epoch_ : int
        Epoch whose weights were kept, counted from 1.
    monitored_error_ : ndarray
        Mean squared error of the watched part by epoch; its minimum is too optimistic to be reported as an error.
    estimator_ : estimator
        The estimator as it was then.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299 ("quit when you're ahead on the test set").

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neural_network import MLPRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = X[:, 0] + 0.5 * rng.standard_normal(60)
    >>> model = QuitWhenAhead(MLPRegressor(hidden_layer_sizes=(20,), learning_rate_init=0.05), epochs=60, random_state=0).fit(X, y)
    >>> 1 <= model.best_epoch_ <= 60, bool(model.monitored_error_.min() == model.monitored_error_[model.best_epoch_ - 1])
    (True, True)
    """

    def __init__(
        self,
        estimator: Any,
        fraction: float = 0.25,
        epochs: int = 200,
        patience: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.fraction = fraction
        self.epochs = epochs
        self.patience = patience
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags

    def fit(self, X: Any, y: Any) -> QuitWhenAhead:
        """Set a part aside, train on the rest, and keep the estimator of the best epoch."""
        if not 0 < self.fraction < 1:
            raise InputError(f"fraction is {self.fraction}; the watched share lies between 0 and 1.")
        if self.epochs < 1:
            raise InputError(f"epochs is {self.epochs}; at least one is needed.")
        X, y = validate_data(self, X, y, ensure_min_samples=2)
        classifies = is_classifier(self.estimator)
        self.classes_ = np.unique(y) if classifies else None
        seed = self.random_state
        few = classifies and np.unique(y, return_counts=True)[1].min() < 2
        X, watched, y, truth = train_test_split(
            X, y, test_size=self.fraction, random_state=seed, stratify=None if few or not classifies else y
        )
        fresh = clone(self.estimator)
        if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
            fresh.set_params(random_state=seed)
        self._train(fresh, X, y, watched, targets_of(truth, self.classes_))
        return self

    def _train(self, fresh: Any, X: Any, y: Any, watched: Any, target: Any) -> None:
        errors: list[float] = []
        best = np.inf
        for stage in steps_of(fresh, X, y, self.classes_, self.epochs):
            errors.append(float(np.square(target - outputs_of(stage, watched, self.classes_)).mean()))
            if errors[-1] < best:
                best, self.best_epoch_, self.estimator_ = errors[-1], len(errors), copy.deepcopy(stage)
            elif self.patience is not None and len(errors) - self.best_epoch_ >= self.patience:
                break
        if not np.isfinite(best):
            raise InputError("the error of the watched part is not finite in any epoch; lower the learning rate.")
        self.monitored_error_ = np.array(errors)

    def predict(self, X: Any) -> Any:
        """Return the predictions of the best epoch."""
        check_is_fitted(self)
        return self.estimator_.predict(validate_data(self, X, reset=False))

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the best epoch, if the estimator gives them."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(validate_data(self, X, reset=False))
