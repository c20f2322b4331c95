"""The interval of `auto-resub` holds the true error of data sets whose family was left out of every fit behind it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaln

from unseen.estimators.combined.predictive import Predictive, predictive

ROOT = Path(__file__).resolve().parents[2]
HERE = pytest.mark.skipif(not (ROOT.parent / "shared" / "data").exists(), reason="the shared data sets are not here")


@pytest.fixture(scope="module")
def rows():
    from studies.interval_fit import auto_resub_rows

    return auto_resub_rows()


@pytest.fixture(scope="module")
def ends(rows):
    """Ends of all intervals, constants by the other families; the scale is the shipped one."""
    from studies.interval_fit import ends_by_fits, held_out_fits

    shipped = predictive("auto-resub")
    return ends_by_fits(rows, held_out_fits(rows, shipped), shipped.scale, "auto-resub")


def _by_family(rows, inside, held):
    return np.array([held[inside & (rows.family == f)].mean() for f in np.unique(rows.family[inside])])


@HERE
@pytest.mark.slow
@pytest.mark.sample
def test_it_covers_families_that_were_left_out(rows, ends):
    """A truth counted on four times the sample at least; families are the units, whatever the number of their samples."""
    low, high = ends
    held = (low <= rows.truth) & (rows.truth <= high)
    for n, least in ((20, 0.93), (40, 0.93), (100, 0.93), (400, 0.8)):
        inside = (rows.n == n) & (rows.left >= 4 * n)
        each = _by_family(rows, inside, held)
        assert len(each) >= 11
        assert each.mean() > least, n
    at_400 = _by_family(rows, rows.n == 400, held).mean()
    assert at_400 == pytest.approx(0.85, abs=0.02)  # as the sentence of `unseen resub` says
    page = (ROOT / "docs" / "tables" / "interval_auto-resub.md").read_text()
    assert f"| n = 400 | 12 | {np.sum(rows.n == 400)} | {at_400:.3f} |" in page


@HERE
@pytest.mark.slow
@pytest.mark.sample
def test_the_shipped_constants_are_where_the_likelihood_is_largest(rows):
    """Beta-binomial by hand: a step either way from a constant makes the counts of errors less likely."""
    shipped = predictive("auto-resub")
    label = np.array([f"{f} {n}" for f, n in zip(rows.family, rows.n)])
    _, where, count = np.unique(label, return_inverse=True, return_counts=True)
    weight, wrong = 1 / count[where], np.round(rows.truth * rows.left)

    def likelihood(**change):
        p = {f.name: getattr(shipped, f.name) for f in fields(Predictive)} | {"scale": 1.0} | change
        units = p["size"] * rows.n / (1 + p["floor"] * rows.n)
        units = units * ((rows.n * rows.value + 1) / (rows.n + 2) / 0.25) ** p["slope"]
        a = units * rows.value + p["prior"] * p["centre"]
        b = units * (1 - rows.value) + p["prior"] * (1 - p["centre"])
        return np.sum(weight * (betaln(wrong + a, rows.left - wrong + b) - betaln(a, b))) / weight.sum()

    best = likelihood()
    for name in ("size", "floor", "prior", "centre", "slope"):
        for step in (0.9, 1.1):
            assert likelihood(**{name: step * getattr(shipped, name)}) < best, name


def test_a_fit_finds_the_constants_that_made_the_rows_and_not_the_noise_of_the_truth():
    """Truths drawn from known constants and counted on few rows: the noise of the counts is not taken for spread."""
    from studies.interval_fit import Truths, fit

    rng = np.random.default_rng(3)
    m = 20_000
    n = rng.choice([20.0, 40.0, 100.0, 400.0], m)
    value = rng.beta(2, 5, m)
    known = Predictive(size=1.2, floor=0.02, prior=2.0, centre=0.3, slope=0.2)
    left = np.full(m, 40)
    truth = rng.binomial(left, rng.beta(*known.shapes(value, n))) / left
    rows = Truths(value, truth, n, left, np.arange(m) % 50, np.full(m, "any"), np.full(m, 2.0))
    found = fit(rows)
    for c in (0.05, 0.2, 0.5):
        for size in (20, 100, 400):
            ours, theirs = found.interval(c, size), known.interval(c, size)
            assert ours.low == pytest.approx(theirs.low, abs=0.01)
            assert ours.high == pytest.approx(theirs.high, abs=0.01)
