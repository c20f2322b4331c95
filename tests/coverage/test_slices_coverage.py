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
