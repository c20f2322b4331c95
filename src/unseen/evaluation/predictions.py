"""`unseen.predictions`: errors and differences of models from files of their predictions; nothing is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.call import Call
from unseen.core.comparison import Comparison
from unseen.core.data import Data, Task, fingerprint_of
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.estimate import Estimate, Target, check_level
from unseen.core.losses import Losses, LossTable, Predictions, PredictionTable
from unseen.core.method import t_interval
from unseen.core.notes import Note, merge_notes, note
from unseen.core.plan import Plan, Split
from unseen.core.registry import build, find
from unseen.core.rng import RandomState, root_seed
from unseen.datasets.frames import read_frame
from unseen.estimators.unit_mean import unit_mean
from unseen.evaluation.measure import measure as measure_cases
from unseen.evaluation.measure_pairs import set_difference, set_estimate
from unseen.evaluation.prediction_files import (
    MatchedRows,
    column,
    is_missing,
    labels_of,
    match_rows,
    numbers,
    sources_by_name,
)
from unseen.evaluation.prediction_record import PredictionFiles
from unseen.evaluation.slice_columns import columns_by_lookup, slice_rows
from unseen.evaluation.slices import Slices, table_slices
from unseen.measures.scoring import resolve_measure
from unseen.significance.adjust import adjust_p
from unseen.significance.paired import from_estimate

__all__ = ["PairedT", "predictions"]

MISSING = ("error", "drop")
# the first has an interval; the others need fewer assumptions. Wilcoxon's is left out: it tests a shift of the middle, not of the mean
LOSS_TESTS = ("paired-t", "mcnemar", "permutation")
AREA_TESTS = ("delong",)
# as in `unseen.checks.few_units`
FEW_UNITS = 20
# whole numbers with more different values are more likely counts than classes
MAX_WHOLE_NUMBER_CLASSES = 20
# probabilities written with two digits may miss a sum of 1 by this much
ROUNDING_OF_SHARES = 0.01


@dataclass(frozen=True)
class PairedT:
    """Mean loss of a fixed model, or difference of two, with Student's t over independent units (clusters)."""

    id: ClassVar[str] = "paired-t"
    target: ClassVar[Target] = Target.MODEL
    linear: ClassVar[bool] = True

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean and its t interval, with one degree of freedom less than there are units."""
        mean = unit_mean(table)
        if mean.n_units < 2:
            raise InputError(f"there is {mean.n_units} independent unit; a standard error needs at least 2.")
        few = (note("U009", f"only {mean.n_units} independent units"),) if mean.n_units < FEW_UNITS else ()
        made = t_interval(self, table, mean.value, mean.std_error, level, float(mean.n_units - 1), few)
        return made if table.is_difference else replace(made, method="t-interval")


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """Which column is what."""

    truth: str | None
    pred: str | None
    prob: tuple[str, ...]
    score: str | None
    loss: str | None
    id: str | None
    cluster: str | None


@dataclass(frozen=True)
class _Items:
    """What the rows of all files share: their names and clusters, and the seed of tests that permute."""

    ids: Array
    groups: Ints | None
    seed: int


def predictions(
    *sources: Any,
    truth: str | None = None,
    pred: str | None = None,
    prob: str | Sequence[str] | None = None,
    score: str | None = None,
    loss: str | None = None,
    id: str | None = None,
    cluster: str | None = None,
    by: str | Sequence[str] | None = None,
    measure: Any = "auto",
    positive: Any = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    adjust: str = "holm",
    missing: str = "error",
    sep: str | None = None,
    random_state: RandomState = 0,
) -> PredictionFiles:
    """Estimate the error of models from files of their predictions, and compare them row by row.

    A file holds one row per item: its name, the truth and a prediction; or a loss or score computed elsewhere.

    Parameters
    ----------
    *sources : paths or data frames, or one mapping of name to them
        CSV, TSV, Parquet or JSON Lines files, or frames.
    truth, pred : str, optional
        Columns with the true and the predicted label or number. The truth may stand in one file only.
    prob : str or sequence of str, optional
        Column with the probability of the positive class, or one column per class in sorted order of the labels.
    score, loss : str, optional
        Column with a number per item instead: higher is better, or lower is better. A score s in [0, 1] becomes the
        loss 1 - s, any other -s.
    id : str, optional
        Column that names the item; rows of several files are matched by it.
    cluster : str, optional
        Column that names what items share (a topic, a patient): clusters are then the independent units.
    by : str or sequence of str, optional
        Columns to slice the items by: "site", "site,sex" (both), "site*sex" (crossed), "age:4" (quarters of a number). `slices`
        then has each file's error, and each difference of two, in every slice, with intervals that hold together.
    measure : str, measure, scorer or function
        Id of a loss or measure; "auto" is zero-one for labels and squared error for numbers. "auc" compares areas under ROC curves
        from `prob`, by DeLong's method; the error is one minus the area. Names of scikit-learn's ("f1_macro",
        "neg_mean_absolute_error"), scorers and functions of (y_true, y_pred) get intervals by a bootstrap over units.
    positive : label, optional
        The class that `prob` is about; the last label in sorted order by default.
    names : sequence of str, optional
        Names of the files in the result.
    level : float
        Confidence level.
    adjust : {"holm", "benjamini-hochberg", "none"}
        How p-values are adjusted for the number of pairs.
    missing : {"error", "drop"}
        What to do with rows that lack a value: refuse, or leave them out of all files with a note.
    sep : str, optional
        Field separator of text files; found by default.
    random_state : int
        Seed of the permutation test, used if there are too many exchanges to list.

    Returns
    -------
    PredictionFiles

    References
    ----------
    Miller, E. (2024). Adding error bars to evals: a statistical approach to language model evaluations.
    arXiv:2411.00640 (clustered and paired standard errors for files of scores).

    Examples
    --------
    >>> import pandas as pd, unseen
    >>> a = pd.DataFrame({"item": [1, 2, 3, 4, 5], "y": list("uvuvu"), "yhat": list("uvuuu")})
    >>> b = pd.DataFrame({"item": [5, 4, 3, 2, 1], "yhat": list("uvvuu")})
    >>> r = unseen.predictions({"a": a, "b": b}, truth="y", pred="yhat", id="item")
    >>> r.estimates["a"].value, round(r["a", "b"].difference, 3), [t.test for t in r.tests]
    (0.2, -0.2, ['mcnemar', 'permutation'])
    """
    one_mapping = len(sources) == 1 and isinstance(sources[0], Mapping)
    call = Call.of(predictions, locals(), {"files": sources[0]} if one_mapping else {"*files": sources})
    check_level(level)
    seed = root_seed(random_state)
    files = sources_by_name(sources, names)
    if not files:
        raise InputError("give at least one file of predictions.")
    probs = (prob,) if isinstance(prob, str) else tuple(prob or ())
    roles = _Columns(truth=truth, pred=pred, prob=probs, score=score, loss=loss, id=id, cluster=cluster)
    _check_roles(roles, missing)
    measure = resolve_measure(measure)
    if isinstance(measure, str) and measure == "auc" and not probs:
        raise InputError("auc ranks cases by their probability: give prob, the column of the positive class.")
    frames = {name: read_frame(one, [c for c in (id, cluster) if c], sep) for name, one in files.items()}
    matched = match_rows(frames, id)
    matched, missing_notes = _without_missing(frames, matched, roles, missing)
    area = isinstance(measure, str) and measure == "auc"
    loss_id = "zero-one" if area else measure
    tables, label_notes = _loss_tables(frames, matched, roles, loss_id, positive, seed)
    estimates = {name: _area(table, level) if area else _error(table, level) for name, table in tables.items()}
    pairs, tests = _paired_tests(tables, level, adjust, AREA_TESTS if area else LOSS_TESTS)
    name = next(iter(estimates.values())).loss
    slices = () if by is None else _slices_of_files(frames, matched, by, tables, measure, level)
    return PredictionFiles(
        slices=slices,
        estimates=estimates,
        pairs=pairs,
        tests=tests,
        unmatched=matched.unmatched,
        n=len(matched.ids),
        loss=name,
        remarks=merge_notes(matched.notes, missing_notes, label_notes),
        command=call.text(random_state=seed),
    )


def _slices_of_files(
    frames: Mapping[str, Any],
    matched: MatchedRows,
    by: str | Sequence[str],
    tables: Mapping[str, LossTable],
    loss: Any,
    level: float,
) -> tuple[Slices, ...]:
    """Return each file's error in every slice, then the differences of pairs; measures of whole sets have no differences here."""
    names = [by] if isinstance(by, str) else list(by)
    known = list(dict.fromkeys(str(c) for frame in frames.values() for c in frame.columns))

    def look_up(name: str) -> Array | None:
        return _shared_column(frames, matched, name, "slice") if name in known else None

    columns = columns_by_lookup(names, look_up, known)
    parts = slice_rows(columns)
    if loss == "auc" or any(t.by_split for t in tables.values()):
        found = []
        for file, t in tables.items():
            source = t.source[0]
            made = measure_cases(source, measures=[loss], by=columns, level=level, random_state=source.seed)
            found += [replace(s, of=file) for s in made.slices.values()]
        return tuple(found)
    each = [table_slices(t, parts, level=level, seed=t.source[0].seed, of=f) for f, t in tables.items()]
    pairs = [
        table_slices(tables[a].minus(tables[b]), parts, level=level, seed=tables[a].source[0].seed, of=f"{a} − {b}")
        for a, b in combinations(tables, 2)
    ]
    return (*each, *pairs)


