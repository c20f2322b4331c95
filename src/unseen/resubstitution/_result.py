"""Results of the family: which measure, in which space, integrated how; and the curve of a calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.estimate import SmoothedEstimate
from unseen.core.notes import Note
from unseen.resubstitution._integrate import Integral
from unseen.resubstitution._regions import Regions

__all__ = ["point_weights", "smoothed"]


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
        value=float(weights @ integral.values),
        std_error=None,
        interval=None,
        df=None,
        method=method.id,
        target=method.target.at(data.n_units),
        loss="zero-one",
        n_units=data.n_units,
        n_fits=cost[0],
        seconds=cost[1],
        notes=notes,
        mc_error=integral.error(weights),
        contributions=integral.values,
        space=regions.space,
        measure=measure,
        integration=integral.how,
        bandwidth=bandwidth,
        balanced=float(point_weights(data, "class") @ integral.values),
    )
