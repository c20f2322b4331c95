"""One experiment at several seeds: how much the outcome of its checks owes to the luck of one run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.errors import InputError
from unseen.core.result import Result, plain
from unseen.reproduction.experiment import reproduce
from unseen.reproduction.record import Check, Reproduction
from unseen.show.text import text_table

__all__ = ["CheckOverSeeds", "SeedRuns", "parse_seeds", "reproduce_over_seeds"]

MOST_SEEDS = 1000  # a range with a digit too many is refused before a year of computing begins


@dataclass(frozen=True)
class CheckOverSeeds:
    """One check of an experiment at every seed.

    Examples
    --------
    >>> c = CheckOverSeeds("bias, rms z", (1.4, 1.7, 1.1), high=1.5)
    >>> c.passing, c.mean.passed, c.limits
    (2, True, 'at most 1.5')
    """

    name: str
    values: tuple[float, ...]
    low: float | None = None
    high: float | None = None

    @property
    def passing(self) -> int:
        """At how many seeds the value keeps its limits."""
        return sum(Check(self.name, value, self.low, self.high).passed for value in self.values)

    @property
    def mean(self) -> Check:
        """The mean over the seeds, with the same limits."""
        return Check(self.name, float(np.mean(self.values)), self.low, self.high)

    @property
    def limits(self) -> str:
        """The limits in words."""
        return self.mean.limits

    def row(self) -> dict[str, Any]:
        """Return the columns of the printed table."""
        return {
            "check": self.name,
            "limits": self.limits,
            "mean": self.mean.value,
            "smallest": min(self.values),
            "largest": max(self.values),
            "passing": self.passing,
        }


@dataclass(frozen=True, eq=False)
class SeedRuns(Result):
    """A published experiment run again at several seeds.

    Parameters
    ----------
    runs : tuple of Reproduction
        The runs, one for each seed.

    Examples
    --------
    >>> run = lambda seed, value: Reproduction(experiment="x", title="X", source="A paper", cells=(), checks=(Check("bias", value, high=1.5),), replications=10, seed=seed)
    >>> both = SeedRuns((run(0, 1.7), run(1, 1.1)))
    >>> both.passing, both.sentence
    (1, 'Every check passes at 1 of 2 seeds; the mean over the seeds keeps the limits in 1 of 1 checks.')
    """

    shown_by: ClassVar[str] = "unseen.reproduction"

    runs: tuple[Reproduction, ...]

    @property
    def title(self) -> str:
        """What the experiment is; the title of the report."""
        return self.runs[0].title

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the runs."""
        return tuple(run.seed for run in self.runs)

    @property
    def seconds(self) -> float:
        """Time they took together; never compared."""
        return sum(run.seconds for run in self.runs)

    @property
    def checks(self) -> tuple[CheckOverSeeds, ...]:
        """Every check at every seed."""
        return tuple(
            CheckOverSeeds(check.name, tuple(run.checks[k].value for run in self.runs), check.low, check.high)
            for k, check in enumerate(self.runs[0].checks)
        )

    @property
    def passing(self) -> int:
        """At how many seeds every check passes."""
        return sum(run.passed for run in self.runs)

    @property
    def passed(self) -> bool:
        """Whether every check passes at every seed."""
        return self.passing == len(self.runs)

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        held = sum(check.mean.passed for check in self.checks)
        return (
            f"Every check passes at {self.passing} of {len(self.seeds)} seeds; "
            f"the mean over the seeds keeps the limits in {held} of {len(self.checks)} checks."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per check, with its value at every seed."""
        return [
            {**check.row(), **{f"seed {seed}": value for seed, value in zip(self.seeds, check.values)}}
            for check in self.checks
        ]

    def cells(self) -> list[dict[str, Any]]:
        """Return one dict per number that can be judged: published, mean of ours, mean z, at how many seeds the two agree."""
        by_cell: dict[tuple[str, str], list[Any]] = {}
        for cell in (c for run in self.runs for c in run.cells if c.verdict != "not judged"):
            by_cell.setdefault((cell.table, cell.cell), []).append(cell)
        return [
            {
                "table": table,
                "cell": name,
                "published": found[0].published,
                "ours": float(np.mean([c.ours for c in found])),
                "z": float(np.mean([c.z for c in found])),
                "agreeing": sum(c.verdict == "agrees" for c in found),
                "judged": len(found),
            }
            for (table, name), found in by_cell.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        first = self.runs[0]
        about = {name: getattr(first, name) for name in ("experiment", "title", "source", "replications")}
        outcome = {"passing": self.passing, "passed": self.passed, "seconds": self.seconds}
        return {
            **about,
            "seeds": list(self.seeds),
            **outcome,
            "checks": plain(self.rows()),
            "cells": plain(self.cells()),
        }

    def __str__(self) -> str:
        count = len(self.seeds)
        run = self.runs[0]
        head = (
            f"{self.title} ({run.experiment}; {run.replications} replications at each of {count} seeds)\n{run.source}"
        )
        lines = [
            {
                "check": check.name,
                "limits": check.limits,
                "mean": f"{check.mean.value:.3g}",
                "smallest": f"{min(check.values):.3g}",
                "largest": f"{max(check.values):.3g}",
                "passes at": f"{check.passing} of {count}",
            }
            for check in self.checks
        ]
        parts = [head, text_table(lines) if lines else "This experiment has no checks."]
        never = [
            {
                "table": row["table"],
                "cell": row["cell"],
                "published": float(row["published"]),
                "ours, mean": row["ours"],
                "z, mean": f"{row['z']:+.1f}",
            }
            for row in self.cells()
            if row["agreeing"] == 0
        ]
        if never:
            parts.append(f"Published numbers that agree at no seed:\n{text_table(never)}")
        return "\n\n".join([*parts, self.sentence])


def reproduce_over_seeds(name: str, seeds: Iterable[int], **options: Any) -> SeedRuns:
    """Run a published experiment at several seeds and say at how many each check passes.

    A value near its limits keeps or misses them by luck. One run cannot show that; several can, and their mean says on
    which side of the limit a run of that size usually lies.

    Parameters
    ----------
    name : str
        Id of an experiment; `unseen reproduce --list` names them.
    seeds : iterable of int
        Two seeds at least, none twice.
    **options
        As for `reproduce`: replications, n_jobs, progress, store, and the options of the experiment.

    Returns
    -------
    SeedRuns

    Examples
    --------
    >>> r = reproduce_over_seeds("ghane-synthetic", range(2), replications=2, sizes=(20,), rules=("3nn",), n_jobs=1)
    >>> r.seeds, len(r.checks[0].values)
    ((0, 1), 2)
    """
    wanted = _valid_seeds(list(seeds))
    if "random_state" in options:
        raise InputError("random_state was given with seeds; each seed is the random state of one run.")
    return SeedRuns(tuple(reproduce(name, random_state=seed, **options) for seed in wanted))


def _valid_seeds(seeds: list[Any]) -> list[int]:
    if any(isinstance(s, bool) or not isinstance(s, (int, np.integer)) or s < 0 for s in seeds):
        raise InputError(f"seeds is {seeds!r}; seeds are whole numbers of at least 0.")
    if not 2 <= len(seeds) <= MOST_SEEDS:
        raise InputError(f"number of seeds is {len(seeds)}; 2 to {MOST_SEEDS} are needed.")
    if len(set(seeds)) < len(seeds):
        raise InputError(f"seeds is {seeds!r}; none may be given twice.")
    return [int(s) for s in seeds]


def parse_seeds(text: str) -> list[int]:
    """Read seeds as they are written on a command line: numbers and ranges, both ends included.

    Examples
    --------
    >>> parse_seeds("0-3,7")
    [0, 1, 2, 3, 7]
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError(f"--seeds is {text!r}; write numbers and ranges, such as 0-9 or 0,3,7.")
        span = range(int(first), int(last or first) + 1)
        if not 1 <= len(span) <= MOST_SEEDS:
            raise InputError(f"--seeds has the range {part.strip()!r}; it must rise, over {MOST_SEEDS} seeds at most.")
        seeds += span
    return _valid_seeds(seeds)