def _check_roles(roles: _Columns, missing: str) -> None:
    """Refuse columns that do not say what the files hold."""
    if "" in (roles.truth, roles.pred, *roles.prob, roles.score, roles.loss, roles.id, roles.cluster):
        raise InputError("a column is given as ''; give its name, or leave the option out.")
    ways = {"pred": roles.pred or roles.prob, "score": roles.score, "loss": roles.loss}
    given = [way for way, there in ways.items() if there]
    if len(given) != 1:
        raise InputError(
            "say what the files hold: truth and pred (or prob), or score, or loss; "
            + (f"given: {' and '.join(given)}." if given else "none was given.")
        )
    if given == ["pred"] and roles.truth is None:
        raise InputError("predictions need the true values beside them: give truth, the name of their column.")
    if missing not in MISSING:
        raise InputError(f"missing is {missing!r}; it is one of {', '.join(MISSING)}.")


def _columns_read(frame: Any, roles: _Columns) -> list[str]:
    """Return the columns to read: predictions from every file, truth and clusters from those that have them."""
    values = [c for c in (roles.pred, *roles.prob, roles.score, roles.loss) if c]
    return [*values, *(c for c in (roles.truth, roles.cluster) if c and c in frame.columns)]


def _without_missing(
    frames: Mapping[str, Any], matched: MatchedRows, roles: _Columns, how: str
) -> tuple[MatchedRows, tuple[Note, ...]]:
    """Refuse rows that lack a value, or leave them out of every file."""
    keep = np.ones(len(matched.ids), dtype=bool)
    for file, frame in frames.items():
        for name in _columns_read(frame, roles):
            lost = is_missing(column(frame, name, file)[matched.rows[file]])
            if lost.any() and how == "error":
                raise InputError(
                    f"{file}: {name!r} is missing in {int(lost.sum())} rows (first: {matched.ids[np.argmax(lost)]!r}); "
                    "fill them in, or leave them out with missing='drop'."
                )
            keep &= ~lost
    if keep.all():
        return matched, ()
    if not keep.any():
        raise InputError("every row lacks a value in one of the files; nothing is left to compare.")
    text = f"{int((~keep).sum())} rows lack a value in one of the files and were left out of all"
    rows = {file: index[keep] for file, index in matched.rows.items()}
    return replace(matched, ids=matched.ids[keep], rows=rows), (note("U021", text),)


