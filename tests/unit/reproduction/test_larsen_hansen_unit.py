"""The Larsen-Hansen experiment: its arithmetic against refitting, its invariances, and a small run."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError
from unseen.reproduction import reproduce
from unseen.reproduction.larsen_hansen import checks
from unseen.reproduction.larsen_hansen import least_squares as runs


def test_inputs_are_autocorrelated_with_unit_variance():
    scene = runs.LinearProblem()
    X, noise = runs.draw(scene, 4000, np.random.default_rng(0))
    assert X.var() == pytest.approx(1.0, abs=0.02)
    assert noise.var() == pytest.approx(32.45, rel=0.03)
    assert np.mean(X[:, 1:] * X[:, :-1]) == pytest.approx(0.6518, abs=0.01)


def test_true_error_does_not_depend_on_covariance_or_weights():
    scene, rng = runs.LinearProblem(), np.random.default_rng(1)
    X, noise = runs.draw(scene, 3, rng)
    plain = np.square(runs.fit_all(X, noise).weights).sum(axis=1)
    mix = rng.standard_normal((10, 10))
    H, w = mix @ mix.T, rng.standard_normal(10)
    mixed = X @ mix.T
    got = runs.fit_all(mixed, mixed @ w + noise).weights - w
    assert np.einsum("qi,ij,qj->q", got, H, got) == pytest.approx(plain, rel=1e-8)


def test_left_out_sets_are_distinct():
    left = runs.draw_left_out(runs.LinearProblem(), 3, 400, np.random.default_rng(0))
    assert left.shape == (3, 400, 5)
    assert all(len({tuple(row) for row in one}) == 400 for one in left)


def test_fpe_formula_by_hand():
    assert runs.fpe_log(np.array([100.0]), 20, 10)[0] == pytest.approx(np.log(11) + 10 * 10 / (11 * 20))


def test_a_small_run_is_repeatable_and_complete():
    r = reproduce("larsen-hansen", replications=20, true_values=2000, n_splits=60, random_state=3)
    again = reproduce("larsen-hansen", replications=20, true_values=2000, n_splits=60, random_state=3)
    assert [c.ours for c in r.cells] == [c.ours for c in again.cells]
    assert len([c for c in r.cells if c.table.startswith("table 1")]) == 35
    names = {c.name: c for c in r.checks}
    assert next(c for n, c in names.items() if "refitting" in n).passed
    assert next(c for n, c in names.items() if "optimal fraction" in n).passed
    assert r.to_json()


@pytest.mark.parametrize(
    "wrong", [lambda n, p: 1 - np.sqrt(4 * p / n), lambda n, p: unseen.optimal_fraction(n, p).root]
)
def test_another_fraction_would_be_noticed(monkeypatch, wrong):
    """Twice beta, or the root of the expansion in place of its leading order: the best share among fits is better."""
    ratios = [max(checks.ratio_to_best_share(*case, np.random.default_rng(0)) for case in checks.FITTED)]
    monkeypatch.setattr(checks, "optimal_fraction", wrong)
    ratios += [max(checks.ratio_to_best_share(*case, np.random.default_rng(0)) for case in checks.FITTED)]
    assert ratios[0] <= checks.MOST_RATIO < ratios[1]


def test_published_rows_ship_with_the_package():
    from unseen.reproduction import read_published

    rows = {row["measure"]: row for row in read_published("larsen_hansen_table1")}
    assert rows["fpe"]["median"] == -12.3
    assert set(rows) == {"fpe", "avr", "tavr", "med", "std", "mad", "iqr"}


def test_too_few_true_values_are_refused():
    with pytest.raises(InputError, match="true_values"):
        reproduce("larsen-hansen", replications=50, true_values=20)


@pytest.mark.parametrize("width", [3.6, 7.0])
def test_the_legend_of_the_orderings_hides_no_line(width):
    from matplotlib.figure import Figure

    from unseen.reproduction.larsen_hansen.figures import _draw_by_tau

    ax = Figure(figsize=(width, 4)).subplots()
    names = ("rejected", "not_shown", "corrected_rejected", "corrected_not_shown")
    _draw_by_tau({"tau": np.linspace(0, 2, 9), **{name: np.full(9, 0.95) for name in names}}, ax)
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().y1 <= ax.get_window_extent().y0
