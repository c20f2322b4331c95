from __future__ import annotations

import pytest

from unseen.reproduction.experiment import reproduce
from unseen.reproduction.ghane_hcm.formulas import worst_misfit
from unseen.reproduction.published_numbers import read_published


@pytest.fixture(scope="module")
def rows():
    return {row["quantity"]: row for row in read_published("ghane_hcm")}


@pytest.fixture(scope="module")
def result():
    return reproduce("ghane-hcm", replications=8, progress=False)


def test_printed_formulas_give_the_specified_values(result):
    """The left column of spec/kinetics.md, section 3."""
    cells = {c.cell: c.ours for c in result.cells if "printed formulas" in c.table}
    assert cells["alternative1 (IC-IC) U_phe"] == pytest.approx(206.1, abs=0.05)
    assert cells["alternative2 (EC-EC) U_phe"] == pytest.approx(137.5, abs=0.05)
    assert cells["alternative3 (whole-body) U_phe"] == pytest.approx(248.6, abs=0.05)
    assert cells["alternative1 (IC-IC) U_tyr"] == pytest.approx(10.6, abs=0.05)
    assert cells["alternative2 (EC-EC) U_tyr"] == pytest.approx(81.5, abs=0.05)
    assert cells["alternative3 (whole-body) U_tyr"] == pytest.approx(9.7, abs=0.05)
    assert cells["alternative2 (EC-EC) F_phe_tyr"] == pytest.approx(23.8, abs=0.05)


def test_balanced_fluxes_fall_where_constant_infusion_does(result):
    cells = {c.cell: c.ours for c in result.cells if "mass balance" in c.table}
    assert 80 < cells["alternative1 (IC-IC) U_phe"] < 100
    assert cells["alternative2 (EC-EC) F_phe_tyr"] == pytest.approx(60 * 0.033 * 2.9)


def test_every_check_but_the_simulated_one_is_exact(result):
    assert all(c.passed for c in result.checks if "rms z" not in c.name)
    assert len([c for c in result.cells if c.table.startswith("4.1")]) == 7


def test_formula_contest(rows):
    """Spec section 3, k free: 0.25 with the sign mended, 3.4 as printed, 1.3 with conversion left out."""
    assert worst_misfit(rows, "plus") == pytest.approx(0.25, abs=0.03)
    assert worst_misfit(rows, "minus") == pytest.approx(3.4, abs=0.15)
    assert worst_misfit(rows, "once") == pytest.approx(1.3, abs=0.1)
