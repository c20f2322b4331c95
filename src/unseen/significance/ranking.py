"""Models ranked over many data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.notes import Note
from unseen.core.result import Result, plain

__all__ = ["Ranking"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking(Result):
    """Mean ranks of several models over many data sets, the test that they are equal, and all pairs after it.

    Parameters
    ----------
    names : tuple of str
        Models, in the order given.
    mean_ranks, mean_errors : ndarray
        Mean rank (1 is best) and mean error of each.
    statistic, p : float
        Friedman's chi-square, corrected for ties, and its p-value; with few data sets the exact one, if it could be found.
    f_statistic, f_p : float
        The F form of Iman and Davenport, less conservative; an exact p-value is the same for both.
    pairwise : ndarray
        Matrix of adjusted p-values of all pairs.
    posthoc : str
        "nemenyi" or "holm".
    critical_difference : float or None
        Difference of mean ranks that Nemenyi's test needs at the level; None with Holm, and if two models are tested exactly.
    n_datasets : int
        Number of data sets.
    level : float
        Confidence level.
    notes : tuple of Note
        Statistical weaknesses.
    """

    shown_by: ClassVar[str] = "unseen.comparison"

    names: tuple[str, ...]
    mean_ranks: Floats
    mean_errors: Floats
    statistic: float
    p: float
    f_statistic: float
    f_p: float
    pairwise: Floats
    posthoc: str
    critical_difference: float | None
    n_datasets: int
    level: float = 0.95
    notes: tuple[Note, ...] = ()

    @property
    def title(self) -> str:
        """Heading of the report."""
        return f"{len(self.names)} models over {self.n_datasets} data sets"

    def order(self) -> list[int]:
        """Return model numbers from the best mean rank to the worst."""
        return [int(k) for k in np.argsort(self.mean_ranks, kind="stable")]

    def groups(self) -> list[tuple[str, ...]]:
        """Return the largest runs of models, by mean rank, among which no pair differs significantly."""
        order, found = self.order(), []
        same = self.pairwise >= 1 - self.level
        last = -1
        for i in range(len(order)):
            j = i
            while j + 1 < len(order) and all(same[order[k], order[j + 1]] for k in range(i, j + 1)):
                j += 1
            if j > max(i, last):
                found.append(tuple(self.names[order[k]] for k in range(i, j + 1)))
            last = max(last, j)
        return found

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per model, best first, with the p-value of its difference from the best."""
        best = self.order()[0]
        return [
            {"model": self.names[k], "mean_rank": float(self.mean_ranks[k]), "mean_error": float(self.mean_errors[k])}
            | {"p_against_best": None if k == best else float(self.pairwise[best, k])}
            for k in self.order()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return ranks, both tests, all pairs and the groups."""
        keys = ("statistic", "p", "f_statistic", "f_p", "posthoc", "critical_difference", "n_datasets", "level")
        pairs = {
            f"{a} vs {b}": float(self.pairwise[i, j])
            for i, a in enumerate(self.names)
            for j, b in enumerate(self.names)
            if i < j
        }
        return {
            "models": self.rows(),
            **{k: plain(getattr(self, k)) for k in keys},
            "pairs": pairs,
            "not_distinguished": [list(g) for g in self.groups()],
            "notes": [n.to_dict() for n in self.notes],
        }

    def __str__(self) -> str:
        ranks = ", ".join(f"{self.names[k]} {self.mean_ranks[k]:.2f}" for k in self.order())
        need = "" if self.critical_difference is None else f"; critical difference {self.critical_difference:.3g}"
        return (
            f"mean ranks over {self.n_datasets} data sets: {ranks}; Friedman chi-square {self.statistic:.4g}, p {self.p:.3g}"
            f" ({self.posthoc}{need})"
        )
