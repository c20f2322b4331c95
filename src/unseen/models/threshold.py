"""A classifier whose decision threshold costs least, chosen inside its training part (Elkan, 2001)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from unseen.core.errors import InputError
from unseen.measures.costs import best_threshold

__all__ = ["UtilityThreshold"]


class UtilityThreshold(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Probabilities of another classifier, cut where the cost is least on cross-validated predictions of the training part.

    Being fitted with the rest, the choice of the threshold is assessed with it: no test case ever takes part in it.

    Parameters
    ----------
    estimator : classifier with predict_proba, optional
        Logistic regression by default.
    costs : 2 x 2 matrix, optional
        Truth by row and decision by column, classes in sorted order; every error costs 1 by default.
    cv : int
        Folds of the inner cross-validation.
    random_state : int or None
        Seed of the folds.

    Attributes
    ----------
    threshold_ : Threshold
        The threshold and its mean cost on the training part.

    References
    ----------
    Elkan, C. (2001). The foundations of cost-sensitive learning. International Joint Conference on Artificial
    Intelligence, 973-978.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = UtilityThreshold(GaussianNB(), costs=[[0, 1], [20, 0]], random_state=0).fit(X, y)
    >>> model.threshold_.cost <= model.threshold_.cost_at_half
    True
    """

    def __init__(self, estimator: Any = None, costs: Any = None, cv: int = 5, random_state: Any = None) -> None:
        self.estimator = estimator
        self.costs = costs
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        if self.estimator is not None:
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags

    def _check_features(self, X: Any, **more: Any) -> Any:
        """Return features as the estimator takes them: a frame as it is, missing values and sparse rows if it takes such."""
        taken = get_tags(self).input_tags
        finite = "allow-nan" if taken.allow_nan else True
        if self.estimator is not None and hasattr(X, "iloc"):  # its columns may be text, which the estimator prepares
            return validate_data(self, X, skip_check_array=True, **more)
        return validate_data(self, X, accept_sparse=taken.sparse, ensure_all_finite=finite, **more)

    def fit(self, X: Any, y: Any) -> UtilityThreshold:
        """Fit the estimator and choose the threshold on its cross-validated probabilities."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.utils.multiclass import check_classification_targets, type_of_target

        X, y = self._check_features(X, y=y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise InputError("the training part holds one class only; a threshold needs both classes.")
        if type_of_target(y) != "binary":
            raise InputError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        base = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        fewest = int(np.bincount(codes).min())
        if fewest < 2:
            raise InputError("a class has a single case; the inner cross-validation needs two.")
        folds = StratifiedKFold(min(self.cv, fewest), shuffle=True, random_state=self.random_state)
        inner = cross_val_predict(clone(base), X, y, cv=folds, method="predict_proba")[:, 1]
        self.threshold_ = best_threshold(codes == 1, inner, self.costs)
        self.estimator_ = clone(base).fit(X, y)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the estimator's probabilities."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(self._check_features(X, reset=False))

    def predict(self, X: Any) -> Any:
        """Return the label of the class the threshold decides for."""
        check_is_fitted(self)
        return self.classes_[(self.predict_proba(X)[:, 1] >= self.threshold_.value).astype(int)]
