"""Image sets of the zoos: cut from the archives, packed without loss for a machine that only takes small files, and read back.

`python studies/zoo_data.py DATA_FOLDER carry` writes `carry/mnist.xz`, `carry/cifar.xz`, `carry/fashion.xz` and `carry/letter.xz`; `read("carry/mnist.xz")`
gives X_train, y_train, X_test, y_test as uint8, images as (n, channels, height, width). numpy alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
from pathlib import Path

import numpy as np

SIZES = {"mnist": (2_000, 10_000), "fashion": (10_000, 10_000), "cifar": (10_000, 10_000), "letter": (5_000, 10_000)}


def _predicted(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Return the median edge detector's guess at a pixel (the predictor of lossless JPEG-LS)."""
    low, high = np.minimum(left, above), np.maximum(left, above)
    return np.where(corner >= high, low, np.where(corner <= low, high, left + above - corner)) & 255


def _residuals(images: np.ndarray) -> np.ndarray:
    padded = np.pad(images.astype(np.int16), ((0, 0), (0, 0), (1, 0), (1, 0)))
    guess = _predicted(padded[:, :, 1:, :-1], padded[:, :, :-1, 1:], padded[:, :, :-1, :-1])
    return ((images - guess) % 256).astype(np.uint8)


def _restored(residuals: np.ndarray) -> np.ndarray:
    n, channels, height, width = residuals.shape
    planes = np.ascontiguousarray(residuals.transpose(2, 3, 1, 0)).reshape(height, width, -1).astype(np.int16)
    out = np.zeros(
        (height + 1, width + 1, planes.shape[2]), np.int16
    )  # pixels first: each step reads whole rows of memory
    for row in range(1, height + 1):
        for column in range(1, width + 1):
            guess = _predicted(out[row, column - 1], out[row - 1, column], out[row - 1, column - 1])
            out[row, column] = (planes[row - 1, column - 1] + guess) & 255
    pixels = out[1:, 1:].astype(np.uint8).reshape(height, width, channels, n)
    return np.ascontiguousarray(pixels.transpose(3, 2, 0, 1))


def _decorrelated(images: np.ndarray, back: bool = False) -> np.ndarray:
    if images.shape[1] != 3:
        return images
    red, green, blue = (images[:, k].astype(np.int16) for k in range(3))
    shift = -128 if back else 128
    sign = 1 if back else -1
    parts = [(red + sign * green + shift) % 256, green, (blue + sign * green + shift) % 256]
    return np.stack(parts, axis=1).astype(np.uint8)


def pack(arrays: dict[str, np.ndarray]) -> bytes:
    """Return arrays of uint8 as one compressed block; images are (n, channels, height, width)."""
    head, body = [], []
    for name, values in arrays.items():
        stored = values
        if values.ndim == 4:
            stored = _residuals(_decorrelated(values)).transpose(1, 0, 2, 3)
        head.append([name, list(values.shape)])
        body.append(np.ascontiguousarray(stored, np.uint8).tobytes())
    return lzma.compress(json.dumps(head).encode() + b"\n" + b"".join(body), preset=6)


def unpack(block: bytes) -> dict[str, np.ndarray]:
    """Undo `pack`."""
    head, _, body = lzma.decompress(block).partition(b"\n")
    arrays, start = {}, 0
    for name, shape in json.loads(head):
        size = int(np.prod(shape))
        values = np.frombuffer(body, np.uint8, size, start)
        start += size
        if len(shape) == 4:
            planes = values.reshape(shape[1], shape[0], *shape[2:]).transpose(1, 0, 2, 3)
            values = _decorrelated(_restored(planes), back=True)
        arrays[name] = values.reshape(shape)
    return arrays


def read(path: str | Path) -> dict[str, np.ndarray]:
    """Read a packed image set."""
    return unpack(Path(path).read_bytes())


def _idx(path: Path) -> np.ndarray:
    raw = gzip.decompress(path.read_bytes())
    shape = [int.from_bytes(raw[4 + 4 * k : 8 + 4 * k], "big") for k in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def cut(folder: Path, name: str) -> dict[str, np.ndarray]:
    """Take the first training images of an archive (they come in random order) and its whole test set."""
    n_train, n_test = SIZES[name]
    if name == "letter":  # rows of numbers from 0 to 15, in random order, the class in the last column
        rows = np.loadtxt(folder.parent / "uci" / "letter.csv.gz", delimiter=",", skiprows=1).astype(np.uint8)
        pairs = [(part[:, :-1], part[:, -1]) for part in (rows[:n_train], rows[n_train:])]
    elif name == "cifar":
        train, test = (np.load(folder / f"cifar10_{part}10k.npz") for part in ("train", "test"))
        pairs = [(np.moveaxis(d["x"], 3, 1), d["y"]) for d in (train, test)]
    else:
        source = folder / {"mnist": "mnist", "fashion": "fashion-mnist"}[name]
        pairs = [
            (_idx(source / f"{part}-images-idx3-ubyte.gz")[:, None], _idx(source / f"{part}-labels-idx1-ubyte.gz"))
            for part in ("train", "t10k")
        ]
    (X, y), (X_test, y_test) = pairs
    return {"X_train": X[:n_train], "y_train": y[:n_train], "X_test": X_test[:n_test], "y_test": y_test[:n_test]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("names", nargs="*", default=list(SIZES))
    parser.add_argument("--test", type=int, help="the first so many rows of the test sets alone, for a smaller file")
    given = parser.parse_args()
    folder, target = given.folder, given.target
    target.mkdir(exist_ok=True)
    for name in given.names:
        arrays = {k: v[: given.test] if k.endswith("test") else v for k, v in cut(folder, name).items()}
        (target / f"{name}.xz").write_bytes(pack(arrays))
        again = read(target / f"{name}.xz")
        if any(not np.array_equal(again[k], arrays[k]) for k in arrays):
            raise SystemExit(f"{name}: packing lost something")
        print(name, (target / f"{name}.xz").stat().st_size, np.bincount(arrays["y_train"]).tolist())


if __name__ == "__main__":
    main()