def _shared_column(frames: Mapping[str, Any], matched: MatchedRows, name: str, what: str) -> Array:
    """Return a column that describes the item itself, so that every file that has it must say the same."""
    there = {f: column(frame, name, f)[matched.rows[f]] for f, frame in frames.items() if name in frame.columns}
    if not there:
        column(next(iter(frames.values())), name, next(iter(frames)))
    codes = labels_of(list(there.values())).codes
    first = next(iter(there))
    for file, one in zip(there, codes):
        wrong = one != codes[0]
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InputError(
                f"{first} and {file} disagree on the {what} of {int(wrong.sum())} rows (first: {matched.ids[k]!r} is "
                f"{there[first][k]!r} and {there[file][k]!r}); they are not about the same items."
            )
    return there[first]


def _loss_tables(
    frames: Mapping[str, Any], matched: MatchedRows, roles: _Columns, measure: Any, positive: Any, seed: int
) -> tuple[dict[str, LossTable], tuple[Note, ...]]:
    groups = (
        None
        if roles.cluster is None
        else labels_of([_shared_column(frames, matched, roles.cluster, "cluster")]).codes[0]
    )
    items = _Items(matched.ids, groups, seed)
    picked = {
        f: {c: column(frame, c, f)[matched.rows[f]] for c in _columns_read(frame, roles)} for f, frame in frames.items()
    }
    name = roles.loss or roles.score
    if name is not None:
        values = {f: numbers(parts[name], f"{f}: {name!r}", matched.ids) for f, parts in picked.items()}
        if roles.score is not None:
            unit = all(v.min() >= 0 and v.max() <= 1 for v in values.values())
            values = {f: (1.0 - v if unit else -v) for f, v in values.items()}
            name = f"1 - {name}" if unit else f"-{name}"
        return {f: _table_of_losses(f, values, name, items) for f in values}, ()
    assert roles.truth is not None
    y = _shared_column(frames, matched, roles.truth, "truth")
    made, notes = _prediction_tables(y, picked, roles, items, measure, positive)
    return {f: table.losses(measure) for f, table in made.items()}, notes


