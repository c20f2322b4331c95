"""`unseen.measure`: every measure of a set of predictions, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.call import Call
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval, check_level
from unseen.core.losses import PredictionTable
from unseen.core.notes import Note, merge_notes, note
from unseen.core.registry import classes_in, find
from unseen.core.rng import RandomState, root_seed
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.measure_intervals import (
    MANY_UNITS,
    BootstrapIntervals,
    area_estimate,
    estimate_of,
    few_units,
    mean_area_estimate,
    rate_estimate,
    rate_of_counts,
)
from unseen.evaluation.measure_record import PRICED, Measures
from unseen.evaluation.scored_cases import ScoredCases, check_scored_cases, scored_cases_of
from unseen.evaluation.slice_columns import RowsOfSlice, columns_by_name, columns_of_data, slice_rows
from unseen.evaluation.slices import RATES, Slices, slices_of_cases
from unseen.measures.agreement import DPrime
from unseen.measures.areas import FromCurve
from unseen.measures.confusion import MOST_IN_TABLES, Counts, counts_of
from unseen.measures.costs import Utility, cost_matrix
from unseen.measures.scoring import Scoring, resolve_measure

__all__ = ["measure", "one_measure", "summed_limits"]

# Hutton's continuous measures of outputs against targets of 0 and 1
OF_OUTPUTS = ("rms", "absolute", "pov", "pineda-p")
# errors that are means over cases and outputs; the others compare with the mean of one output
OVER_ALL_OUTPUTS = ("rms", "absolute", "squared")
# a 95% interval reads its ends off the 2.5% tails: 2 or 3 resamples each, as few as can be
LEAST_DRAWS = 100
# in fewer cases equal class sizes come about by chance: with 20 in 18% of samples of two equally frequent classes
LEAST_FOR_DESIGN = 20


@dataclass(frozen=True, kw_only=True)
class _ClassOptions:
    """Options of `measure` that apply to classes only; None if not given."""

    y_pred: Any
    positive: Any
    threshold: float | None
    costs: Any
    prevalence: float | None
    stratified: bool | None

    @property
    def names(self) -> list[str]:
        """The options that have a value, by name."""
        return [name for name, value in vars(self).items() if value is not None]


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
    by: Any = None,
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
        Decisions, if they do not follow from the scores.
    positive : label, optional
        The positive class; the last label in sorted order by default.
    threshold : float, optional
        Score from which on a case is called positive: 0.5 for probabilities and 0 for decision values by default.
    costs : matrix, optional
        Cost of each decision, truth by row and decision by column, classes in sorted order; adds cost and utility.
    prevalence : float, optional
        Share of positives where the predictions will be used; adds the predictive values there.
    measures : sequence of str, measure, scorer or function, optional
        Only these: ids such as "auc", names of scikit-learn's such as "roc_auc" or "f1_macro", scorers, functions of (y_true, y_pred),
        or objects such as `unseen.measures.Quantile(0.9)`; costs and a prevalence still add theirs.
    groups, sample_weight : array-like, optional
        What cases share (whole groups are then the independent units), and their weights.
    by : series, frame, mapping of str to array, or array, optional
        Columns to slice the cases by, such as `{"site": site}`: `slices` then holds each of `measures` (by default the error rate,
        or the RMSE) in every slice, with intervals that hold together, a test whether slices differ, and the gaps between
        them. A number with many values is cut into quarters, or into fifths if its name ends in ":5".
    stratified : bool, optional
        Whether the sizes of the classes were fixed by design, as in a study of so many cases and controls; the resamples of the
        BCa intervals then keep them. By default they count as fixed if all classes have exactly the same size, which chance
        hardly gives; a note says so. Matters for measures that depend on prevalence, such as F1.
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
        under ROC curves, BCa for everything else. All are of this model, conditional on its training.

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
    call = Call.of(measure, locals())
    check_level(level)
    if n_bootstrap < LEAST_DRAWS:
        raise InputError(f"n_bootstrap is {n_bootstrap}; intervals need at least {LEAST_DRAWS} resamples.")
    options = _ClassOptions(
        y_pred=y_pred, positive=positive, threshold=threshold, costs=costs, prevalence=prevalence, stratified=stratified
    )
    seed = root_seed(random_state)
    notes: tuple[Note, ...] = ()
    if isinstance(y_true, PredictionTable):
        if y_score is not None:
            raise InputError("a table of predictions brings its own scores; leave y_score out.")
        cases, notes = scored_cases_of(y_true), _pooling_notes(y_true)
        parts = _parts_of_table(by, y_true)
    elif y_score is None:
        raise InputError("y_score is missing: give probabilities, decision values, predicted labels or numbers.")
    elif _has_several_outputs(y_true):
        if options.names:
            raise InputError(
                f"y_true has several columns, which are measured as numbers, output by output; {', '.join(options.names)} "
                "cannot be used. For classes give one column of labels."
            )
        if by is not None:
            raise InputError("slices are of one output; give one column of truth with `by`.")
        columns = _output_columns(y_true, y_score, groups, sample_weight)
        boot = BootstrapIntervals(
            cases=_all_outputs(columns), n_draws=n_bootstrap, seed=seed, level=level, stratified=False
        )
        asked = None if measures is None else _resolve(measures, boot.cases)
        made = _record(_measures_of_outputs(columns, boot, asked), boot, ())
        return replace(made, asked=measures is not None, command=call.text(random_state=seed))
    else:
        cases = check_scored_cases(y_true, y_score, y_pred, positive, threshold, groups, sample_weight, task)
        parts = () if by is None else slice_rows(columns_by_name(by, cases.n))
    fixed, design_notes = _fix_class_sizes(cases, stratified)
    notes = (*notes, *few_units(cases))
    boot = BootstrapIntervals(cases=cases, n_draws=n_bootstrap, seed=seed, level=level, stratified=fixed)
    if cases.task == "regression" and (costs is not None or prevalence is not None):
        raise InputError("costs and prevalence are for classes, and these are predictions of numbers; leave them out.")
    if measures is not None:
        measures = _resolve(measures, cases)
        found = _select_measures(boot, measures, options)
    elif cases.task == "regression":
        found = [_of_set(boot, cls()) for cls in classes_in("measures").values() if cls.task == "regression"]
    else:
        found = [*_measures_of_decisions(boot), *_measures_of_use(boot, options), *_measures_of_scores(boot)]
    if cases.probability and cases.size > MOST_IN_TABLES and measures is None:
        text = f"{cases.size} classes: {', '.join(OF_OUTPUTS)} of single classes are left out (made for up to {MOST_IN_TABLES})"
        notes = (*notes, note("U019", text))
    if boot.draws < n_bootstrap and not (cases.simple and cases.size <= MOST_IN_TABLES):
        notes = (*notes, note("U019", f"{cases.n} cases: {boot.draws} resamples instead of {n_bootstrap}"))
    if by is not None or any(e is not None and e.method == "bca" for e in found):  # other intervals resample nothing
        notes = (*design_notes, *notes)
    notes = merge_notes(notes, _turned_scores(found, cases))
    slices = _slices_by_measure(boot, parts, measures)
    made = _record(found, boot, merge_notes(notes, *(s.notes for s in slices.values())), slices)
    return replace(made, asked=measures is not None, command=call.text(random_state=seed))


def _parts_of_table(by: Any, table: PredictionTable) -> tuple[RowsOfSlice, ...]:
    """Return the slices of a table's tested rows; `by` has a value for every row of its data, or names the target or groups."""
    if by is None:
        return ()
    rows = table.test.row
    return slice_rows({name: values[rows] for name, values in columns_of_data(by, table.data).items()})


