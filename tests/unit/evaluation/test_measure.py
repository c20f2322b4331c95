"""`unseen.measure`: intervals of known form, curves, classes, groups, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import brunnermunzel, norm, t
from sklearn import metrics
from typer.testing import CliRunner

import unseen
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.registry import find
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.measure import summed_limits
from unseen.evaluation.measure_file import costs_of, measure_file
from unseen.evaluation.measure_intervals import called_sizes, effective_size
from unseen.measures.area_variance import area_freedom, delong
from unseen.measures.regression import Quantile

rng = np.random.default_rng(3)
Y = np.repeat([0, 1], [60, 40])
Z = rng.normal(Y * 1.2, 1.0)
P = 1 / (1 + np.exp(-(Z - 0.6)))
Y3 = rng.integers(0, 3, 150)
P3 = rng.dirichlet([1, 1, 1], 150) * 0.6 + 0.4 * np.eye(3)[Y3]


@pytest.fixture(scope="module")
def two():
    return unseen.measure(Y, P, n_bootstrap=400)


@pytest.fixture(scope="module")
def three():
    return unseen.measure(np.array(list("abc"))[Y3], P3, n_bootstrap=300)


def wilson(hits, n):
    """Wilson (1927), as the roots of (p - x)^2 = z^2 x (1 - x) / n."""
    p, z = hits / n, norm.ppf(0.975)
    roots = np.roots([1 + z**2 / n, -(2 * p + z**2 / n), p**2])
    return sorted(roots.real)


def test_rates_have_wilson_intervals(two):
    said = P >= 0.5
    hits = int((said & (Y == 1)).sum())
    e = two["sensitivity"]
    assert (e.value, e.n_fits, str(e.target)) == (hits / 40, 0, "this model")
    assert list(e.interval) == pytest.approx(wilson(hits, 40))
    right = int((said == Y).sum())
    assert list(two["accuracy"].interval) == pytest.approx(wilson(right, 100))


def test_the_area_has_delongs_error_on_the_logit_scale(two):
    areas, covariance = delong(Y == 1, P)
    e = two["auc"]
    assert e.value == pytest.approx(metrics.roc_auc_score(Y, P))
    assert e.std_error == pytest.approx(np.sqrt(covariance[0, 0]))
    low, high = (np.log(v / (1 - v)) for v in e.interval)
    df = area_freedom(Y == 1, P, np.arange(100))
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, df) * e.std_error / (areas[0] * (1 - areas[0])))


def test_degrees_of_freedom_of_an_area_are_those_of_brunner_and_munzel():
    """Their test is (area - 1/2) / error with Student's t on these degrees of freedom."""
    for few in (4, 9):
        r = np.random.default_rng(few)
        y = np.arange(60) < few
        score = np.round(r.normal(y * 0.8, 1.0), 1)  # with ties
        theirs = brunnermunzel(score[~y], score[y])
        areas, covariance = delong(y, score)
        statistic = (areas[0] - 0.5) / np.sqrt(covariance[0, 0])
        assert abs(statistic) == pytest.approx(abs(theirs.statistic))
        assert 2 * t.sf(abs(statistic), area_freedom(y, score, np.arange(60))) == pytest.approx(theirs.pvalue)


def test_areas_of_a_rare_class_are_held():
    """5 of 105 cases positive, true area .9: normal quantiles held it in 86% of samples."""
    y, held = np.arange(105) < 5, []
    for k in range(400):
        score = np.random.default_rng(k).normal(y * np.sqrt(2) * norm.ppf(0.9), 1.0)
        ends = unseen.measure(y.astype(int), score, measures=["auc"])["auc"].interval
        held.append(ends.low <= 0.9 <= ends.high)
    assert np.mean(held) >= 0.895


def test_weights_count_in_areas_and_calibration():
    """Whole weights are copies of a case: same area, same curve, same shares, same parts of the Brier score."""
    w = np.random.default_rng(3).integers(1, 4, 100)
    made = unseen.measure(Y, P, sample_weight=w, measures=["auc"])
    copies = unseen.measure(np.repeat(Y, w), np.repeat(P, w), groups=np.repeat(np.arange(100), w), measures=["auc"])
    assert made["auc"].value == pytest.approx(metrics.roc_auc_score(Y, P, sample_weight=w))
    assert made.roc().auc.value == pytest.approx(np.trapezoid(made.roc().hit_rate, made.roc().alarm_rate))
    assert made["auc"].std_error == pytest.approx(copies["auc"].std_error, rel=0.03)
    score = np.average(np.square(P - Y), weights=w)
    assert made.calibration().brier.score == pytest.approx(score)
    b, alike = made.calibration(n_bins=1).brier, copies.calibration(n_bins=1)
    assert (b.reliability, b.uncertainty) == pytest.approx((alike.brier.reliability, alike.brier.uncertainty))
    assert made.calibration(n_bins=1).low[0] == pytest.approx(alike.low[0], abs=0.01)


