"""Intervals cover as often as they say, on a population whose expected risk is known by simulation."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import unseen
from unseen.assessment.listing import method_rows
from unseen.core.registry import classes_in
from unseen.estimators.bootstrap_intervals import Bca
from unseen.estimators.clopper_pearson import clopper_pearson_interval
from unseen.estimators.nested_cv import NestedCv
from unseen.estimators.wilson import wilson_interval

BOUNDS = {"corrected-t": (0.92, 0.98), "conservative-z": (0.93, 1.0), "nested-cv, 10 x 5": (0.93, 0.99)}
# one rule for every interval: at .95 no learner is covered less often than this
LEAST, DECIDES = 0.92, 3000  # so many data sets decide; fewer only if they lie outside the chance of the limit
DEFAULTS = {"nested-cv, 10 x 5": "nested-cv"}  # the other name in the table is that method with other repetitions


@pytest.fixture(scope="module")
def study():
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    try:
        return importlib.import_module("studies.study_intervals")
    finally:
        sys.path.pop(0)


def assert_within_bounds(found, learner):
    """Fail where a coverage lies outside its bounds by more than chance: an exact one-sided binomial test at 1%."""
    for name, (low, high) in BOUNDS.items():
        n, share = found[name]["n"], found[name]["expected"]
        hits = round(n * share)
        below = stats.binomtest(hits, n, low, alternative="less").pvalue
        above = stats.binomtest(hits, n, high, alternative="greater").pvalue if high < 1 else 1.0
        assert min(below, above) >= 0.01, f"{name}, {learner}: {share:.3f} of {n}"


@pytest.mark.parametrize("learner", ["tree", "logistic", "kNN", "ridge"])
def test_the_shipped_table_covers_as_it_should(study, learner):
    """The table of the documentation: at least 1,000 data sets a learner, no coverage significantly out of bounds."""
    found = json.loads(study.RESULTS.read_text())["coverage"][learner]["methods"]
    assert min(found[name]["n"] for name in [*BOUNDS, "nested-cv, 3 x 5"]) >= 1000
    assert_within_bounds(found, learner)
    page = (Path(study.__file__).parents[1] / "docs" / "validation" / "intervals.md").read_text()
    for name, cell in found.items():
        assert f"| {learner} | {name} | {cell['expected']:.3f} | {cell['risk']:.3f} | {cell['width']:.3f} |" in page


def covers(cell):
    """Say whether a cell keeps the rule; None if its data sets are too few to tell."""
    hits = round(cell["n"] * cell["expected"])
    sides = {"less": False, "greater": True}
    told = [keeps for side, keeps in sides.items() if stats.binomtest(hits, cell["n"], LEAST, side).pvalue < 0.01]
    if told:
        return told[0]
    return cell["expected"] >= LEAST if cell["n"] >= DECIDES or cell["expected"] >= LEAST else None


def test_intervals_that_cover_too_little_are_not_recommended(study):
    """Every interval of the table by one rule: those that fail it say so in `unseen methods`, and no other of the table does."""
    table = json.loads(study.RESULTS.read_text())["coverage"]
    found = {name: [covers(table[learner]["methods"][name]) for learner in table] for name in table["kNN"]["methods"]}
    failing = {name for name, cells in found.items() if False in cells}
    assert failing == {"cv-wald", "nested-cv, 3 x 5", "5x2cv", "wald", "unit-bootstrap"}
    assert not [name for name, cells in found.items() if None in cells and name not in failing]  # all are decided
    rows = {row["id"]: row for row in method_rows()}
    for name in found:
        method = DEFAULTS.get(name, name)
        if method in rows:
            assert rows[method]["recommended"] == (name not in failing), name
            assert ("Not recommended" in rows[method]["description"]) == (name in failing)
    assert "Fewer than ten repetitions are not recommended" in NestedCv.__doc__
    # what is known to be too narrow is never listed as if it were not
    assert all(cls.not_recommended for cls in classes_in("estimators").values() if cls.liberal)


# intervals that are judged elsewhere: on dependent series; by the method it hands over to
ELSEWHERE = {"time-ordered": "tests/unit/estimators/test_time_ordered_error.py", "auto": "every method of this table"}


def test_no_method_offers_an_interval_that_was_not_tried(study):
    """Whatever gives an interval from a table stands in the study, or says that it is not recommended."""
    tried = {name.split(",")[0] for name in study.METHODS}
    data = unseen.datasets.populations.SparseLogistic().draw(40, np.random.default_rng(0))
    offered = set()
    for name, cls in classes_in("estimators").items():
        if cls.kind != "table" or name in ELSEWHERE:
            continue
        full = {"full": "full" in cls.needs, "train": "train" in cls.needs}
        table = unseen.run(study.Ridge(), data, design=cls().default_design(data), random_state=0, **full)
        if unseen.estimate(table, method=name).interval is not None:
            offered.add(name)
            assert name in tried or cls.not_recommended, name
    assert offered >= tried


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["tree", "logistic", "kNN", "ridge"])
def test_coverage_of_the_expected_risk(study, learner):
    """Fresh data sets, fewer than the table's, by the same criterion."""
    assert_within_bounds(study.coverage(learner, 300, seed=11, methods=BOUNDS)["methods"], learner)


