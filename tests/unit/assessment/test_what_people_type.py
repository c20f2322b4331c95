"""scikit-learn's `cv`, a frame and a column, a trained model on a test set, names, labels and gaps."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import unseen
from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Interval

IRIS = unseen.datasets.load("iris")
CANCER = unseen.datasets.load("breast-cancer")


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "size": rng.normal(y, 1),
            "weight": rng.normal(0, 1, n),
            "site": rng.integers(0, 6, n),
            "sick": np.array(["no", "yes"])[y],
        }
    )


class TestCv:
    @pytest.mark.parametrize(
        ("cv", "method", "target"),
        [
            (10, "range-t", "this model trained on 150 rows"),
            (5, "corrected-t", "the algorithm trained on 120 rows"),
            (StratifiedKFold(10), "range-t", "this model trained on 150 rows"),
            (RepeatedStratifiedKFold(n_splits=5, n_repeats=2), "corrected-t", "the algorithm trained on 120 rows"),
            (ShuffleSplit(20, test_size=0.3), "corrected-t", "the algorithm trained on 105 rows"),
            (PredefinedSplit(np.where(np.arange(150) % 3, -1, 0)), "wilson", "this model trained on 100 rows"),
        ],
    )
    def test_the_splits_say_the_target(self, cv, method, target):
        a = unseen.assess(GaussianNB(), IRIS, cv=cv, random_state=0)
        assert (a.headline.method, str(a.target)) == (method if method != "wilson" else "auto", target)
        e = unseen.estimate(GaussianNB(), IRIS, cv=cv, random_state=0)
        assert (e.value, e.interval) == (a.error, a.interval)
        assert e.notes[-1].code == "U026"

    def test_the_value_and_the_interval_are_those_of_cross_val_score(self):
        """The mean of scikit-learn's five scores, with the corrected variance (1/5 + 30/120) S^2 by hand."""
        folds = StratifiedKFold(5, shuffle=True, random_state=3)
        scores = cross_val_score(GaussianNB(), IRIS.X, IRIS.y, cv=folds)
        a = unseen.assess(GaussianNB(), IRIS, scoring="accuracy", cv=folds, random_state=0)
        shown = a.headline.on_scale()
        assert shown.value == pytest.approx(scores.mean())
        half = student.ppf(0.975, 4) * scores.std(ddof=1) * np.sqrt(1 / 5 + 30 / 120)
        assert shown.interval.low == pytest.approx(scores.mean() - half)

    def test_a_splitter_gets_the_groups(self):
        data = frame()
        a = unseen.assess("logistic", data, "sick", groups="site", cv=GroupKFold(6), random_state=0)
        table = a.tables["repeated-kfold"]
        for split in table.plan:
            assert not set(data.site[split.train]) & set(data.site[split.test])

    def test_time_series(self):
        X, y = unseen.datasets.load("diabetes").xy
        a = unseen.assess(Ridge(), X, y, cv=TimeSeriesSplit(5), random_state=0)
        assert (a.headline.method, a.headline_design) == ("time-ordered", "time-ordered")

    def test_pairs_that_have_no_form_have_no_interval(self):
        pairs = [(np.arange(50), np.arange(50, 60)), (np.arange(100), np.arange(90, 150))]
        a = unseen.assess(GaussianNB(), IRIS, cv=pairs, random_state=0)
        assert a.interval is None
        assert "no valid interval" in a.sentence()

    def test_leave_one_out_has_the_error_of_cross_val_score(self):
        X, y = IRIS.X[60:140:2], IRIS.y[60:140:2]
        e = unseen.estimate(GaussianNB(), X, y, cv=LeaveOneOut(), random_state=0)
        assert e.value == pytest.approx(1 - cross_val_score(GaussianNB(), X, y, cv=LeaveOneOut()).mean())

    def test_run_and_compare(self):
        t = unseen.run(GaussianNB(), IRIS, cv=KFold(5, shuffle=True), random_state=0)
        assert (t.plan.design, [s.fold for s in t.plan]) == ("repeated-kfold", [0, 1, 2, 3, 4])
        c = unseen.compare({"a": "lda", "b": "dummy"}, IRIS, cv=5, random_state=0)
        assert "corrected-t" in c.test_sentence
        assert "120 of 150 rows" in c.test_sentence

    @pytest.mark.parametrize("call", [unseen.run, unseen.estimate, unseen.assess])
    def test_refused(self, call):
        with pytest.raises(InputError, match="index pairs are"):
            call(GaussianNB(), IRIS, cv=[np.arange(3)])
        with pytest.raises(InputError, match="cannot split these data"):
            call(GaussianNB(), IRIS, cv=GroupKFold(3))

    def test_not_both(self):
        with pytest.raises(InputError, match="give one of them"):
            unseen.run("lda", IRIS, cv=3, design="loo")


