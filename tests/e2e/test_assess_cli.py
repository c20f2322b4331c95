"""`unseen assess` as a person runs it: same numbers as Python, exit codes, saved tables, Ctrl-C halfway."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import unseen
from unseen.datasets.read import read

SLOW_MODEL = """
import time
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
    assert result["target"] == "the algorithm trained on 72 rows"
    assert "--n 80 --seed 3" in result["settings"]["repeat"]
    again = unseen.estimate(unseen.load(tmp_path / "t.npz"), method="corrected-t")
    assert again.value == a.error


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
    command = ("assess", "iris", "--model", "slow_model:make", "--effort", "splits=10,leave_out=200", "--json")
    done = interrupted(tmp_path, *command, after=20)
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["complete"] is False
    assert "U018" in {n["code"] for n in result["notes"]}
    assert result["error"] == result["estimates"]["corrected-t"]["value"]
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_before_the_headline_says_that_nothing_was_kept(tmp_path):
    done = interrupted(tmp_path, "assess", "iris", "--model", "slow_model:make", "--effort", "splits=200", after=5)
    assert done.returncode == 130
    assert done.stdout == ""
    assert "of 200 fits of monte-carlo; nothing was kept." in done.stderr
    assert "Traceback" not in done.stderr
