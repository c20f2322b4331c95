"""Bayesian correlated t test with a region of practical equivalence (Corani & Benavoli, 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.comparison import Comparison, Rope, as_rope
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Interval
from unseen.core.kinds import PairedTest
from unseen.core.losses import LossTable
from unseen.core.method import finish, no_spread
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.estimators.corrected_t import small_test_parts
from unseen.significance.paired import check_pair, comparison_of

__all__ = ["BayesianT", "posterior"]


def posterior(mean: float, scale: float, df: float, rope: tuple[float, float]) -> tuple[float, float, float]:
    """Return the posterior chances that the difference lies below, inside and above a region.

    Examples
    --------
    >>> [round(p, 3) for p in posterior(0.0, 0.01, 24, (-0.01, 0.01))]
    [0.164, 0.673, 0.164]
    """
    from scipy.special import stdtr

    if scale == 0:
        below, above = float(mean < rope[0]), float(mean > rope[1])
    else:
        below = float(stdtr(df, (rope[0] - mean) / scale))
        above = float(stdtr(df, (mean - rope[1]) / scale))
    return below, 1.0 - below - above, above


@register
@dataclass(frozen=True)
class BayesianT(PairedTest):
    """Posterior of the mean difference: t with J - 1 degrees of freedom and scale S sqrt(1/J + rho/(1 - rho)).

    rho is the share of units tested in a split, taken from the splits themselves, so that random splits with a large test
    part are not treated as folds.

    Parameters
    ----------
    rope : float or pair of float
        Region of practical equivalence: half-width, or (low, high), in units of the loss.
    test_fraction : float or None
        rho, if it should not be taken from the splits.

    References
    ----------
    Corani, G. and Benavoli, A. (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data
    sets. Machine Learning 100, 285-304. Benavoli, A., Corani, G., Demsar, J. and Zaffalon, M. (2017). Time for a
    change: a tutorial for comparing multiple classifiers through Bayesian analysis. JMLR 18 (77), 1-36.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("iris").xy
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> c = unseen.compare(GaussianNB(), DummyClassifier(), X, y, test="bayesian-t", random_state=0)
    >>> c.pairs[0].rope.decision, c.pairs[0].p
    ('a better', None)
    """

    rope: float | tuple[float, float] = 0.01
    test_fraction: float | None = None
    id: ClassVar[str] = "bayesian-t"
    designs: ClassVar[frozenset[str]] = frozenset({"kfold", "leave-out", "monte-carlo", "repeated-kfold"})
    note_codes: ClassVar[frozenset[str]] = frozenset({"U010", "U016"})

    def __post_init__(self) -> None:
        as_rope(self.rope)
        if self.test_fraction is not None and not 0 < self.test_fraction < 1:
            raise InputError(f"test_fraction is {self.test_fraction!r}; it lies strictly between 0 and 1.")

    def default_design(self, data: Data) -> RepeatedKFold:
        """Return ten rounds of ten folds, or of as many folds as there are units."""
        return RepeatedKFold(n_folds=min(10, data.n_units), n_repeats=10)

    def __call__(self, a: LossTable, b: LossTable, *, level: float = 0.95) -> Comparison:
        """Return the posterior mean with its credible interval, and the chances of the three regions."""
        from scipy.special import stdtrit

        difference, level = check_pair(self, a, b, level)
        means = difference.split_means()
        if means.size < 2:
            raise InputError(f"{self.id} needs at least 2 completed splits; there is {means.size}.")
        n_test, n_train = difference.plan.mean_sizes()
        share = n_test / (n_test + n_train) if self.test_fraction is None else self.test_fraction
        scale = float(means.std(ddof=1) * np.sqrt(1 / means.size + share / (1 - share)))
        scale = 0.0 if no_spread(scale, difference) else scale
        df, mean = means.size - 1, float(means.mean())
        low, high = as_rope(self.rope)
        chances = posterior(mean, scale, df, (low, high))
        words = ("a better", "equivalent", "b better")[int(np.argmax(chances))]
        rope = Rope(low, high, words if max(chances) >= level else "undecided", chances)
        half = float(stdtrit(df, (1 + level) / 2)) * scale
        notes: tuple[Note, ...] = small_test_parts(share)
        if scale == 0:
            notes = (
                *notes,
                note("U010", "all splits gave the same difference, so the posterior is a point"),
            )
        interval = Interval(mean - half, mean + half, level)
        estimate = finish(self, difference, mean, scale, interval, float(df), notes=notes)
        return comparison_of(difference, estimate, level, statistic=None, reference=f"t({df})", p=None, rope=rope)
