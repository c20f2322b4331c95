"""Temperatures with a known answer: closed forms, scipy's optimum, and simulations whose true temperature is known."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from unseen import nets
from unseen.core.errors import InputError
from unseen.estimators.wilson import wilson_interval
from unseen.nets.estimates.temperature import best_temperature, fit_temperature


def honest_sample(n: int, classes: int, seed: int, times: float = 1.0):
    """Logits and classes drawn from their softmax; the logits are then multiplied, so that their temperature is `times`."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.standard_normal((n, classes))
    p = np.exp(log_softmax(z, axis=1))
    y = (rng.random(n)[:, None] > p.cumsum(1)).sum(1).clip(max=classes - 1)
    return times * z, y


def test_two_classes_have_a_closed_form():
    z, y = np.array([[2.0, 0.0]] * 10), np.array([0] * 7 + [1] * 3)
    assert fit_temperature(z, y).value == pytest.approx(2 / np.log(7 / 3), rel=1e-6)
    # the curvature at the optimum is s^2 p (1 - p) in 1/T, s the difference of logits: the information about log T
    s = np.log(7 / 3)
    error = 1 / np.sqrt(10 * s**2 * 0.7 * 0.3)
    low, high = fit_temperature(z, y).interval
    assert np.log(high / low) / (2 * 1.959964) == pytest.approx(error, rel=1e-5)


def test_the_optimum_is_scipys():
    z, y = honest_sample(400, 5, 1, times=2.5)

    def loss(log_t):
        return -log_softmax(z / np.exp(log_t), axis=1)[np.arange(len(y)), y].mean()

    best = minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
    found = fit_temperature(z, y)
    assert np.log(found.value) == pytest.approx(best.x, abs=1e-6)
    assert found.loss_before == pytest.approx(loss(0.0))
    assert found.loss_after == pytest.approx(best.fun, rel=0.01)
    assert found.loss_after > best.fun


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("times", "classes"), [(1.0, 2), (3.0, 4), (0.4, 10)])
def test_intervals_hold_the_true_temperature_as_often_as_they_say(times, classes):
    inside = [times in fit_temperature(*honest_sample(150, classes, seed, times)).interval for seed in range(60)]
    assert 0.87 <= np.mean(inside) <= 1.0  # 57 of 60 expected; 51 or fewer has a chance of .003
    narrow = [
        times in fit_temperature(*honest_sample(150, classes, seed, times), level=0.5).interval for seed in range(60)
    ]
    assert 0.31 <= np.mean(narrow) <= 0.69  # 30 expected, three deviations of .065


def test_rows_that_come_several_times_count_once():
    z, y = honest_sample(200, 3, 2, times=2.0)
    once = fit_temperature(z, y)
    thrice = fit_temperature(np.tile(z, (3, 1)), np.tile(y, 3), rows=np.tile(np.arange(200), 3))
    assert thrice.value == pytest.approx(once.value)
    assert thrice.interval == pytest.approx(once.interval)
    assert thrice.n_rows == 200
    blind = fit_temperature(np.tile(z, (3, 1)), np.tile(y, 3))
    ratio = np.log(blind.interval.high / blind.value) / np.log(once.interval.high / once.value)
    assert ratio == pytest.approx(1 / np.sqrt(3), rel=1e-6)


def test_copies_that_differ_widen_the_interval():
    logs = np.array([-0.15, -0.05, 0.05, 0.15])
    parts = [honest_sample(4000, 3, k, times=np.exp(logs[k])) for k in range(4)]
    found = fit_temperature(
        np.vstack([z for z, _ in parts]), np.concatenate([y for _, y in parts]), copies=np.repeat(np.arange(4), 4000)
    )
    half = np.log(found.interval.high / found.value)
    assert half == pytest.approx(1.96 * logs.std(ddof=1) * np.sqrt(1 + 1 / 4), rel=0.1)  # less .02 each for the rows
    assert found.n_copies == 4


def test_calibration_error_before_and_after():
    z, y = honest_sample(20_000, 3, 3, times=3.0)
    found = fit_temperature(z, y)
    p = np.exp(log_softmax(z, axis=1))
    true = np.exp(log_softmax(z / 3, axis=1))[np.arange(len(y)), p.argmax(1)]
    # the expectation of what the bins show: confidence less the true chance of being right
    assert found.before.error == pytest.approx(np.mean(p.max(1) - true), abs=0.01)
    assert found.before.error > 0.15
    assert found.after.error < 0.015
    assert (found.before.confidence > found.before.right).all()
    b = found.after
    assert int(b.count.sum()) == 20_000
    assert (b.low <= b.right).all()
    assert (b.right <= b.high).all()
    assert ((b.low <= b.confidence) & (b.confidence <= b.high)).all()
    k = 4
    low, high = wilson_interval(b.right[k], b.count[k], 1 - 0.05 / len(b.count))
    assert (b.low[k], b.high[k]) == pytest.approx((low, high))
    assert b.error == pytest.approx(np.abs(b.confidence - b.right) @ b.count / 20_000)


