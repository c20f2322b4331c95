"""A small file does not fill the memory: what unpacks to too much is refused, and the message says how to allow more."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

import unseen
from unseen.core import unpacking
from unseen.core.errors import InputError
from unseen.datasets.frames import read_frame
from unseen.datasets.read import read

ROWS = 40_000


@pytest.fixture
def small_limit(monkeypatch):
    """Let 1 MB be what any file may unpack to, so that no test needs a large one."""
    monkeypatch.delenv(unpacking.SETTING, raising=False)
    monkeypatch.setattr(unpacking, "ALWAYS", 1)


def write_npz(path):
    np.savez_compressed(path, X=np.zeros((ROWS, 10)), y=np.tile([0, 1], ROWS // 2))


def write_gz(path):
    text = "a,b,y\n" + "".join(f"1.000000000000,2.0000000000000000,{'uv'[k % 2]}\n" for k in range(ROWS))
    path.write_bytes(gzip.compress(text.encode()))


def write_parquet(path):
    pytest.importorskip("pyarrow")
    frame = {c: np.zeros(ROWS) for c in "abcdefgh"} | {"y": np.tile(["u", "v"], ROWS // 2)}
    pd.DataFrame(frame).to_parquet(path)


FILES = {"bomb.npz": write_npz, "bomb.csv.gz": write_gz, "bomb.parquet": write_parquet}


@pytest.mark.parametrize("name", FILES)
def test_refused_with_a_way_out(name, small_limit, tmp_path, monkeypatch) -> None:
    file = tmp_path / name
    FILES[name](file)
    assert file.stat().st_size < 50_000
    with pytest.raises(InputError, match=f"{name}' has 0.1 MB and unpacks to .* allow more: UNSEEN_UNPACK_MB=[0-9]"):
        read(file, "y")
    monkeypatch.setenv(unpacking.SETTING, "50")
    assert read(file, "y").n == ROWS


def test_every_command_that_reads_predictions(small_limit, tmp_path) -> None:
    file = tmp_path / "bomb.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"y": 1, "p": 1}\n' * 100_000))
    with pytest.raises(InputError, match="UNSEEN_UNPACK_MB"):
        read_frame(file)


def test_tables_and_nets(small_limit, tmp_path) -> None:
    write_npz(tmp_path / "bomb.npz")
    with pytest.raises(InputError, match="UNSEEN_UNPACK_MB"):
        unseen.load(tmp_path / "bomb.npz")
    examples = pytest.importorskip("unseen.nets.files.examples")
    with pytest.raises(InputError, match="UNSEEN_UNPACK_MB"):
        examples.read_examples(tmp_path / "bomb.npz")
    examples.write_idx(tmp_path / "bomb-idx3-ubyte.gz", np.zeros((2000, 28, 28), np.uint8))
    with pytest.raises(InputError, match="UNSEEN_UNPACK_MB"):
        examples.read_idx(tmp_path / "bomb-idx3-ubyte.gz")


def test_large_files_may_unpack_to_a_multiple(small_limit, tmp_path) -> None:
    file = tmp_path / "honest.npz"
    np.savez_compressed(file, X=np.random.default_rng(0).random((ROWS, 10)), y=np.tile([0, 1], ROWS // 2))
    assert read(file).n == ROWS


@pytest.mark.parametrize("value", ["", "0", "-1", "many", "1.5"])
def test_setting_that_is_no_size(value, tmp_path, monkeypatch) -> None:
    write_npz(tmp_path / "a.npz")
    monkeypatch.setenv(unpacking.SETTING, value)
    with pytest.raises(InputError, match="whole number of megabytes"):
        read(tmp_path / "a.npz")
