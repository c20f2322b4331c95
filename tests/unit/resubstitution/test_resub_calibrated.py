"""Calibration: both searches on bias curves that are known, and on data where the answer is known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen import resubstitution as R
from unseen.core.registry import build
from unseen.datasets.conversion import as_data
from unseen.datasets.populations import GaussianBlocks
from unseen.resubstitution import _calibration
from unseen.resubstitution._calibration import calibration_error, search
from unseen.resubstitution._pretrained import as_pretrained

X, Y = GaussianBlocks().draw(100, np.random.default_rng(8)).xy


def on_curve(bias, kind, step=0.1, max_scale=20.0):
    asked = []

    def deviations(kappa):
        asked.append(kappa)
        return np.array([bias(kappa) - 0.01, bias(kappa) + 0.01])

    kappa, curve, table = search(SimpleNamespace(search=kind, step=step, max_scale=max_scale), deviations)
    return kappa, curve, table, asked


def test_steps_go_up_until_two_steps_in_a_row_do_not_fall():
    kappa, curve, table, asked = on_curve(lambda k: 0.2 * (k - 1.52), "step")
    np.testing.assert_allclose(asked, np.arange(1.0, 1.75, 0.1))  # 1.5 is best; 1.6 and 1.7 are not
    assert kappa == pytest.approx(1.5)
    np.testing.assert_allclose(curve[:, 1], 0.2 * (curve[:, 0] - 1.52))
    np.testing.assert_allclose(curve[:, 2], np.sqrt(2) * 0.01)
    assert table.shape == (8, 2)


def test_one_bump_does_not_stop_the_steps():
    values = {1.0: -0.5, 1.1: -0.6, 1.2: -0.3, 1.3: -0.1, 1.4: 0.2, 1.5: 0.3}
    kappa, _, _, asked = on_curve(lambda k: values[k], "step")
    assert kappa == pytest.approx(1.3)
    assert len(asked) == 6


def test_steps_never_go_below_one_but_the_root_does():
    kappa, *_, asked = on_curve(lambda k: 0.2 * (k - 0.4), "step")
    assert (kappa, len(asked)) == (1.0, 3)
    kappa, *_, asked = on_curve(lambda k: 0.2 * (k - 0.4), "root")
    assert kappa == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("zero", [1.0, 1.7, 3.3, 9.0])
def test_root_needs_far_fewer_evaluations(zero):
    bias = lambda k: 0.3 * np.tanh(k - zero)  # noqa: E731
    steps, *_, many = on_curve(bias, "step")
    root, *_, few = on_curve(bias, "root")
    assert steps == pytest.approx(zero, abs=0.051)
    assert root == pytest.approx(zero, abs=0.051)
    if zero > 2:
        assert len(few) < len(many) / 2


def test_a_bias_that_never_vanishes_stops_at_the_limit():
    kappa, *_, asked = on_curve(lambda k: -1 / (1 + k), "root", max_scale=8.0)
    assert (kappa, asked) == (8.0, [1.0, 2.0, 4.0, 8.0])
    kappa, *_ = on_curve(lambda k: 0.1 + k, "root")
    assert kappa == 0.0


def test_the_whole_record():
    e = unseen.estimate(KNeighborsClassifier(3), X, Y, method="calibrated-bolster", random_state=0, r=3)
    assert isinstance(e, R.CalibratedEstimate)
    assert e.n_fits == 4
    assert e.deviations.shape == (len(e.curve), 3)
    np.testing.assert_allclose(e.curve[:, 1], e.deviations.mean(axis=1))
    np.testing.assert_allclose(e.curve[:, 2], e.deviations.std(axis=1, ddof=1))
    assert abs(e.curve[e.curve[:, 0] == e.kappa, 1][0]) == np.abs(e.curve[:, 1]).min()
    assert e.row()["kappa"] == e.kappa


def test_the_calibrated_value_is_the_bolster_of_scaled_kernels():
    model = LinearSVC()
    e = unseen.estimate(model, X, Y, method="calibrated-bolster", search="root", random_state=0)
    fitted = model.fit(X, Y)
    assert e.uncalibrated == pytest.approx(R.bolster(fitted, X, Y).value, abs=1e-3)
    assert e.value == pytest.approx(R.bolster(fitted, X, Y, scale=e.kappa).value, abs=1e-3)


def test_kernels_and_error_come_from_their_own_parts():
    """A memorising tree on pure noise: trained on 80%, wrong on half of the rest; kernels must be widened."""
    rng = np.random.default_rng(0)
    noise, labels = rng.standard_normal((120, 2)), rng.integers(0, 2, 120)
    e = unseen.estimate(
        DecisionTreeClassifier(random_state=0),
        noise,
        labels,
        method="calibrated-bolster",
        search="root",
        r=5,
        random_state=1,
    )
    assert e.uncalibrated < e.value
    assert 0.4 < e.value < 0.6


def test_the_same_points_serve_every_kappa():
    """With common points the bias of a linear rule grows smoothly: no step of the curve goes down."""
    e = unseen.estimate(
        LinearSVC(),
        X,
        Y,
        method="calibrated-bolster",
        exact=False,
        n_mc=20,
        r=2,
        search="step",
        random_state=0,
        max_scale=3.0,
    )
    again = unseen.estimate(
        LinearSVC(),
        X,
        Y,
        method="calibrated-bolster",
        exact=False,
        n_mc=20,
        r=2,
        search="step",
        random_state=0,
        max_scale=3.0,
    )
    np.testing.assert_array_equal(e.curve, again.curve)
    assert np.all(np.diff(e.curve[:, 1]) > -0.01)


def test_a_bias_that_does_not_vanish_is_told():
    """Steps never go below 1: where bolstering is too high there already, the words say what bias is left."""
    told, root = (
        unseen.estimate(
            LinearSVC(), X, Y, method="calibrated-bolster", kernel="spherical", scale=4.0, r=2, search=s, random_state=0
        )
        for s in ("step", "root")
    )
    left = told.curve[0, 1]
    assert told.kappa == 1.0
    assert left > 0.01
    assert told.measure == f"spherical kernels scaled by 1, which leave an estimated bias of {left:+.3f}"
    assert root.measure == f"spherical kernels scaled by {root.kappa:.4g}"


def test_the_error_of_a_calibration_is_that_of_a_mean_and_stops_at_the_limits():
    rng = np.random.default_rng(0)
    kappas, own = 1 + 0.1 * np.arange(9), rng.normal(0, 0.05, 6)
    table = 0.1 * (kappas - 1.4)[:, None] + own - own.mean()
    curve = np.column_stack([kappas, table.mean(axis=1), table.std(axis=1, ddof=1)])
    # away from the limits every split counts as in a mean
    assert calibration_error(curve, table, kappas[4], (0.0, 20.0)) == pytest.approx(own.std(ddof=1) / np.sqrt(6))
    # too high at the lower limit already, whichever split is left out: nothing moves
    high = curve + np.array([0.0, 0.5, 0.0])
    assert calibration_error(high, table + 0.5, kappas[0], (1.0, 20.0)) == 0.0
    # and between: each leave-one-out value by hand, the estimate moving as the bias does
    moves = np.maximum(-np.array([np.delete(table[4], j).mean() for j in range(6)]), curve[0, 1] - curve[4, 1])
    by_hand = np.sqrt(5 / 6 * np.sum((moves - moves.mean()) ** 2))
    assert calibration_error(curve, table, kappas[4], (1.0, 20.0)) == pytest.approx(by_hand)
    assert np.isnan(calibration_error(curve, table[:, :1], kappas[4], (1.0, 20.0)))


@pytest.mark.parametrize("kind", ["step", "root"])
def test_the_error_of_a_calibration_is_the_spread_over_splits(kind):
    """Nothing is drawn for a linear rule, so that seeds change the splits alone; `mc_error` is 0 and says nothing of them."""
    within, stated = [], []
    for sample in range(8):
        x, y = GaussianBlocks().draw(60, np.random.default_rng(sample)).xy
        fitted = LinearSVC().fit(x, y)
        runs = [R.calibrated_bolster(fitted, x, y, search=kind, random_state=s) for s in range(12)]
        assert all(e.mc_error == 0 for e in runs)
        within.append(np.var([e.value for e in runs], ddof=1))
        stated += [e.calibration_error**2 for e in runs]
    assert np.sqrt(np.mean(stated)) == pytest.approx(np.sqrt(np.mean(within)), rel=0.3)
    assert runs[0].row()["calibration_error"] == runs[0].calibration_error


def test_groups_stay_together():
    groups = np.repeat(np.arange(20), 5)
    e = unseen.estimate(LinearSVC(), X, Y, method="calibrated-bolster", r=2, random_state=0, groups=groups)
    assert e.n_units == 20


@pytest.mark.parametrize("average", ["points", "class"])
def test_the_observed_error_is_averaged_as_the_estimate_is(monkeypatch, average):
    """With equal class weights a bolstered error must be held against an observed one with equal class weights."""
    rows = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:15]])
    data, seen = as_data(X[rows], Y[rows]), []
    original = _calibration._split

    def recorded(*arguments):
        seen.append(original(*arguments))
        return seen[-1]

    monkeypatch.setattr(_calibration, "_split", recorded)
    method = build("calibrated-bolster", "resubstitution", options={"average": average, "r": 4})
    fitted = KNeighborsClassifier(3).fit(data.X, data.y)
    trials = _calibration.trials_of(method, as_pretrained(fitted), data, np.random.default_rng(1))
    for trial, (train, test) in zip(trials, seen, strict=True):
        assert len(test) == np.ceil(0.2 * len(rows))
        wrong = KNeighborsClassifier(3).fit(data.X[train], data.y[train]).predict(data.X[test]) != data.y[test]
        by_class = [wrong[data.y[test] == y].mean() for y in np.unique(data.y[test])]
        assert trial.error == pytest.approx(wrong.mean() if average == "points" else np.mean(by_class))
        bolster = R.bolster(
            KNeighborsClassifier(3).fit(data.X[train], data.y[train]),
            data.X[train],
            data.y[train],
            average=average,
            draws=trial.draws.seed,
            scale=1.3,
        )
        assert trial.deviation(1.3, True) == pytest.approx(bolster.value - trial.error)
