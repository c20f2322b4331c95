"""The command compare."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def unseen(monkeypatch, capsys):
    """Run the command line in this process: exit code, stdout, stderr."""
    from unseen.cli.app import main

    def run(*words):
        monkeypatch.setattr("sys.argv", ["unseen", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capsys.readouterr()
        return done.value.code, out, err

    return run


def test_table_winner_and_notes_on_stdout_and_report_on_disk(unseen, tmp_path):
    report = tmp_path / "cmp.html"
    code, out, err = unseen(
        "compare", "iris", "--model", "lda", "--model", "cart", "--model", "dummy", "--seed", 1, "--report", report
    )
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("These data cannot tell lda and cart apart; about ")
    assert lines[1] == (
        "Test: subsampling (the default up to 2,000 rows). Target: the difference of the algorithms trained on 94 of 150 rows."
    )
    assert [line.split(":")[0] for line in lines[2:5]] == ["lda", "cart", "dummy"]
    assert lines[5].split()[:3] == ["a", "b", "difference"]
    assert lines[6].startswith("lda")
    assert any("lda has the smaller error" in line for line in lines)
    assert "; correcting for the choice among 3 models leaves these digits as they are" in out
    assert "U024 selection" not in out  # 2.0% before and after: nothing to say
    assert "report:" in err
    page = report.read_text()
    assert "unseen compare iris --model lda" in page
    assert "<svg" in page


def test_json_is_the_same_for_the_same_seed(unseen):
    words = ("compare", "iris", "-m", "lda", "-m", "dummy", "--json", "--quiet", "--seed", 3, "--rope", 0.05)
    first, second = unseen(*words), unseen(*words)
    assert first[0] == 0
    content, again = json.loads(first[1]), json.loads(second[1])
    assert content["pairs"] == again["pairs"]
    assert content["pairs"][0]["rope"] == "a better"
    assert content["seed"] == 3


@pytest.mark.slow
@pytest.mark.sample
def test_measure_auc_is_no_single_hold_out(unseen):
    words = (
        "compare",
        "breast-cancer",
        "--n",
        120,
        "-m",
        "naive-bayes",
        "-m",
        "dummy",
        "--measure",
        "auc",
        "--json",
        "-q",
    )
    code, out, _ = unseen(*words)
    assert code == 0
    content = json.loads(out)
    pair = content["pairs"][0]
    assert (pair["test"], pair["loss"], pair["n_fits"]) == ("subsampling", "1 - auc", 400)
    assert content["sentence"].startswith("Ship naive-bayes: its AUC is ")
    assert content["test"] == "subsampling"
    assert content["reason"] == "the default up to 2,000 rows"
    assert content["target"] == "the algorithms trained on 75 of 120 rows"


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("measure", ["auc", "accuracy"])
def test_the_winner_of_a_score_has_the_largest(unseen, measure):
    words = (
        "compare",
        "breast-cancer",
        "--n",
        120,
        "-m",
        "lda",
        "-m",
        "cart",
        "-m",
        "dummy",
        "--measure",
        measure,
        "-q",
    )
    code, out, _ = unseen(*words, "--json")
    assert code == 0
    content = json.loads(out)
    scores = {name: 1 - row["estimate"] for name, row in content["models"].items()}
    won = content["winner"]
    called = {"auc": "AUC"}.get(measure, measure)
    assert (won["best"], won["loss"], won["measure"]["name"]) == (f"largest {called}", f"1 - {measure}", measure)
    assert won["name"] == max(scores, key=scores.get)
    shown = won["measure"]
    assert shown["naive"] == pytest.approx(max(scores.values()), abs=1e-12)
    assert shown["lower"] <= shown["corrected"] <= shown["naive"] <= 1
    assert [shown["lower"], shown["upper"]] == [1 - won["interval"]["high"], 1 - won["interval"]["low"]]
    text = unseen(*words)[1]
    naive, corrected, lower, upper = (f"{shown[key]:.4g}" for key in ("naive", "corrected", "lower", "upper"))
    told = f"largest {called}: {won['name']}, {naive}; "
    choice = "the choice among 3 models"
    if naive == corrected:
        assert f"{told}correcting for {choice} leaves these digits as they are" in text
    else:
        assert f"{told}corrected for {choice} {corrected} (95% interval {lower} to {upper})" in text
    seen, expected = (f"{shown[key]:.3g}" for key in ("naive", "corrected"))
    said = f"its {called} of {seen} looks larger than it is: expect {expected} of a model chosen like this" in text
    assert said == (seen != expected)
    assert f"has the larger {called}" in text
    assert "smallest" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "cart"), "at least two models"),
        (("-m", "cart", "-m", "cart"), "named twice"),
        (("-m", "cart", "-m", "lda", "--test", "anova"), "unknown test 'anova'"),
        (("-m", "cart", "-m", "lda", "--measure", "auc", "--test", "mcnemar"), "use test='corrected-t' or 'delong'"),
        (("-m", "cart", "-m", "lda", "--report", "/nowhere/at/all.html"), "does not exist"),
        (("-m", "cart", "-m", "lda", "--level", "2"), "level is 2"),
    ],
)
def test_misuse_is_one_sentence_and_code_2(unseen, words, message):
    code, out, err = unseen("compare", "iris", *words)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err
