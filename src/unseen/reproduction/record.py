"""The record of a reproduction: published numbers beside ours, and the checks they have to pass."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from unseen.core.result import Result, plain
from unseen.show.text import text_table

__all__ = ["AGREES_WITHIN", "Cell", "Check", "Reproduction"]

AGREES_WITHIN = 3.0  # Monte-Carlo errors; by chance one correct number in 370 lies further off


@dataclass(frozen=True)
class Cell:
    """One number of a publication beside the same number of this run.

    Parameters
    ----------
    table : str
        Table or figure of the publication and the quantity in it.
    cell : str
        Which entry: rule, sample size, estimator.
    published : float or None
        The published number; None if the publication has none.
    ours : float
        The number of this run.
    mc_error : float or None
        Standard error of the difference from the Monte-Carlo errors of both runs; None if it is not known.
    remark : str
        Why the cell is not judged ("misprint", "lost in the scan"); empty if it is.

    Examples
    --------
    >>> c = Cell("2.1 true error", "3nn n=20", published=0.329, ours=0.335, mc_error=0.003)
    >>> round(c.z, 1), c.verdict
    (2.0, 'agrees')
    >>> Cell("2.1 true error", "3nn n=20", published=0.329, ours=0.35, mc_error=0.003).verdict
    'differs'
    """

    table: str
    cell: str
    _: KW_ONLY
    published: float | None
    ours: float
    mc_error: float | None = None
    remark: str = ""

    @property
    def z(self) -> float | None:
        """Ours minus published in Monte-Carlo errors."""
        if self.published is None or self.mc_error is None or not self.mc_error > 0:
            return None
        return (self.ours - self.published) / self.mc_error

    @property
    def verdict(self) -> str:
        """One of "agrees" (within three Monte-Carlo errors), "differs", "not judged"."""
        if self.remark or self.z is None or not math.isfinite(self.z):
            return "not judged"
        return "agrees" if abs(self.z) <= AGREES_WITHIN else "differs"

    def row(self) -> dict[str, Any]:
        """Return the columns of the printed table."""
        return {
            "table": self.table,
            "cell": self.cell,
            "published": self.published,
            "ours": self.ours,
            "z": self.z,
            "verdict": f"{self.verdict}: {self.remark}" if self.remark else self.verdict,
        }


@dataclass(frozen=True)
class Check:
    """A statement about many cells at once, with the limits it has to keep.

    Examples
    --------
    >>> Check("mean true errors, rms z", 1.12, high=1.5).passed
    True
    >>> str(Check("bias of cv10, rms z", 2.0, high=1.5))
    'FAILED  bias of cv10, rms z: 2 (at most 1.5)'
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the value keeps its limits."""
        above = self.low is None or self.value >= self.low
        below = self.high is None or self.value <= self.high
        return above and below and not math.isnan(self.value)

    @property
    def limits(self) -> str:
        """The limits in words."""
        if self.low is None:
            return "no limit" if self.high is None else f"at most {self.high:g}"
        return f"at least {self.low:g}" if self.high is None else f"{self.low:g} to {self.high:g}"

    def row(self) -> dict[str, Any]:
        """Return the columns of the printed table."""
        return {"check": self.name, "value": self.value, "limits": self.limits, "passed": self.passed}

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}  {self.name}: {self.value:.3g} ({self.limits})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Reproduction(Result):
    """A published experiment run again.

    Parameters
    ----------
    experiment, title, source : str
        Id, what it is, and where it was published.
    cells : tuple of Cell
        Published and own numbers.
    checks : tuple of Check
        What has to hold over many cells.
    replications, seed : int
        Size and seed of this run.
    seconds : float
        Time it took; never compared.
    remarks : tuple of str
        What a reader must know, such as readings that differ from the printed text.

    Examples
    --------
    >>> cells = (Cell("1", "a", published=0.5, ours=0.51, mc_error=0.01),)
    >>> r = Reproduction(experiment="x", title="An experiment", source="A paper", cells=cells, checks=(), replications=10, seed=0)
    >>> r.agreeing, r.passed
    ((1, 1), True)
    >>> print(str(r).splitlines()[-1])
    1 of 1 judged cells agree within 3 Monte-Carlo errors.
    """

    shown_by: ClassVar[str] = "unseen.reproduction"
    kept_as = "reproduction"

    experiment: str
    title: str
    source: str
    cells: tuple[Cell, ...]
    checks: tuple[Check, ...]
    replications: int
    seed: int
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()

    @property
    def agreeing(self) -> tuple[int, int]:
        """Cells that agree, and cells that were judged."""
        judged = [c for c in self.cells if c.verdict != "not judged"]
        return sum(c.verdict == "agrees" for c in judged), len(judged)

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(c.passed for c in self.checks)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per cell."""
        return [c.row() for c in self.cells]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            **super().to_dict(),
            "cells": plain(self.rows()),
            "checks": plain([c.row() for c in self.checks]),
            "passed": self.passed,
            "agreeing": self.agreeing[0],
            "judged": self.agreeing[1],
        }

    def __str__(self) -> str:
        head = f"{self.title} ({self.experiment}; {self.replications} replications, seed {self.seed})\n{self.source}"
        columns = ["table", "cell", "published", "ours", "z", "verdict"]
        # an experiment without cells shows the heading alone
        parts = [head, text_table([_texts(cell) for cell in self.cells], columns) if self.cells else "  ".join(columns)]
        parts += ["\n".join(f"- {text}" for text in self.remarks)] if self.remarks else []
        parts += ["\n".join(map(str, self.checks))] if self.checks else []
        return "\n\n".join([*parts, self.sentence])

    @property
    def sentence(self) -> str:
        """The outcome: how many published numbers agree or, if none can be judged, how many checks hold."""
        agree, judged = self.agreeing
        if judged or not self.checks:
            text = f"{agree} of {judged} judged cells agree within {AGREES_WITHIN:g} Monte-Carlo errors"
            failed = sum(not check.passed for check in self.checks)
            return f"{text}, and {failed} of {len(self.checks)} checks failed." if failed else f"{text}."
        held = sum(check.passed for check in self.checks)
        return f"No published number can be judged; {held} of {len(self.checks)} checks of what the publication concludes hold."


def _texts(cell: Cell) -> dict[str, Any]:
    row = cell.row()
    # published numbers may be whole, and are printed as all others
    published = None if cell.published is None else float(cell.published)
    return {**row, "published": published, "ours": float(cell.ours), "z": None if cell.z is None else f"{cell.z:+.1f}"}
