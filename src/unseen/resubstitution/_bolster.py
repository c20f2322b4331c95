"""Bolstered resubstitution as functions of a model that is trained already."""

from __future__ import annotations

from typing import Any

from unseen.core.estimate import CalibratedEstimate, SmoothedEstimate
from unseen.core.rng import RandomState
from unseen.resubstitution._apply import apply

__all__ = ["bolster", "calibrated_bolster", "calibrated_naive_bayes_bolster", "naive_bayes_bolster", "semi_bolster"]


def bolster(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> SmoothedEstimate:
    """Return the mean share of kernels around the training points that a trained model assigns to another class.

    Parameters
    ----------
    fitted : object with predict, or function
        The trained model; it is never refitted.
    X, y : array-like
        The sample it was trained on.
    random_state : int, Generator or None
        Same seed, same numbers.
    sample_weight : array-like, optional
        Weight of each point.
    average : {"points", "class"}
        Mean over all points, or each class with equal weight.
    space : {"auto", "input"}
        Where kernels live: what the final estimator of a fitted Pipeline sees, or X as given.
    kernel : str or Kernel
        "spherical", "diagonal", "full", "uniform-ball", or an object of `unseen.resubstitution.kernels`.
    bandwidth : "nearest", float or sequence of float
        Size of the kernels: from class-wise nearest-neighbour distances, one number, or one per class.
    scale : float
        Factor on the size.
    n_mc : int or None
        Points per kernel where the integral is not exact. None, the default, is 100, or fewer in samples of more than 1,000
        points, so that some 100,000 are drawn in all, but never fewer than 10.
    sampler : {"plain", "antithetic", "sobol"}
        How these points are drawn.
    draws : int
        Seed of the points: models given the same one are compared on the same kernel points.
    exact : bool
        Use exact integrals where they exist (linear classifiers), True by default.

    Returns
    -------
    SmoothedEstimate

    References
    ----------
    Braga-Neto, U. M. and Dougherty, E. R. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> e = unseen.resubstitution.bolster(fitted, X, y, kernel="spherical", average="points")
    >>> 0.15 < e.value < 0.3, e.contributions.shape
    (True, (200,))
    """
    estimate: SmoothedEstimate = apply("bolster", fitted, X, y, random_state, sample_weight, options)
    return estimate


def semi_bolster(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> SmoothedEstimate:
    """Return the bolstered error with kernels on correctly classified points only.

    Parameters
    ----------
    fitted : object with predict, or function
        The trained model; it is never refitted.
    X, y : array-like
        The sample it was trained on.
    random_state : int, Generator or None
        Same seed, same numbers.
    sample_weight : array-like, optional
        Weight of each point.
    average, space, kernel, bandwidth, scale, n_mc, sampler, draws, exact
        As in `bolster`.

    Returns
    -------
    SmoothedEstimate

    References
    ----------
    Braga-Neto, U. M. and Dougherty, E. R. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> unseen.resubstitution.semi_bolster(fitted, X, y).value > unseen.resubstitution.bolster(fitted, X, y).value
    True
    """
    estimate: SmoothedEstimate = apply("semi-bolster", fitted, X, y, random_state, sample_weight, options)
    return estimate


def naive_bayes_bolster(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> SmoothedEstimate:
    """Return the bolstered error with diagonal kernels, for samples of many dimensions.

    Parameters
    ----------
    fitted : object with predict, or function
        The trained model; it is never refitted.
    X, y : array-like
        The sample it was trained on.
    random_state : int, Generator or None
        Same seed, same numbers.
    sample_weight : array-like, optional
        Weight of each point.
    average, space, bandwidth, scale, n_mc, sampler, draws, exact
        As in `bolster`.
    nearest : {"distinct", "any"}
        Widths from the nearest different value, or with ties counting as 0 (the printed form).

    Returns
    -------
    SmoothedEstimate

    References
    ----------
    Jiang, X. and Braga-Neto, U. (2014). A naive-Bayes approach to bolstered error estimation in high-dimensional spaces.
    IEEE International Workshop on Genomic Signal Processing and Statistics.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> unseen.resubstitution.naive_bayes_bolster(fitted, X, y).integration
    'exact'
    """
    estimate: SmoothedEstimate = apply("naive-bayes-bolster", fitted, X, y, random_state, sample_weight, options)
    return estimate


def calibrated_bolster(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> CalibratedEstimate:
    """Return the bolstered error with kernels scaled by the kappa that removes an estimated bias.

    Parameters
    ----------
    fitted : object with predict, or function
        The trained model; it is cloned and trained again on parts of the sample, itself left as it is.
    X, y : array-like
        The sample it was trained on.
    random_state : int, Generator or None
        Same seed, same numbers.
    sample_weight : array-like, optional
        Weight of each point (refused: there is no weighted form).
    average, space, kernel, bandwidth, scale, n_mc, sampler, draws, exact
        As in `bolster`.
    r : int
        Number of 80/20 splits, 5 by default; each trains the model once.
    search : {"step", "root"}
        Steps up from 1 as published, or the zero of the bias with fewer evaluations.
    step, fraction, max_scale : float
        Width of a step (0.1), share left out (0.2), largest kappa (20).

    Returns
    -------
    CalibratedEstimate

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 2.2.4.2.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> unseen.resubstitution.calibrated_bolster(fitted, X, y, r=2, search="root", random_state=0).curve.shape[1]
    3
    """
    estimate: CalibratedEstimate = apply("calibrated-bolster", fitted, X, y, random_state, sample_weight, options)
    return estimate


def calibrated_naive_bayes_bolster(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> CalibratedEstimate:
    """Return the bolstered error with diagonal kernels scaled by the kappa that removes an estimated bias.

    Parameters
    ----------
    fitted : object with predict, or function
        The trained model; it is cloned and trained again on parts of the sample, itself left as it is.
    X, y : array-like
        The sample it was trained on.
    random_state : int, Generator or None
        Same seed, same numbers.
    sample_weight : array-like, optional
        Weight of each point (refused: there is no weighted form).
    average, space, bandwidth, scale, n_mc, sampler, draws, exact, nearest
        As in `naive_bayes_bolster`.
    r, search, step, fraction, max_scale
        As in `calibrated_bolster`.

    Returns
    -------
    CalibratedEstimate

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 2.2.4.2.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> unseen.resubstitution.calibrated_naive_bayes_bolster(fitted, X, y, r=2, random_state=0).kappa >= 1
    True
    """
    estimate: CalibratedEstimate = apply(
        "calibrated-naive-bayes-bolster", fitted, X, y, random_state, sample_weight, options
    )
    return estimate
