"""The checks at the front of every public function: what the user gave, as data, model and plan."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.model import Fitted, Model
from unseen.core.plan import Plan
from unseen.core.registry import declare, find
from unseen.core.rng import stream
from unseen.datasets.conversion import as_data
from unseen.datasets.copies import with_copies
from unseen.datasets.identifiers import without_identifiers
from unseen.datasets.read import read
from unseen.measures.scoring import resolve_measure
from unseen.models.parameters import all_parameters
from unseen.models.sklearn import as_fitted, as_model

__all__ = [
    "data_of",
    "fitted_of",
    "measure_kind",
    "model_of",
    "needs_scores",
    "one_measure_of",
    "picks_columns",
    "plan_of",
    "task_of",
]


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
    missing_target: str = "drop",
    model: Any = "",
) -> Data:
    """Return checked data; `Data` passes through, if nothing else is given beside it. Copies of rows become one unit.

    Parameters
    ----------
    X, y : array-like
        Sample, or `Data` and nothing; y may be the name of a column of a frame X. Or the path of a file or of a folder of
        Parquet files, and the name of its target; the columns beside it are then named too.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        Whether copies of rows stay on one side of every split; see `unseen.datasets.copies.with_copies`.
    missing_target : {"drop", "error"}
        As in `unseen.datasets.as_data`.
    model : optional
        The model that gets the features: columns that only name rows are left out unless it may pick columns by name.

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
    if isinstance(X, (str, PathLike)):
        return with_copies(_read_named(X, {"y": y, **columns}, missing_target, picks_columns(model)), duplicates)
    if X is None or y is None:
        raise InputError("X and y are needed to fit a model; give both, or a saved table instead of the model.")
    data = as_data(X, y, **columns, missing_target=missing_target)
    return with_copies(data if picks_columns(model) else without_identifiers(data), duplicates)


def _read_named(path: str | PathLike[str], given: Mapping[str, Any], missing_target: str, keep_names: bool) -> Data:
    """Read a file whose columns are given by name."""
    for role in ("y", "groups", "sample_weight", "time", "ids"):
        if given[role] is not None and not isinstance(given[role], str):
            raise InputError(f"X is the path {str(path)!r}, so {role} must be the name of one of its columns.")
    return read(
        path,
        given["y"],
        groups=given["groups"],
        weights=given["sample_weight"],
        time=given["time"],
        ids=given["ids"],
        positive=given["positive"],
        task=given["task"],
        missing_target=missing_target,
        keep_names=keep_names,
    )


# transformers that pick columns by name, or do with them what nobody can see
PICKS_COLUMNS = frozenset({"ColumnTransformer", "FunctionTransformer", "TableVectorizer", "DataFrameMapper"})
KNOWN_MAKERS = frozenset({"sklearn", "xgboost", "lightgbm", "imblearn", "unseen"})


def picks_columns(model: Any) -> bool:
    """Say whether a model may refer to columns by their names; those of the catalogue and plain scikit-learn ones do not.

    Examples
    --------
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> picks_columns(LogisticRegression()), picks_columns(make_pipeline(make_column_transformer(("drop", ["id"]))))
    (False, True)
    """
    if isinstance(model, str):
        return False
    if isinstance(model, Mapping):
        return any(map(picks_columns, model.values()))
    if not hasattr(model, "get_params") or isinstance(model, type):
        return True
    parts = [model, *(v for v in all_parameters(model).values() if hasattr(v, "fit") or hasattr(v, "get_params"))]
    return any(
        type(one).__name__ in PICKS_COLUMNS or type(one).__module__.partition(".")[0] not in KNOWN_MAKERS
        for one in parts
    )


def task_of(fitted: Any, X: Any, task: Any) -> Any:
    """Return the task as given; for raw columns without one, classification if the trained model is a classifier."""
    known = task is not None or isinstance(X, Data)
    return task if known or not hasattr(fitted, "classes_") else "classification"


def measure_kind(loss: Any) -> Any:
    """Return the class of a measure named by id, or the measure itself if an object such as `Cost(costs)` was given."""
    loss = resolve_measure(loss)
    if isinstance(loss, str):
        return find(loss, "measures")
    declare(type(loss))
    return loss


def one_measure_of(loss: Any, measure: Any = None, scoring: Any = None) -> Any:
    """Return the one measure that a call asks for, as this package takes it: `loss`, or what stands in its place.

    Examples
    --------
    >>> one_measure_of("auto"), one_measure_of("auto", scoring="neg_log_loss")
    ('auto', 'log-loss')
    """
    given = {
        "measure": measure,
        "scoring": scoring,
        **({} if isinstance(loss, str) and loss == "auto" else {"loss": loss}),
    }
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)} say what is measured; give one of them.")
    return resolve_measure(given[named[0]] if named else loss)


def needs_scores(loss: Any) -> bool:
    """Say whether a loss or measure needs scores."""
    return not (isinstance(loss, str) and loss == "auto") and bool(measure_kind(loss).needs_score)


def model_of(model: Any, data: Data, name: str = "") -> Model:
    """Return a model for a name of the catalogue or an object with fit and predict; `name` is what it is called in results."""
    if isinstance(model, str):
        from unseen.models.named import named_model

        return as_model(named_model(model, data), data, name or model)
    return as_model(model, data, name)


def fitted_of(model: Any, data: Data) -> Fitted:
    """Return something already trained as it is, never to be refitted."""
    return as_fitted(model, data.classes, data.sample_shape)


def plan_of(design: Any, data: Data, seed: int) -> Plan:
    """Return the plan a design draws for a seed: the same seed gives the same splits to every model."""
    result: Plan = design.plan(data, stream(seed, "plan", design.id))
    return result
