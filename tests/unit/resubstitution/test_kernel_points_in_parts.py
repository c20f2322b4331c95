"""Kernel points come in parts that fit into memory, and the numbers do not depend on the parts."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from unseen import resubstitution as R
from unseen.resubstitution import _kernel_draws as _draws
from unseen.resubstitution._kernel_draws import KernelDraws

rng = np.random.default_rng(0)
X = rng.standard_normal((12, 5))
Y = (X[:, 0] > 0).astype(int)
TREE = DecisionTreeClassifier(random_state=0).fit(X, Y)


@pytest.mark.parametrize("sampler", ["plain", "antithetic", "sobol"])
@pytest.mark.parametrize("budget", [2**4, 2**7, 2**9])
def test_small_parts_give_the_same_points(monkeypatch, sampler, budget):
    draws = KernelDraws(64, sampler, 3)

    def points():
        whole = []
        for rows, parts in draws.blocks(7, 5):
            kernels = [[] for _ in range(rows.stop - rows.start)]
            for _, z in parts:
                assert z.size <= budget
                for kernel, own in zip(kernels, z):
                    kernel.append(own.reshape(-1, 5))
            whole += [np.concatenate(kernel) for kernel in kernels]
        return np.stack(whole)

    one = np.concatenate([z for _, parts in draws.blocks(7, 5) for _, z in parts]).reshape(7, -1, 5)
    monkeypatch.setattr(_draws, "BUDGET", budget)
    parts = points()
    assert parts.shape == one.shape
    # parts of a Sobol sequence hold points of both groups: the same points in another order
    assert np.array_equal(np.sort(parts, axis=1), np.sort(one, axis=1))
    if sampler != "sobol":
        assert np.array_equal(parts, one)


@pytest.mark.parametrize("sampler", ["plain", "antithetic", "sobol"])
def test_estimates_do_not_depend_on_the_parts(monkeypatch, sampler):
    options = {"sampler": sampler, "n_mc": 50, "random_state": 1}
    calls = (R.bolster, R.semi_bolster, R.bolster_posterior)
    before = [call(TREE, X, Y, **options) for call in calls]
    monkeypatch.setattr(_draws, "BUDGET", 2**5)
    for call, whole in zip(calls, before):
        again = call(TREE, X, Y, **options)
        assert again.contributions == pytest.approx(whole.contributions, abs=1e-12)
        assert again.mc_error == pytest.approx(whole.mc_error, rel=1e-9)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("sampler", ["plain", "sobol"])
def test_memory_stays_bounded_for_many_points_in_many_dimensions(sampler):
    d, n_mc = 2000, 4096  # the points of one kernel are 66 MB, and there are copies
    wide = np.random.default_rng(0).standard_normal((4, d))
    tracemalloc.start()
    R.bolster(
        lambda Z: (Z[:, 0] > 0).astype(int), wide, np.array([0, 0, 1, 1]), n_mc=n_mc, sampler=sampler, random_state=0
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 110e6, f"{peak / 1e6:.0f} MB"
