"""Models by name: what they are, what their parameters mean, what is refused."""

from __future__ import annotations

import pickle
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError, UnknownName
from unseen.datasets.conversion import as_data
from unseen.models.named import describe, named_model, names

TASKS = {row["name"]: row["tasks"] for row in describe()}
IRIS, DIABETES = unseen.datasets.load("iris"), unseen.datasets.load("diabetes")


def final(model):
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


class TestNames:
    def test_the_promised_ones(self) -> None:
        promised = "linear-svm rbf-svm cart knn lda qda naive-bayes logistic random-forest boosting mlp ols ridge dummy"
        assert names() == promised.split()

    def test_settings_of_the_specification(self) -> None:
        linear, rbf = final(named_model("linear-svm", IRIS)), final(named_model("rbf-svm", IRIS))
        assert (type(linear).__name__, linear.C) == ("LinearSVC", 1)
        assert (type(rbf).__name__, rbf.C, rbf.gamma, rbf.kernel) == ("SVC", 1, "scale", "rbf")
        assert named_model("cart", IRIS).min_samples_split == 5
        assert final(named_model("knn:3", IRIS)).n_neighbors == 3

    @pytest.mark.parametrize("name", [n for n in TASKS if n not in ("boosting", "mlp", "random-forest")])
    @pytest.mark.parametrize("bundled", ["iris", "wine", "breast-cancer", "gaussian-blocks", "diabetes", "ar-linear"])
    def test_no_warning_on_bundled_data(self, name, bundled) -> None:
        data = unseen.datasets.load(bundled)
        if data.task not in TASKS[name]:
            with pytest.raises(InputError, match=r"use one of: .*dummy"):
                named_model(name, data)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = clone(named_model(name, data)).fit(data.X[::2], data.y[::2])
            assert len(fitted.predict(data.X[1::2])) == len(data.y[1::2])

    @pytest.mark.slow
    @pytest.mark.sample
    @pytest.mark.parametrize("name", ["boosting", "mlp", "random-forest", "qda", "linear-svm"])
    def test_no_warning_on_larger_ones(self, name) -> None:
        for bundled in ("digits", "diabetes"):
            data = unseen.datasets.load(bundled)
            if data.task not in TASKS[name]:
                continue
            small = name == "boosting" and bundled == "digits"
            rows = slice(0, 300) if small else slice(0, 900)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                named_model(name, data).fit(data.X[rows], data.y[rows])

    def test_learners_learn(self) -> None:
        train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
        for name in names():
            if "classification" not in TASKS[name]:
                continue
            fitted = named_model(name, IRIS).fit(IRIS.X[train], IRIS.y[train])
            error = np.mean(fitted.predict(IRIS.X[test]) != IRIS.y[test])
            assert error == pytest.approx(2 / 3) if name == "dummy" else error < 0.25, name

    def test_lean_pipeline_is_scaler_and_learner(self) -> None:
        mine = named_model("knn:3", IRIS)
        by_hand = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
        train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
        assert [type(s) for _, s in mine.steps] == [StandardScaler, KNeighborsClassifier]
        np.testing.assert_array_equal(
            mine.fit(IRIS.X[train], IRIS.y[train]).predict(IRIS.X[test]),
            by_hand.fit(IRIS.X[train], IRIS.y[train]).predict(IRIS.X[test]),
        )
        assert isinstance(named_model("cart", IRIS), DecisionTreeClassifier)
        frame = as_data(pd.DataFrame(IRIS.X, columns=list("abcd")), IRIS.y)
        assert [type(s) for _, s in named_model("rbf-svm", frame).steps] == [StandardScaler, SVC]


