"""The lease of a driver: the tasks it holds in the store, renewed while it lives and given back at its end."""

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

__all__ = ["Share", "is_dead", "new_owner"]


LOG = logging.getLogger("unseen")
BEAT_SECONDS = 2.0


class Share:
    """What one driver holds of a study; every call to the store waits for a bounded time where the store is away."""

    def __init__(self, store: SqlStore, name: str, reporter: Reporter, lease_seconds: float, patience: float) -> None:
        self.store, self.name, self.reporter = store, name, reporter
        self.lease, self.patience = lease_seconds, patience
        self.owner = new_owner()
        self.buffer: deque[TaskRow] = deque()
        self.out: dict[str, TaskRow] = {}
        self.cancelled = threading.Event()
        self.hurry = threading.Event()
        self._ended = threading.Event()
        self._doubtful = False
        self._heart = threading.Thread(target=self._beat, name="unseen-heartbeat", daemon=True)

    def open(self) -> None:
        """Let the heart beat."""
        self._heart.start()

    def close(self) -> int:
        """Give everything back; return how many tasks that were."""
        self._ended.set()
        if self._heart.is_alive():
            self._heart.join(timeout=10.0)
        held = len(self.out) + len(self.buffer)
        self.out.clear()
        self.buffer.clear()
        self.store.release(self.name, self.owner)
        return held

    def claim(self, limit: int) -> bool:
        """Fill the buffer; return whether there was anything to claim."""
        if self._doubtful:
            self.patiently(self.store.release, self.name, self.owner, [*self.out, *(row.id for row in self.buffer)])
            self._doubtful = False
        self._bury_neighbours()
        rows = self.patiently(self.store.claim, self.name, self.owner, limit, self.lease)
        self.buffer.extend(rows)
        return bool(rows)

    def finish(self, results: list[TaskResult]) -> int:
        """Store a chunk of results; return how many were new."""
        new: int = self.patiently(self.store.finish, self.name, self.owner, results)
        for result in results:
            self.out.pop(result.task, None)
        return new

    def progress(self) -> Progress:
        """Return how far the study is."""
        now: Progress = self.patiently(self.store.progress, self.name)
        return now

    def patiently(self, call: Callable[..., Any], *args: Any) -> Any:
        """Call the store; where it is locked or away, say so and try again for a bounded time."""
        give_up, pause, said = time.monotonic() + self.patience, 0.1, False
        while True:
            try:
                answer = call(*args)
            except (StoreBusy, StoreLost) as error:
                self._doubtful |= call == self.store.claim  # it may have been granted, and the answer lost
                if time.monotonic() + pause > give_up or self.hurry.is_set():
                    raise
                if not said:
                    self.reporter.say(f"{error} Waiting up to {self.patience:.0f} s.")
                said = True
                self.hurry.wait(pause)
                pause = min(2 * pause, 5.0)
            else:
                if said:
                    self.reporter.say("the store answers again; the study goes on.")
                return answer

    def _bury_neighbours(self) -> None:
        """End the leases of drivers of this machine that are dead: nobody needs to wait for those."""
        for owner in self.patiently(self.store.owners, self.name):
            if owner != self.owner and is_dead(owner):
                self.patiently(self.store.expire, self.name, owner)

    def _beat(self) -> None:
        """Renew the lease until the end, and notice a cancellation."""
        while not self._ended.wait(min(BEAT_SECONDS, self.lease / 3)):
            try:
                if not self.store.heartbeat(self.name, self.owner, self.lease):
                    self.cancelled.set()
            except UnseenError as error:
                LOG.warning("heartbeat: %s", error)

    def leave(self, what: str) -> str:
        """Give everything back and say what is kept."""
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


PROC = Path("/proc")


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
    """Tell whether an owner is a process of this machine that has ended; False wherever that cannot be known.

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
    """Return when a process started; empty where it has ended. The time tells it from a later one with its number."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
