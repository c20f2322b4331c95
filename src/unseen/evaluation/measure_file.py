"""Measures of a file of predictions, and cost matrices kept in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.datasets.frames import read_frame
from unseen.evaluation.measure import measure
from unseen.evaluation.measure_record import Measures
from unseen.evaluation.prediction_files import column, labels_of, lacking, numbers

__all__ = ["costs_of", "measure_file"]


def measure_file(
    file: Any,
    *,
    truth: str | Sequence[str],
    score: Sequence[str] | None = None,
    pred: str | Sequence[str] | None = None,
    costs: Any = None,
    cluster: str | None = None,
    weights: str | None = None,
    sep: str | None = None,
    **options: Any,
) -> Measures:
    """Measure the predictions in a file; `score` and `pred` name columns, the rest is as in `unseen.measure`.

    Several columns of truth, `["a", "b"]` or "a,b", are several outputs, with as many predictions in `pred` or `score`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": ["a", "b", "a", "b"], "p": [0.1, 0.9, 0.6, 0.7]})
    >>> measure_file(frame, truth="y", score=["p"])["sensitivity"].value
    1.0
    """
    if not score and pred is None:
        raise InputError("say what the file holds: score (one column, or one per class), or pred, or both.")
    frame = read_frame(file, [cluster] if cluster else [], sep)
    name = Path(file).name if isinstance(file, (str, PathLike)) else "the frame"
    ids = np.arange(1, len(frame) + 1).astype(object)
    shared: dict[str, Any] = {
        "groups": None if cluster is None else _whole(frame, cluster, name).astype(str),
        "sample_weight": None
        if weights is None
        else _numbers(column(frame, weights, name), f"{name}: {weights!r}", ids),
    }
    title, truths, decided = f"Measures of {name}", _names(frame, truth), [] if pred is None else _names(frame, pred)
    if len(truths) > 1:
        made = _of_outputs(frame, name, ids, truths, [*decided, *(score or ())], costs=costs, **shared, **options)
        return replace(made, title=title)
    if len(decided) > 1:
        raise InputError(f"one column of truth and {len(decided)} of predictions; name as many columns of truth.")
    y = _whole(frame, truths[0], name)
    said = _whole(frame, decided[0], name) if decided else None
    values = None
    if score:
        values = np.stack([_numbers(column(frame, c, name), f"{name}: {c!r}", ids) for c in score], axis=1)
    y, said = _alike(y, said)
    given = (values[:, 0] if values is not None and values.shape[1] == 1 else values) if score else said
    made = measure(
        y,
        given,
        y_pred=said if score else None,
        costs=None if costs is None else costs_of(costs, np.unique(y)),
        **shared,
        **options,
    )
    return replace(made, title=title)


def _names(frame: Any, given: str | Sequence[str]) -> list[str]:
    """Return the columns meant: one whose name may hold a comma, or several separated by commas."""
    if not isinstance(given, str):
        return list(given)
    return [given] if given in frame.columns else given.split(",")


def _of_outputs(
    frame: Any, file: str, ids: Array, truths: list[str], said: list[str], task: str | None = None, **options: Any
) -> Measures:
    """Measure several numbers per case."""
    import pandas as pd

    if len(said) != len(truths):
        raise InputError(
            f"{len(truths)} columns of truth ({', '.join(truths)}) need as many predictions, in the same order; "
            f"{len(said)} {'was' if len(said) == 1 else 'were'} named{': ' + ', '.join(said) if said else ''}."
        )
    if task == "classification":
        raise InputError("several columns of truth are several outputs, which are numbers; name one column of labels.")
    y, given = (
        pd.DataFrame({c: _numbers(column(frame, c, file), f"{file}: {c!r}", ids) for c in names})
        for names in (truths, said)
    )
    return measure(y, given, **options)


def _numbers(values: Array, what: str, ids: Array) -> Floats:
    """Return finite numbers, or say which row is not one."""
    return numbers(values, what, ids, "mend these rows, or take them out of the file")


def _whole(frame: Any, name: str, file: str) -> Array:
    """Return a column without gaps."""
    values = column(frame, name, file)
    lost = lacking(values)
    if lost.any():
        raise InputError(
            f"{file}: {name!r} is missing in {int(lost.sum())} rows (first: row {int(np.argmax(lost)) + 1})."
        )
    return values


def _alike(y: Array, said: Array | None) -> tuple[Array, Array | None]:
    """Return numbers as numbers, else labels written alike in both columns."""
    columns = [y] if said is None else [y, said]
    if all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for c in columns for v in c):
        plain = [c.astype(float) for c in columns]
        if all(np.all(c == np.round(c)) for c in plain):
            plain = [c.astype(np.int64) for c in plain]
        return plain[0], None if said is None else plain[1]
    labels = labels_of(columns)
    made = [labels.classes[codes] for codes in labels.codes]
    return made[0], None if said is None else made[1]


def costs_of(source: Any, classes: Array) -> Floats:
    """Return a cost matrix in the order of the classes, from a file or a frame with labels in its head and first column.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"truth": ["b", "a"], "b": [0, 1], "a": [5, 0]})
    >>> costs_of(frame, np.array(["a", "b"])).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    if not isinstance(source, (str, PathLike)) and not hasattr(source, "columns"):
        return np.asarray(source, dtype=float)
    frame = read_frame(source)
    wanted = [str(c) for c in classes]
    first = frame.columns[0]
    rows = labels_of([frame[first].astype(object).to_numpy()])
    found = [str(v) for v in rows.classes[rows.codes[0]]]
    heads = {str(c): c for c in frame.columns[1:]}
    missing = [c for c in wanted if c not in heads or c not in found]
    if missing or len(heads) != len(wanted) or len(found) != len(wanted):
        raise InputError(
            f"the cost matrix must name each class once in its head and in its first column; classes: {', '.join(wanted)}; "
            f"head: {', '.join(heads)}; first column: {', '.join(found)}."
        )
    ids = np.array(found, dtype=object)
    columns = {c: _numbers(frame[heads[c]].astype(object).to_numpy(), f"costs of deciding {c!r}", ids) for c in wanted}
    return np.array([[columns[c][found.index(r)] for c in wanted] for r in wanted])
