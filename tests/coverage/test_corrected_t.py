"""Coverage of the corrected resampled t interval, against the expected risk at the size it is trained on.

Population and figures: shared/spec/peers.md, section 5.3 (n = 100, d = 10 with 3 informative features, 25 splits of
90/10): coverage .950 and .950, median widths .211 and .183 for a full tree (300 sets) and logistic regression (200).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from unseen.datasets.populations import SparseLogistic
from unseen.designs.monte_carlo import MonteCarlo
from unseen.engine.run import execute
from unseen.estimators.corrected_t import CorrectedT
from unseen.models.sklearn import as_model

POPULATION = SparseLogistic()
MODELS = {"tree": DecisionTreeClassifier(), "logistic": LogisticRegression()}
PUBLISHED_WIDTH = {"tree": 0.211, "logistic": 0.183}


@cache
def expected_risk(name: str, n_train: int = 90, n_sets: int = 1000) -> float:
    """Error averaged over training sets; its standard error, about .0015, is small beside intervals of width .2."""
    rng = np.random.default_rng(7)
    model, fresh = as_model(MODELS[name]), POPULATION.draw(4000, rng)
    fits = (model.fit(POPULATION.draw(n_train, rng), k) for k in range(n_sets))
    return float(np.mean([np.mean(fitted.predict(fresh.X) != fresh.y) for fitted in fits]))


def intervals(name: str, n_sets: int) -> np.ndarray:
    model, design, ends = as_model(MODELS[name]), MonteCarlo(0.1, 25), []
    for k in range(n_sets):
        rng = np.random.default_rng([17, k])
        data = POPULATION.draw(100, rng)
        table = execute(model, data, design.plan(data, rng), seed=k)
        ends.append(tuple(CorrectedT()(table.losses()).interval))
    return np.array(ends)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_covers_the_expected_risk(name):
    low, high = intervals(name, 1000).T
    risk = expected_risk(name)
    assert 0.92 <= np.mean((low <= risk) & (risk <= high)) <= 0.98
    assert np.median(high - low) == pytest.approx(PUBLISHED_WIDTH[name], rel=0.1)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("name", MODELS)
def test_small_sample_of_the_coverage(name):
    """Fails once in a thousand where coverage is .92, and always where the 1/J + n2/n1 of the variance is 1/J."""
    n_sets = 100
    low, high = intervals(name, n_sets).T
    risk = expected_risk(name, n_sets=300)
    covered = int(np.sum((low <= risk) & (risk <= high)))
    assert covered >= binom.ppf(0.001, n_sets, 0.92)
    naive = np.sqrt((1 / 25) / (1 / 25 + 1 / 9)) * (high - low) / 2
    assert np.sum(np.abs((low + high) / 2 - risk) <= naive) < binom.ppf(0.001, n_sets, 0.92)
