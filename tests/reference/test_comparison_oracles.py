"""Intervals and tests against the numbers of other packages, stored by oracles_comparisons.py."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from unseen.core.data import Data
from unseen.core.losses import Predictions, PredictionTable
from unseen.core.plan import Plan, Split
from unseen.estimators.clopper_pearson import clopper_pearson_interval
from unseen.estimators.corrected_t import CorrectedT
from unseen.estimators.cv5x2 import Cv5x2T
from unseen.estimators.resampled_t import ResampledT
from unseen.estimators.wilson import wilson_interval
from unseen.significance.adjust import benjamini_hochberg, holm
from unseen.significance.bayesian_t import BayesianT
from unseen.significance.combined_f import CombinedF
from unseen.significance.delong import delong
from unseen.significance.friedman import Friedman
from unseen.significance.mcnemar import mcnemar_p
from unseen.significance.paired import from_estimate
from unseen.significance.permutation import sign_flip_p
from unseen.significance.wilcoxon import signed_rank

ORACLES = json.loads((Path(__file__).parent / "comparisons.json").read_text())
TIGHT = {"rel": 1e-10, "abs": 1e-10}


def test_versions_are_stored():
    assert {"mlxtend", "baycomp", "scipy", "statsmodels", "scikit-posthocs"} <= set(ORACLES["versions"])


@pytest.mark.parametrize("case", ORACLES["mcnemar"], ids=lambda c: f"{c['b']}-{c['c']}")
def test_mcnemar(case):
    exact = mcnemar_p(case["b"], case["c"])
    assert exact == pytest.approx(case["statsmodels"], **TIGHT)
    assert exact == pytest.approx(case["mlxtend"], **TIGHT)
    assert mcnemar_p(case["b"], case["c"], "mid-p") == pytest.approx(case["mid_p"], **TIGHT)


def pair_of_tables(case, design):
    y = np.array(case["y"])
    data = Data(None, y, "classification", np.array([0, 1]))
    splits = tuple(
        Split(np.array(a), np.array(b), repeat=j // 2, fold=j % 2) for j, (a, b) in enumerate(case["splits"])
    )
    plan = Plan(design, splits, data.units)
    number = np.repeat(np.arange(len(splits)), [len(s.test) for s in splits])
    rows = np.concatenate([s.test for s in splits])
    return [
        PredictionTable(
            plan=plan, data=data, test=Predictions(split=number, row=rows, value=np.concatenate(values))
        ).losses()
        for values in case["predictions"]
    ]


def test_five_by_two_t_and_f_equal_mlxtend():
    case = ORACLES["five_by_two"]
    a, b = pair_of_tables(case, "5x2cv")
    t = from_estimate(Cv5x2T(), a.minus(b), 0.95)
    # mlxtend subtracts accuracies and takes the half trained first as the first difference
    assert t.statistic == pytest.approx(-case["t"], **TIGHT)
    assert t.p == pytest.approx(case["t_p"], **TIGHT)
    f = CombinedF()(a, b)
    assert f.statistic == pytest.approx(case["f"], **TIGHT)
    assert f.p == pytest.approx(case["f_p"], **TIGHT)


def splits_with_means(loss_table, case, design="monte-carlo"):
    """Return a pair of tables whose split means differ by the stored differences."""
    n_test, n_train = case["n_test"], case["n_train"]
    pairs = [(np.arange(n_test, n_test + n_train), np.arange(n_test)) for _ in case["differences"]]
    a = loss_table(pairs, [np.full(n_test, 2.0 + d) for d in case["differences"]], design)
    return a, loss_table(pairs, [np.full(n_test, 2.0) for _ in case["differences"]], design)


def test_resampled_t_equals_mlxtend_and_the_corrected_one_does_not(loss_table):
    case = ORACLES["resampled_t"]
    a, b = splits_with_means(loss_table, case)
    naive = from_estimate(ResampledT(), a.minus(b), 0.95)
    assert abs(naive.statistic) == pytest.approx(abs(case["t"]), rel=1e-9)
    assert naive.p == pytest.approx(case["p"], rel=1e-9)
    corrected = from_estimate(CorrectedT(), a.minus(b), 0.95)
    # mlxtend leaves out the overlap of training sets: its variance is too small by 1 + J n2/n1
    assert naive.statistic / corrected.statistic == pytest.approx(np.sqrt(1 + 12 * 45 / 105), rel=1e-9)


@pytest.mark.parametrize("case", ORACLES["correlated_t"], ids=lambda c: f"{c['runs']}x{c['folds']}")
def test_bayesian_t_equals_baycomp_for_folds(loss_table, case):
    folds = case["folds"]
    sizes = {"n_test": 6, "n_train": 6 * (folds - 1), "differences": case["differences"]}
    a, b = splits_with_means(loss_table, sizes, "repeated-kfold")
    ours = BayesianT(rope=case["rope"])(a, b).rope.posterior
    # baycomp compares scores: its "left" says that the first has the larger numbers, here the larger errors
    assert ours == pytest.approx(case["posterior"][::-1], abs=1e-10)


def test_baycomp_is_too_narrow_on_random_splits(loss_table):
    """It knows folds only: 30 random 70/30 splits are given the correlation of 30 folds."""
    case = ORACLES["correlated_t"][-1]
    assert (case["runs"], case["folds"]) == (1, 30)
    sizes = {"n_test": 30, "n_train": 70, "differences": case["differences"]}
    a, b = splits_with_means(loss_table, sizes)
    ours = BayesianT(rope=case["rope"])(a, b)
    theirs = BayesianT(rope=case["rope"], test_fraction=1 / 30)(a, b)
    assert theirs.rope.posterior == pytest.approx(case["posterior"][::-1], abs=1e-10)
    factor = np.sqrt((1 / 30 + 30 / 70) / (1 / 30 + 1 / 29))
    assert ours.std_error / theirs.std_error == pytest.approx(factor, rel=1e-9)
    assert factor == pytest.approx(2.6, abs=0.05)


@pytest.mark.parametrize("case", ORACLES["wilcoxon"], ids=lambda c: f"n={len(c['differences'])}")
def test_wilcoxon_equals_scipy(case):
    statistic, p, _ = signed_rank(np.array(case["differences"]), case.get("zeros", "drop"))
    if case.get("random"):
        # scipy draws 200,000 sign patterns here; ours lists them all
        assert abs(p - case["p"]) < 4 * np.sqrt(p / 200_000)
    else:
        assert statistic == pytest.approx(case["statistic"], **TIGHT)
        assert p == pytest.approx(case["p"], **TIGHT)


@pytest.mark.parametrize("case", ORACLES["permutation"], ids=lambda c: f"n={len(c['differences'])}")
def test_permutation_equals_scipy(case):
    p, reference = sign_flip_p(np.array(case["differences"]), 999, np.random.default_rng(0))
    assert p == pytest.approx(case["p"], **TIGHT)
    assert "random" not in reference


def test_friedman_equals_scipy_and_nemenyi_scikit_posthocs():
    case = ORACLES["many_sets"]
    result = Friedman()(np.array(case["errors"]), list("abcd"))
    assert result.statistic == pytest.approx(case["chi2"], **TIGHT)
    assert result.p == pytest.approx(case["p"], **TIGHT)
    assert result.pairwise == pytest.approx(np.array(case["nemenyi"]), abs=1e-8)  # its quadrature, not ours, is coarser


def test_adjustments_equal_statsmodels():
    case = ORACLES["many_sets"]
    assert holm(case["raw"]) == pytest.approx(case["holm"], **TIGHT)
    assert benjamini_hochberg(case["raw"]) == pytest.approx(case["benjamini_hochberg"], **TIGHT)


@pytest.mark.parametrize("case", ORACLES["rates"], ids=lambda c: f"{c['count']}-of-{c['size']}")
def test_rate_intervals_equal_statsmodels(case):
    count, size, level = case["count"], case["size"], case["level"]
    assert wilson_interval(count / size, size, level) == pytest.approx(case["wilson"], abs=1e-10)
    assert clopper_pearson_interval(count, size, level) == pytest.approx(case["clopper_pearson"], abs=1e-10)


def test_delong_equals_peers():
    case = ORACLES["delong"]
    areas, covariance = delong(np.array(case["y"]) == 1, *(np.array(s) for s in case["scores"]))
    assert areas == pytest.approx(case["areas"], **TIGHT)
    # confidenceinterval keeps mid-ranks in single precision; the unit tests compare with the definition to 1e-12
    assert np.sqrt(np.diag(covariance)) == pytest.approx(case["std_errors"], rel=1e-7)
