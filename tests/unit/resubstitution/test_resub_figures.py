"""Figures of the family show the numbers of their records; drawing works for each."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import unseen
from unseen import resubstitution as R
from unseen.core.estimate import ResubEstimate, Target
from unseen.show import info

IRIS = unseen.datasets.load("iris").xy


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def estimate(contributions):
    values = np.array(contributions)
    return ResubEstimate(
        value=float(values.mean()),
        std_error=None,
        interval=None,
        df=None,
        method="bolster",
        target=Target.MODEL,
        loss="zero-one",
        n_units=len(values),
        n_fits=0,
        mc_error=0.0,
        contributions=values,
    )


def test_contributions_fall_and_half_is_counted():
    shown = info(estimate([0.0, 0.5, 0.1, 0.2]), "contributions")
    assert shown.contribution[:-1].tolist() == [0.5, 0.2, 0.1, 0.0]
    assert shown.rows.tolist() == [1, 3, 2, 0]
    assert shown.half == 0.25  # the first of four has 0.5 of 0.8
    assert shown.value == pytest.approx(0.2)
    assert info(estimate([0.0, 0.0]), "contributions").contribution.max() == 0


def test_half_is_not_told_where_points_do_not_count_alike():
    """Setosa weighs a hundredfold and is never wrong: half of the estimate does not come from half of the bare sum."""
    fitted, (X, y) = KNeighborsClassifier(3).fit(*IRIS), IRIS
    weights = np.where(y == y[0], 100.0, 1.0)
    plain, weighted = (R.bolster(fitted, X, y, n_mc=20, random_state=0, sample_weight=w) for w in (None, weights))
    assert 0 < info(plain, "contributions").half < 0.2
    assert np.isnan(info(weighted, "contributions").half)
    weighted.plot("contributions")


def test_contributions_are_what_a_resub_estimate_draws_first():
    ax = estimate([0.0, 0.5, 0.1, 0.2]).plot()
    assert "training points" in ax.get_xlabel()
    estimate([0.0, 0.0]).plot()


def test_calibration_curve():
    X, y = unseen.datasets.load("gaussian-blocks").xy
    e = R.calibrated_bolster(KNeighborsClassifier(3).fit(X, y), X, y, r=2, random_state=0, n_mc=20)
    shown = info(e, "calibration")
    np.testing.assert_allclose(shown.error, e.deviations.std(axis=1, ddof=1) / np.sqrt(2))
    np.testing.assert_allclose(shown.bias, e.curve[:, 1])
    assert shown.chosen == e.kappa
    ax = e.plot()
    assert "kappa" in ax.get_xlabel()
    R.calibrated_bolster(KNeighborsClassifier(3).fit(X, y), X, y, r=1, random_state=0, n_mc=20).plot()


def test_kernel_outlines_lie_one_standard_deviation_away():
    fitted = KNeighborsClassifier(3).fit(*IRIS)
    v = R.view(fitted, *IRIS, plane=(0, 1), resolution=10, random_state=0)
    shown = info(v)
    sigma = R.bolster(fitted, *IRIS, n_mc=2).bandwidth
    distance = np.linalg.norm(shown.outlines - shown.points[shown.drawn][:, :, None], axis=1)
    np.testing.assert_allclose(distance, np.repeat(sigma[shown.codes[shown.drawn]][:, None], 41, axis=1))
    assert shown.wrong.sum() == np.sum(fitted.predict(IRIS[0]) != IRIS[1])
    assert v.plot().get_xlabel().startswith("x0")


def test_boxes_against_numpy():
    rng = np.random.default_rng(0)
    truth = {"n = 20": rng.random(50), "n = 40": rng.random(50)}
    made = {g: {"a": t + rng.normal(0.1, 0.05, 50), "b": t + rng.standard_t(1.5, 50)} for g, t in truth.items()}
    d = R.deviations(made, truth, "A rule")
    shown = info(d)
    for g, group in enumerate(truth):
        for k, name in enumerate("ab"):
            gap = made[group][name] - truth[group]
            q = np.percentile(gap, [25, 50, 75])
            np.testing.assert_allclose(shown.box[g, k, 1:4], q)
            reach = 1.5 * (q[2] - q[0])
            beyond = gap[(gap < q[0] - reach) | (gap > q[2] + reach)]
            mine = shown.outside[(shown.outside[:, 0] == g) & (shown.outside[:, 1] == k), 2]
            np.testing.assert_allclose(np.sort(mine), np.sort(beyond))
            assert d.rows()[2 * g + k]["bias"] == pytest.approx(gap.mean())
    assert d.plot().get_ylabel() == "estimate minus true error"
    assert "bias" in str(d)


def test_deviations_refuse_what_does_not_match():
    for estimates, truth, message in (
        ({"a": {"x": [1.0, 2.0]}}, {"b": [1.0, 2.0]}, "must be the same"),
        ({"a": {"x": [1.0, 2.0]}, "b": {"y": [1.0, 2.0]}}, {"a": [1.0, 2.0], "b": [1.0, 2.0]}, "estimators"),
        ({"a": {"x": [1.0]}}, {"a": [1.0]}, "at least two"),
        ({"a": {"x": [1.0, np.nan]}}, {"a": [1.0, 2.0]}, "not finite"),
    ):
        with pytest.raises(unseen.UnseenError, match=message):
            R.deviations(estimates, truth)


def test_several_estimates_show_the_points_behind_the_most_telling(tmp_path):
    from unseen.assessment.figures.resub_contributions import info as info_of_one
    from unseen.assessment.figures.resub_contributions import info_of_several

    X, y = unseen.datasets.load("gaussian-blocks").xy
    fitted = KNeighborsClassifier(3).fit(X, y)
    found = unseen.resubstitute(fitted, X, y, random_state=0, methods=["resub", "bolster", "auto-resub"])
    assert info_of_several(found).method == "bolster"
    np.testing.assert_array_equal(info_of_several(found).rows, info_of_one(found["bolster"]).rows)
    only = unseen.resubstitute(fitted, X, y, random_state=0, methods=["auto-resub"])
    assert info_of_several(only) is None
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Where the error comes from" in page
    assert "Expected RMS" in page


def test_regions_are_cut_through_the_middle_of_the_other_dimensions():
    """Away from the origin the plane must pass through the points, not through zero."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 4)) + np.array([10.0, -20.0, 30.0, 5.0])
    y = (X[:, 0] + X[:, 2] + 0.3 * X[:, 3] > 41.5).astype(int)
    fitted = KNeighborsClassifier(3).fit(X, y)
    view = R.view(fitted, X, y, plane=(0, 2), resolution=25, random_state=0)
    corners = np.stack(np.meshgrid(view.grid_x, view.grid_y), axis=-1).reshape(-1, 2)
    places = np.tile(X.mean(axis=0), (len(corners), 1))
    places[:, [0, 2]] = corners
    np.testing.assert_array_equal(view.grid.reshape(-1), fitted.predict(places))
    assert 0.2 < view.grid.mean() < 0.8
    np.testing.assert_allclose(view.points, X[:, [0, 2]])
