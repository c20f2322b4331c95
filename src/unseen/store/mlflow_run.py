"""Results in MLflow: every value as a metric with its limits, the settings as tags, the report and the table as artifacts."""

from __future__ import annotations

import math
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError, MissingExtra, NotWritten

__all__ = ["check_place", "log_result", "metrics_of"]

LONGEST_TAG = 500  # characters that every store of MLflow takes


def metrics_of(result: Any) -> dict[str, float]:
    """Return the numbers of a result by name: value, standard error and limits of each row of its table.

    The first row of each measure, such as the headline, has the plain names: `auc`, `auc.lower`, `auc.upper`. The others have
    their method before it, and files and pairs always have theirs.

    Examples
    --------
    >>> import unseen
    >>> a = unseen.assess("lda", unseen.datasets.load("iris"), cv=10, random_state=0)
    >>> sorted(metrics_of(a))[-4:]
    ['zero-one', 'zero-one.lower', 'zero-one.std_error', 'zero-one.upper']
    """
    found: dict[str, float] = {}
    files = result.by_file() if hasattr(result, "by_file") else []
    named: set[str] = set()
    for k, row in enumerate([*files, *result.rows()]):
        pair = f"{row['a']} - {row['b']}" if "a" in row and "b" in row else ""
        term = str(row.get("measure") or row.get("term") or ("difference" if pair else type(result).__name__))
        source = row.get("file") or pair
        name = term if not source and term not in named else f"{source or row.get('method') or k}.{term}"
        named.add(term)
        value = row.get("estimate", row.get("difference", row.get("value")))
        for ending, number in (("", value), *((f".{key}", row.get(key)) for key in ("lower", "upper", "std_error"))):
            if isinstance(number, (int, float)) and not isinstance(number, bool) and math.isfinite(number):
                found[_name(f"{name}{ending}")] = float(number)
    for name, e in getattr(result, "also", {}).items():
        shown = e.on_scale()
        found[_name(name)] = shown.value
        if shown.interval is not None:
            found[_name(f"{name}.lower")], found[_name(f"{name}.upper")] = shown.interval
    return found


def _name(text: str) -> str:
    """Return a name that MLflow takes: letters, digits, underscores, dashes, dots, spaces and slashes."""
    return re.sub(r"[^\w\-. /]", "_", text)


def log_result(result: Any, run: Any = None) -> str:
    """Log a result to an MLflow run and return the id of the run.

    Parameters
    ----------
    result : Result
        What `assess`, `compare`, `measure` and others return.
    run : str, optional
        Id of a run; the active run by default, or a new one if none is active.
    """
    try:
        import mlflow
    except ModuleNotFoundError as error:
        raise MissingExtra("mlflow", "mlflow", "logging to MLflow") from error
    active = mlflow.active_run()
    try:
        if run is None and active is not None:
            _log(mlflow, result)
            return str(active.info.run_id)
        with mlflow.start_run(run_id=run, nested=active is not None) as opened:
            _log(mlflow, result)
            return str(opened.info.run_id)
    except mlflow.exceptions.MlflowException as error:
        raise NotWritten(f"MLflow did not take the result. It says: {_one_line(error)}") from error


def check_place(run: str | None = None) -> None:
    """Refuse a place that MLflow does not write to, and a run that is not there, before any work is done.

    Parameters
    ----------
    run : str, optional
        Id of a run; by default the one that the environment variable MLFLOW_RUN_ID names, if it does.
    """
    import mlflow

    run = run or os.environ.get("MLFLOW_RUN_ID")
    try:
        client = mlflow.MlflowClient()
        if run is not None:
            client.get_run(run)
    except mlflow.exceptions.MlflowException as error:
        wanted = "a result" if run is None else f"a result in the run {run!r}"
        raise InputError(f"MLflow cannot keep {wanted}. It says: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _log(mlflow: Any, result: Any) -> None:
    mlflow.log_metrics(metrics_of(result))
    about = {"kind": type(result).__name__, "answer": repr(result)}
    settings = getattr(result, "settings", {})
    about |= {name: str(settings[name]) for name in ("seed", "level", "data_fingerprint") if name in settings}
    if command := getattr(result, "command", ""):
        about["repeat"] = str(command)
    if hasattr(result, "model"):
        about["model"] = str(result.model)
    mlflow.set_tags({f"unseen.{name}": text[:LONGEST_TAG] for name, text in about.items()})
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        result.report(place / "report.html")
        result.frame().to_csv(place / "table.csv", index=False)
        (place / "result.json").write_text(result.to_json(), encoding="utf-8")
        mlflow.log_artifacts(str(place), artifact_path="unseen")
