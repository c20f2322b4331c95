"""Class probabilities at a point: nearest neighbours, the model's own, a calibrated one, a Gaussian process, or given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.notes import Note, note
from unseen.resubstitution._decision_regions import Regions, align
from unseen.resubstitution._neighbours import exact_rows, k_nearest_in_parts
from unseen.resubstitution._stand_ins import StandIn, neighbour_stand_in
from unseen.resubstitution.kernels import Spread

__all__ = ["NAMES", "Among", "Posterior", "posterior_notes", "posterior_of", "posterior_stand_in"]

NAMES = ("knn", "model", "calibrated", "gaussian-process")
Posterior = Callable[..., Floats]
MAX_GAUSSIAN_PROCESS = 3000  # its cost grows with the third power of the rows
Among = int | None | Literal["auto"]


def posterior_of(
    regions: Regions, posterior: Any, k: int, among: Among = "auto", kernels: bool = False
) -> tuple[Posterior, str]:
    """Return a function (points, of=None) -> probabilities in the order of the classes, and its name in words.

    `of` is the training row around which each point was drawn; without it the points are the training points themselves, in
    their order.

    Parameters
    ----------
    regions : Regions
        The trained classifier and its sample.
    posterior : str, object with fit and predict_proba, or function
        One of `NAMES`; a classifier, cloned and fitted to the sample in the space of the kernels; or a function of points.
    k : int
        Neighbours of "knn".
    among : int, None or "auto"
        In a larger sample a point looks for them in the part of a training point, random and of at most so many; None: in all;
        "auto": as many as `exact_rows` says.
    kernels : bool
        The points are drawn from kernels.
    """
    if isinstance(posterior, str):
        if posterior == "knn":
            n, among = len(regions.points), _largest_part(regions, among, kernels)
            cut = (
                "" if among is None or n <= among else f", each point's among its own {-(-n // -(-n // among))} of {n}"
            )
            return _by_neighbours(regions, k, among), f"{k}-nearest-neighbour posterior{cut}"
        if posterior == "model":
            return lambda points, of=None: regions.probabilities(points), "the model's own posterior"
        if posterior == "calibrated":
            return _calibrated_scores(regions), "the model's posterior, sigmoid-calibrated on its training points"
        if posterior == "gaussian-process":
            return _fit_classifier(_gaussian_process(regions), regions), "Gaussian-process posterior"
        raise UnknownName("posterior", posterior, NAMES, "A classifier with predict_proba or a function works too.")
    if callable(getattr(posterior, "fit", None)) and hasattr(posterior, "predict_proba"):
        from sklearn.base import clone

        return _fit_classifier(clone(posterior), regions), f"posterior of {type(posterior).__name__}"
    if callable(posterior) and not isinstance(posterior, type):
        return lambda points, of=None: _check_probabilities(posterior, points, regions), "a given posterior"
    raise KindError(
        f"posterior is a {type(posterior).__name__}; give one of {', '.join(NAMES)}, a classifier with predict_proba, or a function."
    )


def posterior_notes(posterior: Any) -> tuple[Note, ...]:
    """Return what to know of a posterior before believing it."""
    if isinstance(posterior, str) and posterior == "calibrated":
        text = "the model's scores are calibrated on the points it was trained on, where a rule that memorises looks too good"
        return (note("U023", text),)
    return ()


def posterior_stand_in(
    regions: Regions, posterior: Any, k: int, among: Among, weights: Floats, spread: Spread | None = None
) -> StandIn:
    """Return the error of looking for neighbours in parts of the sample; none for other posteriors."""
    if not (isinstance(posterior, str) and posterior == "knn"):
        return StandIn()
    largest = _largest_part(regions, among, spread is not None)
    return neighbour_stand_in(regions, int(k), largest, weights, spread)


def _largest_part(regions: Regions, among: Among, kernels: bool) -> int | None:
    if isinstance(among, str):
        if among != "auto":
            raise UnknownName("among", among, ("auto",), "A whole number of rows, or None for all, works too.")
        return exact_rows(regions.points.shape[1], kernels)
    return among


def _by_neighbours(regions: Regions, k: int, among: int | None) -> Posterior:
    n = len(regions.points)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= n:
        raise InputError(f"k is {k!r}; the number of neighbours is a whole number from 1 to the sample size, {n}.")

    if among is not None and (isinstance(among, bool) or not isinstance(among, (int, np.integer)) or among < 2 * k):
        raise InputError(
            f"among is {among!r}; give a whole number of at least 2 k = {2 * k} rows, 'auto', or None for all."
        )

    def posterior(points: Floats, of: Ints | None = None) -> Floats:
        near = k_nearest_in_parts(regions.points, int(k), among, points, of)
        labels = regions.codes[near]
        shares = [(labels == code).mean(axis=1) for code in range(len(regions.classes))]
        return np.stack(shares, axis=1)

    return posterior


def _calibrated_scores(regions: Regions) -> Posterior:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    model = regions.model
    if not (hasattr(model, "predict_proba") or hasattr(model, "decision_function")) or not hasattr(model, "fit"):
        raise InputError(
            f"posterior='calibrated' needs scores to calibrate, and {type(model).__name__} has neither decision_function nor "
            "predict_proba; use posterior='knn'."
        )
    return _fit_classifier(CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid"), regions)


def _gaussian_process(regions: Regions) -> Any:
    if len(regions.points) > MAX_GAUSSIAN_PROCESS:
        raise InputError(
            f"a Gaussian process on {len(regions.points)} points costs too much (limit {MAX_GAUSSIAN_PROCESS}); use posterior='knn'."
        )
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    scale = float(np.sqrt(regions.points.var(axis=0).sum())) or 1.0
    return GaussianProcessClassifier(ConstantKernel(1.0) * RBF(scale), random_state=0)


def _fit_classifier(estimator: Any, regions: Regions) -> Posterior:
    as_input = regions.as_input
    estimator.fit(as_input(regions.points), regions.data.y)
    return lambda points, of=None: align(
        np.asarray(estimator.predict_proba(as_input(points)), dtype=float),
        np.asarray(estimator.classes_),
        regions.classes,
    )


def _check_probabilities(posterior: Callable[[Floats], Any], points: Floats, regions: Regions) -> Floats:
    try:
        out = np.asarray(posterior(points), dtype=float)
    except Exception as error:  # a user's function may raise anything; its words are passed on
        raise InputError(f"the posterior could not be computed: {type(error).__name__}: {error}") from error
    shape = (len(points), len(regions.classes))
    if out.shape != shape:
        raise InputError(
            f"the posterior returned shape {out.shape}; one row per point and one column per class is {shape}."
        )
    if np.any(out < -1e-9) or not np.allclose(out.sum(axis=1), 1.0, atol=1e-6):
        raise InputError("the posterior returned rows that are not probabilities: at least 0, summing to 1.")
    return out
