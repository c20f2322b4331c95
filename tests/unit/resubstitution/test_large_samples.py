"""A hundred thousand points in ten dimensions: the whole family in bounded memory, at a cost that grows about linearly."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest

from unseen import resubstitution as R
from unseen.datasets.populations import GaussianBlocks
from unseen.resubstitution import _neighbours
from unseen.resubstitution._neighbours import exact_rows, k_nearest_in_parts, nearest_distances

LIMIT = 400e6  # bytes of arrays; with the libraries and the sample that is far below the 2 GB allowed


def rule(points):
    return (points[:, :6].sum(axis=1) > 0).astype(int)


@pytest.fixture(scope="module")
def large():
    return GaussianBlocks().draw(100_000, np.random.default_rng(0)).xy


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("method", ["bolster", "semi-bolster", "naive-bayes-bolster", "bayesian"])
def test_a_hundred_thousand_points_fit_into_memory(large, method):
    X, y = large
    tracemalloc.start()
    e = getattr(R, method.replace("-", "_"))(rule, X, y, random_state=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert e.contributions.shape == (100_000,)
    assert 0.05 < e.value < 0.5
    assert peak < LIMIT, f"{peak / 1e6:.0f} MB"


def test_neighbours_of_many_rows_are_asked_in_blocks(large, monkeypatch):
    """A part of the sample at a time, and no table of all distances: the cost of a row does not depend on n."""
    X, _ = large
    asked = []
    original = _neighbours.k_nearest

    def counted(points, among, k, own=None):
        asked.append((len(points), len(among)))
        return original(points[:50], among, k, own[:50] if own is not None else None).repeat(
            -(-len(points) // 50), axis=0
        )[: len(points)]

    monkeypatch.setattr(_neighbours, "k_nearest", counted)
    k_nearest_in_parts(X, 3, 20_000)
    k_nearest_in_parts(X, 3, 20_000, X[:30_000], np.arange(30_000))
    assert max(among for _, among in asked) <= 20_000
    assert sum(points for points, _ in asked) == 130_000


def test_the_definition_is_followed_up_to_a_size_fixed_by_the_dimension(large):
    """Neither 12,500 points nor a class of 5,000 is cut: the default is the defining form, and no note speaks of a stand-in."""
    X, y = (part[:13_000] for part in large)
    default, whole = R.posterior(rule, X, y), R.posterior(rule, X, y, among=None)
    assert default.value == whole.value
    assert not [n for n in default.notes if n.code == "U039"]
    few = X[:6_000]
    found = nearest_distances(few)
    assert found.shape == (6_000,)
    rows = np.arange(0, 6_000, 500)
    gaps = np.linalg.norm(few[rows, None] - few[None], axis=2)
    gaps[np.arange(len(rows)), rows] = np.inf
    np.testing.assert_allclose(found[rows], gaps.min(axis=1))
    assert nearest_distances(X[:6_000], 100).shape == (100,)


def test_the_size_falls_with_the_dimension_and_for_points_of_kernels():
    for kernels in (False, True):
        sizes = [exact_rows(d, kernels) for d in (1, 4, 5, 6, 7, 100, 101, 5_000)]
        assert sizes[:2] == [None, None]
        assert sizes[2:] == sorted(sizes[2:], reverse=True)
    assert all((exact_rows(d, True) or 0) <= (exact_rows(d) or 0) for d in (3, 6, 50, 500))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "options"),
    [("bolster", {"n_mc": 20}), ("posterior", {}), ("bolster-posterior", {"n_mc": 2}), ("semi-bolster", {"n_mc": 20})],
)
def test_the_cost_grows_about_linearly(method, options):
    """Above 30,000 points of a class in ten dimensions; the smallest time of two, since other work only adds."""
    sizes, seconds = (62_500, 125_000), []
    for n in sizes:
        X, y = GaussianBlocks().draw(n, np.random.default_rng(0)).xy
        best = np.inf
        for _ in range(2):
            start = time.process_time()
            getattr(R, method.replace("-", "_"))(rule, X, y, random_state=0, **options)
            best = min(best, time.process_time() - start)
        seconds.append(best)
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    assert exponent < 1.25, f"{method}: exponent {exponent:.2f}, seconds {np.round(seconds, 2)}"
