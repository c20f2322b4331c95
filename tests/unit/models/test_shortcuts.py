"""Shortcuts in the engine: switched off, doubted, shared by splits, and refused if scikit-learn computes something else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unseen
from unseen.core.data import Data
from unseen.core.plan import Plan, Split
from unseen.engine.chunk import distinct
from unseen.engine.run import execute
from unseen.models.exact import learner
from unseen.models.exact.components import _draws
from unseen.models.exact.lda import LinearDiscriminant
from unseen.models.exact.stopped import Descent
from unseen.models.sklearn import as_model
from unseen.testing.shortcuts import check_equal_to_refitting, sample_for_shortcuts


def test_off_means_that_every_part_is_fitted():
    data = sample_for_shortcuts(True)
    quick, slow = (unseen.run(GaussianNB(), data, design=3, random_state=0, shortcuts=s) for s in (True, False))
    assert not quick.seconds.any()
    assert (slow.seconds > 0).all()
    assert np.array_equal(quick.test.value, slow.test.value)
    values = [
        unseen.estimate(GaussianNB(), data, method="kfold", random_state=0, shortcuts=s).value for s in (True, False)
    ]
    assert values[0] == values[1]


def test_a_tie_is_refitted_and_nothing_else():
    # row 4 is as far from the mean of one class as from that of the other
    X = np.array([[-3.0], [-1.0], [1.0], [3.0], [0.0], [-2.5]])
    data = Data(X, np.array([0, 0, 1, 1, 1, 0]), "classification", np.array([0, 1]))
    parts = (
        Split(np.arange(4), np.array([4])),
        Split(np.arange(4), np.array([5]), repeat=1),
        Split(np.arange(1, 5), np.array([5]), repeat=2),
    )
    table = execute(as_model(NearestCentroid()), data, Plan("splits", parts, data.units), seed=0)
    assert (table.seconds > 0).tolist() == [True, False, False]
    check_equal_to_refitting(NearestCentroid(), data, Plan("splits", parts, data.units))


def test_neighbours_at_the_same_distance_are_refitted_if_their_classes_differ():
    X = np.array([[0.0], [1.0], [-1.0], [5.0], [-5.0], [7.0]])
    same = Data(X, np.array([0, 1, 1, 0, 0, 1]), "classification", np.array([0, 1]))
    plan = Plan(
        "splits", (Split(np.arange(1, 6), np.array([0])), Split(np.arange(5), np.array([5]), repeat=1)), same.units
    )
    assert not execute(as_model(KNeighborsClassifier(1)), same, plan, seed=0).seconds.any()
    other = replace(same, y=np.array([0, 1, 0, 0, 0, 1]))
    assert (execute(as_model(KNeighborsClassifier(1)), other, plan, seed=0).seconds > 0).tolist() == [
        True,
        False,
    ]


def test_splits_that_share_a_fit():
    data = sample_for_shortcuts(True, n=24)
    plan = unseen.designs.Nested(3, 1).plan(data, np.random.default_rng(0))
    assert len(plan.fits) < len(plan)
    check_equal_to_refitting(GaussianNB(), data, plan)


def test_another_scikit_learn_gets_no_shortcut(monkeypatch):
    right = LinearDiscriminant.answer

    def off(self, scalers, final, sample, fits):
        made = right(self, scalers, final, sample, fits)
        return replace(made, scores=made.scores**1.01)

    monkeypatch.setattr(LinearDiscriminant, "answer", off)
    monkeypatch.setattr(learner, "_proved", {})
    table = unseen.run(LinearDiscriminantAnalysis(), sample_for_shortcuts(True), design=3, random_state=0)
    assert (table.seconds > 0).all()


def test_folds_say_that_they_leave_out_what_they_test():
    data = sample_for_shortcuts(True)
    for design in (
        unseen.designs.KFold(4),
        unseen.designs.LeaveOneOut(),
        unseen.designs.RepeatedKFold(4, 2),
        unseen.designs.LeaveOut(0.3, 5),
    ):
        plan = design.plan(data, np.random.default_rng(0))
        assert plan.complementary
        for split in plan:
            assert np.array_equal(split.train, np.setdiff1d(np.arange(data.n), split.test))


@pytest.mark.parametrize("rows", [[4, 0, 4, 2], [7], [100_000, 3, 3], []])
def test_distinct_rows(rows):
    assert np.array_equal(distinct(np.array(rows, dtype=np.int64)), np.unique(np.array(rows, dtype=np.int64)))


def test_logistic_regression_is_refitted_where_its_solver_leaves_the_class_open():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 4))
    y = (X[:, 0] + rng.standard_normal(200) > 0).astype(int)
    quick, slow = (unseen.run(LogisticRegression(), X, y, design="loo", shortcuts=s) for s in (True, False))
    assert np.array_equal(quick.test.value, slow.test.value)
    assert (quick.seconds > 0).mean() < 0.1


def test_verbs_refit_every_part_if_asked_and_say_the_same():
    data = sample_for_shortcuts(True)
    effort = {"repeats": 1, "folds": 3, "bootstrap": 0, "leave_out": 0, "curve": 0}
    made = [unseen.assess(GaussianNB(), data, random_state=0, effort=effort, shortcuts=s) for s in (True, False)]
    tables = [a.tables[a.headline_design] for a in made]
    assert tables[0].seconds == 0 < tables[1].seconds
    assert made[0].error == made[1].error
    assert made[0].interval == made[1].interval
    pairs = [
        unseen.compare(GaussianNB(), NearestCentroid(), data, cv=3, random_state=0, shortcuts=s).pairs[0]
        for s in (True, False)
    ]
    assert pairs[0].difference == pairs[1].difference
    assert pairs[0].p == pairs[1].p
    assert all(e.seconds == 0 for e in unseen.compare(GaussianNB(), "lda", data, cv=3).estimates.values())


def test_the_command_line_refits_every_part_if_asked(monkeypatch):
    from typer.testing import CliRunner

    from unseen.cli.app import _attach_commands, app

    _attach_commands()
    asked = []
    plain = execute

    def watched(*args, **options):
        asked.append(options["shortcuts"])
        return plain(*args, **options)

    monkeypatch.setattr("unseen.request.request.execute", watched)
    words = ["assess", "iris", "--model", "lda", "--quick", "--json"]
    quick, slow = (CliRunner().invoke(app, [*words, *more]) for more in ([], ["--no-shortcuts"]))
    assert quick.exit_code == slow.exit_code == 0
    half = len(asked) // 2
    assert asked == [True] * half + [False] * half


@pytest.mark.parametrize("constant", ["b", ["a"], np.array(["b"], dtype=object)])
def test_a_constant_guess_is_not_refitted_unless_a_part_lacks_its_class(constant):
    X, y = np.zeros((7, 1)), np.array(["a", "b", "b", "a", "b", "b", "b"])
    data = Data(X, y, "classification", np.array(["a", "b"]))
    parts = [(0, 1, 2, 3), (1, 2, 4), (0, 3)]
    splits = tuple(Split(np.array(rows), np.array([5, 6]), repeat=k) for k, rows in enumerate(parts))
    plan = Plan("splits", splits, data.units)
    model = DummyClassifier(strategy="constant", constant=constant)
    quick, slow = (
        execute(as_model(model), data, plan, seed=0, scores=True, shortcuts=s, full=True) for s in (True, False)
    )
    lacking = 2 if "b" in list(constant) else 1
    assert [f.split for f in quick.failures] == [f.split for f in slow.failures] == [lacking]
    assert (quick.seconds > 0).sum() == 1
    assert np.array_equal(quick.test.value, slow.test.value)
    assert np.array_equal(quick.test.score, slow.test.score)
    assert np.array_equal(quick.full.value, slow.full.value)


def _doubtful() -> tuple[np.ndarray, np.ndarray]:
    """Return rows so many that some lie closer to a boundary than scikit-learn's solver comes to the optimum."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    return rng.standard_normal((400, 6)) + 0.4 * y[:, None], y


