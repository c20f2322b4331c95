"""How stable the ranking of several models is over splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unseen.core.errors import InputError
from unseen.core.losses import LossTable

__all__ = ["RankingStability", "ranking_stability"]


@dataclass(frozen=True)
class RankingStability:
    """How stable the ranking of several models is over splits.

    Parameters
    ----------
    names : tuple of str
        The models, best first by mean error.
    error : tuple of float
        Their mean errors.
    first : tuple of float
        Share of splits in which each has the smallest error; shared first places are divided.
    tau : float
        Mean Kendall tau-b between the ranking of a split and that by mean error; 1 if they never differ.
    """

    names: tuple[str, ...]
    error: tuple[float, ...]
    first: tuple[float, ...]
    tau: float


def ranking_stability(tables: Mapping[str, LossTable]) -> RankingStability:
    """Return the stability of the ranking of models that were run on the same splits.

    References
    ----------
    Kendall, M. G. (1938). A new measure of rank correlation. Biometrika 30, 81-93.
    """
    from scipy.stats import kendalltau

    names = list(tables)
    if len(names) < 2:
        raise InputError("a ranking needs at least two models.")
    if len({t.plan.fingerprint for t in tables.values()}) > 1:
        raise InputError("the tables come from different splits; run all models with the same data, design and seed.")
    shared = set.intersection(*(set(t.completed.tolist()) for t in tables.values()))
    means = np.array([t.split_means()[np.isin(t.completed, list(shared))] for t in tables.values()])
    order = np.argsort(means.mean(axis=1), kind="stable")
    means = means[order]
    best = np.isclose(means, means.min(axis=0), rtol=0, atol=1e-12)
    first = (best / best.sum(axis=0)).mean(axis=1)
    overall = means.mean(axis=1)
    taus = [kendalltau(column, overall).statistic for column in means.T]
    tau = float(np.mean(np.nan_to_num(taus)))  # a split in which all tie says nothing: tau 0
    return RankingStability(tuple(names[k] for k in order), tuple(map(float, overall)), tuple(map(float, first)), tau)