class TestParameters:
    def test_values_are_literals_or_words(self) -> None:
        model = final(
            named_model("rbf-svm:C=10,gamma=0.1,kernel=poly,probability=False,class_weight={'setosa':2}", IRIS)
        )
        assert (model.C, model.gamma, model.kernel) == (10, 0.1, "poly")
        assert model.class_weight == {"setosa": 2}
        net = final(named_model("mlp: hidden_layer_sizes=(20, 10), activation='tanh'", IRIS))
        assert (net.hidden_layer_sizes, net.activation) == ((20, 10), "tanh")
        assert named_model("cart:max_depth=none", IRIS).max_depth is None
        assert final(named_model("knn:n_neighbors=7", IRIS)).n_neighbors == 7
        assert named_model("dummy:strategy=prior", IRIS).strategy == "prior"

    def test_regression_parameters_reach_the_learner(self) -> None:
        assert final(named_model("rbf-svm:C=3", DIABETES)).regressor.C == 3

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("rbf-smv", "did you mean 'rbf-svm'"),
            ("xyzzy", "known: .*Your own is given as package.module:factory"),
            ("", "unknown model ''"),
            ("rbf-svm:c=1", "did you mean 'C'"),
            ("rbf-svm:gama=1", "did you mean 'gamma'"),
            ("rbf-svm:C=-1", "C.* must be a float in the range"),
            ("rbf-svm:kernel=nope", "kernel"),
            ("rbf-svm:3", "not parameter=value"),
            ("rbf-svm:", "nothing follows the colon"),
            ("rbf-svm:C=", "not parameter=value"),
            ("rbf-svm:C=1,C=2", "twice"),
            ("rbf-svm:C=1,,", "not parameter=value"),
            ("knn:0", "n_neighbors"),
            ("knn:three", "n_neighbors"),
            ("knn:3,4", "not parameter=value"),
            ("mlp:hidden_layer_sizes=(3", "do not match"),
            ("rbf-svm:C=__import__('os').getcwd()", "not evaluated as code"),
            ("rbf-svm:C=1+1j*(2)", "not evaluated|must be"),
            ("ols", "ols does regression.*use one of: linear-svm"),
            ("rbf-svm:C=" + "9" * 2000, "characters"),
            ("rbf-svm:C=" + "(" * 200 + ")" * 200, "not evaluated|C"),
        ],
    )
    def test_refused(self, text, words) -> None:
        with pytest.raises(InputError, match=words):
            named_model(text, IRIS)

    def test_classifiers_refuse_numbers(self) -> None:
        with pytest.raises(
            InputError, match=r"lda does classification, and the target asks for regression; use one of: .*ridge"
        ):
            named_model("lda", DIABETES)


class TestFactories:
    @pytest.fixture
    def local(self, tmp_path: Path, monkeypatch):
        (tmp_path / "mymodels_of_test.py").write_text(
            "from sklearn.tree import DecisionTreeClassifier as Tree\n"
            "def factory():\n    return Tree(max_depth=2)\n"
            "def needs(x):\n    return x\n"
            "def nothing():\n    return 3\n"
            "ready = Tree(max_depth=4)\nnumber = 3\n"
        )
        (tmp_path / "broken_of_test.py").write_text("1/0\n")
        (tmp_path / "lacking_of_test.py").write_text("import no_such_package_at_all\n")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", [*sys.path])
        return tmp_path

    def test_called(self, local) -> None:
        assert named_model("mymodels_of_test:factory", IRIS).max_depth == 2
        assert named_model("mymodels_of_test:ready", IRIS).max_depth == 4
        assert isinstance(named_model("mymodels_of_test:Tree", IRIS), DecisionTreeClassifier)
        assert isinstance(named_model("sklearn.svm:SVC", IRIS), SVC)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("mymodels_of_test:factry", "did you mean 'factory'"),
            ("mymodels_of_test:needs", "without arguments failed: TypeError"),
            ("mymodels_of_test:nothing", "without fit and predict"),
            ("mymodels_of_test:number", "must be a function"),
            ("broken_of_test:x", "ZeroDivisionError"),
            ("lacking_of_test:x", "no_such_package_at_all"),
            ("no_such_module_at_all:x", "there is no module"),
            ("no.such.module:x", "there is no module"),
            ("lad:solver", "did you mean the model 'lda'"),
        ],
    )
    def test_refused(self, local, text, words) -> None:
        with pytest.raises(InputError, match=words):
            named_model(text, IRIS)