def test_rows_that_the_early_stop_of_a_solver_decides_need_no_refitting(monkeypatch):
    X, y = _doubtful()
    design = unseen.designs.RepeatedKFold(10, 5)

    def table(shortcuts=True):
        return unseen.run(LogisticRegression(), X, y, design=design, random_state=0, shortcuts=shortcuts)

    asked = []
    own = Descent.weights

    def count(self, X, *rest):
        asked.append(len(X))
        return own(self, X, *rest)

    monkeypatch.setattr(Descent, "weights", count)
    quick, slow = table(), table(False)
    # the first call is the proof on all rows
    assert asked[0] == 400
    assert len(asked) > 3
    assert not quick.seconds.any()
    assert np.array_equal(quick.test.value, slow.test.value)
    # steps that stop elsewhere than scikit-learn's on all rows are not believed anywhere
    monkeypatch.setattr(Descent, "weights", lambda self, X, *rest: 1.00001 * own(self, X, *rest))
    doubted = table()
    assert np.count_nonzero(doubted.seconds) == len(asked) - 1
    assert np.array_equal(doubted.test.value, slow.test.value)
    # neither is a stop that rounding may have decided
    calls = iter(range(10_000))
    monkeypatch.setattr(Descent, "weights", lambda self, X, *rest: None if next(calls) else own(self, X, *rest))
    unsure = table()
    assert np.count_nonzero(unsure.seconds) == len(asked) - 1
    assert np.array_equal(unsure.test.value, slow.test.value)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_steps_stop_where_scikit_learn_stops(classes, C):
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((120, 4))
    y = np.clip(np.round(X[:, 0] + rng.standard_normal(120) + 0.5), 0, classes - 1).astype(int)
    weights = rng.uniform(0.2, 3, 120)
    model = LogisticRegression(C=C).fit(X, y, sample_weight=weights)
    exact = LogisticRegression(C=C, tol=1e-12, max_iter=1000).fit(X, y, sample_weight=weights)
    target = (y[:, None] == ([1] if classes == 2 else np.arange(classes))).astype(float)
    found = Descent(1 / C, model.tol, model.max_iter).weights(X, target, weights)
    expected = np.vstack([model.intercept_, model.coef_.T])
    away = np.abs(expected - np.vstack([exact.intercept_, exact.coef_.T])).max()
    assert away > 1e-7
    assert np.abs(found - expected).max() < 1e-3 * away


