"""How much `assess` does: numbers of splits, fixed, asked for, or fitted into a time budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from unseen.core.errors import InputError, UnknownName

__all__ = ["Effort", "check_budget", "effort_of", "within_budget"]

LEAST_SPLITS = 10  # fewer splits give an interval too wide to be of use


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Numbers of fits behind an assessment; zero leaves a part out.

    Parameters
    ----------
    splits : int
        Random 90/10 splits of the headline.
    repeats : int
        Rounds of 10-fold cross-validation.
    bootstrap : int
        Bootstrap samples shared by all bootstrap estimators.
    leave_out : int
        Distinct 75/25 splits of the error distribution.
    curve : int
        Repetitions of the five-point learning curve.

    Examples
    --------
    >>> Effort().fits, Effort.quick().fits
    (400, 25)
    """

    splits: int = 25
    repeats: int = 5
    bootstrap: int = 100
    leave_out: int = 200
    curve: int = 5

    @classmethod
    def quick(cls) -> Effort:
        """Return the headline alone."""
        return cls(repeats=0, bootstrap=0, leave_out=0, curve=0)

    @property
    def fits(self) -> int:
        """Number of fits in all, the one on all rows left out."""
        return self.splits + 10 * self.repeats + self.bootstrap + self.leave_out + 5 * self.curve

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in asdict(self).items())


def effort_of(value: str | Mapping[str, Any] | Effort) -> Effort:
    """Return the effort for "full", "quick", a mapping, or text such as "splits=25,repeats=2"; parts not named are left out.

    Examples
    --------
    >>> effort_of("splits=50,leave_out=100").fits
    150
    """
    if isinstance(value, Effort):
        return value
    if isinstance(value, str):
        if value in ("full", "quick"):
            return Effort() if value == "full" else Effort.quick()
        value = dict(part.strip().partition("=")[::2] for part in value.split(","))
    if not isinstance(value, Mapping):
        raise InputError(f'effort is {value!r}; give "full", "quick", or counts such as "splits=25,repeats=2".')
    names = asdict(Effort())
    counts = {}
    for name, count in value.items():
        if name not in names:
            raise UnknownName("part of effort", name, [*names, "full", "quick"])
        counts[name] = _count(name, count)
    effort = replace(Effort.quick(), **counts)
    if effort.splits < 2:
        raise InputError(f"effort: splits is {effort.splits}; the headline needs at least 2 splits.")
    return effort


def _count(name: str, value: Any) -> int:
    try:
        count = int(value)
    except (TypeError, ValueError):
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
    if isinstance(budget, bool) or not isinstance(budget, (int, float, np.number)) or not budget > 0:
        raise InputError(f"budget is {budget!r}; give seconds above 0.")
    return float(budget)


def within_budget(seconds_per_fit: float, budget: float, workers: int = 1) -> Effort:
    """Return the largest effort expected to end within `budget` seconds, the headline first.

    Examples
    --------
    >>> within_budget(0.001, 60) == Effort(), within_budget(1.0, 60).fits <= 60
    (True, True)
    """
    affordable = int(budget * workers / max(seconds_per_fit, 1e-6))
    full = Effort()
    if affordable >= full.fits:
        return full
    effort = replace(Effort.quick(), splits=max(LEAST_SPLITS, min(full.splits, affordable)))
    left = affordable - effort.splits
    share = left / (full.fits - full.splits)
    if share <= 0.05:
        return effort
    parts = {
        "repeats": int(full.repeats * share),
        "bootstrap": int(full.bootstrap * share),
        "leave_out": int(full.leave_out * share),
        "curve": int(full.curve * share),
    }
    return replace(
        effort,
        **{name: count if count > (name in ("bootstrap", "leave_out")) * 19 else 0 for name, count in parts.items()},
    )
