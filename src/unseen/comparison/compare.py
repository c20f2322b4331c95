"""`unseen.compare`: all pairs of several models on the same splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from unseen.assessment.wording import value_in_units
from unseen.checks.registry import data_notes
from unseen.comparison.choice import choose_by_design, choose_test, target_words
from unseen.core.call import Call
from unseen.core.comparison import Comparison, Comparisons, as_rope
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.estimate import Estimate, check_level
from unseen.core.losses import LossTable, PredictionTable
from unseen.core.model import Model
from unseen.core.notes import Note, note
from unseen.core.registry import build, classes_in, declare, find, options_of
from unseen.core.rng import RandomState, root_seed, stream
from unseen.core.scale import advantage
from unseen.designs.splits import as_design, design_of_cv
from unseen.evaluation.slice_columns import RowsOfSlice, columns_of_data, slice_rows
from unseen.evaluation.slices import Slices, table_slices
from unseen.request.prepare import data_of, model_of, one_measure_of, plan_of
from unseen.request.request import Request, open_request
from unseen.show.text import RATES, percent_or_number
from unseen.significance.adjust import ADJUSTMENTS, adjust_p
from unseen.significance.paired import from_estimate, with_ropes
from unseen.significance.winner import winner_of

__all__ = ["compare", "pair_tests"]

WINNER_SPLITS = 25  # as many as corrected-t has
BY_UNIT = frozenset({"out-of-bag", "subsampling"})  # every unit counts alike here, however often it was tested
# measured on exact nulls: docs/validation/comparing.md
FEW_SPLITS = "corrected-t on random splits found up to .13 of equal pairs at .05: areas and log-losses of neighbours and boosting; .15 for F1 of a rare class"
MANY = 3  # from three models on, the best one looks noticeably better than it is


def compare(
    *subjects: Any,
    test: str | Any = None,
    loss: str = "auto",
    measure: Any = None,
    scoring: Any = None,
    level: float = 0.95,
    rope: float | tuple[float, float] | None = None,
    adjust: str = "holm",
    design: Any = None,
    by: Any = None,
    cv: Any = None,
    random_state: RandomState = None,
    shortcuts: bool = True,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    command: str = "",
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
    duplicates: str = "auto",
    **options: Any,
) -> Comparisons:
    """Compare the errors of models, every pair on the same splits, each model fitted once per split.

    Parameters
    ----------
    *subjects
        `compare({"svm": SVC(), "tree": cart}, X, y)` (y may be the name of a column of a frame), `compare([a, b, c], X, y)` or `compare(a, b, X, y)`, a model being
        an object with fit and predict or a name; or saved tables of predictions instead of models and data, as in
        `compare(t, u)`: nothing is refitted then.
    test : str, optional
        Id of a test, or of an interval method that works on differences: subsampling, corrected-t, conservative-z, nested-cv, 5x2cv,
        combined-f, cv-wald, wald, mcnemar, permutation, wilcoxon, delong, bayesian-t, out-of-bag, auto; t-test and resampled-t are
        liberal and offered for comparison only. By default subsampling, and corrected-t for more than 2,000 rows, with groups, weights
        or times, for models that cross-validate or set rows aside inside their fit, and for measures that subsampling has no form for
        (of scores other than auc, of numbers such as r2). Tables, and a design that is named, get the test that suits the design.
    loss : str
        Id of a loss; "auto" is zero-one for classes and squared error for numbers.
    measure : str or measure, optional
        Id of any measure, such as "f1" or "r2", or an object such as `unseen.measures.Cost(costs)`, instead of a loss; a score s is compared as 1 - s
        on all test parts together (measures of scores, such as auc: the mean over parts).
    scoring : str, scorer or function, optional
        The same in scikit-learn's words, as in `unseen.assess`.
    level : float
        Confidence level; verdicts are given at 1 - level.
    rope : float or pair of float, optional
        Region of practical equivalence: half-width or (low, high), in units of the loss.
    adjust : {"holm", "benjamini-hochberg", "none"}
        Adjustment for the number of pairs, of p-values and of decisions about the region; the intervals are those of single pairs.
    design : optional
        Overrides the test's default design; for subsampling that is 200 random 63/37 splits, for corrected-t 25 random 70/30 splits.
    by : str, sequence of str, series, frame or mapping, optional
        Columns to slice the rows by, as in `unseen.assess`: `slices` then has the difference of each pair in every slice, with
        intervals that hold together for the slices of a pair. For losses of single rows, not for measures such as auc.
    cv : int, scikit-learn splitter or index pairs, optional
        As in `unseen.assess`, instead of a design; the target is the algorithms at the training size of these splits.
    random_state : int, Generator or None
        Same seed, same numbers, whatever `n_jobs`.
    shortcuts, n_jobs, engine, progress
        As in `unseen.run`.
    command : str
        Command line to show in the report.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        Rows with equal features stay on one side of every split: "together" all of them, "apart" none, "auto" those that chance
        does not make, if neither groups nor time are given.
    **options
        Options of the test.

    Returns
    -------
    Comparisons

    References
    ----------
    Wager, S. and Athey, S. (2018). Estimation and inference of heterogeneous treatment effects using random forests. JASA 113,
    1228-1242. Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> models = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1), "dummy": DummyClassifier()}
    >>> c = unseen.compare(models, X, y, random_state=0)
    >>> [f"{pair.a} - {pair.b}: {pair.verdict}" for pair in c][1]
    'bayes - dummy: bayes has the smaller error'
    >>> c.winner.name, c.winner.naive <= c.winner.corrected
    ('bayes', True)
    >>> print(c.test_sentence)
    Test: subsampling (the default up to 2,000 rows). Target: the difference of the algorithms trained on 359 of 569 rows.
    """
    call = Call.of(compare, locals(), _places(subjects))
    check_level(level)
    if adjust not in ADJUSTMENTS:
        raise UnknownName("adjustment", adjust, ADJUSTMENTS)
    if rope is not None:
        as_rope(rope)
    loss = one_measure_of(loss, measure, scoring)
    if cv is not None and design is not None:
        raise InputError("cv and design both say what is fitted on what; give one of them.")
    chosen = None if test is None else _test_of(test, rope, options)
    reason = ""
    models, rest = _subjects(subjects)
    seed = root_seed(random_state)
    if all(isinstance(model, PredictionTable) for model in models.values()):
        if rest:
            raise InputError("tables of predictions bring their own data; leave X and y out.")
        tables, seed = dict(models), next(iter(models.values())).seed
        parts = () if by is None else slice_rows(columns_of_data(by, next(iter(tables.values())).data))
        alarms: tuple[Note, ...] = ()  # tables keep no features to look at
        if chosen is None:
            name, reason = choose_by_design(next(iter(tables.values())).plan.design, loss)
            chosen = _test_of(name, rope, options)
        _check_measure(chosen, loss)
    else:
        X, y = _sample(rest)
        data = data_of(
            X,
            y,
            groups=groups,
            sample_weight=sample_weight,
            time=time,
            ids=ids,
            positive=positive,
            task=task,
            duplicates=duplicates,
            model=models,
        )
        if cv is not None:
            design = design_of_cv(cv, data, stream(seed, "plan", "splits"))
            if getattr(design, "kind", "") == "time-ordered" and data.order is None:
                data = replace(data, order=np.arange(data.n))
        parts = () if by is None else slice_rows(columns_of_data(by, data))  # refused before anything is fitted
        ready = {name: model_of(model, data) for name, model in models.items()}
        if chosen is None:
            name, reason = (
                choose_test(ready, data, loss) if design is None else choose_by_design(_design_id(design), loss)
            )
            chosen = _test_of(name, rope, options)
        _check_measure(chosen, loss)
        with open_request(
            next(iter(ready.values())),
            data,
            loss=loss,
            level=level,
            random_state=seed,
            n_jobs=n_jobs,
            engine=engine,
            progress=progress,
            shortcuts=shortcuts,
        ) as request:
            tables = _run(request, ready, chosen, design)
        alarms = tuple(n for n in data_notes(data) if n.alarm)
    losses = {name: table.losses("auto" if chosen.id == "delong" else loss) for name, table in tables.items()}
    made = _comparisons(chosen, losses, level, rope, adjust, seed)
    weak = (note("U016", FEW_SPLITS),) if reason and chosen.id == "corrected-t" else ()
    slices = _slices(made, losses, parts, level, seed) if parts else ()
    command = command or call.text(random_state=seed)
    return replace(made, command=command, reason=reason, remarks=(*alarms, *made.remarks, *weak), slices=slices)


def _slices(
    made: Comparisons, losses: Mapping[str, LossTable], parts: Sequence[RowsOfSlice], level: float, seed: int
) -> tuple[Slices, ...]:
    """Return the difference of each pair in every slice; rows and training sets both count for its variance."""
    first = next(iter(losses.values()))
    if first.by_split:
        raise InputError(
            f"{first.loss} is a measure of whole test parts, which slices divide; compare slices by a loss of single rows."
        )
    found = []
    for pair in made.pairs:
        table = losses[pair.a].minus(losses[pair.b])
        found.append(table_slices(table, parts, level=level, seed=seed, of=f"{pair.a} − {pair.b}"))
    return tuple(found)


def _design_id(design: Any) -> str:
    """Return the id of a design; given splits have that of the design they stand for."""
    made = as_design(design)
    return str(getattr(made, "kind", made.id))


def _check_measure(test: Any, loss: Any) -> None:
    if loss == "auc" and test.id != "delong" and not test.by_split:
        raise InputError(f"auc is no mean of losses, so {test.id} does not apply; use test='corrected-t' or 'delong'.")


def pair_tests() -> list[str]:
    """Return the ids that `compare` takes as `test`.

    Examples
    --------
    >>> [name in pair_tests() for name in ("corrected-t", "mcnemar", "friedman", "wilson", "kfold")]
    [True, True, False, False, False]
    """
    return [
        name
        for kind in ("significance", "estimators")
        for name, cls in classes_in(kind).items()
        if not _why_no_test(cls)
    ]


def _test_of(test: str | Any, rope: Any, options: dict[str, Any]) -> Any:
    if not isinstance(test, str):
        declare(type(test))
        return test
    try:
        cls = find(test, "significance", "estimators")
    except UnknownName:
        raise UnknownName("test", test, pair_tests()) from None
    if reason := _why_no_test(cls):
        raise InputError(f"{test} {reason}.")
    if rope is not None and "rope" in options_of(cls):
        options = {**options, "rope": rope}
    return build(test, "significance", "estimators", options=options)


def _why_no_test(cls: type[Any]) -> str:
    """Return why a method cannot test a difference of two models, nothing if it can."""
    if cls.kind == "ranking":
        return "ranks models over many data sets; give their errors to unseen.rank"
    if cls.kind != "test" and not cls.linear:
        return "is no test of a difference: it is not linear in the losses, or needs no splits"
    if cls.point_only:
        return "gives no standard error, so it is no test; choose corrected-t, for example"
    return ""


def _subjects(subjects: tuple[Any, ...]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return models by name and what follows them."""
    first = subjects[0] if subjects else None
    if isinstance(first, Mapping):
        models, rest = {str(name): model for name, model in first.items()}, subjects[1:]
    elif isinstance(first, (list, tuple)):
        models, rest = _models_by_name(first), subjects[1:]
    elif subjects and all(isinstance(s, PredictionTable) for s in subjects):
        models, rest = _models_by_name(subjects), ()
    else:
        models, rest = _models_by_name(subjects[:2]), subjects[2:]
    if len(models) < 2:
        raise InputError(
            "at least two models are needed: compare({'a': a, 'b': b}, X, y), compare(a, b, X, y) or compare(table, table)."
        )
    tables = [isinstance(model, PredictionTable) for model in models.values()]
    if any(tables) and not all(tables):
        raise KindError("models and tables cannot be mixed; run the models on the same splits first, with unseen.run.")
    return models, rest