def _slices_by_measure(
    boot: BootstrapIntervals, parts: Sequence[RowsOfSlice], measures: Sequence[Any] | None
) -> dict[str, Slices]:
    """Return the measures asked for in each slice, by default the error rate or the RMSE."""
    if not parts:
        return {}
    usual = ["zero-one" if boot.cases.classes is not None else "squared"]
    asked = usual if measures is None else measures
    found = {}
    for wanted in asked:
        one = find(wanted, "measures")() if isinstance(wanted, str) else wanted
        made = slices_of_cases(
            boot.cases, parts, one, one_measure, level=boot.level, seed=boot.seed, n_bootstrap=boot.n_draws
        )
        found[made.measure] = made
    return found


def _record(
    found: Sequence[Estimate | None],
    boot: BootstrapIntervals,
    notes: tuple[Note, ...],
    slices: Mapping[str, Slices] | None = None,
) -> Measures:
    """Return the measures that exist on these cases, with the notes of all."""
    estimates = {e.loss: e for e in found if e is not None}
    if "brier" in estimates and boot.cases.size > 2:
        notes = (*notes, note("U045", find("brier", "measures").convention))
    return Measures(
        estimates=estimates,
        cases=boot.cases,
        level=boot.level,
        seed=boot.seed,
        n_bootstrap=boot.n_draws,
        stratified=boot.stratified,
        notes=merge_notes(notes, *(e.notes for e in estimates.values())),
        slices=slices or {},
    )


