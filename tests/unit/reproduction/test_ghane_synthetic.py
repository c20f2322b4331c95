from __future__ import annotations

import math

import numpy as np
import pytest

from unseen.core.errors import InputError, UnknownName
from unseen.datasets.populations import GaussianBlocks
from unseen.designs.bootstrap import Bootstrap
from unseen.designs.kfold import KFold
from unseen.engine.run import execute
from unseen.models.sklearn import as_model
from unseen.reproduction import Cell, reproduce
from unseen.reproduction.ghane_synthetic.checks import (
    ESTIMATORS,
    checks_of_cells,
    checks_of_estimates,
    error_of_difference,
    errors_of_test_sets,
    remark_on_test_set,
)
from unseen.reproduction.ghane_synthetic.trial import Rule, replications, rule_of


@pytest.fixture(scope="module")
def small():
    return reproduce(
        "ghane-synthetic", replications=12, sizes=(20,), rules=("linear-svm", "3nn"), bootstrap=10, n_jobs=1
    )


def test_every_published_number_of_the_size_has_its_cell(small):
    # two rules: 1 true error, 7 columns in 3 tables and the times, and the shuffled column beside each cv10
    assert len(small.cells) == 2 * (1 + 4 * 7 + 4)
    by_name = {(c.table, c.cell): c for c in small.cells}
    assert by_name["2.1 true error", "3nn n=20"].published == 0.329
    assert by_name["2.2 bias", "linear-svm n=20 resub"].published == -0.292
    shuffled = by_name["2.2 bias", "3nn n=20 cv10-shuffled"]
    assert shuffled.verdict == "not judged"
    assert shuffled.published == by_name["2.2 bias", "3nn n=20 cv10"].published


def test_a_dozen_replications_agree_with_the_publication(small):
    bias = [c.z for c in small.cells if c.table == "2.2 bias" and not c.remark]
    assert np.sqrt(np.mean(np.square(bias))) < 2.5
    assert [c.name.split(",")[0] for c in small.checks][:2] == ["mean true errors", "mean true errors"]


def test_the_same_seed_gives_the_same_numbers_whatever_the_workers():
    one = replications("cart", 20, range(3), 5, 5)
    other = [*replications("cart", 20, range(1), 5, 5), *replications("cart", 20, range(1, 3), 5, 5)]
    for a, b in zip(one, other):
        assert {k: v for k, v in a.items() if not k.startswith("ms")} == {
            k: v for k, v in b.items() if not k.startswith("ms")
        }
    assert set(ESTIMATORS) < set(one[0])


@pytest.mark.slow
@pytest.mark.sample
def test_sorted_folds_are_worse_than_shuffled_ones_in_bias():
    rows = replications("rbf-svm", 20, range(40), 1, 2)
    gap = np.array([row["cv10"] - row["cv10-shuffled"] for row in rows])
    assert gap.mean() > 3 * gap.std(ddof=1) / np.sqrt(len(gap))


@pytest.mark.parametrize("name", ["3nn", "7nn"])
def test_neighbours_from_one_table_of_distances_equal_refitting(name):
    data = GaussianBlocks().draw(30, np.random.default_rng(3))
    for design in (Bootstrap(15), KFold(10)):
        plan = design.plan(data, np.random.default_rng(4))
        ours = execute(Rule(name), data, plan, seed=0, full=True)
        theirs = execute(as_model(rule_of(name)), data, plan, seed=0, full=True)
        assert np.array_equal(ours.test.value, theirs.test.value)
        assert np.array_equal(ours.train.value, theirs.train.value)


def test_errors_of_both_runs_and_of_rounding_count():
    assert error_of_difference(0.003, 200, "2.2 bias") == pytest.approx(math.sqrt(2 * 0.003**2 + 1e-6 / 12))
    assert error_of_difference(0.003, 100, "2.3 variance") == pytest.approx(math.sqrt(1.5 * 0.003**2 + 1e-8 / 12))


