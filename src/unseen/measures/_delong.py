"""Areas under ROC curves and their covariance (DeLong, DeLong & Clarke-Pearson, 1988; Sun & Xu, 2014)."""

from __future__ import annotations

import numpy as np

from unseen.core.arrays import Array, Floats

__all__ = ["area", "area_ends", "delong", "logit_ends"]


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


def area_ends(value: float, std_error: float, level: float, fewer: int) -> tuple[float, float, str]:
    """Return the interval of one area, and in words what took the place of DeLong's where that has no spread.

    Where no pair, or every pair, is in the wrong order DeLong's variance is 0; the interval is then Wilson's for as many
    trials as the smaller class has units.

    Examples
    --------
    >>> low, high, how = area_ends(1.0, 0.0, 0.95, 20)
    >>> round(low, 3), high, how
    (0.839, 1.0, "no spread; the interval is Wilson's for 20 units of the smaller class")
    """
    if 0 < value < 1 and std_error > 0:
        return *logit_ends(value, std_error, level), ""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    centre = (value + z**2 / (2 * fewer)) / (1 + z**2 / fewer)
    half = z / (1 + z**2 / fewer) * float(np.sqrt(value * (1 - value) / fewer + z**2 / (4 * fewer**2)))
    how = f"no spread; the interval is Wilson's for {fewer} units of the smaller class"
    return max(0.0, centre - half), min(1.0, centre + half), how
