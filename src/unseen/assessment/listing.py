"""What there is to choose from: every registered method with its target, designs, cost and paper."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.errors import UnseenError
from unseen.core.registry import classes_in, describe, options_of

__all__ = ["method_rows"]

ROWS_FOR_FITS = 100  # designs such as leave-one-out depend on n; a round number shows that
_KINDS = {"estimators": "resampling", "resubstitution": "resubstitution", "significance": "comparison"}


def method_rows() -> list[dict[str, Any]]:
    """Return one dict per registered estimator, resubstitution method and comparison.

    Returns
    -------
    list of dict
        id, kind ("resampling", "direct", "recipe", "resubstitution" or "comparison"), target, designs, fits (models fitted
        with the default design on 100 rows; None if that is not fixed), linear (works on differences of two models),
        recommended (False if its interval covered too little where it was tried), description, reference.

    Examples
    --------
    >>> row = next(r for r in method_rows() if r["id"] == "corrected-t")
    >>> row["kind"], row["fits"], row["target"]
    ('resampling', 25, 'the algorithm')
    """
    return [_row(cls, kind) for kind in _KINDS for cls in classes_in(kind).values()]


def _row(cls: type[Any], kind: str) -> dict[str, Any]:
    return {
        "id": cls.id,
        "kind": _kind(cls, kind),
        "target": None if cls.target is None else str(cls.target),
        "designs": sorted(cls.designs),
        "fits": _fits(cls, kind),
        "linear": cls.linear,
        "recommended": not cls.not_recommended,
        "description": describe(cls) + (f" Not recommended: {cls.not_recommended}." if cls.not_recommended else ""),
        "reference": reference_of(cls),
    }


def _kind(cls: type[Any], kind: str) -> str:
    if cls.kind == "recipe":
        return "recipe"
    if kind == "estimators" and cls.kind == "direct":
        return "direct"
    return _KINDS[kind]


def _fits(cls: type[Any], kind: str) -> int | None:
    """Count the fits of the default design on a small sample; None if the method fixes none."""
    if cls.kind in ("recipe", "test", "ranking"):
        return None
    if cls.kind == "direct":
        return 1 + int(options_of(cls).get("r", 0))  # r is the number of splits that calibrate
    from unseen.datasets.populations import GaussianBlocks

    data = GaussianBlocks().draw(ROWS_FOR_FITS, np.random.default_rng(0))
    if set(cls.designs) == {"time-ordered"}:
        data = replace(data, order=np.arange(data.n))
    try:
        plan = cls().default_design(data).plan(data, np.random.default_rng(0))
    except (UnseenError, AttributeError, TypeError):
        return None
    return int(plan.n_fits) + ("full" in cls.needs)


def reference_of(cls: type[Any]) -> str:
    """Return the first reference in the docstring of a class, on one line; empty if there is none."""
    lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
    if "References" not in lines:
        return ""
    entry: list[str] = []
    for line in lines[lines.index("References") + 2 :]:
        if not line.strip() or (entry and line.startswith("---")):
            break
        entry.append(line.strip())
    return " ".join(entry).removeprefix(".. [1] ").strip()
