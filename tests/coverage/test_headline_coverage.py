"""The headline's interval on fresh samples of populations whose true error is known: it holds, and a shorter one would not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import unseen
from unseen.core.rng import stream

SAMPLES, SEED, D, DISTANCE = 80, 907, 5, 1.5


def normal_classes(n, rng):
    """Two normal classes whose means are `DISTANCE` apart."""
    y = np.arange(n) % 2
    return rng.standard_normal((n, D)) + DISTANCE * (y[:, None] - 0.5) * (np.arange(D) == 0), y


def error_of_line(model):
    """Return the true error of a fitted linear rule: two normal tails."""
    w, b = model.coef_[0], model.intercept_[0]
    first, second = ((b + sign * DISTANCE / 2 * w[0]) / np.linalg.norm(w) for sign in (-1, 1))
    return 0.5 * (stats.norm.cdf(first) + stats.norm.cdf(-second))


def error_on_points(model):
    """Return the error on 20,000 further rows, the same for every model; their noise is a thirtieth of the interval."""
    X, y = normal_classes(20_000, stream(SEED, "points"))
    return np.mean(model.predict(X) != y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "truth_of", "n"),
    [(LinearDiscriminantAnalysis(), error_of_line, 60), (KNeighborsClassifier(3), error_on_points, 40)],
)
def test_it_holds_this_models_error_and_half_of_it_does_not(model, truth_of, n):
    held = shorter = 0
    for k in range(SAMPLES):
        X, y = normal_classes(n, stream(SEED, n, k))
        e = unseen.estimate(model, X, y, random_state=k, n_jobs=1, progress=False)
        truth = truth_of(model.fit(X, y))
        assert e.method == "combined"
        held += e.interval.low <= truth <= e.interval.high
        middle, half = (e.interval.low + e.interval.high) / 2, e.interval.width / 4
        shorter += abs(truth - middle) <= half
    # .95 less three standard errors of 80 samples
    assert held / SAMPLES >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / SAMPLES)
    assert shorter / SAMPLES < 0.9
