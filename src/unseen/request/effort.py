"""How much `assess` does: numbers of splits, fixed, asked for, or fitted into a time budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from unseen.core.errors import InputError, UnknownName
from unseen.designs.repeated_kfold import rounds_of_folds

__all__ = ["DEFAULT_SPLITS", "Effort", "check_budget", "effort_of", "within_budget"]

DEFAULT_SPLITS = 25  # random splits of the headline about an algorithm
FOLDS = 10
FEW = 2000  # above it the folds decide, and bootstrap and leave-out splits add little
QUICK_BOOTSTRAP = 50  # the study of `combined` had as many
LEAST_BOOTSTRAP = LEAST_LEAVE_OUT = 20  # fewer show more noise than error


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Numbers of fits behind an assessment; zero leaves a part out.

    Parameters
    ----------
    splits : int
        Random 90/10 splits; 25 are run if the headline is about the algorithm.
    repeats : int
        Rounds of 10-fold cross-validation.
    bootstrap : int
        Bootstrap samples shared by all bootstrap estimators, `combined` among them.
    leave_out : int
        Distinct 75/25 splits of the error distribution.
    curve : int
        Repetitions of the five-point learning curve.

    Examples
    --------
    >>> Effort.full(100).fits, Effort.quick(100).fits, Effort.full(50_000).fits, Effort.full(200_000).fits
    (375, 60, 30, 20)
    """

    splits: int = 0
    repeats: int = 5
    bootstrap: int = 100
    leave_out: int = 200
    curve: int = 5

    @classmethod
    def full(cls, n_units: int) -> Effort:
        """Return the usual effort for a sample of n units: what helps in small samples is left out in large ones."""
        rounds = rounds_of_folds(n_units)
        if n_units <= FEW:
            return cls(repeats=rounds)
        return cls(repeats=rounds, bootstrap=0, leave_out=0, curve=2)

    @classmethod
    def quick(cls, n_units: int) -> Effort:
        """Return what the headline needs, and no more than one round of folds beside it."""
        if n_units <= FEW:
            return cls(repeats=1, bootstrap=QUICK_BOOTSTRAP, leave_out=0, curve=0)
        return cls(repeats=1, bootstrap=0, leave_out=0, curve=0)

    @property
    def first_fits(self) -> int:
        """Number of fits of the first run, which every assessment has."""
        return FOLDS * self.repeats or self.splits

    @property
    def fits(self) -> int:
        """Number of fits in all, the one on all rows left out."""
        return self.splits + FOLDS * self.repeats + self.bootstrap + self.leave_out + 5 * self.curve

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in asdict(self).items())


def effort_of(value: str | Mapping[str, Any] | Effort, n_units: int) -> Effort:
    """Return the effort for "full", "quick", a mapping, or text such as "repeats=5,bootstrap=50"; parts not named are left out.

    Without random splits there is always one round of folds.

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
    effort = Effort(**{**dict.fromkeys(names, 0), **counts})
    if effort.repeats == 0 and effort.splits == 0:
        effort = replace(effort, repeats=1)
    if effort.splits == 1:
        raise InputError("effort: splits is 1; at least 2 splits are needed to see a spread.")
    return effort


def _count(name: str, value: Any) -> int:
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        count = -1
    if count < 0:
        raise InputError(f"effort: {name} is {value!r}; it must be a whole number of at least 0.")
    return count


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


def within_budget(seconds_per_fit: float, budget: float, workers: int = 1, n_units: int = 100) -> Effort:
    """Return the largest effort expected to end within `budget` seconds: one round of folds, then the bootstrap, then the rest.

    Examples
    --------
    >>> within_budget(0.001, 60) == Effort(), within_budget(1.0, 60).fits <= 60
    (True, True)
    """
    affordable = int(budget * workers / max(seconds_per_fit, 1e-6))
    full = Effort.full(n_units)
    if affordable >= full.fits:
        return full
    left = affordable - FOLDS
    bootstrap = min(full.bootstrap, QUICK_BOOTSTRAP, left) if left >= LEAST_BOOTSTRAP else 0
    effort = Effort(repeats=1, bootstrap=bootstrap, leave_out=0, curve=0)
    share = max(affordable - effort.fits, 0) / max(full.fits - effort.fits, 1)
    leave_out = int(full.leave_out * share)
    return replace(
        effort,
        repeats=1 + int((full.repeats - 1) * share),
        bootstrap=bootstrap + int((full.bootstrap - bootstrap) * share),
        leave_out=leave_out if leave_out >= LEAST_LEAVE_OUT else 0,
        curve=int(full.curve * share),
    )
