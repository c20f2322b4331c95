"""Every kind of bad input through the real command: exit code 2, one paragraph on stderr, no traceback, JSON where asked."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from unseen.cli import app as cli

GOOD = "id,a,b,g,w,y\n" + "".join(f"r{k},{k * 7 % 11},{k * 5 % 13},{k % 4},1,{'uv'[k % 2]}\n" for k in range(40))
FILES: dict[str, str | bytes] = {
    "good.csv": GOOD,
    "empty.csv": "",
    "header.csv": "a,b,y\n",
    "bars.csv": GOOD.replace(",", "~"),
    "semicolon.csv": "a;b;y\n1.234,5;2;u\n3,5;4;v\n",
    "one_class.csv": "a,b,y\n1,2,u\n3,4,u\n5,6,u\n",
    "one_row.csv": "a,b,y\n1,2,u\n",
    "nan_target.csv": GOOD.replace("r3,10,2,3,1,v", "r3,10,2,3,1,"),
    "infinite.csv": GOOD.replace("r3,10,2,", "r3,inf,2,"),
    "twice.csv": "a,a,y\n1,2,u\n3,4,v\n",
    "ragged.csv": GOOD + "r40,1,2\n",
    "binary.csv": bytes(range(256)) * 8,
    "text_weight.csv": GOOD.replace(",1,u", ",heavy,u"),
    "one_group.csv": "g,a,y\n" + "".join(f"1,{k},{k % 2}\n" for k in range(30)),
    "damaged.csv.gz": gzip.compress(GOOD.encode())[:-9],
    "sheet.xlsx": b"PK\x03\x04" + b"\0" * 20 + b"[Content_Types].xml",
    "sparse.arff": "@relation r\n@attribute a numeric\n@attribute y {u,v}\n@data\n{0 1, 1 u}\n",
    "bad.parquet": b"PAR1nothing",
    "bad.npz": b"PK\x03\x04nothing",
}

CASES = {
    "missing file": (["nothere.csv", "-t", "y"], "there is no file 'nothere.csv'"),
    "unknown name": (["irs"], "did you mean 'iris'"),
    "directory": ([".", "-t", "y"], "is a directory"),
    "empty file": (["empty.csv", "-t", "y"], "is empty"),
    "header only": (["header.csv", "-t", "y"], "no rows below"),
    "wrong delimiter": (["bars.csv", "-t", "y"], "only one column was found"),
    "wrong --sep": (["good.csv", "-t", "y", "--sep", ";"], "looks separated by comma"),
    "bad --sep": (["good.csv", "-t", "y", "--sep", "abc"], "one character"),
    "bad --decimal": (["good.csv", "-t", "y", "--decimal", "x"], "decimal mark"),
    "decimal comma": (["semicolon.csv", "-t", "y"], "--decimal ,"),
    "no target": (["good.csv"], "Give --target"),
    "unknown target": (["good.csv", "-t", "Y"], "did you mean 'y'"),
    "unknown groups": (["good.csv", "-t", "y", "--groups", "gg"], "unknown groups column 'gg'"),
    "one class": (["one_class.csv", "-t", "y"], "one class only ('u')"),
    "one row": (["one_row.csv", "-t", "y"], "there is 1 row"),
    "NaN target": (["nan_target.csv", "-t", "y", "--missing-target", "error"], "missing in 1 of 40 rows"),
    "infinite": (["infinite.csv", "-t", "y"], "column 'a' holds infinite"),
    "same names": (["twice.csv", "-t", "y"], "several columns called 'a'"),
    "ragged": (["ragged.csv", "-t", "y"], "line 42 of 'ragged.csv' has 3 fields"),
    "binary": (["binary.csv", "-t", "y"], "binary data"),
    "damaged gzip": (["damaged.csv.gz", "-t", "y"], "damaged"),
    "spreadsheet": (["sheet.xlsx", "-t", "y"], "save it as CSV"),
    "sparse ARFF": (["sparse.arff", "-t", "y"], "sparse rows"),
    "bad Parquet": (["bad.parquet", "-t", "y"], "cannot be read as Parquet"),
    "bad NPZ": (["bad.npz", "-t", "y"], "npz"),
    "text weights": (["text_weight.csv", "-t", "y", "--weights", "w"], "must be numbers"),
    "one group": (["one_group.csv", "-t", "y", "--groups", "g"], "one group only"),
    "text time": (["good.csv", "-t", "y", "--time", "id"], "ISO dates"),
    "target is group": (["good.csv", "-t", "y", "--groups", "y"], "both as target and as groups"),
    "n too large": (["good.csv", "-t", "y", "--n", "41"], "only 40 rows"),
    "n too small": (["iris", "--n", "1"], "--n"),
    "unknown model": (["iris", "-m", "rbf-smv"], "did you mean 'rbf-svm'"),
    "unknown parameter": (["iris", "-m", "rbf-svm:gama=1"], "did you mean 'gamma'"),
    "bad parameter": (["iris", "-m", "rbf-svm:C=-1"], "C"),
    "no code": (["iris", "-m", "rbf-svm:C=__import__('os')"], "not evaluated as code"),
    "unknown factory": (["iris", "-m", "nosuchmodule:make"], "there is no module 'nosuchmodule'"),
    "regression model": (["iris", "-m", "ols"], "ols does regression"),
    "unknown loss": (["iris", "--loss", "zero-won"], "did you mean 'zero-one'"),
    "wrong loss": (["iris", "--loss", "squared"], "regression"),
    "unknown positive": (["iris", "--positive", "setossa"], "did you mean 'setosa'"),
    "unknown task": (["iris", "--task", "clasification"], "did you mean 'classification'"),
    "level 0": (["iris", "--level", "0"], "level"),
    "level 1": (["iris", "--level", "1"], "level"),
    "level nan": (["iris", "--level", "nan"], "level"),
    "report folder": (["iris", "--report", "no/such/report.html"], "does not exist"),
    "report is a folder": (["iris", "--report", "."], "folder"),
    "save folder": (["iris", "--save", "no/such/run.npz"], "does not exist"),
    "no scheduler": (["iris", "--scheduler", "ray"], "--scheduler is 'ray'; it must be"),
    "no workers": (["iris", "--scheduler", "local:0"], "--scheduler is 'local:0'; after 'local:'"),
    "no client": (["iris", "--scheduler", "dask"], "--scheduler is 'dask', which needs"),
    "no jobs": (["iris", "--jobs", "0"], "n_jobs is 0"),
    "unknown option": (["iris", "--nosuch"], "nosuch"),
    "not a number": (["iris", "--seed", "x"], "seed"),
    "negative seed": (["iris", "--seed", "-1"], "seed"),
    "no argument": ([], "Missing argument"),
}
SCHEDULED = (
    ["compare", "iris"],
    ["distribution", "iris"],
    ["diagnose", "iris"],
    ["permutation-test", "iris"],
    ["study", "run", "s.toml"],
    ["study", "resume", "s"],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (place / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def call(arguments: list[str], monkeypatch, capsys) -> tuple[int, str, str]:
    """Run `unseen` in this process, as the console script does."""
    monkeypatch.setattr(sys, "argv", ["unseen", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    out, err = capsys.readouterr()
    return int(caught.value.code or 0), out, err


class TestAssess:
    @pytest.mark.parametrize("case", CASES)
    def test_text(self, case, folder, monkeypatch, capsys) -> None:
        arguments, words = CASES[case]
        monkeypatch.chdir(folder)
        code, out, err = call(["assess", *arguments, "--quick"], monkeypatch, capsys)
        assert code == 2, err
        assert out == ""
        assert words in err
        assert "Traceback" not in err
        assert err.startswith("unseen: ")
        assert len(err.strip().splitlines()) == 1
        assert len(err) < 1500

    @pytest.mark.parametrize("case", CASES)
    def test_json(self, case, folder, monkeypatch, capsys) -> None:
        arguments, words = CASES[case]
        monkeypatch.chdir(folder)
        code, out, err = call(["assess", *arguments, "--json"], monkeypatch, capsys)
        error = json.loads(err)["error"]
        assert (code, out) == (2, "")
        assert words in error["message"]
        assert error["kind"]


class TestOtherCommands:
    @pytest.mark.parametrize("more", [[], ["--json"]])
    def test_more_splits_than_there_are(self, more, folder, monkeypatch, capsys) -> None:
        monkeypatch.chdir(folder)
        arguments = ["distribution", "good.csv", "-t", "y", "--n", "12", "-m", "cart", "--splits", "1000000", *more]
        code, out, err = call(arguments, monkeypatch, capsys)
        assert (code, out) == (2, "")
        assert "3 of 12 units can be left out in only 220 ways" in err  # C(12, 3)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["asess", "iris"], "asess"),
            (["methods", "--kind", "resamplng"], "did you mean 'resampling'"),
            (["models", "extra"], "extra"),
            (["datasets", "--seed", "x"], "seed"),
            *(([*command, "--scheduler", "locl:2"], "--scheduler is 'locl:2'") for command in SCHEDULED),
            # a device that can be read without end
            *(
                (words, "is a device")
                for words in (
                    ["study", "run", "/dev/zero"],
                    ["nets", "bench", "--networks", "/dev/zero", "--values", "/dev/zero"],
                    ["nets", "monitor", "/dev/zero"],
                )
                if Path("/dev/zero").exists()
            ),
        ],
    )
    def test_refused(self, arguments, words, monkeypatch, capsys) -> None:
        code, out, err = call(arguments, monkeypatch, capsys)
        assert (code, out) == (2, "")
        assert words in err
        assert "Traceback" not in err

    @pytest.mark.parametrize("command", ["methods", "datasets", "models"])
    def test_lists(self, command, monkeypatch, capsys) -> None:
        code, out, err = call([command], monkeypatch, capsys)
        assert (code, err) == (0, "")
        assert len(out.splitlines()) > 5
        code, text, err = call([command, "--json", "--quiet", "--seed", "1"], monkeypatch, capsys)
        assert (code, err) == (0, "")
        rows = json.loads(text)[command]
        key = "id" if command == "methods" else "name"
        assert all(str(row[key]) in out for row in rows)
        assert all(row["description"] for row in rows)

    def test_methods_say_what_they_are(self, monkeypatch, capsys) -> None:
        _, text, _ = call(["methods", "--json"], monkeypatch, capsys)
        rows = {row["id"]: row for row in json.loads(text)["methods"]}
        assert rows["corrected-t"]["fits"] == 25
        assert "monte-carlo" in rows["corrected-t"]["designs"]
        assert "Nadeau" in rows["corrected-t"]["reference"]
        assert rows["resub"]["kind"] == "resubstitution"
        assert rows["mcnemar"]["kind"] == "comparison"
        _, shown, _ = call(["methods", "--references", "--kind", "resampling"], monkeypatch, capsys)
        assert "Nadeau" in shown
        assert "mcnemar" not in shown


class TestInAProcessOfItsOwn:
    def test_text_and_json(self, folder) -> None:
        for more in ([], ["--json"]):
            run = subprocess.run(
                [sys.executable, "-m", "unseen", "assess", "one_class.csv", "--target", "y", *more],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert run.returncode == 2
            assert run.stdout == ""
            assert "one class only" in run.stderr
            assert "Traceback" not in run.stderr

    def test_a_factory_beside_the_data(self, folder) -> None:
        (folder / "beside_of_test.py").write_text(
            "from sklearn.neighbors import KNeighborsClassifier\ndef make():\n    return KNeighborsClassifier(3)\n"
        )
        run = subprocess.run(
            [
                sys.executable,
                "-m",
                "unseen",
                "assess",
                "good.csv",
                "--target",
                "y",
                "--id",
                "id",
                "-m",
                "beside_of_test:make",
                "--quick",
                "--json",
                "--jobs",
                "2",
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        assert 0 <= json.loads(run.stdout)["error"] <= 1


def test_every_kind_of_file_gives_the_same_answer(folder, monkeypatch, capsys) -> None:
    import pandas as pd

    monkeypatch.chdir(folder)
    table = pd.read_csv("good.csv").drop(columns="id")
    table.to_csv("same.tsv", sep="\t", index=False)
    table.to_csv("same.csv.gz", index=False)
    table.to_parquet("same.parquet", index=False)
    header = "".join(f"@attribute {c} {'{u,v}' if c == 'y' else 'numeric'}\n" for c in table.columns)
    body = table.to_csv(index=False, header=False)
    Path("same.arff").write_text(f"@relation r\n{header}@data\n{body}")
    np.savez("same.npz", X=table.drop(columns="y").to_numpy(), y=table["y"].to_numpy(dtype=str))
    answers = []
    for name in ("same.tsv", "same.csv.gz", "same.parquet", "same.arff", "same.npz"):
        code, out, err = call(["assess", name, "-t", "y", "--quick", "--json", "-m", "cart"], monkeypatch, capsys)
        assert code == 0, err
        answers.append((json.loads(out)["error"], json.loads(out)["interval"]))
    assert answers == [answers[0]] * 5
