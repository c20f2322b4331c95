from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.core.errors import InputError
from unseen.study.commands import template, write_template
from unseen.study.spec import StudySpec, as_spec

BASE = {
    "name": "s",
    "sizes": [20],
    "populations": ["gaussian-blocks"],
    "models": ["knn:3"],
    "methods": ["resub"],
}

WRONG = {
    "unknown key": ({"replicatons": 3}, r"replicatons: unknown key; did you mean 'replications'\?$"),
    "unknown key inside": ({"methods": [{"id": "resub", "optoins": {}}]}, r"methods\[0\]\.optoins: .*'options'\?"),
    "unknown key of the budget": ({"budget": {"second": 3}}, r"budget\.second: .*'seconds'"),
    "a text for a number": ({"replications": "many"}, r"replications: 'many' was given; a whole number is needed"),
    "a fraction for a count": ({"replications": 2.5}, r"replications: 2\.5 was given; a whole number is needed"),
    "a truth value for a number": ({"seed": True}, "seed: true was given; a number is needed"),
    "too few": ({"replications": 1}, "replications: 1 was given; it must be at least 2"),
    "level": ({"level": 1.5}, "level: 1.5 was given; it must be less than 1"),
    "no sizes": ({"sizes": []}, "sizes: .* at least one entry"),
    "a size of 2": ({"sizes": [20, 2]}, r"sizes\[1\]: 2 was given; it must be at least 4"),
    "a size twice": ({"sizes": [20, 20]}, r"sizes\[1\]: 20 is there twice"),
    "one internal run": ({"internal": 1}, "internal: 1 was given; it must be 0, or at least 2"),
    "unknown method": ({"methods": ["bolstr"]}, r"methods\[0\]\.id: .*'bolster'"),
    "unknown option": ({"methods": [{"id": "bolster", "options": {"n_cm": 3}}]}, r"methods\[0\]\.options: .*'n_mc'"),
    "wrong option": (
        {"methods": [{"id": "bolster", "options": {"average": "x"}}]},
        r"methods\[0\]\.options: .*average",
    ),
    "the same method twice": ({"methods": ["resub", "resub"]}, r"methods\[1\]: 'resub' is there twice"),
    "the same under two names": (
        {"methods": ["resub", {"id": "resub", "name": "r"}]},
        r"methods\[1\]: it differs from methods\[0\] in its name only",
    ),
    "unknown model": ({"models": ["kn"]}, r"models\[0\]\.model: .*'knn'"),
    "model of another task": ({"models": ["ols"]}, r"models\[0\]\.model: ols does regression"),
    "unknown parameter": (
        {"models": [{"model": "knn", "parameters": {"n_neighbours": 3}}]},
        r"models\[0\]\.model: .*'n_neighbors'",
    ),
    "unknown population": ({"populations": ["gausian"]}, r"populations\[0\]\.id: .*'gaussian-blocks'"),
    "population without source": ({"populations": [{}]}, r"populations\[0\]: none was given; exactly one of id"),
    "population of two": (
        {"populations": [{"id": "ar-linear", "data": "iris"}]},
        r"populations\[0\]: id and data was given; exactly one",
    ),
    "population option": (
        {"populations": [{"id": "gaussian-blocks", "options": {"detla": 1}}]},
        r"populations\[0\]\.id: .*'delta'",
    ),
    "no such file": ({"populations": [{"data": "no.csv"}]}, r"populations\[0\]\.data: there is no file"),
    "no such module": ({"populations": [{"factory": "no_such:X"}]}, r"populations\[0\]\.factory: importing 'no_such'"),
    "not module:name": ({"populations": [{"factory": "os.system('x')"}]}, "is not module:name"),
    "too large a sample": (
        {"populations": [{"data": "iris"}], "sizes": [145]},
        "a sample of 145 leaves 5 of 150 rows",
    ),
    "measure that is no mean": ({"loss": "auc"}, "loss: auc is no mean over cases"),
    "design it cannot use": ({"methods": [{"id": "kfold", "design": "loo"}]}, r"methods\[0\]\.design: 'loo' was given"),
    "unknown design": ({"methods": [{"id": "kfold", "design": "kfod"}]}, r"methods\[0\]\.design: .*'kfold'"),
    "design for what does not resample": (
        {"methods": [{"id": "resub", "design": "kfold"}]},
        "resub does not resample",
    ),
    "nothing to do": ({"methods": []}, "neither a method nor a comparison"),
    "unknown model of a pair": (
        {"comparisons": [{"model_a": "cart", "model_b": "knn:3"}]},
        r"comparisons\[0\]\.model_a: unknown model of this study 'cart'",
    ),
    "a pair of one": (
        {"comparisons": [{"model_a": "knn:3", "model_b": "knn:3"}]},
        "'knn:3' cannot be compared with itself",
    ),
    "half a pair": ({"comparisons": [{"model_a": "knn:3"}]}, r"comparisons\[0\]\.model_b: this key is needed"),
    "a loss of its own": (
        {"methods": [{"id": "bca", "options": {"measure": "auc"}}]},
        r"methods\[0\]\.options\.measure: all methods of a study have one loss",
    ),
    "a test of areas": (
        {"models": ["knn:3", "cart"], "comparisons": [{"model_a": "knn:3", "model_b": "cart", "test": "delong"}]},
        r"comparisons\[0\]\.test: delong compares areas",
    ),
    "a date": (
        {"methods": [{"id": "bolster", "options": {"n_mc": datetime.date(2024, 1, 2)}}]},
        r"methods\[0\]\.options\.n_mc: 2024-01-02 was given; a number, text",
    ),
    "not a number": (
        {"populations": [{"id": "gaussian-blocks", "options": {"delta": float("nan")}}]},
        r"populations\[0\]\.options\.delta: nan was given; a finite number",
    ),
    "too many tasks": (
        {"replications": 10_000_000, "sizes": [20, 30], "methods": ["resub", "loo", "kfold"]},
        "the study would have 60,000,000 tasks",
    ),
    "no test": (
        {"models": ["knn:3", "cart"], "comparisons": [{"model_a": "knn:3", "model_b": "cart", "test": "friedman"}]},
        "friedman is no test of the difference of two models",
    ),
    "empty name": ({"name": ""}, "name: '' was given"),
    "name with a line end": ({"name": "a\nb"}, "name: .* printable characters"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_spec_is_refused_with_its_key_path(case):
    change, message = WRONG[case]
    with pytest.raises(InputError, match=message) as found:
        StudySpec.of({**BASE, **change})
    assert str(found.value).startswith("the spec: ")


def test_a_missing_key_is_named():
    with pytest.raises(InputError, match="sizes: this key is needed and was not given"):
        StudySpec.of({k: v for k, v in BASE.items() if k != "sizes"})


def test_many_mistakes_are_told_at_once():
    wrong = {f"key{k}": 1 for k in range(9)}
    with pytest.raises(InputError, match="and 4 more mistakes"):
        StudySpec.of({**BASE, **wrong})


def test_broken_toml_is_refused_with_its_line(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('name = "s"\nsizes = [20\nseed 3\n')
    with pytest.raises(InputError, match=r"s\.toml is not valid TOML: .*line 3"):
        StudySpec.read(path)


@pytest.mark.parametrize(("content", "message"), [(b"\xff\xfe", "not UTF-8"), (None, "there is no file")])
def test_unreadable_files_are_refused(tmp_path, content, message):
    path = tmp_path / "s.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        StudySpec.read(path)
    with pytest.raises(InputError, match="cannot read"):
        StudySpec.read(tmp_path)


def test_a_spec_survives_its_dict():
    spec = StudySpec.of({**BASE, "comparisons": [], "budget": {"seconds": 5}})
    assert StudySpec.of(spec.to_dict()) == spec


def test_names_and_parameters_make_one_text():
    spec = StudySpec.of({**BASE, "models": [{"model": "knn:3", "parameters": {"weights": "distance"}, "name": "near"}]})
    assert spec.models[0].text == "knn:3,weights='distance'"
    assert spec.models[0].label == "near"


def test_as_spec_takes_dict_path_and_spec(tmp_path):
    path = write_template(tmp_path / "mine.toml")
    assert as_spec(path).name == "mine"
    assert as_spec(str(path), "other").name == "other"
    assert as_spec(as_spec(BASE), "other").name == "other"
    with pytest.raises(InputError, match="the spec is a int"):
        as_spec(3)


def test_the_template_is_a_valid_spec_and_is_never_overwritten(tmp_path):
    path = write_template(tmp_path / "my study.toml")
    spec = StudySpec.read(path)
    assert spec.name == "my study"
    assert {c["kind"] for c in spec.cells()} == {"estimate", "comparison"}
    with pytest.raises(InputError, match="is not overwritten"):
        write_template(path)
    with pytest.raises(InputError, match="cannot write"):
        write_template(tmp_path / "no" / "s.toml")


def test_a_name_with_quotation_marks_cannot_break_the_template():
    import tomllib

    assert tomllib.loads(template('x" \nseed = 9 #'))["seed"] == 0


@pytest.mark.parametrize("name", ["rows.csv", "parts"])
def test_data_files_are_looked_for_beside_the_spec(name, tmp_path, monkeypatch):
    k = np.arange(60)
    rows = pd.DataFrame({"u": k % 7, "v": k % 3, "kind": np.array(["a", "b"])[k % 2]})
    if name == "parts":
        (tmp_path / name).mkdir()
        for part, some in rows.groupby(k // 30):
            some.to_parquet(tmp_path / name / f"{part}.parquet")
    else:
        rows.to_csv(tmp_path / name, index=False)
    (tmp_path / "s.toml").write_text(
        f'name="s"\nsizes=[20]\nmodels=["cart"]\nmethods=["resub"]\n[[populations]]\ndata="{name}"\ntarget="kind"\n'
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    cell = StudySpec.read(tmp_path / "s.toml").cells()[0]
    assert cell["population"] == name
    assert cell["loss"] == "zero-one"
    assert cell["source"]["fingerprint"]


def test_the_folder_is_not_for_the_user_to_say(tmp_path):
    (tmp_path / "s.toml").write_text(
        'name="s"\nsizes=[20]\nmodels=["cart"]\nmethods=["resub"]\nfolder="/"\npopulations=["gaussian-blocks"]\n'
    )
    with pytest.raises(InputError, match="folder: unknown key"):
        StudySpec.read(tmp_path / "s.toml")


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 60)
    | st.floats(width=16)
    | st.text(max_size=8)
    | st.sampled_from(
        ["resub", "knn:3", "cart", "iris", "gaussian-blocks", "corrected-t", "kfold", "holdout", "os:getcwd", "../x"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "name",
                    "data",
                    "factory",
                    "model",
                    "options",
                    "parameters",
                    "design",
                    "test",
                    "model_a",
                    "seconds",
                    "task",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
KEYS = [*StudySpec.model_fields, "replicatons"]


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from([k for k in KEYS if k != "folder"]), PLAIN, max_size=3))
def test_whatever_is_given_is_a_spec_or_refused_in_words(change):
    words = refusal({**BASE, **change})
    assert words is None or words.startswith("the spec: ")


def refusal(content):
    """Return the words a spec is refused with, None where it is taken; any other error is a failure."""
    try:
        assert StudySpec.of(content).cells()
    except InputError as error:
        return str(error)
    return None
