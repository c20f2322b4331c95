"""Training progress, early stopping as an estimator, the overtraining experiment, and Hutton's equivalences."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor

import unseen
from unseen.core.errors import InputError, KindError
from unseen.measures.regression import PinedaP, Pov
from unseen.models.progress import monitor, weight_summary
from unseen.models.quit_when_ahead import QuitWhenAhead
from unseen.reproduction import reproduce
from unseen.reproduction.hutton_overtraining.backprop import new_nets

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 3))
Y = X @ [1.0, -0.5, 0.0] + 0.3 + 0.4 * rng.standard_normal(80)
LABEL = (Y > 0.3).astype(int)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_variance_of_normalised_weights_is_sine_squared_over_n(n):
    w = np.random.default_rng(n).standard_normal(n)
    angle, length, variance = weight_summary(w)
    assert variance == pytest.approx(np.sin(angle) ** 2 / n)
    assert length == pytest.approx(np.sqrt(np.sum(w**2)))
    assert weight_summary(np.full(n, 2.0))[0] == pytest.approx(0, abs=1e-7)
    assert weight_summary(np.full(n, -2.0))[0] == pytest.approx(np.pi, abs=1e-7)


def test_gradients_are_those_of_the_error():
    """One step moves each weight by -rate/2 times the numerical derivative of the mean squared error."""
    for hidden, logistic in ((0, False), (0, True), (4, True)):
        nets = new_nets(1, 3, hidden, 1, np.random.default_rng(1), logistic=logistic)
        patterns, target = X[None, :10], LABEL[None, :10, None].astype(float)
        name = "second" if hidden == 0 else "first"
        before = getattr(nets, name).copy()

        def error(weights, nets=nets, name=name, patterns=patterns, target=target):
            kept = getattr(nets, name)
            setattr(nets, name, weights)
            value = float(np.square(nets.outputs(patterns) - target).mean())
            setattr(nets, name, kept)
            return value

        bump = np.zeros_like(before)
        bump[0, 1, 0] = 1e-5
        slope = (error(before + bump) - error(before - bump)) / 2e-5
        nets.step(patterns, target, 1.0)
        assert getattr(nets, name)[0, 1, 0] - before[0, 1, 0] == pytest.approx(-slope / 2, rel=1e-5)


def test_a_linear_perceptron_trained_out_is_least_squares_and_fishers_direction():
    nets = new_nets(1, 3, 0, 1, np.random.default_rng(0), logistic=False)
    for _ in range(3000):
        nets.step(X[None], Y[None, :, None], 0.3)
    ols = LinearRegression().fit(X, Y)
    assert nets.second[0, :3, 0] == pytest.approx(ols.coef_, abs=1e-6)
    assert nets.second[0, 3, 0] == pytest.approx(ols.intercept_, abs=1e-6)
    out = nets.outputs(X[None])[0, :, 0]
    assert Pov().of_set(Y, out) == pytest.approx(ols.score(X, Y), abs=1e-8)
    assert PinedaP().of_set(Y, out) == pytest.approx(ols.score(X, Y), abs=1e-8)
    nets = new_nets(1, 3, 0, 1, np.random.default_rng(0), logistic=False)
    for _ in range(3000):
        nets.step(X[None], LABEL[None, :, None].astype(float), 0.3)
    within = sum(np.cov(X[here].T, ddof=0) * np.sum(here) for here in (LABEL == 0, LABEL == 1))
    fisher = np.linalg.solve(within, X[LABEL == 1].mean(axis=0) - X[LABEL == 0].mean(axis=0))
    found = nets.second[0, :3, 0]
    assert found / np.linalg.norm(found) == pytest.approx(fisher / np.linalg.norm(fisher), abs=1e-6)


def test_a_logistic_perceptron_gives_logistic_regression():
    """Both are consistent where the logistic model holds: on 4,000 such cases their coefficients agree to within sampling error."""
    draw = np.random.default_rng(7)
    many = draw.standard_normal((4000, 3))
    labels = (draw.random(4000) < 1 / (1 + np.exp(-(many @ [1.0, -0.5, 0.0] + 0.3)))).astype(int)
    nets = new_nets(1, 3, 0, 1, np.random.default_rng(0))
    for _ in range(600):
        nets.step(many[None], labels[None, :, None].astype(float), 5.0)
    fit = LogisticRegression(C=1e6, max_iter=2000).fit(many, labels)
    design = np.column_stack([many, np.ones(4000)])
    p = fit.predict_proba(many)[:, 1]
    se = np.sqrt(np.diag(np.linalg.inv(design.T * (p * (1 - p)) @ design)))
    assert nets.second[0, :, 0] == pytest.approx([*fit.coef_[0], fit.intercept_[0]], abs=3 * se.max())
    assert np.abs(nets.outputs(many[None])[0, :, 0] - p).mean() < 0.01


def test_a_net_first_learns_the_prior():
    """E_m comes down to s_t^2 and stays near it before anything else is learnt; sooner with input weights of 0."""
    draw = np.random.default_rng(4)
    y = draw.permutation(np.repeat([0.0, 1.0], [48, 12]))[None, :, None]  # s_t^2 = .16, and outputs of .5 give .25
    patterns = draw.integers(0, 2, (1, 60, 8)).astype(float)
    times = {}
    for zero in (False, True):
        nets = new_nets(1, 8, 6, 1, np.random.default_rng(3), zero_first=zero)
        errors = np.array([nets.step(patterns, y, 0.5)[0] for _ in range(400)])
        assert errors[0] > 1.3 * y.var()
        assert errors.min() < 1.02 * y.var()
        assert errors[-100:].std() < 0.02 * y.var()
        times[zero] = int(np.argmax(errors < 1.05 * y.var()))
    assert times[True] <= times[False] + 5


def test_monitor_records_what_it_says():
    p = monitor(MLPClassifier(hidden_layer_sizes=(5,)), X[:50], LABEL[:50], X[50:], LABEL[50:], epochs=15)
    again = MLPClassifier(hidden_layer_sizes=(5,), random_state=0)
    for k in range(15):
        again.partial_fit(X[:50], LABEL[:50], classes=[0, 1])
        output = again.predict_proba(X[50:])[:, 1]
        assert p.monitor_error[k] == pytest.approx(np.mean((LABEL[50:] - output) ** 2))
        assert p.monitor_p[k] == pytest.approx(PinedaP().of_set(LABEL[50:].astype(float), output))
    weights = np.concatenate([w.ravel() for w in (*again.coefs_, *again.intercepts_)])
    assert p.length[-1] == pytest.approx(np.linalg.norm(weights))
    assert p.rate[1:] == pytest.approx(np.abs(np.diff(p.angle)))
    assert p.best == 1 + int(np.argmin(p.monitor_error))
    boosted = monitor(GradientBoostingRegressor(max_depth=1), X[:50], Y[:50], X[50:], Y[50:], epochs=10)
    staged = GradientBoostingRegressor(max_depth=1, n_estimators=10, random_state=0).fit(X[:50], Y[:50])
    by_stage = [np.mean((Y[50:] - s) ** 2) for s in staged.staged_predict(X[50:])]
    assert boosted.monitor_error == pytest.approx(by_stage)
    assert np.isnan(boosted.angle).all()
    from unseen.show import info

    assert str(p).endswith(" at the end.")
    assert info(p, "progress").level == pytest.approx(LABEL[:50].var())
    assert len(info(p, "weights").curves) == 4
    assert info(boosted, "weights") is None
    with pytest.raises(KindError, match="does not train by steps"):
        monitor(LinearRegression(), X, Y, X, Y)
    with pytest.raises(InputError, match="epochs is 0"):
        monitor(MLPClassifier(), X, LABEL, X, LABEL, epochs=0)


def test_the_best_epoch_is_restored():
    noise = np.random.default_rng(8).standard_normal(80)
    model = QuitWhenAhead(
        MLPRegressor(hidden_layer_sizes=(30,), learning_rate_init=0.05), epochs=80, random_state=1
    ).fit(X, noise)
    assert model.best_epoch_ == 1 + int(np.argmin(model.monitored_error_))
    assert model.monitored_error_[-1] > model.monitored_error_.min()
    short = QuitWhenAhead(
        MLPRegressor(hidden_layer_sizes=(30,), learning_rate_init=0.05), epochs=model.best_epoch_, random_state=1
    ).fit(X, noise)
    assert model.predict(X) == pytest.approx(short.predict(X))
    patient = QuitWhenAhead(
        MLPRegressor(hidden_layer_sizes=(30,), learning_rate_init=0.05), epochs=80, patience=5, random_state=1
    )
    assert len(patient.fit(X, noise).monitored_error_) <= len(model.monitored_error_)


def test_the_watched_part_lies_inside_the_training_part():
    """An assessment never lets a test row choose the epoch: predictions for a test part do not depend on its targets."""
    model = QuitWhenAhead(SGDClassifier(loss="log_loss"), epochs=20)
    first = unseen.run(model, X, LABEL, random_state=0)
    flipped = LABEL.copy()
    tested = first.plan.splits[0].test
    flipped[tested] = 1 - flipped[tested]
    second = unseen.run(model, X, flipped, design=[(s.train, s.test) for s in first.plan.splits], random_state=0)
    assert np.array_equal(first.test.value[first.test.split == 0], second.test.value[second.test.split == 0])
    e = unseen.estimate(model, X, LABEL, method="kfold", random_state=0)
    assert 0 <= e.value < 0.35
    with pytest.raises(InputError, match="fraction is 2"):
        QuitWhenAhead(GaussianNB(), fraction=2).fit(X, LABEL)


@pytest.mark.slow
@pytest.mark.sample
def test_overtraining_on_random_data(tmp_path):
    r = reproduce("hutton-overtraining", replications=20, epochs=2500)
    assert all(check.passed for check in r.checks[:3])
    best, ahead, done, late = r.choices.T
    assert np.all(best <= done)
    assert np.mean(late) > np.mean(ahead)
    r.report(tmp_path / "h.html")
    assert 'id="overtraining"' in (tmp_path / "h.html").read_text()


def test_boosted_trees_on_histograms_are_watched_by_stages():
    from sklearn.ensemble import HistGradientBoostingRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    target = X[:, 0] + 0.1 * rng.standard_normal(120)
    model = HistGradientBoostingRegressor(min_samples_leaf=5, random_state=0)
    p = unseen.monitor(model, X[:80], target[:80], X[80:], target[80:], epochs=6)
    for k in (1, 4, 6):
        alone = HistGradientBoostingRegressor(min_samples_leaf=5, max_iter=k, random_state=0).fit(X[:80], target[:80])
        assert p.monitor_error[k - 1] == pytest.approx(np.mean((alone.predict(X[80:]) - target[80:]) ** 2))


def test_parts_that_do_not_fit_are_refused():
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import SGDClassifier

    X, labels = np.arange(20.0).reshape(10, 2), np.array(["a", "b"] * 5)
    with pytest.raises(InputError, match="X_monitor and y_monitor have 10 and 4 rows"):
        unseen.monitor(SGDClassifier(), X, labels, X, labels[:4])
    with pytest.raises(InputError, match="the class 'c', which the training part lacks"):
        unseen.monitor(GradientBoostingClassifier(), X, labels, X, np.full(10, "c"))
