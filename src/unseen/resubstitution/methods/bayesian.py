"""Bayesian minimum-mean-square-error estimate under a Gaussian model (Dalton & Dougherty, 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.estimate import SmoothedEstimate
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.resubstitution._decision_regions import SPACES, Regions, check_classification, regions_of
from unseen.resubstitution._kernel_draws import KernelDraws
from unseen.resubstitution._kernel_integrals import Integral, misclassified_mass
from unseen.resubstitution._smoothed import ResubMethod, check_integration, smoothed_estimate
from unseen.resubstitution.kernels import Spread, covariances

__all__ = ["Bayesian"]

MAX_DIMENSIONS = 3000  # a covariance matrix per class of 72 MB
FLAT = ", and nothing is assumed of its mean: a rule fitted to the same points then looks too good, the more so the more features"
POOLED = "the covariance is the pooled one of the same points, which makes a rule fitted to them look better still"


WIDE = 1_000  # columns up to which the whole covariance is decomposed: a second of work, and the draws that studies have kept


@register
@dataclass(frozen=True)
class Bayesian(ResubMethod):
    """Posterior mean of the model's error if each class is Gaussian with unknown mean and known covariance.

    The error of class y is the mass of the predictive distribution N(m*, S (v+1)/v) outside its region, v = v0 + n_y and
    m* = (v0 m0 + n_y xbar_y)/v: exact for linear two-class models. Classes weigh (n_y + 1)/(n + c), the posterior mean of
    their shares under a uniform prior. A point's contribution is the error of its class.

    No estimate has a smaller mean squared error on data from the model, averaged over the prior: with means drawn from
    N(m0, S/v0), uniform shares, and S, m0 and v0 given. With a covariance from the same points, or without a prior, it is
    too small for a rule fitted to them.

    Parameters
    ----------
    covariance : array or None
        Covariance S: one matrix, or one per class. None takes the pooled sample covariance, with a note.
    prior_mean : array or None
        Prior mean m0: one vector, or one per class; zero by default.
    prior_weight : float
        v0, the number of points the prior mean is worth; 0 leaves everything to the data.
    space, sampler, draws, exact
        As in `bolster`.
    n_mc : int
        Points drawn per class if the integral is not exact.

    References
    ----------
    Dalton, L. A. and Dougherty, E. R. (2011). Bayesian minimum mean-square error estimation for classification error,
    parts I and II. IEEE Transactions on Signal Processing 59, 115-144.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(LinearDiscriminantAnalysis(), X, y, method="bayesian", random_state=0)
    >>> 0.15 < e.value < 0.25, [n.code for n in e.notes], e.integration
    (True, ['U016', 'U023'], 'exact')
    """

    covariance: Any = None
    prior_mean: Any = None
    prior_weight: float = 0.0
    space: str = "auto"
    n_mc: int = 10_000
    sampler: str = "plain"
    draws: int | None = None
    exact: bool = True
    id: ClassVar[str] = "bayesian"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016", "U023", "U046"})

    def __post_init__(self) -> None:
        if self.space not in SPACES:
            raise UnknownName("space", self.space, SPACES)
        KernelDraws(self.n_mc, self.sampler, 0)
        check_integration(self.draws, self.exact)
        if not isinstance(self.prior_weight, (int, float, np.floating)) or not 0 <= self.prior_weight < np.inf:
            raise InputError(f"prior_weight is {self.prior_weight!r}; it is a number of at least 0.")

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> SmoothedEstimate:
        """Return the posterior mean of the error."""
        check_classification(self.id, data)
        training = fit_once(model, data, rng)
        regions = regions_of(self.id, training.fitted, data, self.space)
        if regions.d > MAX_DIMENSIONS:
            raise NotApplicable(
                f"{self.id} needs covariances of {regions.d} dimensions (limit {MAX_DIMENSIONS}); reduce them in a pipeline."
            )
        counts = np.bincount(regions.codes, minlength=len(regions.classes)).astype(float)
        means, spread, notes = self._predictive(regions, counts)
        seed = int(rng.integers(2**63)) if self.draws is None else int(self.draws)
        draws = KernelDraws(int(self.n_mc), self.sampler, seed)
        codes = np.arange(len(counts))
        shares = (counts + 1) / (counts.sum() + len(counts))
        mass = misclassified_mass(regions, spread, draws, exact=self.exact, centres=means, codes=codes, weights=shares)
        estimate = smoothed_estimate(
            self,
            regions,
            Integral(mass.values[regions.codes], np.zeros(data.n), mass.how),
            "Gaussian predictive distribution",
            training,
            weights=(shares / counts)[regions.codes],
            bandwidth=spread.bandwidth,
            notes=notes,
        )
        from dataclasses import replace

        return replace(estimate, mc_error=mass.error(shares))

    def _predictive(self, regions: Regions, counts: Floats) -> tuple[Floats, Spread, tuple[Note, ...]]:
        """Return the class centres and kernels of the predictive distribution, and remarks."""
        c, d = len(counts), regions.d
        if np.any(counts == 0):
            label = regions.classes[int(np.argmin(counts))].item()
            raise InputError(
                f"class {label!r} has no point in the sample, so nothing is known of its mean; leave it out."
            )
        averages = np.array([regions.points[regions.codes == code].mean(axis=0) for code in range(c)])
        v = self.prior_weight + counts
        prior = _prior_means(self.prior_mean, c, d)
        means = (self.prior_weight * prior + counts[:, None] * averages) / v[:, None]
        notes = [note("U016", "each class is taken to be Gaussian" + (FLAT if self.prior_weight == 0 else ""))]
        if self.covariance is None:
            root = _root_of_pooled_covariance(regions, averages)[None]
            notes.append(note("U023", POOLED))
        else:
            values, axes = np.linalg.eigh(covariances(self.covariance, c, d))
            root = axes * np.sqrt(np.maximum(values, 0))[:, None, :]
        return means, Spread(root * np.sqrt((v + 1) / v)[:, None, None], d), tuple(notes)


def _prior_means(given: Any, c: int, d: int) -> Floats:
    if given is None:
        return np.zeros((c, d))
    try:
        values = np.asarray(given, dtype=float)
        values = np.broadcast_to(values, (c, d)).astype(float)
    except (TypeError, ValueError) as error:
        raise InputError(f"prior_mean must hold {d} numbers, or {c} x {d}; got {given!r}.") from error
    if not np.isfinite(values).all():
        raise InputError("prior_mean holds a value that is not finite; give numbers.")
    return values


def _root_of_pooled_covariance(regions: Regions, averages: Floats) -> Floats:
    """Return a (d, d) square root of the covariance within classes."""
    (n, d), c = regions.points.shape, len(averages)
    if n <= c:
        raise InputError(
            f"a pooled covariance needs more than {c} points for {c} classes; there are {n}: give covariance=."
        )
    gap = regions.points - averages[regions.codes]
    if d <= max(n, WIDE):
        values, axes = np.linalg.eigh(gap.T @ gap / (n - c))
        return np.asarray(axes * np.sqrt(np.maximum(values, 0)))
    # many more dimensions than points: all but n of the axes are empty, and n x n algebra finds the others
    _, lengths, axes = np.linalg.svd(gap, full_matrices=False)
    root = np.zeros((d, d))
    root[:, : len(lengths)] = axes.T * (lengths / np.sqrt(n - c))
    return root
