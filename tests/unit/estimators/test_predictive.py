"""The interval of a recipe: quantiles of a Beta distribution whose parameters are known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, Target
from unseen.core.registry import build
from unseen.estimators.combined.predictive import Predictive, predictive
from unseen.estimators.combined.situation import Situation

PLAIN = Predictive(size=1.0, floor=0.0, prior=2.0, centre=0.5, slope=0.0)


def beta_quantile(p, b):
    """Return a quantile of Beta(1, b), which is known in closed form."""
    return 1 - (1 - p) ** (1 / b)


@pytest.mark.parametrize(
    ("given", "value", "n", "b"),
    [
        (PLAIN, 0.0, 40, 41),
        # half of 2 * 40 / (1 + .1 * 40) = 16 units
        (Predictive(size=2.0, floor=0.1, prior=2.0, centre=0.5, slope=0.0, scale=0.5), 0.0, 40, 9),
        # (0 + 1)/(2 + 2) is the rate at which the slope changes nothing
        (Predictive(size=3.0, floor=0.0, prior=4.0, centre=0.25, slope=7.0), 0.0, 2, 9),
    ],
)
def test_the_ends_are_those_of_a_distribution_known_in_closed_form(given, value, n, b):
    low, high = given.interval(value, n, 0.9)
    assert low == 0  # the quantile is above the value, which the interval contains
    assert given.shapes(value, n) == (pytest.approx(1), pytest.approx(b))
    assert high == pytest.approx(beta_quantile(0.95, b), rel=1e-12)


def test_the_slope_counts_units_by_the_rate():
    """At c = 1/2 and n = 2 the rate is 1/2, twice .25: slope 1 doubles the 2 units, and Beta(2 + 1, 2 + 1) is symmetric."""
    given = Predictive(size=1.0, floor=0.0, prior=2.0, centre=0.5, slope=1.0)
    assert given.shapes(0.5, 2) == (pytest.approx(3), pytest.approx(3))
    low, high = given.interval(0.5, 2, 0.5)
    assert low == pytest.approx(1 - high)
    # the distribution function of Beta(3, 3) is 10 x^3 - 15 x^4 + 6 x^5
    assert 10 * low**3 - 15 * low**4 + 6 * low**5 == pytest.approx(0.25)


@pytest.mark.parametrize("recipe", ["auto-resub", "combined"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_the_ends_are_scipys_quantiles(recipe, level):
    given = predictive(recipe)
    value, n = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, 21), [20, 57, 100, 400]))
    units = given.scale * given.size * n / (1 + given.floor * n) * ((n * value + 1) / (n + 2) / 0.25) ** given.slope
    theirs = stats.beta(
        units * value + given.prior * given.centre, units * (1 - value) + given.prior * (1 - given.centre)
    )
    low, high = given.ends(value, n, level)
    quantile = theirs.ppf((1 - level) / 2)
    below = quantile < 0.5 / n  # half an error cannot be told from none
    assert below.any()
    assert (low[below] == 0).all()
    np.testing.assert_allclose(low[~below], np.minimum(quantile, value)[~below], rtol=1e-9)
    np.testing.assert_allclose(high, np.maximum(theirs.ppf((1 + level) / 2), value), rtol=1e-9)
    one = given.interval(0.2, 57, level)
    assert [*one, one.level] == [low[(value == 0.2) & (n == 57)][0], high[(value == 0.2) & (n == 57)][0], level]


@pytest.mark.parametrize("recipe", ["auto-resub", "combined"])
def test_intervals_stay_in_range_contain_the_value_and_narrow_with_the_sample(recipe):
    given = predictive(recipe)
    for value in (0.0, 0.01, 0.3, 0.99, 1.0):
        found = [given.interval(value, n) for n in (20, 40, 100, 400)]
        assert all(0 <= one.low <= value <= one.high <= 1 for one in found)
        assert all(a.width > b.width for a, b in pairwise(found))
        assert given.interval(value, 40, 0.99).width > given.interval(value, 40, 0.9).width


def test_five_classes_and_boosting_widen_the_interval_of_combined():
    """The factor of many classes multiplies the scale of the family of rules; four classes change nothing."""
    plain, crowd = predictive("combined", "linear"), predictive("combined", "linear", 5)
    assert predictive("combined", "linear", 4) is not crowd
    assert predictive("combined", "linear", 4).interval(0.2, 100) == plain.interval(0.2, 100)
    assert crowd.interval(0.2, 100).width > plain.interval(0.2, 100).width
    assert predictive("combined", "boosting", 5).scale == pytest.approx(
        predictive("combined", "boosting").scale * crowd.scale / plain.scale
    )
    assert predictive("combined", "boosting").interval(0.2, 100).width > plain.interval(0.2, 100).width
    assert predictive("auto-resub", n_classes=9).interval(0.2, 100) == predictive("auto-resub").interval(0.2, 100)


def test_what_has_no_interval_is_refused_by_name():
    with pytest.raises(InputError, match="'auto-resub'"):
        predictive("auto_resub")
    with pytest.raises(InputError, match="level"):
        PLAIN.interval(0.1, 40, 95)


def part(method, value, n):
    return Estimate(
        value=value,
        std_error=None,
        interval=None,
        df=None,
        method=method,
        target=Target.MODEL.at(n),
        loss="zero-one",
        n_units=n,
        n_fits=0,
    )


@pytest.mark.parametrize(("n", "inside"), [(19, False), (20, True), (400, True), (401, False), (100_000, False)])
def test_without_retraining_there_is_an_interval_inside_what_was_studied(n, inside):
    recipe = build("auto-resub", "resubstitution")
    parts = {name: part(name, 0.2, n) for name in recipe.needed}
    made = recipe(parts, level=0.9)
    if inside:
        assert made.interval == predictive("auto-resub").interval(made.value, n, 0.9)
        assert made.notes == ()
    else:
        assert made.interval is None
        assert [str(one.text) for one in made.notes] == [f"{n:,} units are outside the 20 to 400 that were studied"]


def test_a_class_of_two_rows_was_not_studied_and_a_search_does_not_matter():
    recipe = build("auto-resub", "resubstitution")
    parts = {name: part(name, 0.2, 40) for name in recipe.needed}
    few = recipe(parts, situation=Situation(n_units=40, fewest=2))
    assert few.interval is None
    assert [n.text for n in few.notes] == ["a class has 2 rows (3 or more in the study)"]
    assert recipe(parts, situation=Situation(n_units=40, fewest=3, resampling="it searches")).interval is not None
