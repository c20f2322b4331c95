"""`unseen.disagree`: compare two classifiers on unlabelled points, then label only where they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import check_level
from unseen.core.notes import Note, note
from unseen.core.rng import RandomState, root_seed, stream
from unseen.datasets.frames import read_frame
from unseen.evaluation.disagreement import file_interval, population_interval
from unseen.evaluation.disagreement_record import REQUEST_COLUMNS, Disagreement, LabelledDisagreement
from unseen.evaluation.prediction_files import column, join, labels_of, lacking, named

__all__ = ["disagree", "from_rows"]

IDS = ("id", "item", "name", "key", "uid")
PREDICTIONS = ("pred", "prediction", "yhat", "y_pred", "y_hat", "predicted", "label", "class", "answer")
MAX_NUMBERS = 50
FEW_LABELS = 30


def disagree(
    a: Any = None,
    b: Any = None,
    *,
    labelled: Any = None,
    pred: str | None = None,
    id: str | None = None,
    budget: int | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    sep: str | None = None,
    random_state: RandomState = 0,
) -> Disagreement | LabelledDisagreement:
    """Find where two classifiers disagree and which of those points to label; or say what the labels mean.

    The share p of points on which two classifiers disagree needs no labels, bounds the difference of their accuracies,
    and A1 - A2 = p Delta, where Delta is their difference on the disagreements alone, estimated from labels of a random
    sample of them.

    Parameters
    ----------
    a, b : paths or data frames, or sequences of labels
        Predictions of the two classifiers for the same points.
    labelled : path or data frame, optional
        Instead: a request written by `Disagreement.write` with its column `label` filled in.
    pred, id : str, optional
        Columns with the predicted label and the name of the point; found by their usual names by default. Without
        names, rows are paired by place.
    budget : int, optional
        Number of disagreements to label; all of them by default.
    names : sequence of str, optional
        Names of the two classifiers.
    level : float
        Confidence level.
    sep : str, optional
        Field separator of text files; found by default.
    random_state : int
        Seed of the sample.

    Returns
    -------
    Disagreement or LabelledDisagreement

    Examples
    --------
    >>> import unseen
    >>> first, second = ["u"] * 100, ["u"] * 80 + ["v"] * 20
    >>> d = unseen.disagree(first, second, budget=10)
    >>> d.share, len(d.request), d.saved
    (0.2, 10, 90)
    >>> d.labelled({key: "u" for key, _, _ in d.request}).difference
    0.2
    """
    check_level(level)
    if labelled is not None:
        if a is not None or b is not None:
            raise InputError("disagree: give two files of predictions, or a labelled request; not both.")
        return _read_labelled(labelled, level, sep)
    if a is None or b is None:
        raise InputError("disagree: give the predictions of two classifiers, or labelled= for a request with labels.")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, (int, np.integer)) or budget < 1):
        raise InputError(f"disagree: budget is {budget!r}; the number of labels is a whole number of at least 1.")
    files = named([_as_source(a), _as_source(b)], names)
    frames = {name: read_frame(one, IDS if id is None else [id], sep) for name, one in files.items()}
    key = id if id is not None else _usual(frames, IDS)
    joined = join(frames, key)
    columns = []
    for file, frame in frames.items():
        values = column(frame, _prediction_column(frame, pred, key, file), file)[joined.rows[file]]
        lost = lacking(values)
        if lost.any():
            raise InputError(
                f"{file}: {int(lost.sum())} predictions are missing (first: {joined.ids[np.argmax(lost)]!r})."
            )
        columns.append(values)
    _refuse_numbers(columns)
    labels = labels_of(columns)
    first, second = labels.codes
    where = np.flatnonzero(first != second)
    size = len(where) if budget is None else min(int(budget), len(where))
    drawn = stream(root_seed(random_state), "disagree").permutation(where)[:size]
    request = tuple((joined.ids[k], str(labels.classes[first[k]]), str(labels.classes[second[k]])) for k in drawn)
    name_a, name_b = frames
    return Disagreement(
        first=name_a,
        second=name_b,
        n=len(first),
        n_disagree=len(where),
        n_classes=len(labels.classes),
        request=request,
        level=level,
        notes=joined.notes,
    )


def _as_source(values: Any) -> Any:
    """Return a path or frame as it is, and a plain sequence of labels as a frame."""
    if isinstance(values, (str, PathLike)) or hasattr(values, "columns"):
        return values
    import pandas as pd

    return pd.DataFrame({"pred": np.asarray(values, dtype=object)})


def _usual(frames: dict[str, Any], usual: Sequence[str]) -> str | None:
    return next((name for name in usual if all(name in frame.columns for frame in frames.values())), None)


def _prediction_column(frame: Any, pred: str | None, id: str | None, file: str) -> str:
    if pred is not None:
        return pred
    rest = [str(c) for c in frame.columns if c != id]
    usual = [c for c in PREDICTIONS if c in rest]
    if usual:
        return usual[0]
    if len(rest) == 1:
        return rest[0]
    raise UnknownName(f"column of predictions in {file}", "(none given)", rest, "Name it with pred.")


def _refuse_numbers(columns: list[Any]) -> None:
    values = np.concatenate(columns)
    if all(isinstance(v, (float, np.floating)) for v in values) and len(set(values.tolist())) > MAX_NUMBERS:
        raise InputError(
            "the predictions are numbers with many values; disagreement is about labels. For numbers compare losses "
            "with unseen.predictions."
        )


def _read_labelled(source: Any, level: float, sep: str | None) -> LabelledDisagreement:
    frame = read_frame(source, ["id", "first", "second", "label", "first_name", "second_name"], sep)
    called = str(source) if isinstance(source, (str, PathLike)) else "the frame"
    lost = [name for name in REQUEST_COLUMNS if name not in frame.columns]
    if lost:
        raise InputError(
            f"{called} is no request written by unseen disagree: it lacks {', '.join(map(repr, lost))}; keep all columns "
            "and fill in 'label'."
        )
    columns = {name: column(frame, name, called) for name in REQUEST_COLUMNS}
    return from_rows([dict(zip(columns, values)) for values in zip(*columns.values())], level, called)


def from_rows(rows: list[dict[str, Any]], level: float, called: str) -> LabelledDisagreement:
    """Return what the labelled rows of a request say."""
    n, differ, n_classes = (_same(rows, name, called) for name in ("n_points", "n_disagree", "n_classes"))
    ids = [str(row["id"]) for row in rows]
    if len(set(ids)) < len(ids):
        raise InputError(f"{called}: an id stands in several rows; every requested point is labelled once.")
    there = ~lacking(np.array([row["label"] for row in rows], dtype=object))
    if not there.any():
        raise InputError(f"{called}: the column 'label' is empty; fill in the true labels of at least some rows.")
    done = [row for row, filled in zip(rows, there) if filled]
    labels = labels_of([np.array([row[k] for row in done], dtype=object) for k in ("first", "second", "label")])
    first, second, true = labels.codes
    if np.any(first == second) or not 1 <= len(rows) <= differ <= n:
        raise InputError(f"{called}: the rows are not a sample of {differ} disagreements; the file was changed.")
    right = int((true == first).sum()), int((true == second).sum())
    wrong = len(done) - sum(right)
    two = n_classes <= 2 and wrong == 0
    counts = (*right, len(done), differ, n, level, two)
    return LabelledDisagreement(
        first=str(rows[0]["first_name"]),
        second=str(rows[0]["second_name"]),
        n=n,
        n_disagree=differ,
        first_right=right[0],
        second_right=right[1],
        both_wrong=wrong,
        two_classes=two,
        interval=file_interval(*counts),
        population=population_interval(*counts),
        notes=_remarks(len(done), len(rows), wrong, n_classes),
    )


def _same(rows: list[dict[str, Any]], name: str, called: str) -> int:
    try:
        values = {int(float(row[name])) for row in rows}
    except (TypeError, ValueError) as error:
        raise InputError(f"{called}: {name!r} must hold one whole number, the same in every row.") from error
    if len(values) != 1:
        raise InputError(f"{called}: {name!r} differs between rows; the rows come from different requests.")
    return values.pop()


def _remarks(done: int, asked: int, wrong: int, n_classes: int) -> tuple[Note, ...]:
    notes = []
    if done < asked:
        text = f"{asked - done} of {asked} requested rows have no label; the labelled ones are taken for a random part"
        notes.append(note("U016", text))
    if n_classes <= 2 and wrong:
        notes.append(note("U016", f"{wrong} labels are neither prediction, so more than two classes are allowed for"))
    if done < FEW_LABELS:
        notes.append(note("U009", f"only {done} labels"))
    return tuple(notes)