class TestFrames:
    def test_a_column_by_name_is_the_column(self):
        data = frame()
        a = unseen.assess("logistic", data, "sick", groups="site", cv=3, random_state=0)
        b = unseen.assess("logistic", data[["size", "weight"]], data.sick, groups=data.site, cv=3, random_state=0)
        assert (a.error, a.interval, a.data.names) == (b.error, b.interval, ("size", "weight"))

    def test_polars(self):
        polars = pytest.importorskip("polars")
        data = frame()
        given = polars.from_pandas(data)
        assert unseen.run("logistic", given, "sick", cv=3, random_state=0).losses().split_means() == pytest.approx(
            unseen.run("logistic", data, "sick", cv=3, random_state=0).losses().split_means()
        )

    def test_no_such_column(self):
        with pytest.raises(UnknownName, match="did you mean 'sick'"):
            unseen.assess("logistic", frame(), "sic")

    def test_compare(self):
        c = unseen.compare("logistic", "dummy", frame(), "sick", cv=5, random_state=0)
        assert len(c.pairs) == 1


class TestGaps:
    def test_rows_without_a_target_are_left_out_and_counted(self):
        data = frame()
        data["sick"] = data.sick.astype(object)
        data.loc[[3, 10], "sick"] = None
        a = unseen.assess("logistic", data, "sick", groups="site", cv=3, random_state=0)
        whole = data.dropna()
        b = unseen.assess("logistic", whole, "sick", groups="site", cv=3, random_state=0)
        assert (a.error, a.data.n) == (b.error, 58)
        (found,) = (n for n in a.notes if n.code == "U043")
        assert found.text.startswith("2 of 60 rows lack the target 'sick'")
        assert "rows 4, 11" in found.text
        assert a.data.ids.tolist()[:5] == [1, 2, 3, 5, 6]
        with pytest.raises(InputError, match="missing in 2 of 60"):
            unseen.assess("logistic", data, "sick", missing_target="error")

    def test_names_of_rows_are_no_features(self):
        data = frame()
        named = data.assign(patient=[f"P{k:03}" for k in range(60)])
        a = unseen.assess("logistic", named, "sick", cv=3, random_state=0)
        b = unseen.assess("logistic", data, "sick", cv=3, random_state=0)
        assert (a.error, a.interval) == (b.error, b.interval)
        assert ("U044" in [n.code for n in a.notes], a.data.ids[2]) == (True, "P002")

    def test_a_model_that_picks_columns_gets_all(self):
        data = frame().assign(patient=[f"P{k:03}" for k in range(60)])
        model = make_pipeline(make_column_transformer(("passthrough", ["size", "weight"])), LogisticRegression())
        assert unseen.run(model, data, "sick", cv=3, random_state=0).data.names == ("size", "weight", "site", "patient")

    def test_texts_with_spaces_and_repeated_ones_stay(self):
        from unseen.datasets.identifiers import identifier_columns

        data = pd.DataFrame({"text": [f"row {k}" for k in range(20)], "code": list("ab") * 10, "key": range(20)})
        assert identifier_columns(data) == []


