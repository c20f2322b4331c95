"""Is there any dependence between features and target: permute the target, and cross-validate again (Ojala & Garriga, 2010)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.call import Call
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.notes import Note, note
from unseen.core.plan import Plan
from unseen.core.result import Result, plain
from unseen.core.rng import RandomState, stream
from unseen.designs.kfold import KFold
from unseen.request.prepare import data_of, plan_of
from unseen.request.request import Request, open_request
from unseen.show.text import percent_or_number

__all__ = ["PERMUTATIONS", "Dependence", "check_permutations", "dependence_test", "permutation_test"]

PERMUTATIONS = 999  # the smallest p-value is then 0.001
MOST_PERMUTATIONS = 1_000_000  # days of fits, and far beyond what a p-value needs
REFITTED = 99  # permutations inside `diagnose` if each needs five fits
NUMBER_LOSSES = ("auto", "squared", "absolute")  # losses of numbers made here for all targets at once


@dataclass(frozen=True, eq=False)
class Dependence(Result):
    """Test of any dependence between features and target, by permuting the target.

    Parameters
    ----------
    error : float
        Cross-validated error on the data.
    permuted : ndarray
        The same on permuted targets.
    loss : str
        What the errors are.
    model : str
        Name of the model.
    command : str
        Command line or call that made it, if it is known.
    """

    shown_by: ClassVar[str] = "unseen.diagnosis"

    error: float
    permuted: Floats
    loss: str = ""
    model: str = ""
    command: str = ""

    @property
    def p(self) -> float:
        """Share of permutations with an error at most as large, the data counted among them."""
        return float((1 + self._as_small) / (1 + len(self.permuted)))

    @property
    def _as_small(self) -> int:
        return int(np.sum(self.permuted <= self.error + 1e-12))

    @property
    def p_in_words(self) -> str:
        """The p-value; "at most" if no permutation has an error as small, since more of them could make it smaller.

        Examples
        --------
        >>> Dependence(0.1, np.array([0.4, 0.5, 0.6])).p_in_words, Dependence(0.5, np.array([0.4, 0.5, 0.6])).p_in_words
        ('p at most 0.25', 'p = 0.75')
        """
        return f"p {'=' if self._as_small else 'at most'} {self.p:.3g}"

    @property
    def title(self) -> str:
        """Heading of a report."""
        return f"{self.model}: does the target depend on the features?"

    def sentence(self, alpha: float = 0.05) -> str:
        """Return the answer in words.

        Examples
        --------
        >>> Dependence(0.1, np.array([0.4, 0.5, 0.6]), "zero-one", "lda").sentence()
        'The target is not shown to depend on the features: lda has an error of 10.0%, and 50.0% on average over 3 permuted targets (p at most 0.25).'
        """
        verdict = "depends" if self.p <= alpha else "is not shown to depend"
        error, chance = (percent_or_number(v, self.loss) for v in (self.error, float(np.mean(self.permuted))))
        chance = f"{chance} on average over {len(self.permuted)} permuted targets"
        return f"The target {verdict} on the features: {self.model} has an error of {error}, and {chance} ({self.p_in_words})."

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict with the test."""
        return [
            {
                "model": self.model,
                "loss": self.loss,
                "error": self.error,
                "permuted_mean": float(np.mean(self.permuted)),
                "permuted_min": float(np.min(self.permuted)),
                "permutations": len(self.permuted),
                "p": self.p,
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the test as plain values, the errors on permuted targets among them."""
        return {**plain(self.rows()[0]), "sentence": self.sentence(), "permuted": plain(self.permuted)}

    def __str__(self) -> str:
        return self.sentence()


def permutation_test(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    n_permutations: int = PERMUTATIONS,
    loss: Any = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    task: Any = None,
) -> Dependence:
    """Test whether a model finds any dependence between features and target.

    The error of 5-fold cross-validation is compared with those on targets that are permuted within the folds, so that every part
    keeps its targets and the folds stay the same; under independence all these orders are equally likely, and the test is exact.
    Least squares, ridge regression and the ridge classifier, bare or behind a scaler, answer for all permutations by one solve per fold.

    Parameters
    ----------
    model : object with fit and predict, or name of a model
        Cloned before every fit.
    X, y : array-like
        Sample.
    n_permutations : int
        Permutations; the smallest p-value is 1 / (n_permutations + 1).
    loss, random_state, n_jobs, engine, progress
        As in `unseen.assess`.
    groups, sample_weight, task
        As in `unseen.datasets.as_data`; whole groups are permuted, whose rows must have one target.

    Returns
    -------
    Dependence
        `p`, the error on the data and those on permuted targets.

    References
    ----------
    Ojala, M. and Garriga, G. C. (2010). Permutation tests for studying classifier performance. Journal of Machine Learning
    Research 11, 1833-1863.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import RidgeClassifier
    >>> unseen.permutation_test(RidgeClassifier(), *unseen.datasets.load("iris").xy, random_state=0).p
    0.001
    """
    call = Call.of(permutation_test, locals())
    if isinstance(n_permutations, bool) or not isinstance(n_permutations, (int, np.integer)) or n_permutations < 1:
        raise InputError(f"n_permutations is {n_permutations!r}; give a whole number of at least 1.")
    check_permutations(int(n_permutations))
    data = data_of(X, y, groups=groups, sample_weight=sample_weight, task=task)
    with open_request(
        model, data, loss=loss, random_state=random_state, n_jobs=n_jobs, engine=engine, progress=progress
    ) as request:
        found, notes = dependence_test(request, int(n_permutations))
    if found is None:
        raise InputError(f"{notes[0].text}.")
    return replace(found, command=call.text(random_state=request.seed))


def check_permutations(count: int) -> None:
    """Refuse more permutations than can be meant."""
    if count > MOST_PERMUTATIONS:
        raise InputError(f"{count:,} permutations are asked for; give at most {MOST_PERMUTATIONS:,}.")


def dependence_test(request: Request, permutations: int | None) -> tuple[Dependence | None, tuple[Note, ...]]:
    """Permute the target over independent units within the folds and cross-validate again.

    None is 999 permutations if one solve answers for all of them, else as many as cost a minute for usual models.
    """
    data = request.data
    if permutations is not None and permutations < 1:
        return None, ()
    if data.order is not None:
        text = "rows in time cannot be exchanged freely; no test of dependence by permutation was made"
        return None, (note("U016", text),)
    first = np.zeros(data.n_units, dtype=np.int64)
    first[data.units[::-1]] = np.arange(data.n)[::-1]
    if data.grouped and np.any(data.y != data.y[first][data.units]):
        text = "targets differ within groups (or copies of a row), so they cannot be permuted over these; no test of dependence was made"
        return None, (note("U016", text),)
    plan = plan_of(KFold(min(5, data.n_units)), data, request.seed)
    linear = _linear_rule(request)
    count = permutations or (PERMUTATIONS if linear is not None else REFITTED)
    orders = [np.arange(data.n), *_orders(plan, data, first, count, stream(request.seed, "permute"))]
    if linear is not None:
        errors = _errors_of_all(linear, data, plan, np.column_stack(orders), request.loss)
    else:
        request.reporter.expect(len(plan) * len(orders), "permutations")
        errors = np.array([_refitted_error(request, plan, order) for order in orders])
    loss = ("zero-one" if data.classes is not None else "squared") if request.loss == "auto" else request.loss
    name = loss if isinstance(loss, str) else str(getattr(loss, "id", loss))
    return Dependence(float(errors[0]), errors[1:], name, request.model.name), ()


def _orders(plan: Plan, data: Data, first: Ints, count: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield the row whose target each row gets: units change places within their fold."""
    folds = [np.unique(data.units[split.test]) for split in plan.splits]
    for _ in range(count):
        unit = np.empty(data.n_units, dtype=np.int64)
        for own in folds:
            unit[own] = rng.permutation(own)
        yield first[unit][data.units] if data.grouped else unit


def _refitted_error(request: Request, plan: Plan, order: Ints) -> float:
    data = replace(request.data, y=request.data.y[order])
    return float(request.run_plan(plan, data=data).losses(request.loss).split_means().mean())


@dataclass(frozen=True)
class _ManyTargets:
    """Steps that look at features alone, and a regression that takes many targets as columns; labels count as -1 and 1."""

    before: Any
    regression: Any
    classes: int


def _linear_rule(request: Request) -> _ManyTargets | None:
    """Return the model as one solve for many targets, None if it is no such model."""
    from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    data = request.data
    estimator: Any = getattr(request.model, "estimator", None)
    if data.weights is not None or not isinstance(data.X, np.ndarray):
        return None
    steps: list[Any] = [step for _, step in estimator.steps] if type(estimator) is Pipeline else [estimator]
    *before, last = steps
    if any(type(step) not in (StandardScaler, MinMaxScaler) for step in before):
        return None
    front = Pipeline([(str(k), step) for k, step in enumerate(before)]) if before else None
    if data.classes is None:
        fits = type(last) is LinearRegression or (type(last) is Ridge and np.ndim(last.alpha) == 0)
        known = isinstance(request.loss, str) and request.loss in NUMBER_LOSSES
        return _ManyTargets(front, last, 0) if fits and known and not last.positive else None
    if type(last) is not RidgeClassifier or last.class_weight is not None or last.positive:
        return None
    if request.loss not in ("auto", "zero-one"):
        return None
    ridge = Ridge(alpha=last.alpha, fit_intercept=last.fit_intercept, solver=last.solver, tol=last.tol)
    return _ManyTargets(front, ridge, len(data.classes))


def _errors_of_all(rule: _ManyTargets, data: Data, plan: Plan, orders: Ints, loss: Any) -> Floats:
    """Return the mean over folds of the mean loss for each column of targets."""
    from sklearn.base import clone

    targets = data.target[orders]
    means = []
    for split in plan.splits:
        train, test = data.X[split.train], data.X[split.test]
        if rule.before is not None:
            front = clone(rule.before).fit(train)
            train, test = front.transform(train), front.transform(test)
        truth, known = targets[split.test], targets[split.train]
        if rule.classes == 0:
            values = clone(rule.regression).fit(train, known).predict(test)
            each = np.abs(truth - values) if loss == "absolute" else np.square(truth - values)
        elif rule.classes == 2:
            each = (clone(rule.regression).fit(train, 2.0 * known - 1).predict(test) > 0) != truth
        else:
            codes = np.where(known[:, :, None] == np.arange(rule.classes), 1.0, -1.0)
            scores = clone(rule.regression).fit(train, codes.reshape(len(train), -1)).predict(test)
            each = scores.reshape(len(test), orders.shape[1], -1).argmax(axis=2) != truth
        means.append(each.mean(axis=0))
    return np.asarray(np.mean(means, axis=0), dtype=float)
