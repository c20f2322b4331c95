"""Figures of an assessment show the numbers of its tables, worked out by hand where possible."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unseen
from unseen.assessment.figures.confusion import confusion_counts
from unseen.assessment.figures.distribution import distribution_info
from unseen.core.distribution import ErrorDistribution
from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Estimate, Interval, Target
from unseen.show import info


def test_estimates_are_grouped_by_target_with_the_baseline_beside_the_headline(by_hand):
    shown = info(by_hand, "estimates")
    assert shown.labels == ("corrected-t", "guessing", "nested", "leave-out", "bolster")
    assert shown.kind == ("algorithm",) * 4 + ("model",)
    assert [text for _, text in shown.headings] == [
        "Error of the algorithm, at its training size",
        "Error of this model",
    ]
    assert shown.headings[1][0] > shown.place[3], "the second group's heading stands below the first group"
    assert shown.headings[1][0] < shown.place[4]
    assert shown.role == ("headline", "baseline", "other", "other", "other")
    assert np.all(np.diff(shown.place) >= 1)


def test_a_monte_carlo_error_is_never_drawn_as_an_interval(by_hand):
    import matplotlib.pyplot as plt

    shown = info(by_hand, "estimates")
    assert np.isnan(shown.low[3:]).all()
    assert np.isnan(shown.high[3:]).all()
    ax = by_hand.plot("estimates")
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert len(lines) == 3, "headline, baseline and nested have intervals, the other two do not"
    plt.close("all")


def test_the_headline_interval_and_the_baseline_are_always_in_view(by_hand):
    shown = info(by_hand, "estimates")
    assert shown.limits[0] < 0.05
    assert shown.limits[1] > 0.6


def test_a_baseline_far_away_is_named_instead_of_flattening_the_rest(make_assessment, by_hand):
    import matplotlib.pyplot as plt

    a = make_assessment(by_hand.tables["repeated-kfold"], interval=(0.19, 0.21))
    shown = info(a, "estimates")
    assert shown.limits[1] < 0.3
    texts = [t.get_text() for t in a.plot("estimates").texts]
    assert "50.0% (40.0% to 60.0%)" in texts
    plt.close("all")


def test_a_loose_bound_does_not_flatten_the_rest(make_assessment, by_hand):
    losses = by_hand.tables["repeated-kfold"]
    bound = Estimate(
        value=0.3,
        std_error=None,
        interval=Interval(0.0, 50.0, 0.95),
        df=None,
        method="bound",
        target=Target.MODEL,
        loss="squared",
        n_units=100,
        n_fits=0,
    )
    shown = info(make_assessment(losses, [bound]), "estimates")
    assert 0.6 < shown.limits[1] < 1.2


def test_estimates_without_any_interval_are_drawn_as_points(make_assessment, by_hand):
    shown = info(make_assessment(by_hand.tables["repeated-kfold"], interval=None), "estimates")
    assert shown.span is None
    assert np.isnan(shown.low[0])


def test_many_estimates_make_a_taller_figure(make_assessment, by_hand):
    more = [
        Estimate(
            value=0.01 * k,
            std_error=None,
            interval=None,
            df=None,
            method=f"m{k}",
            target=Target.MODEL.at(9),
            loss="zero-one",
            n_units=9,
            n_fits=0,
        )
        for k in range(30)
    ]
    small, large = (
        info(by_hand, "estimates"),
        info(make_assessment(by_hand.tables["repeated-kfold"], more), "estimates"),
    )
    assert large.size[1] > small.size[1] + 5


def test_a_rule_that_chose_the_headline_method_adds_no_second_row(make_assessment, by_hand):
    from dataclasses import replace

    a = make_assessment(by_hand.tables["repeated-kfold"])
    twice = replace(a, estimates={**a.estimates, "rule": a.headline})
    assert info(twice, "estimates").labels.count("corrected-t") == 1


def test_confusion_counts_each_row_once_spread_over_its_predictions(by_hand):
    # row 0 a,a; row 1 a,b; row 2 b,b; rows 3 and 4 b,b; row 5 a,b
    counts, shares = confusion_counts(by_hand.tables["repeated-kfold"])
    np.testing.assert_allclose(counts, [[1.5, 1.5], [0.5, 2.5]])
    np.testing.assert_allclose(shares, [[1.5 / 3, 1.5 / 3], [0.5 / 3, 2.5 / 3]])
    assert info(by_hand, "confusion").counts.sum() == pytest.approx(6)


def test_weights_change_shares_and_not_counts(make_table):
    losses = make_table(["a", "a", "b"], [[0, 1, 2]], [["a", "b", "b"]], weights=[3.0, 1.0, 1.0])
    counts, shares = confusion_counts(losses)
    np.testing.assert_allclose(counts, [[1, 1], [0, 1]])
    np.testing.assert_allclose(shares, [[0.75, 0.25], [0, 1]])


def test_a_class_that_was_never_tested_has_no_shares(make_table):
    losses = make_table(["a", "a", "b"], [[0, 1]], [["a", "b"]])
    _, shares = confusion_counts(losses)
    assert shares[1].sum() == 0


def test_the_most_confused_of_many_classes_are_kept(make_table, make_assessment):
    labels = [f"c{k:02d}" for k in range(40)]
    said = list(labels)
    said[37], said[38] = "c38", "c37"
    shown = info(make_assessment(make_table(labels, [list(range(40))], [said])), "confusion")
    assert len(shown.classes) == 30
    assert {"c37", "c38"} <= set(shown.classes)
    assert shown.n_classes == 40


def test_hardest_units_come_first_with_truth_and_what_was_said(by_hand):
    shown = info(by_hand, "hardest")
    assert shown.name == ("3", "2", "6")
    assert shown.truth == ("a", "a", "b")
    assert shown.said == ("b", "b", "a")
    np.testing.assert_allclose(shown.loss, [1, 0.5, 0.5])
    assert shown.tested.tolist() == [2, 2, 2]
    assert (shown.never, shown.always, shown.n_tested) == (3, 1, 6)


def test_hardest_groups_are_named_by_their_group(make_table, make_assessment):
    losses = make_table(["a", "a", "b", "b"], [[0, 1, 2, 3]], [["b", "b", "b", "a"]], groups=["g2", "g2", "g1", "g1"])
    shown = info(make_assessment(losses), "hardest")
    assert shown.name == ("g2", "g1")
    np.testing.assert_allclose(shown.loss, [1, 0.5])
    assert shown.grouped
    assert "each group" in shown.caption
    assert "case" not in shown.caption


def test_a_split_tests_a_group_once_however_many_rows_it_has(make_table, make_assessment):
    groups = ["g2", "g2", "g2", "g1"]
    losses = make_table(["a", "a", "b", "b"], [[0, 1, 2], [0, 1, 2], [3]], [["b"] * 3, ["a"] * 3, ["a"]], groups=groups)
    shown = info(make_assessment(losses), "hardest")
    assert dict(zip(shown.name, shown.tested.tolist())) == {"g2": 2, "g1": 1}


def test_no_error_at_all_leaves_no_hardest_units(make_table, make_assessment):
    assert info(make_assessment(make_table(["a", "b"], [[0, 1]], [["a", "b"]])), "hardest") is None


def test_residuals_are_mean_predictions_of_models_that_had_not_seen_the_row(make_table, make_assessment):
    losses = make_table([1.0, 5.0], [[0, 1], [0]], [[2.0, 4.0], [4.0]], task="regression")
    shown = info(make_assessment(losses), "residuals")
    assert shown.observed.tolist() == [1, 5]
    assert shown.predicted.tolist() == [3, 4]
    assert shown.limits[0] < 1
    assert shown.limits[1] > 5
    assert "models that had not seen it (mean over repetitions)" in shown.caption


@pytest.mark.parametrize(
    ("design", "by"),
    [("time-ordered", "a model trained on earlier rows"), ("kfold", "a model that had not seen it")],
)
def test_the_caption_of_residuals_says_what_predicted_them(design, by, make_table, make_assessment):
    losses = make_table([1.0, 5.0, 3.0], [[1], [2]], [[2.0], [4.0]], task="regression", design=design)
    shown = info(make_assessment(losses), "residuals")
    assert shown.caption.startswith(f"Each point is a row, predicted by {by}. ")


def test_residual_points_are_thinned_and_keep_both_ends(make_table, make_assessment):
    y = np.arange(3000.0)[::-1].copy()
    shown = info(make_assessment(make_table(y, [np.arange(3000)], [y], task="regression")), "residuals")
    assert len(shown.observed) == 400
    assert (shown.observed[0], shown.observed[-1], shown.n_rows) == (0, 2999, 3000)


def test_distribution_has_one_bar_per_value_where_there_are_few():
    spread = ErrorDistribution(np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.4]), "zero-one")
    shown = distribution_info(spread)
    assert shown.count.tolist() == [1, 2, 3]
    np.testing.assert_allclose(shown.left + shown.width / 2, [0.1, 0.2, 0.4])
    np.testing.assert_allclose(shown.fractiles, [0.1, 0.2, 0.2, 0.4, 0.4])


def test_distribution_of_many_values_is_binned_without_losing_any():
    values = np.random.default_rng(0).normal(size=500)
    shown = distribution_info(ErrorDistribution(values, "squared"))
    assert shown.count.sum() == 500
    assert 8 <= len(shown.count) <= 30


def test_a_distribution_of_one_value_can_be_drawn():
    import matplotlib.pyplot as plt

    from unseen.assessment.figures.distribution import draw

    _, ax = plt.subplots()
    draw(distribution_info(ErrorDistribution(np.zeros(20), "zero-one")), ax)
    plt.close("all")


def test_optimism_is_test_minus_training_error(classified):
    shown = info(classified, "optimism")
    table = classified.tables[classified.headline_design]
    np.testing.assert_allclose(shown.optimism, table.split_means() - table.train_errors())
    assert shown.mean_optimism == pytest.approx(shown.mean_test - shown.mean_train)
    assert shown.split.tolist() == list(range(1, 21))


def test_learning_curve_averages_the_repetitions_of_a_size(classified):
    shown = info(classified, "learning-curve")
    table = classified.tables["learning-curve"]
    means, sizes = table.split_means(), np.array([len(s.train) for s in table.plan])
    for size, (mean, low, high) in zip(shown.sizes, shown.test):
        mine = means[sizes == size]
        assert (mean, low, high) == pytest.approx((mine.mean(), mine.min(), mine.max()))
    assert np.all(np.diff(shown.sizes) > 0)


def test_a_task_has_its_own_picture(classified, regressed):
    assert info(classified, "residuals") is None
    assert info(regressed, "confusion") is None
    with pytest.raises(InputError, match="nothing to draw"):
        classified.plot("residuals")


def test_unknown_figures_are_refused_by_name(classified):
    with pytest.raises(UnknownName, match="estimates"):
        classified.plot("estimats")


def test_a_single_estimate_shows_its_interval(by_hand):
    shown = info(by_hand.headline)
    assert (shown.value, shown.ends, shown.level) == (0.2, (0.1, 0.3), 0.95)
    assert info(by_hand.estimates["leave-out"]).ends is None


def test_quick_assessments_leave_out_what_was_not_run():
    from sklearn.naive_bayes import GaussianNB

    X, y = unseen.datasets.load("iris").xy
    a = unseen.assess(GaussianNB(), X, y, random_state=0, effort="quick")
    assert info(a, "distribution") is None
    assert info(a, "learning-curve") is None
    assert info(a, "estimates").labels[:2] == ("combined", "guessing")


def test_time_ordered_splits_are_shown_in_the_order_of_time():
    from sklearn.linear_model import Ridge

    X, y = unseen.datasets.load("diabetes").xy
    a = unseen.assess(Ridge(), X, y, random_state=0, time=np.arange(len(y)))
    shown = info(a, "optimism")
    assert shown.in_time
    assert shown.split.tolist() == sorted(shown.split.tolist())


def test_every_picture_can_be_told_in_words(by_hand, classified, regressed):
    from unseen.show import figures_for

    assert info(by_hand, "estimates").summary == (
        "corrected-t 20.0% (10.0% to 30.0%), guessing 50.0% (40.0% to 60.0%); 3 more estimates from 5.0% to 25.0%"
    )
    assert info(by_hand, "confusion").summary == "2 classes, 67% of the cases shown on the diagonal"
    assert info(by_hand, "hardest").summary == "of 6 units 3 have no error; the hardest is 3"
    for result in (classified, regressed, classified.headline):
        shown = [numbers for f in figures_for(result) if (numbers := f.info(result)) is not None]
        assert all(numbers.summary for numbers in shown)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["red", "green"], ["red", "green"]),
        (["a long label A", "a long label B"], ["…A", "…B"]),
        (["A of a long label", "B of a long label"], ["A of a lo…", "B of a lo…"]),
        (["class number 7 of many", "class number 11 of many"], ["…7…", "…11…"]),
        (["the longest name x", "the longest name yx"], ["……", "…y…"]),
    ],
)
def test_class_names_stay_apart_when_they_are_cut(names, shown):
    from unseen.show.style import short_names

    assert short_names(names, 10) == shown


def test_tables_of_a_run_can_be_drawn_too(classified):
    losses = classified.tables[classified.headline_design]
    for table in (losses, losses.source[0]):
        assert info(table).n_splits == len(losses.completed)
        np.testing.assert_allclose(info(table, "optimism").optimism, losses.optimism())
    assert info(losses, "distribution").mean == pytest.approx(losses.split_means().mean())


def test_rows_of_splits_without_an_area_are_counted_too():
    """AUC leaves out test parts of one class; the confusion matrix of the same predictions does not."""
    from sklearn.naive_bayes import GaussianNB

    data = unseen.datasets.load("breast-cancer").take(np.arange(24))
    table = unseen.run(GaussianNB(), data, design=unseen.designs.KFold(8, stratify=False), random_state=0, scores=True)
    areas, errors = table.losses("auc"), table.losses("zero-one")
    assert 0 < len(areas.undefined) < 8
    assert np.array_equal(areas.times_tested(), np.ones(24))
    assert np.array_equal(confusion_counts(areas)[0], confusion_counts(errors)[0])


def test_the_learning_curve_counts_what_was_trained_on_in_its_own_word():
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(20), 3)
    X = rng.standard_normal((60, 2))
    data = unseen.datasets.as_data(X, (X[:, 0] > 0).astype(int), groups=pd.Series(patient, name="patient_id"))
    a = unseen.assess("lda", data, random_state=0, effort="splits=5,curve=2", progress=False)
    shown = info(a, "learning-curve")
    assert shown.unit == "patient"
    assert shown.summary.endswith(f"on {shown.sizes[-1]:.0f} patients")
    assert "units" not in shown.summary
    ax = a.plot("learning-curve")
    assert ax.get_xlabel() == "patients trained on"


def test_training_sizes_have_a_heading_only_if_there_are_any(by_hand):
    from dataclasses import replace

    def words(a):
        return [text.get_text() for text in a.plot("estimates").texts]

    assert "trained on" in words(by_hand)

    def unsized(e):
        return replace(e, target=replace(e.target, n_train=None))

    bare = replace(
        by_hand,
        headline=unsized(by_hand.headline),
        baseline=unsized(by_hand.baseline),
        estimates={name: unsized(e) for name, e in by_hand.estimates.items()},
    )
    assert "trained on" not in words(bare)


def test_splits_of_a_score_are_named_by_the_score():
    X, y = unseen.datasets.load("breast-cancer").xy
    a = unseen.assess("lda", X, y, measure="auc", random_state=0, effort="repeats=1,leave_out=10")
    assert info(a, "distribution").caption.startswith("Values of AUC of models")
