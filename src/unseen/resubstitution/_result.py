"""Results of the family: which measure, in which space, integrated how; and the curve of a calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.estimate import ResubEstimate
from unseen.core.notes import Note
from unseen.resubstitution._integrate import Integral
from unseen.resubstitution._regions import Regions

__all__ = ["CalibratedEstimate", "SmoothedEstimate", "point_weights", "smoothed"]


@dataclass(frozen=True)
class SmoothedEstimate(ResubEstimate):
    """An error integrated under a smoothed empirical measure.

    Parameters
    ----------
    space : str
        Where distances and kernels live: "input", or "after" the transformers of a pipeline.
    measure : str
        The measure, in words.
    integration : str
        "exact", or how points were drawn.
    bandwidth : ndarray or None
        Size of the kernels of each class.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(LogisticRegression(max_iter=5000), X, y, method="bolster", random_state=0)
    >>> e.space, e.integration, e.mc_error
    ('input', 'exact', 0.0)
    """

    space: str = "input"
    measure: str = ""
    integration: str = "exact"
    bandwidth: Floats | None = None

    def row(self) -> dict[str, Any]:
        """Return the shared columns, `mc_error`, `space` and `integration`."""
        return {**super().row(), "space": self.space, "integration": self.integration}


@dataclass(frozen=True)
class CalibratedEstimate(SmoothedEstimate):
    """A bolstered estimate whose kernels were scaled to remove an estimated bias.

    Parameters
    ----------
    kappa : float
        Factor on the kernels' standard deviations that was chosen.
    curve : ndarray of shape (evaluations, 3)
        Each kappa tried, in increasing order, the mean estimated bias, and the standard deviation of single repetitions.
    deviations : ndarray of shape (evaluations, r)
        Estimated minus observed error of each repetition behind the curve.
    uncalibrated : float
        The estimate with kappa = 1.
    calibration_error : float
        Standard error of the estimate over other random splits of the same sample, by the jackknife over the repetitions;
        NaN with one repetition. `mc_error` is that of the integrals, those of the search for kappa among them.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(KNeighborsClassifier(3), X, y, method="calibrated-bolster", random_state=0)
    >>> e.kappa in e.curve[:, 0], e.deviations.shape[1]
    (True, 5)
    """

    kappa: float = 1.0
    curve: Floats | None = None
    deviations: Floats | None = None
    uncalibrated: float = float("nan")
    calibration_error: float = float("nan")

    def row(self) -> dict[str, Any]:
        """Return the columns of a smoothed estimate, `kappa` and `calibration_error`."""
        return {**super().row(), "kappa": self.kappa, "calibration_error": self.calibration_error}


def point_weights(data: Data, average: str) -> Floats:
    """Return the weight of each point in the estimate, summing to 1.

    "points" is the mean over all points (of their sample weights), "class" gives each class the same share.
    """
    weights = np.ones(data.n) if data.weights is None else data.weights
    if average == "class":
        totals = np.bincount(data.codes, weights)
        weights = weights / np.where(totals > 0, totals, 1.0)[data.codes]
    return np.asarray(weights / weights.sum(), dtype=float)


def smoothed(
    method: Any,
    regions: Regions,
    integral: Integral,
    measure: str,
    cost: tuple[int, float],
    *,
    weights: Floats | None = None,
    bandwidth: Floats | None = None,
    notes: tuple[Note, ...] = (),
) -> SmoothedEstimate:
    """Fill in what every method of the family reports; `cost` is fits and seconds."""
    data = regions.data
    weights = point_weights(data, method.average) if weights is None else weights
    return SmoothedEstimate(
        float(weights @ integral.values), None, None, None, method.id, method.target.at(data.n_units), "zero-one",
        data.n_units, cost[0], cost[1], notes, integral.error(weights), integral.values, regions.space, measure,
        integral.how, bandwidth, balanced=float(point_weights(data, "class") @ integral.values),
    ).expecting(method, regions.model, data)  # fmt: skip
