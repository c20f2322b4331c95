"""Intervals of a net's error: Student's quantile, the arithmetic in closed form, and simulations that follow the model."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student

from unseen import nets
from unseen.nets.estimates.error_interval import (
    LogOddsTransfer,
    _t_quantile,
    interval_from_copies,
    interval_from_zoos,
    log_odds_of,
    zoo_transfer,
)


@pytest.mark.parametrize("df", [5, 7, 8, 20, 200])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_quantiles_are_students(df, level):
    assert _t_quantile((1 + level) / 2, df) == pytest.approx(student.ppf((1 + level) / 2, df), abs=1e-3)


def test_the_ends_in_closed_form():
    transfer = LogOddsTransfer(shift=-0.1, between=0.2, within=0.05, zoos=9)
    x, v = log_odds_of(30, 100)
    assert (x, v) == (np.log(30.5 / 70.5), 1 / 30.5 + 1 / 70.5)
    unknown = 0.04 * 10 / 9
    total = unknown + 0.0025 + v
    half = student.ppf(0.975, 8 * (total / unknown) ** 2) * np.sqrt(total)
    assert transfer.interval(x, v, 0.95) == pytest.approx((expit(x - 0.1 - half), expit(x - 0.1 + half)), abs=1e-4)


def test_rows_left_out_twice_count_once():
    wrong, rows = np.repeat([1.0, 0.0], [20, 80]), np.arange(100)
    plain = LogOddsTransfer(shift=0.0, between=0.0, within=0.0, zoos=8)
    once = interval_from_copies([wrong], [rows], 0.95, plain)
    assert interval_from_copies([wrong, wrong], [rows, rows], 0.95, plain) == once
    other = interval_from_copies([wrong, wrong], [rows, rows + 100], 0.95, plain)
    assert other == pytest.approx(interval_from_copies([np.tile(wrong, 2)], [np.arange(200)], 0.95, plain))
    assert other.width < once.width


def test_coverage_where_errors_follow_the_model():
    rng = np.random.default_rng(0)
    size, inside = 400, []
    for _ in range(1500):
        zoos = rng.normal(-0.05, 0.15, 8)  # what a study would know
        known = LogOddsTransfer(shift=zoos.mean(), between=zoos.std(ddof=1), within=0.0, zoos=8)
        copy = rng.uniform(0.05, 0.6)
        true = expit(logit(copy) + rng.normal(-0.05, 0.15))
        wrong = (rng.random(size) < copy).astype(float)
        inside.append(true in interval_from_copies([wrong], [np.arange(size)], 0.9, known))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)  # four standard errors


def test_without_copies_only_what_the_zoos_judged_has_an_interval():
    known = zoo_transfer()["bolster"]
    found = interval_from_zoos("bolster", 0.1, 500, 0.95)
    middle = expit(logit(50.5 / 501) + known.shift)
    assert found.low < middle < found.high
    assert found.width > 0.3
    assert interval_from_zoos("naive-bayes-bolster", 0.1, 500, 0.95) is None
    assert known.zoos == 9
    assert zoo_transfer()["copies"].zoos == 8
    net = nets.sample_net("mlp")
    for options, there in (({}, True), ({"kappa": 2.0}, False), ({"average": "class"}, False), ({"layer": "1"}, False)):
        e = nets.estimate(net.module, net.X_train, net.y_train, method="bolster", n_mc=5, random_state=0, **options)
        assert (e.interval is not None) is there


@pytest.mark.slow
def test_the_shipped_transfer_is_that_of_the_zoos():
    from studies.estimate_intervals import bolstered_errors, errors_of_copies, judge, transfer_of

    copies, without = errors_of_copies(), bolstered_errors()
    assert {"copies": transfer_of(copies), "bolster": transfer_of(without)} == zoo_transfer()
    assert min(row["coverage"] for row in judge(copies)) >= 0.92
    assert max(row["width"] for row in judge(copies)) < 0.15


@pytest.mark.slow
@pytest.mark.sample
def test_kernels_may_shrink_where_they_are_too_large():
    """Two clusters far apart in few points: kernels of the natural size cross the border, the copies never err."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = (np.where(y[:, None] == 1, 1.5, -1.5) + rng.standard_normal((60, 2)) * [1, 3]).astype(np.float32)
    training = {"epochs": 40, "lr": 0.1, "batch_size": 10, "stop": "none"}
    net = nets.fit_many(nets.make_mlp, X, y, None, seeds=[0], device="cpu", **training).module(0)
    given = {"method": "calibrated-bolster", "training": training, "repeats": 3, "n_mc": 30, "random_state": 0}
    free, grown = (nets.estimate(net, X, y, bidirectional=b, **given) for b in (True, False))
    assert free.curve[0, 0] < 1 <= grown.curve[0, 0]
    assert np.abs(free.curve[:, 1]).min() <= np.abs(grown.curve[:, 1]).min()
    for e in (free, grown):
        assert (e.value not in e.interval) == ("N026" in {one.code for one in e.notes})
