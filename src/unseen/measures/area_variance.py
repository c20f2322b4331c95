"""Areas under ROC curves and their covariance (DeLong, DeLong & Clarke-Pearson, 1988; Sun & Xu, 2014)."""

from __future__ import annotations

import numpy as np

from unseen.core.arrays import Array, Floats

__all__ = ["area", "area_ends", "area_freedom", "delong", "logit_ends", "mean_area"]


def delong(
    positive: Array, *scores: Floats, units: Array | None = None, weight: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the areas and their covariance matrix, in O(n log n) through mid-ranks (Sun & Xu, 2014).

    Parameters
    ----------
    positive : ndarray of bool
        Which cases are of the positive class.
    *scores : ndarray
        Scores of each model, higher for the positive class.
    units : ndarray, optional
        Group of each case; the structural components of a group are summed (Obuchowski, 1997). A class that lies in one
        group shows no spread, and the covariances are then 0.
    weight : ndarray, optional
        Weight of each case; a pair counts as the product of its two.

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
    m, n = int(positive.sum()), int((~positive).sum())
    parts = [_influence(positive, score, weight) for score in scores]
    areas, influence = np.array([one[0] for one in parts]), np.array([one[1] for one in parts])
    if units is not None and len(np.unique(units)) < len(units):
        codes = np.unique(units, return_inverse=True)[1].reshape(-1)
        if min(len(np.unique(codes[part])) for part in (positive, ~positive)) < 2:
            return areas, np.zeros((len(scores), len(scores)))
        totals = np.array([np.bincount(codes, row) for row in influence])
        count = totals.shape[1]
        return areas, totals @ totals.T * count / (count - 1)
    plus, minus = influence[:, positive], influence[:, ~positive]
    return areas, plus @ plus.T * m / (m - 1) + minus @ minus.T * n / (n - 1)


def mean_area(y: Array, scores: Floats, units: Array, weight: Floats | None = None) -> tuple[float, float]:
    """Return the mean over classes of the area of each against the rest, and its standard error over units.

    Parameters
    ----------
    y : ndarray of int
        Class codes; those of which there is no case do not count.
    scores : ndarray
        A column per class.
    units : ndarray of int
        Unit of each case, from 0 on.
    weight : ndarray, optional
        Weight of each case.

    Notes
    -----
    The structural components of a case are added over the classes: O(K n log n), where resampling would sort K columns as
    often as there are resamples.

    Examples
    --------
    >>> y, scores = np.array([0, 0, 1, 1, 2, 2]), np.eye(3)[[0, 1, 1, 1, 2, 2]]
    >>> value, error = mean_area(y, scores, np.arange(6))
    >>> round(value, 4), round(error, 4)
    (0.875, 0.0995)
    """
    codes = np.unique(y)
    parts = [_influence(y == code, scores[:, code], weight) for code in codes]
    totals = np.bincount(units, np.sum([part[1] for part in parts], axis=0) / len(codes))
    spread = float(np.square(totals).sum()) * len(totals) / max(len(totals) - 1, 1)
    return float(np.mean([part[0] for part in parts])), float(np.sqrt(spread))


def _influence(positive: Array, score: Floats, weight: Floats | None) -> tuple[float, Floats]:
    """Return the area, and by how much each case moves it: its structural component over the weight of its class."""
    above, below = _placements(positive, score) if weight is None else _weighted_placements(positive, score, weight)
    own = np.ones(len(score)) if weight is None else weight
    plus, minus = own[positive], own[~positive]
    found = float(above.mean()) if weight is None else float(plus @ above / plus.sum())
    influence = np.empty(len(score))
    influence[positive] = plus * (above - found) / plus.sum()
    influence[~positive] = minus * (below - found) / minus.sum()
    return found, influence


def _placements(positive: Array, score: Floats) -> tuple[Floats, Floats]:
    """Return the share of negatives below each positive and of positives above each negative, ties counted half."""
    from scipy.stats import rankdata

    ranks = rankdata(score)
    above = (ranks[positive] - rankdata(score[positive])) / int((~positive).sum())
    return above, 1 - (ranks[~positive] - rankdata(score[~positive])) / int(positive.sum())


def _weighted_placements(positive: Array, score: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the same with cases counted by their weights."""

    def share_below(of: Floats, among: Floats, weights: Floats) -> Floats:
        order = np.argsort(among, kind="stable")
        sums = np.concatenate([[0.0], np.cumsum(weights[order])])
        left, right = (np.searchsorted(among[order], of, side=side) for side in ("left", "right"))
        return np.asarray((sums[left] + sums[right]) / (2 * sums[-1]))

    plus, minus = score[positive], score[~positive]
    return share_below(plus, minus, weight[~positive]), 1 - share_below(minus, plus, weight[positive])


def area_freedom(
    positive: Array, score: Floats, units: Array, weight: Floats | None = None, minus: Floats | None = None
) -> float:
    """Return the degrees of freedom of DeLong's variance of one area, by Satterthwaite's rule (Brunner & Munzel, 2000).

    With scores `minus` of a second model, those of the variance of the difference of the two areas.

    The variance is that of the units with a case of the rarer class and that of all others; few of the former make it
    uncertain however many the latter.

    References
    ----------
    Brunner, E. and Munzel, U. (2000). The nonparametric Behrens-Fisher problem: asymptotic theory and a small-sample
    approximation. Biometrical Journal 42, 17-25.

    Examples
    --------
    >>> few = np.arange(103) < 3
    >>> score = np.where(few, 0.5 + 0.3 * (np.arange(103) - 1), np.linspace(0, 1, 103))
    >>> round(area_freedom(few, score, np.arange(103)), 1)
    2.2
    """
    codes = np.unique(units, return_inverse=True)[1].reshape(-1)
    influence = _influence(positive, score, weight)[1]
    totals = np.bincount(codes, influence if minus is None else influence - _influence(positive, minus, weight)[1])
    holding = [np.bincount(codes[part], minlength=len(totals)) > 0 for part in (positive, ~positive)]
    rare = min(holding, key=np.count_nonzero)
    parts = [totals[rare], totals[~rare]]
    variances = [float(np.square(p).sum()) * len(p) / max(len(p) - 1, 1) for p in parts]
    below = sum(v**2 / max(len(p) - 1, 1) for v, p in zip(variances, parts))
    return sum(variances) ** 2 / below if below > 0 else float("inf")


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


def logit_ends(value: float, std_error: float, level: float, df: float = np.inf) -> tuple[float, float]:
    """Return an interval made on the logit scale, which never leaves (0, 1) (Pepe, 2003); Student's t if df is finite.

    References
    ----------
    Pepe, M. S. (2003). The statistical evaluation of medical tests for classification and prediction. Oxford
    University Press, section 5.2.

    Examples
    --------
    >>> [round(end, 3) for end in logit_ends(0.8, 0.05, 0.95)]
    [0.684, 0.881]
    """
    from scipy.special import expit, logit, ndtri, stdtrit

    tail = (1 + level) / 2
    half = float(stdtrit(df, tail) if np.isfinite(df) else ndtri(tail)) * std_error / (value * (1 - value))
    return float(expit(logit(value) - half)), float(expit(logit(value) + half))


def area_ends(value: float, std_error: float, level: float, fewer: int, df: float = np.inf) -> tuple[float, float, str]:
    """Return the interval of one area, and in words what replaces that of DeLong if it has no spread.

    If no pair, or every pair, is in the wrong order DeLong's variance is 0; the interval is then Wilson's for as many
    trials as the smaller class has units.

    Examples
    --------
    >>> low, high, how = area_ends(1.0, 0.0, 0.95, 20)
    >>> round(low, 3), high, how
    (0.839, 1.0, "no spread; the interval is Wilson's for 20 units of the smaller class")
    """
    if 0 < value < 1 and std_error > 0:
        return *logit_ends(value, std_error, level, df), ""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    centre = (value + z**2 / (2 * fewer)) / (1 + z**2 / fewer)
    half = z / (1 + z**2 / fewer) * float(np.sqrt(value * (1 - value) / fewer + z**2 / (4 * fewer**2)))
    how = f"no spread; the interval is Wilson's for {fewer} units of the smaller class"
    return max(0.0, centre - half), min(1.0, centre + half), how
