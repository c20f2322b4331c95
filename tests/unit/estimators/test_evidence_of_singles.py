"""The RMS to expect of every studied method, and up to which size a recipe leads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import unseen
from unseen import resubstitution as R
from unseen.assessment.headline import choose_lead
from unseen.core.columns import unpack_columns
from unseen.estimators.combined import evidence
from unseen.models.sklearn import as_model

DATA = unseen.datasets.load("gaussian-blocks").take(range(40))
X, Y = DATA.xy
FITTED = LogisticRegression().fit(X, Y)


def rows():
    return unpack_columns(Path(evidence.__file__).with_name("evidence.xz").read_bytes())


def row_of(method, error="any"):
    keys = {"estimator": method, "n": "40", "family": "linear", "features": "up to 10", "classes": "2", "error": error}
    return next(r for r in rows() if all(r[k] == v for k, v in keys.items()))


def rms(method, error="any"):
    """Return what the method had on a typical data set."""
    return float(row_of(method, error)["typical"])


@pytest.mark.parametrize("method", ["resub", "bolster", "semi-bolster", "posterior", "bolster-posterior", "bayesian"])
def test_every_studied_method_says_what_to_expect(method):
    e = getattr(R, method.replace("-", "_"))(FITTED, X, Y, random_state=0)
    assert e.expected_rms == pytest.approx(rms(method), abs=1e-12)
    assert e.situation == "linear rules, up to 10 features, 2 classes"
    assert e.row()["expected_rms"] == e.expected_rms
    assert e.row()["worst_rms"] == e.worst_rms == float(row_of(method)["worst"])
    assert e.std_error is None
    assert unseen.estimate(FITTED, X, Y, method=method, fitted=True).expected_rms == e.expected_rms


def test_data_unlike_those_studied_have_no_expected_rms():
    """One sample has a class of two rows in 38, another repeats a quarter of its rows."""
    codes = unseen.datasets.as_data(X, Y).codes
    many, few = np.flatnonzero(codes == 0), np.flatnonzero(codes == 1)
    for rows in (np.r_[many[:36], few[:2]], np.r_[many[:15], few[:15], many[:5], few[:5]]):
        fitted = LogisticRegression().fit(X[rows], Y[rows])
        assert R.bolster(fitted, X[rows], Y[rows]).expected_rms is None
    like = np.r_[many[:20], few[:18]]
    assert R.bolster(LogisticRegression().fit(X[like], Y[like]), X[like], Y[like]).expected_rms is not None


def test_other_options_and_methods_were_not_studied():
    assert R.bolster(FITTED, X, Y, average="class").expected_rms is None
    assert R.bolster(FITTED, X, Y, kernel="full").expected_rms is None
    assert R.bolster(FITTED, X, Y, n_mc=50, sampler="sobol", exact=False).expected_rms is not None
    assert R.bolster_posterior_product(FITTED, X, Y).expected_rms is None
    assert R.bayesian(FITTED, X, Y, covariance=np.eye(10)).expected_rms is None
    assert "expected_rms" not in R.bolster_posterior_product(FITTED, X, Y).row()


def test_a_biased_value_does_not_choose_the_situation():
    """One nearest neighbour never errs on its own points; what to expect goes by what a recipe says."""
    fitted = KNeighborsClassifier(1).fit(X, Y)
    alone = R.resub(fitted, X, Y)
    assert alone.value == 0
    assert "%" not in alone.situation
    found = unseen.resubstitute(FITTED, X, Y, random_state=0)
    assert found["auto-resub"].value > 0.15
    assert found["resub"].expected_rms == rms("resub")
    assert found["auto-resub"].expected_rms == rms("auto-resub", "auto-resub 10% or more")
    assert found["auto-resub"].situation.endswith("2 classes, auto-resub 10% or more")
    assert "expected RMS" in str(found)


def test_one_odd_data_set_does_not_rule_what_to_expect():
    """Bolstering fails on one of nine sets; a mean of squares over all of them is nearly twice what a typical set has."""
    found = {name: float(row_of("bolster")[name]) for name in ("rms", "typical", "worst", "sets")}
    assert found["sets"] == 9
    assert found["rms"] > 1.8 * found["typical"]
    assert found["worst"] > 4 * found["typical"]
    assert R.bolster(FITTED, X, Y).expected_rms == found["typical"]


def test_what_to_expect_goes_by_what_can_be_seen():
    """Bands are of a recipe's own value; the evidence of single estimates has none."""
    assert evidence.level_of("combined", 0.0999) == "combined below 10%"
    assert evidence.level_of("auto-resub", 0.1) == "auto-resub 10% or more"
    assert [evidence.level_of(method, 0.0) for method in ("resub", "kfold", "bolster")] == ["any"] * 3
    known = {(r["estimator"], r["error"]) for r in rows()}
    methods = {method for method, _ in known}
    own = {(recipe, evidence.error_band(v, recipe)) for v in (0.05, 0.3) for recipe in evidence.RECIPES}
    assert known == {(m, "any") for m in methods} | own
    assert len(methods) == 15


