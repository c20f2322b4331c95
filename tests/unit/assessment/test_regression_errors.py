"""RMSE, MAE and R2 of one run, against the same numbers worked out from its predictions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import unseen
from unseen.assessment.regression_errors import regression_errors, root_of
from unseen.core.errors import InputError
from unseen.core.result import plain


@pytest.fixture(scope="module")
def table():
    data = unseen.datasets.load("diabetes")
    return unseen.run(LinearRegression(), data.take(np.arange(440)), design="repeated-kfold", random_state=0)


def test_values_are_those_of_the_test_predictions(table):
    found = regression_errors(table).estimates
    y, f = table.data.y[table.test.row], table.test.value
    wanted = {"rms": root_mean_squared_error(y, f), "absolute": mean_absolute_error(y, f), "r2": r2_score(y, f)}
    assert {name: e.value for name, e in found.items()} == pytest.approx(wanted, rel=1e-9)
    assert {name: e.loss for name, e in found.items()} == {"rms": "rms", "absolute": "absolute", "r2": "r2"}
    assert {e.n_fits for e in found.values()} == {50}


def test_interval_of_the_rmse_is_symmetric_in_its_logarithm(table):
    """A relative error r of the mean square is r / 2 of its root."""
    squared = unseen.estimate(table, method="range-t", level=0.9)
    e = regression_errors(table, level=0.9).estimates["rms"]
    factor = np.exp(stats.t.ppf(0.95, 49) * squared.std_error / squared.value / 2)
    assert tuple(e.interval) == pytest.approx((e.value / factor, e.value * factor), rel=1e-10)
    assert e.std_error == pytest.approx(e.value * squared.std_error / squared.value / 2)
    assert e.interval.level == 0.9


def test_intervals_hold_their_values_and_r2_is_turned(table):
    found = regression_errors(table).estimates
    assert all(e.value in e.interval for e in found.values())
    other = unseen.estimate(table, method="range-t", loss="r2")
    assert tuple(found["r2"].interval) == pytest.approx((1 - other.interval.high, 1 - other.interval.low))


def test_sentence(table):
    found = regression_errors(table)
    rms, mae, r2 = found.estimates.values()
    ends = [f"{v:.1f}" for v in (rms.value, *rms.interval, mae.value, *mae.interval)]
    score = [f"{v:.2f}" for v in (r2.value, *r2.interval)]
    assert found.sentence() == (
        f"RMSE {ends[0]} (95% interval {ends[1]} to {ends[2]}), MAE {ends[3]} ({ends[4]} to {ends[5]}), "
        f"R2 {score[0]} ({score[1]} to {score[2]})"
    )
    assert plain(found)["estimates"]["rms"]["value"] == rms.value


@pytest.mark.parametrize(("scale", "shown"), [(1e-3, "0.00500"), (1.0, "5.00"), (1000.0, "5000"), (3e4, "150000")])
def test_numbers_keep_three_digits_and_no_exponent(scale, shown):
    x = np.linspace(0, 1, 40)
    y = scale * 5.0 * np.where(np.arange(40) % 2, 1, -1)

    class Zero:
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.zeros(len(X))

    table = unseen.run(Zero(), x[:, None], y, design="repeated-kfold", random_state=0, task="regression")
    found = regression_errors(table)
    assert found.sentence().startswith(f"RMSE {shown}, MAE {shown}")  # all losses are equal: no interval can be given


def test_a_method_of_single_losses_leaves_r2_out():
    X, y = unseen.datasets.load("diabetes").xy
    table = unseen.run(LinearRegression(), X, y, design="time-ordered", time=np.arange(len(y)), random_state=0)
    found = regression_errors(table, method="time-ordered")
    assert list(found.estimates) == ["rms", "absolute"]
    assert found.estimates["rms"].value in found.estimates["rms"].interval


def test_misuse_is_refused(table):
    iris = unseen.run("lda", unseen.datasets.load("iris"), design="repeated-kfold", random_state=0)
    with pytest.raises(InputError, match="errors of a regression"):
        regression_errors(iris)
    with pytest.raises(InputError, match="given: absolute"):
        root_of(regression_errors(table).estimates["absolute"])
