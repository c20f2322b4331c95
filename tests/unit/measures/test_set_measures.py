"""Measures of whole sets against scikit-learn, closed forms and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import metrics

from unseen.core.errors import InputError, NotApplicable
from unseen.core.registry import find
from unseen.measures import Utility, best_threshold, brier_decomposition, outlying, predictive_value
from unseen.measures.area_variance import area, delong, logit_ends
from unseen.measures.areas import PartialAuc, sweep
from unseen.measures.calibration import bins_of
from unseen.measures.costs import Cost
from unseen.measures.outliers import NORMAL_RATIO, surprising
from unseen.measures.regression import weighted_median

rng = np.random.default_rng(5)
N = 300
Y2 = rng.integers(0, 2, N)
P2 = np.round(np.clip(0.3 * Y2 + 0.7 * rng.random(N), 0, 1), 2)  # rounded, so that there are ties
SCORE2 = np.column_stack([1 - P2, P2])
SAID2 = (P2 >= 0.5).astype(int)
Y3 = rng.integers(0, 3, N)
SAID3 = np.where(rng.random(N) < 0.6, Y3, rng.integers(0, 3, N))
T, O = rng.standard_normal(N), rng.standard_normal(N)
O = O + T


def made(name, **options):
    return find(name, "measures")(**options)


def rate(y, said, positive):
    return {
        "sensitivity": metrics.recall_score(y, said, pos_label=positive),
        "specificity": metrics.recall_score(y, said, pos_label=1 - positive),
        "positive-predictive-value": metrics.precision_score(y, said, pos_label=positive),
        "negative-predictive-value": metrics.precision_score(y, said, pos_label=1 - positive),
        "false-alarm-rate": 1 - metrics.recall_score(y, said, pos_label=1 - positive),
        "miss-rate": 1 - metrics.recall_score(y, said, pos_label=positive),
        "f1": metrics.f1_score(y, said, pos_label=positive),
        "accuracy": metrics.accuracy_score(y, said),
        "balanced-accuracy": metrics.balanced_accuracy_score(y, said),
        "mcc": metrics.matthews_corrcoef(y, said),
    }


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("name", rate(Y2, SAID2, 1))
def test_two_classes_are_scikit_learns(name, positive):
    assert made(name).of_set(Y2, SAID2, None, None, positive) == pytest.approx(
        rate(Y2, SAID2, positive)[name], rel=1e-12
    )


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("sensitivity", metrics.recall_score),
        ("positive-predictive-value", metrics.precision_score),
        ("f1", metrics.f1_score),
    ],
)
def test_averages_over_classes_are_scikit_learns(name, peer, average):
    assert made(name, average=average).of_set(Y3, SAID3) == pytest.approx(peer(Y3, SAID3, average=average), rel=1e-12)


def test_many_classes():
    assert made("mcc").of_set(Y3, SAID3) == pytest.approx(metrics.matthews_corrcoef(Y3, SAID3), rel=1e-12)
    assert made("balanced-accuracy").of_set(Y3, SAID3) == pytest.approx(metrics.balanced_accuracy_score(Y3, SAID3))
    specificity = np.mean([metrics.recall_score(k != Y3, k != SAID3) for k in range(3)])
    assert made("specificity").of_set(Y3, SAID3) == pytest.approx(specificity, rel=1e-12)


@pytest.mark.parametrize("positive", [0, 1])
def test_curves_are_scikit_learns(positive):
    truth, score = positive == Y2, SCORE2[:, positive]
    auc = made("auc").of_set(Y2, SAID2, SCORE2, None, positive)
    assert auc == pytest.approx(metrics.roc_auc_score(truth, score), rel=1e-12)
    assert area(truth, score) == pytest.approx(auc, rel=1e-12)
    precision = made("average-precision").of_set(Y2, SAID2, SCORE2, None, positive)
    assert precision == pytest.approx(metrics.average_precision_score(truth, score), rel=1e-12)
    for limit in (0.05, 0.2, 0.7):
        partial = PartialAuc(limit).of_set(Y2, SAID2, SCORE2, None, positive)
        assert partial == pytest.approx(metrics.roc_auc_score(truth, score, max_fpr=limit), rel=1e-12)
    assert PartialAuc(1.0, rescaled=False).of_set(Y2, SAID2, SCORE2) == pytest.approx(
        made("auc").of_set(Y2, SAID2, SCORE2)
    )


def test_one_point_of_the_curve_per_distinct_score():
    curve = sweep(Y2 == 1, P2)
    assert len(curve.threshold) == len(np.unique(P2))
    alarm, hit, _ = metrics.roc_curve(Y2, P2, drop_intermediate=False)
    assert np.allclose(curve.alarm_rate[0], alarm)
    assert np.allclose(curve.hit_rate[0], hit)


@pytest.mark.parametrize("d", [0.5, 1.5, 3.0])
def test_equal_variance_normal_scores_have_their_closed_forms(d):
    """Scores at the quantiles of N(0, 1) and N(d, 1): AUC = Phi(d / sqrt 2), corner distance sqrt(2) Phi(-d/2), d' = d."""
    grid = norm.ppf((np.arange(2000) + 0.5) / 2000)
    y, score = np.repeat([0, 1], 2000), np.concatenate([grid, grid + d])
    said = (score >= d / 2).astype(int)
    assert made("auc").of_set(y, said, score[:, None]) == pytest.approx(norm.cdf(d / np.sqrt(2)), abs=1e-4)
    assert made("corner-distance").of_set(y, said, score[:, None]) == pytest.approx(
        np.sqrt(2) * norm.cdf(-d / 2), abs=2e-3
    )
    assert made("d-prime").of_set(y, said) == pytest.approx(d, abs=0.01)