def test_limits_of_curves_know_of_groups():
    """Each case three times in one group: precision and calibrated shares are as uncertain as those of single cases."""
    groups = np.repeat(np.arange(100), 3)
    once, thrice = (unseen.measure(*made, n_bootstrap=100) for made in ((Y, P), (np.repeat(Y, 3), np.repeat(P, 3))))
    grouped = unseen.measure(np.repeat(Y, 3), np.repeat(P, 3), groups=groups, n_bootstrap=100)
    for curve in ("precision_recall", "calibration"):
        single, naive, made = (getattr(m, curve)() for m in (once, thrice, grouped))
        assert np.all(made.high - made.low >= 0.999 * (single.high - single.low)), curve
        assert (made.high - made.low).mean() > 1.4 * (naive.high - naive.low).mean(), curve
    cases = grouped.cases
    sizes = called_sizes(cases, cases.y == 1, cases.column(1), np.unique(cases.column(1))[::-1], 0.95)
    for k in (3, 40, 80):  # the running sums against the ratio of one threshold
        whole = cases.column(1) >= np.unique(cases.column(1))[::-1][k]
        share = float(cases.y[whole].mean())
        wanted = effective_size(cases, (whole & (cases.y == 1)).astype(float), whole.astype(float), share, 0.95)[0]
        assert sizes[k] == pytest.approx(wanted)


def test_one_or_two_groups_promise_nothing_they_cannot_know():
    one = unseen.measure(Y, P, groups=np.zeros(100, int), n_bootstrap=100)
    assert list(one["accuracy"].interval) == pytest.approx(wilson(one["accuracy"].value, 1))
    assert one["accuracy"].std_error is None
    by_class = unseen.measure(Y, P, groups=Y, n_bootstrap=100)
    for name in ("auc", "sensitivity"):
        assert list(by_class[name].interval) == pytest.approx(wilson(by_class[name].value, 1)), name
    assert by_class["brier"].interval is None
    other = unseen.measure(Y, P**2 + Z / 9, groups=Y, n_bootstrap=100)
    assert by_class.roc().difference(other.roc()).p is None
    assert "U009" in [n.code for n in by_class.notes]
    few = unseen.measure(np.arange(40) < 4, np.linspace(1, 0, 40), n_bootstrap=100)
    assert next(n.text for n in few.notes if n.code == "U009").startswith("only 4 independent units of class True")


def test_few_groups_widen_rates():
    """8 groups of 10, error rates Beta distributed with correlation .3: normal quantiles held 80% in 89% of samples."""
    held = []
    for k in range(400):
        r = np.random.default_rng(k)
        right = r.random((8, 10)) < r.beta(0.8 * 7 / 3, 0.2 * 7 / 3, (8, 1))
        y = np.arange(80) % 2
        said = np.where(right.reshape(-1), y, 1 - y)
        m = unseen.measure(y, said, y_pred=said, groups=np.repeat(np.arange(8), 10), measures=["accuracy"])
        held.append(m["accuracy"].interval.low <= 0.8 <= m["accuracy"].interval.high)
    assert np.mean(held) >= 0.92


@pytest.mark.parametrize(("hits", "alarms", "sizes"), [(0.3, 0.02, (5, 45)), (0.95, 0.05, (20, 20))])
def test_sums_of_rates_are_held(hits, alarms, sizes):
    """Balanced accuracy and d' of rare or easy classes: BCa held them in 75 to 90% and 76 to 85% of samples."""
    y = np.repeat([1, 0], sizes)
    truth = {"balanced-accuracy": (hits + 1 - alarms) / 2, "d-prime": norm.ppf(hits) - norm.ppf(alarms)}
    held = {name: [] for name in truth}
    for k in range(400):
        said = (np.random.default_rng(k).random(len(y)) < np.where(y == 1, hits, alarms)).astype(int)
        m = unseen.measure(y, said, y_pred=said, measures=list(truth))
        for name, value in truth.items():
            held[name].append(m[name].interval.low <= value <= m[name].interval.high)
            assert m[name].value == pytest.approx(find(name, "measures")().of_set(y, said))
    for name in truth:
        assert np.mean(held[name]) >= 0.92, name


