"""Every registered shortcut gives the numbers of refitting, on given samples and on any that hypothesis finds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unseen.core.registry import classes_in
from unseen.designs import Bootstrap, KFold, LeaveOneOut, LeaveOut
from unseen.testing import SHORTCUT_CHECKS
from unseen.testing.shortcuts import SITUATIONS, check_equal_to_refitting, sample_for_shortcuts

SHORTCUTS = classes_in("exact")
EXAMPLES = [(name, k) for name, cls in SHORTCUTS.items() for k in range(len(cls.examples()))]
FRONTS = [(), (), (StandardScaler(),), (PCA(1),), (StandardScaler(), PCA())]
DESIGNS = [LeaveOneOut(), KFold(3, stratify=False), KFold(7), Bootstrap(4), LeaveOut(0.3, 4)]


# those that refit many models take seconds; a few plans of plain data are compared in any case
CHECKS = [pytest.param(c, marks=[pytest.mark.slow] if "equal_refitting" in c.__name__ else []) for c in SHORTCUT_CHECKS]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", SHORTCUTS)
def test_shortcut(name, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(SHORTCUTS[name])


@pytest.mark.parametrize("situation", ["plain", "ties"])
@pytest.mark.parametrize("name", SHORTCUTS)
def test_folds_of_small_samples(name, situation):
    from sklearn.base import is_classifier

    model = SHORTCUTS[name].examples()[0]
    data = sample_for_shortcuts(is_classifier(model), situation)
    check_equal_to_refitting(model, data, KFold(5).plan(data, np.random.default_rng(0)))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), EXAMPLES)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(12, 40),
    p=st.integers(1, 5),
    situation=st.sampled_from(SITUATIONS),
    design=st.sampled_from(DESIGNS),
    scores=st.booleans(),
    front=st.sampled_from(FRONTS),
)
def test_any_sample(name, number, seed, n, p, situation, design, scores, front):
    from sklearn.base import is_classifier

    model = SHORTCUTS[name].examples()[number]
    data = sample_for_shortcuts(is_classifier(model), situation, seed, n, p)
    model = make_pipeline(*front, model) if front else model
    try:
        plan = design.plan(data, np.random.default_rng(seed))
    except Exception:  # a class that random parts keep missing
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_equal_to_refitting(model, data, plan, scores)
