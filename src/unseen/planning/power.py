"""`unseen.power`: what a test set can show about two models, before it is collected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.result import Result

__all__ = ["Power", "PowerCurves", "paired_power", "power", "power_curves", "smallest", "zero_one_power"]

# no test set is larger; doubling stops there
MOST_UNITS = 10**9
# up to here all counts are summed; beyond, the noncentral t distribution is near enough
FEW_DISAGREEMENTS = 50
# leaves this much of the binomial distribution out of the sum
TAIL = 1e-13
# the degrees of freedom beyond which the noncentral t series fails, and the normal law gives every digit shown
NORMAL_FROM = 1e6


@dataclass(frozen=True, kw_only=True)
class Power(Result):
    """Chance that a paired t test on a test set shows a difference between two models.

    Parameters
    ----------
    power : float
        Chance of rejecting "no difference".
    n : int
        Units in the test set.
    difference : float
        True difference of the two errors.
    sd : float
        Standard deviation of a unit's difference of losses.
    disagreement : float or None
        Share of units on which two classifiers' losses differ, if it was given.
    alpha : float
        Size of the test.
    sides : int
        1 or 2.
    solved_for : str
        Which of power, n and difference was computed.
    """

    shown_by: ClassVar[str] = "unseen.planning"

    power: float
    n: int
    difference: float
    sd: float
    disagreement: float | None
    alpha: float
    sides: int
    solved_for: str

    @property
    def title(self) -> str:
        """Heading of the report."""
        return "Power of a paired comparison"

    def at(self, n: Any = None, difference: Any = None) -> Any:
        """Return the power at other sizes or differences, the rest unchanged; arrays work too."""
        gap, size = np.abs(self.difference if difference is None else difference), self.n if n is None else n
        if self.disagreement is None:
            return paired_power(size, gap, self.sd, self.alpha, self.sides)
        return zero_one_power(size, gap, self.disagreement, self.alpha, self.sides)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row."""
        names = ("n", "difference", "disagreement", "sd", "alpha", "sides", "power", "solved_for")
        return [{name: getattr(self, name) for name in names}]

    def __str__(self) -> str:
        gap = f"{self.difference:.4g}"
        about = f"sd {self.sd:.4g} of a unit's difference"
        if self.disagreement is not None:
            gap = f"{100 * self.difference:.3g} points"
            about = f"models that disagree on {100 * self.disagreement:.3g}% of the units"
        power = f"{100 * self.power:.1f}%"
        sides = {1: "one", 2: "two"}[self.sides]
        test = f"{sides}-sided paired t test at {self.alpha:g}, {about}"
        if self.solved_for == "n":
            return f"{self.n} units are needed to show a difference of {gap} with a chance (power) of {power} ({test})."
        return f"{self.n} units show a difference of {gap} with a chance (power) of {power} ({test})."


def paired_power(n: Any, difference: Any, sd: Any, alpha: float = 0.05, sides: int = 2) -> Any:
    """Return the power of the paired t test by the noncentral t distribution; arrays broadcast.

    Examples
    --------
    >>> round(float(paired_power(34, 0.5, 1.0)), 4)
    0.8078
    """
    from scipy.special import nctdtr, ndtr, stdtrit

    n, difference, sd = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (n, difference, sd)))
    df = n - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(difference == 0, 0.0, difference / sd * np.sqrt(n))
    critical = stdtrit(df, 1 - alpha / sides)
    finite = np.where(np.isfinite(shift), shift, 0.0)
    chance = 1 - nctdtr(df, finite, critical) + (nctdtr(df, finite, -critical) if sides == 2 else 0.0)
    far = ~np.isfinite(chance) | (df > NORMAL_FROM)
    chance = np.where(far, ndtr(finite - critical) + (ndtr(-finite - critical) if sides == 2 else 0.0), chance)
    return np.where(np.isfinite(shift), np.clip(chance, 0, 1), 1.0)


