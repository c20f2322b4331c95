"""`unseen.predictions`: what files of predictions say of the models that made them; nothing is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.comparison import Comparison
from unseen.core.data import Data, fingerprint_of
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Target, check_level
from unseen.core.losses import Losses, LossTable, Predictions, PredictionTable
from unseen.core.method import t_interval
from unseen.core.notes import Note, merge_notes, note
from unseen.core.registry import build
from unseen.core.rng import RandomState, root_seed
from unseen.datasets.frames import read_frame
from unseen.estimators._unit_mean import unit_mean
from unseen.evaluation.measure_pairs import set_difference, set_estimate
from unseen.evaluation.prediction_files import Joined, column, join, labels_of, lacking, named, numbers
from unseen.evaluation.prediction_record import PredictionFiles
from unseen.evaluation.prediction_tables import one_test_set, tables_of
from unseen.significance.adjust import adjusted
from unseen.significance.paired import from_estimate

__all__ = ["PairedT", "predictions"]

MISSING = ("error", "drop")


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
        few = (note("U009", f"only {mean.n_units} independent units"),) if mean.n_units < 20 else ()
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


def predictions(
    *sources: Any,
    truth: str | None = None,
    pred: str | None = None,
    prob: str | Sequence[str] | None = None,
    score: str | None = None,
    loss: str | None = None,
    id: str | None = None,
    cluster: str | None = None,
    measure: str = "auto",
    positive: Any = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    adjust: str = "holm",
    missing: str = "error",
    sep: str | None = None,
    random_state: RandomState = 0,
) -> PredictionFiles:
    """Estimate the error of models from files of their predictions, and compare them row by row.

    A file holds one row per item: its name, the truth and a prediction; or a loss or score somebody has computed.

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
    measure : str
        Id of a loss; "auto" is zero-one for labels and squared error for numbers. "auc" compares areas under ROC curves
        from `prob`, by DeLong's method; the error is one minus the area.
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
        Seed of the permutation test where exchanges are too many to list.

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
    check_level(level)
    files = named(sources, names)
    if not files:
        raise InputError("give at least one file of predictions.")
    probs = (prob,) if isinstance(prob, str) else tuple(prob or ())
    roles = _Columns(truth=truth, pred=pred, prob=probs, score=score, loss=loss, id=id, cluster=cluster)
    _check_roles(roles, missing)
    if measure == "auc" and not probs:
        raise InputError("auc ranks cases by their probability: give prob, the column of the positive class.")
    frames = {name: read_frame(one, [c for c in (id, cluster) if c], sep) for name, one in files.items()}
    joined = join(frames, id)
    joined, left_out = _without_missing(frames, joined, roles, missing)
    area = measure == "auc"
    loss_id = "zero-one" if area else measure
    tables, remarks = _loss_tables(frames, joined, roles, loss_id, positive, root_seed(random_state))
    estimates = {name: _area(table, level) if area else _estimate(table, level) for name, table in tables.items()}
    pairs, tests = _compared(tables, level, adjust, ("delong",) if area else ("paired-t", "mcnemar", "permutation"))
    name = next(iter(estimates.values())).loss
    return PredictionFiles(
        estimates=estimates,
        pairs=pairs,
        tests=tests,
        unmatched=joined.unmatched,
        n=len(joined.ids),
        loss=name,
        remarks=merge_notes(joined.notes, left_out, remarks),
    )


def _check_roles(roles: _Columns, missing: str) -> None:
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


def _wanted(frame: Any, roles: _Columns) -> list[str]:
    values = [c for c in (roles.pred, *roles.prob, roles.score, roles.loss) if c]
    return [*values, *(c for c in (roles.truth, roles.cluster) if c and c in frame.columns)]


def _without_missing(
    frames: Mapping[str, Any], joined: Joined, roles: _Columns, how: str
) -> tuple[Joined, tuple[Note, ...]]:
    """Refuse rows that lack a value, or leave them out of every file."""
    keep = np.ones(len(joined.ids), dtype=bool)
    for file, frame in frames.items():
        for name in _wanted(frame, roles):
            lost = lacking(column(frame, name, file)[joined.rows[file]])
            if lost.any() and how == "error":
                raise InputError(
                    f"{file}: {name!r} is missing in {int(lost.sum())} rows (first: {joined.ids[np.argmax(lost)]!r}); "
                    "fill them in, or leave them out with missing='drop'."
                )
            keep &= ~lost
    if keep.all():
        return joined, ()
    if not keep.any():
        raise InputError("every row lacks a value in one of the files; nothing is left to compare.")
    text = f"{int((~keep).sum())} rows lack a value in one of the files and were left out of all"
    rows = {file: index[keep] for file, index in joined.rows.items()}
    return replace(joined, ids=joined.ids[keep], rows=rows), (note("U021", text),)


