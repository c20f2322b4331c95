"""The distribution of the error: definitions by hand, other libraries, and its refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unseen.core.distribution import ErrorDistribution
from unseen.core.errors import InputError


def make(values, **more):
    return ErrorDistribution(np.asarray(values, float), "squared", n_train=15, n_test=5, **more)


def test_location_and_dispersion_by_hand():
    d = make([4.0, 1.0, 9.0, 2.0, 7.0])
    assert (d.avr, d.med, d.mad, d.iqr) == (4.6, 4.0, 3.0, 5.0)
    assert d.std == pytest.approx(np.sqrt((0.36 + 12.96 + 19.36 + 6.76 + 5.76) / 4))


def test_trimmed_mean_equals_scipys_where_whole_points_are_cut():
    values = np.random.default_rng(0).standard_exponential(500)
    assert make(values).tavr == pytest.approx(stats.trim_mean(values, 0.05), rel=1e-12)


def test_trimmed_mean_cuts_parts_of_points():
    # J = 10: half a point is cut at each end, the rest divided by 0.9
    assert make(np.arange(10.0)).tavr == pytest.approx((0.5 * 0 + sum(range(1, 9)) + 0.5 * 9) / 9)
    assert make([3.0]).tavr == pytest.approx(3.0)


@given(st.lists(st.floats(-0.5, 1e3), min_size=1, max_size=40), st.floats(0.01, 1.0))
def test_fractile_is_the_inverse_of_the_step_function(values, share):
    d = make(values)
    assert d.fractile(share) == pytest.approx(np.quantile(values, share, method="inverted_cdf"))
    assert d.cdf(d.fractile(share)) >= share - 1e-9
    below = d.ordered[d.ordered < d.fractile(share)]
    assert len(below) / len(values) < share + 1e-9


def test_std_divides_by_j_minus_1_and_mad_has_no_factor():
    values = np.random.default_rng(1).standard_normal(200)
    assert make(values).std == pytest.approx(stats.tstd(values))
    assert make(values).mad == pytest.approx(stats.median_abs_deviation(values, scale=1.0))


def test_log_scale_is_log_of_one_plus_the_error():
    d = make([0.0, np.e - 1, np.e**2 - 1])
    assert d.log1p().values == pytest.approx([0, 1, 2])
    assert d.box_cox(0).values == pytest.approx([0, 1, 2])
    assert d.box_cox(1).values == pytest.approx(d.values)
    assert d.box_cox(0.5).values == pytest.approx(2 * (np.sqrt(1 + d.values) - 1))
    assert [row["scale"] for row in d.rows()] == ["identity", "log1p"]
    with pytest.raises(InputError, match="already"):
        d.log1p().log1p()
    with pytest.raises(InputError, match="above -1"):
        make([-1.0, 2.0]).log1p()


def test_comparison_by_hand():
    a, b = make([3.0, 5.0, 4.0, 8.0], model="a"), make([1.0, 5.0, 5.0, 4.0], model="b")
    c = a.compare(b)
    d = np.array([2.0, 0.0, -1.0, 4.0])
    assert c.difference == d.mean()
    assert c.naive_std_error == pytest.approx(np.sqrt(((d - d.mean()) ** 2).sum() / (4 * 3)))
    assert c.corrected_std_error == pytest.approx(d.std(ddof=1) * np.sqrt(1 / 4 + 5 / 15))
    assert c.p_value(corrected=False) == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
    assert (c.prob_worse, a.prob_worse(b), b.prob_worse(a)) == (0.5, 0.5, 0.25)
    assert "naive" in c.rows()[1]["kind"]
    assert b.compare(a).difference == -c.difference


def test_pairs_only_the_splits_both_completed():
    a = make([1.0, 2.0, 3.0], plan="p", splits=np.array([0, 1, 3]))
    b = make([9.0, 0.0, 1.0], plan="p", splits=np.array([1, 2, 3]))
    c = a.compare(b)
    assert c.values.tolist() == [-7.0, 2.0]
    assert [n.code for n in c.notes] == ["U025"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (make([1.0, 2.0], plan="q"), "different splits"),
        (make([1.0, 2.0], plan="p").log1p(), "scale"),
        (make([1.0, 2.0], plan="p", splits=np.array([7, 8])), "no split"),
    ],
)
def test_refuses_what_is_not_paired(other, words):
    with pytest.raises(InputError, match=words):
        make([1.0, 2.0], plan="p").compare(other)


@pytest.mark.parametrize("values", [[], [np.nan, 1.0], [[1.0]], [np.inf]])
def test_refuses_what_is_no_distribution(values):
    with pytest.raises(InputError):
        make(values)


def test_refuses_shares_outside_the_unit_interval():
    for share in (0.0, 1.01, -1):
        with pytest.raises(InputError, match="share"):
            make([1.0, 2.0]).fractile(share)


def test_no_difference_at_all_has_no_p_value():
    c = make([1.0, 2.0]).compare(make([1.0, 2.0]))
    assert c.difference == 0
    assert np.isnan(c.p_value())
    assert c.to_json()


@pytest.mark.parametrize("gap", [-0.1, 0.0, 0.1])
def test_without_spread_a_difference_has_no_p_value(gap):
    """Three splits with the same difference: its standard error is 0 and says nothing, so p is not 0 either."""
    values = np.array([0.2, 0.3, 0.4])
    c = ErrorDistribution(values + gap, n_train=30, n_test=10).compare(ErrorDistribution(values, n_train=30, n_test=10))
    assert np.isnan(c.t())
    assert np.isnan(c.p_value())