def test_corner_distance_of_perfect_useless_and_reversed_scores():
    y = np.array([0, 0, 1, 1])
    of = made("corner-distance").of_set
    assert of(y, y, y[:, None].astype(float)) == 0
    assert of(y, y, np.zeros((4, 1))) == pytest.approx(np.sqrt(0.5))
    assert of(y, y, -y[:, None].astype(float)) == pytest.approx(np.sqrt(2))


def test_d_prime_of_a_perfect_decision_is_finite():
    y = np.repeat([0, 1], 10)
    assert made("d-prime").of_set(y, y) == pytest.approx(2 * norm.ppf(0.95))


def test_hutton_prior_probability_example():
    """1% prevalence, 95% right on both kinds: posterior .161, 5.21 to 1 against."""
    v = predictive_value(sensitivity=0.95, specificity=0.95, prevalence=0.01)
    assert v.positive == pytest.approx(0.0095 / (0.0095 + 0.0495), rel=1e-12)
    assert (round(v.positive, 3), round(v.odds_against, 2)) == (0.161, 5.21)
    assert v.negative == pytest.approx(0.9405 / (0.9405 + 0.0005))
    with pytest.raises(InputError, match=r"prevalence is -0\.1"):
        predictive_value(sensitivity=0.9, specificity=0.9, prevalence=-0.1)


def test_utility_identity_and_costs():
    assert Utility().of_set(Y3, SAID3) == pytest.approx(metrics.accuracy_score(Y3, SAID3))
    costs = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0.5]])
    by_hand = sum(costs[i, j] for i, j in zip(Y3, SAID3)) / N
    assert Cost(costs).per_example(Y3, SAID3).mean() == pytest.approx(by_hand)
    assert Utility(-costs).of_set(Y3, SAID3) == pytest.approx(-by_hand)
    with pytest.raises(InputError, match="2 x 2, and there are 3"):
        Cost(((0, 1), (1, 0))).per_example(Y3, SAID3)
    with pytest.raises(InputError, match="square"):
        Cost(((0, 1, 2), (1, 0, 2)))


def test_best_threshold_is_the_best_of_all():
    costs = [[0, 1], [4, 0]]
    chosen = best_threshold(Y2 == 1, P2, costs)
    every = [np.mean(np.array(costs)[Y2, (t <= P2).astype(int)]) for t in (*np.unique(P2), 2.0)]
    assert chosen.cost == pytest.approx(min(every))
    assert np.mean(np.array(costs)[Y2, (chosen.value <= P2).astype(int)]) == pytest.approx(chosen.cost)
    assert chosen.cost_at_half == pytest.approx(np.mean(np.array(costs)[Y2, SAID2]))


def test_delong_covariance_is_its_definition_over_all_pairs():
    """The covariance against its definition over all pairs (DeLong et al., 1988, equations 3 to 6)."""
    other = np.clip(0.2 * Y2 + 0.8 * rng.random(N), 0, 1)
    areas, covariance = delong(Y2 == 1, P2, other)
    kernels = [(s[Y2 == 1][:, None] > s[Y2 == 0]) + 0.5 * (s[Y2 == 1][:, None] == s[Y2 == 0]) for s in (P2, other)]
    assert areas == pytest.approx([k.mean() for k in kernels], rel=1e-12)
    m, n = kernels[0].shape
    direct = np.cov([k.mean(axis=1) for k in kernels]) / m + np.cov([k.mean(axis=0) for k in kernels]) / n
    assert covariance == pytest.approx(direct, rel=1e-10)


