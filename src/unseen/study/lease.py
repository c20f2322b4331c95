"""The lease of a driver on tasks of a study: renewed while the driver lives, given back when it ends."""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from unseen.core.errors import UnseenError
from unseen.engine.events import Reporter
from unseen.store import Progress, SqlStore, StoreBusy, StoreError, StoreLost, TaskResult, TaskRow

__all__ = ["TaskLease", "is_dead", "new_owner"]


LOG = logging.getLogger("unseen")
HEARTBEAT_SECONDS = 2.0  # a cancelled study stops within about this time
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # between retries; it doubles, so that a store that is away is not flooded
PROC = Path("/proc")


class TaskLease:
    """The tasks that one driver holds of a study.

    A thread renews the lease in the store until it is closed. Calls to a store that is locked or does not answer are
    retried for at most `patience` seconds.

    Parameters
    ----------
    store, name : SqlStore, str
        Where the study is, and what it is called.
    reporter : Reporter
        Hears when the store is away and when it is back.
    lease_seconds : float
        How long the lease lasts after its last heartbeat.
    patience : float
        Seconds to retry a call.

    Attributes
    ----------
    buffer : deque of TaskRow
        Claimed tasks that wait for a worker.
    running : dict
        Claimed tasks that were sent to a worker, by id.
    cancelled : threading.Event
        Set when somebody cancels the study.
    stopping : threading.Event
        Set to stop soon: retries end.
    """

    def __init__(self, store: SqlStore, name: str, reporter: Reporter, lease_seconds: float, patience: float) -> None:
        self.store, self.name, self.reporter = store, name, reporter
        self.lease_seconds, self.patience = lease_seconds, patience
        self.owner = new_owner()
        self.buffer: deque[TaskRow] = deque()
        self.running: dict[str, TaskRow] = {}
        self.cancelled = threading.Event()
        self.stopping = threading.Event()
        self._closed = threading.Event()
        self._claim_unsure = False
        self._heartbeat = threading.Thread(target=self._renew, name="unseen-heartbeat", daemon=True)

    def open(self) -> None:
        """Start to renew the lease."""
        self._heartbeat.start()

    def close(self) -> int:
        """Give everything back; return how many tasks that were."""
        self._closed.set()
        if self._heartbeat.is_alive():
            self._heartbeat.join(timeout=10.0)
        held = len(self.running) + len(self.buffer)
        self.running.clear()
        self.buffer.clear()
        self.store.release(self.name, self.owner)
        return held

    def claim(self, limit: int) -> bool:
        """Fill the buffer; return whether there was anything to claim."""
        if self._claim_unsure:
            self.retry(self.store.release, self.name, self.owner, [*self.running, *(row.id for row in self.buffer)])
            self._claim_unsure = False
        self.expire_dead_owners()
        rows = self.retry(self.store.claim, self.name, self.owner, limit, self.lease_seconds)
        self.buffer.extend(rows)
        return bool(rows)

    def finish(self, results: list[TaskResult]) -> int:
        """Store a chunk of results; return how many were new."""
        new: int = self.retry(self.store.finish, self.name, self.owner, results)
        for result in results:
            self.running.pop(result.task, None)
        return new

    def progress(self) -> Progress:
        """Return how far the study is."""
        now: Progress = self.retry(self.store.progress, self.name)
        return now

    def retry(self, call: Callable[..., Any], *args: Any) -> Any:
        """Call the store; if it is locked or away, report that and try again for at most `patience` seconds."""
        give_up, pause, reported = time.monotonic() + self.patience, FIRST_PAUSE, False
        while True:
            try:
                answer = call(*args)
            except (StoreBusy, StoreLost) as error:
                self._claim_unsure |= call == self.store.claim  # the store may have granted it and lost the answer
                if time.monotonic() + pause > give_up or self.stopping.is_set():
                    raise
                if not reported:
                    self.reporter.say(f"{error} Waiting up to {self.patience:.0f} s.")
                reported = True
                self.stopping.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                if reported:
                    self.reporter.say("the store answers again; the study goes on.")
                return answer

    def expire_dead_owners(self) -> None:
        """End the leases of drivers of this machine that are dead, so that nobody waits for them."""
        for owner in self.retry(self.store.owners, self.name):
            if owner != self.owner and is_dead(owner):
                self.retry(self.store.expire, self.name, owner)

    def _renew(self) -> None:
        """Renew the lease until it is closed, and notice a cancellation."""
        while not self._closed.wait(min(HEARTBEAT_SECONDS, self.lease_seconds / 3)):
            try:
                if not self.store.heartbeat(self.name, self.owner, self.lease_seconds):
                    self.cancelled.set()
            except UnseenError as error:
                LOG.warning("heartbeat: %s", error)

    def leave(self, what: str) -> str:
        """Give everything back; return a sentence that says what is kept and how to go on."""
        with suppress(StoreError):
            held = self.close()
            now = self.store.progress(self.name)
            back = f" ({held} tasks under way were given back)" if held else ""
            where = self.store.where
            return (
                f"{what}: {now.done} of {now.total} tasks of the study {self.name!r} are kept in {where}{back}; "
                f"`unseen study resume {shlex.quote(self.name)} --store {shlex.quote(where)}` goes on"
            )
        return f"{what}; everything finished before is kept, resume once the store answers"


def new_owner() -> str:
    """Return a name for this driver: host, machine, process, its start, and a random part.

    Examples
    --------
    >>> new_owner() != new_owner()
    True
    """
    pid = os.getpid()
    return "|".join([socket.gethostname(), _machine(), str(pid), _start(pid), uuid.uuid4().hex[:8]])


def is_dead(owner: str) -> bool:
    """Return whether an owner is a process of this machine that has ended; False if that cannot be known.

    Examples
    --------
    >>> is_dead(new_owner()), is_dead("somebody else")
    (False, False)
    """
    parts = owner.split("|")
    if len(parts) != 5 or not parts[1] or parts[1] != _machine() or not parts[2].isdigit():
        return False
    return _start(int(parts[2])) != parts[3]


def _machine() -> str:
    """Return what processes share that see each other's numbers: this boot and this process namespace."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return hashlib.sha256(f"{boot} {os.readlink(PROC / 'self/ns/pid')}".encode()).hexdigest()[:12]
    except OSError:
        return ""


def _start(pid: int) -> str:
    """Return when a process started, which distinguishes it from a later one of the same number; empty if it has ended."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
