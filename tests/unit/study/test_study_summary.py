from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from unseen.core.errors import InputError, UnknownName
from unseen.core.summary import summarize
from unseen.study.statistics import correlation_of, coverage_of, share_of, variance_of
from unseen.study.summary import EstimatorDeviations, SampleGroup, TaskCounts, compare_pairs, summarize_columns

NAN = float("nan")


def cell(method, model="m", n=20, **more):
    return {"population": "p", "model": model, "n": n, "method": method, "kind": "estimate", **more}


@pytest.fixture
def made():
    """Two estimators and a test, four replications each, small enough to sum up by hand."""
    cells = [cell("a"), cell("b"), cell("t", "m - k", kind="comparison", equal=True)]
    truth = [0.3, 0.2, 0.3, 0.2]
    columns = {
        "cell": np.repeat([0, 1, 2], 4),
        "replication": np.tile(np.arange(4), 3),
        "estimate": np.array([0.2, 0.2, 0.3, 0.1, 0.4, 0.3, 0.5, 0.2, 0.1, -0.1, 0.0, 0.2]),
        "truth": np.array(truth + truth + [0.0, 0.0, 0.0, 0.0]),
        "lower": np.array([NAN] * 4 + [0.25, 0.1, 0.4, 0.0] + [-0.1, -0.2, -0.1, 0.1]),
        "upper": np.array([NAN] * 4 + [0.45, 0.5, 0.6, 0.4] + [0.3, 0.0, 0.1, 0.3]),
        "spread": np.array([0.1, 0.2, 0.1, 0.2] + [NAN] * 8),
        "p_value": np.array([NAN] * 8 + [0.2, 0.3, 1.0, 0.01]),
        "seconds": np.array([0.1, 0.3, 0.1, 0.3] + [1.0] * 8),
    }
    extras = [
        (1, k, json.dumps({"kind": "algorithm", "n1": 18, "target": t})) for k, t in enumerate((0.35, 0.25, 0.35, 0.25))
    ]
    spec = {"replications": 4, "seed": 5, "level": 0.95}
    return summarize_columns("hand", spec, cells, columns, extras, TaskCounts(12, 12, 0))


def test_bias_variance_and_rms_by_hand(made):
    a = made["a"].deviation  # deviations -.1, 0, 0, -.1
    assert a.bias == pytest.approx(-0.05)
    assert a.variance == pytest.approx(4 * 0.0025 / 3)
    assert a.rms == pytest.approx(np.sqrt(0.02 / 4))
    assert a.bias_error == pytest.approx(np.sqrt(4 * 0.0025 / 3 / 4))


def test_the_sentence_names_the_estimator_nearest_the_truth(made):
    found = made.nearest("p", "m")  # deviations -.1, 0, 0, -.1 against .1, .1, .2, 0
    assert (found.method, found.n, found.ties) == ("a", 20, ("b",))
    assert found.rms == pytest.approx(np.sqrt(0.02 / 4))
    assert made.sentence == "a is nearest the truth for m on p at n = 20: RMS 7.1%; b is not shown to be worse."
    assert made.nearest("p", "m - k") is None, "a test estimates no error"


def test_internal_and_total_variance_by_hand(made):
    a = made["a"]
    assert a.internal.value == pytest.approx((0.01 + 0.04 + 0.01 + 0.04) / 4)
    assert a.total.value == pytest.approx(np.var([0.2, 0.2, 0.3, 0.1], ddof=1))
    assert made["b"].internal is None


def test_correlation_and_time_by_hand(made):
    a = made["a"]
    assert a.correlation.value == pytest.approx(np.corrcoef([0.2, 0.2, 0.3, 0.1], [0.3, 0.2, 0.3, 0.2])[0, 1])
    assert a.seconds.value == pytest.approx(0.2)
    assert made["t"].correlation is None  # the truth does not vary


