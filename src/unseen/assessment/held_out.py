"""A trained model on rows it has not seen: the whole assessment, nothing fitted."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.wording import GUESS_ONE_CLASS
from unseen.checks.registry import data_notes
from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.losses import Predictions, PredictionTable
from unseen.core.model import Fitted
from unseen.core.notes import merge_notes
from unseen.core.plan import Plan, Split
from unseen.core.registry import find
from unseen.core.scale import as_loss
from unseen.core.training import codes_of, model_errors
from unseen.core.versions import package_versions
from unseen.datasets.conversion import with_positive
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.measure import measure as measure_predictions
from unseen.measures.scoring import Scoring
from unseen.models.naming import full_name, short_name
from unseen.request.prepare import fitted_of

__all__ = ["assess_held_out", "guessed_class"]

DESIGN = "holdout"
DRAWS = 2000  # as `unseen.measure` has
FUNCTION_DRAWS = 500  # resamples for a function that takes one set at a time, some milliseconds each


def assess_held_out(
    model: Any,
    data: Data,
    measures: Sequence[Any],
    *,
    usual: bool = False,
    level: float = 0.95,
    seed: int = 0,
    name: str = "",
    command: str = "",
    positive: Any = None,
) -> Assessment:
    """Assess a trained model on held-out rows; intervals are those of `unseen.measure`, the target is this model.

    Parameters
    ----------
    model : fitted estimator, model from a file, or function of X
        Never refitted.
    data : Data
        Rows that the model has not seen.
    measures : sequence of str or measure
        What is asked for, the headline first.
    usual : bool
        The further ones were not asked for; one that does not apply is left out.
    level, seed, name, command
        Confidence level, seed of bootstrap intervals, what the model is called, and the command line or call to show in the report.
    positive : label, optional
        The class that sensitivity and AUC are about.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> fitted = LogisticRegression(max_iter=10_000).fit(X[:300], y[:300])
    >>> a = unseen.assess(fitted, X[300:], y[300:], prefit=True)
    >>> a.headline.method, str(a.target), a.headline.n_fits
    ('wilson', 'this model', 0)
    """
    start = clock.perf_counter()
    data = _with_classes_of(model, data, positive)
    fitted = fitted_of(model, data)
    called = name or getattr(model, "name", "") or short_name(model)
    table = _table(data, fitted, called, seed)
    found = {}
    for one in measures:
        try:
            found[_id_of(one, data)] = _estimate(table, one, level)
        except InputError:
            if not usual or not found:
                raise
    guess = _guess(table, measures[0])
    headline, *_ = found.values()
    also = dict(list(found.items())[1:])
    baseline = _baseline(guess, measures[0], level)
    losses = table.losses("zero-one" if measures[0] == "accuracy" else measures[0])
    settings = {
        "seed": seed,
        "level": level,
        "effort": {},
        "headline_design": DESIGN,
        "lead": {"method": headline.method, "reason": "the rows were held out from training"},
        "estimator": full_name(model),
        "designs": {DESIGN: {"rows": data.n}},
        "data_fingerprint": data.fingerprint,
        "versions": package_versions(),
        "repeat": command,
    }
    return Assessment(
        headline=headline,
        estimates={headline.method: headline},
        baseline=baseline,
        tables={DESIGN: losses},
        data=data,
        model=called,
        settings=settings,
        notes=merge_notes(data_notes(data), headline.notes),
        seconds=clock.perf_counter() - start,
        also=also,
    )


def _with_classes_of(model: Any, data: Data, positive: Any) -> Data:
    """Return the data with the classes that the model knows besides their own: it may predict one that was not held out."""
    known = getattr(model, "classes_", None)
    if data.classes is None or known is None:
        return data
    labels = np.asarray(known)
    if labels.dtype.kind == "O":
        labels = labels.astype(str)
    if (labels.dtype.kind in "US") != (data.classes.dtype.kind in "US"):
        raise InputError(
            f"the model was trained on labels such as {labels[0].item()!r}, and the target holds {data.classes[0].item()!r}; "
            "give the labels that it was trained on."
        )
    return with_positive(replace(data, classes=np.union1d(data.classes, labels)), positive or data.positive)


def _table(data: Data, fitted: Fitted, name: str, seed: int) -> PredictionTable:
    """Return what the model predicts for every row as the record of one split that trains nothing."""
    rows = np.arange(data.n)
    plan = Plan(DESIGN, (Split(np.zeros(0, dtype=np.int64), rows),), data.units)
    with model_errors(f"the trained model could not predict the {data.n:,} rows"):
        score = fitted.scores(data.X) if data.classes is not None else None
        value = codes_of(fitted.predict(data.X), data)
    test = Predictions(split=np.zeros_like(rows), row=rows, value=value, score=None if score is None else score[0])
    return PredictionTable(
        plan=plan,
        data=data.without_features(),
        test=test,
        score_kind=None if score is None else score[1],
        seconds=np.zeros(1),
        model=name,
        seed=seed,
    )


def _id_of(measure: Any, data: Data) -> str:
    if not isinstance(measure, str):
        return str(measure.id)
    return measure if measure != "auto" else "zero-one" if data.classes is not None else "squared"


def _estimate(table: PredictionTable, measure: Any, level: float) -> Estimate:
    """Return one measure with its interval, as a loss."""
    name = _id_of(measure, table.data)
    one = table.measure(measure)
    if name in ("zero-one", "accuracy"):
        made = measure_predictions(table, measures=["accuracy"], level=level, random_state=table.seed)
        turned = _as_loss(made.estimates["accuracy"], find("accuracy", "measures")(), made.notes)
        return replace(turned, loss="zero-one") if name == "zero-one" else turned
    draws = FUNCTION_DRAWS if isinstance(one, Scoring) else DRAWS
    made = measure_predictions(table, measures=[one], level=level, n_bootstrap=draws, random_state=table.seed)
    if one.id not in made.estimates:
        raise InputError(f"{one.id} does not exist on these rows (is a class missing?).")
    return _as_loss(made.estimates[one.id], one, made.notes)


def _as_loss(e: Estimate, measure: Any, notes: Any) -> Estimate:
    """Return an estimate of a score as one of the loss it is worked with."""
    loss, offset, sign = as_loss(measure)
    interval = e.interval
    if interval is not None:
        ends = sorted(offset + sign * end for end in interval)
        interval = Interval(ends[0], ends[1], interval.level)
    return replace(
        e,
        loss=loss,
        value=offset + sign * e.value,
        interval=interval,
        notes=merge_notes(notes, e.notes),
        target=Target.MODEL,
    )


def _guess(table: PredictionTable, measure: Any) -> PredictionTable:
    """Return the predictions of a model that always guesses: the most frequent class, with the frequencies as scores, or the mean."""
    data = table.data
    weight = np.ones(data.n) if data.weights is None else data.weights
    score = None
    if data.classes is None:
        value: Array = np.full(data.n, np.average(data.y, weights=weight))
    else:
        shares = np.bincount(data.codes, weight, len(data.classes)) / weight.sum()
        guessed = int(np.searchsorted(data.classes, guessed_class(data, measure)))
        value, score = np.full(data.n, guessed), np.tile(shares, (data.n, 1))
    return replace(
        table, test=replace(table.test, value=value, score=score), score_kind=None if score is None else "probability"
    )


def guessed_class(data: Data, measure: Any) -> Any:
    """Return the class that a model without information always says: the most frequent one, unless the measure is about calls of one.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.datasets.load("breast-cancer")
    >>> str(guessed_class(data, "auto")), str(guessed_class(data, "positive-predictive-value"))
    ('benign', 'malignant')
    """
    classes = np.asarray(data.classes)
    wanted = GUESS_ONE_CLASS.get(measure if isinstance(measure, str) else "")
    if wanted is not None and len(classes) == 2:
        return classes[(classes == data.positive) == (wanted == "positive")][0]
    # chosen on all rows: with balanced classes the majority of each training part is the minority of its test part
    return classes[np.argmax(np.bincount(data.codes, data.weights, len(classes)))]


def _baseline(guess: PredictionTable, measure: Any, level: float) -> Estimate:
    """Return the error of guessing; the share of a class among independent rows has Wilson's interval."""
    accuracy = isinstance(measure, str) and measure == "accuracy"
    losses = guess.losses("zero-one" if accuracy else measure)
    value = float(losses.split_means()[0])
    interval = None
    if losses.loss == "zero-one" and guess.data.groups is None and guess.data.weights is None:
        interval = Interval(*wilson_interval(value, guess.data.n, level), level)
    return Estimate(
        value=value,
        std_error=None,
        interval=interval,
        df=None,
        method="holdout",
        target=Target.MODEL,
        loss="1 - accuracy" if accuracy else losses.loss,
        n_units=guess.data.n_units,
        n_fits=0,
    )
