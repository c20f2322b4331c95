"""Intervals of rates, pools and fluxes hold the truth as often as the page of the validation says: the shipped table, and fresh subjects."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from unseen.core.estimate import Interval

FRESH = 10_022  # no seed of the study


@pytest.fixture(scope="module")
def study():
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    try:
        return importlib.import_module("studies.kinetic_intervals")
    finally:
        sys.path.pop(0)


@pytest.mark.slow
def test_the_page_shows_the_stored_subjects(study):
    page = study.PAGE.read_text()
    for name, table in study.page_tables(study.stored_rows()).items():
        assert table in page, name


def test_no_stored_interval_begins_below_zero(study):
    found = study.by_quantity(study.stored_rows())
    assert len(found) == 21
    for name, v in found.items():
        assert len(v) == study.SUBJECTS
        assert (v[:, 2] >= 0).all(), name
        assert 0.89 <= np.mean((v[:, 2] <= v[:, 4]) & (v[:, 4] <= v[:, 3])) <= 0.975, name


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("size", [3, 4, 6, 12])
def test_interval_of_a_mean_covers_on_fresh_subjects(study, size):
    """Four standard errors of the share around the 95% that nearly normal subjects must have."""
    found = study.lognormal_coverage(0.05, size, True, draws=4000, seed=FRESH)
    assert 0.95 - 4 * 0.0034 <= found["covered"] <= 0.95 + 4 * 0.0034
    assert found["negative"] == 0
    assert study.lognormal_coverage(0.6, size, True, draws=4000, seed=FRESH)["covered"] >= 0.91


@pytest.mark.slow
@pytest.mark.sample
def test_a_wrong_divisor_would_be_found(study, monkeypatch):
    """Dividing the sum of squares by n, not n - 1, covers too seldom for the test above."""
    right = study.mean_interval

    def divided_by_n(y, level, positive):
        low, high = right(y, level, positive)
        centre, half = np.sqrt(low * high), np.log(high / low) / 2 * np.sqrt((len(y) - 1) / len(y))
        return Interval(centre * np.exp(-half), centre * np.exp(half), level)

    monkeypatch.setattr(study, "mean_interval", divided_by_n)
    assert study.lognormal_coverage(0.05, 3, True, draws=4000, seed=FRESH)["covered"] < 0.95 - 4 * 0.0034


@pytest.mark.slow
def test_intervals_of_fresh_subjects_cover(study):
    """Sixty subjects, 21 quantities that depend on each other: the share of all has a standard error of about .015."""
    found = study.by_quantity(study.fit_rows(60, FRESH))
    shares = [c["covered"] for c in study.subject_coverage(found).values()]
    assert 0.87 <= np.mean(shares) <= 0.975
    assert min(float(v[:, 2].min()) for v in found.values()) >= 0
