"""A weighted mean of resubstitution estimates: the best that needs no retraining (after Sima & Dougherty, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.registry import register
from unseen.estimators.combined.evidence import recipe_weights
from unseen.estimators.combined.recipe import WeightedRecipe

__all__ = ["AutoResub"]


@register
@dataclass(frozen=True)
class AutoResub(WeightedRecipe):
    """Weighted mean of estimates made without retraining; works on a model that is trained already.

    Members, and weights for each family of rules, were chosen by `studies/choose_combination.py`; the result says what
    RMS the recipe had on held-out data sets in a situation like this one.

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
    >>> e.n_fits, e.value > 0.1
    (0, True)
    """

    group: ClassVar[str] = "resubstitution"
    id: ClassVar[str] = "auto-resub"
    parts: ClassVar[tuple[str, ...]] = tuple(recipe_weights("auto-resub")["any"])
