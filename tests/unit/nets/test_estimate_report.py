"""The report of one net's error."""

from __future__ import annotations

import numpy as np

from unseen.core.estimate import Target
from unseen.nets.estimates.records import CalibratedNetEstimate, NetEstimate
from unseen.show import build, render
from unseen.show.sections import Picture, Table, Text

COMMON = {
    "value": 0.2,
    "std_error": None,
    "interval": None,
    "df": None,
    "method": "calibrated-bolster",
    "target": Target.MODEL.at(4),
    "loss": "zero-one",
    "n_units": 4,
}
CURVE = np.array([[1.0, -0.05, 0.02], [1.1, -0.01, 0.03], [1.2, 0.04, 0.02]])
SPLITS = np.array([[-0.06, -0.04], [-0.02, 0.0], [0.03, 0.05]])


def calibrated():
    return CalibratedNetEstimate(
        **COMMON,
        n_fits=2,
        mc_error=0.01,
        contributions=np.array([0.0, 0.6, 0.1, 0.1]),
        measure="spherical kernels scaled by 1.1",
        bandwidth=np.array([0.3, 0.4]),
        kappa=1.1,
        curve=CURVE,
        deviations=SPLITS,
        uncalibrated=0.15,
    )


def sections(result):
    return {s.id: s for s in build(result)}


def test_a_calibration_is_drawn_and_told():
    part = sections(calibrated())["calibration"]
    text = next(b.text for b in part.blocks if isinstance(b, Text))
    assert text.startswith("2 copies were trained")
    assert "kappa = 1.1" in text
    assert "20.0%, and 15.0% at kappa = 1" in text
    assert next(b for b in part.blocks if isinstance(b, Picture)).svg.lstrip().startswith("<")
    assert next(b for b in part.blocks if isinstance(b, Table)).rows[1] == [1.1, -0.01, 0.03]
    assert "Calibration" in render("x", build(calibrated()))


def test_sections_come_once_and_in_order():
    assert [s.id for s in build(calibrated())] == ["headline", "measure", "calibration", "hardest", "numbers"]


def test_without_a_calibration_there_is_none():
    plain = NetEstimate(**COMMON, n_fits=0, contributions=np.zeros(4), space="features.3", measure="spherical kernels")
    found = sections(plain)
    assert "calibration" not in found
    assert "hardest" not in found
    text = found["measure"].blocks[0].text
    assert "behind the layer 'features.3'" in text
    assert "Nothing was trained again" in text


def test_the_points_that_carry_the_error_come_first():
    table = next(b for b in sections(calibrated())["hardest"].blocks if isinstance(b, Table))
    assert table.columns[0] == "row, from 1"
    assert table.rows[0] == [2, 0.6]
    assert [row[0] for row in table.rows] == [2, 3, 4]
