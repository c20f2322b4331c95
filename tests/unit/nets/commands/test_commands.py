"""The commands `nets estimate` and `nets monitor`."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn

from unseen.cli.app import main
from unseen.nets import Monitor, estimate

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


def test_the_default_is_the_nearest_that_is_affordable(run, place):
    words = ("estimate", "--module", "own_nets_of_test:make_net", "--weights", "net.pt", "--data", "train.npz")
    plain = run(*words, "--device", "cpu", "-q", "--n-mc", 5).stdout
    assert plain.startswith("bolster: ")
    assert "Part of the optimism remains: on 58 nets of seven zoos this was .14 from the true error on average" in plain
    trained = run(*words, "--device", "cpu", "-q", "--repeats", 2, "--n-mc", 5, "--train", "epochs=2").stdout
    assert trained.startswith("copies: ")


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
        "estimate",
        "--weights",
        "own.safetensors",
        "--data",
        "train.npz",
        "--method",
        "calibrated-bolster",
        "--repeats",
        2,
        "--n-mc",
        5,
        "--report",
        "page.html",
    )
    assert calibrated.exit_code == 0, calibrated.stderr
    assert "at kappa 1" in calibrated.stdout
    page = (place[0] / "page.html").read_text()
    assert "calibrated-bolster" in page
    assert run("estimate", "--data", "train.npz").exit_code == 2


def estimated(run, *words, module="own_nets_of_test:make_net", weights="net.pt", data="train.npz"):
    return run("estimate", "--module", module, "--weights", weights, "--data", data, *words)


def one_sentence(answer, *words):
    """Exit code 2, one line on stderr that says what is wrong, nothing on stdout."""
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith("unseen: ")
    assert answer.stderr.count("\n") == 1
    for word in words:
        assert word in answer.stderr, answer.stderr


MORE = """
import sys
from torch import nn

def broken():
    raise RuntimeError("no luck")

def a_number():
    return 3

