"""A folder of checkpoints, a function and data are enough: how each network was made is found, or asked for."""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
from torch import nn

import unseen.nets as nets
from unseen.cli.app import main
from unseen.core.errors import InputError
from unseen.nets import make_mlp, make_nin, read_networks
from unseen.nets.zoo.network_options import options_in_name

X = np.random.default_rng(0).normal(size=(24, 5)).astype(np.float32)
y = np.arange(24) % 3


def own(n_features, n_classes, width=8, depth=1, activation="relu"):
    return make_mlp(n_features, n_classes, depth=depth, width=width, activation=activation)


def gives(found, name, module):
    with torch.no_grad():
        torch.testing.assert_close(found[name].logits(torch.as_tensor(X)), module.eval()(torch.as_tensor(X)))


def test_options_come_from_the_checkpoint_the_file_name_or_the_shapes(tmp_path):
    made = {
        "args.pt": ({"args": argparse.Namespace(width=12, depth=2, activation="tanh", lr=0.1)}, own(5, 3, 12, 2, "tanh")),
        "activation=tanh_width16_e3.pt": ({}, own(5, 3, 16, 1, "tanh")),
        "plain.pt": ({}, own(5, 3, 24, 3)),
        "default.pt": ({}, own(5, 3)),
    }  # fmt: skip
    for name, (more, module) in made.items():
        torch.save({"model": module.state_dict(), **more}, tmp_path / name)
    found = read_networks(tmp_path, (X, y), make=own)
    for name, (_, module) in made.items():
        gives(found, name, module)
    assert found.options["plain.pt"] == {"depth": 3, "width": 24}
    assert found.options["default.pt"] == {}
    said = " ".join(n.text for n in found.notes if n.code == "N009")
    assert "plain.pt: depth, width by the shapes of the weights" in said
    assert "activation, depth, width by the checkpoint's own hyper-parameters" in said
    assert "activation, width by the name of the file" in said


def test_names_that_mislead_give_way_to_the_shapes(tmp_path):
    for k in (1, 2):
        torch.save(own(5, 3, 12).state_dict(), tmp_path / f"width9{k}.pt")
    found = read_networks(tmp_path, (X, y), make=own)
    assert set(map(str, found.options.values())) == {"{'width': 12}"}