def zero_one_power(n: Any, difference: Any, disagreement: float, alpha: float = 0.05, sides: int = 2) -> Any:
    """Return the power of the paired t test of two zero-one losses; arrays broadcast.

    If at most 50 disagreements are expected, it is summed over all counts of units that one model alone gets right: with so
    few, the noncentral t distribution can be off by .1 and more. A test set on which every unit favours the same model has no
    spread and shows nothing.

    Examples
    --------
    >>> round(float(zero_one_power(4, 0.9, 0.9)), 3), round(float(zero_one_power(300, 0.03, 0.2)), 3)
    (0.0, 0.213)
    """
    sizes, gaps = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(difference, dtype=float))
    sd = np.sqrt(np.clip(disagreement - np.square(gaps), 0, None))
    chance: Floats = np.array(paired_power(sizes, gaps, sd, alpha, sides), dtype=float)
    flat = chance.reshape(-1)
    for k in np.flatnonzero(sizes * disagreement <= FEW_DISAGREEMENTS):
        flat[k] = _exact_power(int(sizes.flat[k]), float(gaps.flat[k]), disagreement, alpha, sides)
    return flat.reshape(chance.shape)


def _exact_power(n: int, difference: float, disagreement: float, alpha: float, sides: int) -> float:
    """Sum over the number k of disagreements and, within, over those the better model wins: |wins - losses| > bound(k)."""
    from scipy.special import stdtrit
    from scipy.stats import binom

    critical = float(stdtrit(n - 1, 1 - alpha / sides))
    k = np.arange(int(binom.ppf(1 - TAIL, n, disagreement)) + 1)
    bound = critical * np.sqrt(k * n / (n - 1 + critical**2))
    win = min((1 + difference / disagreement) / 2, 1.0)
    chance: Floats = np.asarray(binom.sf(np.floor((k + bound) / 2), k, win), dtype=float)
    if sides == 2:
        chance = chance + binom.cdf(np.ceil((k - bound) / 2) - 1, k, win)
    if k[-1] == n and bound[-1] < n:  # all units alike: no spread, no test
        chance[-1] -= win**n + ((1 - win) ** n if sides == 2 else 0.0)
    return float(np.clip(chance @ binom.pmf(k, n, disagreement), 0, 1))


def power(
    n: int | None = None,
    difference: float | None = None,
    *,
    disagreement: float | None = None,
    sd: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    sides: int = 2,
) -> Power:
    """Return the power of comparing two models on n paired units, or solve for n or for the difference.

    Of `n`, `difference` and `power` give two. For the zero-one loss give `disagreement`, the share of units on which
    exactly one of the two models is right: a unit's difference is then -1, 0 or 1 and has the standard deviation
    sqrt(disagreement - difference^2). For other losses give that standard deviation as `sd`; the power then holds for normal
    differences, or many units. With few disagreements the power goes up and down a little as n grows; the n returned has it.

    Parameters
    ----------
    n : int, optional
        Units in the test set.
    difference : float, optional
        True difference of the two errors.
    disagreement, sd : float
        One of them: how much the two models' losses vary against each other.
    power : float, optional
        Wanted power, to find n or the difference.
    alpha : float
        Size of the test.
    sides : {1, 2}
        Whether one or both directions count.

    Returns
    -------
    Power

    References
    ----------
    Cohen, J. (1988). Statistical power analysis for the behavioral sciences, 2nd edition, chapter 2.

    Examples
    --------
    >>> import unseen
    >>> round(unseen.power(300, 0.03, disagreement=0.2).power, 3)
    0.213
    >>> unseen.power(difference=0.03, disagreement=0.2, power=0.8).n
    1739
    """
    _check_test(alpha, sides)
    blank = Power(
        power=float("nan"),
        n=0,
        difference=0.0,
        sd=0.0,
        disagreement=disagreement,
        alpha=float(alpha),
        sides=int(sides),
        solved_for="",
    )
    given = {name for name, v in (("n", n), ("difference", difference), ("power", power)) if v is not None}
    if len(given) != 2:
        raise InputError(
            f"power: give two of n, difference and power; {' and '.join(sorted(given)) or 'none'} was given."
        )
    if (disagreement is None) == (sd is None):
        raise InputError("power: give either disagreement (share of units on which one model alone is right) or sd.")
    _check_numbers(n, difference, power, disagreement, sd)
    scale = float("nan") if sd is None else float(sd)
    if difference is None:
        assert n is not None
        assert power is not None
        return _difference_for(replace(blank, n=int(n), sd=scale), power)
    one = replace(blank, difference=float(difference), sd=_sd(difference, disagreement, scale))
    if power is None:
        assert n is not None
        return replace(one, n=int(n), power=float(one.at(n=n)), solved_for="power")
    if difference == 0:
        raise InputError("power: no test set shows a difference of 0; give the smallest difference that matters.")
    size = smallest(lambda k: one.at(n=k) >= power, 2)
    return replace(one, n=size, power=float(one.at(n=size)), solved_for="n")


