"""How names, times and counts are written on the dashboard, in its addresses and in its file names."""

from __future__ import annotations

import hashlib
import math
import re
from datetime import datetime
from typing import Any

__all__ = ["clock", "count", "duration", "file_name", "key_of", "progress_words"]

# names of files and anchors that are still read
LONGEST_SLUG = 40


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_SLUG].strip("-")


def key_of(name: str) -> str:
    """Return the part of an address that stands for a study: readable, and safe whatever the study is called.

    Examples
    --------
    >>> key_of("LDA, small samples")[:-10], key_of("../../etc/passwd")[:-10]
    ('lda-small-samples-', 'etc-passwd-')
    >>> key_of("a b") == key_of("a-b")
    False
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{_slug(name) or 'study'}-{digest}"


def file_name(name: str, ending: str) -> str:
    """Return a name for a download that no file system can take for a path.

    Examples
    --------
    >>> file_name("../LDA & co", "csv"), file_name("<>", "json")
    ('lda-co.csv', 'results.json')
    """
    return f"{_slug(name) or 'results'}.{ending}"


def count(number: Any) -> str:
    """Return a whole number with its thousands apart.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{int(number):,}"


def duration(seconds: float | None) -> str:
    """Return a time span as one would say it.

    Examples
    --------
    >>> [duration(s) for s in (0.2, 42, 90, 4000, 100_000, 3e6)]
    ['under 1 s', '42 s', '1.5 min', '1.1 h', '1.2 days', '35 days']
    >>> duration(None)
    'unknown'
    """
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return "unknown"
    if seconds < 1:
        return "under 1 s"
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            value = seconds / size
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{seconds:.0f} s"


def clock(text: Any) -> str:
    """Return a stored time in UTC to the minute; other text is returned as it is.

    Examples
    --------
    >>> clock("2026-03-01T12:30:59+00:00"), clock("yesterday"), clock(None)
    ('2026-03-01 12:30 UTC', 'yesterday', '–')
    """
    if not text:
        return "–"
    try:
        return f"{datetime.fromisoformat(str(text)):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return str(text)


def progress_words(progress: Any) -> dict[str, str]:
    """Return the progress of a study in words; the live page replaces these texts as they change."""
    ended = progress.done + progress.failed
    share = 100 * ended / progress.total if progress.total else 0.0
    running = progress.state in ("running", "waiting")
    left = f"{duration(progress.eta_seconds)} left" if running and progress.eta_seconds is not None else ""
    failed = f"{count(progress.failed)} failed" if progress.failed else ""
    return {
        "state": progress.state,
        # never "100%" while a task is missing
        "share": f"{math.floor(share)}%",
        "done": f"{count(progress.done)} of {count(progress.total)} tasks",
        "failed": failed,
        "claimed": f"{count(progress.claimed)} in work" if progress.claimed and running else "",
        "left": left,
        "spent": f"{duration(progress.seconds)} of computing",
        "updated": clock(progress.updated),
    }