def mixed(n: int = 120, seed: int = 0):
    """Return a frame with every kind of column, where the category decides the class."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "blue", "green"], n)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n)),
            "whole": rng.integers(0, 9, n),
            "truth": rng.random(n) < 0.5,
            "colour": pd.Categorical(np.where(rng.random(n) < 0.1, None, colour)),
            "name": [f"person {k}" for k in range(n)],
            "date": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
            "empty": np.nan,
        }
    )
    return as_data(frame, np.where(colour == "red", "yes", "no"))


class TestPreparation:
    @pytest.mark.parametrize("name", [n for n in TASKS if "classification" in TASKS[n]])
    def test_mixed_columns(self, name) -> None:
        data = mixed()
        train, test = data.take(np.arange(80)), data.take(np.arange(80, 120))
        model = pickle.loads(pickle.dumps(named_model(name, data)))
        error = np.mean(model.fit(train.X, train.y).predict(test.X) != test.y)
        if name not in ("dummy", "knn", "naive-bayes"):
            assert error <= 0.25

    def test_values_by_hand(self) -> None:
        X = pd.DataFrame({"a": [1.0, np.nan, 3.0, 8.0] * 3, "c": ["u", "v", "u", None] * 3})
        data = as_data(X, [0, 1, 0, 1] * 3)
        steps = named_model("logistic", data)[:-1]
        out = steps.fit(data.X).transform(data.X)
        filled = np.array([1.0, 3.0, 3.0, 8.0] * 3)  # the median of 1, 3, 8 is 3
        mark = np.array([0.0, 1, 0, 0] * 3)
        scaled = [(v - v.mean()) / v.std() for v in (filled, mark)]
        levels = [[1, 0, 1, 0] * 3, [0, 1, 0, 0] * 3, [0, 0, 0, 1] * 3]
        np.testing.assert_allclose(out, np.column_stack([*scaled, *levels]), atol=1e-12)

    def test_rare_and_unseen_levels_share_a_column(self) -> None:
        levels = ["u"] * 10 + ["v"] * 10 + ["w", "z"]
        data = as_data(pd.DataFrame({"c": levels}), [0, 1] * 11)
        steps = named_model("logistic", data)[:-1].fit(data.X)
        out = steps.transform(pd.DataFrame({"c": ["u", "w", "never seen"]}))
        assert out.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]

    def test_preparation_is_fitted_on_training_rows_only(self) -> None:
        X = np.array([[0.0], [2.0], [np.nan], [1000.0]])
        data = as_data(X, [0, 1, 0, 1])
        model = named_model("rbf-svm", data).fit(X[:3], data.y[:3])
        assert model.named_steps["impute"].statistics_.tolist() == [1.0]
        assert model.named_steps["scale"].mean_[0] == 1.0

    def test_gaps_that_only_the_test_part_has(self) -> None:
        X = np.random.default_rng(0).random((30, 3))
        X[29, 1] = np.nan
        data = as_data(X, np.arange(30) % 2)
        for name in ("logistic", "cart", "boosting", "lda"):
            assert len(named_model(name, data).fit(X[:20], data.y[:20]).predict(X[20:])) == 10

    @pytest.mark.parametrize("name", [n for n in TASKS if "classification" in TASKS[n]])
    def test_sparse(self, name) -> None:
        dense = np.where(IRIS.X > 2, IRIS.X, 0)
        data = as_data(sp.csc_array(dense), IRIS.y)
        train, test = data.take(np.arange(0, 150, 2)), data.take(np.arange(1, 150, 2))
        error = np.mean(named_model(name, data).fit(train.X, train.y).predict(test.X) != test.y)
        assert error < (0.7 if name == "dummy" else 0.25)

    def test_in_the_loop_with_workers(self) -> None:
        data = mixed(60)
        tables = [unseen.run("logistic", data, random_state=0, n_jobs=jobs) for jobs in (1, 2)]
        np.testing.assert_array_equal(tables[0].test.value, tables[1].test.value)
        assert not tables[0].failures

    def test_a_scaled_target_is_put_back(self) -> None:
        X, y = np.linspace(0, 1, 60)[:, None], 1e4 + 500 * np.linspace(0, 1, 60)
        data = as_data(X, y)
        for name in ("rbf-svm", "mlp", "linear-svm"):
            predicted = named_model(name, data).fit(X, y).predict(X)
            assert np.corrcoef(predicted, y)[0, 1] > 0.95
            assert abs(predicted.mean() - y.mean()) < 50


def test_unknown_names_are_input_errors() -> None:
    assert issubclass(UnknownName, InputError)
