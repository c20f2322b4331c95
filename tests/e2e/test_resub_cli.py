from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.assessment.resubstitute import resubstitute

skops_io = pytest.importorskip("skops.io")


def start(*arguments):
    """Run the command as a person does, in a process of its own."""
    return subprocess.run([sys.executable, "-m", "unseen", *map(str, arguments)], capture_output=True, text=True)


class Trap:
    """A pickle of it leaves a file where it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.fixture(scope="module")
def trained():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = unseen.datasets.load("iris")
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(data.X, data.y), data


@pytest.fixture(scope="module")
def files(trained, tmp_path_factory):
    from sklearn.linear_model import LinearRegression

    model, data = trained
    folder = tmp_path_factory.mktemp("resub")
    skops_io.dump(model, folder / "model.skops")
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    whole = (folder / "model.skops").read_bytes()
    (folder / "cut.skops").write_bytes(whole[: len(whole) // 2])
    (folder / "trap.skops").write_bytes(pickle.dumps(Trap(str(folder / "run"))))
    with open(folder / "zeros.skops", "wb") as file:
        file.truncate(2**30)
    skops_io.dump(LinearRegression().fit(data.X, data.codes), folder / "regression.skops")
    header = ",".join([*(f"x{k}" for k in range(data.n_features)), "kind"])
    rows = [",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(np.asarray(data.X), data.y)]
    (folder / "iris.csv").write_text("\n".join([header, *rows]) + "\n")
    numbers = [f"{row.rpartition(',')[0]},{k / 7!r}" for k, row in enumerate(rows)]
    (folder / "numbers.csv").write_text("\n".join([header, *numbers]) + "\n")
    (folder / "lonely.csv").write_text("\n".join([header, *rows[:101]]) + "\n")  # one flower of the third kind
    return folder


@pytest.mark.slow
@pytest.mark.sample
def test_a_model_file_is_assessed_without_training(files, trained):
    out = start("resub", files / "model.skops", files / "iris.csv", "--target", "kind", "--json", "--seed", "4")
    assert out.returncode == 0, out.stderr
    content = json.loads(out.stdout)
    model, data = trained
    expected = resubstitute(model, data, random_state=4)
    found = {e["method"]: e for e in content["estimates"]}
    assert found["resub"]["value"] == pytest.approx(np.mean(model.predict(data.X) != data.y))
    assert found["bolster"]["value"] == pytest.approx(expected["bolster"].value, abs=1e-12)
    assert all(e["n_fits"] == 0 for e in content["estimates"])


@pytest.mark.slow
@pytest.mark.sample
def test_one_method_with_an_option_a_threshold_and_a_report(run_unseen, forked_models, files):
    page = files / "report.html"
    out = run_unseen(
        "resub",
        files / "model.skops",
        files / "iris.csv",
        "-t",
        "kind",
        "-m",
        "posterior",
        "-o",
        "k=1",
        "--fail-if",
        "0.0",
        "--report",
        page,
    )
    assert out.returncode == 1, out.stderr
    assert "posterior" in out.stdout
    assert page.read_text().startswith("<!")


@pytest.mark.slow
@pytest.mark.sample
def test_a_threshold_goes_by_the_recipe_or_by_the_method_that_is_named_and_by_nothing_else(
    run_unseen, forked_models, files, trained
):
    from unseen.assessment.commands import _error_to_fail_by

    model, data = trained
    found = resubstitute(model, data, random_state=0)
    found = replace(found, estimates=found.estimates[::-1])  # whichever is listed first
    assert _error_to_fail_by(found, None) == found["auto-resub"].value
    assert _error_to_fail_by(found, ["posterior", "resub"]) == found["posterior"].value
    lonely = run_unseen("resub", files / "model.skops", files / "lonely.csv", "-t", "kind", "-q", "--fail-if", "0.5")
    assert lonely.returncode == 2
    assert "--fail-if goes by auto-resub, which is left out here" in lonely.stderr
    assert "resub" in lonely.stdout  # what was found is shown all the same


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("model.pkl", "iris.csv", "-t", "kind"), "pickle"),
        (("trap.skops", "iris.csv", "-t", "kind"), "pickle"),
        (("cut.skops", "iris.csv", "-t", "kind"), "cut short"),
        (("zeros.skops", "iris.csv", "-t", "kind"), "nothing but zeros"),
        (("regression.skops", "iris.csv", "-t", "kind"), "LinearRegression is a regression model"),
        (("model.skops", "lonely.csv", "-t", "kind", "-m", "bolster"), "has one point"),
        (("nothing.skops", "iris.csv", "-t", "kind"), "there is no file"),
        (("model.skops", "iris.csv", "-t", "kind", "-m", "kfold"), "retrains"),
        (("model.skops", "iris.csv", "-t", "kind", "-o", "k=1"), "exactly one --method"),
        (("model.skops", "iris.csv", "-t", "kind", "--drop", "x0", "-m", "bolster"), "features"),
        (
            ("model.skops", "numbers.csv", "-t", "kind"),
            "LogisticRegression is a classifier, and the target 'kind' holds numbers",
        ),
        (("model.skops", "iris.csv", "-t", "kind", "--classes", "setosa,rose"), "unknown label in --classes 'rose'"),
    ],
)
def test_misuse_is_a_sentence_and_exit_code_2(run_unseen, forked_models, files, arguments, words):
    out = run_unseen("resub", files / arguments[0], files / arguments[1], *arguments[2:])
    assert out.returncode == 2
    assert words in out.stderr
    assert "Traceback" not in out.stderr
    assert out.stdout == ""
    assert not (files / "run").exists(), "something in the file was run"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k=5", 5),
        ("scale=1.5", 1.5),
        ("exact=false", False),
        ("n-mc=none", None),
        ("kernel=full", "full"),
        ("bandwidth=0.3,0.5", [0.3, 0.5]),
        ("covariance=1,0.2;0.2,1", [[1, 0.2], [0.2, 1]]),
    ],
)
def test_options_in_words(text, value):
    from unseen.assessment.commands import _options

    assert _options([text]) == {text.partition("=")[0].replace("-", "_"): value}
