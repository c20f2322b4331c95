"""The call that a report shows gives the same numbers again, whatever was given beside features and target."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.diagnosis.diagnose import DiagnosisEffort
from unseen.show.sections import Code, Table, build

N = 96
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 3))
Y = np.where(X[:, 0] + RNG.normal(size=N) > 0, "ill", "well")
GROUPS = np.repeat(np.arange(24), 4)
SITE = np.where(np.arange(N) % 3 == 0, "north", "south")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
    outcome=Y, ward=GROUPS, day=np.arange(N), weight=1 + GROUPS % 3, patient=[f"P{k}" for k in range(N)], site=SITE
)


def geometric_mean(y_true, y_pred):
    return float(np.sqrt(np.prod([np.mean(y_pred[y_true == c] == c) for c in np.unique(y_true)])))


def code_of(result):
    """The code under "How to repeat this"."""
    (made,) = [s for s in build(result) if s.title == "How to repeat this"]
    (code,) = [b.text for b in made.blocks if isinstance(b, Code)]
    return code


def run_again(result, **names):
    """What the printed code gives, with nothing but the package and the data in reach."""
    *imports, call = code_of(result).splitlines()
    space = {"unseen": unseen, **names}
    exec("\n".join(imports), space)
    return eval(call, space)


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k != "seconds"}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def same(result, again):
    return without_times(again.to_dict()) == without_times(result.to_dict())


def test_every_way_to_repeat_names_the_versions_it_speaks_of():
    import sklearn

    fitted = LogisticRegression().fit(X, Y)
    made = [
        unseen.measure(Y, np.linspace(0, 1, N), n_bootstrap=100, random_state=0),
        unseen.compare("cart", "naive-bayes", X, Y, design=unseen.designs.MonteCarlo(0.3, 8), random_state=0),
        unseen.resubstitute(fitted, X, Y, methods=["resub"], random_state=0),
        unseen.distribution("naive-bayes", X, Y, n_splits=10, random_state=0),
        unseen.permutation_test("naive-bayes", X, Y, n_permutations=20, random_state=0),
    ]
    for result in made:
        section = next(s for s in build(result) if s.title == "How to repeat this")
        facts = {name: value for block in section.blocks if isinstance(block, Table) for name, value in block.rows}
        packages = {"unseen", "python", "numpy", "scipy", "scikit-learn"}
        assert {f"{name} version" for name in packages} <= set(facts), type(result)
        assert facts["scikit-learn version"] == sklearn.__version__


DATA = {"X": X, "y": Y}
SITUATIONS = {
    "plain": {},
    "groups": {"groups": GROUPS},
    "time": {"time": np.arange(N)[::-1]},
    "weights": {"sample_weight": 1.0 + GROUPS % 3},
    "by": {"by": {"site": SITE}},
    "by a frame": {"by": FRAME[["site"]]},
    "by a series": {"by": FRAME["site"]},
    "ids": {"ids": np.arange(N) + 100},
    "positive": {"positive": "ill", "measure": "f1"},
    "copies apart": {"duplicates": "apart"},
    "measure by name": {"scoring": "f1_macro"},
    "measure with options": {"measure": unseen.measures.Cost(((0, 1), (5, 0)))},
    "a scorer": {"scoring": make_scorer(fbeta_score, beta=2, pos_label="ill")},
    "a function": {"measure": geometric_mean},
    "folds": {"cv": 8},
    "a splitter": {"cv": KFold(8, shuffle=True, random_state=2)},
    "a splitter of groups": {"cv": GroupKFold(8), "groups": GROUPS},
    "a splitter with an array": {"cv": PredefinedSplit(np.arange(N) % 8)},
    "pairs": {"cv": [(np.flatnonzero(np.arange(N) % 5 != k), np.flatnonzero(np.arange(N) % 5 == k)) for k in range(5)]},
    "level": {"level": 0.8},
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_an_assessment_is_repeated_by_its_report(situation):
    given = SITUATIONS[situation]
    effort = {} if "cv" in given else {"effort": "repeats=1,bootstrap=20,leave_out=0,curve=0,direct=0"}
    a = unseen.assess("cart", X, Y, random_state=np.random.default_rng(3), **effort, **given)
    names = {"geometric_mean": geometric_mean, "site": SITE}
    assert same(a, run_again(a, **DATA, **{**names, **given}))


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_comparison_is_repeated_by_its_report(situation):
    given = SITUATIONS[situation]
    more = {} if "cv" in given or "time" in given else {"design": unseen.designs.MonteCarlo(0.3, 8)}
    models = {"tree": DecisionTreeClassifier(max_depth=2), "bayes": "naive-bayes"}
    c = unseen.compare(models, X, Y, random_state=4, rope=0.05, adjust="none", **more, **given)
    names = {"geometric_mean": geometric_mean, "site": SITE}
    assert same(c, run_again(c, models=models, **DATA, **{**names, **given}))


def test_columns_of_a_frame_are_named_as_they_were():
    data = FRAME.drop(columns=["day", "patient"])
    roles = {"groups": "ward", "sample_weight": "weight", "by": ["site"]}
    a = unseen.assess("cart", data, "outcome", quick=True, random_state=0, **roles)
    assert code_of(a).startswith(
        "unseen.assess('cart', X, 'outcome', groups='ward', sample_weight='weight', random_state=0"
    )
    assert same(a, run_again(a, X=data))
    timed = unseen.compare(
        ["cart", "naive-bayes"],
        FRAME.drop(columns=["ward", "weight"]),
        "outcome",
        time="day",
        ids="patient",
        random_state=0,
    )
    assert (
        code_of(timed)
        == "unseen.compare(['cart', 'naive-bayes'], X, 'outcome', time='day', ids='patient', random_state=0)"
    )
    assert same(timed, run_again(timed, X=FRAME.drop(columns=["ward", "weight"])))


def test_a_file_and_a_sample_are_named_as_they_were(tmp_path):
    file = tmp_path / "wards.csv"
    FRAME.drop(columns=["day", "patient", "weight"]).to_csv(file, index=False)
    a = unseen.assess("cart", file, "outcome", groups="ward", quick=True, random_state=0)
    assert same(a, run_again(a))
    data = unseen.datasets.as_data(X, Y, groups=GROUPS)
    b = unseen.assess("cart", data, quick=True, random_state=0)
    assert code_of(b).startswith("unseen.assess('cart', data, random_state=0")
    assert same(b, run_again(b, data=data))


def test_two_models_and_tables_stand_as_they_were_given():
    one = unseen.compare(
        DecisionTreeClassifier(), "naive-bayes", X, Y, design=unseen.designs.RepeatedKFold(5, 2), random_state=1
    )
    assert code_of(one).startswith("unseen.compare(a, 'naive-bayes', X, y, random_state=1")
    assert same(one, run_again(one, a=DecisionTreeClassifier(), **DATA))
    tables = [unseen.run(name, X, Y, cv=6, random_state=2) for name in ("cart", "naive-bayes")]
    kept = unseen.compare(*tables, level=0.9)
    assert same(kept, run_again(kept, tables=tables))
    named = unseen.compare(dict(zip("uv", tables)), test="corrected-t")
    assert same(named, run_again(named, tables=dict(zip("uv", tables))))


def test_a_budget_is_repeated_by_the_effort_that_it_allowed():
    a = unseen.assess("cart", X, Y, budget=30, rounds=1, random_state=3)
    assert "budget" not in code_of(a)
    again = run_again(a, **DATA)
    assert (again.error, again.interval, list(again.estimates)) == (a.error, a.interval, list(a.estimates))


def test_rows_held_out_are_judged_again_by_all_that_was_asked():
    fitted = LogisticRegression().fit(X[:40], Y[:40])
    a = unseen.assess(
        fitted, X[40:], Y[40:], prefit=True, measures=["auc", "brier"], groups=GROUPS[40:], positive="ill",
        by={"site": SITE[40:]}, level=0.9,
    )  # fmt: skip
    assert same(a, run_again(a, model=fitted, X=X[40:], y=Y[40:], groups=GROUPS[40:], site=SITE[40:]))


MEASURED = {
    "probabilities": ({"y_score": np.linspace(0, 1, N)}, {"positive": "ill", "threshold": 0.4}),
    "labels of groups": ({"y_score": np.roll(Y, 1)}, {"groups": GROUPS, "measures": ["f1_macro", geometric_mean]}),
    "weights and slices": ({"y_score": np.roll(Y, 1)}, {"sample_weight": 1.0 + GROUPS, "by": {"site": SITE}}),
    "decisions and costs": (
        {"y_score": np.linspace(0, 1, N)},
        {"y_pred": np.roll(Y, 1), "costs": [[0, 1], [5, 0]], "prevalence": 0.1, "stratified": False},
    ),
}


@pytest.mark.parametrize("name", MEASURED)
def test_measures_are_repeated_by_their_report(name):
    first, given = MEASURED[name]
    m = unseen.measure(Y, **first, n_bootstrap=100, random_state=None, **given)
    again = run_again(m, y_true=Y, site=SITE, geometric_mean=geometric_mean, **{**first, **given})
    assert same(m, again)


def test_measures_of_numbers_with_several_outputs_are_repeated():
    truth = pd.DataFrame(X[:, :2], columns=["a", "b"])
    m = unseen.measure(truth, truth + 0.3, n_bootstrap=100, random_state=6)
    assert same(m, run_again(m, y_true=truth, y_score=truth + 0.3))


def test_files_of_predictions_are_repeated_by_their_report(tmp_path):
    rng = np.random.default_rng(0)
    frames = {}
    for name in ("old", "new"):
        said = np.where(rng.random(N) < 0.2, "ill", Y)
        frames[name] = pd.DataFrame({"item": np.arange(N), "y": Y, "yhat": said, "ward": GROUPS, "site": SITE})
        frames[name].to_csv(tmp_path / f"{name}.csv", index=False)
    given = {"truth": "y", "pred": "yhat", "id": "item", "cluster": "ward", "by": "site", "random_state": 5}
    files = unseen.predictions(tmp_path / "old.csv", tmp_path / "new.csv", measure="f1_macro", **given)
    assert same(files, run_again(files))
    named = unseen.predictions(frames, **given, adjust="none", level=0.9)
    assert same(named, run_again(named, files=frames))
    loose = unseen.predictions(frames["old"], frames["new"], names=["a", "b"], **given)
    assert same(loose, run_again(loose, files=list(frames.values())))


def test_a_diagnosis_is_repeated_by_its_report():
    effort = DiagnosisEffort(splits=12, sizes=3, repeats=2, noise=2, permutations=9, bootstrap=4, importance=1)
    others = {"knn": KNeighborsClassifier(3)}
    d = unseen.diagnose(
        "cart", FRAME[["a", "b", "c"]], Y, groups=GROUPS, others=others, noise="features", rates=(0.0, 0.5),
        together={"ab": ["a", "b"]}, effort=effort, random_state=None,
    )  # fmt: skip
    assert same(d, run_again(d, X=FRAME[["a", "b", "c"]], y=Y, groups=GROUPS, others=others))


OTHERS = {
    "an estimate": lambda: unseen.estimate("cart", X, Y, method="632plus", groups=GROUPS, random_state=None),
    "an estimate of given splits": lambda: unseen.estimate("cart", X, Y, cv=5, scoring="roc_auc", random_state=1),
    "an estimate with options": lambda: unseen.estimate("lda", X, Y, method="bolster", average="class", random_state=2),
    "the usual estimate": lambda: unseen.estimate("cart", X, Y, random_state=2, level=0.9),
    "a distribution": lambda: unseen.distribution("cart", X, Y, n_splits=12, fraction=0.3, random_state=None),
    "a test of dependence": lambda: unseen.permutation_test("cart", X, Y, n_permutations=9, random_state=None),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_report_that_draws_is_repeated_too(name):
    made = OTHERS[name]()
    assert same(made, run_again(made, groups=GROUPS, **DATA))


def test_estimates_without_retraining_are_repeated():
    fitted = LogisticRegression().fit(X, Y)
    found = unseen.resubstitute(fitted, X, Y, groups=GROUPS, methods=["bolster"], options={"average": "class"})
    assert same(found, run_again(found, fitted=fitted, groups=GROUPS, **DATA))
