"""Product of bolstered and posterior-probability contributions, as printed in Ghane (2022), equation 2.38."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.estimate import SmoothedEstimate
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.resubstitution._class_probabilities import posterior_notes, posterior_stand_in
from unseen.resubstitution._decision_regions import check_classification, regions_of
from unseen.resubstitution._kernel_integrals import Integral, misclassified_at, misclassified_mass
from unseen.resubstitution._smoothed import KernelMethod, point_weights, smoothed_estimate
from unseen.resubstitution._stand_ins import bandwidth_stand_in
from unseen.resubstitution.kernels import Spread
from unseen.resubstitution.methods.posterior import unassigned_probability

__all__ = ["BolsterPosteriorProduct"]


@register
@dataclass(frozen=True)
class BolsterPosteriorProduct(KernelMethod):
    """Misclassified share of each kernel times the posterior doubt at its centre; never above either factor.

    Parameters
    ----------
    posterior, k
        As in `posterior`.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, equations 2.38 and 2.39. A product of two numbers of at most 1
    cannot give the published table 2.2; `bolster-posterior` does.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.svm import LinearSVC
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(LinearSVC(), X, y, method="bolster-posterior-product", random_state=0)
    >>> e.value < unseen.estimate(LinearSVC(), X, y, method="bolster", random_state=0).value, e.notes[0].code
    (True, 'U027')
    """

    posterior: Any = "knn"
    k: int = 3
    id: ClassVar[str] = "bolster-posterior-product"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U023", "U027"})
    version: ClassVar[int] = 3
    in_assess: ClassVar[bool] = False

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> SmoothedEstimate:
        """Return the mean product."""
        check_classification(self.id, data)
        training = fit_once(model, data, rng)
        regions = regions_of(self.id, training.fitted, data, self.space)
        spread = self.spread(regions)
        doubt, name = unassigned_probability(regions, self.posterior, self.k)
        shares, draws = point_weights(data, self.average), self.kernel_draws(rng, data.n)
        mass = misclassified_mass(regions, spread, draws, exact=self.exact, weights=shares * doubt.values)
        integral = Integral(mass.values * doubt.values, mass.variances * doubt.values**2, mass.how)
        remark = note("U027", "equation 2.38 is a product of two shares and lies below both; use bolster-posterior")

        def values_at(other: Spread, rows: Ints) -> Floats:
            return misclassified_at(regions, other, draws, rows, exact=self.exact)

        stand_ins = (
            posterior_stand_in(regions, self.posterior, self.k, "auto", shares * mass.values),
            bandwidth_stand_in(regions, spread, shares * doubt.values, values_at),
        )
        return smoothed_estimate(
            self,
            regions,
            integral,
            f"{self.measure} times {name}",
            training,
            bandwidth=spread.bandwidth,
            notes=(remark, *posterior_notes(self.posterior)),
            stand_ins=stand_ins,
        )
