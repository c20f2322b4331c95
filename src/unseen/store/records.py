"""What goes into a store and what comes out of it, as plain records."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

__all__ = ["LONGEST_LEASE", "Kept", "Progress", "TaskResult", "TaskRow"]

LONGEST_LEASE = 3600.0  # seconds; a lease that ends later was written before the clock was set back


@dataclass(frozen=True)
class TaskRow:
    """One task of a study: a cell, a replication, and the group of tasks it shares work with.

    Parameters
    ----------
    id : str
        Hash of everything that determines the task's numbers.
    cell : int
        Index into the study's cells.
    replication : int
        Number of the replication.
    group : int
        Tasks of one group share a sample or a fit and are handed out together if possible.

    Examples
    --------
    >>> TaskRow("0f" * 16, cell=0, replication=3, group=3).replication
    3
    """

    id: str
    cell: int
    replication: int
    group: int


@dataclass(frozen=True)
class TaskResult:
    """What one task gave, or why it failed (`reason` is then not empty).

    Examples
    --------
    >>> TaskResult("0f" * 16, estimate=0.21, truth=0.25, seconds=0.01).reason
    ''
    """

    task: str
    _: KW_ONLY
    estimate: float | None = None
    truth: float | None = None
    lower: float | None = None
    upper: float | None = None
    spread: float | None = None
    p_value: float | None = None
    seconds: float = 0.0
    extra: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a study is.

    `state` is "waiting" (nothing done, nobody at work), "running" (a driver is alive), "partial" (stopped with tasks
    missing, or ended with failed ones), "cancelled" or "done". `seconds` is the sum over tasks, `eta_seconds` is None
    if nobody is at work.

    Examples
    --------
    >>> Progress(name="mine", kind="study", state="done", total=10, done=10, failed=0, claimed=0, seconds=1.5, created="", updated="", eta_seconds=None).missing
    0
    """

    name: str
    kind: str
    state: str
    total: int
    done: int
    failed: int
    claimed: int
    seconds: float
    created: str
    updated: str
    eta_seconds: float | None

    @property
    def missing(self) -> int:
        """Tasks that are neither done nor failed."""
        return self.total - self.done - self.failed


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A result that was filed in the store: an assessment, a comparison, a reproduction.

    Examples
    --------
    >>> Kept(id=1, kind="assessment", name="iris", created="2026-01-01T00:00:00+00:00", payload={"error": 0.05}).payload["error"]
    0.05
    """

    id: int
    kind: str
    name: str
    created: str
    payload: dict[str, Any] = field(default_factory=dict)
