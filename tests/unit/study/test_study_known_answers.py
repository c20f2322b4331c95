"""Studies whose answer is known: closed forms, exact tests, and the laws of variance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unseen.study.spec import StudySpec
from unseen.study.summary import TaskCounts, summarize_columns
from unseen.study.task import run_group


def study(**content):
    """Run a study in this process and sum it up."""
    spec = StudySpec.of({"name": "s", "seed": 11, **content})
    cells, rows = spec.cells(), list(spec.tasks())
    results = run_group(spec.to_dict(), cells, rows)
    assert not [r.reason for r in results if r.reason]
    order = sorted(range(len(rows)), key=lambda k: (rows[k].cell, rows[k].replication))
    names = ("estimate", "truth", "lower", "upper", "spread", "p_value", "seconds")
    columns = {
        name: np.array([np.nan if (v := getattr(results[k], name)) is None else v for k in order]) for name in names
    }
    columns |= {name: np.array([getattr(rows[k], name) for k in order]) for name in ("cell", "replication")}
    extras = [(rows[k].cell, rows[k].replication, results[k].extra) for k in order if results[k].extra]
    return summarize_columns("s", spec.to_dict(), cells, columns, extras, TaskCounts(len(rows), len(rows), 0))


P, SIGMA2 = 4, 2.0
LINEAR = {"id": "ar-linear", "options": {"n_inputs": P, "noise_variance": SIGMA2}}


def expected_risk(n):
    """Return the mean squared error of least squares without an intercept on Gaussian inputs."""
    return SIGMA2 * (1 + P / (n - P - 1))


@pytest.fixture(scope="module")
def least_squares():
    return study(
        replications=300,
        sizes=[20],
        populations=[LINEAR],
        models=["ols:fit_intercept=False"],
        methods=["resub", "loo", {"id": "kfold", "design": "kfold", "design_options": {"n_folds": 5}}, "fpe"],
    )


def within(measured, value, errors=4.0):
    assert measured.error > 0
    return abs(measured.value - value) < errors * measured.error


@pytest.mark.slow
@pytest.mark.sample
def test_the_mean_true_error_is_the_closed_form(least_squares):
    truth = least_squares["loo"].truth
    assert within(truth, expected_risk(20))
    assert truth.error < 0.02 * truth.value


def test_cross_validation_is_unbiased_for_its_own_training_size(least_squares):
    """The expected estimate is the risk at n1 in closed form: 19 rows for leave-one-out, 16 for five folds."""
    for method, n1 in (("loo", 19), ("kfold", 16)):
        one = least_squares[method]
        assert one.target == f"the algorithm trained on {n1} units"
        estimate = one.deviation.bias + one.truth.value
        error = np.sqrt(one.total.value / one.deviation.n)
        assert abs(estimate - expected_risk(n1)) < 4 * error
        assert within(one.target_bias, 0.0)


def test_resubstitution_has_the_bias_of_the_closed_form(least_squares):
    """The mean training error of least squares is sigma^2 (1 - p/n)."""
    one = least_squares["resub"]
    wanted = SIGMA2 * (1 - P / 20) - expected_risk(20)
    assert abs(one.deviation.bias - wanted) < 4 * one.deviation.bias_error
    assert abs(one.deviation.bias) > 4 * one.deviation.bias_error


def test_rms_is_bias_and_variance_together(least_squares):
    for one in least_squares.cells:
        d = one.deviation
        assert d.rms**2 == pytest.approx(d.bias**2 + d.variance * (d.n - 1) / d.n)


@pytest.fixture(scope="module")
def held_out():
    return study(
        replications=300,
        sizes=[45],
        n_test=4000,
        populations=["gaussian-blocks"],
        models=["naive-bayes"],
        methods=["holdout", "clopper-pearson"],
    )


@pytest.mark.slow
@pytest.mark.sample
def test_a_held_out_sample_is_unbiased_for_its_model(held_out):
    one = held_out["holdout"]
    assert within(one.target_bias, 0.0)
    assert one.target == "this model trained on 30 units"


@pytest.mark.slow
@pytest.mark.sample
def test_exact_intervals_cover_at_least_as_often_as_they_say(held_out):
    coverage = held_out["clopper-pearson"].coverage
    assert coverage.value > 0.95 - 3 * coverage.error
    assert coverage.value > 0.93
    assert 0.3 < held_out["clopper-pearson"].width.value < 0.6


@pytest.mark.slow
@pytest.mark.sample
def test_the_variance_of_an_estimate_is_internal_and_sampling_variance():
    """Equation 1.5: more integration points lower the internal variance and leave that of the sample."""
    s = study(
        replications=150,
        sizes=[20],
        n_test=200,
        internal=3,
        populations=["gaussian-blocks"],
        models=["lda"],
        methods=[
            {"id": "bolster", "options": {"n_mc": 2, "exact": False, "sampler": "plain"}, "name": "rough"},
            {"id": "bolster", "options": {"n_mc": 32, "exact": False, "sampler": "plain"}, "name": "fine"},
        ],
    )
    rough, fine = s["rough"], s["fine"]
    assert rough.internal.value / fine.internal.value == pytest.approx(16, rel=0.35)
    sampling = [one.total.value - one.internal.value for one in (rough, fine)]
    error = np.hypot(rough.total.error, fine.total.error)
    assert abs(sampling[0] - sampling[1]) < 4 * error


def exact_power(first, second, n):
    """Return the chance that the exact test rejects at 5%, units being wrong for one model alone with these chances."""
    total = 0.0
    for discordant in range(n + 1):
        outcomes = np.arange(discordant + 1)
        rejects = [stats.binomtest(int(k), discordant, 0.5).pvalue < 0.05 if discordant else False for k in outcomes]
        chance = stats.binom.pmf(outcomes, discordant, first / (first + second)) @ np.array(rejects, dtype=float)
        total += stats.binom.pmf(discordant, n, first + second) * chance
    return total


@pytest.mark.slow
@pytest.mark.sample
def test_size_and_power_of_an_exact_test():
    """Two ways of guessing err half the time each, by construction; a guess and a rule do not: both rates are known."""
    guesses = [{"model": "dummy", "parameters": {"strategy": s}, "name": s} for s in ("uniform", "stratified")]
    pairs = [
        {"model_a": "uniform", "model_b": "stratified", "test": "mcnemar", "equal": True},
        {"model_a": "naive-bayes", "model_b": "uniform", "test": "mcnemar"},
    ]
    s = study(
        seed=20,
        replications=300,
        sizes=[60],
        n_test=500,
        populations=["gaussian-blocks"],
        models=[*guesses, "naive-bayes"],
        comparisons=pairs,
    )
    same, different = s["uniform - stratified"], s["naive-bayes - uniform"]
    assert within(same.truth, 0.0)
    assert within(same.rejects, exact_power(0.25, 0.25, 20), 3.0)
    assert different.target == "this model trained on 40 units"
    assert within(different.target_bias, 0.0)
    # the guess is wrong half the time whatever the point, so the rest is the error of naive Bayes after 40 rows
    risk = 0.5 + different.truth.value + different.deviation.bias - different.target_bias.value
    assert within(different.rejects, exact_power(risk / 2, (1 - risk) / 2, 20), 3.0)
    rows = {r["model"]: r for r in s.rows()}
    assert rows["uniform - stratified"]["power"] is None
    assert rows["naive-bayes - uniform"]["size"] is None
