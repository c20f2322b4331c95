"""Default intervals of measures at 100 + 100 cases: logit-DeLong for AUC, Wilson for rates, BCa for F1; 2,000 data sets each."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import unseen
from unseen.estimators.clopper_pearson import clopper_pearson_interval
from unseen.models.elimination import BackwardElimination

SETS = 2000
Y = np.repeat([0, 1], 100)
SHIFT = np.sqrt(2) * norm.ppf(0.8)  # AUC .8
CUT = SHIFT - norm.ppf(0.8)  # sensitivity .8


def share(name: str, truth: float, sets: int, **options) -> float:
    hits = 0
    for k in range(sets):
        score = np.random.default_rng([3, k]).normal(Y * SHIFT, 1.0)
        e = unseen.measure(Y, score, measures=[name], threshold=CUT, random_state=k, **options)[name]
        assert 0 <= e.interval.low <= e.interval.high <= 1
        hits += truth in e.interval
    return hits / sets


@pytest.mark.slow
@pytest.mark.sample
def test_areas_are_covered():
    assert 0.93 <= share("auc", 0.8, SETS) <= 0.97


@pytest.mark.slow
def test_rates_are_covered():
    assert 0.93 <= share("sensitivity", 0.8, SETS) <= 0.97


@pytest.mark.slow
def test_f1_is_covered():
    alarm = norm.sf(CUT)
    truth = 2 * 0.8 / (2 * 0.8 + 0.2 + alarm)
    assert 0.93 <= share("f1", truth, SETS) <= 0.97


@pytest.mark.slow
def test_f1_is_covered_when_class_sizes_are_left_to_chance():
    alarm = norm.sf(CUT)
    truth, hits = 2 * 0.8 / (2 * 0.8 + 0.2 + alarm), 0
    for k in range(SETS):
        rng = np.random.default_rng([4, k])
        y = rng.integers(0, 2, 200)
        m = unseen.measure(
            y, rng.normal(y * SHIFT, 1.0), measures=["f1"], threshold=CUT, stratified=False, random_state=k
        )
        hits += truth in m["f1"].interval
    assert 0.93 <= hits / SETS <= 0.97


@pytest.mark.slow
def test_clopper_pearson_covers_at_least_its_level():
    hits = np.random.default_rng(0).binomial(100, 0.8, 20_000)
    ends = {h: clopper_pearson_interval(float(h), 100, 0.95) for h in np.unique(hits)}
    assert np.mean([ends[h][0] <= 0.8 <= ends[h][1] for h in hits]) >= 0.95


@pytest.mark.slow
def test_selection_bias_over_fifty_label_draws():
    """5,000 random features, 50 cases: the 10 best correlated, chosen outside and inside the loop."""
    outside, inside = [], []
    for k in range(50):
        draw = np.random.default_rng(k)
        noise, labels = draw.standard_normal((50, 5000)), draw.permutation(np.repeat([0, 1], 25))
        leaked = SelectKBest(k=10).fit_transform(noise, labels)
        outside.append(unseen.estimate(GaussianNB(), leaked, labels, method="kfold", random_state=0).value)
        inner = make_pipeline(SelectKBest(k=10), GaussianNB())
        inside.append(unseen.estimate(inner, noise, labels, method="kfold", random_state=0).value)
    assert np.mean(outside) < 0.1
    assert 0.45 <= np.mean(inside) <= 0.55


@pytest.mark.slow
def test_selection_bias_of_backward_elimination():
    """30 random features: eliminated on all rows the error looks smaller than it is, by less than in the case above."""
    outside, inside = [], []
    for k in range(6):
        draw = np.random.default_rng(k)
        noise, labels = draw.standard_normal((50, 30)), draw.permutation(np.repeat([0, 1], 25))
        eliminate = BackwardElimination(GaussianNB(), rule="best", random_state=0)
        leaked = eliminate.fit_transform(noise, labels)
        outside.append(unseen.estimate(GaussianNB(), leaked, labels, method="kfold", random_state=0).value)
        inner = make_pipeline(eliminate, GaussianNB())
        inside.append(
            unseen.estimate(inner, noise, labels, method="kfold", random_state=0, design=unseen.designs.KFold(5)).value
        )
    assert np.mean(outside) < 0.35
    assert np.mean(inside) > np.mean(outside) + 0.1
    assert np.mean(inside) > 0.4