def test_a_difference_of_two_rates_is_newcombes():
    """Newcombe (1998), example: 56/70 and 48/80 differ by .2, 95% limits .0524 and .3339 (method 10)."""
    shares, sizes = np.array([56 / 70, 48 / 80]), (70, 80)
    low, high = np.array([wilson_interval(p, n, 0.95) for p, n in zip(shares, sizes)]).T
    ends = summed_limits(np.array([shares[0], -shares[1]]), np.array([low[0], -high[1]]), np.array([high[0], -low[1]]))
    assert ends == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_every_interval_holds_its_value_and_stays_in_range(two, three):
    from unseen.core.registry import classes_in

    for m in (two, three):
        for name, e in m.estimates.items():
            low, high = classes_in("measures")[name.split("[")[0]].range
            assert low <= e.interval.low <= e.interval.high <= high, name
            assert e.interval.low - 0.02 <= e.value <= e.interval.high + 0.02, name


def test_perfect_and_constant_scores():
    perfect = unseen.measure(Y, Y.astype(float), n_bootstrap=200)
    assert perfect["auc"].value == 1
    assert list(perfect["auc"].interval) == pytest.approx(wilson(40, 40), abs=1e-9)
    assert "U010" in {n.code for n in perfect.notes}
    constant = unseen.measure(Y, np.full(100, 0.3), n_bootstrap=200)
    assert constant["auc"].value == 0.5
    assert constant["sensitivity"].value == 0
    assert 0 <= constant["auc"].interval.low < 0.5 < constant["auc"].interval.high <= 1


def test_the_positive_class_can_be_the_first():
    flipped = unseen.measure(Y, 1 - P, positive=0, n_bootstrap=200)
    plain = unseen.measure(Y, P, n_bootstrap=200)
    assert flipped["auc"].value == pytest.approx(plain["auc"].value)
    assert flipped["sensitivity"].value == pytest.approx(plain["specificity"].value, abs=0.03)
    decision = unseen.measure(Y, -(Z - 0.6), positive=0, n_bootstrap=200)
    assert decision["auc"].value == pytest.approx(plain["auc"].value)
    assert decision.cases.threshold == 0


def test_classes_are_averaged_and_taken_one_by_one(three):
    truth = np.array(list("abc"))[Y3]
    said = np.array(list("abc"))[P3.argmax(axis=1)]
    assert three["sensitivity"].value == pytest.approx(metrics.recall_score(truth, said, average="macro"))
    assert three["auc"].value == pytest.approx(metrics.roc_auc_score(truth, P3, multi_class="ovr", average="macro"))
    for k, label in enumerate("abc"):
        assert three["sensitivity", label].value == pytest.approx(metrics.recall_score(truth == label, said == label))
        assert three[f"auc[{label}]"].value == pytest.approx(metrics.roc_auc_score(truth == label, P3[:, k]))
        assert three["pov", label].value == pytest.approx(np.corrcoef(k == Y3, P3[:, k])[0, 1] ** 2)
        assert three.roc(label).auc.value == three["auc", label].value
    assert three["brier"].value == pytest.approx(np.square(P3 - np.eye(3)[Y3]).sum(axis=1).mean())


def test_confusion_matrix_has_an_interval_in_every_cell(three):
    c = three.confusion()
    counts = metrics.confusion_matrix(Y3, P3.argmax(axis=1))
    assert np.array_equal(c.counts, counts)
    assert list(c.interval("a", "b")) == pytest.approx(wilson(counts[0, 1], counts[0].sum()), abs=1e-9)
    assert c.share.sum(axis=1) == pytest.approx(1)


def test_paired_and_unpaired_differences_of_areas(two):
    other_scores = rng.normal(Y * 0.4, 1.0)
    other = unseen.measure(Y, other_scores, n_bootstrap=200)
    d = two.roc().difference(other.roc())
    _, covariance = delong(Y == 1, P, other_scores)
    assert d.paired
    assert d.value == pytest.approx(two["auc"].value - other["auc"].value)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert d.statistic == pytest.approx(d.value / np.sqrt(variance))
    assert d.p == pytest.approx(2 * t.sf(abs(d.statistic), d.estimate.df))
    assert d.estimate.df == pytest.approx(area_freedom(Y == 1, P, np.arange(100), minus=other_scores))
    apart = two.roc().difference(other.roc(), paired=False)
    assert apart.estimate.std_error == pytest.approx(np.sqrt(covariance[0, 0] + covariance[1, 1]))
    freedom = [area_freedom(Y == 1, score, np.arange(100)) for score in (P, other_scores)]
    below = covariance[0, 0] ** 2 / freedom[0] + covariance[1, 1] ** 2 / freedom[1]
    assert apart.estimate.df == pytest.approx((covariance[0, 0] + covariance[1, 1]) ** 2 / below)
    weighted = [unseen.measure(Y, score, sample_weight=1.0 + Y, measures=["auc"]).roc() for score in (P, other_scores)]
    assert weighted[0].difference(weighted[1]).value == pytest.approx(weighted[0].auc.value - weighted[1].auc.value)
    back = other.roc().difference(two.roc())
    assert back.value == pytest.approx(-d.value)
    shorter = unseen.measure(Y[5:], P[5:], n_bootstrap=200).roc()
    assert not two.roc().difference(shorter).paired
    with pytest.raises(InputError, match="same cases"):
        two.roc().difference(shorter, paired=True)


