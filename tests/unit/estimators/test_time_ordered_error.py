"""Time-ordered error: the series by hand, Newey and West's own arithmetic, and coverage under dependence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter
from sklearn.linear_model import LinearRegression, Ridge

import unseen
from unseen.core.errors import InputError
from unseen.estimators.time_ordered import (
    TimeOrderedError,
    bartlett_variance,
    cosine_count,
    cosine_variance,
    newey_west_lags,
)

GROUPS = np.repeat(np.arange(24), np.tile([1, 4], 12))  # units of one row and of four


def run(n=60, model=None, **columns):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    y = X[:, 0] + lfilter([1], [1, -0.7], rng.standard_normal(n))
    columns.setdefault("time", np.arange(n))
    return unseen.run(
        model or LinearRegression(), X, y, design=unseen.designs.TimeOrdered(5), random_state=0, **columns
    )


def cosine_by_hand(z, count):
    T = len(z)
    total = 0.0
    for j in range(1, count + 1):
        total += (np.sqrt(2 / T) * sum(z[t - 1] * np.cos(np.pi * j * (t - 0.5) / T) for t in range(1, T + 1))) ** 2
    return total / count


def test_value_and_interval_by_hand():
    table = run()
    losses = np.full(60, np.nan)
    losses[table.test.row] = np.square(table.data.y[table.test.row] - table.test.value)
    z = losses[30:]
    assert np.isnan(losses[:30]).all()
    count = int(0.41 * 30 ** (2 / 3))
    se = np.sqrt(cosine_by_hand(z - z.mean(), count) / 30)
    e = unseen.estimate(table, method="time-ordered", level=0.8)
    assert e.value == pytest.approx(z.mean())
    assert (e.std_error, e.df) == (pytest.approx(se), count)
    low, high = stats.t.interval(0.8, count, z.mean(), se)
    assert tuple(e.interval) == pytest.approx((max(low, 0), high))


def test_rows_out_of_order_give_the_same():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] + rng.standard_normal(60)
    order = rng.permutation(60)
    plain = unseen.estimate(LinearRegression(), X, y, method="time-ordered", time=np.arange(60), random_state=0)
    mixed = unseen.estimate(LinearRegression(), X[order], y[order], method="time-ordered", time=order, random_state=0)
    assert mixed.value == pytest.approx(plain.value)
    assert mixed.std_error == pytest.approx(plain.std_error)


def test_groups_are_units_of_time():
    """Rows in pairs: the series is that of the pairs' summed deviations, 15 of them, not 30."""
    table = run(groups=np.arange(60) // 2)
    losses = np.full(60, np.nan)
    losses[table.test.row] = np.square(table.data.y[table.test.row] - table.test.value)
    pairs = losses[30:].reshape(-1, 2).mean(axis=1)
    e = unseen.estimate(table, method="time-ordered")
    assert e.value == pytest.approx(pairs.mean())
    assert e.std_error == pytest.approx(np.sqrt(cosine_by_hand(pairs - pairs.mean(), e.df) / 15))
    assert [n.code for n in e.notes if n.code == "U009"] == ["U009"]


@pytest.mark.parametrize(
    "columns", [{"sample_weight": np.random.default_rng(1).uniform(0.5, 4.0, 60)}, {"groups": GROUPS}]
)
def test_all_cosines_give_the_variance_of_a_weighted_mean_or_of_a_ratio(columns):
    """Cosines are orthogonal, so all of them give T/(T-1) sum (w_t (x_t - m))^2 / (sum w)^2 (Cochran 1977, 6.4)."""
    table = run(**columns)
    losses = np.square(table.data.y[table.test.row] - table.test.value)
    weight, unit = columns.get("sample_weight", np.ones(60))[table.test.row], table.data.units[table.test.row]
    size, mean = weight.sum(), np.average(losses, weights=weight)
    summed = np.array([np.sum((weight * (losses - mean))[unit == u]) for u in np.unique(unit)])
    T = len(summed)
    e = TimeOrderedError(count=T - 1)(table.losses())
    assert e.value == pytest.approx(mean)
    assert e.std_error == pytest.approx(np.sqrt(T / (T - 1) * np.sum(summed**2)) / size)


def test_newey_west_by_hand():
    z = np.array([1.0, 2.0, -1.0, 0.0, -2.0])
    gamma = [np.sum(z[k:] * z[: 5 - k]) / 5 for k in range(3)]
    assert bartlett_variance(z, 2) == pytest.approx(gamma[0] + 2 * (2 / 3 * gamma[1] + 1 / 3 * gamma[2]))
    assert [newey_west_lags(n) for n in (20, 100, 400, 1000)] == [2, 4, 5, 6]
    table = run()
    e = TimeOrderedError(spread="newey-west")(table.losses())
    d = np.square(table.data.y[table.test.row] - table.test.value)[np.argsort(table.test.row)]
    assert e.std_error == pytest.approx(np.sqrt(bartlett_variance(d - d.mean(), 3) / 30))
    assert e.df == 29


def test_independent_losses_give_the_usual_standard_error():
    z = np.random.default_rng(1).standard_normal(5000)
    z -= z.mean()
    assert cosine_variance(z, 500) == pytest.approx(1, rel=4 * np.sqrt(2 / 500))
    assert cosine_variance(z, 4999) == pytest.approx(np.mean(z**2) * 5000 / 4999, rel=1e-9)


@pytest.mark.parametrize(("phi", "n"), [(0.0, 60), (0.5, 60), (0.5, 200)])
def test_covers_the_mean_of_dependent_losses(phi, n):
    """AR(1) losses, 2,000 series: coverage near .95, bound at four binomial standard errors; a plain t fails under dependence."""
    noise = np.random.default_rng(4).standard_normal((2000, n + 100))
    series = lfilter([1], [1, -phi], noise, axis=1)[:, 100:]
    count = cosine_count(n)
    quantile = stats.t.ppf(0.975, count)
    means = series.mean(axis=1)
    errors = np.array([np.sqrt(cosine_variance(z - z.mean(), count) / n) for z in series])
    error = np.sqrt(0.95 * 0.05 / 2000)
    assert 0.935 - 4 * error < np.mean(np.abs(means) <= quantile * errors) < 0.95 + 4 * error
    if phi:
        plain = stats.t.ppf(0.975, n - 1) * series.std(axis=1, ddof=1) / np.sqrt(n)
        assert np.mean(np.abs(means) <= plain) < 0.8


def test_a_difference_is_the_diebold_mariano_statistic():
    a, b = run(), run(model=Ridge(50.0))
    gap = a.losses().minus(b.losses())
    e = TimeOrderedError(spread="newey-west", count=3)(gap)
    d = np.array([gap.test.value[gap.test.row == k][0] for k in range(30, 60)])
    assert e.value / e.std_error == pytest.approx(d.mean() / np.sqrt(bartlett_variance(d - d.mean(), 3) / 30))


def test_refusals():
    with pytest.raises(InputError, match="spread"):
        TimeOrderedError(spread="bootstrap")
    with pytest.raises(InputError, match="count"):
        TimeOrderedError(count=0)
    data = unseen.datasets.load("diabetes").take(np.arange(40))
    with pytest.raises(InputError, match="time="):
        unseen.estimate(LinearRegression(), data, method="time-ordered")