def _places(subjects: tuple[Any, ...]) -> dict[str, Any]:
    """Return what was given before the keywords, by the names that a call shows."""
    first = subjects[0] if subjects else None
    if isinstance(first, (Mapping, list, tuple)):
        tables = any(
            isinstance(one, PredictionTable) for one in (first.values() if isinstance(first, Mapping) else first)
        )
        return dict(zip(("tables" if tables else "models", "X", "y"), subjects))
    if isinstance(first, PredictionTable):
        return {"*tables": subjects}
    return dict(zip(("a", "b", "X", "y"), subjects))


def _models_by_name(models: Sequence[Any]) -> dict[str, Any]:
    """Name models by their class, a number added if two are alike."""
    out: dict[str, Any] = {}
    for model in models:
        base = _name_of(model)
        name, number = base, 2
        while name in out:
            name, number = f"{base} {number}", number + 1
        out[name] = model
    return out


def _name_of(model: Any) -> str:
    if isinstance(model, str):
        return model
    if isinstance(model, PredictionTable):
        return model.model or "model"
    if hasattr(model, "steps"):
        return type(model.steps[-1][1]).__name__
    return type(model).__name__


def _sample(rest: tuple[Any, ...]) -> tuple[Any, Any]:
    if len(rest) > 2:
        raise InputError("give two models as compare(a, b, X, y), and three or more in a dict or a list.")
    return rest[0] if rest else None, rest[1] if len(rest) > 1 else None


