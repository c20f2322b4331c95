"""The checks at the front of every public function: what the user gave, as data, model and plan."""

from __future__ import annotations

from typing import Any

from unseen.core.data import Data
from unseen.core.errors import InputError, KindError
from unseen.core.model import Fitted, Model
from unseen.core.plan import Plan
from unseen.core.registry import declare, find
from unseen.core.rng import stream
from unseen.datasets.conversion import as_data
from unseen.datasets.copies import with_copies
from unseen.models.sklearn import as_fitted, as_model

__all__ = ["data_of", "fitted_of", "measure_kind", "model_of", "needs_scores", "plan_of", "task_of"]


def data_of(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
    duplicates: Any = "auto",
) -> Data:
    """Return checked data; `Data` passes through, if nothing else is given beside it. Copies of rows become one unit.

    Parameters
    ----------
    X, y : array-like
        Sample, or `Data` and nothing.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        Whether copies of rows stay on one side of every split; see `unseen.datasets.copies.with_copies`.

    Examples
    --------
    >>> data_of([[1.0], [2.0], [3.0]], [0.5, 0.1, 0.7], task="regression").n
    3
    """
    columns = {
        "groups": groups,
        "sample_weight": sample_weight,
        "time": time,
        "ids": ids,
        "positive": positive,
        "task": task,
    }
    if isinstance(X, Data):
        given = [name for name, value in {"y": y, **columns}.items() if value is not None]
        if given:
            raise InputError(
                f"{', '.join(given)} came with a Data object, which brings its own; give it to unseen.datasets.as_data."
            )
        return with_copies(X, duplicates)
    if X is None or y is None:
        raise InputError("X and y are needed to fit a model; give both, or a saved table instead of the model.")
    return with_copies(as_data(X, y, **columns), duplicates)


def task_of(fitted: Any, X: Any, task: Any) -> Any:
    """Return the task as given; for raw columns without one, classification if the trained model is a classifier."""
    known = task is not None or isinstance(X, Data)
    return task if known or not hasattr(fitted, "classes_") else "classification"


def measure_kind(loss: Any) -> Any:
    """Return the class of a measure named by id, or the measure itself if an object such as `Cost(costs)` was given."""
    if isinstance(loss, str):
        return find(loss, "measures")
    if not hasattr(loss, "needs_score"):
        raise KindError(
            f"the measure is {loss!r}; give an id such as 'auc', or an object such as unseen.measures.Cost(...)."
        )
    declare(type(loss))
    return loss


def needs_scores(loss: Any) -> bool:
    """Say whether a loss or measure needs scores."""
    return not (isinstance(loss, str) and loss == "auto") and bool(measure_kind(loss).needs_score)


def model_of(model: Any, data: Data) -> Model:
    """Return a model for a name or an object with fit and predict."""
    if isinstance(model, str):
        from unseen.models.named import named_model

        return as_model(named_model(model, data), data, model)
    return as_model(model, data)


def fitted_of(model: Any, data: Data) -> Fitted:
    """Return something already trained as it is, never to be refitted."""
    return as_fitted(model, data.classes, data.sample_shape)


def plan_of(design: Any, data: Data, seed: int) -> Plan:
    """Return the plan a design draws for a seed: the same seed gives the same splits to every model."""
    result: Plan = design.plan(data, stream(seed, "plan", design.id))
    return result