def test_the_band_of_a_roc_curve_holds_the_whole_true_curve():
    """300 samples of 60 + 60 normal scores: the true curve leaves the band in at most 5% of them (up to 3 s.e.)."""
    grid = np.linspace(0.001, 0.999, 200)
    truth = norm.sf(norm.isf(grid) - 1)
    y = np.repeat([0, 1], 60)
    outside = 0
    for k in range(300):
        r = np.random.default_rng(k)
        roc = unseen.measure(y, r.normal(y * 1.0, 1), measures=["auc"]).roc()
        at, low, high = roc.band(0.95)
        place = np.searchsorted(at, grid)
        # the curve rises: the band between two grid points is bounded by its ends
        outside += bool(np.any(truth < low[place - 1] - 1e-9) or np.any(truth > high[place] + 1e-9))
    assert outside / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_groups_widen_intervals_as_copies_should():
    """Each case three times in one group says no more than once."""
    y, p = np.repeat(Y, 3), np.repeat(P, 3)
    grouped = unseen.measure(y, p, groups=np.repeat(np.arange(100), 3), n_bootstrap=300)
    single = unseen.measure(Y, P, n_bootstrap=300)
    for name in ("auc", "accuracy"):
        assert grouped[name].interval.width == pytest.approx(single[name].interval.width, rel=0.03), name
    size = 39 * (t.ppf(0.975, 119) / t.ppf(0.975, 39)) ** 2  # 40 groups of 3, less one for their spread
    assert list(grouped["sensitivity"].interval) == pytest.approx(
        wilson_interval(grouped["sensitivity"].value, size, 0.95)
    )
    assert grouped["f1"].interval.width == pytest.approx(single["f1"].interval.width, rel=0.25)
    naive = unseen.measure(y, p, n_bootstrap=300)
    assert naive["auc"].interval.width < 0.7 * single["auc"].interval.width


def test_whole_weights_are_copies():
    weight = rng.integers(1, 4, 100)
    weighted = unseen.measure(Y, P, sample_weight=weight, n_bootstrap=200)
    copied = unseen.measure(np.repeat(Y, weight), np.repeat(P, weight), n_bootstrap=200)
    for name in ("sensitivity", "f1", "average-precision", "brier", "pov"):
        assert weighted[name].value == pytest.approx(copied[name].value), name


def test_numbers():
    t = rng.standard_normal(80)
    f = t + 0.5 * rng.standard_normal(80)
    f[7] = t[7] + 12
    m = unseen.measure(t, f, n_bootstrap=200)
    assert m["r2"].value == pytest.approx(metrics.r2_score(t, f))
    assert m["absolute"].value <= m["rms"].value
    assert m.outlying().rows.tolist() == [7]
    assert m["trimmed-squared"].value < m["squared"].value
    with pytest.raises(NotApplicable, match="predictions of numbers"):
        m.roc()
    only = unseen.measure(t, f, measures=[Quantile(0.9), "rms"], n_bootstrap=200)
    assert list(only) == ["quantile", "rms"]
    assert only["quantile"].value == pytest.approx(metrics.mean_pinball_loss(t, f, alpha=0.9))


def test_costs_and_prevalence():
    m = unseen.measure(Y, P, costs=[[0, 1], [5, 0]], prevalence=0.01, n_bootstrap=300)
    said = (P >= 0.5).astype(int)
    assert m["cost"].value == pytest.approx(np.array([[0, 1], [5, 0]])[Y, said].mean())
    assert m["utility"].value == -m["cost"].value
    assert m["utility"].interval.low == -m["cost"].interval.high
    adjusted = unseen.measures.predictive_value(
        sensitivity=m["sensitivity"].value, specificity=m["specificity"].value, prevalence=0.01
    )
    assert m["positive-predictive-value at prevalence 0.01"].value == pytest.approx(adjusted.positive)
    assert m["negative-predictive-value at prevalence 0.01"].value == pytest.approx(adjusted.negative)


