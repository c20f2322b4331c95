"""Areas under ROC curves and their covariance (DeLong, DeLong & Clarke-Pearson, 1988; Sun & Xu, 2014)."""

from __future__ import annotations

import numpy as np

from unseen.core.arrays import Array, Floats

__all__ = ["area", "delong", "logit_ends"]


def delong(positive: Array, *scores: Floats, units: Array | None = None) -> tuple[Floats, Floats]:
    """Return the areas and their covariance matrix, in O(n log n) through mid-ranks (Sun & Xu, 2014).

    Parameters
    ----------
    positive : ndarray of bool
        Which cases are of the positive class.
    *scores : ndarray
        Scores of each model, higher for the positive class.
    units : ndarray, optional
        Group of each case; the structural components of a group are summed (Obuchowski, 1997).

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated
    receiver operating characteristic curves: a nonparametric approach. Biometrics 44, 837-845. Sun, X. and Xu, W.
    (2014). Fast implementation of DeLong's algorithm. IEEE Signal Processing Letters 21, 1389-1393.

    Examples
    --------
    >>> areas, covariance = delong(np.array([1, 1, 1, 0, 0], bool), np.array([0.9, 0.6, 0.7, 0.2, 0.65]))
    >>> areas.round(4).tolist(), covariance.round(4).tolist()
    ([0.8333], [[0.0556]])
    """
    from scipy.stats import rankdata

    m, n = int(positive.sum()), int((~positive).sum())
    influence = np.empty((len(scores), len(positive)))
    areas = np.empty(len(scores))
    for k, score in enumerate(scores):
        ranks = rankdata(score)
        above = (ranks[positive] - rankdata(score[positive])) / n
        below = 1 - (ranks[~positive] - rankdata(score[~positive])) / m
        areas[k] = above.mean()
        influence[k, positive] = (above - areas[k]) / m
        influence[k, ~positive] = (below - areas[k]) / n
    if units is not None and len(np.unique(units)) < len(units):
        codes = np.unique(units, return_inverse=True)[1].reshape(-1)
        totals = np.array([np.bincount(codes, row) for row in influence])
        count = totals.shape[1]
        return areas, totals @ totals.T * count / (count - 1)
    plus, minus = influence[:, positive], influence[:, ~positive]
    return areas, plus @ plus.T * m / (m - 1) + minus @ minus.T * n / (n - 1)


def area(positive: Array, score: Floats) -> float:
    """Return the area under the ROC curve alone.

    Examples
    --------
    >>> area(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.75
    """
    from scipy.stats import rankdata

    m, n = int(positive.sum()), int((~positive).sum())
    return float((rankdata(score)[positive].sum() - m * (m + 1) / 2) / (m * n))


def logit_ends(value: float, std_error: float, level: float) -> tuple[float, float]:
    """Return an interval made on the logit scale, which never leaves (0, 1) (Pepe, 2003).

    References
    ----------
    Pepe, M. S. (2003). The statistical evaluation of medical tests for classification and prediction. Oxford
    University Press, section 5.2.

    Examples
    --------
    >>> [round(end, 3) for end in logit_ends(0.8, 0.05, 0.95)]
    [0.684, 0.881]
    """
    from scipy.special import expit, logit, ndtri

    half = float(ndtri((1 + level) / 2)) * std_error / (value * (1 - value))
    return float(expit(logit(value) - half)), float(expit(logit(value) + half))
