"""`unseen.plan_test_size`: how many units a test set needs for an interval of a wanted width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.errors import InputError
from unseen.core.estimate import check_level
from unseen.core.notes import Note, note
from unseen.core.result import Result
from unseen.planning.power import smallest

__all__ = ["TestSize", "half_width_of", "plan_test_size"]

# kinds whose width has a formula in the expected rate; others depend on the sample
INTERVALS = ("wald", "wilson", "clopper-pearson")
# the normal law of a count wants about 10 expected errors, as textbooks ask
FEW_ERRORS = 10


@dataclass(frozen=True, kw_only=True)
class TestSize(Result):
    """Units a test set needs.

    Parameters
    ----------
    n : int
        Units needed.
    half_width : float
        Half the width of the interval; "plus or minus".
    level : float
        Confidence level.
    interval : str
        Kind of interval.
    sd : float
        Standard deviation of a unit's loss, or of its difference of losses.
    error : float or None
        Error rate assumed, if the loss is zero-one.
    design_effect : float
        Factor by which dependent units in a cluster raise the size.
    notes : tuple of Note
        Remarks.
    """

    shown_by: ClassVar[str] = "unseen.planning"

    n: int
    half_width: float
    level: float
    interval: str
    sd: float
    error: float | None
    design_effect: float = 1.0
    notes: tuple[Note, ...] = ()

    __test__ = False

    @property
    def title(self) -> str:
        """Heading of the report."""
        return "Size of a test set"

    def half_width_at(self, n: Any) -> Any:
        """Return half the interval's width at other sizes."""
        sizes = np.asarray(n, dtype=float) / self.design_effect
        return half_width_of(self.interval, sizes, self.sd, self.error, self.level)

    def rows(self) -> list[dict[str, Any]]:
        """Return the size for each kind of interval that applies."""
        kinds = INTERVALS if self.error is not None else ("wald",)
        shared = {"half_width": self.half_width, "level": self.level, "error": self.error, "sd": self.sd}
        return [{"interval": kind, "n": self._size(kind), **shared} for kind in kinds]

    def _size(self, kind: str) -> int:
        return _size(kind, self.half_width, self.sd, self.error, self.level, self.design_effect)

    def __str__(self) -> str:
        about, half = f"an sd of {self.sd:.4g}", f"{self.half_width:g}"
        if self.error is not None:
            about, half = f"an error rate of {100 * self.error:g}%", f"{100 * self.half_width:g} points"
        more = "" if self.design_effect == 1 else f", design effect {self.design_effect:.3g}"
        line = (
            f"{self.n} units give a {100 * self.level:g}% interval of plus or minus {half} "
            f"({self.interval}{more}) if they show {about}."
        )
        return "\n".join([line, *map(str, self.notes)])


def half_width_of(interval: str, n: Any, sd: float, error: float | None, level: float) -> Any:
    """Return half the width an interval has at its expected rate or spread.

    Examples
    --------
    >>> round(float(half_width_of("wald", 400, 0.5, 0.5, 0.95)), 4)
    0.049
    """
    from scipy.special import betaincinv, ndtri

    sizes, z = np.asarray(n, dtype=float), float(ndtri((1 + level) / 2))
    if interval == "wald":
        return z * sd / np.sqrt(sizes)
    assert error is not None
    if interval == "wilson":
        return z * np.sqrt(error * (1 - error) / sizes + z * z / (4 * sizes**2)) / (1 + z * z / sizes)
    tail, hits = (1 - level) / 2, error * sizes
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-12), sizes - hits + 1, tail), 0.0)
    high = np.where(hits < sizes, betaincinv(hits + 1, np.maximum(sizes - hits, 1e-12), 1 - tail), 1.0)
    return (high - low) / 2


