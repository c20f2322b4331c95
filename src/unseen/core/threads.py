"""A limit on the threads of BLAS and OpenMP that costs microseconds, so that small runs can afford one each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["limited_threads"]

_kept: tuple[tuple[int, str], Any] | None = None


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
    with _controller().limit(limits=number):
        yield


def _controller() -> Any:
    global _kept
    names = list(sys.modules)
    loaded = (len(names), names[-1])
    if _kept is None or _kept[0] != loaded:
        from threadpoolctl import ThreadpoolController

        names = list(sys.modules)  # threadpoolctl itself may just have come
        _kept = (len(names), names[-1]), ThreadpoolController()
    return _kept[1]
