"""Decision trees on counted rows: the trees of scikit-learn on the rows themselves, node by node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unseen
from unseen.core.data import Data
from unseen.core.plan import Plan, Split
from unseen.models.sklearn import SklearnModel, as_model
from unseen.testing.shortcuts import SITUATIONS, check_equal_to_refitting, sample_for_shortcuts


def _same_nodes(a, b) -> bool:
    one, two = a.tree_, b.tree_
    parts = ("feature", "threshold", "children_left", "children_right", "weighted_n_node_samples", "impurity", "value")
    return one.node_count == two.node_count and all(
        np.array_equal(getattr(one, part), getattr(two, part)) for part in parts
    )


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(4, 60),
    levels=st.sampled_from([2, 4, 1000]),
    classes=st.integers(2, 4),
    options=st.fixed_dictionaries(
        {
            "criterion": st.sampled_from(["gini", "entropy", "log_loss"]),
            "splitter": st.sampled_from(["best", "random"]),
            "max_depth": st.sampled_from([None, 1, 3]),
            "max_features": st.sampled_from([None, 1, "sqrt"]),
            "max_leaf_nodes": st.sampled_from([None, 4]),
            "min_impurity_decrease": st.sampled_from([0.0, 0.02]),
            "min_weight_fraction_leaf": st.sampled_from([0.0, 0.1]),
            "ccp_alpha": st.sampled_from([0.0, 0.01]),
            "min_samples_leaf": st.sampled_from([1, 3, 0.1]),
            "min_samples_split": st.sampled_from([2, 5, 0.2]),
            "class_weight": st.sampled_from([None, "balanced"]),
        }
    ),
)
def test_counted_rows_grow_the_same_tree(seed, n, levels, classes, options):
    rng = np.random.default_rng(seed)
    # few levels give ties between thresholds, and rows that are equal but of another class
    X = rng.integers(0, levels, (n, 3)) / 7.0
    y = rng.integers(0, classes, n)
    data = Data(X, y, "classification", np.arange(classes))
    drawn = rng.integers(0, n, n)
    model = DecisionTreeClassifier(random_state=seed, **options)
    quick = as_model(model).fit_part(data, drawn, 0)
    assert quick is not None
    plain = model.fit(X[drawn], y[drawn])
    assert _same_nodes(quick.native, plain)
    assert np.array_equal(quick.predict(X), plain.predict(X))
    assert np.array_equal(quick.native.predict_proba(X), plain.predict_proba(X))


def test_rows_are_counted_where_that_is_exact_and_given_whole_elsewhere():
    data = sample_for_shortcuts(True)
    drawn = np.random.default_rng(0).integers(0, data.n, data.n)
    once = len(np.unique(drawn))
    for model, size in (
        (DecisionTreeClassifier(), once),
        (DecisionTreeClassifier(min_samples_leaf=2), data.n),
        (DecisionTreeClassifier(min_samples_split=0.1), data.n),
        (DecisionTreeClassifier(class_weight="balanced"), data.n),
    ):
        fitted = as_model(model).fit_part(data, drawn, 0)
        assert fitted is not None
        assert fitted.native.tree_.n_node_samples[0] == size


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_every_plan_equals_refitting(kind, situation):
    data = sample_for_shortcuts(kind is DecisionTreeClassifier, situation)
    rng = np.random.default_rng(0)
    every = np.arange(data.n)
    drawn = [rng.integers(0, data.n, data.n) for _ in range(4)]
    parts = tuple(Split(rows, np.setdiff1d(every, rows), repeat=k) for k, rows in enumerate(drawn))
    for plan in (Plan("splits", parts, data.units), unseen.designs.KFold(3, stratify=False).plan(data, rng)):
        check_equal_to_refitting(kind(max_features=2), data, plan)


def test_what_is_not_a_plain_table_goes_the_ordinary_way():
    data = sample_for_shortcuts(True)
    rows = np.arange(data.n)
    gaps, large = data.X.copy(), data.X.copy()
    gaps[0, 0], large[0, 0] = np.nan, 1e300
    import pandas as pd

    for X in (gaps, large, pd.DataFrame(data.X)):
        assert as_model(DecisionTreeClassifier()).fit_part(replace(data, X=X), rows, 0) is None
    weighted = replace(data, weights=np.ones(data.n))
    own = type("Own", (DecisionTreeClassifier,), {})
    for model, sample in (
        (DecisionTreeClassifier(), weighted),
        (own(), data),
        (RandomForestClassifier(), data),
        (DecisionTreeClassifier(monotonic_cst=[1, 0, 0]), data),
    ):
        assert as_model(model).fit_part(sample, rows, 0) is None


def test_a_fitted_tree_judges_rows_with_gaps_as_scikit_learn_does():
    data = sample_for_shortcuts(True)
    fitted = as_model(DecisionTreeClassifier()).fit_part(data, np.arange(data.n), 3)
    plain = DecisionTreeClassifier(random_state=3).fit(data.X, data.y)
    gaps = data.X.copy()
    gaps[0, 0] = np.nan
    for X in (data.X, gaps):
        try:
            expected = plain.predict(X)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error).splitlines()[0]):
                fitted.predict(X)
        else:
            assert np.array_equal(fitted.predict(X), expected)
            assert np.array_equal(fitted.scores(X)[0], plain.predict_proba(X))


def test_shortcuts_can_be_switched_off(monkeypatch):
    data = sample_for_shortcuts(True)
    asked = []
    monkeypatch.setattr(SklearnModel, "fit_part", lambda *a: asked.append(a))
    unseen.run(DecisionTreeClassifier(), data, design=3, random_state=0, shortcuts=False)
    assert not asked
    unseen.run(DecisionTreeClassifier(), data, design=3, random_state=0)
    assert len(asked) == 3
