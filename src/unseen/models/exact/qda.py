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
from unseen.models.exact.learner import Exact, Sample, decide, exponentials, largest_distances
from unseen.models.exact.scaling import harmless, scaling_of
from unseen.models.exact.scatter import IN_CACHE, MAX_OUTER, changed_scatter, invert, split_fits
from unseen.models.exact.sums import centre_by_class, changed_sums, move_to_centre, products_with_left_out

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
        units = scaling.scale[0] if len(scaling.scale) == 1 else np.median(scaling.scale, axis=0)
        X = sample.X if scaling.plain else sample.X / units
        unit = np.square(scaling.scale / units)
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
        task = _Parts(X, sample.codes, size, unit, final.tol, reg, float(shrinkage or 0.0))
        if fits.left_out is not None and not reg and not shrinkage:
            distance, fine = task.leave_one_out(fits)
        else:
            distance, fine = np.empty((len(fits.row), K)), np.ones(len(fits), dtype=bool)
            for which in split_fits(fits, 4 * K * X.shape[1] ** 2):
                part = fits.some(which) if len(which) < len(fits) else fits
                here = slice(int(fits.starts[which[0]]), int(fits.starts[which[-1] + 1]))
                distance[here], fine[which] = task.by_factors(part, which)
        joint = fits.per_prediction(log_prior) - 0.5 * distance
        largest = largest_distances(fits, there, distance)
        scores = exponentials(joint) if fits.scores else None
        return decide(fits, joint, ROUNDING * (1 + largest), safe & fine, scores, "probability")


@dataclass(frozen=True, eq=False)
class _Parts:
    """Rows, sizes of classes, and how the covariances are regularised; one unit may stand for all fits."""

    X: Floats
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
        K, p = self.size.shape[1], self.X.shape[1]
        distance = np.empty((K, len(fits.row)))
        fine = np.ones(len(out), dtype=bool)
        floor = ABOVE_TOLERANCE * self.tol * self.unit.max(axis=1)
        row = fits.row
        members = [self.codes == k for k in range(K)]
        centre, scatter = np.zeros((K, p)), np.zeros((K, p, p))
        for k in range(K):
            part = self.X.compress(members[k], axis=0)
            if len(part):
                centre[k] = move_to_centre(part)
                scatter[k] = part.T @ part
        inverse = invert(scatter)
        log_dets, means = inverse.log_det, np.trace(scatter, axis1=1, axis2=2) / p
        for k in range(K):
            n, mean, smallest = int(np.count_nonzero(members[k])), means[k], float(inverse.smallest[k])
            away = (self.X - centre[k]) @ inverse.factor[k].T
            squares = np.einsum("ip,ip->i", away, away)
            here = members[k][out]
            gone = squares[out] * here
            factor, left = here * (n / max(n - 1.0, 1.0)), n - here
            rest = 1 - factor * gone
            if not (smallest > SMALLEST * mean and np.all(rest * smallest > floor * left)):
                # the bound is too low to tell
                smallest = float(np.linalg.eigvalsh(scatter[k])[0])
            if n <= p + 1 or not smallest > SMALLEST * mean:
                fine[:] = False
                distance[k] = 0.0
                continue
            fine &= (rest * smallest > floor * left) & (rest > SMALLEST)
            rest = np.where(fine, rest, 1.0)
            # the centre of the class moves away from the row that was taken
            moved = fits.per_prediction(gone)
            if fits.predicts_left_out:
                product = moved
            else:
                product = products_with_left_out(fits, away, squares) * fits.per_prediction(here)
            moved = moved / (n - 1.0)
            length = squares[row] + (2 * product + moved) / (n - 1.0)
            length += fits.per_prediction(factor / rest) * np.square(product + moved)
            log_det = log_dets[k] + np.log(rest) - p * np.log(left)
            distance[k] = fits.per_prediction(left) * length + fits.per_prediction(log_det)
        return distance.T, fine

    def by_factors(self, fits: ManyFits, which: Array) -> tuple[Floats, Array]:
        """Factor the covariance of each class in each training part."""
        size, unit = self.size[which], self.unit if len(self.unit) == 1 else self.unit[which]
        K, p = size.shape[1], self.X.shape[1]
        centre, rows_away = centre_by_class(self.X, self.codes, K, None)
        there = np.maximum(size, 1.0)[:, :, None]
        shift = changed_sums(fits, rows_away, self.codes, K) / there
        mean = centre + shift
        scatter = changed_scatter(fits, rows_away, self.codes, K)
        for k in range(K):
            members = rows_away[self.codes == k]
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
        log_det = inverse.log_det
        mean_variance = np.einsum("jkpp->jk", covariance) / p
        floor = np.maximum(SMALLEST * mean_variance, ABOVE_TOLERANCE * self.tol * unit.max(axis=1)[:, None])
        # a regularised covariance is as large as its target at least
        fine = np.all((inverse.smallest > floor) | ~present, axis=1)
        distance = np.empty((len(fits.row), K))
        for wanted, place, lines in fits.wanted_together(IN_CACHE // p):
            rows = self.X.take(lines, axis=0)
            for k in range(K):
                away = (rows - mean[wanted, k, None]) @ inverse.factor[wanted, k].transpose(0, 2, 1)
                distance[place, k] = np.einsum("jip,jip->ji", away, away) + log_det[wanted, k, None]
        return distance, fine
