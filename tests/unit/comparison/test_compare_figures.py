"""Figures of comparisons and rankings: their numbers, and that they draw."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
import unseen.show as display

mpl.use("Agg")
MODELS = {"bayes": GaussianNB(), "$tump$": DecisionTreeClassifier(max_depth=1), "dummy": DummyClassifier()}


@pytest.fixture(scope="module")
def three():
    return unseen.compare(MODELS, *unseen.datasets.load("iris").xy, random_state=0, rope=0.02)


def texts(ax):
    return [t.get_text() for t in (*ax.get_yticklabels(), *ax.texts)]


def test_forest_shows_every_pair_with_its_interval(three):
    numbers = display.info(three, "differences")
    assert numbers.values.tolist() == [p.difference for p in three]
    assert numbers.low.tolist() == [p.interval.low for p in three]
    assert numbers.rope == (-0.02, 0.02)
    assert numbers.shown == tuple(p.verdict != "no difference shown" for p in three)
    ax = three.plot("differences")
    assert "bayes − dummy" in texts(ax)
    low, high = ax.get_xlim()
    assert low < min(0, np.min(numbers.low))
    assert high > 0
    ends = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linewidth() > 2]
    assert sorted(e[0] for e in ends) == pytest.approx(sorted(numbers.low))


def test_forest_of_a_test_without_intervals_has_hollow_points():
    c = unseen.compare(MODELS, *unseen.datasets.load("iris").xy, test="mcnemar", random_state=0)
    assert np.isnan(display.info(c, "differences").low).all()
    points = [line for line in c.plot().lines if line.get_marker() in ("o", "D")]
    assert {p.get_markerfacecolor() for p in points} == {"none"}


def test_models_figure_ends_with_the_corrected_error(three):
    numbers = display.info(three, "models")
    assert numbers.values[-1] == three.winner.corrected
    assert list(numbers.values[:-1]) == sorted(e.value for e in three.estimates.values())
    three.plot("models")


def test_posterior_integrates_to_the_three_chances():
    c = unseen.compare(MODELS, *unseen.datasets.load("iris").xy, test="bayesian-t", rope=0.03, random_state=0)
    numbers = display.info(c, "posterior")
    for density, (below, inside, above) in zip(numbers.density, numbers.chances):
        parts = [
            np.trapezoid(density[mask], numbers.grid[mask])
            for mask in (
                numbers.grid <= numbers.rope[0],
                (numbers.grid >= numbers.rope[0]) & (numbers.grid <= numbers.rope[1]),
                numbers.grid >= numbers.rope[1],
            )
        ]
        assert parts == pytest.approx([below, inside, above], abs=2e-3)
    c.plot("posterior")
    c["bayes", "dummy"].plot("posterior")


def test_without_a_posterior_there_is_nothing_to_draw(three):
    assert display.info(three, "posterior") is None
    one = three["bayes", "dummy"].plot()
    assert "bayes − dummy" in texts(one)


def test_critical_difference_diagram_joins_what_is_not_distinguished():
    rng = np.random.default_rng(0)
    errors = rng.random((15, 4)) * 0.1 + np.array([0.0, 0.01, 0.3, 0.31])
    r = unseen.rank(errors, ["a", "b", "c", "d"])
    numbers = display.info(r)
    assert numbers.names == tuple(r.names[k] for k in r.order())
    assert numbers.groups == ((0, 1), (2, 3))
    gaps = np.abs(np.subtract.outer(r.mean_ranks, r.mean_ranks))
    critical = stats.studentized_range.ppf(0.95, 4, np.inf) / np.sqrt(2) * np.sqrt(4 * 5 / (6 * 15))
    assert numbers.critical_difference == pytest.approx(critical)
    assert ((r.pairwise < 0.05) == (gaps > critical)).all()
    ax = r.plot()
    assert any("critical difference" in t.get_text() for t in ax.texts)


def test_the_caption_explains_only_what_is_drawn(three):
    numbers = display.info(three, "differences")
    assert "P-values are adjusted for the number of pairs." in numbers.caption
    assert "hollow" not in numbers.caption
    data = unseen.datasets.load("iris").xy
    one = unseen.compare([GaussianNB(), DummyClassifier()], *data, random_state=0)
    caption = display.info(one, "differences").caption
    assert caption.endswith("(a score s is compared as 1 − s).")
    bare = unseen.compare([GaussianNB(), DummyClassifier()], *data, test="mcnemar", random_state=0)
    assert display.info(bare, "differences").caption.endswith(" A hollow point has no interval.")
