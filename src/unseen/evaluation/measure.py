"""`unseen.measure`: every measure of a set of predictions, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval, check_level
from unseen.core.losses import PredictionTable
from unseen.core.notes import Note, merge_notes, note
from unseen.core.registry import find, known
from unseen.core.rng import RandomState, root_seed
from unseen.evaluation.measure_input import Judged, judged, judged_table
from unseen.evaluation.measure_intervals import Bootstrap, area_estimate, few_units, rate_estimate
from unseen.evaluation.measure_one import RATES, of_set, of_table, one_measure, rate_of_class
from unseen.evaluation.measure_outputs import has_several_outputs, measures_of_outputs
from unseen.evaluation.measure_record import Measures
from unseen.measures._costs import cost_matrix
from unseen.measures._tables import against_rest
from unseen.measures.utility import Utility

__all__ = ["measure"]

OF_OUTPUTS = ("rms", "absolute", "pov", "pineda-p")
PRICED = ("cost", "utility")
LEAST_DRAWS = 100
LEAST_FOR_DESIGN = 20


def measure(
    y_true: Any,
    y_score: Any = None,
    *,
    y_pred: Any = None,
    positive: Any = None,
    threshold: float | None = None,
    costs: Any = None,
    prevalence: float | None = None,
    measures: Sequence[Any] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    stratified: bool | None = None,
    task: str | None = None,
    level: float = 0.95,
    n_bootstrap: int = 2000,
    random_state: RandomState = 0,
) -> Measures:
    """Measure a set of predictions in every way that suits them, each with an interval.

    Parameters
    ----------
    y_true : array-like or PredictionTable
        True labels or numbers; or a table of predictions whose rows were tested once each, which brings everything. Several
        columns of numbers are several outputs: each gets every measure, "pov[a]", and errors over all are given too.
    y_score : array-like
        Probabilities or decision values of the positive class; a column per class, in sorted order of the labels;
        predicted labels; or predicted numbers. Two columns that are no probabilities (logits) count as their difference.
    y_pred : array-like, optional
        Decisions, where they do not follow from the scores.
    positive : label, optional
        The positive class; the last label in sorted order by default.
    threshold : float, optional
        Score from which on a case is called positive: 0.5 for probabilities and 0 for decision values by default.
    costs : matrix, optional
        Cost of each decision, truth by row and decision by column, classes in sorted order; adds cost and utility.
    prevalence : float, optional
        Share of positives where the predictions will be used; adds the predictive values there.
    measures : sequence of str or measure, optional
        Only these: ids, or objects such as `unseen.measures.Quantile(0.9)`; costs and a prevalence still add theirs.
    groups, sample_weight : array-like, optional
        What cases share (whole groups are then the independent units), and their weights.
    stratified : bool, optional
        Whether the sizes of the classes were fixed by design, as in a study of so many cases and controls, and stay so in the
        resamples of the BCa intervals. By default they are where all classes have exactly the same size, which chance hardly
        gives; a note says so. Matters for measures that depend on prevalence, such as F1.
    task : {"classification", "regression"}, optional
        Guessed by default.
    level : float
        Confidence level.
    n_bootstrap : int
        Resamples of the BCa intervals.
    random_state : int, Generator or None
        Seed of the resampling.

    Returns
    -------
    Measures
        Wilson intervals for rates, limits made of them for balanced accuracy and d', DeLong's on the logit scale for areas
        under ROC curves, BCa for everything else; all speak of this model, conditional on its training.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299. Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> m = unseen.measure(y, rng.normal(y, 1.0))
    >>> m["auc"].method, m["sensitivity"].method, m["f1"].method
    ('logit-delong', 'wilson', 'bca')
    >>> 0.6 < m["auc"].interval.low < m["auc"].value < m["auc"].interval.high < 0.9
    True
    """
    check_level(level)
    if n_bootstrap < LEAST_DRAWS:
        raise InputError(f"n_bootstrap is {n_bootstrap}; intervals need at least {LEAST_DRAWS} resamples.")
    notes: tuple[Note, ...] = ()
    if isinstance(y_true, PredictionTable):
        if y_score is not None:
            raise InputError("a table of predictions brings its own scores; leave y_score out.")
        j, notes = judged_table(y_true), _pooled(y_true)
    elif y_score is None:
        raise InputError("y_score is missing: give probabilities, decision values, predicted labels or numbers.")
    elif has_several_outputs(y_true):
        return _of_outputs(
            y_true,
            y_score,
            (y_pred, positive, threshold, costs, prevalence, stratified),
            measures,
            groups,
            sample_weight,
            n_bootstrap,
            root_seed(random_state),
            level,
        )
    else:
        j = judged(y_true, y_score, y_pred, positive, threshold, groups, sample_weight, task)
    seed = root_seed(random_state)
    fixed, remark = _fixed_sizes(j, stratified)
    notes = (*notes, *remark, *few_units(j))
    boot = Bootstrap(judged=j, n_draws=n_bootstrap, seed=seed, level=level, stratified=fixed)
    if j.task == "regression" and (costs is not None or prevalence is not None):
        raise InputError("costs and prevalence speak of classes, and these are predictions of numbers; leave them out.")
    if measures is not None:
        found = _chosen(j, boot, measures, level, costs, prevalence)
    elif j.task == "regression":
        found = [_number(j, boot, name) for name, cls in known("measures").items() if cls.task == "regression"]
    else:
        found = [*_categorical(j, boot, level), *_extras(j, boot, costs, prevalence), *_scored(j, boot, level)]
    estimates = {e.loss: e for e in found if e is not None}
    remarks = merge_notes(*(e.notes for e in estimates.values()))
    if boot.draws < n_bootstrap:
        notes = (*notes, note("U019", f"{j.n} cases: {boot.draws} resamples instead of {n_bootstrap}"))
    return Measures(
        estimates=estimates,
        judged=j,
        level=level,
        seed=seed,
        n_bootstrap=n_bootstrap,
        stratified=fixed,
        notes=merge_notes(notes, remarks),
    )


def _of_outputs(
    y_true: Any,
    y_score: Any,
    unsuited: tuple[Any, ...],
    measures: Any,
    groups: Any,
    weight: Any,
    n_bootstrap: int,
    seed: int,
    level: float,
) -> Measures:
    if any(option is not None for option in unsuited):
        raise InputError(
            "y_true has several columns, so numbers are measured output by output; options of classes do "
            "not apply. For classes give one column of labels."
        )
    found, j = measures_of_outputs(y_true, y_score, measures, groups, weight, n_bootstrap, seed, level)
    estimates = {e.loss: e for e in found if e is not None}
    return Measures(
        estimates=estimates,
        judged=j,
        level=level,
        seed=seed,
        n_bootstrap=n_bootstrap,
        stratified=False,
        notes=merge_notes(*(e.notes for e in estimates.values())),
    )


def _fixed_sizes(j: Judged, stratified: bool | None) -> tuple[bool, tuple[Note, ...]]:
    """Decide whether classes keep their sizes in resamples."""
    if stratified and (j.classes is None or not j.simple):
        raise InputError("stratified resampling is for classes of independent, unweighted cases; leave stratified out.")
    if stratified is not None or j.classes is None or not j.simple:
        return bool(stratified), ()
    sizes = np.bincount(j.y)
    if len(np.unique(sizes[sizes > 0])) > 1 or j.n < LEAST_FOR_DESIGN:
        return False, ()
    text = (
        f"all classes have {sizes.max()} cases, taken as fixed by design in resamples; stratified=False says otherwise"
    )
    return True, (note("U016", text),)


def _pooled(table: PredictionTable) -> tuple[Note, ...]:
    splits = len(np.unique(table.test.split))
    if splits < 2:
        return ()
    return (note("U016", f"predictions of {splits} models were pooled as if one model had made them"),)


def _categorical(j: Judged, boot: Bootstrap, level: float) -> list[Estimate | None]:
    """Measures of the confusion matrix: of the positive class, or averaged and class by class."""
    right = j.y == j.value
    out = [rate_estimate(j, "accuracy", right, np.ones(j.n, bool), level)]
    if j.size == 2:
        out += [rate_of_class(j, name, name, j.positive, level) for name in RATES]
    else:
        out += [of_table(j, boot, name) for name in RATES]
    names = ["balanced-accuracy", "f1", "mcc", *(["d-prime"] if j.size == 2 else [])]
    out += [one_measure(j, boot, find(name, "measures")(), level) for name in names]
    if j.size > 2:
        for code in range(j.size):
            out += [rate_of_class(j, name, f"{name}[{j.label(code)}]", code, level) for name in RATES]
            out.append(of_table(j, boot, "f1", code))
    return out


def _extras(j: Judged, boot: Bootstrap, costs: Any, prevalence: float | None) -> list[Estimate | None]:
    """Measures that need something from the user: a cost matrix, a prevalence."""
    out: list[Estimate | None] = []
    if costs is not None:
        matrix = cost_matrix(costs, j.size)
        span = float(matrix.min()), float(matrix.max())
        cost = boot.of_tables("cost", lambda tables: -Utility(-matrix).of_tables(tables), span)
        out += [cost, None if cost is None else _mirrored(cost, "utility")]
    if prevalence is not None:
        if not isinstance(prevalence, (int, float)) or not 0 <= prevalence <= 1:
            raise InputError(f"prevalence is {prevalence!r}; a share lies between 0 and 1.")
        for k, name in enumerate(("positive-predictive-value", "negative-predictive-value")):
            made = lambda tables, k=k: _at_prevalence(tables, j.positive, float(prevalence))[k]  # noqa: E731
            out.append(boot.of_tables(f"{name} at prevalence {prevalence:g}", made, (0.0, 1.0)))
    return out


def _mirrored(e: Estimate, name: str) -> Estimate:
    """Return the same figure with its sign changed."""
    turned = None if e.interval is None else Interval(-e.interval.high, -e.interval.low, e.interval.level)
    return replace(e, value=-e.value, interval=turned, loss=name)


def _at_prevalence(tables: Floats, positive: int, prevalence: float) -> tuple[Floats, Floats]:
    hits, misses, alarms, rejections = (c[..., positive] for c in against_rest(tables))
    with np.errstate(invalid="ignore", divide="ignore"):
        sensitivity, specificity = hits / (hits + misses), rejections / (rejections + alarms)
        right, wrong = prevalence * sensitivity, (1 - prevalence) * (1 - specificity)
        clear, missed = (1 - prevalence) * specificity, prevalence * (1 - sensitivity)
        return right / (right + wrong), clear / (clear + missed)


def _scored(j: Judged, boot: Bootstrap, level: float) -> list[Estimate | None]:
    """Measures of scores: curves of the positive class or of each, then losses of probabilities and outputs."""
    if j.score is None:
        return []
    out: list[Estimate | None] = []
    if j.size == 2:
        out.append(area_estimate(j, "auc", j.y == j.positive, j.column(j.positive), level))
        out += [
            of_set(j, boot, find(name, "measures")())
            for name in ("partial-auc", "corner-distance", "average-precision")
        ]
    else:
        auc = find("auc", "measures")()
        each = [((j.y == k).astype(int), j.column(k)[:, None]) for k in range(j.size) if np.any(j.y == k)]
        mean = lambda w: np.mean([auc.of_weights(y, y, s, w) for y, s in each], axis=0)  # noqa: E731
        out.append(boot.of_weights("auc", mean, (0.0, 1.0)))
        out += [area_estimate(j, f"auc[{j.label(k)}]", j.y == k, j.column(k), level) for k in range(j.size)]
    if j.probability:
        out += [of_set(j, boot, find(name, "measures")()) for name in ("brier", "log-loss")]
        out += _outputs(j, boot)
    return out


def _outputs(j: Judged, boot: Bootstrap) -> list[Estimate | None]:
    """Hutton's continuous measures of outputs against targets of 0 and 1, for the positive class or for each."""
    codes = [j.positive] if j.size == 2 else range(j.size)
    out = []
    for code in codes:
        target, output = (j.y == code).astype(float), j.column(code)
        for id in OF_OUTPUTS:
            name = id if j.size == 2 else f"{id}[{j.label(code)}]"
            out.append(of_set(j, boot, find(id, "measures")(), name, target, output))
    return out


def _number(j: Judged, boot: Bootstrap, name: str) -> Estimate | None:
    return of_set(j, boot, find(name, "measures")())


def _chosen(
    j: Judged, boot: Bootstrap, measures: Sequence[Any], level: float, costs: Any, prevalence: float | None
) -> list[Estimate | None]:
    """Return the measures asked for by id or object, and what a cost matrix or a prevalence asks for by itself."""
    asked = [measures] if isinstance(measures, str) else list(measures)
    priced = [name for name in asked if isinstance(name, str) and name in PRICED] or list(PRICED)
    extras = [e for e in _extras(j, boot, costs, prevalence) if e is not None]
    out: list[Estimate | None] = [e for e in extras if e.loss not in PRICED or e.loss in priced]
    for wanted in asked:
        if costs is not None and isinstance(wanted, str) and wanted in PRICED:
            continue
        one = find(wanted, "measures")() if isinstance(wanted, str) else wanted
        if one.task not in (j.task, "any"):
            raise NotApplicable(f"{one.id} is a measure for {one.task}, and these are predictions of {j.task}.")
        if one.needs_score and j.score is None:
            raise InputError(f"{one.id} needs scores, and only decisions were given.")
        out.append(one_measure(j, boot, one, level))
    return out
