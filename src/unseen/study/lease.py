"""A driver's share of a study: the tasks it holds, its lease, and its patience with the store."""

from __future__ import annotations

import logging
import shlex
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from unseen.core.errors import UnseenError
from unseen.engine.events import Reporter
from unseen.store import Progress, SqlStore, StoreBusy, StoreError, StoreLost, TaskResult, TaskRow
from unseen.study._owner import is_dead, new_owner

__all__ = ["Share"]

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
