"""Ctrl-C in work that writes each result as it comes: the message says what is kept and how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from unseen.core.errors import Paused

__all__ = ["name_file_on_interrupt"]


@contextmanager
def name_file_on_interrupt(path: str | PathLike[str] | None) -> Iterator[None]:
    """Turn an interrupt into one that names the file with what was done; without such a file it stays a plain one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         with name_file_on_interrupt(file.name):
    ...             raise KeyboardInterrupt
    ...     except Paused as stop:
    ...         str(stop).endswith("the same call goes on from there")
    True
    """
    try:
        yield
    except Paused:
        raise
    except KeyboardInterrupt as stop:
        if path is None or not Path(path).exists():
            raise
        raise Paused(f"stopped; what was done is kept in {str(path)!r}, and the same call goes on from there") from stop
