"""What an estimate is off by because something was computed by a cheaper stand-in, and the note that says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.notes import Note, note
from unseen.resubstitution._decision_regions import Regions
from unseen.resubstitution._neighbours import k_nearest, k_nearest_in_parts
from unseen.resubstitution.kernels import Spread

__all__ = ["StandIn", "bandwidth_stand_in", "neighbour_stand_in"]

ASKED = 2_500  # points at which a stand-in is compared with the whole: a fifth of the work of looking among 12,500 rows
STEP = 0.05  # relative change of the bandwidth by which its effect is measured; kernel shares are smooth over so much
SEED = 0  # of the points that are asked, so that the same sample gives the same error


@dataclass(frozen=True)
class StandIn:
    """The error of an estimate that comes from a stand-in, and the notes that name it."""

    error: float = 0.0
    notes: tuple[Note, ...] = ()


def bandwidth_stand_in(
    regions: Regions, spread: Spread, weights: Floats, values_at: Callable[[Spread, Ints], Floats]
) -> StandIn:
    """Return the error of an estimate whose bandwidths come from some of the points of a class.

    The relative standard error of a bandwidth is known from the spread of the distances; what it does to the estimate is seen at
    some kernels of the class, made a little wider and a little narrower on the same points.

    Parameters
    ----------
    regions : Regions
        The trained classifier and its sample.
    spread : Spread
        The kernels.
    weights : ndarray
        Weight of each training point in the estimate.
    values_at : callable
        Contributions of the training points `rows` with other kernels: `values_at(spread, rows)`.
    """
    known = spread.relative_error
    if known is None or not np.any(known > 0):
        return StandIn()
    rng, square = np.random.default_rng(SEED), 0.0
    for code in np.flatnonzero(known > 0):
        own = np.flatnonzero(regions.codes == code)
        rows = np.sort(rng.choice(own, min(ASKED, len(own)), replace=False))
        gap = values_at(spread.scale(1 + STEP), rows) - values_at(spread.scale(1 - STEP), rows)
        slope = len(own) * float(np.mean(weights[rows] * gap)) / (2 * STEP)
        square += (slope * known[code]) ** 2
    error = math.sqrt(square)
    text = (
        f"bandwidths come from some of the points of a class (relative standard error {100 * known.max():.2g}%), "
        f"which moves the estimate by about {error:.1g}"
    )
    return StandIn(error, (note("U039", text),))


def neighbour_stand_in(
    regions: Regions, k: int, among: int | None, weights: Floats, spread: Spread | None = None
) -> StandIn:
    """Return the error of an estimate whose k nearest neighbours were looked for in parts of the sample.

    At some points they are looked for among all rows too; the mean difference and its standard error together are the error.

    Parameters
    ----------
    regions : Regions
        The trained classifier and its sample.
    k : int
        Number of neighbours.
    among : int or None
        Largest part; None if the whole sample was looked through.
    weights : ndarray
        How much the probability of another class at each training point counts in the estimate.
    spread : Spread, optional
        Kernels, if the neighbours are those of points drawn from them; by default those of the training points.
    """
    n = len(regions.points)
    if among is None or n <= among:
        return StandIn()
    rng = np.random.default_rng(SEED)
    if spread is None:
        rows = np.sort(rng.choice(n, min(ASKED, n), replace=False))
        places, assigned, own = regions.points[rows], regions.assigned[rows], rows
        left = 1 - len(rows) / n
    else:
        rows, left = np.sort(rng.choice(n, ASKED)), 1.0  # there is no end of points in a kernel
        moved = spread.displace(rng.standard_normal((len(rows), regions.d)), regions.codes[rows])
        places, own = regions.points[rows] + moved, None
        assigned = regions.assign(places)
    in_part = k_nearest_in_parts(regions.points, k, among, places, rows, own=own is not None)
    in_all = k_nearest(places, regions.points, k, own)
    agrees = [(regions.codes[near] == assigned[:, None]).mean(axis=1) for near in (in_part, in_all)]
    gap = n * weights[rows] * (agrees[1] - agrees[0])  # by how much the doubt in a part is above that among all
    mean, error = float(gap.mean()), float(gap.std(ddof=1)) * math.sqrt(left / len(rows))
    part = -(-n // -(-n // among))
    text = (
        f"neighbours are looked for among {part:,} of {n:,} points; at {len(rows):,} points looking among all changed the "
        f"estimate by {-mean:+.1g} (standard error {error:.1g})"
    )
    return StandIn(math.hypot(mean, error), (note("U039", text),))
