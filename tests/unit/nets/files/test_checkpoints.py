"""Checkpoints as programs leave them: the net's own weights are found, what was chosen is said, and nothing is run."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="weights need torch")
from torch import nn

from unseen.core.errors import InputError
from unseen.nets import load_weights, make_mlp
from unseen.nets.files.checkpoints import fill_from, find_checkpoints, read_checkpoint
from unseen.nets.files.weights import write_weights


def net(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Linear(5, 3))


def shifted(state):
    return {k: v + 1 for k, v in state.items()}


def prefixed(state, first):
    return {f"{first}{k}": v for k, v in state.items()}


LAYOUTS = {
    "bare": lambda s: s,
    "model": lambda s: {"model": s, "epoch": 3},
    "net": lambda s: {"net": s, "acc": 91.2, "epoch": 3},
    "tutorial": lambda s: {"model_state_dict": s, "optimizer_state_dict": {"state": {0: {"step": torch.ones(1)}}}},
    "DataParallel": lambda s: {"state_dict": prefixed(s, "module.")},
    "compiled in Lightning": lambda s: {"state_dict": prefixed(s, "model._orig_mod."), "callbacks": {}},
    "loss and metrics": lambda s: {"state_dict": {**prefixed(s, "net."), "loss.weight": torch.ones(3), "val_metric.n": torch.ones(1)}},
    "averages by name": lambda s: {"state_dict": {**prefixed(shifted(s), "ema_model."), **prefixed(s, "model.")}},
    "averages beside": lambda s: {"state_dict_ema": shifted(s), "state_dict": s},
    "model and model_ema": lambda s: {"model_ema": shifted(s), "model": s},
    "teacher and student": lambda s: {"teacher": prefixed(shifted(s), "module."), "student": prefixed(s, "module.")},
    "swa": lambda s: {**prefixed(s, "module."), "n_averaged": torch.tensor(3)},
    "without counters": lambda s: {k: v for k, v in s.items() if "num_batches" not in k},
    "two deep": lambda s: {"checkpoint": {"model": s}, "rng": {"cpu": torch.zeros(4)}},
    "half precision": lambda s: {"model": {k: v.double() for k, v in s.items()}},
}  # fmt: skip


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_the_weights_of_the_trained_net_are_found(tmp_path, name):
    trained = net(1)
    torch.save(LAYOUTS[name](trained.state_dict()), tmp_path / "a.pt")
    found = load_weights(net(2), tmp_path / "a.pt")
    for a, b in zip(trained.parameters(), found.parameters()):
        torch.testing.assert_close(a, b)


def test_what_was_chosen_is_said_and_another_choice_can_be_asked_for(tmp_path):
    trained = net(1)
    state = trained.state_dict()
    torch.save({"model_ema": shifted(state), "model": {**state, "loss.weight": torch.ones(2)}}, tmp_path / "a.pt")
    _, (remark,) = fill_from(net(), read_checkpoint(tmp_path / "a.pt"))
    assert remark.code == "N008"
    assert "'model' were taken" in remark.text
    assert "'model_ema'" in remark.text
    assert "loss.weight" in remark.text
    average = load_weights(net(), tmp_path / "a.pt", state="model_ema")
    torch.testing.assert_close(average[0].weight, trained[0].weight + 1)
    with pytest.raises(InputError, match=r"no weights at 'teacher'.*'model', 'model_ema'"):
        load_weights(net(), tmp_path / "a.pt", state="teacher")
    assert fill_from(net(), read_checkpoint(_saved(tmp_path / "b.pt", state)))[1] == ()


def _saved(path, content):
    torch.save(content, path)
    return path


def test_a_layer_that_the_module_lacks_is_no_extra(tmp_path):
    deeper = nn.Sequential(*net(), nn.Linear(3, 3))
    with pytest.raises(InputError, match=r"hold '3\.bias', which the module has not"):
        load_weights(net(), _saved(tmp_path / "a.pt", deeper.state_dict()))


def test_harmless_kinds_are_read_and_others_are_named(tmp_path):
    harmless = {
        "args": argparse.Namespace(width=7, out=pathlib.PurePosixPath("runs"), when=datetime.timedelta(1)),
        "config": types.SimpleNamespace(depth=2),
        "best": np.float64(0.5),
        "curve": np.arange(3.0),
        "model": net().state_dict(),
    }
    found = read_checkpoint(_saved(tmp_path / "a.pt", harmless))
    assert found.hyper == {"width": 7, "out": pathlib.PurePosixPath("runs"), "when": datetime.timedelta(1), "depth": 2}
    assert found.facts == {"best": 0.5}
    assert list(found.states) == ["model"]


class Canary:
    def __reduce__(self):
        return os.mkdir, ("canary",)


def test_code_in_a_file_is_not_run_and_its_name_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, bomb in enumerate(
        ({"model": Canary()}, {"args": argparse.Namespace(x=Canary()), "model": net().state_dict()})
    ):
        with pytest.raises(InputError, match=r"pickled objects \((posix|nt)\.mkdir\)"):
            read_checkpoint(_saved(tmp_path / f"{k}.pt", bomb))
    with pytest.raises(InputError, match=r"pickled objects \(torch\.nn\.modules"):
        read_checkpoint(_saved(tmp_path / "whole.pt", net()))
    assert not (tmp_path / "canary").exists()


def test_shards_and_folders(tmp_path):
    trained = net(1)
    state = dict(trained.state_dict())
    names = list(state)
    folder = tmp_path / "hf"
    folder.mkdir()
    places = {}
    for k, part in enumerate((names[:3], names[3:])):
        file = f"model-{k + 1:05d}-of-00002.safetensors"
        write_weights(folder / file, {name: state[name] for name in part})
        places |= dict.fromkeys(part, file)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    for path in (folder, index):
        assert torch.equal(load_weights(net(2), path)[2].weight, trained[2].weight)
    assert list(find_checkpoints(tmp_path)) == ["hf"]
    index.write_text(json.dumps({"weight_map": {**places, "0.bias": "../secret.safetensors"}}))
    with pytest.raises(InputError, match="must lie beside the index"):
        read_checkpoint(folder)
    index.write_text(json.dumps({"weight_map": {**places, "gone": places[names[0]]}}))
    with pytest.raises(InputError, match="lack 'gone'"):
        read_checkpoint(folder)
    index.write_text("[]")
    with pytest.raises(InputError, match="an object is needed"):
        read_checkpoint(folder)


def test_tied_weights_are_stored_once(tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 3)
            self.last.weight = self.first.weight

    trained = Tied()
    write_weights(tmp_path / "a.safetensors", {k: v for k, v in trained.state_dict().items() if k != "last.weight"})
    found = load_weights(Tied(), tmp_path / "a.safetensors")
    assert torch.equal(found.last.weight, trained.first.weight)


@pytest.mark.parametrize(
    ("content", "words"),
    [([torch.ones(1)], "holds a list"), ({"epoch": 3, "best": 0.5}, "it holds epoch, best"), ({}, "it holds nothing")],
)
def test_files_without_weights(tmp_path, content, words):
    with pytest.raises(InputError, match=words):
        read_checkpoint(_saved(tmp_path / "a.pt", content))


def test_names_come_in_the_order_of_their_numbers(tmp_path):
    for name in ("epoch-10.pt", "epoch-9.pth", "b/last.ckpt", "optimizer.pt", "rng_state.pth", "x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list(find_checkpoints(tmp_path)) == ["b/last.ckpt", "epoch-9.pth", "epoch-10.pt"]
    with pytest.raises(InputError, match="no folder"):
        find_checkpoints(tmp_path / "gone")


def test_make_mlp_is_filled_as_ever(tmp_path):
    trained = make_mlp(3, 2)
    write_weights(tmp_path / "a.safetensors", trained.state_dict())
    assert torch.equal(load_weights(make_mlp(3, 2), tmp_path / "a.safetensors")[0].weight, trained[0].weight)
