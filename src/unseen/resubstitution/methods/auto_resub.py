"""A weighted mean of resubstitution estimates: the best that needs no retraining (after Sima & Dougherty, 2006)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from unseen.core.estimate import Estimate
from unseen.core.notes import merge_notes, note
from unseen.core.registry import register
from unseen.estimators.combined.evidence import reason_not_studied, recipe_weights
from unseen.estimators.combined.predictive import predictive
from unseen.estimators.combined.recipe import CombinedEstimate, WeightedRecipe
from unseen.estimators.combined.situation import Situation

__all__ = ["AutoResub"]


@register
@dataclass(frozen=True)
class AutoResub(WeightedRecipe):
    """Weighted mean of estimates made without retraining; works on a model that is trained already.

    Members, and weights for each family of rules, were chosen by `studies/choose_combination.py`; the result says what
    RMS the recipe had on held-out data sets in a situation like this one. The interval is that of a predictive distribution,
    fitted by `studies/interval_fit.py`: what the true error was on data sets where the recipe gave such a value. There is none
    for samples smaller or larger than those studied, or with a rarer class.

    Parameters
    ----------
    family : str
        Family of rules whose weights are used: "linear", "kernel", "tree", "neighbours", "generative" or "any"; "auto" goes
        by the model's class.

    References
    ----------
    Sima, C. and Dougherty, E. R. (2006). Optimal convex error estimators for classification. Pattern Recognition 39,
    1763-1780.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(KNeighborsClassifier(3).fit(X, y), X, y, method="auto-resub", fitted=True, random_state=0)
    >>> e.n_fits, e.interval.low < e.value < e.interval.high
    (0, True)
    """

    group: ClassVar[str] = "resubstitution"
    id: ClassVar[str] = "auto-resub"
    parts: ClassVar[tuple[str, ...]] = tuple(recipe_weights("auto-resub")["any"])
    note_codes: ClassVar[frozenset[str]] = frozenset({"U030"})
    version: ClassVar[int] = 2

    def __call__(
        self, parts: Mapping[str, Estimate], *, level: float = 0.95, situation: Situation | None = None
    ) -> CombinedEstimate:
        """Return the weighted mean, with an interval if such samples were studied."""
        made = super().__call__(parts, level=level)
        # nothing is trained here, so that it does not matter whether the model sets rows aside inside its fit
        seen = None if situation is None else replace(situation, resampling="")
        reason = reason_not_studied(made.n_units) if seen is None else seen.outside_the_study()
        if reason:
            return replace(made, notes=merge_notes(made.notes, (note("U030", reason),)))
        return replace(made, interval=predictive(self.id).interval(made.value, made.n_units, level))
