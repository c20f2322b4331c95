"""Bootstrap intervals of measures that are no mean of losses, and the measures themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.estimators.bootstrap_intervals import Bca, BootstrapPercentile, bca_ends
from unseen.measures.agreement import F1
from unseen.measures.areas import Auc
from unseen.measures.regression import Pov


@pytest.fixture(scope="module")
def cancer():
    return unseen.datasets.load("breast-cancer").xy


def test_measures_equal_scikit_learn_with_weights():
    rng = np.random.default_rng(0)
    y, value, weight = rng.integers(0, 2, 80), rng.integers(0, 2, 80), rng.integers(1, 5, 80).astype(float)
    score = np.round(rng.random(80) + 0.3 * y, 1)
    both = np.column_stack([1 - score, score])
    assert Auc().of_set(y, value, both, weight) == pytest.approx(metrics.roc_auc_score(y, score, sample_weight=weight))
    assert Auc().of_set(y, value, score[:, None], positive=0) == pytest.approx(metrics.roc_auc_score(1 - y, -score))
    assert F1().of_set(y, value, None, weight) == pytest.approx(metrics.f1_score(y, value, sample_weight=weight))
    assert F1().of_set(y, value, positive=0) == pytest.approx(metrics.f1_score(y, value, pos_label=0))
    three, guess = rng.integers(0, 3, 80), rng.integers(0, 3, 80)
    assert F1().of_set(three, guess) == pytest.approx(metrics.f1_score(three, guess, average="macro"))
    a, b = rng.normal(size=40), rng.normal(size=40)
    assert Pov().of_set(a, b) == pytest.approx(np.corrcoef(a, b)[0, 1] ** 2)
    assert Pov().of_set(a, np.ones(40)) == 0.0


def test_many_weightings_at_once_are_the_single_ones():
    rng = np.random.default_rng(1)
    y, score = rng.integers(0, 2, 50), np.round(rng.random((50, 1)), 1)
    weights = rng.integers(0, 3, (6, 50)).astype(float)
    singly = [metrics.roc_auc_score(y, score[:, 0], sample_weight=w) for w in weights]
    assert Auc().of_weights(y, y, score, weights) == pytest.approx(singly)


def test_bca_equals_scipys_on_the_same_draws(loss_table):
    """scipy.stats.bootstrap draws by itself; with many draws both settle on the same ends."""
    losses = np.random.default_rng(2).exponential(1.0, 40)
    table = loss_table([(np.arange(40, 60), np.arange(40))], [losses], "holdout", n=60)
    ours = Bca(n_bootstrap=40_000)(table).interval
    theirs = stats.bootstrap((losses,), np.mean, n_resamples=40_000, method="BCa", rng=np.random.default_rng(0))
    assert tuple(ours) == pytest.approx(tuple(theirs.confidence_interval), rel=0.01)
    percentile = BootstrapPercentile(n_bootstrap=40_000)(table).interval
    plain = stats.bootstrap((losses,), np.mean, n_resamples=40_000, method="percentile", rng=np.random.default_rng(0))
    assert tuple(percentile) == pytest.approx(tuple(plain.confidence_interval), rel=0.01)
    assert ours.low > percentile.low
    assert ours.high > percentile.high


def test_bca_without_bias_or_skewness_is_the_percentile_interval():
    draws = np.linspace(-1, 1, 2001)
    assert bca_ends(0.0, draws, np.linspace(-0.1, 0.1, 21), 0.9) == pytest.approx((-0.9, 0.9), abs=1e-3)
    skewed = bca_ends(0.0, draws, np.r_[np.zeros(20), -1.0], 0.9)
    assert skewed[0] > -0.9


def test_std_error_of_the_mean_is_the_textbook_one(loss_table):
    losses = np.random.default_rng(3).random(60)
    e = BootstrapPercentile(n_bootstrap=20_000)(
        loss_table([(np.arange(60, 80), np.arange(60))], [losses], "holdout", n=80)
    )
    assert e.std_error == pytest.approx(losses.std(ddof=0) / np.sqrt(60), rel=0.03)


def test_groups_are_drawn_whole(loss_table):
    """Ten groups of six equal rows: the spread is that of ten values, not sixty."""
    values = np.random.default_rng(4).random(10)
    groups = np.concatenate([np.repeat(np.arange(10), 6), np.arange(100, 110)])
    pairs = [(np.arange(60, 70), np.arange(60))]
    e = Bca(n_bootstrap=8000)(loss_table(pairs, [np.repeat(values, 6)], "holdout", n=70, groups=groups))
    assert e.std_error == pytest.approx(values.std(ddof=0) / np.sqrt(10), rel=0.05)


@pytest.mark.parametrize("method", ["bca", "bootstrap-percentile"])
def test_intervals_stay_in_the_measures_range(cancer, method):
    """confidenceinterval gives an upper end of 1.038 for F1 here."""
    for measure in ("auc", "f1"):
        e = unseen.estimate(GaussianNB(), *cancer, method=method, measure=measure, level=0.999, random_state=0)
        assert e.loss == measure
        assert 0 <= e.interval.low < e.value < e.interval.high <= 1
        assert e.target.kind == "model"


def test_auc_interval_is_near_delongs(cancer):
    models = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)}
    alone = unseen.compare(models, *cancer, loss="auc", test="delong", random_state=0).estimates["bayes"]
    e = unseen.estimate(GaussianNB(), *cancer, method="bootstrap-percentile", measure="auc", random_state=0)
    assert e.value == pytest.approx(1 - alone.value)
    assert e.std_error == pytest.approx(alone.std_error, rel=0.1)


def test_area_of_several_classes_is_the_mean_against_the_rest():
    from sklearn.metrics import roc_auc_score

    table = unseen.run(GaussianNB(), *unseen.datasets.load("iris").xy, design="holdout", scores=True, random_state=0)
    e = unseen.estimate(table, method="bca", measure="auc")
    truth = table.data.codes[table.test.row]
    assert e.value == pytest.approx(
        roc_auc_score(truth, table.test.score, multi_class="ovr", average="macro"), abs=1e-12
    )
    assert e.interval.low < e.value < e.interval.high <= 1


def test_what_cannot_be_measured_is_refused(cancer):
    X, y = unseen.datasets.load("diabetes").xy
    with pytest.raises(NotApplicable, match="auc is a measure for classification"):
        unseen.estimate(LinearRegression(), X, y, method="bca", measure="auc", random_state=0)
    with pytest.raises(UnknownName, match="measure"):
        unseen.estimate(GaussianNB(), *cancer, method="bca", measure="aucc", random_state=0)
    with pytest.raises(InputError, match="at least 100"):
        unseen.estimate(GaussianNB(), *cancer, method="bca", n_bootstrap=10, random_state=0)
    with pytest.raises(InputError, match="average is 'harmonic'"):
        F1(average="harmonic")
    table = unseen.run(GaussianNB(), *cancer, design="holdout", random_state=0)
    with pytest.raises(InputError, match="auc needs scores"):
        unseen.estimate(table, method="bca", measure="auc")


def test_no_variation_gives_no_interval(loss_table):
    e = Bca()(loss_table([(np.arange(10, 20), np.arange(10))], [np.full(10, 0.25)], "holdout"))
    assert e.interval is None
    assert "U010" in [n.code for n in e.notes]


def test_few_units_are_noted_and_four_are_too_few(loss_table):
    """A bootstrap of n units shows (n - 1) / n of their variance and knows no other values than theirs."""
    losses = np.random.default_rng(0).standard_normal(40)

    def held_out(n):
        return loss_table([(np.arange(n, 60), np.arange(n))], [losses[:n]], "holdout", n=60)

    assert [n.code for n in Bca()(held_out(19)).notes] == ["U009"]
    assert not Bca()(held_out(20)).notes
    with pytest.raises(InputError, match="at least 5 held-out units; there are 4"):
        Bca()(held_out(4))
