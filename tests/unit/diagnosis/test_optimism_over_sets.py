"""Optimism against training error over data sets, where both are known."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError
from unseen.datasets.conversion import as_data


class RandomLabels:
    """Seed 003: labels that depend on nothing; every rule has risk 1/2."""

    id = "random-labels"

    def draw(self, n, rng):
        while True:
            y = rng.integers(0, 2, n)
            if 0 < y.sum() < n:
                return as_data(rng.random((n, 1)), y, task="classification")

    def true_error(self, predict, rng, n_test=5000):
        return 0.5


def test_majority_rule_on_random_labels():
    """Training error E min(n0, n1) / N, given both classes; optimism is 1/2 less it, so the correlation is -1."""
    link = unseen.optimism_over_sets("dummy", RandomLabels(), 10, sets=600)
    given_both = 0.376953125 / (1 - 2 / 2**10)  # .37695 at N = 10, and 0 for the two samples of one class
    assert link.train.mean() == pytest.approx(given_both, abs=4 * link.train.std() / np.sqrt(600))
    assert link.optimism == pytest.approx(0.5 - link.train)
    assert link.correlation == pytest.approx(-1)
    assert link.mean == pytest.approx(0.5 - link.train.mean())


def test_refusals():
    with pytest.raises(InputError, match="sets is 2"):
        unseen.optimism_over_sets("dummy", RandomLabels(), 10, sets=2)
