"""A weighted mean of bolstered and bootstrap estimates, whose errors partly cancel (after Sima & Dougherty, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.combination import WeightedRecipe
from unseen.core.evidence import recipe_weights
from unseen.core.registry import register

__all__ = ["Combined"]


@register
@dataclass(frozen=True)
class Combined(WeightedRecipe):
    """Weighted mean of one bootstrap estimate and resubstitution estimates of the same model; no interval.

    Members, and weights for each family of rules, were chosen by `benchmarks/choose_combination.py`; the result says what
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
    >>> e = unseen.estimate(KNeighborsClassifier(3), X, y, method="combined", random_state=0)
    >>> e.n_fits > 100, str(e.target)
    (True, 'this model trained on 200 units')
    """

    id: ClassVar[str] = "combined"
    parts: ClassVar[tuple[str, ...]] = tuple(recipe_weights("combined")["any"])
    version: ClassVar[int] = 1
