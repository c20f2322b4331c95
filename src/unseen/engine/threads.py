"""Threads of BLAS and OpenMP, limited at the cost of microseconds so that small runs can afford it; and numbers of workers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

from unseen.core.errors import InputError

__all__ = ["limited_threads", "worker_count"]

_kept: tuple[tuple[int, str], Any] | None = None


def worker_count(n_jobs: int | None) -> int:
    """Return how many worker processes `n_jobs` means here: None is 1, -1 all cores, -2 all but one.

    Examples
    --------
    >>> worker_count(None), worker_count(3)
    (1, 3)
    """
    from joblib import effective_n_jobs

    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InputError(f"n_jobs is {n_jobs!r}; give a number of workers of at least 1, or -1 for all cores.")
    return int(effective_n_jobs(n_jobs))


@contextmanager
def limited_threads(number: int | None) -> Iterator[None]:
    """Give every BLAS and OpenMP library of this process at most `number` threads; None leaves them as they are.

    Finding the libraries takes milliseconds, setting a limit microseconds: they are looked for again only when a module was
    imported since, as libraries come with modules.

    Examples
    --------
    >>> import numpy
    >>> from threadpoolctl import threadpool_info
    >>> with limited_threads(1):
    ...     {library["num_threads"] for library in threadpool_info()}
    {1}
    """
    if number is None:
        yield
        return
    controller = _controller()
    # inside another limit, as in most calls, and where the environment sets one, there is nothing to do
    if all(library.get_num_threads() == number for library in controller.lib_controllers):
        yield
        return
    with controller.limit(limits=number):
        yield


def _controller() -> Any:
    global _kept
    if _kept is None or _kept[0] != _loaded():
        from threadpoolctl import ThreadpoolController

        controller = ThreadpoolController()
        _kept = _loaded(), controller  # threadpoolctl itself may just have come
    return _kept[1]


def _loaded() -> tuple[int, str]:
    """Return how many modules were imported, and the last of them."""
    return len(sys.modules), next(reversed(sys.modules))
