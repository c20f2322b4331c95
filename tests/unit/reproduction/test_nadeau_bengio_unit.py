"""The Nadeau-Bengio study: its statistics against the library's own methods, its expectations, and a small run."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unseen
from unseen.core.errors import InputError
from unseen.core.losses import LossTable
from unseen.core.plan import Plan, Split
from unseen.core.registry import build
from unseen.datasets import as_data
from unseen.engine.run import execute
from unseen.reproduction import reproduce
from unseen.reproduction.nadeau_bengio.problems import Letter, Regressions
from unseen.reproduction.nadeau_bengio.statistics import Raw, draw_split_orders, moments, raw_of, statistics


def same_data(problem, seed):
    """Return the data a problem draws, with the two algorithms as scikit-learn models."""
    rng = np.random.default_rng(seed)
    p = problem.n_inputs
    X = rng.standard_normal((problem.n, 2 * p))
    y = problem.signal * X.sum(axis=1) + np.sqrt(problem.noise) * rng.standard_normal(problem.n)
    return X, y


def difference(X, y, plan) -> LossTable:
    half = X.shape[1] // 2
    from unseen.models.sklearn import as_model

    tables = []
    for part in (X[:, :half], X[:, half:]):
        data = as_data(part, y, task="regression")
        tables.append(execute(as_model(LinearRegression()), data, plan, seed=0).losses("squared"))
    return tables[0].minus(tables[1])


def plan_of(design, rows, units, repeat=None, part=None):
    splits = tuple(
        Split(
            np.sort(train),
            np.sort(test),
            repeat=0 if repeat is None else repeat[k],
            fold=k,
            part=-1 if part is None else part[k],
        )
        for k, (train, test) in enumerate(rows)
    )
    return Plan(design, splits, units)


def test_statistics_equal_the_librarys_methods_on_the_same_splits():
    problem = Regressions(n=60, n_inputs=2)
    X, y = same_data(problem, 5)
    layout = draw_split_orders(60, 6, 3, 4, np.random.default_rng(1))
    ours = statistics(Raw.stack([raw_of(problem.losses(np.random.default_rng(5)), layout)]), 60, 6, 3)
    units = np.arange(60)
    narrow = [(o[:30], o[30:36]) for o in layout.outer]
    table = difference(X, y, plan_of("monte-carlo", narrow, units))
    for id in ("corrected-t", "resampled-t"):
        e = build(id, "estimators")(table)
        mine = ours[f"{id} n2=n/10"]
        assert (mine.value[0, 1], mine.std_error[0, 1], mine.df) == pytest.approx((e.value, e.std_error, e.df))
    one = build("t-test", "estimators")(
        difference(X, y, plan_of("holdout", [(layout.outer[0, :30], layout.outer[0, 30:])], units))
    )
    assert (ours["t-test"].value[0, 1], ours["t-test"].std_error[0, 1]) == pytest.approx((one.value, one.std_error))
    pairs = [pair for o in layout.pairs for pair in ((o[:30], o[30:]), (o[30:], o[:30]))]
    five = build("5x2cv", "estimators")(difference(X, y, plan_of("5x2cv", pairs, units)))
    assert (ours["5x2cv"].value[0, 1], ours["5x2cv"].std_error[0, 1]) == pytest.approx((five.value, five.std_error))
    inner = [(o[6:], o[:6]) for o in layout.inner.reshape(-1, 30)]
    repeat = [0] * 6 + [m for m in range(3) for _ in range(8)]
    part = [-1] * 6 + [h for _ in range(3) for h in (0, 1) for _ in range(4)]
    z = build("conservative-z", "estimators")(
        difference(X, y, plan_of("split-halves", [*narrow, *inner], units, repeat, part))
    )
    mine = ours["conservative-z n2=n/10"]
    assert (mine.value[0, 1], mine.std_error[0, 1]) == pytest.approx((z.value, z.std_error))


def test_halves_are_disjoint_and_parts_never_overlap():
    layout = draw_split_orders(40, 3, 2, 5, np.random.default_rng(0))
    for first, second in layout.inner.reshape(2, 2, 5, 20):
        assert not set(first.ravel()) & set(second.ravel())
        assert all(sorted(row) == sorted(first[0]) for row in first)
    assert all(sorted(row) == list(range(40)) for row in layout.outer)


def test_expected_error_by_simulation():
    problem = Regressions(n=80, n_inputs=3)
    errors = []
    for k in range(3000):
        losses = problem.losses(np.random.default_rng(k))
        errors.append(losses(np.arange(40)[None], np.arange(40, 80)[None]).mean(axis=(1, 2)))
    errors = np.array(errors)
    se = errors.std(axis=0) / np.sqrt(len(errors))
    assert errors.mean(axis=0) == pytest.approx([problem.expectation(40)[0]] * 2, abs=4 * se.max())


def test_moments_are_those_of_equicorrelated_losses():
    rng = np.random.default_rng(0)
    products = []
    for _ in range(4000):
        shared, split, own = rng.standard_normal(1), rng.standard_normal((3, 1)), rng.standard_normal((3, 4))
        losses = 5 + np.sqrt(0.2) * shared + np.sqrt(0.3) * split + np.sqrt(0.5) * own
        m = moments(np.stack([losses, losses]), np.array([5.0, 5.0]))
        products.append([m.loss[0], m.within[0], m.between[0]])
    products = np.array(products)
    se = products.std(axis=0) / np.sqrt(len(products))
    assert np.all(np.abs(products.mean(axis=0) - [1.0, 0.5, 0.2]) < 4 * se)


def test_a_small_run_is_repeatable_whatever_the_workers():
    options = {"replications": 8, "letter": "", "variance_sets": 60, "random_state": 1}
    r = reproduce("nadeau-bengio", n_jobs=1, **options)
    again = reproduce("nadeau-bengio", n_jobs=2, **options)
    assert [c.ours for c in r.cells] == [c.ours for c in again.cells]
    assert {row["problem"] for row in r.sizes} == {"synthetic"}
    assert "left out" in r.remarks[-1]
    assert r.to_json()


def test_the_report_draws_every_power_curve(tmp_path):
    r = reproduce("nadeau-bengio", replications=3, letter="", variance_sets=30, n_jobs=1)
    page = tmp_path / "r.html"
    r.report(page)
    assert page.read_text().count("<svg") == 2 * 2  # each for a wide page and for a phone
    assert unseen.show.info(r, "power-letter-error") is None


def test_letters_are_drawn_without_replacement_and_metric_is_tuned(shared):
    problem = Letter(str(shared / "data" / "uci" / "letter.csv.gz"), n=120)
    X, _ = problem.sample(np.random.default_rng(0))
    assert X.shape == (120, 16)
    assert len(problem.table[1]) == 20_000
    assert len(np.unique(problem.table[1])) == 26
    tuned = problem.tune(0, sets=6)
    assert 0 < tuned.distortion < 4


def test_the_sign_problem_is_a_null_for_the_difference():
    problem = Regressions(n=60, n_inputs=2, loss="zero-one")
    layout = draw_split_orders(60, 2, 1, 1, np.random.default_rng(0))
    raw = Raw.stack([raw_of(problem.losses(np.random.default_rng(k)), layout) for k in range(800)])
    difference = raw.wide[:, 1].mean(axis=1)
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(800)
    assert 0.2 < raw.wide[:, 0].mean() < 0.45
    assert set(np.unique(problem.losses(np.random.default_rng(0))(layout.outer[:, :30], layout.outer[:, 30:]))) <= {
        0.0,
        1.0,
    }


def test_unknown_losses_are_refused():
    with pytest.raises(InputError, match="zero-one or squared"):
        reproduce("nadeau-bengio", replications=2, letter="", loss="hinge")


def test_negative_counts_are_refused():
    with pytest.raises(InputError, match="negative"):
        reproduce("nadeau-bengio", replications=2, letter="", variance_sets=-1)