def test_a_choice_of_measures_keeps_the_costs_and_the_prevalence():
    costs = [[0, 1], [5, 0]]
    said = (P >= 0.5).astype(int)
    m = unseen.measure(Y, P, measures=["cost", "auc"], costs=costs, n_bootstrap=200)
    assert set(m) == {"cost", "auc"}
    assert m["cost"].value == pytest.approx(np.array(costs)[Y, said].mean())
    both = unseen.measure(Y, P, measures=["auc"], costs=costs, prevalence=0.1, n_bootstrap=200)
    ppv, npv = (f"{k}-predictive-value at prevalence 0.1" for k in ("positive", "negative"))
    assert set(both) == {"auc", "cost", "utility", ppv, npv}
    for lost in ({"costs": costs}, {"prevalence": 0.1}):
        with pytest.raises(InputError, match="predictions of numbers"):
            unseen.measure(P, P + 0.1, **lost)


def test_cross_validated_predictions():
    X, y = unseen.datasets.load("breast-cancer").xy
    table = unseen.run("lda", X, y, scores=True, random_state=0)
    m = unseen.measure(table, n_bootstrap=200)
    assert m["accuracy"].value == pytest.approx(1 - table.losses().by_row().mean())
    assert "U016" in {n.code for n in m.notes}
    twice = unseen.run("lda", X, y, design=unseen.designs.RepeatedKFold(5, 2), random_state=0)
    with pytest.raises(InputError, match="several times"):
        unseen.measure(twice)


def test_an_interval_that_resamples_nothing_has_no_note_on_resamples():
    score = np.random.default_rng(0).random(100)
    noted = {
        name: [n.code for n in unseen.measure(np.arange(100) % 2, score, measures=[name], n_bootstrap=200).notes]
        for name in ("accuracy", "f1")
    }
    assert noted == {"accuracy": [], "f1": ["U016"]}


def test_classes_of_equal_size_keep_it_in_resamples():
    y = np.repeat([0, 1], 50)
    score = np.random.default_rng(0).normal(y, 1.0)
    fixed, free = (unseen.measure(y, score, stratified=s, n_bootstrap=1000) for s in (None, False))
    assert fixed.stratified
    assert any("fixed by design" in n.text for n in fixed.notes)
    assert not any("fixed by design" in n.text for n in free.notes)
    for name in ("f1", "average-precision"):
        assert fixed[name].std_error < free[name].std_error
    share = np.mean(score[y == 1] >= 0)
    alarm = np.mean(score[y == 0] >= 0)
    variance = (share * (1 - share) + alarm * (1 - alarm)) / 50 / 4
    assert fixed["balanced-accuracy"].std_error == pytest.approx(np.sqrt(variance), rel=0.1)
    assert not unseen.measure(Y, P, n_bootstrap=200).stratified
    with pytest.raises(InputError, match="independent, unweighted"):
        unseen.measure(Y, P, groups=Y, stratified=True)


def test_same_seed_same_numbers(two):
    again = unseen.measure(Y, P, n_bootstrap=400)
    assert again.to_dict() == two.to_dict()
    assert unseen.measure(Y, P, n_bootstrap=400, random_state=1)["f1"].interval != two["f1"].interval


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, 1, 1], [0.1, 0.2, 0.3]), "single class"),
        (([0, 1, 1], [0.1, np.nan, 0.3]), "not finite"),
        (([0, np.nan, 1], [0.1, 0.2, 0.3]), "NaN"),
        (([0, 1, None], [0.1, 0.2, 0.3]), "lacks a value"),
        (([0, 1, 1], [0.1, 0.2]), "one row per case"),
        (([0, 1, 1], None), "y_score is missing"),
        ((list("abc"), [[0.1, 0.9], [0.5, 0.5], [0.3, 0.7]]), "2 columns for 3 classes"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(InputError, match=message):
        unseen.measure(*given)


def test_bad_options(two):
    with pytest.raises(InputError, match="3 x 3, and there are 2"):
        unseen.measure(Y, P, costs=np.eye(3))
    with pytest.raises(InputError, match="prevalence is -0"):
        unseen.measure(Y, P, prevalence=-0.1)
    with pytest.raises(UnknownName, match="sensitivity"):
        two["sensitivty"]
    with pytest.raises(UnknownName, match="class for positive"):
        unseen.measure(Y, P, positive=7)
    with pytest.raises(InputError, match="only decisions"):
        unseen.measure(list("aabb"), list("abab"), measures=["auc"])
    with pytest.raises(InputError, match="no scores"):
        unseen.measure(list("aabb"), list("abab")).roc()


def test_report_and_figures(two, three, tmp_path):
    two.report(tmp_path / "m.html")
    text = (tmp_path / "m.html").read_text()
    for anchor in ("measures", "confusion", "roc", "precision-recall", "calibration"):
        assert f'id="{anchor}"' in text
    three.report(tmp_path / "three.html")
    assert two.plot("roc") is not None
    assert two.roc().plot() is not None


def test_files_and_costs_by_label(tmp_path):
    frame = pd.DataFrame(
        {"y": np.array(["well", "ill"])[Y], "p": P, "said": np.array(["well", "ill"])[(P > 0.5).astype(int)]}
    )
    path = tmp_path / "preds.csv"
    frame.to_csv(path, index=False)
    m = measure_file(path, truth="y", score=["p"], positive="ill", measures=["sensitivity"])
    assert m["sensitivity"].value == measure_file(path, truth="y", pred="said", positive="ill")["sensitivity"].value
    costs = pd.DataFrame({"truth": ["well", "ill"], "well": [0, 5], "ill": [1, 0]})
    assert costs_of(costs, np.array(["ill", "well"])).tolist() == [[0, 5], [1, 0]]
    with pytest.raises(InputError, match="name each class once"):
        costs_of(costs.rename(columns={"ill": "sick"}), np.array(["ill", "well"]))


def test_command_line(tmp_path):
    from unseen.cli.app import _attach_commands, app

    _attach_commands()
    frame = pd.DataFrame({"y": Y, "p": P})
    frame.to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "c.csv").write_text("truth,0,1\n0,0,1\n1,5,0\n")
    arguments = [
        "measure",
        str(tmp_path / "p.csv"),
        "--truth",
        "y",
        "--score",
        "p",
        "--costs",
        str(tmp_path / "c.csv"),
        "--json",
    ]
    result = CliRunner().invoke(app, [*arguments, "--report", str(tmp_path / "r.html"), "--quiet"])
    assert result.exit_code == 0, result.output
    got = json.loads(result.stdout)
    assert got["measures"]["auc"]["value"] == pytest.approx(metrics.roc_auc_score(Y, P))
    assert got["measures"]["cost"]["value"] == pytest.approx(
        np.array([[0, 1], [5, 0]])[Y, (P >= 0.5).astype(int)].mean()
    )
    assert (tmp_path / "r.html").stat().st_size > 10_000


