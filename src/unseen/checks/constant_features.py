"""U003: a feature has the same value in every row."""

from __future__ import annotations

import numpy as np

from unseen.checks.registry import check
from unseen.core.data import Data
from unseen.core.notes import Note, note

__all__ = ["constant_features"]

LISTED = 5  # a line holds about so many names


@check(
    "U003",
    "features",
    title="constant features",
    sentence="A feature has the same value in every row.",
    advice="They carry no information. Drop them.",
)
def constant_features(data: Data) -> tuple[Note, ...]:
    """Return U003 if features have one value only; missing values count as equal.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> constant_features(as_data([[1.0, 2.0], [1.0, 3.0]], [0, 1]))[0].text
    '1 of 2 features have the same value in every row: x0'
    """
    X = data.X
    if hasattr(X, "tocsr"):
        high, low = (np.asarray(e.todense()).ravel() for e in (X.max(axis=0), X.min(axis=0)))
        constant = high == low
    elif hasattr(X, "iloc"):
        constant = np.array([X.iloc[:, k].nunique(dropna=False) < 2 for k in range(X.shape[1])])
    else:
        same = X[:1] == X
        constant = (same | (np.isnan(X) & np.isnan(X[:1])) if X.dtype.kind == "f" else same).all(axis=0)
    names = [name for name, flat in zip(data.names, constant) if flat]
    if not names:
        return ()
    listed = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    return (note("U003", f"{len(names)} of {len(constant)} features have the same value in every row: {listed}"),)
