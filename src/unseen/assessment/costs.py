"""A cost matrix in a file as what assess and compare measure by, and a model whose threshold costs least."""

from __future__ import annotations

from typing import Any

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.model import Model
from unseen.evaluation.measure_file import costs_of
from unseen.measures.costs import Cost
from unseen.models.sklearn import as_model

__all__ = ["cheapest_threshold", "measure_of"]


def measure_of(measure: Any, costs: Any, data: Data) -> Any:
    """Return the measure to use: the one named, or the cost by a matrix from a file, a frame or an array.

    Examples
    --------
    >>> import pandas as pd, unseen
    >>> costs = pd.DataFrame({"truth": ["benign", "malignant"], "benign": [0, 9], "malignant": [1, 0]})
    >>> measure_of("auto", costs, unseen.datasets.load("breast-cancer")).costs
    ((0.0, 1.0), (9.0, 0.0))
    """
    if costs is None:
        return measure
    if measure not in ("auto", "cost"):
        raise InputError(f"costs were given, and the measure is {measure}; leave one of them out.")
    if data.classes is None:
        raise InputError("costs are of decisions between classes, and this is regression; leave them out.")
    return Cost(costs_of(costs, data.classes))


def cheapest_threshold(model: str, data: Data, cost: Any) -> Model:
    """Return a named model that decides at the threshold that costs least on its own training part.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.datasets.load("breast-cancer")
    >>> cheapest_threshold("naive-bayes", data, Cost([[0, 1], [9, 0]])).name
    'naive-bayes at its cheapest threshold'
    """
    from unseen.models.named import named_model
    from unseen.models.threshold import UtilityThreshold

    if data.classes is None or len(data.classes) != 2:
        raise InputError("a threshold is chosen between two classes; leave it out for more classes and for numbers.")
    wrapped = UtilityThreshold(named_model(model, data), costs=getattr(cost, "costs", None), random_state=0)
    return as_model(wrapped, data, f"{model} at its cheapest threshold")