def plan_test_size(
    half_width: float,
    *,
    error: float | None = None,
    sd: float | None = None,
    disagreement: float | None = None,
    difference: float = 0.0,
    level: float = 0.95,
    interval: str | None = None,
    cluster_size: float = 1.0,
    icc: float = 0.0,
) -> TestSize:
    """Return how many units a test set needs for an interval of the wanted half-width.

    By default for an error rate of one half, the least favourable one: about 400 units for a 95% interval 0.1 wide. The width is
    that at the expected rate or spread; a test set that happens to show more errors, as about every other will, gives a wider one.

    Parameters
    ----------
    half_width : float
        Half the width: 0.05 asks for an interval 0.1 wide.
    error : float, optional
        Error rate expected; 0.5 by default.
    sd : float, optional
        Standard deviation of a unit's loss, instead of a rate.
    disagreement, difference : float, optional
        For the difference of two classifiers: share of units on which one alone is right, and the difference expected.
    level : float
        Confidence level.
    interval : {"wald", "wilson", "clopper-pearson"}, optional
        Kind of interval; the last two are for rates. By default Wilson's if an error rate is given, as in `unseen.predictions`:
        Wald's covers less than it says if few errors are expected. Else Wald's.
    cluster_size, icc : float
        Mean number of rows in a cluster and their intraclass correlation, if rows come in clusters.

    Returns
    -------
    TestSize

    References
    ----------
    Kish, L. (1965). Survey sampling. Wiley (design effect).

    Examples
    --------
    >>> import unseen
    >>> unseen.plan_test_size(0.05).n
    385
    >>> unseen.plan_test_size(0.02, error=0.1).n
    868
    """
    check_level(level)
    if not (half_width > 0 and np.isfinite(half_width)):
        raise InputError(f"plan_test_size: half_width is {half_width!r}; it must be a positive number.")
    if sum(v is not None for v in (error, sd, disagreement)) > 1:
        raise InputError("plan_test_size: give one of error, sd and disagreement.")
    if interval is None:
        interval = "wald" if error is None else "wilson"
    if interval not in INTERVALS:
        raise InputError(f"plan_test_size: interval is {interval!r}; it is one of {', '.join(INTERVALS)}.")
    if cluster_size < 1 or not 0 <= icc <= 1:
        raise InputError("plan_test_size: cluster_size is at least 1 and icc lies between 0 and 1.")
    rate, spread = _rate_and_sd(error, sd, disagreement, difference)
    if rate is None and interval != "wald":
        raise InputError(f"plan_test_size: {interval} is an interval for a rate; give error, or use wald.")
    if rate is not None and half_width >= 0.5:
        raise InputError("plan_test_size: an interval of half-width 0.5 or more says nothing about a rate.")
    effect = 1 + (cluster_size - 1) * icc
    size = _size(interval, half_width, spread, rate, level, effect)
    notes = _few_errors_notes(interval, size / effect, rate, disagreement, level)
    return TestSize(
        n=size,
        half_width=float(half_width),
        level=float(level),
        interval=interval,
        sd=spread,
        error=rate,
        design_effect=effect,
        notes=notes,
    )


def _few_errors_notes(
    interval: str, size: float, rate: float | None, disagreement: float | None, level: float
) -> tuple[Note, ...]:
    """Return a note if a Wald interval will rest on few errors, or on few units on which two models differ."""
    share = disagreement if rate is None else min(rate, 1 - rate)
    if interval != "wald" or share is None or size * share >= FEW_ERRORS:
        return ()
    what = "disagreements" if rate is None else "errors" if rate <= 0.5 else "right answers"
    other = "" if rate is None else "; wilson keeps both"
    text = f"about {size * share:.2g} {what} are expected; with so few, wald may keep neither its {100 * level:g}% nor its width{other}"
    return (note("U009", text),)


def _rate_and_sd(error: Any, sd: Any, disagreement: Any, difference: float) -> tuple[float | None, float]:
    """Return the error rate, None for other losses, and the standard deviation of a unit's loss."""
    if sd is not None:
        if not (sd > 0 and np.isfinite(sd)):
            raise InputError(f"plan_test_size: sd is {sd!r}; it must be positive.")
        return None, float(sd)
    if disagreement is not None:
        if not (0 < disagreement <= 1 and abs(difference) <= disagreement):
            raise InputError("plan_test_size: disagreement lies in (0, 1] and is no smaller than the difference.")
        return None, float(np.sqrt(disagreement - difference**2))
    rate = 0.5 if error is None else float(error)
    if not 0 < rate < 1:
        raise InputError(f"plan_test_size: error is {error!r}; a rate to plan for lies strictly between 0 and 1.")
    return rate, float(np.sqrt(rate * (1 - rate)))


def _size(kind: str, half_width: float, sd: float, error: float | None, level: float, effect: float) -> int:
    return smallest(lambda n: half_width_of(kind, n / effect, sd, error, level) <= half_width, 1)