def _table_of_losses(file: str, losses: Mapping[str, Floats], name: str, items: _Items) -> LossTable:
    """Return a table of losses that were read, not computed."""
    value = losses[file]
    n = len(value)
    binary = all(np.all((v == 0) | (v == 1)) for v in losses.values())
    data = Data(
        None,
        np.zeros(n),
        "regression",
        groups=items.groups,
        ids=items.ids,
        target_name=name,
        fingerprint=fingerprint_of(items.ids),
    )
    plan = _one_test_set(data)
    row = np.arange(n)
    table = PredictionTable(
        plan=plan,
        data=data,
        test=Predictions(split=np.zeros(n, np.int64), row=row, value=value),
        model=file,
        seed=items.seed,
    )
    bounds = (0.0, 1.0) if binary else (-np.inf, np.inf)
    return LossTable(source=(table,), loss=name, range=bounds, test=Losses(np.zeros(n, np.int64), row, value))


def _error(table: LossTable, level: float) -> Estimate:
    if table.by_split:
        return set_estimate(table, level)
    low, high = table.range
    rate = bool(np.all((table.test.value == low) | (table.test.value == high)))
    made = build("wilson", "estimators")(table, level=level) if rate else PairedT()(table, level=level)
    return replace(made, target=Target.MODEL, n_fits=0)


def _area(table: LossTable, level: float) -> Estimate:
    result: Estimate = replace(build("delong", "significance").alone(table, level=level), target=Target.MODEL, n_fits=0)
    return result


def _paired_tests(
    tables: Mapping[str, LossTable], level: float, adjust: str, tests: Sequence[str]
) -> tuple[tuple[Comparison, ...], tuple[Comparison, ...]]:
    """Return the first test of every pair, which has an interval, and those of the others that apply."""
    found: dict[str, list[Comparison]] = {test: [] for test in tests}
    for a, b in combinations(tables.values(), 2):
        for test, made in found.items():
            try:
                if a.by_split and test == "paired-t":
                    made.append(set_difference(a, b, level))
                elif test == "paired-t":
                    made.append(from_estimate(PairedT(), a.minus(b), level))
                else:
                    made.append(build(test, "significance")(a, b, level=level))
            except NotApplicable:
                if test == tests[0]:
                    raise
    first, *others = (_with_adjusted_p(pairs, adjust) for pairs in found.values())
    return first, tuple(pair for pairs in others for pair in pairs)


def _with_adjusted_p(pairs: list[Comparison], adjust: str) -> tuple[Comparison, ...]:
    p = adjust_p([pair.p for pair in pairs], adjust)
    clean = [replace(pair.estimate, target=Target.MODEL, n_fits=0) for pair in pairs]
    return tuple(replace(pair, p_adjusted=q, estimate=e) for pair, q, e in zip(pairs, p, clean))


def _one_test_set(data: Data) -> Plan:
    """Return the plan of predictions made elsewhere: one test set, nothing trained."""
    return Plan("holdout", (Split(np.zeros(0, np.int64), np.arange(data.n)),), data.units, options={"source": "files"})


