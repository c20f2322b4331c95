"""What a build server reads: exit codes, JUnit XML, a Markdown summary, and the pytest plug-in."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import unseen
from unseen.cli.app import _attach_commands, app
from unseen.testing import assert_model

_attach_commands()


@pytest.fixture
def files(tmp_path):
    """Two files of the same 200 cases: the old one is wrong in 20, the new one in 30."""
    y = np.arange(200) % 2
    for name, wrong in (("old", 20), ("new", 30)):
        said = np.where(np.arange(200) < wrong, 1 - y, y)
        pd.DataFrame({"id": np.arange(200), "y": y, "pred": said}).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path / "old.csv", tmp_path / "new.csv"


def call(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.mark.parametrize(("margin", "code"), [(0.04, 1), (0.06, 0), (0, 1)])
def test_worse_predictions_fail_a_build(files, tmp_path, margin, code):
    xml, page = tmp_path / "junit.xml", tmp_path / "summary.md"
    page.write_text("before\n")
    shared = ("predictions", *files, "--truth", "y", "--pred", "pred", "--id", "id", "--json")
    out = call(*shared, "--fail-if-worse", margin, "--junit", xml, "--summary", page)
    assert out.exit_code == code
    json.loads(out.output)
    root = ElementTree.fromstring(xml.read_text())
    (case,) = root.iter("testcase")
    assert root.get("failures") == str(code)
    assert (case.find("failure") is not None) == bool(code)
    text = page.read_text()
    assert text.startswith("before\n### unseen: old.csv, new.csv")
    assert "The error of new.csv is 5.0 points larger than that of old.csv" in text
    assert ("FAILED" in text) == bool(code)
    back = call("predictions", *files[::-1], *shared[3:], "--fail-if-worse", 0)
    assert back.exit_code == 0


def test_one_file_is_not_enough(files):
    out = call("predictions", files[0], "--truth", "y", "--pred", "pred", "--fail-if-worse", 0.1)
    assert isinstance(out.exception, unseen.UnseenError)


def test_assess_writes_both(tmp_path):
    xml, page = tmp_path / "junit.xml", tmp_path / "summary.md"
    shared = ("assess", "iris", "--model", "lda", "--cv", 10, "--seed", 0, "-q", "--junit", xml, "--summary", page)
    assert call(*shared, "--fail-if", 0.1).exit_code == 0
    assert ElementTree.fromstring(xml.read_text()).get("failures") == "0"
    assert call(*shared, "--fail-if", 0.001).exit_code == 1
    failure = next(ElementTree.fromstring(xml.read_text()).iter("failure"))
    assert "is expected to misclassify" in failure.get("message")
    assert page.read_text().count("### unseen: iris, lda") == 2
    assert "| zero-one |" in page.read_text()


class TestAssertion:
    def test_the_interval_decides_not_the_value(self):
        iris = unseen.datasets.load("iris")
        a = assert_model("lda", iris, error_below=0.2, cv=10)
        between = (a.error + a.interval.high) / 2
        assert a.error < between
        with pytest.raises(AssertionError, match="must be below"):
            assert_model("lda", iris, error_below=between, cv=10)

    def test_scores_and_numbers(self):
        cancer = unseen.datasets.load("breast-cancer")
        a = assert_model("lda", cancer, measure="roc_auc", score_above=0.9, cv=10)
        with pytest.raises(AssertionError, match="must be above"):
            assert_model("lda", cancer, measure="roc_auc", score_above=a.headline.on_scale().value - 1e-4, cv=10)
        X, y = unseen.datasets.load("diabetes").xy
        assert_model("ridge", X, y, error_below=70, cv=10)
        with pytest.raises(AssertionError, match="must be below 55"):
            assert_model("ridge", X, y, error_below=55, cv=10)

    def test_a_number_that_cannot_be_trusted_does_not_pass(self):
        rng = np.random.default_rng(0)
        y = np.arange(60) % 2
        X = np.column_stack([y + 0.0, rng.normal(size=(60, 2))])
        with pytest.raises(AssertionError, match="Do not trust"):
            assert_model("logistic", X, y, error_below=0.5, cv=10)

    def test_misuse(self):
        iris = unseen.datasets.load("iris")
        with pytest.raises(TypeError, match="not both"):
            assert_model("lda", iris)
        with pytest.raises(TypeError, match="score_above"):
            assert_model("lda", iris, measure="accuracy", error_below=0.1, cv=10)
        with pytest.raises(TypeError, match="error_below"):
            assert_model("lda", iris, score_above=0.1, cv=10)


@pytest.mark.slow
@pytest.mark.sample
def test_the_plug_in_in_a_test_run(tmp_path):
    (tmp_path / "test_model.py").write_text(
        "import unseen\n"
        "iris = unseen.datasets.load('iris')\n"
        "def test_good(unseen_assert):\n    unseen_assert('lda', iris, error_below=0.2, cv=10)\n"
        "def test_better(unseen_assert):\n    unseen_assert('lda', iris, error_below=0.05, level=0.99, cv=10)\n"
    )
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(tmp_path),
    ]
    out = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert "1 failed, 1 passed" in out.stdout
    assert "The interval reaches" in out.stdout


def test_a_broken_installation_is_no_finding():
    """A package that cannot be imported ends with 70; 1 is kept for findings."""
    code = "import sys; sys.modules['typer'] = None; import unseen.__main__ as m; m.main()"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.returncode == 70
    assert "the installation is broken" in out.stderr
    assert "Traceback" not in out.stderr


def test_a_wrong_budget_is_said_as_it_was_typed():
    import subprocess
    import sys

    words = [sys.executable, "-m", "unseen", "assess", "iris", "--budget", "-3"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "budget is -3.0; give seconds above 0" in done.stderr