def _sample(name, n):
    given = unseen.datasets.load(name)
    kept = np.random.default_rng(1).permutation(given.n)[:n]
    return given.take(np.sort(kept)).xy


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(
    ("model", "name", "n"),
    [
        (KNeighborsClassifier(3), "iris", 90),
        (LogisticRegression(max_iter=1000), "gaussian-blocks", 60),
        (SVC(), "breast-cancer", 300),
    ],
)
def test_resub_assess_and_a_single_call_expect_the_same(model, name, n):
    x, y = _sample(name, n)
    effort = {"splits": 5, "repeats": 0, "bootstrap": 20, "leave_out": 0, "curve": 0}
    assessed = unseen.assess(model, x, y, random_state=3, effort=effort)
    fitted = clone(model).fit(x, y)
    found = unseen.resubstitute(fitted, x, y, random_state=3)
    shared = {e.method for e in found.estimates} & assessed.estimates.keys()
    assert {"resub", "bolster", "posterior", "auto-resub"} <= shared
    for method in shared:
        ours, theirs = found[method], assessed.estimates[method]
        assert (ours.expected_rms, ours.worst_rms) == (theirs.expected_rms, theirs.worst_rms)
        assert ours.situation == theirs.situation
        assert ours.expected_rms is not None
    few = unseen.resubstitute(fitted, x, y, random_state=3, methods=["bolster"])
    assert few["bolster"].expected_rms == found["bolster"].expected_rms
    alone = unseen.estimate(fitted, x, y, method="auto-resub", fitted=True, random_state=3)
    assert alone.expected_rms == found["auto-resub"].expected_rms
    assert alone.interval == found["auto-resub"].interval == assessed.estimates["auto-resub"].interval


def test_assess_says_it_for_every_studied_method():
    effort = {"splits": 5, "repeats": 0, "bootstrap": 20, "leave_out": 0, "curve": 0}
    a = unseen.assess(KNeighborsClassifier(3), X, Y, random_state=0, effort=effort)
    assert {"bolster", "632plus", "bootstrap-zero", "combined", "auto-resub"} <= set(a.expected_rms)
    assert a.expected_rms["combined"] == pytest.approx(a.headline.expected_rms)
    assert "expected RMS" in a.table()
    shown = {row["method"]: row["expected_rms"] for row in a.rows()}
    assert shown["bolster"] == a.expected_rms["bolster"]
    assert shown["baseline"] is None


def test_it_is_the_headline_only_while_it_leads(monkeypatch):
    overall = [r for r in rows() if {r[k] for k in ("family", "features", "classes", "error")} == {"any"}]
    own = {r["n"]: float(r["rms"]) for r in overall if r["estimator"] == "combined"}
    singles = [r for r in overall if r["estimator"] not in ("combined", "auto-resub")]
    assert sorted(map(int, own)) == [20, 40, 100, 400]
    assert len(singles) == 13 * len(own)
    nearer = {(r["estimator"], r["n"]) for r in singles if float(r["rms"]) < own[r["n"]]}
    assert nearer == {("kfold", "400")}
    assert [evidence.leads("combined", n) for n in (20, 40, 100, 400, 2000)] == [True, True, True, False, False]
    model, sample = as_model(KNeighborsClassifier(3)), unseen.datasets.as_data(X, Y)
    assert choose_lead(model, sample, "auto").method == "combined"
    table = {key: dict(sizes) for key, sizes in evidence._table().items()}
    table["632plus", "any", "any", "any", "any"][40] = evidence.SetDeviations(pooled=0.01, typical=0.1, worst=0.2)
    monkeypatch.setattr(evidence, "_table", lambda: table)
    evidence.leads.cache_clear()
    try:
        assert not evidence.leads("combined", 40)
        found = choose_lead(model, sample, "auto")
        assert (found.method, found.reason.split(" combined")[0]) == ("range-t", "with 40 units")
    finally:
        evidence.leads.cache_clear()


def test_it_leads_up_to_the_size_at_which_cross_validation_has_caught_up():
    """Straight lines in logarithms between 100 and 400 units, by hand."""
    at = {(r["estimator"], int(r["n"])): float(r["rms"]) for r in rows() if set(list(r.values())[2:6]) == {"any"}}
    ahead, behind = (np.log(at["kfold", n] / at["combined", n]) for n in (100, 400))
    meet = 100 * 4 ** (ahead / (ahead - behind))
    assert 200 < meet < 350
    assert [evidence.leads("combined", int(n)) for n in (meet - 1, meet + 1)] == [True, False]


def test_a_recipe_without_retraining_states_its_integration_error():
    """The parts of a kernel rule are drawn independently: their errors add up as squares."""
    fitted = SVC().fit(X, Y)
    e = unseen.estimate(fitted, X, Y, method="auto-resub", fitted=True, random_state=0)
    parts = {m: unseen.estimate(fitted, X, Y, method=m, fitted=True, random_state=0).mc_error for m in e.weights}
    assert sum(error > 0 for error in parts.values()) >= 3
    assert e.mc_error == pytest.approx(np.sqrt(sum((w * parts[m]) ** 2 for m, w in e.weights.items())), rel=1e-9)
    assert e.std_error is None
    assert unseen.estimate(LogisticRegression(), X, Y, method="combined", random_state=0).mc_error is None
