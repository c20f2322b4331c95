"""`nets bench` on a zoo with a store: a stopped run is kept as it stands, the next one goes on and is kept beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="zoos need torch")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.cli.app import main
from unseen.nets import Zoo, ZooGrid, from_store, make_mlp
from unseen.nets.zoo import grids
from unseen.store import open_store

GRID = ZooGrid(
    "toy-images",
    make_mlp,
    {"width": (4, 8), "depth": (1, 2), "weight_decay": (0.0, 0.03)},
    lr=0.1,
    epochs=10,
    accuracy=0.0,
)
WORDS = (
    "bench",
    "--zoo",
    "zoo",
    "--data",
    "train.npz",
    "--values",
    "values.csv",
    "--measures",
    "weighted-augment,path-norm",
    "--permutations",
    9,
    "--device",
    "cpu",
    "--store",
    "runs.db",
    "--json",
)


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run `unseen nets ...` in this process, in a folder with a small zoo of image classifiers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(grids.GRIDS, GRID.id, GRID)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = (0.8 * rng.random((60, 1, 6, 6)) + 0.06 * y[:, None, None, None]).astype(np.float32)
    parts = {"X_train": X[:30], "y_train": y[:30], "X_test": X[30:], "y_test": y[30:]}
    np.savez("train.npz", **parts)
    Zoo.train(GRID, parts, store="zoo", seeds=1, copies=False, device="cpu")

    def call(*words):
        monkeypatch.setattr("sys.argv", ["unseen", "nets", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        out = capsys.readouterr()
        return done.value.code, out.out, out.err

    return call


def test_a_stopped_bench_is_kept_and_the_next_one_goes_on(run):
    code, out, err = run(*WORDS, "--max-seconds", 0)
    assert code == 3, err
    assert "kept as nets-bench 1" in err
    assert json.loads(out)["left_out"] == dict.fromkeys(
        ("weighted-augment", "path-norm"), "8 of 8 networks: not measured"
    )
    assert "N007" in [n["code"] for n in json.loads(out)["notes"]]
    code, out, err = run(*WORDS)
    assert code == 0
    assert "kept as nets-bench 2" in err
    with open_store("runs.db", read_only=True) as store:
        first, second = (from_store(store.record(k)) for k in (1, 2))
    assert [line.measure for line in first.lines if not line.control] == []
    assert {line.measure for line in second.lines} >= {"weighted-augment", "path-norm"}
    assert second.to_dict() == json.loads(out)
    assert second.left_out == {}
    # the sheet belongs to a measure that was scored, and shows the images as they were given
    assert first.sheets == ()
    raw = np.load("train.npz")["X_train"]
    fixed = next(sheet for sheet in second.sheets if sheet.category == "fixed")
    assert np.abs(fixed.images[:, 0, :, :, 0] - raw[:2, 0]).max() < 1 / 255


def test_a_measure_that_does_not_apply_leaves_no_bench_unfinished(run):
    words = [w if w != "weighted-augment,path-norm" else "holdout80,path-norm" for w in WORDS]
    code, out, err = run(*words, "--max-seconds", 500)
    assert "holdout80 needs" in json.loads(out)["left_out"]["holdout80"]
    assert code == 0, err


def test_no_images_means_none(run):
    code, _, err = run(*WORDS, "--no-images", "--quiet")
    assert code == 0, err
    with open_store("runs.db", read_only=True) as store:
        assert store.record(1).payload["sheets"] == []


def test_ctrl_c_says_where_the_values_are(run, monkeypatch):
    from unseen.nets.ranking import bench as rows

    real, seen = rows._measure_row, []

    def stopped(*given):
        seen.append(given)
        if len(seen) > 3:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(rows, "_measure_row", stopped)
    code, out, err = run(*WORDS)
    assert (code, out) == (3, "")
    assert "what was done is kept in 'values.csv'" in json.loads(err)["error"]["message"]
    assert len(rows.read_rows("values.csv")) == 3
    monkeypatch.setattr(rows, "_measure_row", real)
    assert run(*WORDS)[0] == 0


@pytest.mark.parametrize("what", ["cut short", "damaged inside", "one array"])
def test_data_that_cannot_be_read_are_named(run, what):
    content = Path("train.npz").read_bytes()
    if what == "cut short":
        Path("train.npz").write_bytes(content[:300])
    elif what == "damaged inside":
        np.savez_compressed(
            "train.npz", X_train=np.random.default_rng(0).random((30, 1, 6, 6)), y_train=np.arange(30) % 2
        )
        packed = bytearray(Path("train.npz").read_bytes())
        packed[80:400] = bytes(320)
        Path("train.npz").write_bytes(packed)
    else:
        np.save("one.npy", np.ones(3))
        Path("train.npz").write_bytes(Path("one.npy").read_bytes())
    code, _, err = run(*WORDS)
    assert code == 2
    assert "train.npz" in json.loads(err)["error"]["message"]


class Counting:
    """A reporter that counts."""

    def __init__(self):
        self.expected = self.done = 0
        self.closed = False

    def expect(self, fits, label):
        self.expected += fits

    def advance(self, fits, failed=0):
        self.done += fits

    def say(self, text):
        pass

    def close(self):
        self.closed = True


def test_rankings_and_benches_show_how_far_they_are(run):
    from unseen.nets import bench, rank, sample_net

    data = np.load("train.npz")
    watch = Counting()
    bench(Zoo.load("zoo", dict(data)), ["path-norm", "random-order"], n_permutations=9, progress=watch)
    assert (watch.expected, watch.done, watch.closed) == (16, 16, True)
    watch = Counting()
    nets = {"a": sample_net("conv"), "b": sample_net("mlp")}
    rank(nets, measures=["path-norm", "par-search"], device="cpu", progress=watch)  # the second does not apply
    assert (watch.expected, watch.done, watch.closed) == (4, 4, True)