def _fix_class_sizes(cases: ScoredCases, stratified: bool | None) -> tuple[bool, tuple[Note, ...]]:
    """Decide whether classes keep their sizes in resamples."""
    if stratified and (cases.classes is None or not cases.simple):
        raise InputError("stratified resampling is for classes of independent, unweighted cases; leave stratified out.")
    if stratified is not None or cases.classes is None or not cases.simple:
        return bool(stratified), ()
    sizes = np.bincount(cases.y)
    if len(np.unique(sizes[sizes > 0])) > 1 or cases.n < LEAST_FOR_DESIGN:
        return False, ()
    text = f"all classes have {sizes.max()} cases, so their sizes count as fixed by design; unseen.measure(stratified=False) lets them vary"
    return True, (note("U016", text),)


def _resolve(measures: Any, cases: ScoredCases) -> list[Any]:
    """Return the measures asked for as ids or objects; functions get the labels of the cases."""
    asked = [measures] if isinstance(measures, str) or callable(measures) else list(measures)
    found = [one if isinstance(one, str) and one in PRICED else resolve_measure(one) for one in asked]
    if cases.classes is None:
        return found
    label = cases.classes[cases.positive]
    return [one.for_classes(cases.classes, label) if isinstance(one, Scoring) else one for one in found]


def _turned_scores(found: Sequence[Estimate | None], cases: ScoredCases) -> tuple[Note, ...]:
    """Return the note on scores that rank the positive class last, as those of the other class do."""
    area = next((e for e in found if e is not None and e.loss == "auc"), None)
    if cases.classes is None or cases.size != 2 or area is None or area.interval is None or area.interval.high >= 0.5:
        return ()
    taken, other = (cases.label(code) for code in (cases.positive, 1 - cases.positive))
    text = f"scores count as those of {taken!r}, and the whole interval of the AUC is below 0.5; if they are those of {other!r}, say positive={other!r}"
    return (note("U016", text),)


def _pooling_notes(table: PredictionTable) -> tuple[Note, ...]:
    splits = len(np.unique(table.test.split))
    if splits < 2:
        return ()
    return (note("U016", f"predictions of {splits} models were pooled as if one model had made them"),)


