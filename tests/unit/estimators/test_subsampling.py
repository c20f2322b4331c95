"""The subsampling estimate by definition: linear losses, counts of labels, areas."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError, NotApplicable
from unseen.core.registry import build
from unseen.estimators.subsampling import _of_losses, _variance_of_areas, degrees_of_freedom

DESIGN = unseen.designs.MonteCarlo(0.368, 200)


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    X = rng.standard_normal((60, 4)) + y[:, None] * [1.0, 0.5, 0.0, 0.0]
    options = {"design": DESIGN, "scores": True, "random_state": 0}
    tables = [
        unseen.run(m, X, y, **options) for m in (GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0))
    ]
    return X, y, tables


def test_the_value_is_the_mean_over_units_of_their_errors_when_left_out(pair):
    _, _, (a, _) = pair
    e = build("subsampling", "estimators")(a.losses())
    assert e.value == pytest.approx(np.nanmean(np.nanmean(a.losses().dense(), axis=0)), abs=1e-14)
    assert str(e.target) == "the algorithm trained on 37 rows"


def test_fixed_predictions_have_the_standard_error_of_a_mean():
    """No training effect: the error is that of the mean of n losses, with divisor n, whatever the subsamples."""
    rng = np.random.default_rng(0)
    loss = rng.standard_normal(50)
    drawn = (rng.random((300, 50)).argsort(axis=1) < 32).astype(float)
    value, own, variance = _of_losses(np.where(drawn == 0, loss, 0.0), drawn)
    assert value == pytest.approx(loss.mean(), abs=1e-14)
    assert own == pytest.approx((loss - loss.mean()) / 50, abs=1e-14)
    assert np.sqrt(variance) == pytest.approx(loss.std() / np.sqrt(50), rel=1e-10)


def test_over_all_subsamples_the_jackknife_is_hajeks_projection():
    """Loss of unit j after training on S: the mean of x over S. Its mean over all S has influence (s/n)(T1 - T0) per unit.

    With a loss that is the same for every tested unit, T1_i - T0_i = (x_i - mean of the others) / s but for the left-out unit, so that
    the standard error is near that of a mean of n numbers; a missing division by the share left out would shrink it to .4 of that.
    """
    rng = np.random.default_rng(1)
    n, s = 8, 5
    x = rng.standard_normal(n)
    sets = list(combinations(range(n), s))
    drawn = np.array([[float(i in S) for i in range(n)] for S in sets])
    losses = np.where(drawn == 0, (drawn @ x / s)[:, None], 0.0)
    # so many that no Monte-Carlo noise is left
    variance = _of_losses(np.repeat(losses, 400, axis=0), np.repeat(drawn, 400, axis=0))[2]
    # E_j is the mean of the others: unit i moves it as a training case by (x_i - mean of those left) and as a test case against it
    others = (x.sum() - x) / (n - 1)
    exact = np.square((others - others.mean()) / n + _training_part(x, s)).sum()
    assert np.sqrt(variance) == pytest.approx(np.sqrt(exact), rel=0.01)


def _training_part(x, s):
    """(s/n)(mean over S with i of the statistic - mean over S without i), each E_j centred, by going through all subsets."""
    n = len(x)
    sets = list(combinations(range(n), s))
    mean = np.array([x[list(S)].mean() for S in sets])
    inside = np.array([[i in S for i in range(n)] for S in sets])
    by_unit = np.array([mean[~inside[:, j]].mean() for j in range(n)])
    times = (~inside).sum(axis=0)
    rest = np.array(
        [sum((mean[b] - by_unit[j]) / times[j] for j in range(n) if not inside[b, j]) / n for b in range(len(sets))]
    )
    return np.array([len(sets) * (s / n) * (rest[inside[:, i]].mean() - rest[~inside[:, i]].mean()) for i in range(n)])


def test_f1_is_that_of_all_units_alike(pair):
    _, y, (a, b) = pair
    method = build("subsampling", "estimators")
    e = method(a.losses("f1"))
    count = np.bincount(a.test.row, minlength=60)
    expected = f1_score(y[a.test.row], a.test.value, sample_weight=1 / count[a.test.row])
    assert 1 - e.value == pytest.approx(expected, abs=1e-12)
    whole = method(a.losses("f1").minus(b.losses("f1")))
    assert whole.value == pytest.approx(e.value - method(b.losses("f1")).value, abs=1e-12)
    assert 0 < whole.std_error < e.std_error + method(b.losses("f1")).std_error


def test_auc_is_the_mean_over_pairs_left_out_together(pair):
    _, y, (a, b) = pair
    method = build("subsampling", "estimators")
    ones, zeros = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    score = np.full((200, 60), np.nan)
    score[a.test.split, a.test.row] = a.test.score[:, 1]
    gap = score[:, ones, None] - score[:, None, zeros]
    wrong = np.where(np.isnan(gap), np.nan, 0.5 - 0.5 * np.sign(gap))
    e = method(a.losses("auc"))
    assert e.value == pytest.approx(np.nanmean(np.nanmean(wrong, axis=0)), abs=1e-12)
    assert e.df == min(len(ones), len(zeros)) - 1
    difference = method(a.losses("auc").minus(b.losses("auc")))
    assert difference.value == pytest.approx(e.value - method(b.losses("auc")).value, abs=1e-12)
    assert difference.notes == ()


def test_what_has_no_form_is_refused_by_name(pair):
    X, y, (a, _) = pair
    method = build("subsampling", "estimators")
    with pytest.raises(NotApplicable, match="subsampling has no form for average-precision"):
        method(a.losses("average-precision"))
    few = unseen.run(GaussianNB(), X, y, design=unseen.designs.MonteCarlo(0.368, 50), random_state=0)
    with pytest.raises(InputError, match="at least 200 subsamples"):
        method(few.losses())


def test_a_few_failed_fits_are_no_refusal(pair):
    X, y, _ = pair
    together = X[:4, 0]

    class Sometimes(GaussianNB):
        def fit(self, X, y):
            if np.isin(together, X[:, 0]).all():  # four given rows are in .15 of the subsamples
                raise RuntimeError("no luck")
            return super().fit(X, y)

    table = unseen.run(Sometimes(), X, y, design=DESIGN, random_state=0).losses()
    assert 150 <= len(table.completed) < 200
    assert "U008" in [n.code for n in build("subsampling", "estimators")(table).notes]


def test_a_measure_of_counts_that_is_a_mean_has_the_interval_of_that_mean(pair):
    """Accuracy is a set measure here and one minus the mean of zero-one losses: value and standard error must agree."""
    _, _, (a, b) = pair
    method = build("subsampling", "estimators")
    for counts, losses in (
        (a.losses("accuracy"), a.losses()),
        (a.losses("accuracy").minus(b.losses("accuracy")), a.losses().minus(b.losses())),
    ):
        one, other = method(counts), method(losses)
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.std_error == pytest.approx(other.std_error, rel=1e-6)


def test_degrees_of_freedom_are_those_of_the_variance_of_the_influences():
    """Satterthwaite: a sum of n squares of normal numbers is chi-squared with n degrees; of a share p of equal ones it is 2 n p / (1 - p)."""
    rng = np.random.default_rng(4)
    found = np.mean([degrees_of_freedom(rng.standard_normal(200)) for _ in range(400)])
    assert found == pytest.approx(199, rel=0.06)
    few = np.where(np.arange(200) < 20, 1.0, 0.0)
    assert degrees_of_freedom(few) == pytest.approx(2 * 200 * 0.1 / 0.9)
    assert degrees_of_freedom(3 * few) == pytest.approx(degrees_of_freedom(few))
    assert degrees_of_freedom(np.ones(10)) == 9
    assert degrees_of_freedom(np.eye(5)[0]) == pytest.approx(2.5)


def test_the_least_variance_of_areas_rises_with_the_noise_and_no_further_than_three_quarters():
    """Products whose sum is nil leave own^2 less their noise, so that the cut decides; its rise is .75 (error - own^2 / 2) up to .75 own^2."""
    own = np.full(100, 0.01)  # fixed predictions have a variance of .01
    rng = np.random.default_rng(0)
    shape = rng.standard_normal((200, 100))
    shape -= shape.mean(axis=0)

    def error(products):
        covariance = 200 * np.cov(products.T)
        return np.sqrt(2 * np.trace(covariance @ covariance))

    for scale, expected in ((0.2, 0.01), (1.0, 0.01 + 0.75 * 0.005), (9.0, 0.0175)):
        products = shape * np.sqrt(scale * 0.01 / error(shape))
        assert error(products) == pytest.approx(scale * 0.01)
        assert _variance_of_areas(own, products) == pytest.approx(expected)
