"""The .632+ estimate, moved by bolstered, posterior and Bayesian estimates whose errors partly cancel its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from unseen.core.estimate import Estimate
from unseen.core.registry import register
from unseen.estimators.combined.evidence import recipe_bound, recipe_weights
from unseen.estimators.combined.recipe import (
    BALANCED,
    LEVEL,
    CombinedEstimate,
    WeightedRecipe,
    bounded_moves,
    with_interval,
)
from unseen.estimators.combined.situation import Situation

__all__ = ["Combined"]

CENTRE = "632plus"


def _methods(weights: Mapping[str, float]) -> tuple[str, ...]:
    """Return the methods that have to be run for some weights, the one that is moved first."""
    return tuple(dict.fromkeys([CENTRE, *(name.removesuffix(BALANCED) for name in weights if name != LEVEL)]))


@register
@dataclass(frozen=True)
class Combined(WeightedRecipe):
    """The .632+ estimate, moved by the differences of others from it, each bounded; with an interval for this model's error.

    With x the .632+ estimate, s = sqrt(q (1 - q)/n) and q = (n x + 1)/(n + 2), the value is x + s w_0 plus the sum of w_j times
    the difference of part j from x, cut at 1.5 s on either side: a part that agrees up to sampling noise helps by averaging,
    one far off shows its own bias on these data and pulls no further. Convex combinations of error estimators are due to Sima
    and Dougherty (2006); centre and bound are of this package. Weights for each family of rules were fitted by
    `studies/choose_combination.py`; the result says what RMS the recipe had on held-out data sets in a situation like this.

    The interval is where the true error of the trained model was, given the value and the size of the sample, on data sets that
    were left out: a Beta distribution whose constants count differences between data sets in (`studies/interval_fit.py`). Outside
    20 to 400 units, with fewer than three rows of a class, or for a model that sets rows aside inside its fit there is none.

    Parameters
    ----------
    family : str
        Family of rules whose weights and interval are used: "linear", "kernel", "tree", "neighbours", "generative", "boosting" (its
        weights are those of "any") or "any"; "auto" goes by the model's class.

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
    >>> e.n_fits > 100, str(e.target), e.interval.low < e.value < e.interval.high
    (True, 'this model trained on 200 rows', True)
    """

    id: ClassVar[str] = "combined"
    parts: ClassVar[tuple[str, ...]] = _methods(recipe_weights("combined")["any"])
    note_codes: ClassVar[frozenset[str]] = frozenset({"U030"})
    version: ClassVar[int] = 4

    @property
    def needed(self) -> tuple[str, ...]:
        """Methods that have to be run for the family."""
        return _methods(self.weights)

    def __call__(
        self, parts: Mapping[str, Estimate], *, level: float = 0.95, situation: Situation | None = None
    ) -> CombinedEstimate:
        """Return the .632+ estimate after all moves, and the interval of this model's error around it."""
        moved = bounded_moves(self, parts, self.weights, CENTRE, recipe_bound(self.id))
        return with_interval(moved, level, situation, self.family)
