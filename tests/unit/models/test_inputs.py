"""Transformers of inputs: scikit-learn's own checks, known answers, and the interaction that forward selection misses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import unseen
from unseen.core.errors import InputError
from unseen.models.elimination import BackwardElimination
from unseen.models.scores import PrincipalScores, ZScore
from unseen.models.threshold import UtilityThreshold

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4)) * [1, 2, 3, 4] + [5, 0, 1, 2]


@parametrize_with_checks(
    [
        ZScore(),
        PrincipalScores(random_state=0, n_permutations=5),
        BackwardElimination(cv=2, random_state=0),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_z_scores_are_scikit_learns():
    assert ZScore().fit_transform(X) == pytest.approx(StandardScaler().fit_transform(X))
    assert ZScore(scale=False).fit_transform(X) == pytest.approx(X - X.mean(axis=0))


def test_principal_scores_are_scikit_learns_up_to_sign():
    ours = PrincipalScores(keep=2, scale=False).fit(X)
    theirs = PCA(2).fit(X)
    assert ours.eigenvalues_[:2] == pytest.approx(theirs.explained_variance_)
    assert np.abs(ours.transform(X)) == pytest.approx(np.abs(theirs.transform(X)))
    assert PrincipalScores(keep=0.9, scale=False).fit(X).n_components_ == PCA(0.9).fit(X).n_components_


def test_parallel_analysis_counts_the_factors():
    factors = rng.standard_normal((300, 2))
    loadings = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1.0]])
    made = factors @ loadings + 0.5 * rng.standard_normal((300, 8))
    assert PrincipalScores(random_state=0).fit(made).n_components_ == 2
    noise = [PrincipalScores(random_state=k).fit(rng.standard_normal((100, 6))).n_components_ for k in range(10)]
    assert np.median(noise) == 1
    with pytest.raises(InputError, match="keep is"):
        PrincipalScores(keep="many").fit(made)


def three_way(n, seed):
    """Seed 002: three inputs that matter only together, and eye colour, weakly related and redundant."""
    draw = np.random.default_rng(seed)
    inputs = draw.choice([-1.0, 1.0], (n, 3))
    effect = inputs.prod(axis=1) + 0.3 * draw.standard_normal(n)
    eye = 0.35 * effect + draw.standard_normal(n)
    return np.column_stack([eye, inputs]), effect


def test_forward_selection_misses_a_three_way_interaction_and_backward_elimination_keeps_it():
    model = make_pipeline(PolynomialFeatures(3, interaction_only=True, include_bias=False), LinearRegression())
    for seed in range(3):
        features, y = three_way(200, seed)
        forward = SequentialFeatureSelector(model, direction="forward", tol=0.01, n_features_to_select="auto", cv=5)
        assert forward.fit(features, y).get_support(indices=True).tolist() == [0]
        backward = BackwardElimination(model, random_state=0).fit(features, y)
        assert backward.get_support(indices=True).tolist() == [1, 2, 3]
        fall = {step["removed"]: step["score"] for step in backward.path_[1:]}
        assert fall[0] > 0.85
        assert min(step["score"] for step in backward.path_[2:]) < 0.2


def test_the_path_of_elimination_and_its_rules():
    y = X[:, 0] + 0.02 * X[:, 3] + 0.5 * rng.standard_normal(60)
    best = BackwardElimination(rule="best", random_state=0).fit(X, y)
    lean = BackwardElimination(rule="one-se", random_state=0).fit(X, y)
    assert [len(step["features"]) for step in best.path_] == [4, 3, 2, 1]
    assert lean.support_.sum() <= best.support_.sum()
    top = max(step["score"] for step in best.path_)
    chosen = next(s for s in best.path_ if s["features"] == best.get_support(indices=True).tolist())
    assert chosen["score"] == top
    labels = (y > y.mean()).astype(int)
    assert BackwardElimination(measure="mcc", random_state=0).fit(X, labels).support_[0]
    with pytest.raises(InputError, match="does not suit"):
        BackwardElimination(measure="mcc").fit(X, y)


def test_a_threshold_follows_the_costs():
    y = rng.integers(0, 2, 400)
    features = rng.normal(y[:, None], 1.0, (400, 2))
    cheap = UtilityThreshold(GaussianNB(), [[0, 1], [9, 0]], random_state=0).fit(features, y)
    dear = UtilityThreshold(GaussianNB(), [[0, 9], [1, 0]], random_state=0).fit(features, y)
    assert cheap.threshold_.value < 0.4 < 0.6 < dear.threshold_.value
    assert cheap.predict(features).mean() > dear.predict(features).mean()


@pytest.mark.slow
@pytest.mark.sample
def test_selection_outside_the_loop_hides_the_error():
    """5,000 random features, 50 random labels, the 10 best correlated: below .1 outside, about one half inside."""
    inside, outside = [], []
    for k in range(10):
        draw = np.random.default_rng(k)
        noise, labels = draw.standard_normal((50, 5000)), draw.permutation(np.repeat([0, 1], 25))
        leak = _errors(noise, labels)
        outside.append(leak[0])
        inside.append(leak[1])
    assert np.mean(outside) < 0.1
    assert 0.4 < np.mean(inside) < 0.6


def _errors(noise, labels):
    out = []
    select = SelectKBest(k=10)
    for data, model in (
        (select.fit_transform(noise, labels), GaussianNB()),
        (noise, make_pipeline(SelectKBest(k=10), GaussianNB())),
    ):
        out.append(unseen.estimate(model, data, labels, method="kfold", random_state=0).value)
    return out
