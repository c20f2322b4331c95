"""Progress of a run: what the engine reports, and who shows it."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol, cast

__all__ = ["LONG_RUN", "Bar", "Lines", "Listener", "ProgressEvent", "Reporter", "Silent", "reporter_for", "reporting"]

LOG = logging.getLogger("unseen")
BEFORE_LINES = 10.0  # seconds: who waits so long for a command without a terminal looks into its log
BETWEEN_LINES = 30.0  # seconds: a log that is read later needs no more
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

    def answer(self, text: str, estimate: Any) -> None:
        """Tell the answer so far, in words and as an `Estimate`; the final one comes from the function itself."""
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

    def answer(self, text: str, estimate: Any) -> None:
        """Log it."""
        LOG.info("so far: %s", text)

    def close(self) -> None:
        """Do nothing."""


class Lines(Silent):
    """Writes plain lines to stderr, for logs and pipes: remarks at once, how long a long run will take, and now and then how far it has come."""

    def __init__(self) -> None:
        self._total = self._done = 0
        self._label = ""
        self._start = self._last = time.monotonic()
        self._told = False

    def expect(self, fits: int, label: str) -> None:
        """Add fits to the total."""
        super().expect(fits, label)
        self._total += fits
        self._label = label

    def advance(self, fits: int, failed: int = 0) -> None:
        """Say once how long the run will take, if that is long; later write a line if none was written for some time."""
        self._done += fits
        now = time.monotonic()
        spent = now - self._start
        expected = spent * self._total / self._done if self._done else 0.0
        few = self._done < LEAST_DONE and spent < LONG_RUN / 4  # the first fit pays for imports and workers
        if not self._told and not few and spent >= PATIENCE and expected > LONG_RUN:
            self.say(f"about {expected / 60:.0f} min expected for {self._total} fits")
        elif now - self._last > BETWEEN_LINES:
            self.say(f"{self._done} of {self._total} fits done, now {self._label}")

    def say(self, text: str) -> None:
        """Write it."""
        self._told = True
        self._last = time.monotonic()
        sys.stderr.write(f"unseen: {text}\n")
        sys.stderr.flush()

    def answer(self, text: str, estimate: Any) -> None:
        """Write it, if the run is so long that somebody may look."""
        if time.monotonic() - self._last > BEFORE_LINES:
            self.say(f"so far {text}")


@dataclass(frozen=True, kw_only=True)
class ProgressEvent:
    """What a function given as `progress=` hears.

    Parameters
    ----------
    done, total : int
        Fits made, and fits announced so far.
    label : str
        What is being fitted.
    text : str
        A remark, or the answer so far in words; empty if fits were counted only.
    answer : Estimate or None
        The answer so far, when there is a new one.

    Examples
    --------
    >>> import unseen
    >>> heard = []
    >>> a = unseen.assess("lda", unseen.datasets.load("iris"), effort="quick", random_state=0, progress=heard.append)
    >>> [e.answer.method for e in heard if e.answer is not None]
    ['range-t', 'combined']
    """

    done: int
    total: int
    label: str = ""
    text: str = ""
    answer: Any = None


class Listener:
    """Passes everything on to a function, as records of `ProgressEvent`."""

    def __init__(self, hear: Callable[[ProgressEvent], Any]) -> None:
        self._hear = hear
        self._done = self._total = 0
        self._label = ""

    def _tell(self, **more: Any) -> None:
        self._hear(ProgressEvent(done=self._done, total=self._total, label=self._label, **more))

    def expect(self, fits: int, label: str) -> None:
        """Add fits to the total."""
        self._total += fits
        self._label = label
        self._tell()

    def advance(self, fits: int, failed: int = 0) -> None:
        """Count fits."""
        self._done += fits
        self._tell()

    def say(self, text: str) -> None:
        """Pass a remark on."""
        self._tell(text=text)

    def answer(self, text: str, estimate: Any) -> None:
        """Pass the answer so far on."""
        self._tell(text=text, answer=estimate)

    def close(self) -> None:
        """Do nothing."""


class Bar:
    """A rich progress bar on stderr that appears once a run has taken two seconds."""

    def __init__(self) -> None:
        self._answer = ""
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

    def answer(self, text: str, estimate: Any) -> None:
        """Show the answer so far beside the bar, in the place of the one before."""
        self._answer = f"so far {text} · "
        self._update()

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
        self._task = self._progress.add_task(self._answer + self._label, total=self._total)

    def _update(self) -> None:
        if self._progress is not None:
            failed = f" ({self._failed} failed)" if self._failed else ""
            told = self._answer + self._label + failed
            self._progress.update(self._task, completed=self._done, total=self._total, description=told)


def reporter_for(progress: bool | Reporter | Callable[[ProgressEvent], Any] | None) -> Reporter:
    """Return a bar if asked for or, by default, if stderr is a terminal, else lines for a log; a function hears records of `ProgressEvent`."""
    if progress is None:
        if not getattr(sys.stderr, "isatty", lambda: False)():
            return Lines()
        progress = True
    if isinstance(progress, bool):
        return (
            Bar() if progress and find_spec("rich") else Silent()
        )  # a bare machine has no rich and no terminal to look at
    if hasattr(progress, "advance"):
        return cast(Reporter, progress)
    return Listener(progress)


@contextmanager
def reporting(
    progress: bool | Reporter | Callable[[ProgressEvent], Any] | None, total: int, label: str
) -> Iterator[Reporter]:
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