def test_labels_by_lot_ask_for_no_confidence_at_all():
    z, _ = honest_sample(500, 3, 4)
    y = np.random.default_rng(9).integers(0, 3, 500)
    assert fit_temperature(z, y).value > 5  # the honest ones have 1


def test_rows_without_an_error_have_no_temperature():
    found = fit_temperature(np.array([[3.0, 0], [0, 2.0], [1, 0]]), [0, 1, 0])
    assert found.interval is None
    assert [n.code for n in found.notes] == ["N024"]
    assert "No temperature" in str(found)


@pytest.mark.parametrize(
    ("z", "y", "words"),
    [
        (np.zeros((3, 1)), [0, 0, 0], "shape"),
        (np.zeros((3, 2)), [0, 1], "one class number"),
        (np.zeros((3, 2)), [0, 1, 2], "0 to 1"),
        (np.full((3, 2), np.nan), [0, 1, 1], "finite"),
    ],
)
def test_what_cannot_be_fitted_is_refused(z, y, words):
    with pytest.raises(InputError, match=words):
        fit_temperature(z, y)


@pytest.fixture(scope="module")
def trained():
    """A small net that is too sure of itself, its data and how it was trained."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 6)).astype(np.float32)
    y = (X[:, 0] + 0.9 * rng.standard_normal(240) > 0).astype(int)
    training = {"epochs": 80, "lr": 0.2, "batch_size": 20, "stop": "none"}
    net = nets.fit_many(nets.make_mlp, X, y, None, seeds=[0], device="cpu", **training).module(0)
    return net, X, y, training


@pytest.mark.slow
@pytest.mark.sample
def test_copies_of_an_estimate_bring_the_temperature_and_the_interval(trained):
    net, X, y, training = trained
    e = nets.estimate(net, X, y, training=training, repeats=3, random_state=0)
    assert e.temperature.n_copies == 3
    assert e.temperature.interval.low > 1
    rng = np.random.default_rng(1)
    fresh = rng.standard_normal((4000, 6)).astype(np.float32)
    truth = (fresh[:, 0] + 0.9 * rng.standard_normal(4000) > 0).astype(int)
    with torch.no_grad():
        logits = net(torch.as_tensor(fresh))
    assert best_temperature(logits, torch.as_tensor(truth)) in e.temperature.interval
    assert float((logits.argmax(1).numpy() != truth).mean()) in e.interval
    again = nets.estimate(
        net, X, y, method="posterior", posterior="temperature", training=training, repeats=3, random_state=0
    )
    assert again.temperature.value == e.temperature.value  # the same copies
    p = e.temperature.apply(logits)
    torch.testing.assert_close(p, (logits / e.temperature.value).softmax(1))


@pytest.mark.slow
@pytest.mark.sample
def test_rows_of_ones_own_give_the_nets_temperature(trained):
    net, X, y, _ = trained
    rng = np.random.default_rng(2)
    own = rng.standard_normal((150, 6)).astype(np.float32), np.arange(150) % 2
    e = nets.estimate(net, X, y, method="bolster", validation=own, n_mc=5, random_state=0)
    with torch.no_grad():
        logits = net(torch.as_tensor(own[0]))
    assert e.temperature.value == best_temperature(logits, torch.as_tensor(own[1]))
    assert e.temperature.n_copies == 0
    assert nets.estimate(net, X, y, method="bolster", n_mc=5, random_state=0).temperature is None


@pytest.mark.slow
@pytest.mark.sample
def test_an_estimate_with_a_temperature_is_reported_and_kept(trained, tmp_path):
    net, X, y, training = trained
    e = nets.estimate(net, X, y, training=training, repeats=2, n_mc=5, random_state=0)
    page = e.report(tmp_path / "r.html") and (tmp_path / "r.html").read_text()
    assert "How far its probabilities can be trusted" in page
    assert "Where the interval comes from" in page
    number = e.keep(f"sqlite:///{tmp_path / 's.db'}", "net")
    from unseen.store import open_store

    with open_store(f"sqlite:///{tmp_path / 's.db'}") as store:
        again = nets.from_store(store.record(number))
    assert again.temperature.value == e.temperature.value
    assert again.interval == e.interval
    np.testing.assert_allclose(again.temperature.after.right, e.temperature.after.right)
