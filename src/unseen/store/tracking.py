"""Experiment trackers by entry point: an adapter is a function of a result and a run."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

from unseen.core.errors import MissingExtra, UnknownName

__all__ = ["GROUP", "check_tracker", "track"]

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
    return _adapter(tracker)(result, run)


def check_tracker(tracker: str, run: str | None = None) -> None:
    """Refuse a tracker that has no adapter, whose package is not installed or whose place is out of reach, before any work is done."""
    _adapter(tracker)
    if tracker != "mlflow":
        return
    if find_spec("mlflow") is None:
        raise MissingExtra("mlflow", "mlflow", "logging to MLflow")
    from unseen.store.mlflow_run import check_place

    check_place(run)


def _adapter(tracker: str) -> Callable[[Any, Any], Any]:
    found: dict[str, Any] = {point.name: point for point in entry_points(group=GROUP)}
    if tracker in found:
        made: Callable[[Any, Any], Any] = found[tracker].load()
        return made
    if tracker == "mlflow":  # a source tree that was not installed has no entry points
        from unseen.store.mlflow_run import log_result

        return log_result
    raise UnknownName("tracker", tracker, {*found, "mlflow"})
