"""Coverage of the disagreement intervals over simulated files and populations."""

from __future__ import annotations

import numpy as np
import pytest

import unseen


def simulated(rng, n, classes):
    """Return truth and two classifiers' labels from a population with a known difference of accuracies."""
    y = rng.integers(0, classes, n)
    first = np.where(rng.random(n) < 0.85, y, (y + 1) % classes)
    second = np.where(rng.random(n) < 0.78, y, (y + rng.integers(1, classes, n)) % classes)
    return y, first, second


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(("n", "budget"), [(400, 30), (2000, 100)])
def test_intervals_cover_at_least_as_often_as_they_say(classes, n, budget):
    rng = np.random.default_rng(classes + n)
    runs, level = 1000, 0.9
    inside, outside, width, plain_width = 0, 0, [], []
    for k in range(runs):
        y, first, second = simulated(rng, n, classes)
        d = unseen.disagree(first.tolist(), second.tolist(), budget=budget, random_state=k, level=level)
        r = d.with_labels({key: int(y[key - 1]) for key, _, _ in d.request})
        inside += (np.mean(first == y) - np.mean(second == y)) in r.interval or bool(
            np.isclose(np.mean(first == y) - np.mean(second == y), list(r.interval), atol=1e-12).any()
        )
        outside += 0.85 - 0.78 in r.population
        width.append(r.population.width)
        plain_width.append(2 * 1.645 * np.sqrt(d.share / budget))
    slack = 3 * np.sqrt(level * (1 - level) / runs)
    assert inside / runs >= level - slack
    assert outside / runs >= level - slack
    # as many labels of plain random points would leave a wider interval
    assert np.median(width) < np.median(plain_width)
