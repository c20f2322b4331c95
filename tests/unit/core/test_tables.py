"""Tables: weights, groups, differences, files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError


@pytest.fixture(scope="module")
def wine():
    return unseen.datasets.load("wine").xy


def test_saved_table_comes_back_whole(wine, tmp_path):
    X, y = wine
    groups = np.arange(len(y)) // 3
    t = unseen.run(
        GaussianNB(),
        X,
        y,
        design="bootstrap",
        train=True,
        full=True,
        scores=True,
        groups=groups,
        random_state=4,
        probes={"means": lambda fitted, train, test: fitted.native.theta_},
    )
    u = unseen.load(t.save(tmp_path / "run.npz"))
    assert u.plan.fingerprint == t.plan.fingerprint
    assert u.data.classes.tolist() == t.data.classes.tolist()
    for part in ("test", "train", "full"):
        for column in ("split", "row", "value", "score"):
            assert np.array_equal(getattr(getattr(u, part), column), getattr(getattr(t, part), column)), (part, column)
    assert np.array_equal(u.train.count, t.train.count)
    assert np.array_equal(u.probe("means")[7], t.probe("means")[7])
    assert (u.model, u.seed, u.plan.design, u.score_kind) == (t.model, t.seed, t.plan.design, "probability")
    assert u.losses("log-loss").split_means() == pytest.approx(t.losses("log-loss").split_means(), abs=0)


def test_table_file_never_unpickles(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, meta=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="not a table saved by unseen"):
        unseen.load(path)
    for content in (b"", b"PK\x03\x04 truncated", b"\x80\x04\x95 pickle"):
        path.write_bytes(content)
        with pytest.raises(InputError):
            unseen.load(path)
    with pytest.raises(InputError, match="no file"):
        unseen.load(tmp_path / "absent.npz")


def test_weights_enter_every_mean(wine):
    X, y = wine
    weights = np.linspace(0.1, 3, len(y))
    t = unseen.run(DecisionTreeClassifier(max_depth=1, random_state=0), X, y, sample_weight=weights, random_state=0)
    losses = t.losses()
    split = t.plan.splits[3]
    model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(
        X[split.train], y[split.train], weights[split.train]
    )
    wrong = model.predict(X[split.test]) != y[split.test]
    assert losses.split_means()[3] == pytest.approx(np.average(wrong, weights=weights[split.test]), abs=1e-12)
    assert unseen.estimate(t, method="kfold").value == pytest.approx(
        np.average(losses.by_row(), weights=weights), abs=1e-12
    )


def test_differences_need_the_same_splits_and_loss(wine):
    X, y = wine
    a, b = (
        unseen.run(m, X, y, random_state=0).losses() for m in (GaussianNB(), DecisionTreeClassifier(random_state=0))
    )
    other = unseen.run(GaussianNB(), X, y, random_state=1).losses()
    d = a.minus(b)
    assert d.is_difference
    assert d.range == (-1.0, 1.0)
    assert d.split_means() == pytest.approx(a.split_means() - b.split_means(), abs=1e-15)
    assert d.n_fits == 20
    with pytest.raises(InputError, match="different splits"):
        a.minus(other)


def test_groups_are_units(wine):
    X, y = wine
    groups = np.arange(len(y)) % 40
    t = unseen.run(GaussianNB(), X, y, groups=groups, design=unseen.designs.MonteCarlo(0.1, 12), random_state=0)
    assert t.plan.mean_sizes() == (4.0, 36.0)
    for s in t.plan:
        assert not set(groups[s.train]) & set(groups[s.test])
    losses = t.losses()
    by_unit = losses.by_unit()
    rows = losses.test.value[groups[losses.test.row] == 7]
    assert by_unit[7] == pytest.approx(rows.mean())
    e = unseen.estimate(t, method="corrected-t")
    means = losses.split_means()
    assert e.std_error == pytest.approx(means.std(ddof=1) * np.sqrt(1 / 12 + 4 / 36), rel=1e-12)
    assert (e.n_units, e.target.n_train) == (40, 36.0)


def test_loss_must_fit_the_task(wine):
    t = unseen.run(GaussianNB(), *wine, random_state=0)
    with pytest.raises(InputError, match="squared is a loss for regression"):
        t.losses("squared")
    with pytest.raises(InputError, match="needs class probabilities"):
        t.losses("log-loss")
    with pytest.raises(InputError, match="did you mean 'zero-one'"):
        t.losses("zeroone")


def test_log_loss_and_brier_agree_with_scikit_learn(wine):
    from sklearn.metrics import log_loss

    X, y = wine
    t = unseen.run(make_pipeline(StandardScaler(), LogisticRegression()), X, y, scores=True, random_state=0)
    ours = np.average(t.losses("log-loss").test.value)
    assert ours == pytest.approx(log_loss(t.data.y[t.test.row], t.test.score, labels=t.data.classes), rel=1e-10)
    truth = np.eye(3)[t.data.codes[t.test.row]]
    assert t.losses("brier").test.value == pytest.approx(((t.test.score - truth) ** 2).sum(axis=1), abs=1e-12)


def test_regression_losses():
    X, y = unseen.datasets.load("diabetes").xy
    t = unseen.run(LinearRegression(), X, y, design=unseen.designs.KFold(5), random_state=0)
    s = t.plan.splits[2]
    gap = LinearRegression().fit(X[s.train], y[s.train]).predict(X[s.test]) - y[s.test]
    assert t.losses().split_means()[2] == pytest.approx(np.mean(gap**2), rel=1e-9)
    assert t.losses("absolute").split_means()[2] == pytest.approx(np.mean(np.abs(gap)), rel=1e-9)


@pytest.mark.parametrize("loss", ["log-loss", "brier"])
@pytest.mark.parametrize("name", ["iris", "gaussian-blocks"])
def test_decision_values_are_not_taken_for_probabilities(name, loss):
    from sklearn.svm import LinearSVC

    data = unseen.datasets.load(name)
    with pytest.raises(InputError, match=f"{loss} needs class probabilities"):
        unseen.estimate(LinearSVC(), data, method="kfold", loss=loss, random_state=0)
    ordered = unseen.run(LinearSVC(), data, design="holdout", scores=True, random_state=0).losses("auc")
    assert 0 <= ordered.split_means().mean() < 0.5