def one_measure(boot: BootstrapIntervals, one: Any) -> Estimate | None:
    """Return a measure with the same interval as in the full list: Wilson's, one made of Wilson's, DeLong's or BCa."""
    cases, level = boot.cases, boot.level
    if one.id == "accuracy":
        return rate_estimate(cases, "accuracy", cases.y == cases.value, np.ones(cases.n, bool), level)
    if one.id in RATES and cases.size == 2 and one.average in ("auto", "positive"):
        return _rate_of_class(boot, one.id, one.id, cases.positive)
    if one.id == "auc" and cases.size == 2:
        return area_estimate(cases, "auc", cases.y == cases.positive, cases.column(cases.positive), level)
    if one.id == "auc" and cases.size > MOST_IN_TABLES and cases.score is not None:
        return mean_area_estimate(cases, level)
    if one.id in SUMS_OF_RATES and cases.simple:
        return SUMS_OF_RATES[one.id](cases, level)
    if hasattr(one, "of_classes"):
        return _of_classes(boot, one)
    if hasattr(one, "of_tables") and cases.size <= MOST_IN_TABLES:
        return boot.of_tables(one.id, lambda tables: one.of_tables(tables, cases.positive), one.range)
    return _of_set(boot, one)


def _rate_of_class(boot: BootstrapIntervals, id: str, name: str, code: int) -> Estimate | None:
    """Return a rate of one class against the rest, its parts counted case by case."""
    cases = boot.cases
    true, called = cases.y == code, cases.value == code
    cells = [c.astype(float) for c in (true & called, true & ~called, ~true & called, ~true & ~called)]
    part, whole = find(id, "measures")().share(*cells)
    return rate_estimate(cases, name, part, whole, boot.level)


def _rates_of_classes(boot: BootstrapIntervals) -> Iterator[tuple[int, list[Estimate | None]]]:
    """Yield every rate of each class against the rest; of simple cases from the counts, which takes one pass for all classes."""
    cases = boot.cases
    if not cases.simple:
        for code in range(cases.size):
            yield code, [_rate_of_class(boot, id, f"{id}[{cases.label(code)}]", code) for id in RATES]
        return
    counts = counts_of(cases.y, cases.value, np.ones((1, cases.n)), cases.size)
    shares = {id: find(id, "measures")().share(*(c[0] for c in counts)) for id in RATES}
    for code in range(cases.size):
        yield (
            code,
            [
                rate_of_counts(cases, f"{id}[{cases.label(code)}]", float(part[code]), float(whole[code]), boot.level)
                for id, (part, whole) in shares.items()
            ],
        )


def _of_classes(
    boot: BootstrapIntervals, one: Any, name: str | None = None, code: int | None = None
) -> Estimate | None:
    """Return a measure of the confusion matrix, of the positive class or of the one with this code."""
    place = boot.cases.positive if code is None else code
    return boot.of_classes(name or one.id, lambda counts: one.of_classes(counts, place), one.range)


def _of_set(
    boot: BootstrapIntervals, one: Any, name: str | None = None, y: Any = None, value: Any = None
) -> Estimate | None:
    """Return any measure by the bootstrap of units, by default of the cases' own truth and decisions."""
    cases = boot.cases
    y, value = (cases.y, cases.value) if y is None else (y, value)
    name = name or one.id
    if cases.n_units >= MANY_UNITS:  # the bootstrap would only add noise to what the influence of each case says
        if cases.simple and isinstance(one, FromCurve):
            return boot.of_curve(name, one)
        if one.kind == "loss":
            losses = one.per_example(y, value, cases.score)
            mean = float(np.average(losses, weights=cases.weight))
            return boot.of_influence(name, mean, losses - mean, one.range)
        if hasattr(one, "influence"):
            whole = float(one.of_weights(y, value, cases.score, cases.weight[None], cases.positive)[0])
            return boot.of_influence(name, whole, one.influence(y, value, cases.score, cases.weight), one.range)
    if one.kind == "set":
        return boot.of_weights(name, lambda w: one.of_weights(y, value, cases.score, w, cases.positive), one.range)
    losses = one.per_example(y, value, cases.score)
    return boot.of_weights(name, lambda w: w @ losses / w.sum(axis=1), one.range)