def test_coverage_is_held_against_the_declared_target(made):
    """The risk at n1 = 18 is the mean of the four targets, .30: the third interval misses it, the others hold it."""
    b = made["b"]
    assert b.target == "the algorithm trained on 18 units"
    assert b.coverage.value == pytest.approx(3 / 4)
    assert b.width.value == pytest.approx(np.mean([0.2, 0.4, 0.2, 0.4]))
    assert b.target_bias.value == pytest.approx(np.mean([0.05, 0.05, 0.15, -0.05]))
    assert b.deviation.bias == pytest.approx(np.mean([0.1, 0.1, 0.2, 0.0]))
    assert made["a"].target == "this model trained on 20 units"
    assert made["a"].coverage is None


def test_rejections_are_size_where_the_models_are_equal(made):
    t = made["t"]
    assert t.rejects.value == pytest.approx(1 / 4)
    row = next(r for r in made.rows() if r["method"] == "t")
    assert row["size"] == pytest.approx(1 / 4)
    assert "power" not in row  # no cell has it
    assert t.coverage.value == pytest.approx(3 / 4)  # the last interval misses 0


def test_paired_tests_by_hand(made):
    (pair,) = made.pairs
    gap = np.array([0.01, 0, 0, 0.01]) - np.array([0.01, 0.01, 0.04, 0.0])
    assert pair.difference == pytest.approx(gap.mean())
    assert pair.p == pytest.approx(stats.ttest_1samp(gap, 0).pvalue)
    assert pair.p_adjusted == pytest.approx(pair.p)
    assert pair.verdict == "no difference shown"


def test_pairs_use_the_samples_both_have():
    reps = np.arange(6)
    a, b = np.array([0.1, 0.2, 0.1, 0.3, 0.1, 0.2]), np.array([0.3, 0.4, 0.2, 0.5])
    (one,) = compare_pairs(
        SampleGroup("p", "m", 20), {"a": EstimatorDeviations(reps, a), "b": EstimatorDeviations(reps[2:], b)}
    )
    assert one.replications == 4
    assert one.difference == pytest.approx(np.mean(a[2:] ** 2 - b**2))


def test_holm_is_over_all_pairs_of_the_study():
    rng = np.random.default_rng(0)
    cells = [cell(m, n=n) for n in (20, 40) for m in ("a", "b", "c")]
    columns = {k: np.full(6 * 30, NAN) for k in ("lower", "upper", "spread", "p_value")}
    columns |= {
        "cell": np.repeat(np.arange(6), 30),
        "replication": np.tile(np.arange(30), 6),
        "seconds": np.zeros(180),
        "estimate": rng.normal(0.3, np.repeat([0.1, 0.1, 0.3] * 2, 30)),
        "truth": np.full(180, 0.3),
    }
    s = summarize_columns("h", {"replications": 30, "seed": 0}, cells, columns, [], TaskCounts(180, 180, 0))
    raw = np.array([p.p for p in s.pairs])
    assert len(raw) == 6
    smallest = int(np.argmin(raw))
    assert s.pairs[smallest].p_adjusted == pytest.approx(6 * raw[smallest])
    assert all(p.p_adjusted >= p.p for p in s.pairs)


def test_failed_and_missing_results_are_left_out_and_counted():
    columns = {k: np.full(3, NAN) for k in ("lower", "upper", "spread", "p_value")}
    columns |= {
        "cell": np.zeros(3, int),
        "replication": np.array([0, 1, 3]),
        "seconds": np.ones(3),
        "estimate": np.array([0.1, 0.3, NAN]),
        "truth": np.array([0.2, 0.2, 0.2]),
    }
    s = summarize_columns(
        "x", {"replications": 4, "seed": 0}, [cell("a"), cell("b")], columns, [], TaskCounts(8, 3, 1), {0: 1}
    )
    assert len(s.cells) == 1
    assert (s.cells[0].failed, s.cells[0].deviation.n) == (1, 2)
    assert "3 of 8 tasks done, 1 failed, 4 missing" in str(s)
    assert not s.complete