def test_the_error_of_a_test_set_is_below_that_of_independent_points():
    """Were every classifier of a rule the same, the variance would be e (1 - e)/5000; it is less, the more they differ."""
    published = {"linear-svm": 0.224, "rbf-svm": 0.225, "cart": 0.33, "3nn": 0.277, "5nn": 0.261, "7nn": 0.249}
    for (rule, n), spread in errors_of_test_sets().items():
        assert 0.2 < spread / math.sqrt(published[rule] * (1 - published[rule]) / 5000) < 0.8, (rule, n)
    assert len(errors_of_test_sets()) == 30
    assert (
        errors_of_test_sets()["cart", 100]
        < errors_of_test_sets()["3nn", 100]
        < errors_of_test_sets()["linear-svm", 100]
    )


def test_the_published_estimates_are_compared_without_any_test_set():
    rows = [
        {"table": "2.1", "rule": "3nn", "n": 20, "estimator": "true-error", "value": 0.3, "note": ""},
        {"table": "2.2 bias", "rule": "3nn", "n": 20, "estimator": "resub", "value": -0.1, "note": ""},
        {"table": "2.2 bias", "rule": "3nn", "n": 20, "estimator": "bolster", "value": 9.0, "note": "misprint"},
    ]
    ours = np.array([0.21, 0.23, 0.22, 0.26])  # mean .23, where .3 - .1 was published
    error = math.sqrt(ours.var(ddof=1) * (1 / 4 + 1 / 200) + 2e-6 / 12)
    (check,) = checks_of_estimates(rows, {("3nn", 20): {"resub": ours, "true-error": ours, "bolster": ours}})
    assert check.value == pytest.approx(0.03 / error)
    assert (check.name, check.high) == ("mean of resub itself, rms z", 1.5)


def test_checks_leave_out_what_the_criteria_leave_out():
    cells = [
        Cell("2.1 true error", "7nn n=80", published=0.2, ours=0.9, mc_error=0.001),
        Cell("2.1 true error", "7nn n=20", published=0.2, ours=0.201, mc_error=0.001),
        Cell("2.2 bias", "7nn n=20 bolster", published=0.1, ours=0.1018, mc_error=0.001),
        Cell("2.3 variance", "7nn n=20 bolster", published=0.02, ours=0.02, mc_error=0.001),
        Cell("2.3 variance", "7nn n=80 bolster", published=0.002, ours=0.02, mc_error=0.001, remark="misprint"),
    ]
    checks = {c.name: c for c in checks_of_cells(cells)}
    assert checks["mean true errors, largest |z|"].value == pytest.approx(1.0)
    wider = 0.001 / math.hypot(0.001, errors_of_test_sets()["7nn", 20])
    assert f"rms z {wider:.2f}, largest |z| {wider:.1f}; not judged." in remark_on_test_set(cells)
    assert checks["bias of bolster, rms z"].value == pytest.approx(1.8)
    assert checks["bias of bolster, rms z"].high == 1.8
    assert checks["variance of bolster, geometric mean of ours / published"].value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "kind"),
    [({"sizes": (30,)}, InputError), ({"sizes": ()}, InputError), ({"rules": ("9nn",)}, UnknownName)],
)
def test_sizes_and_rules_that_were_not_published_are_refused(options, kind):
    with pytest.raises(kind):
        reproduce("ghane-synthetic", replications=2, **options)


@pytest.mark.slow
def test_tables_2_1_to_2_4_are_reproduced_but_for_one_cell():
    result = reproduce("ghane-synthetic", replications=200, random_state=0)
    # the published true error of the linear SVM at n = 80 (.233) is far above ours; see docs/reproductions.md
    rest = [c for c in result.cells if not c.cell.startswith("linear-svm n=80")]
    assert [str(c) for c in checks_of_cells(rest) if not c.passed] == []
    assert [str(c) for c in result.checks if c.name.startswith("mean of") and not c.passed] == []
    assert result.seconds < 15 * 60


@pytest.mark.slow
def test_another_population_would_be_noticed(monkeypatch):
    """With class means at .43 instead of .39 the checks of true errors and of the estimates fail."""
    import unseen.reproduction.ghane_synthetic.trial as trial

    monkeypatch.setattr(trial, "GaussianBlocks", lambda: GaussianBlocks(delta=0.43))
    result = reproduce("ghane-synthetic", replications=100, random_state=0, bootstrap=2, n_jobs=1)
    failed = {c.name for c in result.checks if not c.passed}
    assert {"mean true errors, rms z", "mean of 3nnpp itself, rms z", "mean of bolster itself, rms z"} <= failed
