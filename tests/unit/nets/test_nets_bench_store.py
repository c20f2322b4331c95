"""`nets bench` on a zoo with a store: a stopped run is kept as it stands, the next one goes on and is kept beside it."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="zoos need torch")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.cli.app import main  # noqa: E402
from unseen.nets import Zoo, ZooGrid, from_store, make_mlp  # noqa: E402
from unseen.nets import _zoo_grids as grids  # noqa: E402
from unseen.store import open_store  # noqa: E402

GRID = ZooGrid(
    "toy-images", make_mlp, {"width": (4, 8), "depth": (1, 2), "weight_decay": (0.0, 0.03)}, lr=0.1, epochs=10, accuracy=0.0
)  # fmt: skip
WORDS = ("bench", "--zoo", "zoo", "--data", "train.npz", "--values", "values.csv", "--measures", "weighted-augment,path-norm",
         "--permutations", 9, "--device", "cpu", "--store", "runs.db", "--json")  # fmt: skip


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
        first, second = (from_store(store.kept_one(k)) for k in (1, 2))
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
        assert store.kept_one(1).payload["sheets"] == []