def test_sizes_of_layers_in_a_list_are_found(tmp_path):
    def listed(hidden, in_dim, classes_out=2):
        sizes = [in_dim, *hidden]
        layers = [part for a, b in itertools.pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
        return nn.Sequential(*layers, nn.Linear(sizes[-1], classes_out))

    for k, hidden in enumerate(((7, 4), (9, 6, 3))):
        torch.save(listed(hidden, 5, 3).state_dict(), tmp_path / f"{k}.pt")
    found = read_networks(tmp_path, (X, y), make=listed)
    assert [list(found.options[n]["hidden"]) for n in found] == [[7, 4], [9, 6, 3]]


@pytest.mark.slow
@pytest.mark.sample
def test_convolutions_are_found_from_shapes_alone(tmp_path):
    images = np.random.default_rng(0).random((6, 1, 12, 12)).astype(np.float32)
    module = make_nin((1, 12, 12), 3, blocks=1, width=10)
    for k in range(2):
        torch.save(module.state_dict(), tmp_path / f"{k}.pt")
    assert read_networks(tmp_path, (images, y[:6]), make=make_nin).options["0.pt"] == {"blocks": 1, "width": 10}


def test_classes_missing_from_the_data_are_seen_in_the_weights(tmp_path):
    for k in range(2):
        torch.save(own(5, 7).state_dict(), tmp_path / f"{k}.pt")
    few = np.array([0, 4, 5] * 8)
    found = read_networks(tmp_path, (X, few), make=own)
    assert found["0.pt"].y_train.tolist() == few.tolist()  # whole numbers that are outputs stay
    named = read_networks(tmp_path, (X, np.array(["b", "a", "c"] * 8)), make=own, classes=list("gfedcba"))
    assert named["0.pt"].y_train.tolist() == [5, 6, 4] * 8


def test_a_manifest_to_complete_is_written_and_counts_with_a_function(tmp_path):
    class Odd(nn.Module):
        def __init__(self, kind, width=8):
            super().__init__()
            self.layer = {"a": nn.Linear(5, width), "b": nn.Linear(5, width, bias=False)}[kind]
            self.out = nn.Linear(width, 3)

        def forward(self, x):
            return self.out(self.layer(x).relu())

    torch.manual_seed(0)
    made = {"one.pt": Odd("a", 6), "two.pt": Odd("b", 6)}
    for name, module in made.items():
        torch.save(module.state_dict(), tmp_path / name)
    with pytest.raises(InputError, match=r"2 of 2 networks cannot be made; .*manifest\.json' was written"):
        read_networks(tmp_path, (X, y), make=Odd)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["networks"]["one.pt"] == {"weights": "one.pt", "options": {"kind": None, "width": None}}
    with pytest.raises(InputError, match="leaves kind, width open"):
        read_networks(tmp_path, (X, y), make=Odd)
    for name, kind in (("one.pt", "a"), ("two.pt", "b")):
        manifest["networks"][name]["options"] = {"kind": kind}  # the width is seen in the weights
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    found = read_networks(tmp_path, (X, y), make=Odd)
    for name, module in made.items():
        gives(found, name, module)
    assert found.options["two.pt"] == {"kind": "b", "width": 6}


def test_files_that_cannot_be_read_are_left_out_with_the_reason(tmp_path):
    for k in range(2):
        torch.save(own(5, 3).state_dict(), tmp_path / f"{k}.pt")
    torch.save(own(5, 3), tmp_path / "whole.pt")
    found = read_networks(tmp_path, (X, y), make=own)
    assert list(found) == ["0.pt", "1.pt"]
    (remark,) = [n for n in found.notes if n.code == "N010"]
    assert "whole.pt" in remark.text
    assert "pickled objects" in remark.text
    ranked = nets.rank(found, measures=["path-norm"], device="cpu", accuracy=0)
    assert "N010" in {n.code for n in ranked.notes}


def test_normalisation_is_said_or_read_from_the_net(tmp_path):
    images = np.random.default_rng(0).random((6, 3, 8, 8)).astype(np.float32)

    class Told(nn.Sequential):
        default_cfg = {"mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.5)}

    def told():
        return Told(nn.Flatten(), nn.Linear(192, 3))

    for k in range(2):
        torch.save(told().state_dict(), tmp_path / f"{k}.pt")
    read = read_networks(tmp_path, (images, y[:6]), make=told)
    assert read["0.pt"].value_range == ([-2.0, -2.0, -1.0], [2.0, 2.0, 1.0])
    np.testing.assert_allclose(read["0.pt"].X_train[:, 2], (images[:, 2] - 0.5) / 0.5, rtol=1e-5, atol=1e-6)
    assert [n.code for n in read.notes] == ["N011"]
    said = nets.read_examples((images, y[:6]), mean=0, std=1)
    plain = read_networks(tmp_path, said, make=told)
    assert plain.notes == ()
    np.testing.assert_allclose(plain["0.pt"].X_train, images)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("width=64,depth=3.pt", {"width": 64, "depth": 3}),
        ("depth3-width64-dropout0.5.safetensors", {"width": 64, "depth": 3, "dropout": 0.5}),
        ("bandwidth64_newdepth3.pt", {}),
        ("width-1e-3.pt", {"width": 1e-3}),
        ("use_norm=False_width8.pt", {"use_norm": False, "width": 8}),
        ("runs/depth_2/last.ckpt", {"depth": 2}),
    ],
)
def test_options_in_file_names(name, expected):
    assert options_in_name(name, dict.fromkeys(("width", "depth", "dropout", "use_norm", "pretrained"))) == expected


