"""P-values of several tests, adjusted for their number (Holm, 1979; Benjamini & Hochberg, 1995)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import UnknownName

__all__ = ["ADJUSTMENTS", "adjust_p", "benjamini_hochberg", "holm"]


def holm(p: Sequence[float] | Floats) -> Floats:
    """Return p-values that bound the chance of any false rejection, whatever the dependence.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return _back(np.minimum(stepped, 1.0), order)


def benjamini_hochberg(p: Sequence[float] | Floats) -> Floats:
    """Return p-values that bound the expected share of false ones among the rejections, for independent tests.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    stepped = np.minimum.accumulate(scaled[::-1])[::-1]
    return _back(np.minimum(stepped, 1.0), order)


def _back(values: Floats, order: Ints) -> Floats:
    out = np.empty_like(values)
    out[order] = values
    return out


def _as_they_are(p: Sequence[float] | Floats) -> Floats:
    return np.asarray(p, dtype=float)


ADJUSTMENTS: dict[str, Callable[[Sequence[float] | Floats], Floats]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "none": _as_they_are,
}


def adjust_p(p: Sequence[float | None], method: str = "holm") -> list[float | None]:
    """Adjust the p-values there are; None and NaN stay what they are and do not count.

    Examples
    --------
    >>> adjust_p([0.01, None, 0.02])
    [0.02, None, 0.02]
    """
    if method not in ADJUSTMENTS:
        raise UnknownName("adjustment", method, ADJUSTMENTS)
    there = [k for k, value in enumerate(p) if value is not None and not np.isnan(value)]
    out = list(p)
    for k, value in zip(there, ADJUSTMENTS[method]([p[k] or 0.0 for k in there])):
        out[k] = float(value)
    return out
