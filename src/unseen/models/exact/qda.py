"""Quadratic discriminant analysis on parts of the data, by down-dating the scatter of each class (McLachlan, 1992)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.learner import Exact, Sample, decide, exponentials
from unseen.models.exact.scaling import harmless, scaling_of
from unseen.models.exact.scatter import MAX_OUTER, changed_scatter, invert, split_fits
from unseen.models.exact.sums import centre_by_class, changed_sums

__all__ = ["QuadraticDiscriminant"]

ROUNDING = 1e-8  # of a discriminant; see SMALLEST
SMALLEST = 1e-7  # eigenvalue over the mean one, below which refitting is the safe way
ABOVE_TOLERANCE = 10.0  # times scikit-learn's own tolerance, below which it calls a class singular


@register
@dataclass(frozen=True)
class QuadraticDiscriminant(Exact):
    """scikit-learn's QuadraticDiscriminantAnalysis, regularised or not, bare or behind scalers.

    Declines, so that the engine refits, for: shrinkage="auto" and a covariance estimator of the user's own.

    References
    ----------
    McLachlan, G. J. (1992). Discriminant analysis and statistical pattern recognition. Wiley. Section 10.2.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X, y = unseen.datasets.load("iris").xy
    >>> model = QuadraticDiscriminantAnalysis()
    >>> quick, slow = (unseen.run(model, X, y, design="loo", shortcuts=s).test.value for s in (True, False))
    >>> bool(np.array_equal(quick, slow))
    True
    """

    id: ClassVar[str] = "qda"
    learners: ClassVar[tuple[str, ...]] = ("QuadraticDiscriminantAnalysis",)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

        return [
            QuadraticDiscriminantAnalysis(),
            QuadraticDiscriminantAnalysis(priors=[0.3, 0.7]),
            QuadraticDiscriminantAnalysis(reg_param=0.3),
        ]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        solver, shrinkage = getattr(final, "solver", "svd"), getattr(final, "shrinkage", None)
        if getattr(final, "covariance_estimator", None) is not None or isinstance(shrinkage, str):
            return None
        if shrinkage is not None and (solver == "svd" or not isinstance(shrinkage, Real)):
            return None
        K = sample.n_classes
        priors = None if final.priors is None else np.asarray(final.priors, dtype=float)
        if priors is not None and (priors.shape != (K,) or np.any(priors <= 0)):
            return None
        scaling = scaling_of(scalers, sample, fits)
        if scaling is None or not harmless(scalers) or sample.X.shape[0] * sample.X.shape[1] ** 2 > MAX_OUTER:
            return None
        # in units close to those that every fit sees, so that its tolerance can be judged
        units = np.median(scaling.scale, axis=0)
        X, unit = sample.X / units, np.square(np.broadcast_to(scaling.scale / units, (len(fits), len(units))))
        classes = sample.codes
        centre, away = centre_by_class(X, classes, K, None)
        size = fits.class_counts.astype(float)
        there = size > 0
        safe = scaling.safe & (there.sum(axis=1) > 1) & np.all((size > 1) | ~there, axis=1)
        if priors is not None:
            safe &= there.all(axis=1)
        if solver == "svd":
            # fewer rows than columns have fewer singular values, which no regularisation makes up for
            safe &= np.all((size >= X.shape[1]) | ~there, axis=1)
        shares = size / size.sum(axis=1, keepdims=True) if priors is None else np.broadcast_to(priors, size.shape)
        log_prior = np.where(there, np.log(shares), -np.inf)
        reg = float(final.reg_param) if solver == "svd" else 0.0
        task = _Parts(X, away, centre, classes, size, unit, final.tol, reg, float(shrinkage or 0.0))
        if fits.left_out is not None and not reg and not shrinkage:
            distance, fine = task.leave_one_out(fits)
        else:
            distance, fine = np.empty((len(fits.row), K)), np.ones(len(fits), dtype=bool)
            for which in split_fits(fits, 4 * K * X.shape[1] ** 2):
                part = fits.some(which) if len(which) < len(fits) else fits
                here = slice(int(fits.starts[which[0]]), int(fits.starts[which[-1] + 1]))
                distance[here], fine[which] = task.by_factors(part, which)
        joint = log_prior[fits.fit] - 0.5 * distance
        largest = np.where(there[fits.fit], np.abs(distance), 0.0).max(axis=1)
        scores = exponentials(joint) if fits.scores else None
        return decide(fits, joint, ROUNDING * (1 + largest), safe & fine, scores, "probability")


@dataclass(frozen=True, eq=False)
class _Parts:
    """Rows, centres and sizes of classes, and how the covariances are regularised."""

    X: Floats
    away: Floats
    centre: Floats
    codes: Array
    size: Floats
    unit: Floats
    tol: float
    reg: float
    shrinkage: float

    def leave_one_out(self, fits: ManyFits) -> tuple[Floats, Array]:
        """Take one row from the scatter of its class: the inverse changes by a matrix of rank one, the others stay."""
        out = fits.left_out
        assert out is not None
        J, (K, p) = len(out), self.centre.shape
        distance = np.empty((len(fits.row), K))
        fine = np.ones(J, dtype=bool)
        largest_unit = self.unit.max(axis=1)
        for k in range(K):
            members = self.away[self.codes == k]
            n = len(members)
            values, vectors = np.linalg.eigh(members.T @ members)
            if n <= p + 1 or not values[0] > SMALLEST * values.mean():
                fine[:] = False
                distance[:, k] = 0.0
                continue
            basis = vectors / np.sqrt(values)
            here = self.codes[out] == k
            gone = np.where(here[:, None], self.away[out] @ basis, 0.0)
            factor = np.where(here, n / (n - 1.0), 0.0)
            rest = 1 - factor * np.square(gone).sum(axis=1)
            left = n - here
            fine &= rest * values[0] / left > ABOVE_TOLERANCE * self.tol * largest_unit
            fine &= rest > SMALLEST
            rest = np.where(fine, rest, 1.0)
            mean = self.centre[k] @ basis - gone / (n - 1.0)
            away = (self.X @ basis)[fits.row] - mean[fits.fit]
            along = np.einsum("ip,ip->i", away, gone[fits.fit])
            squared = np.einsum("ip,ip->i", away, away) + (factor / rest)[fits.fit] * along**2
            log_det = np.log(values).sum() + np.log(rest) - p * np.log(left)
            distance[:, k] = left[fits.fit] * squared + log_det[fits.fit]
        return distance, fine

    def by_factors(self, fits: ManyFits, which: Array) -> tuple[Floats, Array]:
        """Factor the covariance of each class in each training part."""
        size, unit = self.size[which], self.unit[which]
        K, p = self.centre.shape
        there = np.maximum(size, 1.0)[:, :, None]
        shift = changed_sums(fits, self.away, self.codes, K) / there
        mean = self.centre + shift
        scatter = changed_scatter(fits, self.away, self.codes, K)
        for k in range(K):
            members = self.away[self.codes == k]
            scatter[:, k] += members.T @ members
        covariance = scatter / there[..., None] - shift[:, :, :, None] * shift[:, :, None, :]
        if self.reg or self.shrinkage:
            variance = np.diagonal(covariance, axis1=2, axis2=3) / unit[:, None, :]
            target = self.reg if self.reg else self.shrinkage * variance.mean(axis=2)[:, :, None, None]
            own = 1 - (self.reg or self.shrinkage)
            covariance = own * covariance + target * (np.eye(p) * unit[:, None, None, :])
        present = size > 0
        covariance[~present] = np.eye(p)
        inverse = invert(covariance)
        mean_variance = np.einsum("jkpp->jk", covariance) / p
        floor = np.maximum(SMALLEST * mean_variance, ABOVE_TOLERANCE * self.tol * unit.max(axis=1)[:, None])
        # a regularised covariance is as large as its target at least
        fine = np.all((inverse.smallest > floor) | ~present, axis=1)
        distance = np.empty((len(fits.row), K))
        for j in range(len(fits)):
            here = fits.wanted(j)
            rows = self.X[fits.row[here]]
            for k in range(K):
                away = (rows - mean[j, k]) @ inverse.factor[j, k].T
                distance[here, k] = np.einsum("ip,ip->i", away, away) + inverse.log_det[j, k]
        return distance, fine
