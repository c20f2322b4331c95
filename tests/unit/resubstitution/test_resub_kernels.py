"""Kernels: published constants, neighbours against brute force, sizes against loops, draws against their own law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import chi, kstest
from sklearn.linear_model import LogisticRegression

from unseen.core.errors import InputError, KindError, UnknownName
from unseen.datasets.populations import GaussianBlocks
from unseen.resubstitution import _neighbours, bolster_posterior, posterior
from unseen.resubstitution._neighbours import gaps_by_column, k_nearest, k_nearest_in_parts, nearest_distances
from unseen.resubstitution.kernels import Diagonal, Full, Spherical, Spread, UniformBall, as_kernel, median_of_chi

TWO = np.array(["a", "b"])


@pytest.mark.parametrize(
    ("d", "alpha"), [(1, 0.674), (2, 1.177), (3, 1.538), (4, 1.832), (5, 2.086)], ids=lambda v: str(v)
)
def test_published_alphas(d, alpha):
    # Ghane (2022), after equation 2.27; alpha_1 is cut to 0.674 there (0.6745)
    assert median_of_chi(d) == pytest.approx(alpha, abs=6e-4)


@pytest.mark.parametrize("d", [1, 10, 784, 100_000])
def test_alpha_is_the_median_of_chi(d):
    assert chi.cdf(median_of_chi(d), d) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(("n", "d"), [(600, 3), (50, 3), (40, 12), (300, 40)])
def test_nearest_distances_are_those_of_all_pairs(n, d):
    X = np.random.default_rng(n + d).standard_normal((n, d)) + 1e4  # far from the origin: cancellation would show
    pairs = cdist(X, X)
    np.fill_diagonal(pairs, np.inf)
    np.testing.assert_allclose(nearest_distances(X), pairs.min(axis=1), rtol=1e-9)


def test_duplicates_have_distance_zero():
    X = np.vstack([np.zeros((2, 9)), np.ones((1, 9))])
    assert nearest_distances(X).tolist() == [0.0, 0.0, 3.0]


def test_large_classes_ask_a_sample_of_their_points():
    X = np.random.default_rng(0).standard_normal((3000, 8))
    everyone, some = nearest_distances(X, 3000), nearest_distances(X, 500)
    assert len(some) == 500
    error = everyone.std() / np.sqrt(500)
    assert abs(some.mean() - everyone.mean()) < 4 * error


@pytest.mark.parametrize("d", [1, 3])
def test_large_classes_of_few_dimensions_ask_all_their_points(d):
    """A few gaps at the ends make much of the mean on a line, and some of the points miss it by a sixth."""
    X = np.random.default_rng(0).standard_normal((6_000, d))
    if d == 1:
        gaps = np.diff(np.sort(X[:, 0]))
        expected = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps)).mean()
    else:
        expected = np.mean(
            [np.partition(cdist(X[i : i + 500], X), 1, axis=1)[:, 1].mean() for i in range(0, 6_000, 500)]
        )
    size = as_kernel("spherical").spread(X, np.zeros(6_000, dtype=int), np.array([0])).bandwidth[0]
    assert size * median_of_chi(d) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "d"), [(700, 2), (60, 2), (60, 15), (11_000, 9)])
@pytest.mark.parametrize("k", [1, 3, 12])
def test_k_nearest_against_all_pairs(n, d, k):
    rng = np.random.default_rng(k)
    among, points = rng.standard_normal((n, d)), rng.standard_normal((25, d))
    expected = cdist(points, among).argsort(axis=1)[:, :k]
    np.testing.assert_array_equal(k_nearest(points, among, k), expected)


@pytest.mark.parametrize("n", [40, 700])
def test_a_point_is_its_own_first_neighbour_among_copies(n):
    X = np.zeros((n, 2))
    found = k_nearest(X, X, 3, own=np.arange(n))
    np.testing.assert_array_equal(found[:, 0], np.arange(n))
    assert all(len(set(row)) == 3 for row in found.tolist())


def test_blocks_do_not_change_the_neighbours(monkeypatch):
    rng = np.random.default_rng(3)
    among, points = rng.standard_normal((80, 9)), rng.standard_normal((50, 9))
    whole = k_nearest(points, among, 5)
    monkeypatch.setattr(_neighbours, "BLOCK", 200)
    np.testing.assert_array_equal(k_nearest(points, among, 5), whole)


def _gap_by_loop(column, distinct):
    out = []
    for i, x in enumerate(column):
        others = np.delete(column, i)
        gaps = np.abs(others - x)
        gaps = gaps[gaps > 0] if distinct else gaps
        out.append(gaps.min() if len(gaps) else 0.0)
    return np.mean(out)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=12), st.booleans())
def test_coordinate_gaps_against_a_loop(rows, distinct):
    X = np.array(rows, dtype=float)
    expected = [_gap_by_loop(X[:, k], distinct) for k in range(3)]
    np.testing.assert_allclose(gaps_by_column(X, distinct), expected)


def test_sizes_follow_the_class():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((60, 4)), np.repeat([0, 1], 30)
    X[codes == 1] *= 3
    pairs = [cdist(X[codes == y], X[codes == y]) + np.diag(np.full(30, np.inf)) for y in (0, 1)]
    d = np.array([p.min(axis=1).mean() for p in pairs])
    np.testing.assert_allclose(Spherical().spread(X, codes, TWO).bandwidth, d / chi.median(4))
    np.testing.assert_allclose(UniformBall().spread(X, codes, TWO).bandwidth, d * 2**0.25)
    np.testing.assert_allclose(Spherical(scale=2.5).spread(X, codes, TWO).bandwidth, 2.5 * d / chi.median(4))


@pytest.mark.parametrize("nearest", ["distinct", "any"])
def test_diagonal_sizes_are_gaps_over_the_median_of_the_half_normal(nearest):
    """The width of a coordinate goes by alpha_1 = 0.6745 whatever the number of coordinates."""
    rng = np.random.default_rng(4)
    X, codes = rng.standard_normal((50, 7)).round(1), np.repeat([0, 1], 25)
    expected = [[_gap_by_loop(X[codes == y][:, k], nearest == "distinct") for k in range(7)] for y in (0, 1)]
    found = Diagonal(nearest=nearest, scale=1.5).spread(X, codes, TWO).factor
    np.testing.assert_allclose(found, 1.5 * np.array(expected) / 0.67449, rtol=1e-5)


def test_full_kernels_follow_linear_changes_of_coordinates():
    rng = np.random.default_rng(1)
    X, codes = rng.standard_normal((80, 3)), np.repeat([0, 1], 40)
    A = np.array([[2.0, 0.3, 0], [0, 1.0, -1], [0, 0, 0.2]])
    plain, moved = (Full(covariance="class").spread(Z, codes, TWO).factor for Z in (X, X @ A.T))
    for y in (0, 1):
        np.testing.assert_allclose(moved[y] @ moved[y].T, A @ plain[y] @ plain[y].T @ A.T, rtol=1e-8)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_half_of_a_kernel_lies_within_the_nearest_neighbour_distance(d):
    """The median distance of a draw from its centre is the mean nearest-neighbour distance, for either kernel."""
    rng = np.random.default_rng(d)
    X, codes = rng.standard_normal((50, d)), np.repeat([0, 1], 25)
    target = nearest_distances(X[:25]).mean()
    z, own = rng.standard_normal((20_000, d)), np.zeros(20_000, dtype=int)
    for kernel in (Spherical(), UniformBall()):
        inside = np.linalg.norm(kernel.spread(X, codes, TWO).displace(z, own), axis=1) < target
        assert abs(inside.mean() - 0.5) < 4 * 0.5 / np.sqrt(20_000)


def test_ball_draws_are_uniform_and_their_shadow_is_as_stated():
    spread = Spread(np.array([2.0]), d=3, ball=True)
    moved = spread.displace(np.random.default_rng(0).standard_normal((5000, 3)), np.zeros(5000, dtype=int))
    radius = np.linalg.norm(moved, axis=1)
    assert radius.max() <= 2
    assert kstest((radius / 2) ** 3, "uniform").pvalue > 1e-3
    assert kstest(moved[:, 0] / 2, lambda t: spread.below(t)).pvalue > 1e-3


def test_width_along_a_direction_is_the_root_of_the_quadratic_form():
    rng = np.random.default_rng(2)
    L, a = rng.standard_normal((2, 3, 3)), rng.standard_normal(3)
    expected = [np.sqrt(a @ L[y] @ L[y].T @ a) for y in (0, 1)]
    np.testing.assert_allclose(Spread(L, 3).along(a), expected)
    sizes = np.abs(rng.standard_normal((2, 3)))
    np.testing.assert_allclose(Spread(sizes, 3).along(a), [np.sqrt(a**2 @ s**2) for s in sizes])


def test_full_draws_have_the_covariance_asked_for():
    S = np.array([[2.0, -0.7], [-0.7, 0.5]])
    spread = Full(bandwidth=1.0, covariance=S).spread(np.zeros((4, 2)), np.array([0, 0, 1, 1]), TWO)
    moved = spread.displace(np.random.default_rng(0).standard_normal((40_000, 2)), np.ones(40_000, dtype=int))
    np.testing.assert_allclose(np.cov(moved.T), S, atol=0.05)


X4, C4 = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0], [6.0, 7.0]]), np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (lambda: Spherical(bandwidth="wide"), UnknownName, "nearest"),
        (lambda: Spherical(bandwidth=-1.0), InputError, "at least 0"),
        (lambda: Spherical(bandwidth=[1.0, 2.0, 3.0]), InputError, "2 classes"),
        (lambda: Spherical(bandwidth=object()), KindError, "bandwidth"),
        (lambda: Spherical(scale=-2), InputError, "kappa"),
        (lambda: Diagonal(nearest="some"), UnknownName, "distinct"),
        (lambda: Diagonal(bandwidth=np.ones((3, 2))), InputError, "classes x coordinates"),
        (lambda: Full(covariance="odd"), UnknownName, "shrunk"),
        (lambda: Full(bandwidth=1, covariance=np.eye(3)), InputError, "shape"),
        (lambda: Full(bandwidth=1, covariance=[[1, 2], [0, 1]]), InputError, "symmetric"),
        (lambda: Full(bandwidth=1, covariance=[[1, 2], [2, 1]]), InputError, "negative eigenvalue"),
    ],
)
def test_refused_sizes(kernel, error, message):
    with pytest.raises(error, match=message):
        kernel().spread(X4, C4, TWO)


@pytest.mark.parametrize("kernel", [Spherical(), Diagonal(), Full(), UniformBall()], ids=lambda k: k.id)
def test_a_class_with_one_point_is_refused_by_name(kernel):
    with pytest.raises(InputError, match=r"class 'b' has one point"):
        kernel.spread(X4[:3], C4[:3], TWO)


def test_names_and_objects_as_kernels():
    assert as_kernel("uniform-ball", 2.0, 3.0) == UniformBall(2.0, 3.0)
    with pytest.raises(UnknownName, match="spherical"):
        as_kernel("spherica")
    with pytest.raises(KindError, match="spread"):
        as_kernel(Spherical)


@pytest.mark.parametrize("d", [2, 9])
def test_neighbours_in_parts_are_those_of_brute_force_within_a_part(d):
    x = np.random.default_rng(5).standard_normal((103, d))
    found = k_nearest_in_parts(x, 3, 30)
    assert np.array_equal(found[:, 0], np.arange(103))
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    parts = np.array_split(np.random.default_rng(0).permutation(103), 4)
    assert max(map(len, parts)) <= 30
    for part in parts:
        order = np.argsort(distance[np.ix_(part, part)], axis=1)[:, :3]
        assert np.array_equal(found[part], part[order])
    points, of = np.random.default_rng(6).standard_normal((40, d)), np.arange(40) * 2
    near = k_nearest_in_parts(x, 3, 30, points, of)
    for point, row, found in zip(points, of, near):
        part = next(part for part in parts if row in part)
        assert found.tolist() == part[np.linalg.norm(x[part] - point, axis=1).argsort()[:3]].tolist()
    whole = np.argsort(distance, axis=1)[:, :3]
    assert np.array_equal(k_nearest_in_parts(x, 3, None), whole)
    assert np.array_equal(k_nearest_in_parts(x, 3, None, x, np.arange(103)), whole)
    assert np.array_equal(k_nearest_in_parts(x, 3, 103), whole)


def test_posterior_in_parts_is_near_that_among_all_and_says_so():
    X, y = GaussianBlocks().draw(4000, np.random.default_rng(2)).xy
    fitted = LogisticRegression().fit(X, y)
    whole, parts = (posterior(fitted, X, y, among=among) for among in (None, 1000))
    assert whole.measure == "3-nearest-neighbour posterior"
    assert parts.measure == "3-nearest-neighbour posterior, each point's among its own 1000 of 4000"
    # contributions differ point by point; their mean over the same points by its own sampling error
    gap = parts.contributions - whole.contributions
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(len(gap)) + 0.01
    assert posterior(fitted, X, y).value == whole.value, "4,000 points are one part by default"
    whole, parts = (bolster_posterior(fitted, X, y, among=among, n_mc=4, draws=0) for among in (None, 1000))
    assert "among its own 1000 of 4000" in parts.measure
    assert abs(whole.value - parts.value) < 0.02
    assert bolster_posterior(fitted, X, y, n_mc=4, draws=0).value == whole.value
    with pytest.raises(InputError, match="at least 2 k = 6"):
        posterior(fitted, X, y, among=5)


@pytest.mark.parametrize("n", [300, 2048, 2049, 5000])
def test_nearest_distances_are_those_of_all_pairs_across_tiles(n):
    points = np.random.default_rng(0).standard_normal((n, 10))
    points[-1] = points[0]  # equal points lie in tiles far apart
    apart = cdist(points, points)
    np.fill_diagonal(apart, np.inf)
    found = nearest_distances(points)
    np.testing.assert_allclose(found, apart.min(axis=1), rtol=1e-12, atol=1e-12)
    assert found[0] == found[-1] == 0


def test_some_points_ask_among_all():
    points = np.random.default_rng(1).standard_normal((5000, 10))
    asked = np.sort(np.random.default_rng(0).choice(5000, 700, replace=False))
    apart = cdist(points[asked], points)
    apart[np.arange(700), asked] = np.inf
    np.testing.assert_allclose(nearest_distances(points, 700), apart.min(axis=1), rtol=1e-12)
