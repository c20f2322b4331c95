"""One minus the bolstered posterior-probability accuracy of Ghane (2022), equation 2.51."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.estimate import SmoothedEstimate
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.resubstitution._class_probabilities import posterior_notes, posterior_stand_in
from unseen.resubstitution._decision_regions import check_classification, regions_of
from unseen.resubstitution._kernel_integrals import Integral, misclassified_at, misclassified_mass
from unseen.resubstitution._smoothed import KernelMethod, point_weights, smoothed_estimate
from unseen.resubstitution._stand_ins import bandwidth_stand_in
from unseen.resubstitution.kernels import Spread
from unseen.resubstitution.methods.posterior import unassigned_probability

__all__ = ["BolsterPosteriorAccuracy"]


@register
@dataclass(frozen=True)
class BolsterPosteriorAccuracy(KernelMethod):
    """One minus: correctly classified share of each kernel times the posterior trust at its centre.

    Never below either of `bolster` and `posterior`: the two doubts add up.

    Parameters
    ----------
    posterior : str, classifier or function
        As in `posterior`; "model" is the published use, with softmax probabilities.
    k : int
        As in `posterior`.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, equations 2.51 to 2.53.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> model = LogisticRegression()
    >>> both = unseen.estimate(model, X, y, method="bolster-posterior-accuracy", posterior="model", random_state=0)
    >>> both.value > unseen.estimate(model, X, y, method="bolster", random_state=0).value
    True
    """

    posterior: Any = "knn"
    k: int = 3
    id: ClassVar[str] = "bolster-posterior-accuracy"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U023"})
    version: ClassVar[int] = 3

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> SmoothedEstimate:
        """Return one minus the mean product of the two accuracies."""
        check_classification(self.id, data)
        training = fit_once(model, data, rng)
        regions = regions_of(self.id, training.fitted, data, self.space)
        spread = self.spread(regions)
        doubt, name = unassigned_probability(regions, self.posterior, self.k)
        trust = 1 - doubt.values
        shares, draws = point_weights(data, self.average), self.kernel_draws(rng, data.n)
        mass = misclassified_mass(regions, spread, draws, exact=self.exact, weights=shares * trust)
        integral = Integral(1 - (1 - mass.values) * trust, mass.variances * trust**2, mass.how)
        measure = f"{self.measure} and {name}, accuracies multiplied"

        def values_at(other: Spread, rows: Ints) -> Floats:
            return misclassified_at(regions, other, draws, rows, exact=self.exact)

        stand_ins = (
            posterior_stand_in(regions, self.posterior, self.k, "auto", shares * (1 - mass.values)),
            bandwidth_stand_in(regions, spread, shares * trust, values_at),
        )
        return smoothed_estimate(
            self,
            regions,
            integral,
            measure,
            training,
            bandwidth=spread.bandwidth,
            notes=posterior_notes(self.posterior),
            stand_ins=stand_ins,
        )
