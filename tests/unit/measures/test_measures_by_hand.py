"""Measures at their edges, by hand: classes that are missing, either class as the positive one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unseen.measures.agreement import F1, BalancedAccuracy, DPrime
from unseen.measures.area_variance import delong
from unseen.measures.areas import sweep
from unseen.measures.costs import best_threshold
from unseen.measures.outliers import outlying


def test_d_prime_is_the_same_distance_whichever_class_is_positive():
    y = np.repeat([0, 1], 10)
    value = np.r_[np.repeat([1, 0], [4, 6]), np.repeat([1, 0], [8, 2])]
    wanted = stats.norm.ppf(0.8) - stats.norm.ppf(0.4)
    assert DPrime().of_set(y, value, positive=1) == pytest.approx(wanted)
    assert DPrime().of_set(y, value, positive=0) == pytest.approx(wanted)


def test_balanced_accuracy_leaves_out_a_class_without_a_case():
    """Shares found: 1/2 of class 0 and all of class 1; class 2 was called once and is not there."""
    assert BalancedAccuracy().of_set(np.array([0, 0, 1]), np.array([0, 2, 1])) == pytest.approx(0.75)


@pytest.mark.parametrize(("average", "wanted"), [("macro", (2 / 3 + 4 / 5) / 2), ("weighted", (2 / 3 + 4 / 5) / 2)])
def test_a_class_neither_there_nor_called_does_not_pull_a_mean_down(average, wanted):
    """Class 0: TP 1, FN 1, F1 2/3; class 1: TP 2, FP 1, F1 4/5; the model knows a third class that nobody saw."""
    y, value = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    assert F1(average=average).of_set(y, value, np.zeros((4, 3))) == pytest.approx(wanted)


def test_clustered_area_variance_by_hand():
    """Two positives at 3 and 1, two negatives at 2 and 0, each case twice in its unit: area 3/4.

    Each unit pulls the area by 1/8 up or down, so the variance is 4 units * (1/8)^2 * 4/3.
    """
    positive = np.repeat([True, True, False, False], 2)
    areas, covariance = delong(positive, np.repeat([3.0, 1.0, 2.0, 0.0], 2), units=np.repeat(np.arange(4), 2))
    assert areas[0] == pytest.approx(0.75)
    assert covariance[0, 0] == pytest.approx(4 / 64 * 4 / 3)


def test_precision_is_one_where_nothing_is_called():
    curve = sweep(np.array([True, False, True]), np.array([0.9, 0.5, 0.1]))
    assert curve.precision[0].tolist() == pytest.approx([1.0, 1.0, 1 / 2, 2 / 3])


def test_costs_are_means_whatever_the_unit_of_the_weights():
    positive, score = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.4, 0.1])
    plain, double = (best_threshold(positive, score, [[0, 1], [3, 0]], np.full(4, w)) for w in (1.0, 2.0))
    assert double == plain
    # at one half a false alarm (cost 1) and a miss (cost 3) in four cases
    assert plain.cost_at_half == pytest.approx(1.0)


def test_errors_mostly_nought_are_judged_by_their_mean_deviation():
    """The median deviation is 0, so the scale is 1.2533 |e| / n: one error in n stands out where n > 3.5 * 1.2533 = 4.39."""
    assert outlying(np.array([0.0, 0, 0, 1])).rows.tolist() == []
    assert outlying(np.array([0.0, 0, 0, 0, 1])).rows.tolist() == [4]