@pytest.mark.slow
def test_corrected_t_coverage_of_the_hardest_learner_without_allowance(study):
    """The cell nearest to the bound (.928 of the table's 3,000 sets), with 3,000 fresh ones."""
    result = study.coverage("kNN", 3000, seed=31, methods=["corrected-t"])
    assert 0.92 <= result["methods"]["corrected-t"]["expected"] <= 0.98


@pytest.mark.slow
@pytest.mark.sample
def test_coverage_on_a_small_sample(study):
    result = study.coverage("ridge", 150, seed=12, methods=BOUNDS)
    for name in BOUNDS:
        covered = result["methods"][name]["expected"]
        assert covered > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 150), f"{name}: {covered}"


def test_the_quick_learners_of_the_study_are_scikit_learns(study):
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier

    data = unseen.datasets.populations.SparseLogistic().draw(100, np.random.default_rng(0))
    fresh = np.random.default_rng(1).standard_normal((3000, 10))
    pairs = [
        (study.Logistic(), LogisticRegression(tol=1e-10)),
        (study.Ridge(), RidgeClassifier()),
        (study.Neighbours(), KNeighborsClassifier(5)),
    ]
    for ours, theirs in pairs:
        assert np.array_equal(ours.fit(data.X, data.y).predict(fresh), theirs.fit(data.X, data.y).predict(fresh))


def test_exact_coverage_of_rate_intervals():
    """Summed over all counts: Clopper-Pearson never below its level, Wilson's mean over rates within a point of it."""
    for n in (20, 60):
        rates = np.linspace(0.02, 0.98, 97)
        chance = stats.binom.pmf(np.arange(n + 1)[:, None], n, rates)
        for interval, least, mean in ((clopper_pearson_interval, 0.95, None), (wilson_interval, 0.8, 0.95)):
            ends = np.array([interval(k if mean is None else k / n, n, 0.95) for k in range(n + 1)])
            inside = (ends[:, :1] <= rates) & (rates <= ends[:, 1:])
            covered = (chance * inside).sum(axis=0)
            assert covered.min() >= least - 1e-12
            if mean is not None:
                assert covered.mean() == pytest.approx(mean, abs=0.01)


@pytest.mark.slow
@pytest.mark.sample
def test_out_of_bag_standard_error_is_the_spread_over_data_sets(study):
    """With 200 bootstrap samples and their noise taken off; without that it would be too large by half."""
    values, errors = [], []
    for k in range(120):
        data = unseen.datasets.populations.SparseLogistic().draw(60, np.random.default_rng([31, k]))
        table = unseen.run(study.Neighbours(), data, design=unseen.designs.Bootstrap(200), random_state=k)
        e = unseen.estimate(table, method="out-of-bag")
        values.append(e.value)
        errors.append(e.std_error)
    ratio = np.sqrt(np.mean(np.square(errors))) / np.std(values, ddof=1)
    assert 0.85 < ratio < 1.25


@pytest.mark.slow
def test_bca_covers_an_area_with_a_closed_form(loss_table):
    """Equal-variance normal scores one apart: the area is Phi(1/sqrt 2)."""
    from unseen.core.data import Data
    from unseen.core.losses import Predictions, PredictionTable
    from unseen.core.plan import Plan, Split

    truth = stats.norm.cdf(1 / np.sqrt(2))
    hits, repeats = 0, 600
    y = np.repeat([0, 1], 60)
    data = Data(None, np.concatenate([y, [0, 1]]), "classification", np.array([0, 1]))
    plan = Plan("holdout", (Split(np.array([120, 121]), np.arange(120)),), data.units)
    for k in range(repeats):
        score = np.random.default_rng(k).normal(y, 1.0)[:, None]
        part = Predictions(
            split=np.zeros(120, np.int64), row=np.arange(120), value=(score[:, 0] > 0.5).astype(np.int64), score=score
        )
        table = PredictionTable(plan=plan, data=data, test=part, score_kind="decision", seed=k).losses()
        hits += truth in Bca(measure="auc", n_bootstrap=1000)(table).interval
    assert hits / repeats == pytest.approx(0.95, abs=3.5 * np.sqrt(0.95 * 0.05 / repeats))