def conv():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 2))
"""


@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        ("import not_a_package_at_all", "more_nets_of_test:f", "No module named"),
        ("def f(:", "more_nets_of_test:f", "SyntaxError"),
        ("1 / 0", "more_nets_of_test:f", "ZeroDivisionError"),
        ("import sys; sys.exit(3)", "more_nets_of_test:f", "SystemExit"),
        (MORE, "more_nets_of_test:broken", "failed when called with (): RuntimeError: no luck"),
        (MORE, "more_nets_of_test:a_number", "must give a torch.nn.Module"),
        (MORE, ".more_nets_of_test:broken", "package.module:function"),
    ],
)
def test_code_that_fails_is_one_sentence(run, place, code, name, words):
    (place[0] / "more_nets_of_test.py").write_text(code)
    try:
        one_sentence(estimated(run, module=name), "--module", words)
    finally:
        sys.modules.pop("more_nets_of_test", None)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.array(3.0), "y": np.arange(2)}, "one label per input"),
        ({"X": np.ones((4, 3)), "y": np.arange(3)}, "one label per input"),
        ({"X": np.ones((0, 3)), "y": np.zeros(0, int)}, "one label per input"),
        ({"X": np.ones((4, 5)), "y": np.arange(4) % 2}, "cannot take inputs of shape (5,)"),
        ({"X": np.ones((4, 3)), "y": np.array([0, 1, 2, 7])}, "classes 0 to 1"),
        ({"X": np.ones((4, 3)), "y": np.array([0, 1, -1, 0])}, "from -1 to 1"),
        ({"X": np.full((4, 3), np.nan), "y": np.arange(4) % 2}, "NaN or infinite"),
        ({"X": np.array([{}], dtype=object), "y": [0]}, "never unpickled"),
        ({"a": np.ones(3)}, "X and y are needed"),
    ],
)
def test_data_that_do_not_fit_are_one_sentence(run, place, arrays, words):
    np.savez("odd.npz", **arrays)
    one_sentence(estimated(run, data="odd.npz"), words)


def test_wrong_channels_are_named(run, place):
    (place[0] / "more_nets_of_test.py").write_text(MORE)
    try:
        import more_nets_of_test

        torch.save(more_nets_of_test.conv().state_dict(), "conv.pt")
        np.savez("rgb.npz", X=np.zeros((6, 3, 8, 8)), y=np.arange(6) % 2)
        answer = estimated(run, module="more_nets_of_test:conv", weights="conv.pt", data="rgb.npz")
        one_sentence(answer, "(3, 8, 8)", "1 channels", "3 channels")
    finally:
        sys.modules.pop("more_nets_of_test", None)


def test_weights_that_cannot_be_read(run, place):
    for name, content in (("text.pt", b"hello"), ("empty.pt", b""), ("text.safetensors", b"hello" * 9)):
        (place[0] / name).write_bytes(content)
        one_sentence(estimated(run, weights=name), name)
    one_sentence(estimated(run, weights="absent.pt"), "there is no file")
    torch.save([1, 2], "list.pt")
    one_sentence(estimated(run, weights="list.pt"), "state dictionary")
    one_sentence(run("estimate", "--weights", "net.pt", "--data", "train.npz"), "--module")
    broken = {k: torch.full_like(v, torch.nan) for k, v in place[1].state_dict().items()}
    torch.save(broken, "nan.pt")
    one_sentence(estimated(run, weights="nan.pt"), "NaN or infinite outputs")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "n_mc=3"), "--n-mc"),
        (("-o", "posterior"), "key=value"),
        (("-m", "calibrated-bolster", "--train", "nope=1"), "unknown option of training 'nope'"),
        (("-m", "calibrated-bolster", "--train", "seeds=1"), "unknown option of training 'seeds'"),
        (("-m", "calibrated-bolster", "--train", "epochs=many"), "epochs must be a whole number"),
        (("-m", "calibrated-bolster", "--train", "lr=fast"), "lr must be one number"),
        (("-m", "posterior", "-o", "posterior=temperature"), "--train epochs"),
        (("-m", "bayesian"), "--sampler"),
        (("-m", "bolster", "--sampler", "laplace"), "--sampler is for"),
        (("-m", "bayesian", "--sampler", "laplace", "--sample", "nope=1"), "unknown option of nets.posterior"),
        (("-m", "bayesian", "--sampler", "ensemble"), "--train epochs"),
        (("--layer", "9"), "the net's layers are"),
        (("-o", "draws=a"), "draws is 'a'"),
        (("-o", "validation=train.npz"), "--validation"),
        (("--sample", "n_samples=3"), "--sampler"),
        (("-m", "calibrated-bolster", "--train", "halve_every=a"), "halve_every"),
        (("-m", "bayesian", "--sampler", "sghmc", "--sample", "friction=a"), "friction is 'a'"),
        (("-m", "bayesian", "--sampler", "sghmc", "--sample", "batch_size=0"), "batch_size is 0"),
        (("-m", "bayesian", "--sampler", "sghmc", "--samples", "net.pt"), "give one of them"),
        (("-m", "bayesian", "--samples", "absent.npy"), "no file or folder"),
        (("-m", "bayesian", "--samples", "net.pt"), "logits"),
        (("-m", "bolster", "--samples", "net.pt"), "--samples is for"),
        (("--classes", "a,b"), "whole numbers"),
        (("--classes", "1,1"), "different labels"),
        (("--classes", "3"), "3 labels"),
        (("--device", "abacus"), "device"),
    ],
)
def test_options_that_cannot_be_are_one_sentence(run, place, words, said):
    one_sentence(estimated(run, *words), said)


def test_bayesian_methods_sample_as_the_function_does(run, place):
    from unseen.nets import posterior

    _, net, X, y = place
    words = ("-m", "bayesian", "--sampler", "laplace", "--sample", "n_samples=7", "--seed", 2, "--json")
    value = json.loads(estimated(run, *words).stdout)["value"]
    p = posterior(net, X, y, sampler="laplace", n_samples=7, random_state=2)
    assert value == pytest.approx(estimate(net, X, y, method="bayesian", posterior=p, random_state=2).value, abs=1e-6)


def test_own_samples_held_out_rows_and_labels(run, place):
    """Logits, weights, a validation file and labels of outputs give what the functions give."""
    from unseen.nets import Posterior

    folder, net, X, y = place
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(5, 40, 2))
    np.save("samples.npy", logits)
    np.savez("samples.npz", logits=logits)
    shares = np.exp(logits) / np.exp(logits).sum(2, keepdims=True)
    with torch.no_grad():
        assigned = net(torch.as_tensor(X, dtype=torch.float32)).argmax(1).numpy()
    by_hand = (1 - shares.mean(0)[np.arange(40), assigned]).mean()
    for name in ("samples.npy", "samples.npz"):
        answer = estimated(run, "-m", "bayesian", "--samples", name, "--json")
        assert json.loads(answer.stdout)["value"] == pytest.approx(by_hand, abs=1e-6)
    (folder / "states").mkdir()
    states = [{k: v + 0.1 * s for k, v in net.state_dict().items()} for s in range(3)]
    for k, state in enumerate(states):
        torch.save(state, folder / "states" / f"{k}.pt")
    answer = estimated(run, "-m", "bayesian-bolster", "--samples", "states", "--n-mc", 10, "--json")
    p = Posterior.from_states(net, states)
    wanted = estimate(net, X, y, method="bayesian-bolster", posterior=p, n_mc=10, random_state=0).value
    assert json.loads(answer.stdout)["value"] == pytest.approx(wanted, abs=1e-6)
    np.savez("held_out.npz", X=X[:20] + 0.1, y=y[:20])
    tempered = ("-m", "posterior", "-o", "posterior=temperature", "--validation", "held_out.npz", "--json")
    wanted = estimate(net, X, y, "posterior", posterior="temperature", validation=(X[:20] + 0.1, y[:20])).value
    assert json.loads(estimated(run, *tempered).stdout)["value"] == pytest.approx(wanted, abs=1e-6)
    found = json.loads(estimated(run, "-m", "resub", "--validation", "held_out.npz", "--json").stdout)["temperature"]
    wanted = estimate(net, X, y, "resub", validation=(X[:20] + 0.1, y[:20])).temperature
    assert found["value"] == pytest.approx(wanted.value)
    assert found["before"]["error"] == pytest.approx(wanted.before.error)
    near = ("-m", "posterior", "-o", "posterior=knn", "-o", "posterior_layer=1", "--json")
    wanted = estimate(net, X, y, "posterior", posterior="knn", posterior_layer="1").value
    assert json.loads(estimated(run, *near).stdout)["value"] == pytest.approx(wanted)
    plain, turned = (estimated(run, "-m", "resub", *words, "--json").stdout for words in ((), ("--classes", "1,0")))
    assert json.loads(plain)["value"] == pytest.approx(1 - json.loads(turned)["value"])


def test_part_of_the_data_and_pictures_in_grey(run, place):
    image = pytest.importorskip("PIL.Image")
    folder, net, X, y = place
    value = json.loads(estimated(run, "-m", "resub", "--limit", 10, "--json").stdout)["value"]
    assert value == estimate(net, X[:10], y[:10], method="resub").value
    (folder / "more_nets_of_test.py").write_text(MORE)
    rng = np.random.default_rng(0)
    for name in "ab":
        (folder / "pictures" / name).mkdir(parents=True)
        for k in range(3):
            pixels = rng.integers(0, 255, size=(8, 8, 3), dtype=np.uint8)
            image.fromarray(pixels).save(folder / "pictures" / name / f"{k}.png")
    words = ("estimate", "--module", "more_nets_of_test:conv", "--data", "pictures", "-q", "-m", "resub")
    try:
        assert run(*words, "--channels", 1).exit_code == 0
        one_sentence(run(*words), "(3, 8, 8)")
        one_sentence(run(*words, "--channels", 2), "channels is 2")
    finally:
        sys.modules.pop("more_nets_of_test", None)


def test_a_net_without_weights_is_judged_as_made_and_said_so(run, place):
    words = ("estimate", "--module", "own_nets_of_test:make_net", "--data", "train.npz", "-m", "resub", "--json")
    first, second = run(*words), run(*words)
    one, two = (json.loads(answer.stdout) for answer in (first, second))
    assert one["contributions"] == two["contributions"]
    assert "no --weights" in first.stderr
    assert run(*words, "--quiet").stderr == ""


def test_a_damaged_record_of_progress(run, place):
    folder, net, X, y = place
    watch = Monitor(net, X[:20], y[:20], X[20:], y[20:], path=folder / "run.jsonl")
    watch()
    with (folder / "run.jsonl").open("a") as file:
        file.write("3\n")
    one_sentence(run("monitor", "run.jsonl"), "damaged: line 3")
    (folder / "runs").mkdir()
    (folder / "run.jsonl").rename(folder / "runs" / "bad.jsonl")
    one_sentence(run("monitor", "runs"), "'runs/bad.jsonl' is damaged: line 3 is no record of an epoch")
    Monitor(net, X[:20], y[:20], X[20:], y[20:], path=folder / "runs" / "good.jsonl")()
    both = run("monitor", "runs", "--json")
    assert both.exit_code == 0
    assert [row["run"] for row in json.loads(both.stdout)] == ["good.jsonl"]
    assert both.stderr.startswith("unseen: 'runs/bad.jsonl' is damaged: line 3")
    assert run("monitor", "runs", "--json", "--quiet").stderr == ""
    (folder / "none").mkdir()
    empty = run("monitor", "none", "--json")
    assert json.loads(empty.stdout) == []
    assert "no record of training" in empty.stderr
