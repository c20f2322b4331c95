"""Intervals of `range-t` hold the error of this very model as often as they say: the shipped table, and fresh samples."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

HEAVY = "squared error, t3 noise, n = 100"  # no interval holds there; U040 says so


@pytest.fixture(scope="module")
def study():
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    try:
        return importlib.import_module("studies.range_t")
    finally:
        sys.path.pop(0)


def by_situation(rows):
    named = {}
    for row in rows:
        named.setdefault(row["situation"], []).append(row)
    return named


def test_the_shipped_table_covers_as_it_should(study):
    """No coverage of `range-t` lies significantly below .93 (exact binomial test at 1%), heavy tails apart."""
    named = by_situation(study.stored_rows())
    assert list(named) == list(study.SITUATIONS)
    for name, rows in named.items():
        own = study.summary(rows)["range-t"]
        assert own["n"] >= 1000
        hits = round(own["covered"] * own["n"])
        if name != HEAVY:
            assert stats.binomtest(hits, own["n"], 0.93, alternative="less").pvalue >= 0.01, f"{name}: {own}"
    shown = study.page_tables(study.stored_rows(), [])
    page = study.PAGE.read_text()
    assert shown["range_t"] in page
    assert shown["range_t_sets"] in page


def test_the_shipped_samples_show_the_heavy_tails(study):
    """At most 5% of the samples with normal noise have the note, and at least 80% of those with t3 noise."""
    named = by_situation(study.stored_rows())
    flagged = {name: np.mean([int(row["U040"]) for row in rows]) for name, rows in named.items()}
    assert flagged[HEAVY] >= 0.8
    assert max(flagged["squared error, n = 60"], flagged["squared error, n = 200"]) <= 0.05
    assert flagged["absolute error, t3 noise, n = 100"] <= 0.1


def test_the_quick_learners_of_the_study_are_scikit_learns(study):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LinearRegression

    population = study.TwoNormals(n=80, distance=1.5, share=0.3)
    data = population.draw(np.random.default_rng(0))
    ours, theirs = (
        study.Discriminant().fit(data.X, data.y),
        LinearDiscriminantAnalysis(solver="lsqr").fit(data.X, data.y),
    )
    X = population.truth_points[0]
    # scikit-learn divides the covariance by n, not by n - 2
    assert np.allclose(ours.slope * 80 / 78, theirs.coef_[0])
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99
    numbers = study.LinearNumbers(n=50).draw(np.random.default_rng(0))
    line = LinearRegression().fit(numbers.X, numbers.y)
    assert np.allclose(study.LeastSquares().fit(numbers.X, numbers.y).weights, [line.intercept_, *line.coef_])


@pytest.mark.parametrize("loss", ["zero-one", "auc", "f1", "log-loss", "brier"])
def test_true_errors_of_the_study_are_those_of_fresh_cases(study, loss):
    from sklearn import metrics

    population = study.TwoNormals(n=200_000, distance=1.5, share=0.2, group_size=5, group_spread=0.5)
    small = study.TwoNormals(n=100, distance=1.5, share=0.2, group_size=5, group_spread=0.5)
    data = small.draw(np.random.default_rng(0))
    rule = study.Discriminant().fit(data.X, data.y)
    fresh = population.draw(np.random.default_rng(1))
    score, named = rule.predict_proba(fresh.X)[:, 1], rule.predict(fresh.X)
    found = {
        "zero-one": np.mean(named != fresh.y),
        "auc": 1 - metrics.roc_auc_score(fresh.y, score),
        "f1": 1 - metrics.f1_score(fresh.y, named),
        "log-loss": metrics.log_loss(fresh.y, score),
        "brier": metrics.brier_score_loss(fresh.y, score),
    }
    assert population.error(rule, loss) == pytest.approx(found[loss], rel=0.02)


def test_true_errors_of_numbers_are_those_of_fresh_cases(study):
    for df in (np.inf, 3.0):
        data = study.LinearNumbers(n=60, df=df).draw(np.random.default_rng(0))
        rule = study.LeastSquares().fit(data.X, data.y)
        population = study.LinearNumbers(n=400_000, df=df)
        fresh = population.draw(np.random.default_rng(1))
        gap = fresh.y - rule.predict(fresh.X)
        found = {"absolute": np.mean(np.abs(gap)), "squared": np.mean(gap**2), "r2": np.mean(gap**2) / fresh.y.var()}
        for loss, wanted in found.items():
            assert population.error(rule, loss) == pytest.approx(wanted, rel=0.02 if np.isinf(df) else 0.06)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("name", ["error 25%, n = 60, LDA", "squared error, n = 60"])
def test_fresh_samples_are_covered(study, name, monkeypatch):
    """Fresh seeds. Coverage and the ratio of error to standard error fail without n2/n1 and with 1/10 for 1/J."""
    monkeypatch.setattr(study, "RIVALS", {"range-t": study.RIVALS["range-t"]})
    n_sets = 300
    rows = [study.row_of(name, k, seed=31) for k in range(n_sets)]
    truth, value, low, high, se = (
        np.array([row[k] for row in rows])
        for k in ("truth", "range-t: value", "range-t: low", "range-t: high", "std_error")
    )
    assert np.sum((low <= truth) & (truth <= high)) >= stats.binom.ppf(0.001, n_sets, 0.93)
    ratio = np.sqrt(np.mean(se**2) / np.mean((value - truth) ** 2))
    assert 0.87 < ratio < 1.17
    right = 1 / 50 + 1 / 9
    for wrong in (1 / 50, 1 / 10 + 1 / 9, 1 / 50 + 9):  # without n2/n1, with the folds of one round for J, with n1/n2
        assert not 0.87 < ratio * np.sqrt(wrong / right) < 1.17


@pytest.mark.slow
def test_areas_and_f1_of_twenty_positives_reach_their_level(study, monkeypatch):
    monkeypatch.setattr(study, "RIVALS", {"range-t": study.RIVALS["range-t"]})
    for name in ("AUC, 20 positives of 200", "F1, 20 positives of 200", "F1 of a weak rule, 20 positives of 200"):
        own = study.summary([study.row_of(name, k, seed=32) for k in range(600)])["range-t"]
        assert stats.binomtest(round(600 * own["covered"]), 600, 0.93, alternative="less").pvalue >= 0.01, name


@pytest.mark.slow
@pytest.mark.sample
def test_the_quick_study_runs_by_its_command_and_has_the_form_of_the_page(study, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["range_t", "run", "--quick"])
    monkeypatch.setattr(study, "QUICK_SETS", 4)
    for name in ("write", "store_rows"):
        monkeypatch.setattr(study, name, lambda *_: pytest.fail("a quick study stores nothing"))
    study.main()
    out = capsys.readouterr().out
    made = [line.split(" | ") for line in out.splitlines() if line.startswith("| ")]
    page = study.PAGE.read_text().split("<!-- range_t: begin -->")[1]
    stored = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    assert [(line[0], len(line)) for line in made] == [(line[0], len(line)) for line in stored]
