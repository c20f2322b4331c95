"""U040 is given for heavy tails and not for normal errors, and only if an interval is at stake."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.checks.heavy_tails import heavy_tails
from unseen.checks.registry import run_notes
from unseen.estimators.tails import are_heavy_tailed, heavy_tail_note, second_moment_ratio, tail_limit


def flagged(losses) -> float:
    return float(np.mean([are_heavy_tailed(row) for row in losses]))


@pytest.mark.parametrize(("n", "least"), [(50, 0.6), (100, 0.8), (400, 0.8)])
def test_normal_errors_keep_silent_and_t3_errors_do_not(n, least) -> None:
    """At most 5% of normal samples, at least 80% of those with t3 noise from 100 units on (50 show less)."""
    rng = np.random.default_rng(n)
    assert flagged(np.square(rng.standard_normal((3000, n)))) <= 0.05
    assert flagged(np.square(rng.standard_t(3, (3000, n)))) >= least


def test_two_normal_noises_are_no_heavy_tail_in_a_large_sample() -> None:
    """Three tenths of the rows have a noise 30 times as large: the kurtosis is 10, and intervals hold in 1,000 rows."""
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((500, 1000)) * np.where(rng.random((500, 1000)) < 0.3, 3.0, 0.1)
    assert flagged(np.square(noise)) <= 0.08
    assert np.mean([second_moment_ratio(row) > tail_limit(1000) for row in np.square(noise)]) > 0.5


def test_ratio_of_squared_errors_is_their_kurtosis() -> None:
    errors = np.random.default_rng(0).standard_normal(500)
    assert second_moment_ratio(errors**2) == pytest.approx(np.mean(errors**4) / np.mean(errors**2) ** 2)
    assert second_moment_ratio(7 * errors**2) == pytest.approx(second_moment_ratio(errors**2))
    assert second_moment_ratio(np.zeros(5)) == 1


def test_limit_grows_as_the_ratio_of_t3_errors_does() -> None:
    assert tail_limit(30) == tail_limit(99) > tail_limit(100)
    assert tail_limit(800) == pytest.approx(2 * tail_limit(100))


def table(noise, n=100, groups=None, loss="squared"):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 2))
    made = unseen.run("ols", X, X[:, 0] + noise(rng, n), design="repeated-kfold", random_state=0, groups=groups)
    return made.losses(loss)


def heavy(rng, n):
    return rng.standard_t(1.5, n)


def test_note_counts_the_largest_losses_and_offers_another_error() -> None:
    losses = table(heavy)
    found = heavy_tails(losses)
    assert [n.code for n in found] == ["U040"] == [n.code for n in run_notes(losses)]
    unit = np.sort(losses.by_unit())
    share = unit[-5:].sum() / unit.sum()
    assert found[0].text.startswith(f"the 5 largest of 100 rows make up {share:.0%} of the squared loss;")
    assert "The absolute error" in found[0].text
    very = table(lambda rng, n: rng.standard_t(0.7, n), loss="absolute")
    assert "The trimmed error" in heavy_tail_note(very)[0].text


def test_units_are_what_counts() -> None:
    groups = np.arange(200) // 4
    text = heavy_tail_note(table(heavy, 200, groups))[0].text
    assert text.startswith("the 3 largest of 50 groups")


def test_silent_without_cause() -> None:
    assert heavy_tail_note(table(lambda rng, n: rng.standard_normal(n))) == ()
    assert heavy_tail_note(table(heavy, 29)) == ()
    losses = table(heavy)
    assert heavy_tail_note(losses.minus(losses)) == ()
    assert heavy_tail_note(losses.source[0].losses("r2")) == ()
    iris = unseen.run("lda", unseen.datasets.load("iris"), random_state=0, scores=True)
    assert heavy_tail_note(iris.losses("log-loss")) == ()
