"""The contract of a shortcut: the numbers of refitting, whatever the data, and no answer where the algebra does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.errors import FitError, InputError
from unseen.core.losses import Predictions, PredictionTable
from unseen.core.plan import Plan, Split
from unseen.designs.bootstrap import Bootstrap
from unseen.designs.kfold import KFold
from unseen.designs.leave_out import LeaveOut
from unseen.designs.loo import LeaveOneOut
from unseen.engine.run import execute
from unseen.models.sklearn import as_model
from unseen.testing._describe import check_described, check_record, check_sourced

__all__ = ["SHORTCUT_CHECKS", "SITUATIONS", "check_equal_to_refitting", "check_shortcut", "sample_for_shortcuts"]

SITUATIONS = (
    "plain",
    "weights",
    "names",
    "three classes",
    "duplicates",
    "ties",
    "singular",
    "constant",
    "rare class",
    "single precision",
    "whole numbers",
    "offset",
    "wide",
)
CLOSE = 1e-7  # of numbers and scores, over the spread of the target; refitting itself has rounding errors


def sample_for_shortcuts(classes: bool, situation: str = "plain", seed: int = 0, n: int = 30, p: int = 3) -> Data:
    """Return rows of a kind that a shortcut must get right, or leave to refitting.

    Parameters
    ----------
    classes : bool
        Classes, or numbers to predict.
    situation : str
        One of `SITUATIONS`.
    seed, n, p : int
        Seed, rows and features.

    Examples
    --------
    >>> sorted(set(sample_for_shortcuts(True, "names").y.tolist()))
    ['alder', 'birch']
    """
    rng = np.random.default_rng(seed)
    p = n + 5 if situation == "wide" else p
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3, p)
    y: Array = X[:, 0] / X[:, 0].std() + 0.8 * rng.standard_normal(n)
    if situation in ("ties", "whole numbers"):
        X = np.round(X)
    if situation == "ties":
        y = np.round(y)
    if situation == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    if situation == "singular":
        X = np.column_stack([X, X[:, 0] - 2 * X[:, -1]])
    if situation == "constant":
        X = np.column_stack([X, np.full(n, 0.1), (rng.random(n) < 1.5 / n).astype(float)])
    if situation == "offset":
        X = X + 100.0
    if situation == "single precision":
        X = X.astype(np.float32)
    if situation == "whole numbers":
        X = X.astype(np.int64)
    weights = rng.uniform(0.2, 3, n) if situation == "weights" else None
    if not classes:
        return Data(X, y, "regression", weights=weights)
    cuts = [-0.6, 0.6] if situation in ("three classes", "rare class") else [0.0]
    codes = np.searchsorted(cuts, y)
    codes[:2] = 0, len(cuts)
    if situation == "rare class":
        codes = np.where(codes == 2, 1, codes)
        codes[-2:] = 2
    labels = np.array(["alder", "birch", "cedar"] if situation == "names" else [0, 1, 2])[: len(cuts) + 1]
    return Data(X, labels[codes], "classification", labels, weights=weights)


def _plans(data: Data, seed: int = 0) -> Iterator[Plan]:
    """Yield single rows left out, folds, bootstrap samples, parts of half the rows, and parts that lack a class."""
    rng = np.random.default_rng(seed)
    for design in (LeaveOneOut(), KFold(4, stratify=False), Bootstrap(3), LeaveOut(0.5, 3)):
        try:
            plan = design.plan(data, rng)
        except InputError:  # a rare class that random parts keep missing
            continue
        yield replace(plan, splits=plan.splits[-8:])  # refitting is what takes the time of these checks
    if data.task == "classification":
        every = np.arange(data.n)
        last = data.codes == data.codes[-1]
        parts = [
            Split(every[~last], every[last]),
            Split(every[2:], every[:2], repeat=1),
            Split(every[1:], every[:1], repeat=2),
        ]
        yield Plan("splits", tuple(parts), data.units)


def _run(model: Any, data: Data, plan: Plan, scores: bool, shortcuts: bool) -> PredictionTable | str:
    try:
        return execute(as_model(model), data, plan, seed=5, train=True, full=True, scores=scores, shortcuts=shortcuts)
    except FitError as error:
        return str(error)


def _close(a: Floats, b: Floats, data: Data) -> bool:
    spread = float(np.std(data.y)) if data.task == "regression" else 1.0
    return a.shape == b.shape and bool(
        np.all((np.abs(a - b) <= CLOSE * (spread + np.abs(b))) | (np.isnan(a) & np.isnan(b)))
    )


def check_equal_to_refitting(model: Any, data: Data, plan: Plan, scores: bool = True) -> None:
    """Demand the table of refitting: classes exactly, numbers and scores to rounding, and the same failures.

    Parameters
    ----------
    model : object
        Unfitted estimator.
    data, plan : Data, Plan
        What is fitted on what.
    scores : bool
        Whether scores are asked for.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> data = sample_for_shortcuts(True)
    >>> check_equal_to_refitting(GaussianNB(), data, LeaveOneOut().plan(data, np.random.default_rng(0)))
    """
    quick, slow = (_run(model, data, plan, scores, shortcuts) for shortcuts in (True, False))
    name = " ".join(repr(model).split())
    if isinstance(quick, str) or isinstance(slow, str):
        assert quick == slow, f"{name}, {plan.design}: refitting says {slow!s:.200}, the shortcut {quick!s:.200}"
        return
    assert quick.failures == slow.failures, f"{name}, {plan.design}: fits fail that refitting can make, or the reverse"
    assert quick.score_kind == slow.score_kind, f"{name}: scores are {quick.score_kind}, refitted {slow.score_kind}"
    for part in ("test", "train", "full"):
        a, b = getattr(quick, part), getattr(slow, part)
        _check_part(f"{name}, {plan.design}, {part}", a, b, data)


def _check_part(where: str, a: Predictions, b: Predictions, data: Data) -> None:
    assert np.array_equal(a.split, b.split) and np.array_equal(a.row, b.row), f"{where}: other rows than refitting"
    assert (a.count is None) == (b.count is None), f"{where}: counts are kept by one of the two only"
    if a.count is not None and b.count is not None:
        assert np.array_equal(a.count, b.count), f"{where}: other counts than refitting"
    if data.task == "classification":
        wrong = np.flatnonzero(a.value != b.value)
        assert not len(wrong), (
            f"{where}: {len(wrong)} classes differ, the first in split {a.split[wrong[0]] if len(wrong) else 0}"
        )
    else:
        assert _close(a.value, b.value, data), f"{where}: predictions differ by {np.abs(a.value - b.value).max()}"
    assert (a.score is None) == (b.score is None), f"{where}: scores are kept by one of the two only"
    if a.score is not None and b.score is not None:
        assert _close(a.score, b.score, data), f"{where}: scores differ by {np.abs(a.score - b.score).max()}"


def _classifies(model: Any) -> bool:
    from sklearn.base import is_classifier

    return bool(is_classifier(model))


def is_described(cls: type[Any]) -> None:
    """File, docstring with a source and an example, record, learners and examples of them."""
    check_described(cls)
    check_sourced(cls)
    check_record(cls)
    assert cls.learners, f"{cls.id} names no learner"
    known = {type(model).__name__ for model in cls.examples()}
    assert known == set(cls.learners), f"{cls.id}: examples are of {sorted(known)}, learners are {sorted(cls.learners)}"


def answers_without_refitting(cls: type[Any]) -> None:
    """On plain data the plainest model needs no fit at all."""
    plainest = {type(model).__name__: model for model in reversed(cls.examples())}
    for model in plainest.values():
        data = sample_for_shortcuts(_classifies(model))
        for plan in list(_plans(data))[:2]:
            table = execute(as_model(model), data, plan, seed=5)
            assert not table.seconds.any(), (
                f"{cls.id}: {np.count_nonzero(table.seconds)} fits of {plan.design} were made"
            )


def _situations(cls: type[Any], situations: tuple[str, ...]) -> None:
    for situation in situations:
        for model in cls.examples():
            data = sample_for_shortcuts(_classifies(model), situation)
            for k, plan in enumerate(_plans(data)):
                try:
                    check_equal_to_refitting(model, data, plan, scores=k % 2 == 0)
                except AssertionError as error:
                    raise AssertionError(f"{situation}: {error}") from error


def ordinary_data_equal_refitting(cls: type[Any]) -> None:
    """Two classes or numbers, weights, labels that are words, three classes, numbers far from zero."""
    _situations(cls, ("plain", "weights", "names", "three classes", "offset"))


def awkward_data_equal_refitting(cls: type[Any]) -> None:
    """Copies of rows, ties, columns that depend on each other, constants, classes missing from a part, more columns than rows."""
    _situations(cls, ("duplicates", "ties", "singular", "constant", "rare class", "wide"))


def other_numbers_equal_refitting(cls: type[Any]) -> None:
    """Single precision and whole numbers."""
    _situations(cls, ("single precision", "whole numbers"))


def scalers_in_front_equal_refitting(cls: type[Any]) -> None:
    """Scalers that learn from the training part, alone and one after the other."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    others = ([MinMaxScaler()], [MaxAbsScaler(), StandardScaler(with_std=False)], [RobustScaler()])
    for k, model in enumerate(cls.examples()):
        for situation in ("plain", "weights", "ties", "constant"):
            data = sample_for_shortcuts(_classifies(model), situation)
            for front in ([StandardScaler()], *(others if k == 0 and situation == "plain" else ())):
                for number, plan in enumerate(list(_plans(data))[:3]):
                    check_equal_to_refitting(make_pipeline(*front, model), data, plan, scores=number % 2 == 0)