class WantsNumbers(ClassifierMixin, BaseEstimator):
    """Fits on the labels 0, 1, ... only, as XGBoost does."""

    def fit(self, X, y):
        if not np.array_equal(np.unique(y), np.arange(len(np.unique(y)))):
            raise ValueError(f"Invalid classes inferred from unique values of `y`. Got {np.unique(y)}")
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


def test_labels_become_numbers_for_models_that_want_them():
    want = unseen.run(GaussianNB(), IRIS, cv=5, scores=True, random_state=0)
    got = unseen.run(WantsNumbers(), IRIS, cv=5, scores=True, random_state=0)
    assert not got.failures
    assert np.array_equal(got.test.value, want.test.value)
    assert got.test.score == pytest.approx(want.test.score)
    shifted = unseen.run(WantsNumbers(), IRIS.X, IRIS.codes + 1, cv=5, random_state=0)
    assert np.array_equal(shifted.test.value, want.test.value)


class AlwaysFails(BaseEstimator, ClassifierMixin):
    def fit(self, X, y):
        raise ValueError("no way with these " + y.dtype.kind)

    def predict(self, X): ...


def test_the_first_reason_is_told_if_numbers_do_not_help():
    with pytest.raises(Exception, match="no way with these U"):
        unseen.run(AlwaysFails(), IRIS, cv=3, random_state=0)


@pytest.fixture(scope="module")
def split():
    order = np.random.default_rng(1).permutation(CANCER.n)
    X, y = CANCER.X[order], CANCER.y[order]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(X[:200], y[:200])
    return model, X[200:], y[200:]


class TestHeldOut:
    def test_every_number_is_that_of_the_test_set(self, split):
        model, X, y = split
        asked = ["accuracy", "roc_auc", "brier_score", "recall"]
        a = unseen.assess(model, X, y, prefit=True, scoring=asked, random_state=0)
        right = model.predict(X) == y
        assert a.headline.on_scale().value == pytest.approx(right.mean())
        n, z, p = len(y), 1.959963984540054, 1 - right.mean()
        centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        assert a.interval == pytest.approx(((centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)))
        p1 = model.predict_proba(X)[:, 1]
        assert a.also["auc"].on_scale().value == pytest.approx(roc_auc_score(y == "malignant", p1))
        assert a.also["brier"].value == pytest.approx(brier_score_loss(y == "malignant", p1))
        assert str(a.target) == "this model"
        assert a.headline.n_fits == 0
        assert a.baseline.on_scale().value == pytest.approx(np.mean(y == "benign"))

    @pytest.mark.slow
    @pytest.mark.sample
    def test_the_report_is_whole(self, split, tmp_path):
        a = unseen.assess(*split, prefit=True, random_state=0, name="screening")
        a.report(tmp_path / "out.html")
        page = (tmp_path / "out.html").read_text()
        for title in ("ROC curve", "Precision and recall", "Calibration", "screening", "held-out rows"):
            assert title in page
        assert "Nothing was fitted" in page
        json.dumps(a.to_dict(), allow_nan=False)

    def test_numbers_and_a_class_that_was_not_held_out(self):
        X, y = unseen.datasets.load("diabetes").xy
        a = unseen.assess(Ridge().fit(X[:300], y[:300]), X[300:], y[300:], prefit=True, random_state=0)
        mse = np.mean((Ridge().fit(X[:300], y[:300]).predict(X[300:]) - y[300:]) ** 2)
        assert a.error == pytest.approx(mse)
        assert {"absolute", "r2"} <= set(a.also)
        model = GaussianNB().fit(IRIS.X, IRIS.y)
        b = unseen.assess(model, IRIS.X[:100], IRIS.y[:100], prefit=True, random_state=0)
        assert b.error == pytest.approx(1 - model.score(IRIS.X[:100], IRIS.y[:100]))
        assert len(b.data.classes) == 3

    def test_refused(self, split):
        model, X, y = split
        with pytest.raises(InputError, match="fits nothing"):
            unseen.assess(model, X, y, prefit=True, cv=5)
        with pytest.raises(InputError, match="not fitted"):
            unseen.assess(LogisticRegression(), X, y, prefit=True)
        with pytest.raises(InputError, match="trained on labels such as"):
            unseen.assess(model, X, (y == "benign").astype(int), prefit=True)


