"""Files that are whole or not there: written beside their place and moved into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from unseen.core.errors import NotWritten

__all__ = ["written_whole"]


@contextmanager
def written_whole(path: str | PathLike[str], what: str = "") -> Iterator[Path]:
    """Yield the path of a file to write, which takes the place of `path` at the end; after an error `path` is as it was.

    Parameters
    ----------
    path : path
        Where the file is to be. A link keeps pointing at its file; a pipe or a device is written as it is.
    what : str
        What is written, for the message: "the report".

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder, "a.txt")
    ...     with written_whole(place) as partial:
    ...         _ = partial.write_text("done")
    ...     place.read_text(), len(list(Path(folder).iterdir()))
    ('done', 1)
    """
    place = Path(os.path.realpath(path))
    partial = place.with_name(f".{place.name[:200]}.{os.getpid()}.partial")
    try:
        if place.exists() and not place.is_file():
            partial = place
        elif not os.access(place.parent, os.W_OK) and place.exists():
            partial = place  # a file that may be written in a folder that may not
        try:
            yield partial
            if partial is not place:
                if place.exists():
                    with suppress(OSError):
                        partial.chmod(place.stat().st_mode & 0o7777)
                partial.replace(place)
        except BaseException:
            if partial is not place:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        named = f"{what} to {str(path)!r}" if what else repr(str(path))
        raise NotWritten(f"cannot write {named}: {error.strerror or error}.") from error
