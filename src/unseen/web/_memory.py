"""Costly parts of a page, made no more often than their cost allows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["CostLimitedCache"]

T = TypeVar("T")
LONGEST_WAIT = 60.0  # seconds after which an outdated value is computed again, whatever it costs


@dataclass(frozen=True)
class _CachedValue:
    """A value, the state it was made from, when it was ready, and the seconds it took."""

    value: Any
    stamp: Any
    made_at: float
    cost: float


class CostLimitedCache:
    """Values that are costly to make, kept until they are out of date and old enough to be worth making again.

    A value is made again when its stamp changed and at least `patience` times the seconds it took have passed, so that watching a
    study takes only a small share of the machine that runs it.
    """

    def __init__(self, patience: float = 8.0, limit: int = 64) -> None:
        self.patience, self.limit = patience, limit
        self._values: dict[Any, _CachedValue] = {}
        self._lock = threading.Lock()

    def get(self, key: Any, stamp: Any, make: Callable[[], T], *, last: bool = False) -> T:
        """Return the value for a key as of a stamp, made by `make` if needed; makers run one at a time.

        Parameters
        ----------
        key, stamp : hashable
            What the value is of, and the state it was made from.
        make : callable
            Function without arguments that makes it.
        last : bool
            Nothing will change after this stamp, so that waiting would leave an old value for good.
        """
        found = self._values.get(key)
        if found is not None and self._is_current(found, stamp, last):
            current: T = found.value
            return current
        if found is None or last:
            self._lock.acquire()
        elif not self._lock.acquire(blocking=False):
            older: T = found.value  # another value is being made; an older one will do meanwhile
            return older
        try:
            found = self._values.get(key)
            return (
                found.value
                if found is not None and self._is_current(found, stamp, last)
                else self._make(key, stamp, make)
            )
        finally:
            self._lock.release()

    def _is_current(self, found: _CachedValue, stamp: Any, last: bool) -> bool:
        """Return whether the value is of this stamp, or too young to be made again."""
        soon = time.monotonic() - found.made_at < min(self.patience * found.cost, LONGEST_WAIT)
        return bool(found.stamp == stamp) or (soon and not last)

    def _make(self, key: Any, stamp: Any, make: Callable[[], T]) -> T:
        start = time.monotonic()
        value = make()
        end = time.monotonic()
        self._values.pop(key, None)
        self._values[key] = _CachedValue(value=value, stamp=stamp, made_at=end, cost=end - start)
        while len(self._values) > self.limit:
            self._values.pop(next(iter(self._values)))
        return value
