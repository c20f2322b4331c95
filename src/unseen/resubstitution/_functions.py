"""Resubstitution, posterior-probability and Bayesian estimates as functions of a model that is trained already."""

from __future__ import annotations

from typing import Any

from unseen.core.estimate import Estimate, SmoothedEstimate
from unseen.core.rng import RandomState
from unseen.resubstitution._apply import apply

__all__ = [
    "bayesian",
    "bolster_posterior",
    "bolster_posterior_accuracy",
    "bolster_posterior_product",
    "posterior",
    "resub",
]


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