def _prediction_tables(
    y: Array, picked: Mapping[str, Mapping[str, Array]], roles: _Columns, items: _Items, measure: Any, positive: Any
) -> tuple[dict[str, PredictionTable], tuple[Note, ...]]:
    """Return one table per file, all over the same classes, with notes on labels that never occur as truth."""
    pred = roles.pred
    columns = [] if pred is None else [parts[pred] for parts in picked.values()]
    if _task(measure, y, columns, roles.prob) == "regression":
        if pred is None:
            raise InputError(
                f"{getattr(measure, 'id', measure)} is a measure of numbers, and prob holds probabilities of classes; name the column of predicted numbers "
                "by pred, or give a measure of classes, such as brier."
            )
        return _tables_of_numbers(y, picked, pred, items), _probability_notes(measure, y, columns)
    labels = labels_of([y, *columns])
    true = labels.codes[0]
    classes = labels.classes
    data = Data(
        None,
        classes[true],
        "classification",
        classes,
        groups=items.groups,
        ids=items.ids,
        positive=_positive(positive, classes, true),
        fingerprint=fingerprint_of(items.ids, classes[true]),
    )
    notes: list[Note] = []
    tables = {}
    for k, (file, parts) in enumerate(picked.items()):
        score = _probabilities(parts, roles.prob, data, file, np.unique(true)) if roles.prob else None
        value = labels.codes[k + 1] if pred is not None else np.argmax(score, axis=1)  # type: ignore[arg-type]
        notes += _foreign_label_notes(value, true, classes, file)
        tables[file] = _prediction_table(data, value, score, file, items.seed)
    return tables, tuple(notes)


def _task(measure: Any, y: Array, columns: list[Array], prob: tuple[str, ...]) -> Task:
    if measure != "auto":
        kind = find(measure, "measures").task if isinstance(measure, str) else measure.task
        if kind in ("classification", "regression"):
            return kind  # type: ignore[no-any-return]
    if prob:
        return "classification"
    values = np.concatenate([y, *columns])
    kinds = set(map(type, values.tolist() if values.dtype != object else values))
    if not all(issubclass(kind, (int, float, np.number)) and not issubclass(kind, bool) for kind in kinds):
        return "classification"
    plain = values.astype(float)
    whole = np.all(plain == np.round(plain)) and len(np.unique(plain)) <= MAX_WHOLE_NUMBER_CLASSES
    return "classification" if whole else "regression"


def _probability_notes(measure: Any, y: Array, columns: list[Array]) -> tuple[Note, ...]:
    """Return a note if predictions lie between two true values: they are more likely probabilities than numbers."""
    values = np.concatenate(columns).astype(float)
    if measure != "auto" or set(y.astype(float)) != {0.0, 1.0} or values.min() < 0 or values.max() > 1:
        return ()
    text = "the truth is 0 or 1 and predictions lie between: they count as numbers with squared error; probabilities go in prob"
    return (note("U016", text),)


def _tables_of_numbers(
    y: Array, picked: Mapping[str, Mapping[str, Array]], pred: str, items: _Items
) -> dict[str, PredictionTable]:
    ids = items.ids
    true = numbers(y, "the truth", ids)
    data = Data(None, true, "regression", groups=items.groups, ids=ids, fingerprint=fingerprint_of(ids, true))
    return {
        file: _prediction_table(data, numbers(parts[pred], f"{file}: {pred!r}", ids), None, file, items.seed)
        for file, parts in picked.items()
    }


def _prediction_table(data: Data, value: Array, score: Floats | None, file: str, seed: int) -> PredictionTable:
    rows = np.arange(data.n)
    kind = None if score is None else "probability"
    test = Predictions(split=np.zeros(data.n, np.int64), row=rows, value=value, score=score)
    return PredictionTable(plan=_one_test_set(data), data=data, test=test, score_kind=kind, model=file, seed=seed)


def _positive(positive: Any, classes: Array, true: Ints) -> Any:
    if positive is None:
        return classes[np.unique(true)[-1]].item()
    if str(positive) not in classes.tolist():
        raise UnknownName("class for positive", positive, map(str, classes))
    return str(positive)


def _probabilities(parts: Mapping[str, Array], prob: tuple[str, ...], data: Data, file: str, seen: Ints) -> Floats:
    """Return probabilities in the order of the classes, from one column (two classes) or one per class."""
    assert data.classes is not None
    assert data.ids is not None
    ids = data.ids
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
    if off.max() > ROUNDING_OF_SHARES:
        raise InputError(f"{file}: the probabilities of {ids[np.argmax(off)]!r} do not add up to 1.")
    return values


def _foreign_label_notes(value: Ints, true: Ints, classes: Array, file: str) -> list[Note]:
    """Return a note if some predicted labels never occur as truth; refuse a file in which all do."""
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
