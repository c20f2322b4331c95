"""Results in MLflow: an imitation of the calls that are made, and the real package with a file store in an environment of its own."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys
import types
import venv
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unseen
from unseen.core.errors import MissingExtra, UnknownName
from unseen.store.mlflow_run import metrics_of
from unseen.store.tracking import track


@pytest.fixture(scope="module")
def assessed():
    return unseen.assess(
        "lda", unseen.datasets.load("breast-cancer"), scoring=["roc_auc", "accuracy"], cv=10, random_state=0
    )


class Imitation(types.ModuleType):
    """The few functions of MLflow that the adapter calls, with what they were given."""

    def __init__(self):
        super().__init__("mlflow")
        self.metrics, self.tags, self.files, self.active, self.started = {}, {}, {}, None, []

    class exceptions:
        class MlflowException(Exception):
            pass

    def MlflowClient(self):
        return types.SimpleNamespace(get_run=lambda run: None)

    def active_run(self):
        return self.active

    @contextmanager
    def start_run(self, run_id=None, nested=False):
        self.started.append((run_id, nested))
        yield types.SimpleNamespace(info=types.SimpleNamespace(run_id=run_id or "new"))

    def log_metrics(self, values):
        self.metrics |= values

    def set_tags(self, values):
        self.tags |= values

    def log_artifacts(self, folder, artifact_path):
        self.files |= {f"{artifact_path}/{f.name}": f.read_text() for f in Path(folder).iterdir()}


def check(a, metrics, tags, files):
    shown = a.headline.on_scale()
    assert metrics["auc"] == pytest.approx(shown.value)
    assert (metrics["auc.lower"], metrics["auc.upper"]) == pytest.approx(shown.interval)
    right = a.also["accuracy"].on_scale()
    assert (metrics["accuracy"], metrics["accuracy.lower"]) == pytest.approx((right.value, right.interval.low))
    assert tags["unseen.model"] == "lda"
    assert "<html" in files["unseen/report.html"]
    assert files["unseen/table.csv"].startswith("term,estimate")
    assert json.loads(files["unseen/result.json"])["error"] == pytest.approx(a.error)


@pytest.mark.slow
@pytest.mark.sample
def test_what_is_logged(assessed, monkeypatch):
    imitation = Imitation()
    monkeypatch.setitem(sys.modules, "mlflow", imitation)
    assert assessed.track("mlflow") == "new"
    check(assessed, imitation.metrics, imitation.tags, imitation.files)
    assert assessed.track("mlflow", run="r7") == "r7"
    assert imitation.started == [(None, False), ("r7", False)]
    imitation.active = types.SimpleNamespace(info=types.SimpleNamespace(run_id="open"))
    assert track(assessed) == "open"
    assert len(imitation.started) == 2


def test_comparisons_too(monkeypatch):
    imitation = Imitation()
    monkeypatch.setitem(sys.modules, "mlflow", imitation)
    c = unseen.compare({"a": "lda", "b": "dummy"}, unseen.datasets.load("iris"), cv=5, random_state=0)
    c.track()
    assert imitation.metrics["a - b.difference"] == pytest.approx(c.pairs[0].difference)
    assert imitation.metrics["a - b.difference.lower"] == pytest.approx(c.pairs[0].interval.low)


def test_measures_and_files_have_names_of_their_own():
    y = np.arange(40) % 2
    said = np.where(np.arange(40) < 6, 1 - y, y)
    found = metrics_of(unseen.measure(y, said, measures=["accuracy", "sensitivity"]))
    assert (found["accuracy"], found["sensitivity"]) == pytest.approx((34 / 40, 17 / 20))
    frame = pd.DataFrame({"y": y, "p": said})
    found = metrics_of(unseen.predictions({"a": frame, "b": frame.assign(p=y)}, truth="y", pred="p"))
    assert (found["a.zero-one"], found["b.zero-one"], found["a - b.difference"]) == pytest.approx((0.15, 0.0, 0.15))


@pytest.mark.slow
@pytest.mark.sample
def test_the_command_line_logs_too(run_unseen, monkeypatch, tmp_path):
    imitation = Imitation()
    imitation.__spec__ = importlib.machinery.ModuleSpec("mlflow", None)
    monkeypatch.setitem(sys.modules, "mlflow", imitation)
    y = np.arange(40) % 2
    file = tmp_path / "p.csv"
    pd.DataFrame({"y": y, "p": np.where(np.arange(40) < 6, 1 - y, y)}).to_csv(file, index=False)
    shared = ("measure", file, "--truth", "y", "--pred", "p", "--measure", "accuracy")
    ended = run_unseen(*shared, "--track", "mlflow")
    assert ended.returncode == 0
    assert "tracked: mlflow run new" in ended.stderr
    assert imitation.metrics["accuracy"] == pytest.approx(0.85)
    assert "<html" in imitation.files["unseen/report.html"]
    assert run_unseen(*shared, "--track", "mlflow:r7", "--quiet").stderr == ""
    assert imitation.started[-1] == ("r7", False)


@pytest.mark.parametrize("command", ["assess", "compare", "diagnose", "measure", "predictions"])
def test_a_tracker_is_refused_before_any_work(run_unseen, monkeypatch, command):
    words = {
        "assess": ("iris",),
        "compare": ("iris", "-m", "lda", "-m", "dummy"),
        "diagnose": ("iris", "-m", "lda"),
        "measure": ("none.csv", "--truth", "y", "--pred", "p"),
        "predictions": ("none.csv", "--truth", "y", "--pred", "p"),
    }[command]
    ended = run_unseen(command, *words, "--track", "notebook")
    assert (ended.returncode, "unknown tracker 'notebook'" in ended.stderr) == (2, True)
    monkeypatch.setattr("unseen.store.tracking.find_spec", lambda name: None)
    ended = run_unseen(command, *words, "--track", "mlflow")
    assert (ended.returncode, "pip install mlflow" in ended.stderr) == (2, True)


# What a run in a file store holds, read by MLflow itself.
READ = """
import json, sys
from pathlib import Path
import mlflow
run = mlflow.get_run(sys.argv[1])
place = Path(run.info.artifact_uri.removeprefix("file://")) / "unseen"
files = {f"unseen/{f.name}": f.read_text() for f in place.iterdir()}
print(json.dumps([run.data.metrics, run.data.tags, files]))
"""


@pytest.fixture(scope="module")
def real_python(tmp_path_factory):
    """An interpreter with all packages of this one and the real MLflow; skips where that can neither be found nor installed."""
    if importlib.util.find_spec("mlflow") is not None:
        return sys.executable
    place = tmp_path_factory.mktemp("mlflow") / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    (found,) = place.glob("lib/python*/site-packages")
    (found / "beside.pth").write_text("\n".join(p for p in sys.path if p and Path(p).is_dir()))
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "mlflow-skinny"]
    done = subprocess.run(install, capture_output=True, text=True, timeout=600)
    if done.returncode:
        pytest.skip(f"mlflow-skinny cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    return str(python)


@pytest.fixture
def real(real_python, tmp_path, monkeypatch):
    """Runs Python with the real MLflow, which keeps its runs in files of a folder."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())

    def call(*words):
        done = subprocess.run([real_python, *map(str, words)], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done

    return call


@pytest.mark.slow
def test_the_command_line_logs_to_the_real_package(assessed, real):
    words = ["-m", "unseen", "assess", "breast-cancer", "-m", "lda", "--measure", "roc_auc", "--measure", "accuracy"]
    words += ["--cv", "10", "--seed", "0"]
    done = real(*words, "--track", "mlflow")
    (number,) = re.findall(r"^tracked: mlflow run (\w+)$", done.stderr, re.MULTILINE)
    check(assessed, *json.loads(real("-c", READ, number).stdout))
    # to a run that exists: what it held stays, and the new values stand beside it
    opened = (
        "import mlflow\nwith mlflow.start_run() as run:\n    mlflow.log_metric('mine', 7.0)\nprint(run.info.run_id)"
    )
    mine = real("-c", opened).stdout.split()[-1]
    assert f"tracked: mlflow run {mine}" in real(*words, "--track", f"mlflow:{mine}").stderr
    metrics, tags, files = json.loads(real("-c", READ, mine).stdout)
    assert metrics["mine"] == 7.0
    check(assessed, metrics, tags, files)


@pytest.mark.slow
def test_a_result_logs_to_the_active_run_of_the_real_package(real):
    script = """
import mlflow, unseen
c = unseen.compare({"a": "lda", "b": "dummy"}, unseen.datasets.load("iris"), cv=5, random_state=0)
with mlflow.start_run() as run:
    assert c.track("mlflow") == run.info.run_id
print(run.info.run_id, c.pairs[0].difference)
"""
    number, difference = real("-c", script).stdout.split()[-2:]
    metrics, _, files = json.loads(real("-c", READ, number).stdout)
    assert metrics["a - b.difference"] == pytest.approx(float(difference))
    assert set(files) == {"unseen/report.html", "unseen/table.csv", "unseen/result.json"}


def test_refused(assessed, monkeypatch):
    with pytest.raises(UnknownName, match="unknown tracker"):
        assessed.track("wandb")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises((MissingExtra, ImportError), match="mlflow"):
        assessed.track("mlflow")


class RefusingImitation(Imitation):
    """MLflow with a store that it does not write to."""

    def MlflowClient(self):
        raise self.exceptions.MlflowException("The filesystem tracking backend\nis in maintenance mode.")

    def start_run(self, run_id=None, nested=False):
        self.MlflowClient()


def test_a_place_that_mlflow_refuses_is_said_before_any_work_and_no_fault_of_ours(assessed, monkeypatch):
    from unseen.core.errors import InputError, NotWritten
    from unseen.store import tracking

    imitation = RefusingImitation()
    imitation.__spec__ = importlib.machinery.ModuleSpec("mlflow", None)
    monkeypatch.setitem(sys.modules, "mlflow", imitation)
    with pytest.raises(
        InputError, match=r"MLflow cannot keep a result. It says: The filesystem .* is in maintenance"
    ) as said:
        tracking.check_tracker("mlflow")
    assert said.value.exit_code == 2
    with pytest.raises(NotWritten, match=r"did not take the result. It says: The filesystem") as lost:
        assessed.track("mlflow")
    assert lost.value.exit_code == 74


@pytest.mark.slow
def test_the_real_package_is_asked_before_anything_is_fitted(real_python, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'runs.db'}")
    words = [real_python, "-m", "unseen", "assess", "breast-cancer", "--track", "mlflow:nosuchrun"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "MLflow cannot keep a result in the run 'nosuchrun'" in done.stderr


def test_the_call_that_repeats_it_is_a_tag_of_every_result(monkeypatch):
    imitation = Imitation()
    monkeypatch.setitem(sys.modules, "mlflow", imitation)
    made = unseen.compare("lda", "dummy", unseen.datasets.load("iris"), cv=5, random_state=3)
    made.track("mlflow")
    assert imitation.tags["unseen.repeat"] == "unseen.compare('lda', 'dummy', data, random_state=3, cv=5)"
