"""Costly parts of a page, made no more often than their cost allows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Remembered"]

T = TypeVar("T")
LONGEST_WAIT = 60.0


class Remembered:
    """Values that are costly to make, kept until they are out of date and old enough to be worth making again.

    A value is made again when its stamp changed and at least `patience` times the seconds it took have passed, so that watching a
    study takes only a small share of the machine that runs it.
    """

    def __init__(self, patience: float = 8.0, limit: int = 64) -> None:
        self.patience, self.limit = patience, limit
        self._kept: dict[Any, tuple[Any, float, float, Any]] = {}
        self._lock = threading.Lock()

    def get(self, key: Any, stamp: Any, make: Callable[[], T], *, last: bool = False) -> T:
        """Return the value for a key as of a stamp, made by `make` where needed; makers run one at a time.

        Parameters
        ----------
        key, stamp : hashable
            What the value is of, and the state it was made from.
        make : callable
            Function without arguments that makes it.
        last : bool
            Nothing will change after this stamp, so that waiting would leave an old value for good.
        """
        held = self._kept.get(key)
        if held is not None and self._will_do(held, stamp, last):
            return held[3]
        if held is None or last:
            self._lock.acquire()
        elif not self._lock.acquire(blocking=False):
            return held[3]  # another value is being made; an older one will do meanwhile
        try:
            held = self._kept.get(key)
            return held[3] if held is not None and self._will_do(held, stamp, last) else self._make(key, stamp, make)
        finally:
            self._lock.release()

    def _will_do(self, held: tuple[Any, float, float, Any], stamp: Any, last: bool) -> bool:
        soon = time.monotonic() - held[1] < min(self.patience * held[2], LONGEST_WAIT)
        return bool(held[0] == stamp) or (soon and not last)

    def _make(self, key: Any, stamp: Any, make: Callable[[], T]) -> T:
        start = time.monotonic()
        value = make()
        end = time.monotonic()
        self._kept.pop(key, None)
        self._kept[key] = (stamp, end, end - start, value)
        while len(self._kept) > self.limit:
            self._kept.pop(next(iter(self._kept)))
        return value