def test_several_outputs_against_scikit_learn_and_each_alone():
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    rng = np.random.default_rng(8)
    Y = rng.normal(size=(90, 3)) * [1.0, 5.0, 20.0]
    P = Y + rng.normal(size=(90, 3)) * [0.5, 1.0, 30.0]
    m = unseen.measure(Y, P, random_state=1)
    for k in range(3):
        assert m["r2", k].value == pytest.approx(r2_score(Y[:, k], P[:, k]), abs=1e-12)
        assert m["rms", k].value == pytest.approx(root_mean_squared_error(Y[:, k], P[:, k]), abs=1e-12)
        alone = unseen.measure(Y[:, k], P[:, k], random_state=1)["absolute"]
        assert m["absolute", k].value == alone.value
    assert m["absolute"].value == pytest.approx(mean_absolute_error(Y, P), abs=1e-12)
    assert m["rms"].value == pytest.approx(np.sqrt(np.mean((Y - P) ** 2)), abs=1e-12)
    assert "pov" not in m.estimates


def test_outputs_of_a_case_are_resampled_together():
    rng = np.random.default_rng(8)
    y, p = rng.normal(size=(2, 60))
    one = unseen.measure(y, p, random_state=1)["absolute"]
    thrice = unseen.measure(np.column_stack([y] * 3), np.column_stack([p] * 3), random_state=1)["absolute"]
    assert thrice.value == pytest.approx(one.value, abs=1e-12)
    assert thrice.std_error == pytest.approx(one.std_error, rel=0.1)


def test_bad_outputs():
    with pytest.raises(InputError, match="one prediction per output"):
        unseen.measure(np.zeros((5, 2)), np.zeros(5))
    with pytest.raises(InputError, match="several columns"):
        unseen.measure(np.ones((5, 2)), np.ones((5, 2)), positive=1)


def test_outputs_are_counted_by_case_and_listed_where_they_stand_out():
    rng = np.random.default_rng(8)
    Y = pd.DataFrame(rng.normal(size=(80, 2)), columns=["height", "weight"])
    P = Y + rng.normal(size=(80, 2)) * 0.1
    P.iloc[17, 1] += 30
    m = unseen.measure(Y, P, measures=["pov", "rms", Quantile(0.9)], random_state=1)
    assert set(m) == {"rms", *(f"{k}[{c}]" for k in ("pov", "rms", "quantile") for c in Y)}
    assert str(m).startswith(f"RMSE {m['rms'].value:.4g} (95% interval ")
    assert str(m).splitlines()[1] == "2 outputs: height, weight."
    assert (m.to_dict()["n"], m.to_dict()["outputs"]) == (80, ["height", "weight"])
    assert m.outlying("weight").rows.tolist() == [17]
    assert not m.outlying("height").suspicious
    with pytest.raises(UnknownName, match="name one"):
        m.outlying()
    with pytest.raises(NotApplicable, match="auc"):
        unseen.measure(Y, P, measures=["auc"])