def test_delong_of_the_ct_ratings_of_hanley_and_mcneil():
    """109 CT images rated 1 to 5 (Hanley & McNeil, 1982, table I): W = .893. Stata's manual, [R] roctab, gives for the same data
    ROC area 0.8932, DeLong standard error 0.0307, normal interval 0.83295 to 0.95339. Recalled figures: the manual was not at hand to compare with."""
    normal, abnormal = np.repeat(np.arange(1, 6), [33, 6, 6, 11, 2]), np.repeat(np.arange(1, 6), [3, 2, 2, 11, 33])
    score = np.concatenate([normal, abnormal]).astype(float)
    areas, covariance = delong(np.repeat([False, True], [58, 51]), score)
    se = np.sqrt(covariance[0, 0])
    assert (round(areas[0], 4), round(se, 4)) == (0.8932, 0.0307)
    assert [round(areas[0] + z * se, 5) for z in norm.ppf([0.025, 0.975])] == [0.83295, 0.95339]


def test_logit_interval_stays_inside():
    low, high = logit_ends(0.99, 0.02, 0.95)
    assert 0 < low < 0.99 < high < 1
    middle = [np.log(v / (1 - v)) for v in (low, 0.99, high)]
    assert (
        middle[1] - middle[0] == pytest.approx(middle[2] - middle[1]) == pytest.approx(norm.ppf(0.975) * 0.02 / 0.0099)
    )


def test_numbers_are_scikit_learns():
    weight = rng.random(N)
    for name, peer in {"rms": metrics.root_mean_squared_error, "r2": metrics.r2_score}.items():
        assert made(name).of_set(T, O) == pytest.approx(peer(T, O), rel=1e-12)
        assert made(name).of_set(T, O, None, weight) == pytest.approx(peer(T, O, sample_weight=weight), rel=1e-12)
    assert made("quantile", q=0.8).per_example(T, O).mean() == pytest.approx(metrics.mean_pinball_loss(T, O, alpha=0.8))
    d2 = metrics.d2_absolute_error_score(T, O)
    assert made("normalised-absolute").of_set(T, O) == pytest.approx(1 - d2, rel=1e-12)
    assert made("pov").of_set(T, O) == pytest.approx(np.corrcoef(T, O)[0, 1] ** 2, rel=1e-12)


def test_pineda_and_pov():
    """P of guessing the mean is 0, P never exceeds POV, and the two agree for least-squares fits."""
    assert made("pineda-p").of_set(T, np.full(N, T.mean())) == pytest.approx(0, abs=1e-12)
    assert made("normalised-squared").of_set(T, np.full(N, T.mean())) == pytest.approx(1)
    assert made("normalised-absolute").of_set(T, np.full(N, np.median(T))) == pytest.approx(1)
    for _ in range(20):
        f = rng.standard_normal(N) * rng.random() + rng.random() * T
        assert made("pineda-p").of_set(T, f) <= made("pov").of_set(T, f) + 1e-12
        assert np.abs(T - f).mean() <= made("rms").of_set(T, f)
    slope, cut = np.polyfit(O, T, 1)
    assert made("pineda-p").of_set(T, slope * O + cut) == pytest.approx(made("pov").of_set(T, O), rel=1e-10)


def test_trimmed_means_drop_the_largest():
    losses = np.sort(np.square(T - O))
    assert made("trimmed-squared").of_set(T, O) == pytest.approx(losses[: int(0.95 * N)].mean(), rel=1e-12)
    assert made("trimmed-absolute", share=0.0).of_set(T, O) == pytest.approx(np.abs(T - O).mean())
    assert made("trimmed-absolute", share=0.1).of_set(T, O) == pytest.approx(
        np.sort(np.abs(T - O))[:270].mean(), rel=1e-12
    )


def test_weighted_median_is_the_median_of_copies():
    for _ in range(20):
        weight = rng.integers(0, 3, 30)
        weight[0] = 1
        assert weighted_median(T[:30], weight.astype(float)) == pytest.approx(np.median(np.repeat(T[:30], weight)))


