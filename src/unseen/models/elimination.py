"""Backward elimination of inputs by the fall in a cross-validated measure (Hutton, 1992)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from unseen.core.errors import InputError
from unseen.core.registry import find

__all__ = ["BackwardElimination"]


class BackwardElimination(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Throw inputs out one at a time, the least missed first, and keep the smallest set that does as well as any.

    Starting with all inputs finds those that matter only together, which adding them one by one never does.

    Parameters
    ----------
    estimator : estimator, optional
        What is refitted; least squares for numbers and logistic regression for classes by default.
    measure : str
        Id of a measure; "auto" is the squared correlation (pov) for numbers and accuracy for classes.
    cv : int
        Folds; every set of inputs is scored on the same ones.
    rule : {"one-se", "best"}
        Keep the smallest set within one standard error of the best, or the best itself.
    min_features : int
        Fewest inputs to try.
    random_state : int or None
        Seed of the folds.

    Attributes
    ----------
    support_ : ndarray of bool
        Inputs kept.
    path_ : list of dict
        One step each, from all inputs down: features, score, std_error, and which input was removed to get there.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299. Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and regression
    trees. Wadsworth (the one-standard-error rule).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 4))
    >>> y = X[:, 1] - X[:, 3] + 0.1 * rng.standard_normal(80)
    >>> BackwardElimination(random_state=0).fit(X, y).get_support(indices=True).tolist()
    [1, 3]
    """

    def __init__(
        self,
        estimator: Any = None,
        measure: str = "auto",
        cv: int = 5,
        rule: str = "one-se",
        min_features: int = 1,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.cv = cv
        self.rule = rule
        self.min_features = min_features
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> BackwardElimination:
        """Eliminate inputs, scoring each set by cross-validation on the rows given and on nothing else."""
        X, y = validate_data(self, X, y, dtype=float, ensure_min_samples=2, y_numeric=False)
        if self.rule not in ("one-se", "best"):
            raise InputError(f"rule is {self.rule!r}; give 'one-se' or 'best'.")
        if not 1 <= self.min_features <= X.shape[1]:
            raise InputError(f"min_features is {self.min_features}; there are {X.shape[1]} inputs.")
        score = self._scorer(y)
        folds = self._folds(y)
        kept = list(range(X.shape[1]))
        path = [self._step(kept, None, score(X, kept, folds))]
        while len(kept) > self.min_features:
            trials = [(score(X, [k for k in kept if k != gone], folds), gone) for gone in kept]
            best, gone = max(trials, key=lambda trial: (trial[0].mean(), -trial[1]))
            kept = [k for k in kept if k != gone]
            path.append(self._step(kept, gone, best))
        self.path_ = path
        chosen = self._choose(path)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[path[chosen]["features"]] = True
        return self

    def _step(self, kept: list[int], gone: int | None, values: Any) -> dict[str, Any]:
        se = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        return {"features": list(kept), "removed": gone, "score": float(values.mean()), "std_error": se}

    def _choose(self, path: list[dict[str, Any]]) -> int:
        scores = np.array([step["score"] for step in path])
        top = len(scores) - 1 - int(np.argmax(scores[::-1]))  # of equals, the smallest set
        if self.rule == "best":
            return top
        return int(np.flatnonzero(scores >= scores[top] - path[top]["std_error"])[-1])

    def _folds(self, y: Any) -> list[Any]:
        if self.cv < 2:
            raise InputError(f"cv is {self.cv}; at least 2 folds are needed.")
        fold: Any = KFold(min(self.cv, len(y)), shuffle=True, random_state=self.random_state)
        if self._classes is not None:
            fewest = int(np.unique(y, return_counts=True)[1].min())
            if fewest >= 2:
                fold = StratifiedKFold(min(self.cv, fewest), shuffle=True, random_state=self.random_state)
        return list(fold.split(np.zeros(len(y)), y))

    _classes: Any = None

    def _scorer(self, y: Any) -> Any:
        """Return a function of (X, inputs, folds) that gives one score per fold, higher being better."""
        from sklearn.linear_model import LinearRegression, LogisticRegression

        continuous = type_of_target(y) in ("continuous",)
        if not continuous:
            check_classification_targets(y)
        self._classes = None if continuous else np.unique(y)
        target: Any = y if continuous else np.searchsorted(self._classes, y)
        name = ("pov" if continuous else "accuracy") if self.measure == "auto" else self.measure
        one = find(name, "measures")()
        if one.task not in ("any", "regression" if continuous else "classification") or one.needs_score:
            raise InputError(f"{name} does not suit predictions of {'numbers' if continuous else 'labels'}.")
        sign = 1.0 if one.direction == "higher" else -1.0
        default = LinearRegression() if continuous else LogisticRegression(max_iter=1000)
        base = default if self.estimator is None else self.estimator

        def score(X: Any, kept: list[int], folds: list[Any]) -> Any:
            values = []
            for train, test in folds:
                predicted = np.asarray(clone(base).fit(X[np.ix_(train, kept)], y[train]).predict(X[np.ix_(test, kept)]))
                predicted = predicted if continuous else np.searchsorted(self._classes, predicted)
                if one.kind == "set":
                    value = one.of_set(target[test], predicted, None, None, 1)
                else:
                    value = float(one.per_example(target[test], predicted).mean())
                values.append(sign * value)
            return np.nan_to_num(np.array(values), nan=0.0)

        return score

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_
