"""Generalized resubstitution as functions of a model that is trained already."""

from __future__ import annotations

from typing import Any

from unseen.core.data import Task
from unseen.core.errors import InputError
from unseen.core.estimate import CalibratedEstimate, Estimate, SmoothedEstimate
from unseen.core.registry import build
from unseen.core.rng import RandomState, root_seed, stream
from unseen.datasets.frame import as_data
from unseen.resubstitution._pretrained import held

__all__ = [
    "apply",
    "bayesian",
    "bolster",
    "bolster_posterior",
    "bolster_posterior_accuracy",
    "bolster_posterior_product",
    "calibrated_bolster",
    "calibrated_naive_bayes_bolster",
    "naive_bayes_bolster",
    "posterior",
    "resub",
    "semi_bolster",
]


def apply(
    method: str, fitted: Any, X: Any, y: Any, random_state: RandomState, sample_weight: Any, options: dict[str, Any]
) -> Any:
    """Return the estimate; its numbers are those of `unseen.estimate(..., fitted=True)`."""
    chosen = build(method, "resubstitution", options=options)
    task: Task | None = "classification" if hasattr(fitted, "classes_") else None
    data = as_data(X, y, sample_weight=sample_weight, task=task)
    if sample_weight is not None and not chosen.weighted:
        raise InputError(f"{method} has no weighted form; leave the weights out or choose another method.")
    return chosen(held(fitted), data, rng=stream(root_seed(random_state), "direct", method), level=0.95)


def resub(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> Estimate:
    """Return the error of a trained model on its own training points.

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
    loss : str
        Id of a loss; "auto" takes the task's default.

    Returns
    -------
    Estimate

    References
    ----------
    Smith, C. A. B. (1947). Some examples of discrimination. Annals of Eugenics 13, 272-282.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = KNeighborsClassifier(1).fit(X, y)
    >>> unseen.resubstitution.resub(fitted, X, y).value
    0.0
    """
    estimate: Estimate = apply("resub", fitted, X, y, random_state, sample_weight, options)
    return estimate


def posterior(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> SmoothedEstimate:
    """Return the mean posterior probability of another class than the one a trained model assigns to each point.

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
    average, space
        As in `bolster`.
    posterior : str, classifier or function
        "knn", "model" (its own predict_proba), "calibrated" (its scores, by a sigmoid fitted to the same points, with a note),
        "gaussian-process", a classifier with predict_proba that is fitted to the sample, or a function of points.
    k : int
        Neighbours of "knn", 3 by default.
    among : int or None
        A sample of more points than this (12,500 by default) is cut at random into parts, and "knn" looks in a point's own
        part, which keeps the cost linear in the sample size; None looks among all.

    Returns
    -------
    SmoothedEstimate

    References
    ----------
    Lugosi, G. and Pawlak, M. (1994). On the posterior-probability estimate of the error rate of nonparametric
    classification rules. IEEE Transactions on Information Theory 40, 475-481.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> unseen.resubstitution.posterior(fitted, X, y, k=1).value == unseen.resubstitution.resub(fitted, X, y).value
    True
    """
    estimate: SmoothedEstimate = apply("posterior", fitted, X, y, random_state, sample_weight, options)
    return estimate


def bolster_posterior(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> SmoothedEstimate:
    """Return the mean posterior probability, at points drawn from the kernels, of another class than the one assigned.

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
    posterior, k, among
        As in `posterior`; `among` counts for kernel points as for training points.

    Returns
    -------
    SmoothedEstimate

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 2.2.3.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> 0.1 < unseen.resubstitution.bolster_posterior(fitted, X, y, random_state=0).value < 0.3
    True
    """
    estimate: SmoothedEstimate = apply("bolster-posterior", fitted, X, y, random_state, sample_weight, options)
    return estimate


def bolster_posterior_product(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> SmoothedEstimate:
    """Return the mean product of misclassified kernel share and posterior doubt, as printed; see `bolster_posterior`.

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
    posterior, k
        As in `posterior`.

    Returns
    -------
    SmoothedEstimate

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, equation 2.38.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> unseen.resubstitution.bolster_posterior_product(fitted, X, y).notes[0].title
    'printed form'
    """
    estimate: SmoothedEstimate = apply("bolster-posterior-product", fitted, X, y, random_state, sample_weight, options)
    return estimate


def bolster_posterior_accuracy(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> SmoothedEstimate:
    """Return one minus the mean product of correctly classified kernel share and posterior trust.

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
    posterior, k
        As in `posterior`.

    Returns
    -------
    SmoothedEstimate

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, equation 2.51.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> 0.2 < unseen.resubstitution.bolster_posterior_accuracy(fitted, X, y, posterior="model").value < 0.6
    True
    """
    estimate: SmoothedEstimate = apply("bolster-posterior-accuracy", fitted, X, y, random_state, sample_weight, options)
    return estimate


def bayesian(
    fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
) -> SmoothedEstimate:
    """Return the posterior mean of a trained model's error where the classes are Gaussian with known covariance.

    Parameters
    ----------
    fitted : object with predict, or function
        The trained model; it is never refitted.
    X, y : array-like
        The sample it was trained on.
    random_state : int, Generator or None
        Same seed, same numbers.
    sample_weight : array-like, optional
        Weight of each point (refused: there is no weighted form).
    covariance : array or None
        One matrix, or one per class; None takes the pooled sample covariance, with a note.
    prior_mean : array or None
        One vector, or one per class; zero by default.
    prior_weight : float
        Number of points the prior mean is worth, 0 by default.
    space, n_mc, sampler, draws, exact
        As in `bolster`; here `n_mc` (10,000) points are drawn per class.

    Returns
    -------
    SmoothedEstimate

    References
    ----------
    Dalton, L. A. and Dougherty, E. R. (2011). Bayesian minimum mean-square error estimation for classification error,
    parts I and II. IEEE Transactions on Signal Processing 59, 115-144.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> fitted = LogisticRegression().fit(X, y)
    >>> 0.1 < unseen.resubstitution.bayesian(fitted, X, y).value < 0.3
    True
    """
    estimate: SmoothedEstimate = apply("bayesian", fitted, X, y, random_state, sample_weight, options)
    return estimate


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
