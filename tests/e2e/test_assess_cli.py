"""`unseen assess` as a person runs it: same numbers as Python, exit codes, saved tables, Ctrl-C halfway."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.datasets.read import read

SLOW_MODEL = """
import time
from pathlib import Path
from sklearn.dummy import DummyClassifier

class Slow(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.05)
        with open("fits.txt", "a") as file:
            file.write("x")
        return super().fit(X, y)

def make():
    return Slow()
"""


def cli(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "unseen", *arguments], capture_output=True, text=True, timeout=300, **options
    )


def test_command_line_gives_the_numbers_of_python(tmp_path):
    done = cli(
        "assess",
        "breast-cancer",
        "--model",
        "cart",
        "--n",
        "80",
        "--seed",
        "3",
        "--quick",
        "--json",
        "--save",
        str(tmp_path / "t"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == f"predictions: {tmp_path / 't.npz'}"
    result = json.loads(done.stdout)
    sample = read("breast-cancer", None, n=80, seed=3)
    a = unseen.assess("cart", sample, random_state=3, effort="quick")
    assert result["error"] == a.error
    assert result["interval"] == list(a.interval)
    assert result["target"] == str(a.target)
    assert "--n 80 --seed 3" in result["settings"]["repeat"]
    again = unseen.estimate(unseen.load(tmp_path / "t.npz"), method="range-t")
    assert again.value == a.estimates["range-t"].value == result["estimates"]["range-t"]["value"]


def test_threshold_sets_the_exit_code(run_unseen):
    assert run_unseen("assess", "iris", "--model", "dummy", "--quick", "--quiet", "--fail-if", "0.1").returncode == 1
    assert run_unseen("assess", "iris", "--model", "lda", "--quick", "--quiet", "--fail-if", "0.5").returncode == 0


def test_a_number_that_cannot_be_trusted_fails_whatever_its_size(run_unseen, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    rows = [f"{a},{b},{c}" for (a, b), c in zip(np.vstack([X, X[:12]]), np.r_[y, y[:12]])]
    (tmp_path / "copies.csv").write_text("\n".join(["a,b,kind", *rows]) + "\n")
    call = ["assess", tmp_path / "copies.csv", "-t", "kind", "-m", "lda", "--quick", "--json", "--fail-if", "0.99"]
    together, apart = run_unseen(*call), run_unseen(*call, "--duplicates", "apart")
    assert (together.returncode, apart.returncode) == (0, 1)
    first, second = json.loads(together.stdout), json.loads(apart.stdout)
    assert (first["trust"], first["n_units"]) == (True, 60)
    assert (second["trust"], second["n_units"]) == (False, 72)
    assert second["sentence"].startswith("Do not trust this number: the features of 24 of 72 rows")
    assert run_unseen(*call, "--duplicates", "never").returncode == 2


def test_results_go_to_stdout_and_nothing_to_stderr():
    done = cli("assess", "iris", "--model", "lda", "--quick")
    assert "is expected to misclassify" in done.stdout
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) <= 12
    assert all(len(line) < 80 for line in lines)


def test_all_adds_the_table_of_every_estimate(run_unseen):
    short = run_unseen("assess", "iris", "--model", "lda", "--quick", "--quiet").stdout
    long = run_unseen("assess", "iris", "--model", "lda", "--quick", "--quiet", "--all").stdout
    assert long.startswith(short)
    assert "Error of this model" not in short
    for line in ("Error of this model", "Error of the algorithm, at its training size", "632plus", "guessing"):
        assert line in long


def test_the_model_goes_by_the_task_and_the_threshold_by_what_is_shown(run_unseen):
    classes = run_unseen("assess", "iris", "--quick", "--quiet")
    assert classes.stdout.startswith("logistic is expected to misclassify")
    numbers = ("assess", "diabetes", "--n", "120", "--quick", "--quiet")
    assert run_unseen(*numbers).stdout.startswith("ridge predicts new cases with a typical error (RMSE) of 5")
    assert run_unseen(*numbers, "--fail-if", "80").returncode == 0
    assert run_unseen(*numbers, "--fail-if", "40").returncode == 1


def test_measures_may_be_repeated(run_unseen):
    command = ("assess", "breast-cancer", "--n", "80", "--quick", "--quiet", "--json")
    both = json.loads(run_unseen(*command, "--measure", "auc", "--measure", "accuracy").stdout)
    assert list(both["measures"]) == ["auc", "accuracy"]
    one = json.loads(run_unseen(*command, "--measure", "auc").stdout)
    assert one["measures"]["auc"] == both["measures"]["auc"]
    assert list(one["measures"]) == ["auc"]
    refused = run_unseen(*command, "--measure", "auc", "--measure", "cost", "--costs", "absent.csv")
    assert refused.returncode == 2
    assert "--costs brings its own measure" in refused.stderr


def interrupted(folder, *command: str, after: int) -> subprocess.CompletedProcess:
    """Run a command with the slow model and press Ctrl-C once it has made more than `after` fits."""
    (folder / "slow_model.py").write_text(SLOW_MODEL)
    run = subprocess.Popen(
        [sys.executable, "-m", "unseen", *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    fits, end = folder / "fits.txt", time.monotonic() + 60
    while not (fits.exists() and fits.stat().st_size > after) and time.monotonic() < end:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=15)
    return subprocess.CompletedProcess(command, run.returncode, out, err)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_after_the_headline_shows_what_was_finished(tmp_path):
    command = ("assess", "iris", "--model", "slow_model:make", "--effort", "repeats=1,leave_out=200", "--json")
    done = interrupted(tmp_path, *command, after=20)
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["complete"] is False
    assert "U018" in {n["code"] for n in result["notes"]}
    assert result["error"] == result["estimates"]["range-t"]["value"]
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_before_the_headline_says_that_nothing_was_kept(tmp_path):
    done = interrupted(tmp_path, "assess", "iris", "--model", "slow_model:make", "--effort", "repeats=20", after=1)
    assert done.returncode == 130
    assert done.stdout == ""
    assert "of 200 fits of repeated-kfold; nothing was kept." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.sample
def test_the_readme_shows_what_the_demo_prints(run_unseen):
    """The demo is what `make demo` runs; its numbers stand in the README."""
    root = Path(__file__).resolve().parents[2]
    command = next(line for line in (root / "Makefile").read_text().splitlines() if "unseen assess" in line)
    arguments = command.split("unseen ")[1].split(" --report")[0].split()
    printed = run_unseen(*arguments, "--quiet").stdout
    assert f"```text\n{printed}```" in (root / "README.md").read_text(encoding="utf-8")
