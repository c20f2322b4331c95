"""How much `assess` does: numbers of fits that follow from the size of the sample, are asked for, or fit into a time budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from unseen.core.errors import InputError, UnknownName
from unseen.designs.repeated_kfold import rounds_of_folds

__all__ = ["DEFAULT_SPLITS", "Effort", "check_budget", "check_rounds", "effort_of", "within_budget"]

DEFAULT_SPLITS = 25  # random splits of the headline about an algorithm
# the usual number: models are trained on 90% of the units
FOLDS = 10
SMALL = 280  # units up to which `combined` leads: its parts and the spread over splits earn their time
MEDIUM = (
    700  # above it an interval from folds is so narrow that bootstrap, kernels and leave-out splits add nothing to it
)
FLAT = 2_000  # above it five points up to all rows say little about the slope at the end, and `diagnose` draws a curve that does
QUICK_BOOTSTRAP = 50  # the study of `combined` had as many
FEWEST_BOOTSTRAP = FEWEST_LEAVE_OUT = 20  # fewer show more noise than error


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Numbers of fits behind an assessment; zero leaves a part out.

    Parameters
    ----------
    splits : int
        Random 90/10 splits; 25 are run if the headline is about the algorithm.
    repeats : int
        Rounds of cross-validation.
    bootstrap : int
        Bootstrap samples shared by all bootstrap estimators, `combined` among them.
    leave_out : int
        Distinct 75/25 splits of the error distribution.
    curve : int
        Repetitions of the five-point learning curve.
    direct : int
        1 for the methods without retraining (bolster, posterior and so on) and the training errors of the folds.
    folds : int
        Folds of a round; fewer than 10 only if a budget allows no more.
    rows : int
        Units drawn at random that the assessment is made from, if a budget allows no more; 0 is all.

    Examples
    --------
    >>> [Effort.full(n).fits for n in (100, 1000, 50_000, 200_000)], Effort.quick(100).fits
    ([225, 75, 20, 10], 60)
    """

    splits: int = 0
    repeats: int = 5
    bootstrap: int = 100
    leave_out: int = 50
    curve: int = 5
    direct: int = 1
    folds: int = FOLDS
    rows: int = 0

    @classmethod
    def full(cls, n_units: int) -> Effort:
        """Return the usual effort for a sample of n units: what helps in small samples is left out in large ones."""
        rounds = rounds_of_folds(n_units)
        if n_units <= SMALL:
            return cls(repeats=rounds)
        if n_units <= MEDIUM:
            return cls(repeats=rounds, bootstrap=QUICK_BOOTSTRAP)
        return cls(repeats=rounds, bootstrap=0, leave_out=0, curve=5 if n_units <= FLAT else 0, direct=0)

    @classmethod
    def quick(cls, n_units: int) -> Effort:
        """Return what the headline needs, and no more than one round of folds beside it."""
        few = n_units <= MEDIUM
        return cls(repeats=1, bootstrap=QUICK_BOOTSTRAP if few else 0, leave_out=0, curve=0, direct=int(few))

    @property
    def first_fits(self) -> int:
        """Number of fits of the first run, which every assessment has."""
        return self.folds * self.repeats or self.splits

    @property
    def fits(self) -> int:
        """Number of fits in all, the one on all rows left out."""
        return self.splits + self.folds * self.repeats + self.bootstrap + self.leave_out + 5 * self.curve

    def __str__(self) -> str:
        usual = {"folds": FOLDS, "rows": 0}
        return ",".join(f"{name}={value}" for name, value in asdict(self).items() if usual.get(name) != value)


def effort_of(value: str | Mapping[str, Any] | Effort, n_units: int) -> Effort:
    """Return the effort for "full", "quick", a mapping, or text such as "repeats=5,bootstrap=50"; parts not named are left out.

    Without random splits there is always one round of folds. Methods without retraining are run as the size of the sample has it,
    unless `direct` says otherwise.

    Examples
    --------
    >>> effort_of("repeats=2,leave_out=100", 200).fits
    120
    """
    if isinstance(value, Effort):
        return value
    if isinstance(value, str):
        if value in ("full", "quick"):
            return Effort.full(n_units) if value == "full" else Effort.quick(n_units)
        value = dict(part.strip().partition("=")[::2] for part in value.split(","))
    if not isinstance(value, Mapping):
        raise InputError(f'effort is {value!r}; give "full", "quick", or counts such as "repeats=5,bootstrap=50".')
    names = asdict(Effort())
    counts = {}
    for name, count in value.items():
        if name not in names:
            raise UnknownName("part of effort", name, [*names, "full", "quick"])
        counts[name] = _count(name, count)
    effort = Effort(**{**dict.fromkeys(names, 0), "folds": FOLDS, "direct": Effort.full(n_units).direct, **counts})
    if effort.repeats == 0 and effort.splits == 0:
        effort = replace(effort, repeats=1)
    if effort.splits == 1:
        raise InputError("effort: splits is 1; at least 2 splits are needed to see a spread.")
    if effort.folds < 2:
        raise InputError(f"effort: folds is {effort.folds}; a round needs at least 2.")
    if effort.rows == 1:
        raise InputError("effort: rows is 1; give at least 2, or 0 for all.")
    return effort


def _count(name: str, value: Any) -> int:
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        count = -1
    if count < 0:
        raise InputError(f"effort: {name} is {value!r}; it must be a whole number of at least 0.")
    return count


def check_rounds(rounds: Any, effort: Effort) -> Effort:
    """Return the effort with so many rounds of folds; None leaves it as it is.

    Examples
    --------
    >>> check_rounds(2, Effort()).repeats
    2
    """
    if rounds is None:
        return effort
    if isinstance(rounds, bool) or not isinstance(rounds, (int, np.integer)) or rounds < 1:
        raise InputError(f"rounds is {rounds!r}; give a whole number of at least 1.")
    return replace(effort, repeats=int(rounds))


def check_budget(budget: Any) -> float | None:
    """Return seconds, or None if there is no limit.

    Examples
    --------
    >>> check_budget(60)
    60.0
    """
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, (int, float, np.number)) or not 0 < budget < np.inf:
        raise InputError(f"budget is {budget!r}; give seconds above 0, or no budget for a run without a limit.")
    return float(budget)


def within_budget(
    seconds_per_fit: float, budget: float, workers: int = 1, n_units: int = 100, folds: int = FOLDS
) -> Effort:
    """Return the largest effort expected to end within `budget` seconds: one round of folds, then the bootstrap, then the rest.

    Examples
    --------
    >>> within_budget(0.001, 60) == Effort(), within_budget(1.0, 60).fits <= 60
    (True, True)
    """
    affordable = int(budget * workers / max(seconds_per_fit, 1e-6))
    full = replace(Effort.full(n_units), folds=folds)
    if affordable >= full.fits:
        return full
    left = affordable - folds
    bootstrap = min(full.bootstrap, QUICK_BOOTSTRAP, left) if left >= FEWEST_BOOTSTRAP else 0
    effort = replace(full, repeats=1, bootstrap=bootstrap, leave_out=0, curve=0)
    share = max(affordable - effort.fits, 0) / max(full.fits - effort.fits, 1)
    leave_out = int(full.leave_out * share)
    return replace(
        effort,
        repeats=1 + int((full.repeats - 1) * share),
        bootstrap=bootstrap + int((full.bootstrap - bootstrap) * share),
        leave_out=leave_out if leave_out >= FEWEST_LEAVE_OUT else 0,
        curve=int(full.curve * share),
    )
