"""Transformers of inputs: z-scores, and scores on the principal components that stand out (Horn, 1965)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unseen.core.errors import InputError

__all__ = ["PrincipalScores", "ZScore"]


class ZScore(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Columns with mean 0 and, if asked for, standard deviation 1, learnt from the training part alone.

    Parameters
    ----------
    scale : bool
        Divide by the standard deviation; False only moves the mean to 0.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> ZScore().fit_transform(np.array([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """

    def __init__(self, scale: bool = True) -> None:
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> ZScore:
        """Learn means and standard deviations; a constant column is only moved."""
        X = validate_data(self, X, dtype=float)
        self.mean_ = X.mean(axis=0)
        spread = X.std(axis=0) if self.scale else np.ones(X.shape[1])
        floor = 10 * np.finfo(float).eps * np.abs(self.mean_)
        self.std_ = np.where(spread > floor, spread, 1.0)
        return self

    def transform(self, X: Any) -> Any:
        """Return the z-scores."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        return (X - self.mean_) / self.std_


class PrincipalScores(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Scores on the principal components whose eigenvalues stand out, in place of the inputs.

    Useful where linear relations dominate; a target made by interactions alone may need the components left out.

    Parameters
    ----------
    keep : "parallel", "mean", int or float
        "parallel" keeps components whose eigenvalue exceeds the 95% quantile of that of permuted columns (Horn's parallel
        analysis); "mean" those above the mean eigenvalue; a whole number that many; a share in (0, 1) the fewest that hold
        that share of the variance. At least one is kept.
    scale : bool
        Work on z-scores (the correlation matrix) rather than on centred columns.
    n_permutations : int
        Permutations of parallel analysis.
    random_state : int or None
        Seed of the permutations.

    References
    ----------
    Horn, J. L. (1965). A rationale and test for the number of factors in factor analysis. Psychometrika 30, 179-185.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> common = rng.standard_normal((100, 1))
    >>> X = np.hstack([common + 0.1 * rng.standard_normal((100, 3)), rng.standard_normal((100, 2))])
    >>> PrincipalScores(random_state=0).fit_transform(X).shape
    (100, 1)
    """

    def __init__(
        self, keep: Any = "parallel", scale: bool = True, n_permutations: int = 50, random_state: Any = None
    ) -> None:
        self.keep = keep
        self.scale = scale
        self.n_permutations = n_permutations
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> PrincipalScores:
        """Learn the components."""
        X = validate_data(self, X, dtype=float, ensure_min_samples=2)
        self.scaler_ = ZScore(self.scale).fit(X)
        Z = self.scaler_.transform(X)
        values, vectors = self._spectrum(Z)
        count = self._count(Z, values)
        # a fixed sign: the largest loading of a component is positive
        sign = np.sign(vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)])
        self.components_ = (vectors * np.where(sign == 0, 1.0, sign)[:, None])[:count]
        self.eigenvalues_ = values
        self.n_components_ = count
        self._n_features_out = count
        return self

    def _spectrum(self, Z: Any) -> tuple[Any, Any]:
        _, singular, vectors = np.linalg.svd(Z, full_matrices=False)
        return singular**2 / max(len(Z) - 1, 1), vectors

    def _count(self, Z: Any, values: Any) -> int:
        keep = self.keep
        if isinstance(keep, (bool, np.bool_)):
            raise InputError("keep is a truth value; give 'parallel', 'mean', a number of components or a share.")
        if isinstance(keep, (int, np.integer)):
            if keep < 1:
                raise InputError(f"keep is {keep}; at least one component must be kept.")
            return int(min(keep, len(values)))
        if isinstance(keep, (float, np.floating)):
            if not 0 < keep < 1:
                raise InputError(f"keep is {keep}; a share of the variance lies between 0 and 1.")
            total = values.sum()
            return 1 if total == 0 else int(np.searchsorted(np.cumsum(values) / total, keep - 1e-12) + 1)
        if keep == "mean":
            return max(1, int(np.sum(values > values.mean() * (1 + 1e-9))))
        if keep != "parallel":
            raise InputError(f"keep is {keep!r}; give 'parallel', 'mean', a number of components or a share.")
        rng = np.random.default_rng(self.random_state)
        null = [self._spectrum(rng.permuted(Z, axis=0))[0] for _ in range(self.n_permutations)]
        above = values > np.quantile(null, 0.95, axis=0) * (1 + 1e-9)
        return max(1, int(np.argmin(above)) if not above.all() else len(values))

    def transform(self, X: Any) -> Any:
        """Return the scores."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        return self.scaler_.transform(X) @ self.components_.T

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return component 1, component 2, ..."""
        check_is_fitted(self)
        return np.array([f"component{k + 1}" for k in range(self.n_components_)], dtype=object)
