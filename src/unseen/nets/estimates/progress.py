"""Progress of an estimate: averages over kernels report here, and a bar shows it if the user asked for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

from unseen.engine.events import Reporter, reporter_for

__all__ = ["current_reporter", "progress_bar"]

_reporter: ContextVar[Reporter | None] = ContextVar("unseen_nets_reporter", default=None)


@contextmanager
def progress_bar(progress: Any) -> Iterator[None]:
    """Show the progress of what runs inside: True, None for "in a terminal", False, or a Reporter.

    Examples
    --------
    >>> with progress_bar(False):
    ...     current_reporter() is not None
    True
    """
    shown = progress if find_spec("rich") or not isinstance(progress, (bool, type(None))) else False
    reporter = reporter_for(shown)
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)
        reporter.close()


def current_reporter() -> Reporter | None:
    """Return the reporter of the estimate that runs, if there is one."""
    return _reporter.get()
