"""Bolstered posterior-probability resubstitution, the posterior taken at the kernel points (Ghane, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.estimate import SmoothedEstimate
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.resubstitution._class_probabilities import Among, posterior_notes, posterior_of, posterior_stand_in
from unseen.resubstitution._decision_regions import check_classification, regions_of
from unseen.resubstitution._kernel_integrals import kernel_means
from unseen.resubstitution._smoothed import KernelMethod, point_weights, smoothed_estimate
from unseen.resubstitution._stand_ins import bandwidth_stand_in
from unseen.resubstitution.kernels import Spread

__all__ = ["BolsterPosterior"]


@register
@dataclass(frozen=True)
class BolsterPosterior(KernelMethod):
    """Mean, over points drawn from the kernels, of the posterior probability of another class than the one assigned there.

    Parameters
    ----------
    exact : bool
        As in `bolster`; no exact form exists here, so it changes nothing.
    posterior, k
        As in `posterior`.
    among : int, None or "auto"
        As in `posterior`; kernel points look in the part of the training point they were drawn around. "auto" looks among all in
        up to four dimensions, and among up to 50,000 points in six, 12,500 in more.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 2.2.3. Its equation 2.38 is another estimator,
    `bolster-posterior-product`; the one here gives its tables.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.svm import SVC
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(SVC(), X, y, method="bolster-posterior", n_mc=50, random_state=0)
    >>> 0.1 < e.value < 0.3 and e.mc_error < 0.01
    True
    """

    posterior: Any = "knn"
    k: int = 3
    among: Among = "auto"
    id: ClassVar[str] = "bolster-posterior"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U023"})
    version: ClassVar[int] = 2

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> SmoothedEstimate:
        """Return the mean doubt at the kernel points."""
        check_classification(self.id, data)
        training = fit_once(model, data, rng)
        regions = regions_of(self.id, training.fitted, data, self.space)
        spread = self.spread(regions)
        estimate, name = posterior_of(regions, self.posterior, self.k, self.among, kernels=True)

        def doubt(points: Floats, kernels: Ints) -> Floats:
            shares = estimate(points, kernels)
            return np.asarray(1 - shares[np.arange(len(points)), regions.assign(points)])

        draws, weights = self.kernel_draws(rng, data.n), point_weights(data, self.average)
        integral = kernel_means(regions.points, regions.codes, spread, draws, doubt, weights=weights)
        measure = f"{self.measure}, {name} at the kernel points"

        def values_at(other: Spread, rows: Ints) -> Floats:
            def doubt_at(points: Floats, kernels: Ints) -> Floats:
                return doubt(points, rows[kernels])

            return kernel_means(regions.points[rows], regions.codes[rows], other, draws, doubt_at).values

        stand_ins = (
            posterior_stand_in(regions, self.posterior, self.k, self.among, weights, spread),
            bandwidth_stand_in(regions, spread, weights, values_at),
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
