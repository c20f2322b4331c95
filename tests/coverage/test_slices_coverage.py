"""All slices together, and calibration, hold the truth about as often as they say; the populations of the study."""

from __future__ import annotations

import numpy as np
import pytest
from studies import evaluation_intervals as study

SETS = 400


@pytest.mark.slow
def test_all_slices_are_covered_together():
    held = {name: float(slices) for name, slices, *_ in study.slice_rows_of_predictions(SETS)}
    assert 0.93 <= np.mean(list(held.values())) <= 0.97
    # three standard errors of 400 sets around .93 to .97
    assert all(0.9 <= share <= 0.99 for share in held.values()), held


@pytest.mark.slow
def test_slope_intercept_error_and_curve_are_covered():
    for name, *cells in study.calibration_rows(SETS):
        assert all(0.92 <= float(cell) <= 0.99 for cell in cells[:4]), name


@pytest.mark.slow
def test_slices_of_an_assessment_hold_together_for_trees_too():
    for name, slices, gaps, _ in study.slice_rows_of_models(200):
        # three standard errors of 200 sets below .95; the tree is covered more often than it need be
        assert float(slices) >= 0.905, name
        assert float(gaps) >= 0.905, name


@pytest.mark.slow
def test_slices_of_measures_and_files_hold_together():
    for name, slices, gaps, _ in study.slice_rows_of_measures(200):
        assert 0.905 <= float(slices) <= 0.995, name
        assert 0.905 <= float(gaps) <= 0.995, name


@pytest.mark.slow
def test_slices_of_a_comparison_hold_together_neither_too_rarely_nor_too_often():
    made = study.slice_rows_of_comparisons(200)
    held = {name: float(slices) for name, slices, *_ in made}
    assert 0.93 <= np.mean(list(held.values())) <= 0.97, held
    # two standard errors of 200 sets below .93 and above .97, for the worst of fifteen pairs
    assert all(0.89 <= share <= 0.995 for share in held.values()), held
    assert all(float(gaps) >= 0.89 for _, _, gaps, _ in made), made


@pytest.mark.slow
def test_slices_of_a_comparison_hold_with_few_splits_too():
    held = {name: float(slices) for name, slices, *_ in study.slice_rows_of_few_splits(200)}
    assert 0.93 <= np.mean(list(held.values())) <= 0.98, held
    # two standard errors of 200 sets below .93, for the worst of five pairs
    assert all(share >= 0.89 for share in held.values()), held


@pytest.mark.slow
def test_limits_of_importance_hold_for_all_columns_together():
    held = {name: float(together) for name, together, *_ in study.importance_rows(200)}
    # three standard errors of 200 sets below .95; stable models are covered more often than they need be
    assert all(share >= 0.905 for share in held.values()), held
    assert np.mean(list(held.values())) >= 0.93
