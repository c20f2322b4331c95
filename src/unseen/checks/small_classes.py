"""U001: a class has few rows."""

from __future__ import annotations

import numpy as np

from unseen.checks.registry import check
from unseen.core.data import Data
from unseen.core.notes import Note, note

__all__ = ["small_classes"]

# with fewer rows, one row moves the error of the class by more than 10 points
FEW_IN_CLASS = 10
LISTED = 5  # a line holds about so many names


@check(
    "U001",
    "data",
    title="class with few members",
    sentence=f"A class has fewer than {FEW_IN_CLASS} rows.",
    advice="Collect more rows of that class, merge classes, or read the figures of single classes with care.",
)
def small_classes(data: Data) -> tuple[Note, ...]:
    """Return U001 if a class has fewer than 10 rows.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> small_classes(as_data([[float(k)] for k in range(30)], ["a"] * 26 + ["b"] * 4))[0].text
    "1 of 2 classes have fewer than 10 rows: 'b' has 4"
    """
    if data.classes is None:
        return ()
    counts = np.bincount(data.codes, minlength=len(data.classes))
    small = [(str(label), int(c)) for label, c in zip(data.classes, counts) if c < FEW_IN_CLASS]
    if not small:
        return ()
    listed = ", ".join(f"{label!r} has {c}" for label, c in small[:LISTED]) + (", ..." if len(small) > LISTED else "")
    return (note("U001", f"{len(small)} of {len(counts)} classes have fewer than {FEW_IN_CLASS} rows: {listed}"),)
