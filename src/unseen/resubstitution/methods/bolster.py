"""Bolstered resubstitution (Braga-Neto & Dougherty, 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.estimate import SmoothedEstimate
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.resubstitution._decision_regions import check_classification, regions_of
from unseen.resubstitution._kernel_integrals import misclassified_at, misclassified_mass
from unseen.resubstitution._smoothed import KernelMethod, point_weights, smoothed_estimate
from unseen.resubstitution._stand_ins import bandwidth_stand_in
from unseen.resubstitution.kernels import Spread

__all__ = ["Bolster"]


@register
@dataclass(frozen=True)
class Bolster(KernelMethod):
    """Share of a kernel around each training point that the model assigns to another class.

    The kernel of class y is Gaussian with standard deviation d_y / alpha_d, d_y the class's mean nearest-neighbour
    distance and alpha_d the median of the chi distribution. Exact for linear two-class classifiers.

    References
    ----------
    Braga-Neto, U. M. and Dougherty, E. R. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.
    Ghane, P. (2022). Dissertation, Texas A&M University, equations 2.22 to 2.27.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.svm import LinearSVC
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(LinearSVC(), X, y, method="bolster", random_state=0)
    >>> 0.15 < e.value < 0.3, len(e.contributions)
    (True, 200)
    """

    id: ClassVar[str] = "bolster"

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> SmoothedEstimate:
        """Return the mean mass outside, with each point's own as its contribution."""
        check_classification(self.id, data)
        training = fit_once(model, data, rng)
        regions = regions_of(self.id, training.fitted, data, self.space)
        spread = self.spread(regions)
        weights, draws = point_weights(data, self.average), self.kernel_draws(rng, data.n)
        integral = misclassified_mass(regions, spread, draws, exact=self.exact, weights=weights)

        def values_at(other: Spread, rows: Ints) -> Floats:
            return misclassified_at(regions, other, draws, rows, exact=self.exact)

        sized = bandwidth_stand_in(regions, spread, weights, values_at)
        return smoothed_estimate(
            self, regions, integral, self.measure, training, bandwidth=spread.bandwidth, stand_ins=(sized,)
        )
