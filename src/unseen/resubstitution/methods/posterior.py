"""Posterior-probability resubstitution (Lugosi & Pawlak, 1994)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.estimate import SmoothedEstimate
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.resubstitution._class_probabilities import Among, posterior_notes, posterior_of, posterior_stand_in
from unseen.resubstitution._decision_regions import Regions, check_classification, regions_of
from unseen.resubstitution._kernel_integrals import Integral
from unseen.resubstitution._smoothed import SmoothedMethod, point_weights, smoothed_estimate

__all__ = ["PosteriorResub", "unassigned_probability"]


def unassigned_probability(regions: Regions, posterior: Any, k: int, among: Among = "auto") -> tuple[Integral, str]:
    """Return the posterior probability, at each training point, of another class than the one assigned there."""
    estimate, name = posterior_of(regions, posterior, k, among)
    n = len(regions.points)
    shares = estimate(regions.points)
    doubt = 1 - shares[np.arange(n), regions.assigned]
    return Integral(doubt, np.zeros(n), "exact"), name


@register
@dataclass(frozen=True)
class PosteriorResub(SmoothedMethod):
    """Mean posterior probability of another class than the one assigned to each training point.

    With nearest neighbours, the point is its own first neighbour: k = 1 is plain resubstitution.

    Parameters
    ----------
    posterior : str, classifier or function
        "knn", "model" (its own predict_proba), "calibrated" (its scores, by a sigmoid fitted to the same points, with a note),
        "gaussian-process", a classifier with predict_proba that is fitted to the sample, or a function of points.
    k : int
        Neighbours of "knn".
    among : int, None or "auto"
        A sample of more points than this is cut at random into parts, and "knn" looks in a point's own part, which keeps
        the cost linear in the sample size; None looks among all. "auto" looks among all in up to four dimensions, and among up
        to 200,000 points in six, 30,000 in a hundred, 12,500 in more.

    References
    ----------
    Lugosi, G. and Pawlak, M. (1994). On the posterior-probability estimate of the error rate of nonparametric
    classification rules. IEEE Transactions on Information Theory 40, 475-481.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> one, three = (unseen.estimate(DecisionTreeClassifier(), X, y, method="posterior", k=k, random_state=0) for k in (1, 3))
    >>> one.value, three.value > 0.1
    (0.0, True)
    """

    posterior: Any = "knn"
    k: int = 3
    among: Among = "auto"
    id: ClassVar[str] = "posterior"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U023"})
    version: ClassVar[int] = 4

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> SmoothedEstimate:
        """Return the mean doubt, with each point's own as its contribution."""
        check_classification(self.id, data)
        training = fit_once(model, data, rng)
        regions = regions_of(self.id, training.fitted, data, self.space)
        integral, measure = unassigned_probability(regions, self.posterior, self.k, self.among)
        weights = point_weights(data, self.average)
        nearest = posterior_stand_in(regions, self.posterior, self.k, self.among, weights)
        notes = posterior_notes(self.posterior)
        return smoothed_estimate(self, regions, integral, measure, training, notes=notes, stand_ins=(nearest,))
