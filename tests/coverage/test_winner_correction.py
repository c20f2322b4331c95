"""The corrected error of a winner is that of the model chosen, also for measures of whole test parts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import unseen

N, MODELS = 60, 6


class Column:
    """Scores by one column as it is; there is nothing to train, so the area under its curve has a closed form."""

    def __init__(self, column: int) -> None:
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.column] > 0.25).astype(int)]

    def predict_proba(self, X):
        p = stats.norm.cdf(X[:, self.column])
        return np.column_stack([1 - p, p])


def deviations(shifts, test, repeats):
    """Return naive and corrected error of the winner minus its true one, over independent data sets."""
    truth = 1 - stats.norm.cdf(shifts / np.sqrt(2))
    y, out = np.repeat([0, 1], N // 2), []
    for seed in range(repeats):
        X = np.random.default_rng([7, seed]).standard_normal((N, MODELS)) + np.outer(y, shifts)
        models = {str(j): Column(j) for j in range(MODELS)}
        winner = unseen.compare(models, X, y, measure="auc", test=test, random_state=seed).winner
        out.append([winner.naive - truth[int(winner.name)], winner.corrected - truth[int(winner.name)]])
    return np.array(out)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["corrected-t", "delong"])
@pytest.mark.parametrize("shifts", [np.full(MODELS, 0.5), np.linspace(0.5, 1.0, MODELS)], ids=["equal", "unequal"])
def test_winners_area_under_the_curve(shifts, test):
    found = deviations(shifts, test, 200)
    naive, corrected = found.mean(axis=0)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert naive < -5 * error[0], "choosing the best looks better than it is"
    assert abs(corrected) < 3.5 * error[1]
    assert abs(corrected) < 0.3 * abs(naive)


@pytest.mark.slow
@pytest.mark.sample
def test_winners_area_on_a_small_sample():
    found = deviations(np.full(MODELS, 0.5), "corrected-t", 40)
    assert found[:, 0].mean() < -0.04
    assert abs(found[:, 1].mean()) < 4 * found[:, 1].std(ddof=1) / np.sqrt(len(found))
