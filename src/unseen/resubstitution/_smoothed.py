"""What the smoothed estimators share: options, weights of the points, and the record they return."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import SmoothedEstimate, Target
from unseen.core.kinds import DirectMethod
from unseen.core.notes import Note, merge_notes, note
from unseen.core.training import Training
from unseen.resubstitution._decision_regions import SPACES, STANDARDISED, Regions
from unseen.resubstitution._kernel_draws import KernelDraws
from unseen.resubstitution._kernel_integrals import Integral
from unseen.resubstitution._stand_ins import StandIn
from unseen.resubstitution.kernels import Kernel, Spread, as_kernel

__all__ = ["KernelMethod", "ResubMethod", "SmoothedMethod", "check_integration", "point_weights", "smoothed_estimate"]

POINTS = 100_000  # points drawn in all: the Monte-Carlo error then hardly depends on the sample size
FEWEST_PER_KERNEL = 10  # fewer miss shares that matter
MOST_PER_KERNEL = 100  # more change nothing that shows in the estimate


def check_integration(draws: Any, exact: Any) -> None:
    """Refuse a seed of the kernel points that is none, and an `exact` that says neither yes nor no."""
    if draws is not None and (isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 0):
        raise InputError(f"draws is {draws!r}; the seed of the kernel points is a whole number of at least 0.")
    if not isinstance(exact, (bool, np.bool_)):
        raise InputError(f"exact is {exact!r}; it is True or False.")


class ResubMethod(DirectMethod):
    """A direct method of the group `resubstitution`: its target is the one trained model."""

    group: ClassVar[str] = "resubstitution"
    target: ClassVar[Target] = Target.MODEL


@dataclass(frozen=True)
class SmoothedMethod(ResubMethod):
    """Options of every smoothed estimator.

    Parameters
    ----------
    average : {"points", "class"}
        Mean over all points, or each class with equal weight.
    space : {"auto", "input"}
        Space in which distances are measured: what the final estimator of a fitted Pipeline sees, or X as given; of a model from a
        file without a pipeline, its columns standardised.
    """

    average: str = "points"
    space: str = "auto"

    weighted: ClassVar[bool] = True
    # large samples are worked on by stand-ins, whose errors every smoothed method passes on
    shared_note_codes: ClassVar[frozenset[str]] = frozenset({"U039", "U046"})

    def __post_init__(self) -> None:
        if self.average not in ("points", "class"):
            raise UnknownName("average", self.average, ("points", "class"))
        if self.space not in SPACES:
            raise UnknownName("space", self.space, SPACES)


@dataclass(frozen=True, kw_only=True)
class KernelMethod(SmoothedMethod):
    """Options of every estimator with kernels.

    Parameters
    ----------
    kernel : str or Kernel
        "spherical", "diagonal", "full", "uniform-ball", or an object of `unseen.resubstitution.kernels`.
    bandwidth : "nearest", float, sequence of float or None
        Size of the kernels; None leaves it to the kernel, whose default is class-wise nearest-neighbour distances.
    scale : float or None
        Factor on the size.
    n_mc : int or None
        Points per kernel if the integral is not exact. None is 100, or fewer in samples of more than 1,000 points, so that
        some 100,000 are drawn in all, but never fewer than 10.
    sampler : {"plain", "antithetic", "sobol"}
        How these points are drawn.
    draws : int or None
        Seed of the points: models given the same one are compared on the same kernel points.
    exact : bool
        Use exact integrals if they exist, as for linear classifiers.
    """

    kernel: Any = "spherical"
    bandwidth: Any = None
    scale: float | None = None
    n_mc: int | None = None
    sampler: str = "plain"
    draws: int | None = None
    exact: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_kernel(self.kernel, self.bandwidth, self.scale)
        KernelDraws(self.points_per_kernel(2), self.sampler, 0)
        check_integration(self.draws, self.exact)

    @property
    def chosen_kernel(self) -> Kernel:
        """The kernel with its size set."""
        return as_kernel(self.kernel, self.bandwidth, self.scale)

    def spread(self, regions: Regions) -> Spread:
        """Return the kernels sized for a sample."""
        return self.chosen_kernel.spread(regions.points, regions.codes, regions.classes)

    def points_per_kernel(self, n: int) -> int:
        """Return `n_mc`, or what stands for None with n kernels."""
        if self.n_mc is not None:
            return self.n_mc
        return min(max(POINTS // n, FEWEST_PER_KERNEL), MOST_PER_KERNEL)

    def kernel_draws(self, rng: np.random.Generator, n: int) -> KernelDraws:
        """Return the points of n kernels: those of the seed `draws`, else fresh ones from `rng`."""
        seed = int(rng.integers(2**63)) if self.draws is None else int(self.draws)
        return KernelDraws(self.points_per_kernel(n), self.sampler, seed)

    @property
    def measure(self) -> str:
        """The measure in words."""
        kernel = self.chosen_kernel
        return f"{getattr(kernel, 'id', type(kernel).__name__)} kernels"


def point_weights(data: Data, average: str) -> Floats:
    """Return the weight of each point in the estimate, summing to 1.

    "points" is the mean over all points (of their sample weights), "class" gives each class the same share.
    """
    weights = np.ones(data.n) if data.weights is None else data.weights
    if average == "class":
        totals = np.bincount(data.codes, weights)
        weights = weights / np.where(totals > 0, totals, 1.0)[data.codes]
    return np.asarray(weights / weights.sum(), dtype=float)


def smoothed_estimate(
    method: Any,
    regions: Regions,
    integral: Integral,
    measure: str,
    training: Training,
    *,
    weights: Floats | None = None,
    bandwidth: Floats | None = None,
    notes: tuple[Note, ...] = (),
    stand_ins: tuple[StandIn, ...] = (),
) -> SmoothedEstimate:
    """Return the estimate with all that smoothed_estimate methods report."""
    data = regions.data
    if regions.space == STANDARDISED:
        notes = (*notes, note("U046", "kernels live in the training data, standardised column by column"))
    weights = point_weights(data, method.average) if weights is None else weights
    return SmoothedEstimate(
        value=float(weights @ integral.values),
        std_error=None,
        interval=None,
        df=None,
        method=method.id,
        target=method.target.at_share(data),
        loss="zero-one",
        n_units=data.n_units,
        n_fits=training.n_fits,
        seconds=training.seconds,
        notes=merge_notes(notes, *(one.notes for one in stand_ins)),
        mc_error=math.hypot(integral.error(weights), *(one.error for one in stand_ins)),
        contributions=integral.values,
        space=regions.space,
        measure=measure,
        integration=integral.how,
        bandwidth=bandwidth,
        balanced=float(point_weights(data, "class") @ integral.values),
    )
