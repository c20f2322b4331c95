"""Tables of predictions made from columns: labels, numbers or probabilities beside the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data, Task, fingerprint_of
from unseen.core.errors import InputError, UnknownName
from unseen.core.losses import Predictions, PredictionTable
from unseen.core.notes import Note, note
from unseen.core.plan import Plan, Split
from unseen.core.registry import find
from unseen.evaluation.prediction_files import labels_of, numbers

__all__ = ["one_test_set", "tables_of"]

MAX_WHOLE_NUMBER_CLASSES = 20


def one_test_set(data: Data) -> Plan:
    """Return the plan of predictions made elsewhere: one test set, nothing trained."""
    return Plan("holdout", (Split(np.zeros(0, np.int64), np.arange(data.n)),), data.units, options={"source": "files"})


def tables_of(
    y: Array,
    picked: Mapping[str, Mapping[str, Array]],
    pred: str | None,
    prob: tuple[str, ...],
    measure: str,
    positive: Any,
    groups: Ints | None,
    ids: Array,
    seed: int,
) -> tuple[dict[str, PredictionTable], tuple[Note, ...]]:
    """Return one table per file, all over the same classes, with remarks on labels that never occur as truth."""
    columns = [] if pred is None else [parts[pred] for parts in picked.values()]
    if _task(measure, y, columns, prob) == "regression":
        return _of_numbers(y, picked, str(pred), groups, ids, seed), _perhaps_probabilities(measure, y, columns)
    labels = labels_of([y, *columns])
    true = labels.codes[0]
    classes = labels.classes
    data = Data(
        None,
        classes[true],
        "classification",
        classes,
        groups=groups,
        ids=ids,
        positive=_positive(positive, classes, true),
        fingerprint=fingerprint_of(ids, classes[true]),
    )
    remarks: list[Note] = []
    tables = {}
    for k, (file, parts) in enumerate(picked.items()):
        score = _probabilities(parts, prob, data, file, ids, np.unique(true)) if prob else None
        value = labels.codes[k + 1] if pred is not None else np.argmax(score, axis=1)  # type: ignore[arg-type]
        remarks += _strange(value, true, classes, file)
        tables[file] = _table(data, value, score, file, seed)
    return tables, tuple(remarks)


def _task(measure: str, y: Array, columns: list[Array], prob: tuple[str, ...]) -> Task:
    if measure != "auto":
        kind = find(measure, "measures").task
        if kind in ("classification", "regression"):
            return kind  # type: ignore[no-any-return]
    if prob:
        return "classification"
    values = np.concatenate([y, *columns])
    if not all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in values):
        return "classification"
    plain = values.astype(float)
    whole = np.all(plain == np.round(plain)) and len(np.unique(plain)) <= MAX_WHOLE_NUMBER_CLASSES
    return "classification" if whole else "regression"


def _perhaps_probabilities(measure: str, y: Array, columns: list[Array]) -> tuple[Note, ...]:
    """Remark on predictions between two true values, which are more likely probabilities than numbers."""
    values = np.concatenate(columns).astype(float)
    if measure != "auto" or set(y.astype(float)) != {0.0, 1.0} or values.min() < 0 or values.max() > 1:
        return ()
    text = (
        "the truth is 0 or 1 and predictions lie between: taken as numbers with squared error; probabilities go in prob"
    )
    return (note("U016", text),)


def _of_numbers(
    y: Array, picked: Mapping[str, Mapping[str, Array]], pred: str, groups: Ints | None, ids: Array, seed: int
) -> dict[str, PredictionTable]:
    true = numbers(y, "the truth", ids)
    data = Data(None, true, "regression", groups=groups, ids=ids, fingerprint=fingerprint_of(ids, true))
    return {
        file: _table(data, numbers(parts[pred], f"{file}: {pred!r}", ids), None, file, seed)
        for file, parts in picked.items()
    }


def _table(data: Data, value: Array, score: Floats | None, file: str, seed: int) -> PredictionTable:
    rows = np.arange(data.n)
    kind = None if score is None else "probability"
    test = Predictions(split=np.zeros(data.n, np.int64), row=rows, value=value, score=score)
    return PredictionTable(plan=one_test_set(data), data=data, test=test, score_kind=kind, model=file, seed=seed)


def _positive(positive: Any, classes: Array, true: Ints) -> Any:
    if positive is None:
        return classes[np.unique(true)[-1]].item()
    if str(positive) not in classes.tolist():
        raise UnknownName("class for positive", positive, map(str, classes))
    return str(positive)


def _probabilities(
    parts: Mapping[str, Array], prob: tuple[str, ...], data: Data, file: str, ids: Array, seen: Ints
) -> Floats:
    """Return probabilities in the order of the classes, from one column (two classes) or one per class."""
    assert data.classes is not None
    values = np.stack([numbers(parts[name], f"{file}: {name!r}", ids) for name in prob], axis=1)
    if values.min() < 0 or values.max() > 1:
        raise InputError(f"{file}: {', '.join(prob)} holds values outside [0, 1], which are no probabilities.")
    out = np.zeros((data.n, len(data.classes)))
    if len(prob) == 1:
        if len(seen) > 2 or len(data.classes) > 2:
            raise InputError(
                f"{file}: one column of probabilities serves two classes, and there are {len(data.classes)}; "
                "give one column per class, in sorted order of the labels."
            )
        place = data.classes.tolist().index(data.positive)
        out[:, place] = values[:, 0]
        if len(data.classes) == 2:
            out[:, 1 - place] = 1 - values[:, 0]
        return out
    if len(prob) != len(data.classes):
        raise InputError(f"{len(prob)} columns of probabilities were given for {len(data.classes)} classes.")
    off = np.abs(values.sum(axis=1) - 1)
    if off.max() > 0.01:
        raise InputError(f"{file}: the probabilities of {ids[np.argmax(off)]!r} do not add up to 1.")
    return values


def _strange(value: Ints, true: Ints, classes: Array, file: str) -> list[Note]:
    known = np.isin(value, np.unique(true))
    if known.all():
        return []
    strange = classes[value[~known]]
    if not known.any():
        raise InputError(
            f"{file}: no predicted label occurs as truth (predicted: {', '.join(np.unique(strange)[:5])}; true: "
            f"{', '.join(classes[np.unique(true)][:5])}); bring both to the same labels."
        )
    text = f"{int((~known).sum())} rows of {file} have labels that never occur as truth (such as {strange[0]}): errors"
    return [note("U016", text)]
