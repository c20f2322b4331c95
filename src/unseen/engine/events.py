"""Progress of a run: what the engine reports, and who shows it."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Protocol

__all__ = ["LONG_RUN", "Bar", "Lines", "Reporter", "Silent", "reporter_for", "reporting"]

LOG = logging.getLogger("unseen")
LONG_RUN = 120.0  # seconds after which a user would like to have known that a run takes long
LEAST_DONE = 3  # fits that tell how long the others take
PATIENCE = 2.0  # seconds; a bar for a shorter run would only flicker


class Reporter(Protocol):
    """Listens to a run; every call must be cheap."""

    def expect(self, fits: int, label: str) -> None:
        """Announce fits to come."""
        ...

    def advance(self, fits: int, failed: int = 0) -> None:
        """Tell that fits are done."""
        ...

    def say(self, text: str) -> None:
        """Tell something in words."""
        ...

    def close(self) -> None:
        """End the display."""
        ...


class Silent:
    """Logs and shows nothing."""

    def expect(self, fits: int, label: str) -> None:
        """Log the announcement."""
        LOG.debug("%s: %d fits", label, fits)

    def advance(self, fits: int, failed: int = 0) -> None:
        """Ignore it."""

    def say(self, text: str) -> None:
        """Log it."""
        LOG.info(text)

    def close(self) -> None:
        """Do nothing."""


class Lines(Silent):
    """For a log file or a pipe: no bar, but a line at the start of a run that will take long, and what a run says in words."""

    def __init__(self) -> None:
        self._total = self._done = 0
        self._start = time.monotonic()
        self._told = False

    def expect(self, fits: int, label: str) -> None:
        """Add fits to the total."""
        super().expect(fits, label)
        self._total += fits

    def advance(self, fits: int, failed: int = 0) -> None:
        """Say once how long the run will take, if that is long, as soon as a few seconds tell."""
        self._done += fits
        spent = time.monotonic() - self._start
        few = self._done < LEAST_DONE and spent < LONG_RUN / 4  # the first fit pays for imports and workers
        if self._told or spent < PATIENCE or few:
            return
        expected = spent * self._total / self._done
        if expected > LONG_RUN:
            self.say(f"about {expected / 60:.0f} min expected for {self._total} fits")

    def say(self, text: str) -> None:
        """Write a line."""
        self._told = True
        sys.stderr.write(f"unseen: {text}\n")


class Bar:
    """A rich progress bar on stderr that appears once a run has taken two seconds."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._task: Any = None
        self._total = self._done = self._failed = 0
        self._label = ""
        self._start = time.monotonic()

    def expect(self, fits: int, label: str) -> None:
        """Add fits to the total and show what they are for."""
        self._total += fits
        self._label = label
        self._update()

    def advance(self, fits: int, failed: int = 0) -> None:
        """Move the bar."""
        self._done += fits
        self._failed += failed
        if self._progress is None and time.monotonic() - self._start > PATIENCE:
            self._open()
        self._update()

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        if self._progress is None:
            sys.stderr.write(f"unseen: {text}\n")
        else:
            self._progress.console.print(f"unseen: {text}", markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(file=sys.stderr), transient=True)
        self._progress.start()
        self._task = self._progress.add_task(self._label, total=self._total)

    def _update(self) -> None:
        if self._progress is not None:
            failed = f" ({self._failed} failed)" if self._failed else ""
            self._progress.update(self._task, completed=self._done, total=self._total, description=self._label + failed)


def reporter_for(progress: bool | Reporter | None) -> Reporter:
    """Return a bar if asked for or, by default, if stderr is a terminal; else a line at the start of a long run."""
    if progress is None:
        if not getattr(sys.stderr, "isatty", lambda: False)():
            return Lines()
        progress = True
    if isinstance(progress, bool):
        return (
            Bar() if progress and find_spec("rich") else Silent()
        )  # a bare machine has no rich and no terminal to look at
    return progress


@contextmanager
def reporting(progress: bool | Reporter | None, total: int, label: str) -> Iterator[Reporter]:
    """Give a reporter that expects so many steps, and close it.

    Examples
    --------
    >>> with reporting(False, 2, "steps") as reporter:
    ...     reporter.advance(2)
    """
    reporter = reporter_for(progress)
    reporter.expect(total, label)
    try:
        yield reporter
    finally:
        reporter.close()
