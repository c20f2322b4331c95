"""Image sets packed for a machine that takes small files only come back bit by bit."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path

import numpy as np
import pytest

PACKING = runpy.run_path(str(Path(__file__).parents[4] / "studies" / "zoo_data.py"))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("kind", ["noise", "smooth", "extremes"])
def test_packing_loses_nothing(channels: int, kind: str) -> None:
    rng = np.random.default_rng(0)
    shape = (7, channels, 9, 11)
    images = {
        "noise": rng.integers(0, 256, shape),
        "smooth": np.cumsum(rng.integers(-3, 4, shape), axis=3) % 256,
        "extremes": 255 * rng.integers(0, 2, shape),
    }[kind].astype(np.uint8)
    arrays = {"X_train": images, "y_train": rng.integers(0, 10, 7).astype(np.uint8)}
    found = PACKING["unpack"](PACKING["pack"](arrays))
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)


def test_packing_makes_smooth_images_smaller_than_they_would_be_alone() -> None:
    import lzma

    x = np.linspace(0, 6, 64)
    waves = (
        120
        + 60 * np.sin(x[:, None, None] + x[:32, None] + np.random.default_rng(0).random((64, 1, 1)))
        + 8 * np.cos(x[:32])
    )
    images = waves.astype(np.uint8)[:, None]
    assert len(PACKING["pack"]({"X": images})) < len(lzma.compress(images.tobytes(), preset=6))


def test_the_first_training_images_are_cut(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    folder = tmp_path / "mnist"
    folder.mkdir()
    for part, n in (("train", 2300), ("t10k", 40)):
        for name, shape in (("images-idx3", (n, 4, 5)), ("labels-idx1", (n,))):
            values = rng.integers(0, 10, shape).astype(np.uint8)
            head = bytes([0, 0, 8, len(shape)]) + b"".join(k.to_bytes(4, "big") for k in shape)
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(head + values.tobytes()))
    found = PACKING["cut"](tmp_path, "mnist")
    assert {name: values.shape for name, values in found.items()} == {
        "X_train": (2000, 1, 4, 5),
        "y_train": (2000,),
        "X_test": (40, 1, 4, 5),
        "y_test": (40,),
    }
