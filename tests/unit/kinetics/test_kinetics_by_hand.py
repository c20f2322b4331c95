"""Kinetic pieces against systems solved directly: pools at steady state, counted parameters, rules of the screen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from unseen.kinetics.mammillary import interval_identifiability
from unseen.kinetics.noise import ErrorModel


@pytest.mark.parametrize("end", [0, 1])
def test_either_end_of_the_ranges_is_a_system_with_one_loss_that_gives_the_same_curve(end):
    """Loss from pool 1 alone, or from pool 2 alone: the same sampled curve, and steady pools of the stated sizes."""
    a, l, dose = np.array([0.2, 0.1]), np.array([0.16, 0.02]), 3.6
    found = interval_identifiability(a, l, dose)
    k12 = found.k12[1 - end]
    k21 = found.k21[end]
    k01, k02 = (found.k01[1], 0.0) if end == 0 else (0.0, found.k02[1])
    matrix = np.array([[-(k21 + k01), k12], [k21, -(k12 + k02)]])
    t = np.array([1.0, 5.0, 20.0, 60.0, 120.0])
    q1 = dose / a.sum()
    curve = [(expm(matrix * s) @ [dose / q1, 0.0])[0] for s in t]
    assert curve == pytest.approx(a @ np.exp(-np.outer(l, t)), rel=1e-9)
    # tracee enters pool 2 at the rate U; at rest, matrix @ pools + (0, U) = 0
    pools = np.linalg.solve(matrix, [0.0, -found.U[end]])
    assert pools == pytest.approx([q1, found.Q2[end]], rel=1e-9)


@pytest.mark.parametrize(
    ("error", "curves", "wanted"),
    [
        (ErrorModel("combined"), 3, 4),  # a size for each curve, and the floor over the cv that all share
        (ErrorModel("combined"), 1, 2),
        (ErrorModel("proportional"), 3, 1),
        (ErrorModel("constant"), 3, 1),
        (ErrorModel("combined", cv=0.02, floor=1e-4), 3, 0),
        (ErrorModel("proportional", cv=0.02), 3, 0),
        (ErrorModel("sd"), 3, 0),
    ],
)
def test_parameters_of_the_error_model_are_counted(error, curves, wanted):
    assert error.n_estimated(curves) == wanted