def test_names_reprs_and_notebooks():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    a = unseen.assess(model, IRIS, cv=10, random_state=0)
    assert a.model == "logistic regression (pipeline of 2 steps)"
    assert "LogisticRegression" in a.settings["estimator"]
    assert unseen.assess(model, IRIS, cv=3, name="mine", random_state=0).model == "mine"
    t = unseen.run(model, IRIS, cv=3, random_state=0)
    for result in (a, a.headline, t, t.losses(), unseen.measure([0, 1, 1, 0] * 9, [0.1, 0.8, 0.7, 0.3] * 9)):
        assert "\n" not in repr(result)
        assert len(repr(result)) < 260
        assert repr(result).startswith(f"<{type(result).__name__}")
    html = a._repr_html_()
    assert "<svg" in html
    assert a.plain_sentence()[:40] in html
    assert "<details>" in html
    assert "range-t" in html.partition("<details>")[2]


class Odd:
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), "setosa")


def test_no_address_in_a_name():
    from unseen.models.naming import full_name, short_name

    assert short_name(Odd()) == "odd"
    assert "0x" not in full_name(Odd())
    assert short_name(lambda X: X) == "function"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RandomForestClassifier(20), "random forest (n_estimators=20)"),
        (ExtraTreesClassifier(), "extra trees"),
        (make_pipeline(StandardScaler(), RandomForestClassifier()), "random forest (pipeline of 2 steps)"),
        (BaggingClassifier(SVC()), "support vector machine (bagging)"),
        (AdaBoostClassifier(), "AdaBoost"),
        (StackingClassifier([("a", SVC())]), "stacking of 1 model"),
    ],
)
def test_an_ensemble_has_the_name_that_people_give_it(model, name):
    from unseen.models.naming import short_name

    assert short_name(model) == name


class TestInterval:
    def test_is_a_tuple_of_two(self):
        one = Interval(0.1, 0.3, 0.95)
        assert isinstance(one, tuple)
        assert (one[0], one[1], one[-1], len(one), *one) == (0.1, 0.3, 0.3, 2, 0.1, 0.3)
        assert (one.low, one.high, one.level) == (0.1, 0.3, 0.95)
        assert one == (0.1, 0.3)
        assert one != Interval(0.1, 0.3, 0.9)
        assert hash(one) == hash((0.1, 0.3))
        assert np.asarray(one).tolist() == [0.1, 0.3]
        assert 0.2 in one
        assert 0.4 not in one

    def test_survives(self):
        import copy
        from dataclasses import replace

        from unseen.core.result import from_dict, plain

        one = Interval(0.1, 0.3, 0.95)
        assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
        assert pickle.loads(pickle.dumps(one)).level == 0.95
        assert plain(one) == {"low": 0.1, "high": 0.3, "level": 0.95}
        assert from_dict(Interval, plain(one)) == one
        assert replace(one, level=0.9) == Interval(0.1, 0.3, 0.9)
        assert repr(one) == "Interval(low=0.1, high=0.3, level=0.95)"


def test_a_table_of_losses_is_estimated_as_it_is() -> None:
    X, y = unseen.datasets.load("iris").xy
    table = unseen.run(GaussianNB(), X, y, design=unseen.designs.RepeatedKFold(5, 2), random_state=0)
    direct = unseen.estimate(table, method="range-t")
    losses = table.losses()
    assert unseen.estimate(losses, method="range-t").value == direct.value == losses.split_means().mean()
    assert unseen.estimate(losses, method="range-t", loss="zero-one").interval == direct.interval
    with pytest.raises(InputError, match="the table holds zero-one, and brier was asked for"):
        unseen.estimate(losses, method="range-t", loss="brier")