def test_outlying_patterns_are_found_and_normal_errors_are_not_many():
    errors = norm.ppf((np.arange(500) + 0.5) / 500)
    assert outlying(errors).ratio == pytest.approx(NORMAL_RATIO, abs=0.01)
    assert len(outlying(errors).rows) == 0
    wild = errors.copy()
    wild[[7, 300]] = 9.0, -12.0
    found = outlying(wild)
    assert found.rows.tolist() == [300, 7]
    assert found.suspicious
    assert found.ratio < NORMAL_RATIO


@pytest.mark.parametrize("bins", [None, 7])
def test_brier_parts_add_up(bins):
    parts = brier_decomposition(Y2 == 1, P2, bins)
    assert parts.score == pytest.approx(metrics.brier_score_loss(Y2, P2), rel=1e-12)
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.within
    assert total == pytest.approx(parts.score, rel=1e-12)
    if bins is None:
        assert parts.within == pytest.approx(0, abs=1e-12)
    else:
        assert np.bincount(bins_of(P2, bins)).min() > N / bins / 2


def test_a_calibrated_forecast_has_no_reliability_term():
    p = np.repeat([0.2, 0.6], [10, 10])
    y = np.concatenate([np.arange(10) < 2, np.arange(10) < 6])
    parts = brier_decomposition(y, p)
    assert parts.reliability == pytest.approx(0, abs=1e-15)
    assert parts.resolution == pytest.approx(0.04)


def test_seed_003_slide_table():
    """The constant rule 0 has risk 1/2; the best rule has 1/9 (squared) and 1/6 (zero-one)."""
    x = np.array([(0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (0, 0)])
    y = np.array([0.0, 1, 1, 0, 1, 0])
    squared, zero_one = made("squared"), made("zero-one")
    assert squared.per_example(y, np.zeros(6)).mean() == pytest.approx(1 / 2)
    cell = x @ [2, 1]
    best = np.array([y[cell == c].mean() for c in cell])
    assert squared.per_example(y, best).mean() == pytest.approx(1 / 9)
    vote = np.array([np.bincount(y[cell == c].astype(int)).argmax() for c in cell])
    assert zero_one.per_example(y.astype(int), vote).mean() == pytest.approx(1 / 6)


def test_seed_003_majority_rule_on_random_labels():
    """Expected training error of the majority rule at N = 10: E min(n0, n1) / 10 = .37695."""
    from math import comb

    expected = sum(comb(10, k) * min(k, 10 - k) for k in range(11)) / 2**10 / 10
    losses = made("zero-one")
    total = 0.0
    for code in range(2**10):
        y = np.array([code >> k & 1 for k in range(10)])
        rule = 0 if (y == 0).sum() > (y == 1).sum() else 1
        total += losses.per_example(y, np.full(10, rule)).mean()
    assert total / 2**10 == pytest.approx(expected)
    assert round(expected, 5) == 0.37695


def test_what_cannot_be_measured():
    one = np.zeros(5, int)
    assert np.isnan(made("auc").of_set(one, one, np.zeros((5, 1))))
    assert np.isnan(made("sensitivity").of_set(one, one))
    assert made("auc").of_set(np.array([0, 1, 1]), one[:3], np.zeros((3, 1))) == 0.5
    with pytest.raises(NotApplicable, match="two classes"):
        made("corner-distance").of_set(Y3, SAID3, np.eye(3)[Y3])
    with pytest.raises(InputError, match="needs scores"):
        made("average-precision").of_set(Y2, SAID2)
    with pytest.raises(InputError, match=r"q is 1\.0"):
        made("quantile", q=1.0)
    with pytest.raises(InputError, match="average is"):
        made("f1", average="mean")


def test_calibrated_probabilities_have_no_surprising_cases_and_a_wrong_label_is_one():
    """A third of calibrated, mostly sure probabilities were once said to stand out; at most 5% of samples may have any."""
    any_found, ratios = [], []
    for k in range(400):
        r = np.random.default_rng(k)
        y = r.random(200) < 0.5
        p = 1 / (1 + np.exp(-4 * r.normal(4 * y - 2, 1)))
        found = surprising(y, p)
        any_found.append(found.suspicious)
        ratios.append(found.ratio - found.usual)
    assert np.mean(any_found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert abs(np.mean(ratios)) < 0.02
    sure = int(np.argmax(p))
    y[sure] = not y[sure]
    assert surprising(y, p).rows[0] == sure