def _measures_of_decisions(boot: BootstrapIntervals) -> list[Estimate | None]:
    """Return measures of the confusion matrix: of the positive class, or averaged and class by class."""
    cases = boot.cases
    out = [rate_estimate(cases, "accuracy", cases.y == cases.value, np.ones(cases.n, bool), boot.level)]
    if cases.size == 2:
        out += [_rate_of_class(boot, name, name, cases.positive) for name in RATES]
    else:
        out += [_of_classes(boot, find(name, "measures")()) for name in RATES]
    names = ["balanced-accuracy", "f1", "mcc", *(["d-prime"] if cases.size == 2 else [])]
    out += [one_measure(boot, find(name, "measures")()) for name in names]
    if cases.size > 2:
        f1 = find("f1", "measures")(average="positive")
        for code, rates in _rates_of_classes(boot):
            out += [*rates, _of_classes(boot, f1, f"f1[{cases.label(code)}]", code)]
    return out


def _measures_of_use(boot: BootstrapIntervals, options: _ClassOptions) -> list[Estimate | None]:
    """Return measures that need to know the use of the predictions: a cost matrix, a prevalence."""
    out: list[Estimate | None] = []
    if options.costs is not None:
        matrix = cost_matrix(options.costs, boot.cases.size)
        span = float(matrix.min()), float(matrix.max())
        if boot.cases.size <= MOST_IN_TABLES:
            cost = boot.of_tables("cost", lambda tables: -Utility(-matrix).of_tables(tables), span)
        else:
            price = matrix[boot.cases.y, boot.cases.value]
            cost = boot.of_weights("cost", lambda w: w @ price / w.sum(axis=1), span)
        out += [cost, None if cost is None else _negative(cost, "utility")]
    prevalence = options.prevalence
    if prevalence is not None:
        if not isinstance(prevalence, (int, float)) or not 0 <= prevalence <= 1:
            raise InputError(f"prevalence is {prevalence!r}; a share lies between 0 and 1.")
        for k, name in enumerate(("positive-predictive-value", "negative-predictive-value")):
            values = lambda counts, k=k: _predictive_values(counts, boot.cases.positive, float(prevalence))[k]  # noqa: E731
            out.append(boot.of_classes(f"{name} at prevalence {prevalence:g}", values, (0.0, 1.0)))
    return out


def _negative(e: Estimate, name: str) -> Estimate:
    """Return the same figure with its sign changed."""
    interval = None if e.interval is None else Interval(-e.interval.high, -e.interval.low, e.interval.level)
    return replace(e, value=-e.value, interval=interval, loss=name)