def _check_test(alpha: float, sides: int) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"power: alpha is {alpha!r}; the size of a test lies strictly between 0 and 1.")
    if sides not in (1, 2):
        raise InputError(f"power: sides is {sides!r}; a test has 1 or 2.")


def _check_numbers(n: Any, difference: Any, wanted: Any, disagreement: Any, sd: Any) -> None:
    if n is not None and (isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2):
        raise InputError(f"power: n is {n!r}; a paired t test needs a whole number of at least 2 units.")
    if wanted is not None and not 0 < wanted < 1:
        raise InputError(f"power: power is {wanted!r}; it lies strictly between 0 and 1.")
    if sd is not None and not (sd > 0 and np.isfinite(sd)):
        raise InputError(f"power: sd is {sd!r}; it must be positive.")
    if disagreement is not None and not 0 < disagreement <= 1:
        raise InputError(f"power: disagreement is {disagreement!r}; it is a share of units, above 0 and at most 1.")
    if difference is not None and not np.isfinite(difference):
        raise InputError(f"power: difference is {difference!r}; it must be a finite number.")
    if difference is not None and disagreement is not None and abs(difference) > disagreement:
        raise InputError(
            f"power: the difference {difference:g} exceeds the disagreement {disagreement:g}; two error rates cannot "
            "differ by more than the share of units on which one model alone is right."
        )


def _sd(difference: Any, disagreement: float | None, sd: float) -> float:
    return sd if disagreement is None else float(np.sqrt(max(disagreement - float(difference) ** 2, 0.0)))


def _difference_for(one: Power, wanted: float) -> Power:
    """Bisect for the smallest difference that n units show with the wanted power."""
    low, high = 0.0, 1.0
    if one.disagreement is not None:
        high = one.disagreement
    else:
        while one.at(difference=high) < wanted:
            high *= 2
    if one.at(difference=high) < wanted:
        raise InputError(
            f"power: with {one.n} units and disagreement {one.disagreement:g} no difference reaches power {wanted:g}; "
            "use more units."
        )
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if one.at(difference=middle) >= wanted else (middle, high)
    return replace(
        one,
        difference=high,
        sd=_sd(high, one.disagreement, one.sd),
        power=float(one.at(difference=high)),
        solved_for="difference",
    )


def smallest(enough: Callable[[int], Any], least: int) -> int:
    """Return the smallest whole number for which a condition that stays true once true holds.

    Examples
    --------
    >>> smallest(lambda k: k * k >= 50, 1)
    8
    """
    high = max(least, 1)
    while not enough(high):
        high *= 2
        if high > MOST_UNITS:
            raise InputError("more than a thousand million units would be needed; ask for less.")
    low = least
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


@dataclass(frozen=True)
class PowerCurves:
    """Power at a range of sizes and at a range of differences."""

    sizes: Floats
    at_sizes: Floats
    differences: Floats
    at_differences: Floats


def power_curves(one: Power, points: int = 120) -> PowerCurves:
    """Return the power at sizes and at differences around those of a result."""
    sizes = np.unique(np.geomspace(max(2, one.n / 8), one.n * 8, points).round())
    top = 1.0 if one.disagreement is None else one.disagreement
    widest = min(3 * abs(one.difference), top) if one.disagreement is not None else 3 * abs(one.difference)
    gaps = np.linspace(0.0, widest if widest > 0 else top, points)
    return PowerCurves(sizes, one.at(n=sizes), gaps, one.at(difference=gaps))