def test_boxes_hold_every_deviation(made):
    (boxes,) = made.deviations
    assert boxes.title == "p, m"
    assert boxes.estimators == ("a", "b")
    np.testing.assert_allclose(boxes.values[0][1], [0.1, 0.1, 0.2, 0.0])


def test_cells_are_found_by_any_of_their_names(made):
    assert made["a", 20, "m"] is made.cells[0]
    with pytest.raises(InputError, match="2 cells match"):
        made["m"]
    with pytest.raises(UnknownName, match="cell"):
        made["resub"]


def test_record_has_every_face(made, tmp_path):
    assert list(made.frame()["method"]) == ["a", "b", "t"]
    content = json.loads(made.to_json())
    assert content["cells"][1]["coverage"] == pytest.approx(0.75)
    assert content["pairs"][0]["verdict"] == "no difference shown"
    text = str(made)
    assert "p, m - k" in text
    assert "0.750" in text
    page = tmp_path / "s.html"
    made.report(page)
    html = page.read_text()
    for words in ("Deviation from the true error", "Coverage of intervals", "Size and power of tests", "Holm"):
        assert words in html
    assert "<svg" in made._repr_html_() or "table" in made._repr_html_()


def test_only_keeps_one_population_and_model(made):
    part = made.only("p", "m")
    assert [c.cell.method for c in part.cells] == ["a", "b"]
    assert len(part.pairs) == len(part.deviations) == 1
    assert made.only("p", "m - k").deviations == ()


def test_errors_of_variance_and_correlation_are_those_of_a_simulation():
    """The Monte-Carlo errors agree with the spread of the figures over 400 independent studies."""
    rng = np.random.default_rng(1)
    draws = rng.standard_exponential((400, 2, 200))
    x, y = draws[:, 0], 0.6 * draws[:, 0] + 0.8 * draws[:, 1]
    variances = [variance_of(row) for row in x]
    assert np.mean([v.error for v in variances]) == pytest.approx(np.std([v.value for v in variances]), rel=0.15)
    together = [correlation_of(a, b) for a, b in zip(x, y)]
    assert np.mean([c.error for c in together]) == pytest.approx(np.std([c.value for c in together]), rel=0.15)


@pytest.mark.parametrize("n", [5, 10, 20])
def test_errors_hold_for_few_replications_too(n):
    """Mean square of the errors against the variance of the figures, normal values; both were .4 to .9 of it before."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal((4000, n))
    y = 0.4 * x + rng.standard_normal((4000, n))
    variances, together = [variance_of(row) for row in x], [correlation_of(a, b) for a, b in zip(x, y)]
    for found in (variances, together):
        assert np.mean([f.error**2 for f in found]) == pytest.approx(np.var([f.value for f in found]), rel=0.12)


def test_two_replications_have_an_error_of_their_variance():
    """Normal values: Var(s^2) = 2 sigma^4 / (n - 1), and E[s^4] = sigma^4 (n + 1) / (n - 1), so s^2 sqrt(2 / (n + 1))."""
    assert variance_of(np.array([0.1, 0.3])).error == pytest.approx(0.02 * np.sqrt(2 / 3))
    assert summarize([0.1, 0.3], [0.0, 0.0]).variance_error == pytest.approx(0.02 * np.sqrt(2 / 3))


def test_the_uncertain_risk_widens_the_error_of_coverage():
    rng = np.random.default_rng(2)
    centre = rng.normal(0, 1, 100)
    sharp = coverage_of(centre - 1, centre + 1, np.zeros(100), "algorithm")
    vague = coverage_of(centre - 1, centre + 1, rng.normal(0, 3, 100), "algorithm")
    assert sharp.error == pytest.approx(share_of(np.abs(centre) <= 1).error)
    assert vague.error > sharp.error


def test_a_correlation_with_a_constant_is_none():
    assert correlation_of(np.array([0.1, 0.2, 0.3, 0.5]), np.full(4, 0.2)) is None
    assert correlation_of(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.1, 0.2])) is None  # three pairs tell no error