def test_several_outputs_of_a_file(tmp_path):
    from unseen.cli.app import _attach_commands, app

    _attach_commands()
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "p", "q"])
    frame["p"] += 3 * frame["a"]
    frame["q"] -= 3 * frame["b"]
    file = tmp_path / "numbers.csv"
    frame.to_csv(file, index=False)
    run = lambda *words: CliRunner().invoke(app, ["measure", str(file), *words])  # noqa: E731
    answer = run("--truth", "a,b", "--pred", "p,q", "--json", "--report", str(tmp_path / "r.html"))
    assert answer.exit_code == 0
    found = json.loads(answer.stdout)["measures"]
    for truth, said in (("a", "p"), ("b", "q")):
        assert found[f"pov[{truth}]"]["value"] == pytest.approx(np.corrcoef(frame[truth], frame[said])[0, 1] ** 2)
        assert found[f"r2[{truth}]"]["value"] == pytest.approx(metrics.r2_score(frame[truth], frame[said]))
    assert "2 outputs: a, b." in (tmp_path / "r.html").read_text("utf-8")
    with pytest.raises(InputError, match=r"2 columns of truth \(a, b\) need as many predictions.*1 was named: p"):
        measure_file(file, truth="a,b", pred="p")
    with pytest.raises(InputError, match="one column of truth and 2 of predictions"):
        measure_file(file, truth="a", pred="p,q")
    with_comma = frame.rename(columns={"a": "a,b"})
    assert measure_file(with_comma, truth="a,b", pred="p")["pov"].value == found["pov[a]"]["value"]


def test_one_area_has_one_interval_everywhere():
    import pandas as pd

    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], [40, 30])
    p = 1 / (1 + np.exp(-rng.normal(1.5 * y - 0.7, 1.0)))
    m = unseen.measure(y, p)["auc"]
    frame = pd.DataFrame({"id": np.arange(70), "y": y, "p": p})
    found = unseen.predictions({"a": frame}, truth="y", prob="p", id="id", measure="auc").estimates["a"]
    assert 1 - found.value == pytest.approx(m.value, abs=1e-12)
    assert (1 - found.interval.high, 1 - found.interval.low) == pytest.approx(tuple(m.interval), abs=1e-12)


@pytest.mark.parametrize("positive", [0, 1])
def test_two_columns_of_logits_decide_by_the_larger_and_rank_by_their_difference(positive):
    logits = np.random.default_rng(0).normal(3.0, 1.0, (100, 2)) + 1.5 * np.eye(2)[Y]
    m = unseen.measure(Y, logits, positive=positive, n_bootstrap=100)
    odds = logits[:, positive] - logits[:, 1 - positive]
    assert m["accuracy"].value == pytest.approx(np.mean(logits.argmax(1) == Y))
    assert m["auc"].value == pytest.approx(metrics.roc_auc_score(positive == Y, odds))
    shifted = unseen.measure(Y, logits - 7, positive=positive, n_bootstrap=100)
    assert shifted["accuracy"].value == m["accuracy"].value


def test_a_threshold_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="threshold is nan"):
        unseen.measure(Y, P, threshold=float("nan"))