def test_a_gradient_that_is_the_tolerance_but_for_rounding_leaves_the_stop_open():
    X, y = _doubtful()
    target = y[:, None].astype(float)
    # the gradient at zero, the first on the way
    first = np.abs(np.append(0.5 - y.mean(), X.T @ (0.5 - y) / len(y))).max()
    assert Descent(1.0, first * (1 + 1e-7), 100).weights(X, target, np.ones(400)) is None
    assert Descent(1.0, first * (1 + 1e-3), 100).weights(X, target, np.ones(400)) is not None
    assert Descent(1.0, 1e-4, 2).weights(X, target, np.ones(400)) is None


@pytest.mark.parametrize(
    "model",
    [LinearRegression(), Ridge(), RidgeClassifier(), LinearDiscriminantAnalysis()],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("front", [[PCA(2)], [StandardScaler(), PCA(2)]], ids=["bare", "scaled"])
def test_components_in_front_need_no_refitting(model, front):
    data = sample_for_shortcuts(is_classifier(model), "plain")
    for design in (unseen.designs.LeaveOneOut(), unseen.designs.RepeatedKFold(5, 2), unseen.designs.Bootstrap(5)):
        plan = design.plan(data, np.random.default_rng(0))
        table = execute(as_model(make_pipeline(*front, model)), data, plan, seed=0)
        assert not table.seconds.any()
        check_equal_to_refitting(make_pipeline(*front, model), data, plan)


def test_components_that_cannot_be_told_apart_are_refitted():
    # four rows at the corners of a square, and one in the middle: both directions have one variance
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [0.0, 0.0], [0.5, 3.0]])
    data = Data(X, np.array([1.0, 2.0, 0.0, 3.0, 2.0, 1.0]), "regression")
    parts = (Split(np.arange(5), np.array([5])), Split(np.arange(1, 6), np.array([0]), repeat=1))
    plan = Plan("splits", parts, data.units)
    for kept, refitted in ((1, [True, False]), (2, [False, False])):
        table = execute(as_model(make_pipeline(PCA(kept), LinearRegression())), data, plan, seed=0)
        assert (table.seconds > 0).tolist() == refitted
        check_equal_to_refitting(make_pipeline(PCA(kept), LinearRegression()), data, plan)


@pytest.mark.parametrize(
    "step", [PCA(2, whiten=True), PCA(0.9), PCA("mle"), PCA(2, svd_solver="randomized", random_state=0), PCA(9)]
)
def test_other_components_are_refitted(step):
    data = sample_for_shortcuts(False)
    plan = unseen.designs.KFold(3).plan(data, np.random.default_rng(0))
    check_equal_to_refitting(make_pipeline(step, LinearRegression()), data, plan)
    if step.n_components != 9:
        assert (execute(as_model(make_pipeline(step, LinearRegression())), data, plan, seed=0).seconds > 0).all()


@pytest.mark.parametrize(("n", "p", "kept"), [(300, 20, 3), (60, 20, 3), (600, 80, 3), (600, 80, 70), (1200, 80, 3)])
def test_scikit_learn_draws_directions_where_the_rule_says_so(n, p, kept):
    fitted = PCA(kept).fit(np.random.default_rng(0).standard_normal((n, p)))
    assert _draws("auto", n, p, kept) == (fitted._fit_svd_solver == "randomized")
