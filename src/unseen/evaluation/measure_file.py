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
from unseen.core.rng import RandomState
from unseen.datasets.frames import read_frame
from unseen.evaluation.measure import measure
from unseen.evaluation.measure_record import Measures
from unseen.evaluation.prediction_files import column, is_missing, labels_of, numbers
from unseen.evaluation.slice_columns import columns_by_lookup

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
    by: str | Sequence[str] | None = None,
    sep: str | None = None,
    positive: Any = None,
    threshold: float | None = None,
    prevalence: float | None = None,
    measures: Sequence[Any] | None = None,
    stratified: bool | None = None,
    task: str | None = None,
    level: float = 0.95,
    n_bootstrap: int = 2000,
    random_state: RandomState = 0,
) -> Measures:
    """Measure the predictions in a file.

    Parameters
    ----------
    file : path or data frame
        CSV, TSV, Parquet or JSON Lines.
    truth : str or sequence of str
        Column with the true labels or numbers. Several, `["a", "b"]` or "a,b", are several outputs, with as many predictions
        in `pred` or `score`.
    score, pred : str or sequence of str, optional
        Columns with scores and with decisions; one of the two is needed.
    costs : matrix, path or data frame, optional
        Cost of each decision, see `costs_of`.
    cluster, weights : str, optional
        Columns that name what cases share and hold their weights.
    by : str or sequence of str, optional
        Columns to slice by: "site", "site,sex" (both), "site*sex" (crossed), "age:4" (quarters of a number).
    sep : str, optional
        Field separator of a text file; found by default.
    positive, threshold, prevalence, measures, stratified, task, level, n_bootstrap, random_state
        As in `unseen.measure`.

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
    options: dict[str, Any] = {
        "positive": positive,
        "threshold": threshold,
        "prevalence": prevalence,
        "measures": measures,
        "stratified": stratified,
        "level": level,
        "n_bootstrap": n_bootstrap,
        "random_state": random_state,
        "groups": None if cluster is None else _complete_column(frame, cluster, name).astype(str),
        "sample_weight": None
        if weights is None
        else _numbers(column(frame, weights, name), f"{name}: {weights!r}", ids),
        "by": None if by is None else _slice_columns(frame, name, by),
    }
    title, truths, decided = f"Measures of {name}", _names(frame, truth), [] if pred is None else _names(frame, pred)
    if len(truths) > 1:
        if task == "classification":
            raise InputError(
                "several columns of truth are several outputs, which are numbers; name one column of labels."
            )
        y, given = _output_frames(frame, name, ids, truths, [*decided, *(score or ())])
        made = measure(y, given, costs=costs, **options)
        return replace(made, title=title)
    if len(decided) > 1:
        raise InputError(f"one column of truth and {len(decided)} of predictions; name as many columns of truth.")
    y = _complete_column(frame, truths[0], name)
    predicted = _complete_column(frame, decided[0], name) if decided else None
    values = None
    if score:
        values = np.stack([_numbers(column(frame, c, name), f"{name}: {c!r}", ids) for c in score], axis=1)
    y, predicted = _same_labels(y, predicted)
    given = (values[:, 0] if values is not None and values.shape[1] == 1 else values) if score else predicted
    made = measure(
        y,
        given,
        y_pred=predicted if score else None,
        costs=None if costs is None else costs_of(costs, np.unique(y)),
        task=task,
        **options,
    )
    return replace(made, title=title)


def _slice_columns(frame: Any, file: str, by: str | Sequence[str]) -> dict[str, Array]:
    names = [by] if isinstance(by, str) else list(by)
    known = [str(c) for c in frame.columns]
    return columns_by_lookup(names, lambda name: column(frame, name, file) if name in frame.columns else None, known)


def _names(frame: Any, given: str | Sequence[str]) -> list[str]:
    """Return the columns meant: one whose name may hold a comma, or several separated by commas."""
    if not isinstance(given, str):
        return list(given)
    return [given] if given in frame.columns else given.split(",")


def _output_frames(frame: Any, file: str, ids: Array, truths: list[str], predicted: list[str]) -> tuple[Any, Any]:
    """Return truth and predictions of several numbers per case, a column per output."""
    import pandas as pd

    if len(predicted) != len(truths):
        raise InputError(
            f"{len(truths)} columns of truth ({', '.join(truths)}) need as many predictions, in the same order; "
            f"{len(predicted)} {'was' if len(predicted) == 1 else 'were'} named{': ' + ', '.join(predicted) if predicted else ''}."
        )
    y, given = (
        pd.DataFrame({c: _numbers(column(frame, c, file), f"{file}: {c!r}", ids) for c in names})
        for names in (truths, predicted)
    )
    return y, given


def _numbers(values: Array, what: str, ids: Array) -> Floats:
    """Return finite numbers, or say which row is not one."""
    return numbers(values, what, ids, "mend these rows, or take them out of the file")


def _complete_column(frame: Any, name: str, file: str) -> Array:
    """Return a column without gaps."""
    values = column(frame, name, file)
    lost = is_missing(values)
    if lost.any():
        raise InputError(
            f"{file}: {name!r} is missing in {int(lost.sum())} rows (first: row {int(np.argmax(lost)) + 1})."
        )
    return values


def _same_labels(y: Array, predicted: Array | None) -> tuple[Array, Array | None]:
    """Return numbers as numbers, else labels written alike in both columns."""
    columns = [y] if predicted is None else [y, predicted]
    if all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for c in columns for v in c):
        plain = [c.astype(float) for c in columns]
        if all(np.all(c == np.round(c)) for c in plain):
            plain = [c.astype(np.int64) for c in plain]
        return plain[0], None if predicted is None else plain[1]
    labels = labels_of(columns)
    made = [labels.classes[codes] for codes in labels.codes]
    return made[0], None if predicted is None else made[1]


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
