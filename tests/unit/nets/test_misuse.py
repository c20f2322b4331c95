"""`nets rank`, `nets bench` and `nets cmi` given what they cannot use: exit code 2, one sentence, nothing on stdout."""

from __future__ import annotations

import csv
import itertools
import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from unseen.cli.app import main
from unseen.nets import make_mlp, make_vgg
from unseen.nets.files.weights import write_weights
from unseen.nets.ranking.bench import write_table

CMI = ("cmi", "wide.csv", "--measure", "m", "--grid", "depth,width,dropout", "--permutations", 5)
BENCH = ("bench", "--networks", "networks.csv", "--values", "values.csv", "--permutations", 5)
RANK = ("rank", "mine", "--data", "train.npz", "--measures", "path-norm", "--device", "cpu")


@pytest.fixture
def run(monkeypatch, capsys, made, tmp_path):
    """Run a command in a copy of the folder."""
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")

    def call(words):
        monkeypatch.setattr("sys.argv", ["unseen", "nets", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        out = capsys.readouterr()
        return done.value.code, out.out, out.err

    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    X = rng.random((12, 3, 8, 8)).astype(np.float32)
    np.savez(root / "train.npz", X=X, y=np.arange(12) % 3)
    (root / "mine").mkdir()
    networks = {}
    for k, (name, make) in enumerate((("a", make_vgg), ("b", make_vgg), ("c", make_mlp))):
        options = {"width": 4, "blocks": 1} if make is make_vgg else {"width": 4, "depth": 1}
        write_weights(
            root / "mine" / f"{k}.safetensors", make(n_features=(3, 8, 8), n_classes=3, **options).state_dict()
        )
        networks[name] = {"weights": f"{k}.safetensors", "make": make.__name__, "options": options}
    (root / "mine" / "manifest.json").write_text(json.dumps({"networks": networks}))
    nets, values, wide = [], [], []
    for k, (a, b, c) in enumerate(itertools.product((1, 2, 3), (8, 16), (0.0, 0.5))):
        gap = 0.1 + 0.03 * a + 0.02 * (b == 16) + 0.01 * (c > 0)
        axes = {"depth": a, "width": b, "dropout": c}
        nets.append(
            {
                "zoo": "z",
                "name": f"n{k}",
                "seed": 0,
                "train_accuracy": 1.0,
                "test_accuracy": 1 - gap,
                "gap": gap,
                **axes,
            }
        )
        wide.append({"gap": gap, "m": 2 * gap, **axes})
        values.append(
            {
                "zoo": "z",
                "seed": 0,
                "net": f"n{k}",
                "measure": "m",
                "value": gap,
                "std_error": 0,
                "draws": 1,
                "seconds": 0,
                "reason": "",
            }
        )
    for name, rows in (("networks.csv", nets), ("values.csv", values), ("wide.csv", wide)):
        write_table(root / name, rows)
    return root


def rewrite(path, change):
    """Change the rows of a CSV file."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    write_table(path, change(rows))


def put(column, value, only=None):
    return lambda rows: [{**r, column: value} if only is None or k == only else r for k, r in enumerate(rows)]


def without(column):
    return lambda rows: [{k: v for k, v in r.items() if k != column} for r in rows]


def refused(answer, *words):
    code, out, err = answer
    assert code == 2, (code, out, err)
    assert out == ""
    assert err.startswith("unseen: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err, err


def test_the_commands_work_before_they_are_misused(run):
    for words in (CMI, BENCH, RANK):
        assert run(words)[0] == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda rows: rows[:3] + rows[4:7] + rows[8:],
            ["not complete", "depth=1, width=16, dropout=0.5; depth=2, width=16, dropout=0.5", "2 of 12"],
        ),
        (put("gap", 0.25), ["all networks have the gap 0.25", "no order to predict"]),
        (lambda rows: rows[:1], ["1 value", "at least two networks"]),
        (put("gap", "", 4), ["gap is not a number for 1 of 12 networks (row 5; counted from 1)"]),
        (put("gap", "much"), ["gap must hold one number per network", "much"]),
        (lambda rows: rows + rows[:1], ["more than one network has depth=1, width=8, dropout=0.0"]),
        (without("dropout"), ["unknown column of wide.csv 'dropout'"]),
        (put("width", "", 2), ["'width' has no value for network 2"]),
    ],
)
def test_tables_that_cmi_cannot_score(run, change, words):
    rewrite("wide.csv", change)
    refused(run(CMI), *words)


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("networks.csv", put("gap", 0.25), ["constant gap"]),
        ("networks.csv", lambda rows: rows[:1], ["there is 1 network"]),
        (
            "networks.csv",
            without("gap"),
            ["table of networks 'networks.csv' has no column gap", "it has zoo, name, seed"],
        ),
        (
            "networks.csv",
            put("train_accuracy", "good", 3),
            ["line 5 of 'networks.csv': train_accuracy is 'good', not a number"],
        ),
        ("networks.csv", put("seed", "0.5", 1), ["line 3", "whole number"]),
        (
            "networks.csv",
            put("train_accuracy", 0.5),
            ["no complete grid is left (12 networks below 0.95; 12 were given)"],
        ),
        (
            "networks.csv",
            lambda rows: [r for r in rows if r["depth"] != "3"][1:],
            [
                "left of the grid cannot be scored",
                "no order left",
                "depth=1 (1 network missing: depth=1, width=8, dropout=0.0, seed=0)",
            ],
        ),
        (
            "networks.csv",
            lambda rows: [{k: v for k, v in r.items() if k not in ("depth", "width", "dropout")} for r in rows],
            ["no hyper-parameter"],
        ),
        ("networks.csv", lambda rows: rows + rows[:1], ["more than one network has depth=1, width=8, dropout=0.0"]),
        ("values.csv", without("value"), ["table of measures 'values.csv' has no column value"]),
        ("values.csv", put("draws", "many"), ["holds no value of any measure"]),
    ],
)
def test_tables_that_bench_cannot_score(run, file, change, words):
    rewrite(file, change)
    refused(run(BENCH), *words)


@pytest.mark.parametrize("name", ["networks", "values"])
def test_files_that_are_no_tables(run, name, tmp_path):
    words = list(BENCH)
    place = words.index(f"--{name}") + 1
    for content in (bytes(range(256)) * 9, b""):
        (tmp_path / "here" / "odd.csv").write_bytes(content)
        words[place] = "odd.csv"
        refused(run(words), "odd.csv")
    words[place] = "gone.csv"
    refused(run(words), "gone.csv", "No such file")


def test_a_poor_or_missing_network_takes_its_value_away_and_is_named(run):
    rewrite("networks.csv", put("train_accuracy", 0.5, 0))
    code, out, _ = run(BENCH)
    assert code == 0
    assert "N004 values left out: depth=1 (1 network below 0.95)" in out
    rewrite("networks.csv", lambda rows: put("train_accuracy", 1.0)(rows)[1:])
    code, out, _ = run(BENCH)
    assert code == 0
    assert "depth=1 (1 network missing: depth=1, width=8, dropout=0.0, seed=0)" in out


def test_a_file_that_no_bench_wrote_is_not_thrown_away(run, tmp_path):
    from unseen.core.errors import InputError
    from unseen.nets.ranking.bench import _read_unfinished

    rewrite("values.csv", put("draws", "many"))
    path = tmp_path / "here" / "values.csv"
    before = path.read_text()
    with pytest.raises(InputError, match="name a new file"):
        _read_unfinished(path)
    assert path.read_text() == before


def test_a_poorly_trained_network_is_flagged_and_ranked(run):
    code, out, _ = run(RANK)
    assert code == 0
    assert "N006 poorly trained network: training accuracy below 0.95: a (" in out


def manifest(change):
    with open("mine/manifest.json") as file:
        held = json.load(file)
    changed = change(held)
    with open("mine/manifest.json", "w") as file:
        json.dump(held if changed is None else changed, file)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m["networks"].pop("b") and m["networks"].pop("c") and None, ["there is 1 network", "at least two"]),
        (lambda m: {"networks": {}}, ["there are no networks"]),
        (lambda m: [1], ["is a list"]),
        (lambda m: {"nets": {}}, ["neither a grid nor networks"]),
        (lambda m: {**m, "value_range": "x"}, ["value_range", "'x'"]),
        (lambda m: {**m, "value_range": ["black", "white"]}, ["value_range", "black"]),
        (lambda m: {**m, "value_range": [0.25, 0.5]}, ["outside value_range (0.25, 0.5)"]),
        (lambda m: m["networks"]["a"].update(options={"nope": 3}), ["network 'a'", "make_vgg", "'nope'"]),
        (lambda m: m["networks"]["a"].update(options="x"), ["network 'a'", "options is 'x'"]),
        (lambda m: m["networks"]["a"].update(weights="gone.safetensors"), ["there is no file", "gone.safetensors"]),
        (lambda m: m["networks"]["a"].update(make="eval"), ["unknown architecture 'eval'"]),
        (lambda m: m["networks"]["a"].update(make="he_started"), ["unknown architecture 'he_started'"]),
        (lambda m: {"grid": {"id": "mine"}}, ["unknown zoo 'mine'", "`ZooGrid`, from Python"]),
    ],
)
def test_folders_that_rank_cannot_read(run, change, words):
    manifest(change)
    refused(run(RANK), *words)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (lambda X, y: {"X": 255 * X, "y": y}, ["images have values from", "to 254.", "outside value_range (0.0, 1.0)"]),
        (lambda X, y: {"X": X - 0.5, "y": y}, ["outside value_range"]),
        (lambda X, y: {"X": X, "y": y[:-1]}, ["one label per input"]),
        (lambda X, y: {"X": X * np.nan, "y": y}, ["NaN or infinite"]),
        (lambda X, y: {"X": X.reshape(12, -1), "y": y}, ["do not fit the module"]),
    ],
)
def test_images_that_rank_cannot_take(run, arrays, words):
    with np.load("train.npz") as held:
        X, y = held["X"], held["y"]
    np.savez("train.npz", **arrays(X, y))
    refused(run(RANK), *words)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--measures", "nope"), ["unknown measure of generalization 'nope'"]),
        (("--measures", ","), ["no measure is named"]),
        (("--only", "nope"), ["unknown network 'nope'"]),
        (("--only", "a"), ["there is 1 network"]),
        (("--accuracy", "2"), ["accuracy is 2.0"]),
        (("--measures", "holdout80"), ["none of the measures applies", "a copy trained on 80%"]),
        (("--data", "gone.npz"), ["gone.npz"]),
        (("--mean", "a"), ["--mean 'a'", "numbers between commas"]),
        (("--mean", "0.1,0.2"), ["mean is [0.1, 0.2]", "one per channel"]),
        (("--std", "0"), ["std is [0.0]", "above 0"]),
        (("--range", "1,0"), ["black below white"]),
        (("--classes", "0,1"), ["the label 2"]),
    ],
)
def test_options_that_rank_refuses(run, more, words):
    refused(run((*RANK, *more)), *words)


def test_folders_without_networks(run, tmp_path):
    refused(run(("rank", "gone", *RANK[2:])), "there is no folder 'gone'")
    (tmp_path / "here" / "empty").mkdir()
    refused(run(("rank", "empty", *RANK[2:])), "no files of weights", "no manifest.json")


def test_a_bench_of_a_folder_that_is_no_zoo(run):
    refused(run(("bench", "--zoo", "mine", "--data", "train.npz")), "a bench of checkpoints needs --test")


def test_a_measure_that_needs_a_convolution_says_so_of_a_module_without_one(monkeypatch):
    """No measure of this package needs one; a measure of somebody else's may declare it."""
    from dataclasses import dataclass
    from typing import ClassVar

    from unseen.core.errors import NotApplicable
    from unseen.nets import Measure, rank, sample_net

    @dataclass(frozen=True)
    class Filters(Measure):
        id: ClassVar[str] = "filters"
        range: ClassVar[tuple[float, float]] = (0.0, 1.0)
        needs: ClassVar[frozenset[str]] = frozenset({"convolution"})

        def once(self, net, generator, layers):
            return 1.0

    assert Filters()(sample_net("conv")).value == 1.0
    with pytest.raises(NotApplicable, match="filters needs a convolution layer, which this network does not have"):
        Filters()(sample_net("mlp"))
    nets = {"flat": sample_net("mlp"), "conv": sample_net("conv")}
    found = rank(nets, measures=[Filters(), "path-norm"], device="cpu")
    assert "filters needs a convolution layer" in found.notes[-1].text
