"""The examples run, and say what they are meant to show."""

from __future__ import annotations

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_the_family_example(capsys):
    runpy.run_path(str(EXAMPLES / "resubstitution.py"))["main"]()
    text = capsys.readouterr().out
    assert "kernels live after StandardScaler" in text
    assert "calibrated:" in text


def test_bolstering_does_not_tie_in_feature_selection(capsys):
    runpy.run_path(str(EXAMPLES / "resubstitution_feature_selection.py"))["main"](repeats=1, size=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:1] == ["bolster"]
    assert " 0 of   2" in lines[1]
