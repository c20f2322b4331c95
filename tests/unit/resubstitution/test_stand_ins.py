"""Where a large sample is worked on by a cheaper stand-in, a note says so and its error is counted."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen import resubstitution as R
from unseen.resubstitution._neighbours import k_nearest, k_nearest_in_parts
from unseen.resubstitution._stand_ins import bandwidth_stand_in, neighbour_stand_in
from unseen.resubstitution.kernels import Full, Spherical, Spread, UniformBall


def sample(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) + 0.8 * y[:, None], y


def stand_in_notes(e):
    return [n.text for n in e.notes if n.code == "U039"]


X, Y = sample(3000)
FITTED = LogisticRegression().fit(X, Y)


@pytest.mark.parametrize("make", [Spherical, UniformBall, Full])
def test_the_relative_error_of_a_bandwidth_is_that_of_a_mean_of_some(make):
    """Over many classes of the same size the sizes from some of the points scatter as much as is said."""
    points, _ = sample(20_000, d=5, seed=1)
    codes = np.repeat(np.arange(40), 500)
    classes = np.arange(40)
    some, whole = (make(max_queries=q).spread(points, codes, classes) for q in (100, 500))
    assert not whole.relative_error.any()
    off = some.bandwidth / whole.bandwidth - 1
    assert 0.7 < np.sqrt(np.mean(off**2)) / np.sqrt(np.mean(some.relative_error**2)) < 1.4
    assert some.scale(3.0).relative_error is some.relative_error


def test_the_relative_error_by_hand():
    """The standard error of a mean of 20 out of 65, over that mean."""
    points = np.random.default_rng(2).standard_normal((65, 5))
    whole = Spherical(max_queries=65).spread(points, np.zeros(65, int), np.array([0]))
    assert whole.relative_error.tolist() == [0.0]
    from unseen.resubstitution._neighbours import nearest_distances

    found = nearest_distances(points, 20)
    assert len(found) == 20
    expected = found.std(ddof=1) / found.mean() / math.sqrt(20) * math.sqrt(1 - 20 / 65)
    some = Spherical(max_queries=20).spread(points, np.zeros(65, int), np.array([0]))
    assert some.relative_error[0] == pytest.approx(expected, rel=1e-12)


@dataclass
class Toy:
    """What a stand-in asks of the regions of a classifier."""

    points: Any
    codes: Any
    assigned: Any = None
    d: int = 1


def test_the_error_of_a_bandwidth_is_its_slope_times_its_own_error_by_hand():
    """Contributions of 3 h in class 0 and h^2 in class 1: slopes 3 h and 2 h^2 for a relative change, classes add as squares."""
    codes = np.repeat([0, 1], [6, 4])
    toy = Toy(points=np.zeros((10, 1)), codes=codes)
    spread = Spread(np.array([0.5, 2.0]), d=1, relative_error=np.array([0.1, 0.02]))

    def values_at(other, rows):
        h = other.factor[codes[rows]]
        return np.where(codes[rows] == 0, 3 * h, h**2)

    found = bandwidth_stand_in(toy, spread, np.full(10, 0.1), values_at)
    assert found.error == pytest.approx(math.hypot(0.6 * 1.5 * 0.1, 0.4 * 8.0 * 0.02))
    assert [n.code for n in found.notes] == ["U039"]
    assert "relative standard error 10%" in found.notes[0].text
    for known in (None, np.zeros(2)):
        assert bandwidth_stand_in(toy, replace(spread, relative_error=known), np.full(10, 0.1), values_at).error == 0


@pytest.mark.parametrize("method", ["bolster", "semi_bolster", "bolster_posterior_accuracy"])
def test_the_error_of_bandwidths_from_some_points_is_what_they_change(method):
    """Over seeds of which points are asked the true change is known: the whole asks all of them."""
    make, model = getattr(R, method), DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, Y)
    whole = make(model, X, Y, draws=1, n_mc=20)
    off, said = [], []
    for k in range(6):
        order = np.random.default_rng(k).permutation(len(X))
        given = make(model, X[order], Y[order], draws=1, n_mc=20, kernel=Spherical(max_queries=150))
        base = make(model, X[order], Y[order], draws=1, n_mc=20)
        off.append(given.value - base.value)
        said.append(math.sqrt(given.mc_error**2 - base.mc_error**2))
        assert len(stand_in_notes(given)) == 1
    assert stand_in_notes(whole) == []
    assert 0.4 < np.sqrt(np.mean(np.square(off))) / np.mean(said) < 2.5


def test_neighbours_in_the_own_part_start_with_the_point_itself():
    rows = np.array([7, 300, 2999])
    every = k_nearest_in_parts(X, 3, 1000)
    asked = k_nearest_in_parts(X, 3, 1000, X[rows], rows, own=True)
    np.testing.assert_array_equal(asked, every[rows])
    np.testing.assert_array_equal(asked[:, 0], rows)
    np.testing.assert_array_equal(
        k_nearest_in_parts(X, 3, None, X[rows], rows, own=True), k_nearest(X[rows], X, 3, rows)
    )


def test_the_error_of_neighbours_in_parts_is_what_looking_among_all_changes():
    """With as many points asked as there are, the mean difference is the whole difference, and nothing is left to chance."""
    x, y = sample(2000, d=3)
    model = LogisticRegression().fit(x, y)
    part, whole = (R.posterior(model, x, y, among=among) for among in (400, None))
    gap = part.value - whole.value
    assert abs(gap) > 1e-4
    assert part.mc_error == pytest.approx(abs(gap), rel=1e-9)
    assert whole.mc_error == 0
    assert stand_in_notes(whole) == []
    assert stand_in_notes(part) == [
        "neighbours are looked for among 400 of 2,000 points; at 2,000 points looking among all changed the "
        f"estimate by {-gap:+.1g} (standard error 0)"
    ]


def test_the_error_of_neighbours_counts_weights_and_chance_by_hand(monkeypatch):
    """Of 4 points two are asked; the mean and standard error are those of n w (doubt in the part - doubt among all)."""
    from unseen.resubstitution import _stand_ins

    monkeypatch.setattr(_stand_ins, "ASKED", 2)
    toy = Toy(np.zeros((4, 1)), codes=np.array([0, 0, 1, 1]), assigned=np.array([0, 0, 0, 0]))
    rows = np.sort(np.random.default_rng(0).choice(4, 2, replace=False))
    near_part = np.array([[0, 2], [2, 3]])
    near_all = np.array([[0, 1], [2, 3]])
    monkeypatch.setattr(_stand_ins, "k_nearest_in_parts", lambda *a, **k: near_part)
    monkeypatch.setattr(_stand_ins, "k_nearest", lambda *a, **k: near_all)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    found = neighbour_stand_in(toy, 2, 2, weights)
    gap = np.array([4 * weights[rows[0]] * 0.5, 0.0])
    assert found.error == pytest.approx(math.hypot(gap.mean(), gap.std(ddof=1) * math.sqrt(0.5 / 2)))
    assert neighbour_stand_in(toy, 2, 4, weights).error == neighbour_stand_in(toy, 2, None, weights).error == 0


@pytest.mark.parametrize("method", ["bolster-posterior", "bolster-posterior-accuracy", "bolster-posterior-product"])
def test_every_method_with_neighbours_passes_their_error_on(monkeypatch, method):
    """At so many points the change is known to some .001 for kernel points, and exactly for training points."""
    from unseen.resubstitution import _class_probabilities, _stand_ins

    x, y = sample(600, d=3)
    model = LogisticRegression().fit(x, y)
    monkeypatch.setattr(_class_probabilities, "exact_rows", lambda d, kernels=False: 200)
    monkeypatch.setattr(_stand_ins, "ASKED", 100_000)
    options = {"among": 200} if method == "bolster-posterior" else {}
    whole = {"among": None} if method == "bolster-posterior" else {}
    part = unseen.estimate(model, x, y, method=method, fitted=True, random_state=0, **options)
    monkeypatch.undo()
    every = unseen.estimate(model, x, y, method=method, fitted=True, random_state=0, **whole)
    assert part.value != every.value
    assert len(stand_in_notes(part)) == 1
    assert stand_in_notes(every) == []
    extra = math.sqrt(part.mc_error**2 - every.mc_error**2)
    close = {"abs": 0.003} if method == "bolster-posterior" else {"rel": 1e-6}
    assert extra == pytest.approx(abs(part.value - every.value), **close)
    assert extra > 0


def test_small_samples_have_no_stand_in():
    e = unseen.estimate(FITTED, X, Y, method="auto-resub", fitted=True, random_state=0)
    assert stand_in_notes(e) == []
    assert R.bolster(FITTED, X, Y).mc_error == 0


@pytest.mark.slow
@pytest.mark.sample
def test_a_large_sample_says_so_in_the_report_of_resub():
    x, y = sample(66_000, d=10)
    found = unseen.resubstitute(LogisticRegression().fit(x, y), x, y, methods=["posterior", "bolster"], random_state=0)
    assert "neighbours are looked for among 22,000 of 66,000 points" in str(found)
    assert "bandwidths come from some of the points of a class" in str(found)
    assert all(e.mc_error > 0 for e in found.estimates)
