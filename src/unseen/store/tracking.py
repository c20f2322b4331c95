"""Experiment trackers by entry point: an adapter is a function of a result and a run."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from unseen.core.errors import UnknownName

__all__ = ["GROUP", "track"]

GROUP = "unseen.trackers"


def track(result: Any, tracker: str = "mlflow", run: Any = None) -> Any:
    """Hand a result to the adapter of a tracker and return what it returns.

    Parameters
    ----------
    result : Result
        What is logged.
    tracker : str
        Name of the adapter.
    run : optional
        The run to add to; the adapter's own choice by default.

    Examples
    --------
    >>> try:
    ...     track(None, "notebook")
    ... except UnknownName as error:
    ...     print(error)
    unknown tracker 'notebook': known: mlflow.
    """
    found: dict[str, Any] = {point.name: point for point in entry_points(group=GROUP)}
    if tracker in found:
        return found[tracker].load()(result, run)
    if tracker == "mlflow":  # a source tree that was not installed has no entry points
        from unseen.store.mlflow_run import log_result

        return log_result(result, run)
    raise UnknownName("tracker", tracker, {*found, "mlflow"})
