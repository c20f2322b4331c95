"""The commands `nets estimate` and `nets monitor`."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from unseen.cli.app import main  # noqa: E402
from unseen.nets import Monitor, estimate  # noqa: E402

CODE = (
    "from torch import nn\n\ndef make_net():\n    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))\n"
)


class Answer:
    def __init__(self, code, stdout, stderr):
        self.exit_code, self.stdout, self.stderr = code, stdout, stderr


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `unseen nets ...` in this process."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["unseen", "nets", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        return Answer(done.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "own_nets_of_test.py").write_text(CODE)
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 3)).astype(np.float32) + y[:, None]
    np.savez("train.npz", X=X, y=y)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    torch.save(net.state_dict(), "net.pt")
    yield tmp_path, net, X, y
    sys.modules.pop("own_nets_of_test", None)


def test_the_command_gives_what_the_function_gives(run, place):
    _, net, X, y = place
    shared = (
        "estimate",
        "--module",
        "own_nets_of_test:make_net",
        "--weights",
        "net.pt",
        "--data",
        "train.npz",
        "--json",
    )
    answer = run(*shared, "--method", "bolster", "--seed", 3)
    assert answer.exit_code == 0, answer.stderr
    got = json.loads(answer.stdout)
    expected = estimate(net, X, y, method="bolster", random_state=3)
    assert got["value"] == pytest.approx(expected.value, abs=1e-7)
    assert len(got["contributions"]) == 40
    knn = run(*shared, "--method", "posterior", "-o", "posterior=knn", "-o", "k=5")
    assert json.loads(knn.stdout)["value"] == pytest.approx(
        estimate(net, X, y, method="posterior", posterior="knn", k=5).value
    )
    calibrated = run(
        *shared,
        "--method",
        "calibrated-bolster",
        "--repeats",
        2,
        "--n-mc",
        10,
        "--train",
        "epochs=5",
        "--train",
        "stop=none",
    )
    assert calibrated.exit_code == 0, calibrated.stderr
    assert json.loads(calibrated.stdout)["n_fits"] == 2


def test_a_finding_and_text(run, place):
    arguments = (
        "estimate",
        "--module",
        "own_nets_of_test:make_net",
        "--weights",
        "net.pt",
        "--data",
        "train.npz",
        "--method",
        "resub",
    )
    assert run(*arguments).stdout.startswith("resub: zero-one ")
    assert run(*arguments, "--fail-if", "0.0").exit_code == 1
    assert run(*arguments, "--fail-if", "1.0").exit_code == 0


class Canary:
    def __reduce__(self):
        return os.system, ("touch canary",)


def test_a_pickle_is_refused_and_not_run(run, place):
    folder, *_ = place
    torch.save({"weight": Canary()}, "bad.pt")
    answer = run("estimate", "--module", "own_nets_of_test:make_net", "--weights", "bad.pt", "--data", "train.npz")
    assert answer.exit_code == 2
    assert "pickled objects" in answer.stderr
    assert not (folder / "canary").exists()


def test_weights_that_do_not_fit(run, place):
    torch.save(nn.Linear(3, 2).state_dict(), "other.pt")
    answer = run("estimate", "--module", "own_nets_of_test:make_net", "--weights", "other.pt", "--data", "train.npz")
    assert answer.exit_code == 2
    assert "do not fit" in answer.stderr


@pytest.mark.parametrize("name", ["own_nets_of_test", "no_such_module_here:make", "own_nets_of_test:absent"])
def test_a_module_that_cannot_be_found(run, place, name):
    answer = run("estimate", "--module", name, "--data", "train.npz")
    assert answer.exit_code == 2
    assert "--module" in answer.stderr


def test_monitor_shows_where_runs_stand(run, place):
    folder, net, X, y = place
    (folder / "runs").mkdir()
    watch = Monitor(net, X[:20], y[:20], X[20:], y[20:], path=folder / "runs" / "first.jsonl")
    watch()
    watch()
    text = run("monitor", "runs", "--once").stdout
    assert "first.jsonl" in text
    assert "running" in text
    rows = json.loads(run("monitor", "runs", "--json").stdout)
    assert rows[0]["epoch"] == 2
    assert rows[0]["monitor_error"] == pytest.approx(watch.lines[-1]["monitor_error"])
    assert run("monitor", "nowhere", "--once").exit_code == 2


def test_a_saved_classifier_needs_no_module(run, place):
    from unseen.nets import Classifier

    _, _, X, y = place
    net = Classifier(epochs=5, random_state=0, device="cpu").fit(X, y)
    net.save("own.safetensors")
    answer = run("estimate", "--weights", "own.safetensors", "--data", "train.npz", "--method", "resub", "--json")
    assert json.loads(answer.stdout)["value"] == pytest.approx(1 - net.score(X, y))
    calibrated = run(
        "estimate", "--weights", "own.safetensors", "--data", "train.npz", "--method", "calibrated-bolster", "--repeats", 2,
        "--n-mc", 5, "--report", "page.html",
    )  # fmt: skip
    assert calibrated.exit_code == 0, calibrated.stderr
    assert "at kappa 1" in calibrated.stdout
    page = (place[0] / "page.html").read_text()
    assert "calibrated-bolster" in page
    assert run("estimate", "--data", "train.npz").exit_code == 2
