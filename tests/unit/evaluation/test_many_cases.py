"""From 10,000 units on: influence values against derivatives and the bootstrap, curves from ranges of scores against all cases."""

import numpy as np
import pytest

import unseen
from unseen.core.registry import find
from unseen.estimators.bootstrap_intervals import bca_ends
from unseen.evaluation.measure_intervals import MANY_UNITS, BootstrapIntervals, _curves
from unseen.evaluation.scored_cases import check_scored_cases

SETS = (
    "rms",
    "normalised-absolute",
    "normalised-squared",
    "trimmed-absolute",
    "trimmed-squared",
    "pov",
    "pineda-p",
    "r2",
)


def numbers(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.gamma(2.0, 1.0, n)
    return y, 0.7 * y + 0.4 + rng.normal(0, 0.6, n)


@pytest.mark.parametrize("name", SETS)
def test_influence_is_the_derivative_by_the_weight_of_a_case(name):
    y, value = numbers(61)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 61)
    one = find(name, "measures")()
    found = one.influence(y, value, None, weight)
    assert np.average(found, weights=weight) == pytest.approx(0, abs=1e-9)
    steps = np.tile(weight, (2, 1))
    for k in (0, 7, 33, 60):
        steps[:, k] = weight[k] + np.array([1e-6, -1e-6])
        high, low = one.of_weights(y, value, None, steps)
        steps[:, k] = weight[k]
        # trimming counts the case at the edge in part, so that cases beyond it move the edge and not themselves
        assert (high - low) / 2e-6 * weight.sum() == pytest.approx(found[k], rel=2e-3, abs=2e-4)


@pytest.mark.slow
@pytest.mark.sample
def test_influence_gives_the_ends_of_many_resamples():
    n, batches, rows = MANY_UNITS, 100, 400
    y, value = numbers(n)
    names = ("squared", "pov", "r2")
    made = unseen.measure(y, value, measures=names, random_state=0)
    rng, draws = np.random.default_rng(5), {name: [] for name in names}
    for _ in range(batches):
        place = rng.integers(0, n, (rows, n), dtype=np.int32) + n * np.arange(rows, dtype=np.int32)[:, None]
        weights = np.bincount(place.reshape(-1), minlength=rows * n).reshape(rows, n).astype(float)
        for name in names:
            one = find(name, "measures")()
            of = (
                one.of_weights(y, value, None, weights)
                if one.kind == "set"
                else weights @ one.per_example(y, value) / n
            )
            draws[name].append(of)
    for name in names:
        found = made[name]
        assert found.method == "influence"
        all_draws = np.concatenate(draws[name])
        one = find(name, "measures")()
        pull = one.influence(y, value, None, np.ones(n)) if one.kind == "set" else one.per_example(y, value)
        ends = bca_ends(found.value, all_draws, -(pull - pull.mean()), 0.95)
        width = found.interval.width
        assert found.interval.low == pytest.approx(ends[0], abs=0.01 * width)
        assert found.interval.high == pytest.approx(ends[1], abs=0.01 * width)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("name", ["partial-auc", "average-precision", "corner-distance"])
def test_ranges_of_scores_follow_resamples_of_all_cases(name):
    n = 40_000
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    score = rng.normal(y, 1.0)
    cases = check_scored_cases(y, score, None, None, None, None, None, None)
    boot = BootstrapIntervals(cases=cases, n_draws=400, seed=0, level=0.95)
    one = find(name, "measures")()
    found = boot.of_curve(name, one)
    counts = boot._curve_counts[0]
    assert counts.sum() == n
    edges = np.unique(np.quantile(score, np.linspace(0, 1, counts.shape[1] + 1)[1:-1], method="inverted_cdf"))
    place = 2 * (len(edges) - np.searchsorted(edges, score, side="left")) + y
    base = one.of_sweep(_curves(counts.astype(float)))[0]
    gaps = []
    for _ in range(12):
        weight = np.bincount(rng.integers(0, n, n), minlength=n).astype(float)
        cells = np.bincount(place, weight, counts.size).reshape(1, -1, 2)
        exact = one.of_weights(y, y, score[:, None], weight[None])[0] - found.value
        gaps.append(exact - (one.of_sweep(_curves(cells))[0] - base))
    # what is common to all resamples moves the ends, what differs from one to the next widens the interval by its square
    assert abs(np.mean(gaps)) < 0.01 * found.interval.width
    assert np.std(gaps) < 0.02 * found.interval.width


@pytest.mark.parametrize("kind", ["groups", "weights", "stratified"])
def test_influence_of_groups_weights_and_fixed_classes(kind):
    n = 2 * MANY_UNITS
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, n)
    p = 1 / (1 + np.exp(-rng.normal(2 * y - 1, 1.5)))
    options = {
        "groups": {"groups": np.repeat(np.arange(n // 2), 2)},
        "weights": {"sample_weight": rng.uniform(0.5, 1.5, n)},
        "stratified": {"stratified": True},
    }[kind]
    if kind == "groups":  # copies: twice the cases, no more is known
        y, p = np.repeat(y[: n // 2], 2), np.repeat(p[: n // 2], 2)
    found = unseen.measure(y, p, measures=["brier"], random_state=0, **options)["brier"]
    loss = (p - y) ** 2
    if kind == "groups":
        expected = loss[::2].std(ddof=1) / np.sqrt(n // 2)
    elif kind == "weights":
        w = options["sample_weight"]
        expected = np.sqrt(np.square(w * (loss - np.average(loss, weights=w))).sum()) / w.sum()
    else:
        expected = np.sqrt(sum((y == k).sum() * loss[y == k].var() for k in (0, 1))) / n
    assert found.std_error == pytest.approx(expected, rel=1e-3)
    z = 1.959964
    assert found.interval.width == pytest.approx(2 * z * expected, rel=0.01)


@pytest.mark.slow
@pytest.mark.sample
def test_a_million_cases_have_all_their_intervals():
    n = 1_000_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    p = 1 / (1 + np.exp(-rng.normal(y, 1.0)))
    made = unseen.measure(y, p, random_state=0)
    assert all(e.interval is not None for e in made.estimates.values())
