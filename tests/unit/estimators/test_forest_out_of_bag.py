"""A forest's own out-of-bag votes: scikit-learn's numbers, rows that no tree left out, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unseen
from unseen.core.errors import InputError, NotApplicable

ID = "forest-out-of-bag"


@pytest.fixture(scope="module")
def words():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    return X, np.array(["c", "a", "b"])[np.digitize(X[:, 0] + 0.7 * rng.standard_normal(90), [-0.6, 0.6])]


def test_classes_are_those_of_scikit_learn(words):
    X, y = words
    forest = RandomForestClassifier(60, oob_score=True, random_state=1).fit(X, y)
    e = unseen.estimate(forest, X, y, method=ID, fitted=True)
    assert e.value == pytest.approx(1 - forest.oob_score_, abs=1e-12)
    assert (e.n_fits, e.interval, str(e.target)) == (0, None, "this model trained on 90 rows")
    other = unseen.estimate(forest, X, y, method=ID, fitted=True, loss="log-loss")
    assert other.value == pytest.approx(log_loss(y, forest.oob_decision_function_), rel=1e-6)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_numbers_are_those_of_scikit_learn(words, kind):
    X, _ = words
    y = X[:, 0] - X[:, 1] ** 2
    w = np.linspace(0.5, 2, 90)
    forest = kind(60, bootstrap=True, oob_score=True, random_state=1).fit(X, y)
    e = unseen.estimate(forest, X, y, method=ID, fitted=True)
    assert e.value == pytest.approx(np.mean((y - forest.oob_prediction_) ** 2), rel=1e-12)
    weighted = unseen.estimate(forest, X, y, method=ID, fitted=True, sample_weight=w)
    assert weighted.value == pytest.approx(np.average((y - forest.oob_prediction_) ** 2, weights=w), rel=1e-12)


def test_rows_that_every_tree_learned_are_left_out_and_counted(words):
    X, y = words
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    learned = np.array([np.isin(np.arange(90), rows) for rows in forest.estimators_samples_])
    wrong = []
    for i in np.flatnonzero(~learned.all(axis=0)):
        votes = sum(t.predict_proba(X[i : i + 1])[0] for t, has in zip(forest.estimators_, learned) if not has[i])
        wrong.append(forest.classes_[np.argmax(votes)] != y[i])
    e = unseen.estimate(forest, X, y, method=ID, fitted=True)
    assert e.value == pytest.approx(np.mean(wrong), abs=1e-12)
    assert [(n.code, n.text.split()[0]) for n in e.notes] == [("U012", str(90 - len(wrong)))]


def test_it_comes_close_to_the_error_on_new_rows():
    rng = np.random.default_rng(3)

    def draw(n):
        y = rng.integers(0, 2, n)
        return rng.standard_normal((n, 5)) + y[:, None], y

    forest = RandomForestClassifier(100, random_state=0)
    X, y = draw(400)
    Z, z = draw(20_000)
    truth = np.mean(forest.fit(X, y).predict(Z) != z)
    e = unseen.estimate(forest, X, y, method=ID, fitted=True)
    assert e.value == pytest.approx(truth, abs=3.5 * np.sqrt(truth * (1 - truth) / 400))
    assert np.mean(forest.predict(X) != y) == 0, "resubstitution would say that nothing is wrong"


def test_an_assessment_of_a_forest_shows_it(words):
    X, y = words
    effort = {"repeats": 1, "folds": 3, "bootstrap": 0, "leave_out": 0, "curve": 0}
    a = unseen.assess(make_pipeline(StandardScaler(), RandomForestClassifier(20)), X, y, random_state=0, effort=effort)
    assert [n.code for n in a.estimates[ID].notes][-1] == "U016"
    assert ID not in unseen.assess("lda", X, y, random_state=0, effort=effort).estimates


@pytest.mark.parametrize(
    ("change", "words_of_refusal"),
    [
        ({"order": np.arange(90)[::-1]}, "in the order of that fit"),
        ({"model": RandomForestClassifier(5, bootstrap=False)}, "bootstrap=False"),
        ({"groups": np.repeat(np.arange(30), 3)}, "independent rows"),
        ({"loss": "squared"}, "give a loss such as zero-one"),
    ],
)
def test_what_is_refused(words, change, words_of_refusal):
    X, y = words
    rows = change.get("order", np.arange(90))
    forest = change.get("model", RandomForestClassifier(20, random_state=0)).fit(X, y)
    given = {name: change[name] for name in ("groups", "loss") if name in change}
    with pytest.raises((NotApplicable, InputError), match=words_of_refusal):
        unseen.estimate(forest, X[rows], y[rows], method=ID, fitted=True, **given)
