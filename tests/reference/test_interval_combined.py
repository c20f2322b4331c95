"""The interval of `combined` holds the true error of data sets whose family was left out of every fit behind it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unseen.estimators.combined.predictive import MANY, MANY_CLASSES, predictive

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.skipif(not (ROOT.parent / "shared" / "data").exists(), reason="the shared data sets are not here"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def rows():
    from studies.interval_fit import combined_rows

    return combined_rows()


@pytest.fixture(scope="module")
def fits(rows):
    from studies.interval_fit import held_out_fits

    return held_out_fits(rows, replace(predictive("combined"), scale=1.0))


def test_it_covers_families_that_were_left_out(rows, fits):
    """Truths counted on four times the sample at least; every family counts the same at every size. The fit aims above 95%, by what it cannot know."""
    from studies.interval_fit import coverage, ends_by_fits, family_of_rule

    scale = [predictive("combined", family_of_rule(r), int(k)).scale for r, k in zip(rows.rule, rows.classes)]
    low, high = ends_by_fits(rows, fits, np.array(scale))
    known = rows.left >= 4 * rows.n
    assert 0.95 < coverage(rows.where(known), low[known], high[known]) < 0.97
    for n, families in ((20, 60), (40, 55), (100, 45), (200, 30), (400, 15)):
        inside = known & (rows.n == n)
        assert len(np.unique(rows.family[inside])) >= families
        assert coverage(rows.where(inside), low[inside], high[inside]) > 0.93, n
    for inside in (known & (rows.classes >= MANY), known & (rows.rule == "boosting")):
        assert len(np.unique(rows.family[inside])) >= 20
        assert coverage(rows.where(inside), low[inside], high[inside]) > 0.9


def test_half_the_equivalent_sample_or_twice_of_it_is_seen(rows, fits):
    """A wrong divisor under the root would not pass the test above."""
    from studies.interval_fit import coverage, ends_by_fits

    known = rows.left >= 4 * rows.n
    for factor, low_end, high_end in ((0.5, 0.98, 1.0), (2.0, 0.7, 0.88)):
        low, high = ends_by_fits(rows, fits, factor * predictive("combined").scale)
        assert low_end < coverage(rows.where(known), low[known], high[known]) < high_end


def test_the_shipped_constants_are_those_of_the_fit(rows):
    from studies.interval_fit import choose_scale, fit, held_out_fits, scales_by_situation

    shipped, made = predictive("combined"), fit(rows)
    for c in (0.02, 0.1, 0.3):
        for n in (20, 100, 400):
            ours, theirs = replace(shipped, scale=1.0).interval(c, n), made.interval(c, n)
            assert tuple(ours) == pytest.approx(tuple(theirs), abs=0.002)
    out = held_out_fits(rows, made)
    scale = choose_scale("combined", rows, out)
    assert shipped.scale == pytest.approx(scale, abs=0.01)
    found = scales_by_situation(rows, out, scale)
    crowd = found.pop(MANY_CLASSES)
    assert predictive("combined", n_classes=MANY).scale == pytest.approx(crowd * shipped.scale, abs=0.01)
    assert "scale boosting" in found
    for name, own in found.items():
        assert predictive("combined", name.removeprefix("scale ")).scale == pytest.approx(own, abs=0.01)