def _run(request: Request, models: Mapping[str, Model], test: Any, design: Any) -> dict[str, PredictionTable]:
    """Fit every model once per split of one and the same plan."""
    if design is None:
        design = test.difference_design(request.data)
    plan = plan_of(as_design(design), request.data, request.seed)
    request.reporter.expect(plan.n_fits * len(models), plan.design)
    train, full = "train" in test.needs, "full" in test.needs
    scores = "predictions" in test.needs or request.needs_score
    return {
        name: request.run_plan(plan, model=model, train=train, full=full, scores=scores)
        for name, model in models.items()
    }


def _comparisons(
    test: Any, tables: dict[str, LossTable], level: float, rope: Any, adjust: str, seed: int
) -> Comparisons:
    pairs = [_pair(test, tables[a], tables[b], a, b, level) for a, b in combinations(tables, 2)]
    if rope is not None:
        pairs = list(with_ropes(pairs, rope, lambda sizes: adjust_p(sizes, adjust)))
    p = adjust_p([pair.p for pair in pairs], adjust)
    estimates = {name: _own_estimate(test, table, level) for name, table in tables.items()}
    loss = next(iter(estimates.values())).loss
    judged = {name: _first_splits(table) for name, table in tables.items()}
    winner = winner_of(judged, level, stream(seed, "winner"), test.set_error if test.own_error else None, loss)
    if test.id in BY_UNIT:  # the winner's own error, as it stands beside the others
        gain, own = winner.corrected - winner.naive, estimates[winner.name].value
        winner = replace(winner, naive=own, corrected=own + gain)
    remarks: tuple[Note, ...] = ()
    if len(tables) >= MANY:
        size, what = advantage(loss).split(" ", 1)
        seen, expected = (_short(winner.measure_values, key) for key in ("naive", "corrected"))
        if seen != expected and winner.corrected > winner.naive:
            text = f"its {what} of {seen} looks {size} than it is: expect {expected} of a model chosen like this"
            remarks = (note("U024", f"{winner.name} is the best of {len(tables)} on these data; {text}"),)
    done = tuple(replace(pair, p_adjusted=value) for pair, value in zip(pairs, p))
    first = next(iter(tables.values()))
    return Comparisons(
        pairs=done,
        estimates=estimates,
        winner=winner,
        adjust=adjust,
        seed=seed,
        remarks=remarks,
        target=target_words(test, first),
        unit="row" if first.data.groups is None else "group",
    )


def _first_splits(table: LossTable) -> LossTable:
    """Return a measure of whole test parts on the first 25 of them: enough to see what choosing costs, and each costs a sort per draw."""
    source = table.source[0]
    if not table.by_split or len(table.plan) <= WINNER_SPLITS:
        return table
    kept = replace(source, test=source.test.where(source.test.split < WINNER_SPLITS))
    return kept.losses(table.measure)


def _pair(test: Any, a: LossTable, b: LossTable, name_a: str, name_b: str, level: float) -> Comparison:
    made = from_estimate(test, a.minus(b), level) if test.kind == "table" else test(a, b, level=level)
    return replace(made, a=name_a, b=name_b)


def _own_estimate(test: Any, table: LossTable, level: float) -> Estimate:
    method = test.alone if test.own_error else test if test.kind == "table" else build("auto", "estimators")
    estimate: Estimate = method(table, level=level)
    return estimate


def _short(values: Mapping[str, Any], key: str) -> str:
    """Return a value of the winner to the digits that a thousand bootstrap draws can tell."""
    loss, value = value_in_units(values["name"], values[key])
    return percent_or_number(value, loss) if loss in RATES else f"{value:.3g}"
