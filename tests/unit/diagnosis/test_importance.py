"""Importance of columns: a population whose importance is known, scikit-learn's numbers, groups of columns, messages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance as sklearn_importance
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError, UnknownName
from unseen.core.registry import find
from unseen.diagnosis.importance import ColumnGroup, _Probe, _with_columns_of, column_groups, permutation_importance
from unseen.request.request import open_request


def importance(model, X, y, rounds=2, together=None, **options):
    with open_request(model, unseen.datasets.as_data(X, y), random_state=0, **options) as request:
        return permutation_importance(request, rounds, together)[0]


def line(rng, n=300):
    X = rng.normal(size=(n, 3))
    return X, 2 * X[:, 0] + X[:, 1] + rng.normal(size=n)


def test_importance_of_a_line_is_twice_the_squared_coefficients():
    X, y = line(np.random.default_rng(0), 2000)
    found = importance(LinearRegression(), X, y)
    assert found.names == ("0", "1", "2") or found.names == tuple(unseen.datasets.as_data(X, y).names)
    # (b x - b x')^2 for independent x and x' of variance 1 adds 2 b^2
    for value, low, high, truth in zip(found.value, found.low, found.high, (8.0, 2.0, 0.0)):
        assert low <= truth <= high
        assert value == pytest.approx(truth, abs=0.7)
    assert found.low[1] > 0 > found.low[2]
    assert "2 of 3 columns" in found.sentence()
    assert found.sentence().startswith(f"{found.names[0]} matters most: if it is permuted the squared error grows by ")


def test_importance_is_that_of_scikit_learn_over_the_same_folds():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    found = importance(model, X, y, rounds=1)
    table = unseen.run(model, X, y, design=unseen.designs.RepeatedKFold(10, 1), random_state=0)
    peer = []
    for split in table.plan.splits:
        fitted = model.fit(X[split.train], y[split.train])
        peer.append(
            sklearn_importance(fitted, X[split.test], y[split.test], n_repeats=30, random_state=0).importances_mean
        )
    ours = dict(zip(found.names, found.value))
    # of 24 rows one keeps its own value in scikit-learn's permutations, on average; here none does
    theirs = dict(zip(unseen.datasets.as_data(X, y).names, 24 / 23 * np.mean(peer, axis=0)))
    for name, value in ours.items():
        assert value == pytest.approx(theirs[name], abs=0.03)


class Line:
    """Predicts three times the first column."""

    def predict(self, X):
        return 3.0 * np.asarray(X)[:, 0]


def test_rows_take_values_from_all_others_but_never_from_their_own_group():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(4, 1)), rng.normal(size=4)
    squares = np.square(y[:, None] - 3 * x.T) - np.square(y - 3 * x[:, 0])[:, None]
    for groups in (None, np.array([0, 0, 1, 2])):
        data = unseen.datasets.as_data(x, y, groups=groups, task="regression").take(np.arange(4))
        sums = _Probe((ColumnGroup("x", (0,)),), find("squared", "measures")(), 0)(Line(), data, data)
        own = np.arange(4) if groups is None else groups
        apart = own[:, None] != own
        assert sums[:, 1].sum() / sums[:, 0].sum() == pytest.approx(squares[apart].mean())
        # a row counts as taker and as giver
        both = (apart * squares).sum(axis=1) + (apart * squares).sum(axis=0)
        assert sums[:, 1] == pytest.approx(both)
        assert sums[:, 0] == pytest.approx(2 * apart.sum(axis=1))


def test_few_rows_are_compared_in_pairs():
    X, y = line(np.random.default_rng(6), 12)
    found = importance(LinearRegression(), X, y, rounds=5)
    assert found.n_splits == 30
    assert found.value[0] == pytest.approx(8.0, abs=6.0)
    assert (found.low < found.value).all()


def test_columns_together_show_what_copies_hide():
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    frame = pd.DataFrame(
        {"a": x + 0.01 * rng.normal(size=400), "b": x + 0.01 * rng.normal(size=400), "c": rng.normal(size=400)}
    )
    y = x + 0.3 * rng.normal(size=400)
    from sklearn.linear_model import Ridge

    alone = importance(Ridge(10.0), frame, y)
    joined = importance(Ridge(10.0), frame, y, together={"x": ["a", "b"]})
    assert joined.names[0] == "x"
    # half the weight each: permuted alone 2 (1/2)^2, together 2
    assert joined.value[0] == pytest.approx(2.0, rel=0.2)
    assert alone.value[0] == pytest.approx(0.5, rel=0.3)


def test_permuting_keeps_the_kinds_of_features():
    order = np.array([2, 0, 1])
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.Categorical(["u", "v", "w"])})
    rows = np.arange(3)
    moved = _with_columns_of(frame, (1,), rows, order)
    assert moved["b"].tolist() == ["w", "u", "v"]
    assert str(moved["b"].dtype) == "category"
    assert moved["a"].tolist() == [1.0, 2.0, 3.0]
    assert frame["b"].tolist() == ["u", "v", "w"]
    from scipy import sparse

    dense = np.arange(6.0).reshape(3, 2)
    made = _with_columns_of(sparse.csr_matrix(dense), (0,), rows, order)
    assert made.toarray().tolist() == _with_columns_of(dense, (0,), rows, order).tolist() == [[4, 1], [0, 3], [2, 5]]


def test_the_same_seed_gives_the_same_numbers_with_workers():
    X, y = line(np.random.default_rng(3), 60)
    one, two = (importance(LinearRegression(), X, y, rounds=1, n_jobs=n) for n in (1, 2))
    assert one.value.tolist() == two.value.tolist()


def test_messages():
    data = unseen.datasets.load("iris")
    with pytest.raises(UnknownName, match="column"):
        column_groups(data, {"x": ["petal"]})
    with pytest.raises(InputError, match="name it once"):
        column_groups(data, {"x": [data.names[0]], "y": [data.names[0]]})
    with pytest.raises(InputError, match="is empty"):
        column_groups(data, {"x": []})
    rng = np.random.default_rng(4)
    with open_request("ridge", unseen.datasets.as_data(rng.normal(size=(40, 61)), rng.normal(size=40))) as request:
        found, notes = permutation_importance(request, 1)
    assert found is None
    assert [n.code for n in notes] == ["U050"]
