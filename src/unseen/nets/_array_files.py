"""Arrays from a user's NPY and NPZ files: whatever is wrong with one is told in a sentence, and nothing is unpickled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np

from unseen.core.errors import InputError

__all__ = ["opened_arrays"]


@contextmanager
def opened_arrays(path: str | PathLike[str], what: str = "NPZ") -> Iterator[Any]:
    """Give the array of an NPY file, or the archive of an NPZ file, which is read array by array as it is asked.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     np.savez(file, X=np.ones(2))
    ...     _ = file.seek(0)
    ...     with opened_arrays(file.name) as arrays:
    ...         arrays["X"].tolist()
    [1.0, 1.0]
    """
    try:
        with open(path, "rb") as file:  # numpy leaves a damaged archive open if it opens the file itself
            found = np.load(file, allow_pickle=False)
            try:
                yield found
            finally:
                if hasattr(found, "close"):
                    found.close()
    except InputError:
        raise
    except Exception as error:  # zipfile, zlib and numpy each raise kinds of their own
        pickled = "it holds Python objects, which are never unpickled here"
        text = pickled if "pickle" in str(error).lower() else str(error)
        raise InputError(f"cannot read {str(path)!r} as {what}: {text}.") from error
