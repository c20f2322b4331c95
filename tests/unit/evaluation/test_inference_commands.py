"""The commands distribution, predictions, disagree, power and plan-test-size."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def unseen(monkeypatch, capsys):
    """Run the command line in this process: exit code, stdout, stderr."""
    from unseen.cli.app import main

    def run(*words, cwd=None):
        if cwd is not None:
            monkeypatch.chdir(cwd)
        monkeypatch.setattr("sys.argv", ["unseen", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capsys.readouterr()
        return done.value.code, out, err

    return run


@pytest.fixture
def pair(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.choice(["yes", "no"], 120)
    for name, right in (("a", 0.9), ("b", 0.7)):
        frame = pd.DataFrame({"item": range(120), "y": y, "yhat": np.where(rng.random(120) < right, y, "no")})
        frame["topic"] = frame.item // 10
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_predictions_one_and_two_files(unseen, pair):
    options = ("--truth", "y", "--pred", "yhat", "--id", "item")
    code, out, _ = unseen("predictions", "a.csv", "b.csv", *options, "--json", "--report", "r.html", cwd=pair)
    result = json.loads(out)
    assert code == 0
    assert result["n"] == 120
    assert [t["test"] for t in result["tests"]] == ["mcnemar", "permutation"]
    assert "<svg" in (pair / "r.html").read_text()
    code, out, _ = unseen("predictions", "a.csv", *options, "--cluster", "topic", cwd=pair)
    assert code == 0
    assert "wilson" in out
    assert unseen("predictions", "a.csv", *options, "--fail-if", "0.0", cwd=pair)[0] == 1


def test_disagree_round_trip(unseen, pair):
    words = ("disagree", "a.csv", "b.csv", "--budget", "12", "--out", "to_label.csv", "--json")
    code, out, err = unseen(*words, cwd=pair)
    assert code == 0
    assert json.loads(out)["requested"] == 12
    assert "--labelled" in err
    truth = pd.read_csv(pair / "a.csv", dtype=str).set_index("item").y
    with (pair / "to_label.csv").open() as file:
        rows = list(csv.DictReader(file))
    pd.DataFrame([{**row, "label": truth[row["id"]]} for row in rows]).to_csv(pair / "to_label.csv", index=False)
    code, out, _ = unseen("disagree", "--labelled", "to_label.csv", "--json", cwd=pair)
    result = json.loads(out)
    assert code == 0
    assert result["labels"] == 12
    assert result["lower"] <= result["difference"] <= result["upper"]


def test_power_and_plan(unseen):
    code, out, _ = unseen("power", "--n", 300, "--difference", 0.03, "--disagreement", 0.2, "--json")
    assert code == 0
    assert json.loads(out)["power"] == pytest.approx(0.213, abs=5e-4)
    code, out, _ = unseen("plan-test-size", "--half-width", 0.05, "--json")
    assert json.loads(out)["n"] == 385


def test_distribution_of_one_and_two_models(unseen):
    words = ("distribution", "diabetes", "--n", 100, "--splits", 20, "--quiet")
    code, out, err = unseen(*words, "--model", "ols", "--json")
    assert code == 0
    assert err == ""
    assert json.loads(out)["n_splits"] == 20
    code, out, _ = unseen(*words, "--model", "ols", "--model", "dummy")
    assert code == 0
    assert "naive" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("power", "--n", 300), "give two"),
        (("plan-test-size", "--half-width", 0), "positive"),
        (("disagree",), "two files"),
        (("disagree", "--labelled", "nosuch.csv"), "nosuch.csv"),
        (("predictions", "nosuch.csv", "--score", "s"), "nosuch.csv"),
        (("distribution", "iris", "-m", "lda", "-m", "qda", "-m", "cart"), "3 models"),
    ],
)
def test_misuse_is_a_sentence_and_code_2(unseen, words, message, tmp_path):
    code, out, err = unseen(*words, cwd=tmp_path)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err