def components_in_front_equal_refitting(cls: type[Any]) -> None:
    """Principal components of the training part, fewer than the columns and all of them, alone and behind a scaler."""
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fronts = ([PCA(2)], [StandardScaler(), PCA(1)], [PCA()], [PCA(2, whiten=True)], [PCA(0.9)])
    for k, model in enumerate(cls.examples()):
        for situation in ("plain", "weights", "duplicates", "singular"):
            data = sample_for_shortcuts(_classifies(model), situation)
            for front in fronts[: 2 if k else None]:
                for number, plan in enumerate(list(_plans(data))[:3]):
                    check_equal_to_refitting(make_pipeline(*front, model), data, plan, scores=number % 2 == 0)


def foreign_models_are_left_alone(cls: type[Any]) -> None:
    """A class derived from the learner, another transformer in front, sparse and missing values, routed metadata: all are refitted."""
    from scipy.sparse import csr_matrix
    from sklearn import config_context
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    from unseen.engine.fits import ManyFits

    model = cls.examples()[0]
    data = sample_for_shortcuts(_classifies(model))
    rows = np.arange(data.n)
    shortcut = cls()

    def answer(estimator: Any, sample: Data) -> Any:
        fits = ManyFits(data=sample, train=[rows[5:], rows[:-5]], fit=np.array([0, 1]), row=np.array([0, 29]))
        ready = as_model(estimator)
        return shortcut.fit_many(ready, fits) if shortcut.knows(ready, sample) else None

    assert answer(model, data) is not None, f"{cls.id} does not answer for {model!r}"
    derived = type("Own", (type(model),), {"__init__": type(model).__init__})(**model.get_params())
    assert answer(derived, data) is None, f"{cls.id} answers for a class derived from the learner"
    assert answer(make_pipeline(PolynomialFeatures(2), model), data) is None, f"{cls.id} ignores a transformer"
    sparse, missing = data.X.copy(), data.X.copy()
    missing[0, 0] = np.nan
    for other in (csr_matrix(sparse), missing, data.X.astype(np.float32)):
        assert answer(model, replace(data, X=other)) is None, (
            f"{cls.id} answers for features that it cannot compute with"
        )
    with config_context(enable_metadata_routing=True):
        assert answer(model, data) is None, f"{cls.id} answers where scikit-learn routes metadata"


SHORTCUT_CHECKS = (
    is_described,
    answers_without_refitting,
    ordinary_data_equal_refitting,
    awkward_data_equal_refitting,
    other_numbers_equal_refitting,
    scalers_in_front_equal_refitting,
    components_in_front_equal_refitting,
    foreign_models_are_left_alone,
)


def check_shortcut(cls: type[Any]) -> None:
    """Run the whole contract over a shortcut.

    Parameters
    ----------
    cls : type
        A class registered in the group `exact`.

    Examples
    --------
    >>> from unseen.models.exact.dummy import Dummy
    >>> check_shortcut(Dummy)
    """
    for check in SHORTCUT_CHECKS:
        check(cls)
