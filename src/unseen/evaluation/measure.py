"""`unseen.measure`: every measure of a set of predictions, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval, check_level
from unseen.core.notes import Note, merge_notes, note
from unseen.core.registry import find, known
from unseen.core.rng import RandomState, root_seed
from unseen.core.table import PredictionTable
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.measure_intervals import BootstrapIntervals, area_estimate, estimate_of, few_units, rate_estimate
from unseen.evaluation.measure_record import Measures
from unseen.evaluation.scored_cases import ScoredCases, check_scored_cases, scored_cases_of
from unseen.measures._costs import cost_matrix
from unseen.measures._tables import against_rest
from unseen.measures.d_prime import DPrime
from unseen.measures.utility import Utility

__all__ = [
    "RATES",
    "balanced_estimate",
    "d_prime_estimate",
    "has_several_outputs",
    "measure",
    "measures_of_outputs",
    "of_set",
    "of_table",
    "one_measure",
    "rate_of_class",
    "recovered",
]


def recovered(values: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """Return the limits of a sum of independent estimates from the limits of each (Donner & Zou, 2012).

    References
    ----------
    Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for functions of the normal mean and standard
    deviation. Statistical Methods in Medical Research 21, 347-359. Newcombe, R. G. (1998). Interval estimation for the
    difference between independent proportions. Statistics in Medicine 17, 873-890 (from Wilson's limits).

    Examples
    --------
    >>> recovered(np.array([1.0, 2.0]), np.array([-2.0, -2.0]), np.array([4.0, 6.0]))
    (-2.0, 8.0)
    """
    total = float(values.sum())
    down, up = np.sqrt(np.square(values - low).sum()), np.sqrt(np.square(high - values).sum())
    return total - float(down), total + float(up)


def balanced_estimate(cases: ScoredCases, level: float) -> Estimate | None:
    """Return the mean over classes of the share called right; cases must be independent."""
    rates = [_wilson_rate(cases.value[cases.y == k] == k, level) for k in np.unique(cases.y)]
    value, low, high = np.array([one[:3] for one in rates]).T / len(rates)
    error = float(np.sqrt(np.sum([p * (1 - p) / n for p, _, _, n in rates]))) / len(rates)
    ends = np.clip(recovered(value, low, high), 0.0, 1.0)
    name = "balanced-accuracy"
    return estimate_of(cases, name, float(value.sum()), error, (ends[0], ends[1]), level, "mover-wilson")


def d_prime_estimate(cases: ScoredCases, level: float) -> Estimate | None:
    """Return d'; without a miss, or without a false alarm, its interval has no upper end. Cases must be independent."""
    from scipy.special import ndtri

    positive, said = cases.y == cases.positive, cases.value == cases.positive
    if positive.all() or not positive.any():
        return None
    rates = np.array([_wilson_rate(called, level) for called in (said[positive], ~said[~positive])])
    near = np.clip(rates[:, 0], 0.5 / rates[:, 3], 1 - 0.5 / rates[:, 3])  # as DPrime counts rates of 0 and 1
    z, density = ndtri(near), np.exp(-np.square(ndtri(near)) / 2) / np.sqrt(2 * np.pi)
    error = float(np.sqrt(np.sum(near * (1 - near) / rates[:, 3] / density**2)))
    ends = recovered(z, ndtri(rates[:, 1]), ndtri(rates[:, 2]))
    return estimate_of(cases, DPrime.id, float(z.sum()), error, ends, level, "mover-wilson")


def _wilson_rate(right: Array, level: float) -> tuple[float, float, float, float]:
    share = float(right.mean())
    return (share, *wilson_interval(share, len(right), level), float(len(right)))


RATES = (
    "sensitivity",
    "specificity",
    "false-alarm-rate",
    "miss-rate",
    "positive-predictive-value",
    "negative-predictive-value",
)
SUMS = {"balanced-accuracy": balanced_estimate, "d-prime": d_prime_estimate}


def one_measure(cases: ScoredCases, boot: BootstrapIntervals, one: Any, level: float) -> Estimate | None:
    """Return a measure with the same interval as in the full list: Wilson's, one made of Wilson's, DeLong's or BCa."""
    if one.id == "accuracy":
        return rate_estimate(cases, "accuracy", cases.y == cases.value, np.ones(cases.n, bool), level)
    if one.id in RATES and cases.size == 2 and one.average in ("auto", "positive"):
        return rate_of_class(cases, one.id, one.id, cases.positive, level)
    if one.id == "auc" and cases.size == 2:
        return area_estimate(cases, "auc", cases.y == cases.positive, cases.column(cases.positive), level)
    if one.id in SUMS and cases.simple:
        return SUMS[one.id](cases, level)
    if hasattr(one, "of_tables"):
        return of_table(cases, boot, one.id, built=one)
    return of_set(cases, boot, one)


def rate_of_class(cases: ScoredCases, id: str, name: str, code: int, level: float) -> Estimate | None:
    """Return a rate of one class against the rest: its parts are counted case by case."""
    true, said = cases.y == code, cases.value == code
    cells = [c.astype(float) for c in (true & said, true & ~said, ~true & said, ~true & ~said)]
    part, whole = find(id, "measures")().share(*cells)
    return rate_estimate(cases, name, part, whole, level)


def of_table(
    cases: ScoredCases, boot: BootstrapIntervals, id: str, code: int | None = None, built: Any = None
) -> Estimate | None:
    """Return a measure of the confusion matrix, of one class against the rest where a code is given."""
    cls = find(id, "measures")
    one = built or (cls(average="positive") if code is not None else cls())
    place = cases.positive if code is None else code
    name = id if code is None else f"{id}[{cases.label(code)}]"
    return boot.of_tables(name, lambda tables: one.of_tables(tables, place), one.range)


def of_set(
    cases: ScoredCases, boot: BootstrapIntervals, one: Any, name: str | None = None, y: Any = None, value: Any = None
) -> Estimate | None:
    """Return any measure by the bootstrap of units."""
    y, value = (cases.y, cases.value) if y is None else (y, value)
    name = name or one.id
    if hasattr(one, "of_weights"):
        return boot.of_weights(name, lambda w: one.of_weights(y, value, cases.score, w, cases.positive), one.range)
    if hasattr(one, "of_set"):
        each = lambda w: np.array([one.of_set(y, value, cases.score, row, cases.positive) for row in w])  # noqa: E731
        return boot.of_weights(name, each, one.range)
    losses = one.per_example(y, value, cases.score)
    return boot.of_weights(name, lambda w: w @ losses / w.sum(axis=1), one.range)


OVER_ALL = ("rms", "absolute", "squared")


def has_several_outputs(y_true: Any) -> bool:
    """Say whether the truth has a column per output.

    Examples
    --------
    >>> has_several_outputs([[1.0, 2.0], [3.0, 4.0]]), has_several_outputs([1.0, 2.0])
    (True, False)
    """
    shape = np.shape(y_true)
    return len(shape) == 2 and shape[1] > 1


def measures_of_outputs(
    y_true: Any, y_score: Any, measures: Any, groups: Any, weight: Any, n_bootstrap: int, seed: int, level: float
) -> tuple[list[Estimate | None], ScoredCases]:
    """Return the estimates, named "pov[a]" by output, and all outputs as one set whose units are the cases.

    Errors over all outputs are means over cases and outputs (Hutton, 1992, equations for E_rms and E_abs); a measure that
    compares with guessing the mean, such as POV, exists per output only, because outputs have means of their own. A case's
    outputs are resampled together.
    """
    names = _names(y_true)
    truth, said = np.asarray(y_true), np.asarray(y_score)
    if truth.shape != said.shape:
        raise InputError(f"y_true has shape {truth.shape} and y_score {said.shape}; give one prediction per output.")
    columns = [
        check_scored_cases(truth[:, k], said[:, k], None, None, None, groups, weight, "regression")
        for k in range(len(names))
    ]
    whole, wanted = _stacked(columns, names), _wanted(measures)
    boot = BootstrapIntervals(cases=whole, n_draws=n_bootstrap, seed=seed, level=level)
    found = [of_set(whole, boot, one) for one in wanted if one.id in OVER_ALL]
    for name, cases in zip(names, columns):
        draws = BootstrapIntervals(cases=cases, n_draws=n_bootstrap, seed=seed, level=level)
        found += [of_set(cases, draws, one, f"{one.id}[{name}]") for one in wanted]
    return found, whole


def _wanted(measures: Any) -> list[Any]:
    if measures is None:
        return [cls() for cls in known("measures").values() if cls.task == "regression"]
    asked = [measures] if isinstance(measures, str) else measures
    made = [find(one, "measures")() if isinstance(one, str) else one for one in asked]
    unfit = [one.id for one in made if one.task != "regression"]
    if unfit:
        raise NotApplicable(f"{', '.join(unfit)}: no measure of numbers, and several outputs are measured as numbers.")
    return made


def _names(y_true: Any) -> list[str]:
    columns = getattr(y_true, "columns", None)
    return [str(c) for c in columns] if columns is not None else [str(k) for k in range(np.shape(y_true)[1])]


def _stacked(columns: list[ScoredCases], names: list[str]) -> ScoredCases:
    def joined(parts: list[Array]) -> Array:
        return np.column_stack(parts).reshape(-1)

    first = columns[0]
    y, value = joined([c.y for c in columns]), joined([c.value for c in columns])
    weight: Floats = np.repeat(first.weight, len(columns))
    units = np.repeat(first.units, len(columns))
    return ScoredCases(
        task="regression",
        y=y,
        value=value,
        score=None,
        probability=False,
        classes=None,
        positive=1,
        units=units,
        weight=weight,
        outputs=tuple(names),
    )


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
        cases, notes = scored_cases_of(y_true), _pooled(y_true)
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
        cases = check_scored_cases(y_true, y_score, y_pred, positive, threshold, groups, sample_weight, task)
    seed = root_seed(random_state)
    fixed, remark = _fixed_sizes(cases, stratified)
    notes = (*notes, *remark, *few_units(cases))
    boot = BootstrapIntervals(cases=cases, n_draws=n_bootstrap, seed=seed, level=level, stratified=fixed)
    if cases.task == "regression" and (costs is not None or prevalence is not None):
        raise InputError("costs and prevalence speak of classes, and these are predictions of numbers; leave them out.")
    if measures is not None:
        found = _chosen(cases, boot, measures, level, costs, prevalence)
    elif cases.task == "regression":
        found = [_number(cases, boot, name) for name, cls in known("measures").items() if cls.task == "regression"]
    else:
        found = [
            *_categorical(cases, boot, level),
            *_extras(cases, boot, costs, prevalence),
            *_scored(cases, boot, level),
        ]
    estimates = {e.loss: e for e in found if e is not None}
    remarks = merge_notes(*(e.notes for e in estimates.values()))
    if boot.draws < n_bootstrap:
        notes = (*notes, note("U019", f"{cases.n} cases: {boot.draws} resamples instead of {n_bootstrap}"))
    return Measures(
        estimates=estimates,
        cases=cases,
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
    found, cases = measures_of_outputs(y_true, y_score, measures, groups, weight, n_bootstrap, seed, level)
    estimates = {e.loss: e for e in found if e is not None}
    return Measures(
        estimates=estimates,
        cases=cases,
        level=level,
        seed=seed,
        n_bootstrap=n_bootstrap,
        stratified=False,
        notes=merge_notes(*(e.notes for e in estimates.values())),
    )


def _fixed_sizes(cases: ScoredCases, stratified: bool | None) -> tuple[bool, tuple[Note, ...]]:
    """Decide whether classes keep their sizes in resamples."""
    if stratified and (cases.classes is None or not cases.simple):
        raise InputError("stratified resampling is for classes of independent, unweighted cases; leave stratified out.")
    if stratified is not None or cases.classes is None or not cases.simple:
        return bool(stratified), ()
    sizes = np.bincount(cases.y)
    if len(np.unique(sizes[sizes > 0])) > 1 or cases.n < LEAST_FOR_DESIGN:
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


def _categorical(cases: ScoredCases, boot: BootstrapIntervals, level: float) -> list[Estimate | None]:
    """Measures of the confusion matrix: of the positive class, or averaged and class by class."""
    right = cases.y == cases.value
    out = [rate_estimate(cases, "accuracy", right, np.ones(cases.n, bool), level)]
    if cases.size == 2:
        out += [rate_of_class(cases, name, name, cases.positive, level) for name in RATES]
    else:
        out += [of_table(cases, boot, name) for name in RATES]
    names = ["balanced-accuracy", "f1", "mcc", *(["d-prime"] if cases.size == 2 else [])]
    out += [one_measure(cases, boot, find(name, "measures")(), level) for name in names]
    if cases.size > 2:
        for code in range(cases.size):
            out += [rate_of_class(cases, name, f"{name}[{cases.label(code)}]", code, level) for name in RATES]
            out.append(of_table(cases, boot, "f1", code))
    return out


def _extras(
    cases: ScoredCases, boot: BootstrapIntervals, costs: Any, prevalence: float | None
) -> list[Estimate | None]:
    """Measures that need something from the user: a cost matrix, a prevalence."""
    out: list[Estimate | None] = []
    if costs is not None:
        matrix = cost_matrix(costs, cases.size)
        span = float(matrix.min()), float(matrix.max())
        cost = boot.of_tables("cost", lambda tables: -Utility(-matrix).of_tables(tables), span)
        out += [cost, None if cost is None else _mirrored(cost, "utility")]
    if prevalence is not None:
        if not isinstance(prevalence, (int, float)) or not 0 <= prevalence <= 1:
            raise InputError(f"prevalence is {prevalence!r}; a share lies between 0 and 1.")
        for k, name in enumerate(("positive-predictive-value", "negative-predictive-value")):
            made = lambda tables, k=k: _at_prevalence(tables, cases.positive, float(prevalence))[k]  # noqa: E731
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


def _scored(cases: ScoredCases, boot: BootstrapIntervals, level: float) -> list[Estimate | None]:
    """Measures of scores: curves of the positive class or of each, then losses of probabilities and outputs."""
    if cases.score is None:
        return []
    out: list[Estimate | None] = []
    if cases.size == 2:
        out.append(area_estimate(cases, "auc", cases.y == cases.positive, cases.column(cases.positive), level))
        out += [
            of_set(cases, boot, find(name, "measures")())
            for name in ("partial-auc", "corner-distance", "average-precision")
        ]
    else:
        auc = find("auc", "measures")()
        each = [
            ((cases.y == k).astype(int), cases.column(k)[:, None]) for k in range(cases.size) if np.any(cases.y == k)
        ]
        mean = lambda w: np.mean([auc.of_weights(y, y, s, w) for y, s in each], axis=0)  # noqa: E731
        out.append(boot.of_weights("auc", mean, (0.0, 1.0)))
        out += [
            area_estimate(cases, f"auc[{cases.label(k)}]", cases.y == k, cases.column(k), level)
            for k in range(cases.size)
        ]
    if cases.probability:
        out += [of_set(cases, boot, find(name, "measures")()) for name in ("brier", "log-loss")]
        out += _outputs(cases, boot)
    return out


def _outputs(cases: ScoredCases, boot: BootstrapIntervals) -> list[Estimate | None]:
    """Hutton's continuous measures of outputs against targets of 0 and 1, for the positive class or for each."""
    codes = [cases.positive] if cases.size == 2 else range(cases.size)
    out = []
    for code in codes:
        target, output = (cases.y == code).astype(float), cases.column(code)
        for id in OF_OUTPUTS:
            name = id if cases.size == 2 else f"{id}[{cases.label(code)}]"
            out.append(of_set(cases, boot, find(id, "measures")(), name, target, output))
    return out


def _number(cases: ScoredCases, boot: BootstrapIntervals, name: str) -> Estimate | None:
    return of_set(cases, boot, find(name, "measures")())


def _chosen(
    cases: ScoredCases,
    boot: BootstrapIntervals,
    measures: Sequence[Any],
    level: float,
    costs: Any,
    prevalence: float | None,
) -> list[Estimate | None]:
    """Return the measures asked for by id or object, and what a cost matrix or a prevalence asks for by itself."""
    asked = [measures] if isinstance(measures, str) else list(measures)
    priced = [name for name in asked if isinstance(name, str) and name in PRICED] or list(PRICED)
    extras = [e for e in _extras(cases, boot, costs, prevalence) if e is not None]
    out: list[Estimate | None] = [e for e in extras if e.loss not in PRICED or e.loss in priced]
    for wanted in asked:
        if costs is not None and isinstance(wanted, str) and wanted in PRICED:
            continue
        one = find(wanted, "measures")() if isinstance(wanted, str) else wanted
        if one.task not in (cases.task, "any"):
            raise NotApplicable(f"{one.id} is a measure for {one.task}, and these are predictions of {cases.task}.")
        if one.needs_score and cases.score is None:
            raise InputError(f"{one.id} needs scores, and only decisions were given.")
        out.append(one_measure(cases, boot, one, level))
    return out
