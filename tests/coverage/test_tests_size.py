"""Tests keep their size where two models are equally good by construction, and the liberal ones do not."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

DEFAULT = "corrected-t, 25 x 70/30 (the default)"


@pytest.fixture(scope="module")
def study():
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    try:
        return importlib.import_module("studies.study_intervals")
    finally:
        sys.path.pop(0)


@pytest.mark.slow
def test_the_default_comparison_keeps_its_size(study):
    rates = study.sizes([DEFAULT], 2000, seed=21)["tests"]
    assert rates[DEFAULT]["0.05"] <= 0.06


@pytest.mark.slow
@pytest.mark.sample
def test_size_on_a_small_sample(study):
    names = [DEFAULT, "resampled-t, 30 x 70/30", "mcnemar", "permutation"]
    rates = study.sizes(names, 200, seed=22)["tests"]
    bound = 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)
    assert rates[DEFAULT]["0.05"] <= bound
    assert rates["mcnemar"]["0.05"] <= bound
    assert rates["permutation"] == rates["mcnemar"]  # of a rate, the exact exchange test is McNemar's
    assert rates["resampled-t, 30 x 70/30"]["0.05"] > 0.3


@pytest.mark.slow
def test_conservative_and_nested_do_not_exceed_theirs(study):
    study.NULL_TESTS["conservative-z"] = ("conservative-z", None)
    study.NULL_TESTS["nested-cv"] = ("nested-cv", study.unseen.designs.Nested(5, 3))
    rates = study.sizes(["conservative-z", "nested-cv"], 400, seed=23)["tests"]
    bound = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert rates["conservative-z"]["0.05"] <= bound
    assert rates["nested-cv"]["0.05"] <= bound