def _predictive_values(counts: Counts, positive: int, prevalence: float) -> tuple[Floats, Floats]:
    """Return the positive and the negative predictive value at a prevalence, by Bayes' rule."""
    hits, misses, alarms, rejections = (c[..., positive] for c in counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        sensitivity, specificity = hits / (hits + misses), rejections / (rejections + alarms)
        right, wrong = prevalence * sensitivity, (1 - prevalence) * (1 - specificity)
        clear, missed = (1 - prevalence) * specificity, prevalence * (1 - sensitivity)
        return right / (right + wrong), clear / (clear + missed)


def _measures_of_scores(boot: BootstrapIntervals) -> list[Estimate | None]:
    """Return areas under curves of the positive class or of each, then losses of probabilities and of outputs."""
    cases, level = boot.cases, boot.level
    if cases.score is None:
        return []
    out: list[Estimate | None] = []
    if cases.size == 2:
        out.append(area_estimate(cases, "auc", cases.y == cases.positive, cases.column(cases.positive), level))
        names = ("partial-auc", "corner-distance", "average-precision")
        out += [_of_set(boot, find(name, "measures")()) for name in names]
    else:
        auc = find("auc", "measures")()
        each = [
            ((cases.y == k).astype(int), cases.column(k)[:, None]) for k in range(cases.size) if np.any(cases.y == k)
        ]
        mean = lambda w: np.mean([auc.of_weights(y, y, s, w) for y, s in each], axis=0)  # noqa: E731
        few = cases.size <= MOST_IN_TABLES and cases.n_units < MANY_UNITS
        out.append(boot.of_weights("auc", mean, (0.0, 1.0)) if few else mean_area_estimate(cases, level))
        out += [
            area_estimate(cases, f"auc[{cases.label(k)}]", cases.y == k, cases.column(k), level)
            for k in range(cases.size)
        ]
    if cases.probability:
        out += [_of_set(boot, find(name, "measures")()) for name in ("brier", "log-loss")]
        out += _continuous_measures(boot)
    return out


def _continuous_measures(boot: BootstrapIntervals) -> list[Estimate | None]:
    """Return Hutton's measures of outputs against targets of 0 and 1, for the positive class or for each of a few."""
    cases = boot.cases
    codes = [cases.positive] if cases.size == 2 else range(cases.size) if cases.size <= MOST_IN_TABLES else ()
    out = []
    for code in codes:
        target, output = (cases.y == code).astype(float), cases.column(code)
        for id in OF_OUTPUTS:
            name = id if cases.size == 2 else f"{id}[{cases.label(code)}]"
            out.append(_of_set(boot, find(id, "measures")(), name, target, output))
    return out


def _select_measures(
    boot: BootstrapIntervals, measures: Sequence[Any], options: _ClassOptions
) -> list[Estimate | None]:
    """Return the measures asked for by id or object, and those that a cost matrix or a prevalence adds."""
    cases = boot.cases
    priced = [name for name in measures if isinstance(name, str) and name in PRICED] or list(PRICED)
    of_use = [e for e in _measures_of_use(boot, options) if e is not None]
    out: list[Estimate | None] = [e for e in of_use if e.loss not in PRICED or e.loss in priced]
    for wanted in measures:
        if options.costs is not None and isinstance(wanted, str) and wanted in PRICED:
            continue
        one = find(wanted, "measures")() if isinstance(wanted, str) else wanted
        if one.task not in (cases.task, "any"):
            raise NotApplicable(f"{one.id} is a measure for {one.task}, and these are predictions of {cases.task}.")
        if one.needs_score and cases.score is None:
            raise InputError(f"{one.id} needs scores, and only decisions were given.")
        out.append(one_measure(boot, one))
    return out


def _has_several_outputs(y_true: Any) -> bool:
    shape = np.shape(y_true)
    return len(shape) == 2 and shape[1] > 1


def _output_columns(y_true: Any, y_score: Any, groups: Any, weight: Any) -> dict[str, ScoredCases]:
    """Return the checked cases of each output by its name, or by its number if the columns have no names."""
    names = [str(c) for c in getattr(y_true, "columns", range(np.shape(y_true)[1]))]
    truth, predicted = np.asarray(y_true), np.asarray(y_score)
    if truth.shape != predicted.shape:
        raise InputError(
            f"y_true has shape {truth.shape} and y_score {predicted.shape}; give one prediction per output."
        )
    return {
        name: check_scored_cases(truth[:, k], predicted[:, k], None, None, None, groups, weight, "regression")
        for k, name in enumerate(names)
    }


def _all_outputs(columns: dict[str, ScoredCases]) -> ScoredCases:
    """Return the outputs of all cases as one set; the outputs of a case are one unit."""
    parts = list(columns.values())
    return replace(
        parts[0],
        y=_interleave([c.y for c in parts]),
        value=_interleave([c.value for c in parts]),
        units=np.repeat(parts[0].units, len(parts)),
        weight=np.repeat(parts[0].weight, len(parts)),
        outputs=tuple(columns),
    )


def _interleave(columns: list[Array]) -> Array:
    return np.column_stack(columns).reshape(-1)


def _measures_of_outputs(
    columns: dict[str, ScoredCases], boot: BootstrapIntervals, measures: Any
) -> list[Estimate | None]:
    """Return errors over all outputs, then every measure of each output, named "pov[a]".

    Errors over all outputs are means over cases and outputs (Hutton, 1992, equations for E_rms and E_abs). A measure that
    compares with guessing the mean, such as POV, exists per output only, because outputs have means of their own. The outputs
    of a case are resampled together.
    """
    wanted = _measures_of_numbers(measures)
    found = [_of_set(boot, one) for one in wanted if one.id in OVER_ALL_OUTPUTS]
    for name, cases in columns.items():
        own = replace(boot, cases=cases)
        found += [_of_set(own, one, f"{one.id}[{name}]") for one in wanted]
    return found


def _measures_of_numbers(measures: Any) -> list[Any]:
    if measures is None:
        return [cls() for cls in classes_in("measures").values() if cls.task == "regression"]
    built = [find(one, "measures")() if isinstance(one, str) else one for one in measures]
    unfit = [one.id for one in built if one.task not in ("regression", "any")]
    if unfit:
        raise NotApplicable(f"{', '.join(unfit)}: no measure of numbers, and several outputs are measured as numbers.")
    return built


def summed_limits(values: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """Return the limits of a sum of independent estimates from the limits of each (Donner & Zou, 2012).

    References
    ----------
    Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for functions of the normal mean and standard
    deviation. Statistical Methods in Medical Research 21, 347-359. Newcombe, R. G. (1998). Interval estimation for the
    difference between independent proportions. Statistics in Medicine 17, 873-890 (from Wilson's limits).

    Examples
    --------
    >>> summed_limits(np.array([1.0, 2.0]), np.array([-2.0, -2.0]), np.array([4.0, 6.0]))
    (-2.0, 8.0)
    """
    total = float(values.sum())
    down, up = np.sqrt(np.square(values - low).sum()), np.sqrt(np.square(high - values).sum())
    return total - float(down), total + float(up)


def _balanced_accuracy(cases: ScoredCases, level: float) -> Estimate | None:
    """Return the mean over classes of the share called right; cases must be independent."""
    rates = [_class_rate(cases.value[cases.y == k] == k, level) for k in np.unique(cases.y)]
    value, low, high = np.array([(r.share, r.low, r.high) for r in rates]).T / len(rates)
    error = float(np.sqrt(np.sum([r.share * (1 - r.share) / r.n for r in rates]))) / len(rates)
    low_end, high_end = np.clip(summed_limits(value, low, high), 0.0, 1.0)
    name = "balanced-accuracy"
    return estimate_of(cases, name, float(value.sum()), error, (low_end, high_end), level, "mover-wilson")


def _d_prime(cases: ScoredCases, level: float) -> Estimate | None:
    """Return d'; without a miss, or without a false alarm, its interval has no upper end. Cases must be independent."""
    from scipy.special import ndtri

    positive, called = cases.y == cases.positive, cases.value == cases.positive
    if positive.all() or not positive.any():
        return None
    rates = [_class_rate(right, level) for right in (called[positive], ~called[~positive])]
    share, low, high, n = (np.array([getattr(r, name) for r in rates]) for name in ("share", "low", "high", "n"))
    near = np.clip(share, 0.5 / n, 1 - 0.5 / n)  # as DPrime counts rates of 0 and 1
    z, density = ndtri(near), np.exp(-np.square(ndtri(near)) / 2) / np.sqrt(2 * np.pi)
    error = float(np.sqrt(np.sum(near * (1 - near) / n / density**2)))
    ends = summed_limits(z, ndtri(low), ndtri(high))
    return estimate_of(cases, DPrime.id, float(z.sum()), error, ends, level, "mover-wilson")


@dataclass(frozen=True)
class _RateInterval:
    """Share of one class's cases with its Wilson limits."""

    share: float
    low: float
    high: float
    n: float


def _class_rate(right: Array, level: float) -> _RateInterval:
    share = float(right.mean())
    return _RateInterval(share, *wilson_interval(share, len(right), level), float(len(right)))


# limits made of the limits of independent rates
SUMS_OF_RATES = {"balanced-accuracy": _balanced_accuracy, "d-prime": _d_prime}