def _shared(frames: Mapping[str, Any], joined: Joined, name: str, what: str) -> Array:
    """Return a column that describes the item itself and so must say the same in every file that has it."""
    there = {f: column(frame, name, f)[joined.rows[f]] for f, frame in frames.items() if name in frame.columns}
    if not there:
        column(next(iter(frames.values())), name, next(iter(frames)))
    codes = labels_of(list(there.values())).codes
    first = next(iter(there))
    for file, one in zip(there, codes):
        wrong = one != codes[0]
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InputError(
                f"{first} and {file} disagree on the {what} of {int(wrong.sum())} rows (first: {joined.ids[k]!r} is "
                f"{there[first][k]!r} and {there[file][k]!r}); they are not about the same items."
            )
    return there[first]


def _loss_tables(
    frames: Mapping[str, Any], joined: Joined, roles: _Columns, measure: str, positive: Any, seed: int
) -> tuple[dict[str, LossTable], tuple[Note, ...]]:
    groups = None if roles.cluster is None else labels_of([_shared(frames, joined, roles.cluster, "cluster")]).codes[0]
    picked = {f: {c: column(frame, c, f)[joined.rows[f]] for c in _wanted(frame, roles)} for f, frame in frames.items()}
    name = roles.loss or roles.score
    if name is not None:
        values = {f: numbers(parts[name], f"{f}: {name!r}", joined.ids) for f, parts in picked.items()}
        if roles.score is not None:
            unit = all(v.min() >= 0 and v.max() <= 1 for v in values.values())
            values = {f: (1.0 - v if unit else -v) for f, v in values.items()}
            name = f"1 - {name}" if unit else f"-{name}"
        return {f: _of_losses(f, v, values, name, groups, joined, seed) for f, v in values.items()}, ()
    assert roles.truth is not None
    y = _shared(frames, joined, roles.truth, "truth")
    made, remarks = tables_of(y, picked, roles.pred, roles.prob, measure, positive, groups, joined.ids, seed)
    return {f: table.losses(measure) for f, table in made.items()}, remarks


def _of_losses(
    file: str, value: Floats, every: Mapping[str, Floats], name: str, groups: Any, joined: Joined, seed: int
) -> LossTable:
    """Return a table of losses that were read, not computed."""
    n = len(value)
    binary = all(np.all((v == 0) | (v == 1)) for v in every.values())
    data = Data(
        None,
        np.zeros(n),
        "regression",
        groups=groups,
        ids=joined.ids,
        target_name=name,
        fingerprint=fingerprint_of(joined.ids),
    )
    plan = one_test_set(data)
    row = np.arange(n)
    table = PredictionTable(
        plan=plan, data=data, test=Predictions(split=np.zeros(n, np.int64), row=row, value=value), model=file, seed=seed
    )
    bounds = (0.0, 1.0) if binary else (-np.inf, np.inf)
    return LossTable(source=(table,), loss=name, range=bounds, test=Losses(np.zeros(n, np.int64), row, value))


def _estimate(table: LossTable, level: float) -> Estimate:
    if table.by_split:
        return set_estimate(table, level)
    low, high = table.range
    rate = bool(np.all((table.test.value == low) | (table.test.value == high)))
    made = build("wilson", "estimators")(table, level=level) if rate else PairedT()(table, level=level)
    return replace(made, target=Target.MODEL, n_fits=0)


def _area(table: LossTable, level: float) -> Estimate:
    return replace(build("delong", "significance").alone(table, level=level), target=Target.MODEL, n_fits=0)


def _compared(
    tables: Mapping[str, LossTable], level: float, adjust: str, tests: Sequence[str]
) -> tuple[tuple[Comparison, ...], tuple[Comparison, ...]]:
    """Return the first test of every pair, which has an interval, and the others where they apply."""
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
    first, *others = (_adjusted(pairs, adjust) for pairs in found.values())
    return first, tuple(pair for pairs in others for pair in pairs)


def _adjusted(pairs: list[Comparison], adjust: str) -> tuple[Comparison, ...]:
    p = adjusted([pair.p for pair in pairs], adjust)
    clean = [replace(pair.estimate, target=Target.MODEL, n_fits=0) for pair in pairs]
    return tuple(replace(pair, p_adjusted=q, estimate=e) for pair, q, e in zip(pairs, p, clean))
