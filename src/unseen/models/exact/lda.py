"""Linear discriminant analysis on parts of the data, by down-dating the scatter within classes (McLachlan, 1992)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.components import Components, components_of
from unseen.models.exact.learner import Exact, Sample, decide, largest_distances, probabilities
from unseen.models.exact.scaling import Scaling, harmless, scaling_of
from unseen.models.exact.scatter import IN_CACHE, MAX_OUTER, changed_scatter, invert, split_fits
from unseen.models.exact.sums import centre_by_class, changed_sums, largest_sizes, products_with_left_out

__all__ = ["LinearDiscriminant"]

ROUNDING = 1e-8  # of a discriminant; eigenvalues are above SMALLEST, which leaves at least eight digits
SMALLEST = 1e-6  # eigenvalue of the correlations within classes below which refitting is the safe way
FAR_FROM_ZERO = 1e-13  # of the squared distance of rows from zero, in units of the spread within classes
WELL_APART = 1e-2  # of singular values between classes, over scikit-learn's tolerance: it drops no direction


@dataclass(frozen=True, eq=False)
class _CentredRows:
    """All rows in other coordinates: in units of their spread within classes, or so that the scatter within classes is the identity.

    Parameters
    ----------
    X : ndarray, (n, p)
        Rows as they came.
    middle, basis : ndarray, (p,) and (p, p)
        What takes them to the other coordinates: (X - middle) basis.
    away : ndarray, (n, p)
        Rows minus the centre of their class.
    centre : ndarray, (classes, p)
        Centres of the classes.
    spread : ndarray, (p,)
        Length of each column within classes, which standardised rows are divided by.
    smallest : float
        Smallest eigenvalue of the correlations within classes.
    far : float
        Rounding error of a discriminant that scikit-learn computes from rows that are not centred.
    """

    X: Floats
    middle: Floats
    basis: Floats
    away: Floats
    centre: Floats
    spread: Floats
    smallest: float
    far: float

    @cached_property
    def z(self) -> Floats:
        """The rows, as an (n, p) array."""
        return np.asarray((self.X - self.middle) @ self.basis)


@register
@dataclass(frozen=True)
class LinearDiscriminant(Exact):
    """scikit-learn's LinearDiscriminantAnalysis with any solver, and with a stated shrinkage; scalers and components may stand in front.

    Declines, so that the engine refits, for: columns that depend on each other within classes, shrinkage="auto", a covariance
    estimator of the user's own, priors with a solver other than "svd".

    References
    ----------
    McLachlan, G. J. (1992). Discriminant analysis and statistical pattern recognition. Wiley. Section 10.2.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = unseen.datasets.load("iris").xy
    >>> model = LinearDiscriminantAnalysis()
    >>> quick, slow = (unseen.run(model, X, y, design="loo", shortcuts=s).test.value for s in (True, False))
    >>> bool(np.array_equal(quick, slow))
    True
    """

    id: ClassVar[str] = "lda"
    learners: ClassVar[tuple[str, ...]] = ("LinearDiscriminantAnalysis",)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        return [
            LinearDiscriminantAnalysis(),
            LinearDiscriminantAnalysis(priors=[0.3, 0.7]),
            LinearDiscriminantAnalysis(solver="lsqr"),
            LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2),
        ]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        shrinkage, K = final.shrinkage, sample.n_classes
        if final.covariance_estimator is not None or final.n_components is not None:
            return None
        if shrinkage is not None and (not isinstance(shrinkage, Real) or final.solver == "svd"):
            return None
        priors = None if final.priors is None else np.asarray(final.priors, dtype=float)
        if priors is not None and (final.solver != "svd" or priors.shape != (K,) or np.any(priors <= 0)):
            return None
        if priors is not None and abs(priors.sum() - 1.0) > 1e-9:
            return None
        shrink = float(shrinkage or 0.0)
        scaling = scaling_of(scalers, sample, fits) if shrink else None
        components = None if shrink else components_of(scalers, sample, fits)
        if (shrink and scaling is None) or (components is None and not harmless(scalers)):
            return None
        if sample.X.shape[0] * sample.X.shape[1] ** 2 > MAX_OUTER:
            return None
        plain = not shrink and components is None
        rows = _centre(sample, plain) if not plain or sample.X.shape[0] - K > sample.X.shape[1] else None
        if rows is None:
            return None
        size = fits.class_counts.astype(float)
        there = size > 0
        present, n = there.sum(axis=1), size.sum(axis=1)
        safe = (present > 1) & (n > present)
        if priors is not None:
            safe &= present == K
        shares = size / n[:, None] if priors is None else np.broadcast_to(priors, size.shape)
        log_prior = np.where(there, np.log(shares), -np.inf)
        tolerance = max(SMALLEST, 100 * final.tol**2)
        if fits.left_out is not None and plain:
            distance, fine = _leave_one_out(rows, sample, fits, size, final.tol, tolerance)
        else:
            distance, fine = np.empty((len(fits.row), K)), np.empty(len(fits), dtype=bool)
            for which in split_fits(fits, 4 * sample.X.shape[1] ** 2):
                part = fits.some(which) if len(which) < len(fits) else fits
                here = slice(int(fits.starts[which[0]]), int(fits.starts[which[-1] + 1]))
                shrunk = None if scaling is None else (shrink, _of(scaling, which), sample)
                turn = None if components is None else _turn(components, rows, part, which)
                distance[here], fine[which] = _by_factors(
                    rows, sample, part, size[which], final.tol, tolerance, shrunk, turn
                )
        joint = fits.per_prediction(log_prior) - 0.5 * distance
        largest = largest_distances(fits, there, distance)
        scores = probabilities(joint) if fits.scores else None
        if scaling is not None:
            safe &= scaling.safe
        return decide(fits, joint, ROUNDING * (1 + largest) + rows.far, safe & fine, scores, "probability")


def _of(scaling: Scaling, which: Array) -> Floats:
    return scaling.scale if len(scaling.scale) == 1 else scaling.scale[which]


def _centre(sample: Sample, whiten: bool) -> _CentredRows | None:
    """Return rows divided by their spread within classes, or in the basis of the correlations within classes.

    None if a column has no spread, or if the correlations are close to singular.
    """
    X = sample.X
    centre, away = centre_by_class(X, sample.codes, sample.n_classes, None)
    scatter = away.T @ away
    spread = np.sqrt(np.diagonal(scatter))
    if not np.all(spread > 0):
        return None
    smallest = 1.0
    if not whiten:
        basis = np.diag(1.0 / spread)
    else:
        matrix = scatter / spread[:, None] / spread
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        if not smallest > SMALLEST:
            return None
        basis = invert(matrix).factor.T / spread[:, None]
    middle = np.ones(len(X)) @ X / len(X)
    far = FAR_FROM_ZERO * len(X) * float(np.square(largest_sizes(X) / spread).sum())
    return _CentredRows(X, middle, basis, away @ basis, (centre - middle) @ basis, spread, smallest, far)


def _leave_one_out(
    rows: _CentredRows, sample: Sample, fits: ManyFits, size: Floats, tol: float, tolerance: float
) -> tuple[Floats, Array]:
    """Take one row from the scatter: its inverse changes by a matrix of rank one."""
    out = fits.left_out
    assert out is not None
    away, centre = rows.away, rows.centre
    code = sample.codes[out]
    count = np.bincount(sample.codes, minlength=len(centre))[code]
    left = np.maximum(count - 1, 1)
    factor = np.where(count > 1, count / left, 0.0)
    squares = np.einsum("ip,ip->i", away, away)
    gone = squares[out]
    rest = 1 - factor * gone
    fine = rest * rows.smallest > tolerance
    rest = np.where(fine, rest, 1.0)
    # all follows from products of rows, taken from the centre of their class, with each other and with the centres
    onto = centre @ away.T
    between = centre[:, None] - centre
    apart = np.einsum("klp,klp->kl", between, between)
    row = fits.row
    o, own, there = fits.per_prediction(out), sample.codes[row], fits.per_prediction(code)
    product = products_with_left_out(fits, away, squares)
    along_own, square, onto_own = product + onto[own, o], squares[row], onto[own, row]
    grown, taken, moved = (fits.per_prediction(v) for v in (factor / rest, 1 / left, gone / left))
    distance = np.empty((len(centre), len(row)))
    for k in range(len(centre)):
        # the centre of the class of the row that was taken moves away from it
        here = there == k
        along = along_own - onto[k, o]
        length = square + 2 * (onto_own - onto[k, row]) + apart[k, own] + here * taken * (2 * along + moved)
        along += here * moved
        np.square(along, out=along)
        along *= grown
        np.add(length, along, out=distance[k])
    distance *= len(away) - 1
    if len(centre) > 2:
        fine &= _apart(_gram_between(rows, out, code, size, left, factor / rest), size, rows.X.shape[1], tol)
    return distance.T, fine


def _gram_between(rows: _CentredRows, out: Array, code: Array, size: Floats, left: Floats, factor: Floats) -> Floats:
    """Return the products of the centres of classes, taken from their middle, in the coordinates of each fit."""
    gone = rows.away[out]
    mean = np.broadcast_to(rows.centre, (len(out), *rows.centre.shape)).copy()
    mean[np.arange(len(out)), code] -= gone / left[:, None]
    between = mean - (size / size.sum(axis=1, keepdims=True))[:, None, :] @ mean
    side = np.einsum("jkp,jp->jk", between, gone)
    gram: Floats = between @ between.transpose(0, 2, 1)
    gram += factor[:, None, None] * side[:, :, None] * side[:, None, :]
    return gram


def _turn(components: Components, rows: _CentredRows, fits: ManyFits, which: Array) -> tuple[Floats, Array]:
    """Return what takes standardised rows to the components of each fit."""
    maps, fine = components.maps(fits, which)
    return rows.spread[:, None] * maps, fine


def _by_factors(
    rows: _CentredRows,
    sample: Sample,
    fits: ManyFits,
    size: Floats,
    tol: float,
    tolerance: float,
    shrunk: Any,
    turn: tuple[Floats, Array] | None,
) -> tuple[Floats, Array]:
    """Factor the scatter of each training part, as it is or in the directions of its components."""
    K, p = size.shape[1], rows.X.shape[1]
    there = np.maximum(size, 1.0)[:, :, None]
    shift = changed_sums(fits, rows.away, sample.codes, K) / there
    mean = rows.centre + shift
    scatter = rows.away.T @ rows.away + changed_scatter(fits, rows.away)[:, 0]
    scatter = scatter - np.einsum("jkp,jkq->jpq", shift * there, shift)
    n = size.sum(axis=1)
    matrix = scatter / n[:, None, None]
    if shrunk is not None:
        shrink, scale, whole = shrunk
        # the target is a multiple of the identity in the coordinates that the model sees
        away = centre_by_class(whole.X, whole.codes, K, None)[1]
        unit = np.square(np.sqrt(np.square(away).sum(axis=0)) / scale)
        diagonal = np.diagonal(matrix, axis1=1, axis2=2)
        mean_variance = (diagonal * unit).mean(axis=1)
        matrix = (1 - shrink) * matrix + shrink * mean_variance[:, None, None] * (
            np.eye(p) / np.broadcast_to(unit, (len(fits), p))[:, None, :]
        )
    if turn is not None:
        maps, kept_apart = turn
        matrix = maps.transpose(0, 2, 1) @ matrix @ maps
        root = np.sqrt(np.maximum(np.diagonal(matrix, axis1=1, axis2=2), 0.0))
        # scikit-learn judges the spread within classes in units of each component
        maps = maps / root[:, None, :]
        matrix = matrix / (root[:, :, None] * root[:, None, :])
        mean, p = mean @ maps, maps.shape[2]
    inverse = invert(matrix)
    if turn is not None:
        fine = kept_apart & np.all(root > 0, axis=1) & (inverse.smallest > tolerance)
    elif shrunk is None:
        fine = inverse.smallest * n * rows.smallest > tolerance
    else:
        largest = np.einsum("jpp->j", matrix)
        fine = inverse.smallest > SMALLEST * largest
    between = mean - (size / n[:, None])[:, None, :] @ mean
    turned = between @ inverse.factor.transpose(0, 2, 1)
    if K > 2 and shrunk is None:
        fine &= _apart(turned @ turned.transpose(0, 2, 1), size, p, tol)
    distance = np.empty((len(fits.row), K))
    middle, lengths = mean - between, np.einsum("jkp,jkp->jk", turned, turned)
    for which, place, lines in fits.wanted_together(IN_CACHE // rows.X.shape[1]):
        z = rows.z.take(lines, axis=0)
        if turn is not None:
            z = z @ maps[which]
        z = (z - middle[which, :1]) @ inverse.factor[which].transpose(0, 2, 1)
        square = np.einsum("jip,jip->ji", z, z)[:, :, None]
        distance[place] = square - 2 * (z @ turned[which].transpose(0, 2, 1)) + lengths[which][:, None]
    return distance, fine


def _apart(gram: Floats, size: Floats, p: int, tol: float) -> Array:
    """Say which fits keep all directions between classes: scikit-learn drops those whose singular value is relatively small."""
    weight = np.sqrt(size)
    values = np.linalg.eigvalsh(gram * weight[:, :, None] * weight[:, None, :])[:, ::-1]
    rank = np.minimum((size > 0).sum(axis=1) - 1, p)
    last = values[np.arange(len(values)), np.maximum(rank - 1, 0)]
    result: Array = last > np.square(max(tol, 1e-6) / WELL_APART) * values[:, 0]
    return result