class TestManyClasses:
    """Time and memory grow with the number of classes and of cases, not with the fourth power of the former."""

    def labels(self, n, k, right=0.7):
        rng = np.random.default_rng(0)
        y = np.char.add("c", rng.integers(0, k, n).astype(str))
        return y, np.where(rng.random(n) < right, y, rng.permutation(y))

    @pytest.mark.slow
    @pytest.mark.sample
    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
    def test_thousand_classes(self):
        import subprocess
        import sys

        code = """
import re, time
import numpy as np, unseen
rng = np.random.default_rng(0)
y = np.char.add("c", rng.integers(0, 1000, 100_000).astype(str))
found = unseen.measure(y, np.where(rng.random(100_000) < 0.7, y, rng.permutation(y)))
assert len(found.estimates) > 7000
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())  # ru_maxrss would begin at the parent's
print(time.process_time(), int(peak.group(1)) / 1024)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        seconds, megabytes = map(float, done.stdout.split())
        assert seconds < 10
        assert megabytes < 1000

    @pytest.mark.parametrize("clustered", [False, True])
    def test_values_are_those_of_scikit_learn(self, clustered):
        y, calls = self.labels(2000, 30)
        groups = np.arange(2000) // 4 if clustered else None
        found = unseen.measure(y, calls, groups=groups, n_bootstrap=200)
        assert found["f1"].value == pytest.approx(metrics.f1_score(y, calls, average="macro"))
        assert found["sensitivity"].value == pytest.approx(metrics.recall_score(y, calls, average="macro"))
        assert found["mcc"].value == pytest.approx(metrics.matthews_corrcoef(y, calls))
        assert found["balanced-accuracy"].value == pytest.approx(metrics.balanced_accuracy_score(y, calls))
        assert found["f1[c7]"].value == pytest.approx(metrics.f1_score(y == "c7", calls == "c7"))
        for name in ("f1", "sensitivity", "mcc", "f1[c7]"):
            assert found[name].interval.low < found[name].value < found[name].interval.high

    @pytest.mark.parametrize("clustered", [False, True])
    def test_intervals_are_those_of_tables(self, clustered, monkeypatch):
        y, calls = self.labels(1500, 12)
        groups = np.arange(1500) // 3 if clustered else None
        from unseen.evaluation import measure as whole
        from unseen.evaluation import measure_intervals
        from unseen.measures import confusion

        few = unseen.measure(y, calls, groups=groups)
        for module in (whole, measure_intervals, confusion):
            monkeypatch.setattr(module, "MOST_IN_TABLES", 5)
        many = unseen.measure(y, calls, groups=groups)
        assert list(few.estimates) == list(many.estimates)
        for name, one in few.estimates.items():
            other = many[name]
            assert other.value == pytest.approx(one.value, rel=1e-12)
            width = one.interval.high - one.interval.low
            # the ends of 2,000 resamples move by a few hundredths of the width with the seed
            assert other.interval.low == pytest.approx(one.interval.low, abs=0.12 * width)
            assert other.interval.high == pytest.approx(one.interval.high, abs=0.12 * width)

    def test_mean_area_is_that_of_resampling(self, monkeypatch):
        from unseen.evaluation import measure as whole

        rng = np.random.default_rng(1)
        y = np.arange(600) % 6
        scores = rng.gumbel(size=(600, 6))
        scores[np.arange(600), y] += 1
        resampled = unseen.measure(y, scores)["auc"]
        monkeypatch.setattr(whole, "MOST_IN_TABLES", 5)
        direct = unseen.measure(y, scores)["auc"]
        assert direct.method == "logit-delong"
        assert direct.value == pytest.approx(resampled.value, rel=1e-12)
        assert direct.std_error == pytest.approx(resampled.std_error, rel=0.1)


class TestNumbersAsTruth:
    """Numbers with scores and decisions beside them are numbers, not as many classes."""

    def test_both_columns(self):
        rng = np.random.default_rng(0)
        y = rng.normal(size=80)
        with pytest.raises(InputError, match="80 different numbers, and numbers are predicted one per case"):
            unseen.measure(y, y + 0.1, y_pred=y)
        with pytest.raises(InputError, match="not both"):
            unseen.measure(np.arange(80), rng.random(80), y_pred=np.arange(80))

    def test_two_classes_keep_both(self):
        y = np.tile([0, 1], 20)
        assert unseen.measure(y, y * 0.8 + 0.1, y_pred=y)["accuracy"].value == 1.0


def test_one_number_under_several_names_has_one_interval():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(80)
    rows = {r["term"]: r for r in unseen.measure(y, y + 0.5 * rng.standard_normal(80), random_state=0).rows()}
    share, other, rest = (rows[name] for name in ("r2", "pineda-p", "normalised-squared"))
    assert (share["estimate"], share["lower"], share["upper"]) == (other["estimate"], other["lower"], other["upper"])
    assert (1 - rest["upper"], 1 - rest["lower"]) == pytest.approx((share["lower"], share["upper"]))


def test_the_mean_area_of_many_classes_is_one_whether_asked_for_alone_or_with_all():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(25), 12)
    scores = rng.random((300, 25)) + 0.5 * np.eye(25)[y]
    scores /= scores.sum(axis=1, keepdims=True)
    whole, alone = unseen.measure(y, scores)["auc"], unseen.measure(y, scores, measures=["auc"])["auc"]
    assert alone.method == "logit-delong"
    assert (alone.value, alone.std_error, *alone.interval) == (whole.value, whole.std_error, *whole.interval)


def test_scores_of_the_other_class_are_suspected():
    truth = np.array(["Yes", "no"] * 60)
    score = np.clip(np.linspace(0, 1, 120) * 0.4 + 0.5 * (truth == "Yes"), 0, 1)  # of "Yes", and "no" is last in order
    turned = [n.text for n in unseen.measure(truth, score, n_bootstrap=100).notes if "positive='Yes'" in n.text]
    assert turned == [
        "scores count as those of 'no', and the whole interval of the AUC is below 0.5; if they are those of 'Yes', say positive='Yes'"
    ]
    for given in ({"positive": "Yes"}, {"measures": ["f1"]}):
        assert not [
            n for n in unseen.measure(truth, score, n_bootstrap=100, **given).notes if "count as those" in n.text
        ]