def test_a_bench_and_a_monitor_of_checkpoints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "grid_of_test.py").write_text(
        "from unseen.nets import make_mlp\n\ndef make(n_features, n_classes, width, depth, activation):\n"
        "    return make_mlp(n_features, n_classes, depth, width, 0.0, activation)\n"
    )
    (tmp_path / "runs").mkdir()
    made = {}
    for k, (width, depth, kind) in enumerate(itertools.product((4, 8), (1, 2), ("relu", "tanh"))):
        torch.manual_seed(k)
        name = f"width{width}_depth{depth}_activation={kind}.pt"
        made[name] = make_mlp(5, 3, depth, width, 0.0, kind)
        torch.save({"model": made[name].state_dict(), "epoch": k}, tmp_path / "runs" / name)
    rng = np.random.default_rng(1)
    test = rng.normal(size=(50, 5)).astype(np.float32), np.arange(50) % 3
    np.savez("train.npz", X=X, y=y)
    np.savez("test.npz", X=test[0], y=test[1])

    def run(*words):
        monkeypatch.setattr("sys.argv", ["unseen", "nets", *words, "--quiet", "--json"])
        with pytest.raises(SystemExit) as done:
            main()
        out = capsys.readouterr()
        assert done.value.code == 0, out.err
        return json.loads(out.out)

    shared = ("--module", "grid_of_test:make", "--data", "train.npz", "--test", "test.npz", "--device", "cpu")
    got = run("bench", "--zoo", "runs", *shared, "--measures", "path-norm", "--permutations", "9", "--values", "v.csv")
    assert "path-norm" in [line["measure"] for line in got["lines"]]
    found = read_networks("runs", (X, y), make=importlib.import_module("grid_of_test").make)
    scored = nets.bench_networks(found, *test, ["path-norm"], path="v.csv", n_permutations=9)
    with torch.no_grad():
        for name, gap in zip(found, scored.gap):
            right = [float((made[name](torch.as_tensor(a)).argmax(1).numpy() == b).mean()) for a, b in ((X, y), test)]
            assert gap == pytest.approx(right[0] - right[1])
    rows = run("monitor", "runs")
    assert {row["run"]: row["epoch"] for row in rows} == {name: k for k, name in enumerate(made)}
    alike = {name: found[name] for name in list(found)[:2]}
    with pytest.raises(InputError, match="do not differ in their options"):
        nets.bench_networks(nets.Networks(nets=alike), *test, ["path-norm"])
    sys.modules.pop("grid_of_test", None)


def test_one_command_ranks_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "own_factory_of_test.py").write_text(
        "from unseen.nets import make_mlp\n\ndef make(n_features, n_classes, width=8):\n    return make_mlp(n_features, n_classes, width=width)\n"
    )
    (tmp_path / "checkpoints").mkdir()
    sizes = {"a.pt": 4, "b.pth": 8, "c.ckpt": 16}
    for name, width in sizes.items():
        torch.save({"net": make_mlp(5, 3, width=width).state_dict(), "epoch": width}, tmp_path / "checkpoints" / name)
    np.savez("train.npz", X=X, y=y)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["unseen", "nets", *words, "--quiet"])
        with pytest.raises(SystemExit) as done:
            main()
        assert done.value.code == 0, capsys.readouterr().err
        return capsys.readouterr().out

    shared = ("--module", "own_factory_of_test:make", "--data", "train.npz", "--device", "cpu")
    ranked = json.loads(run("rank", "checkpoints", *shared, "--measures", "path-norm", "--json"))
    assert sorted(ranked["names"]) == sorted(sizes)
    error = json.loads(run("estimate", *shared, "--weights", "checkpoints/c.ckpt", "--method", "resub", "--json"))
    best = ranked["names"].index("c.ckpt")
    assert error["value"] == pytest.approx(1 - ranked["accuracy"][best])
    assert error["notes"][0]["code"] == "N009"
    sys.modules.pop("own_factory_of_test", None)
