"""Runs a method of the family on a model that is trained already."""

from __future__ import annotations

from typing import Any

from unseen.core.data import Task
from unseen.core.errors import InputError
from unseen.core.registry import build
from unseen.core.rng import RandomState, root_seed, stream
from unseen.datasets.frame import as_data
from unseen.estimators.combined.evidence import attach_expected_rms
from unseen.resubstitution._held import held

__all__ = ["apply"]


def apply(
    method: str, fitted: Any, X: Any, y: Any, random_state: RandomState, sample_weight: Any, options: dict[str, Any]
) -> Any:
    """Return the estimate; its numbers are those of `unseen.estimate(..., fitted=True)`."""
    chosen = build(method, "resubstitution", options=options)
    task: Task | None = "classification" if hasattr(fitted, "classes_") else None
    data = as_data(X, y, sample_weight=sample_weight, task=task)
    if sample_weight is not None and not chosen.weighted:
        raise InputError(f"{method} has no weighted form; leave the weights out or choose another method.")
    model = held(fitted)
    made = chosen(model, data, rng=stream(root_seed(random_state), "direct", method), level=0.95)
    return attach_expected_rms({method: made}, model.native, data, {method: chosen})[method]
