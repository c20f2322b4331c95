"""Examples from files: what is there is read, what is damaged is named."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unseen.core.errors import InputError, KindError
from unseen.nets import read_examples, read_idx, write_idx


@pytest.mark.parametrize("kind", ["u1", "i1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("name", ["a-idx", "a-idx.gz"])
def test_idx_holds_every_kind(tmp_path, kind, name):
    values = np.arange(-12 if kind != "u1" else 0, 12, 2).astype(kind).reshape(2, 3, -1)
    write_idx(tmp_path / name, values)
    back = read_idx(tmp_path / name)
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)


def test_idx_by_hand(tmp_path):
    (tmp_path / "a").write_bytes(b"\0\0\x08\x02" + struct.pack(">2I", 2, 2) + bytes([1, 2, 3, 250]))
    assert read_idx(tmp_path / "a").tolist() == [[1, 2], [3, 250]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no IDX file"),
        (b"\x89PNG", "no IDX file"),
        (b"\0\0\x08\x02\0\0", "within its sizes"),
        (b"\0\0\x08\x01" + struct.pack(">I", 5) + b"abc", "5 bytes of numbers are announced, 3 are there"),
        (b"\0\0\x08\x01" + struct.pack(">I", 2) + b"abc", "holds more"),
        (b"\0\0\x08\x03" + struct.pack(">3I", 2**31, 2**31, 9), "at most"),
        (gzip.compress(b"\0\0\x08\x01" + struct.pack(">I", 3000) + bytes(3000))[:-30], "damaged or was cut short"),
    ],
    ids=["empty", "picture", "header", "short", "long", "huge", "cut gzip"],
)
def test_damaged_idx_is_named(tmp_path, content, words):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_idx(tmp_path / "a")


def mnist_like(folder, labels=(3, 1, 2), zipped=True):
    rng = np.random.default_rng(0)
    end = ".gz" if zipped else ""
    for part in ("train", "t10k"):
        write_idx(folder / f"{part}-images-idx3-ubyte{end}", rng.integers(0, 256, (3, 4, 4)).astype(np.uint8))
        write_idx(folder / f"{part}-labels-idx1-ubyte{end}", np.array(labels, dtype=np.uint8))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_folder_like_mnist(tmp_path, zipped):
    mnist_like(tmp_path, zipped=zipped)
    train, test = (read_examples(tmp_path, part=part) for part in ("train", "test"))
    assert train.X.shape == (3, 1, 4, 4)
    assert train.X.dtype == np.float32
    assert 0 <= train.X.min() < train.X.max() <= 1
    assert not np.array_equal(train.X, test.X)
    assert train.y.tolist() == [3, 1, 2]
    assert train.classes == (1, 2, 3)
    assert len(read_examples(tmp_path, limit=2)) == 2
    with pytest.raises(InputError, match="from 1 to 3; with 3 classes"):
        read_examples(tmp_path, n_classes=3)


def test_the_real_mnist(shared):
    folder = shared / "data" / "images" / "mnist"
    if not folder.is_dir():
        pytest.skip("MNIST is not there")
    test = read_examples(folder, part="test", n_classes=10)
    assert test.X.shape == (10_000, 1, 28, 28)
    assert np.bincount(test.y).tolist() == [
        980,
        1135,
        1032,
        1010,
        982,
        892,
        958,
        1028,
        974,
        1009,
    ]  # LeCun's published counts


def test_npz(tmp_path):
    file = tmp_path / "a.npz"
    np.savez(file, x_train=np.ones((3, 2)), y_train=[0, 1, 1], x_test=np.zeros((2, 2)), y_test=[0, 1])
    assert len(read_examples(file)) == 3
    assert len(read_examples(file, part="test")) == 2
    np.savez(file, inputs=np.ones((3, 2)))
    with pytest.raises(InputError, match="arrays called X and y"):
        read_examples(file)
    np.savez(file, X=np.array([{"a": 1}], dtype=object), y=[0])
    with pytest.raises(InputError, match="never unpickled"):
        read_examples(file)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(InputError, match="cannot read"):
        read_examples(file)
    np.savez(file, X=np.array([[1.0], [np.nan]]), y=[0, 1])
    with pytest.raises(InputError, match="the first at row 2, counted from 1"):
        read_examples(file)
    np.savez(file, X=np.ones((3, 2)), y=[0, 1])
    with pytest.raises(InputError, match="one label per input"):
        read_examples(file)


def test_a_folder_of_pictures(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name, value in (("cat", 0), ("dog", 255)):
        (tmp_path / name).mkdir()
        for k in range(2):
            image.fromarray(np.full((5, 6, 3), value, dtype=np.uint8)).save(tmp_path / name / f"{k}.png")
    colour = read_examples(tmp_path)
    assert colour.X.shape == (4, 3, 5, 6)
    assert colour.y.tolist() == ["cat", "cat", "dog", "dog"]
    assert colour.X[:, 0, 0, 0].tolist() == [0, 0, 1, 1]
    assert read_examples(tmp_path, channels=1).X.shape == (4, 1, 5, 6)
    image.fromarray(np.zeros((3, 3, 3), dtype=np.uint8)).save(tmp_path / "dog" / "9.png")
    with pytest.raises(InputError, match="3 x 3 pixels"):
        read_examples(tmp_path)
    (tmp_path / "dog" / "9.png").write_bytes(b"not a picture")
    with pytest.raises(InputError, match="cannot read the picture"):
        read_examples(tmp_path)
    with pytest.raises(InputError, match="neither IDX files nor"):
        read_examples(tmp_path / "cat")


def test_any_dataset():
    class Pairs(torch.utils.data.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, k):
            return torch.full((1, 2, 2), float(k)), torch.tensor(k % 2)

    e = read_examples(Pairs())
    assert e.X.shape == (5, 1, 2, 2)
    assert e.y.tolist() == [0, 1, 0, 1, 0]
    with pytest.raises(InputError, match="pairs"):
        read_examples([1, 2, 3])
    with pytest.raises(KindError):
        read_examples(object())
    with pytest.raises(InputError, match="no file or folder"):
        read_examples("nowhere")


class Stream(torch.utils.data.IterableDataset):
    """Pairs that can be walked through and not asked for by number."""

    def __iter__(self):
        return ((torch.full((1, 2, 2), float(k)), k % 3) for k in range(7))


def test_a_stream_and_a_loader_are_read_as_the_dataset_is():
    stream = read_examples(Stream())
    assert stream.X.shape == (7, 1, 2, 2)
    assert stream.y.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert read_examples(Stream(), limit=4).X[3, 0, 0, 0] == 3
    pairs = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6) % 2)
    loader = torch.utils.data.DataLoader(pairs, batch_size=4, shuffle=True)
    assert np.array_equal(read_examples(loader).X, np.arange(12.0).reshape(6, 2))
    assert np.array_equal(read_examples(read_examples(loader)).y, np.arange(6) % 2)
    with pytest.raises(InputError, match="empty"):
        read_examples(torch.utils.data.TensorDataset(torch.zeros(0, 2), torch.zeros(0)))


def test_a_limit_on_pictures_takes_equally_many_of_every_class(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pictures need Pillow")
    for name, count in (("ant", 5), ("bee", 1), ("cat", 4)):
        (tmp_path / name).mkdir()
        for k in range(count):
            image.fromarray(np.full((4, 4), 10 * k, dtype=np.uint8)).save(tmp_path / name / f"{k}.png")
    few = read_examples(tmp_path, limit=6)
    assert list(few.y) == ["ant"] * 3 + ["bee"] + ["cat"] * 2
    assert (few.X[:3, 0, 0, 0] * 255).round().tolist() == [0, 10, 20]
    assert len(read_examples(tmp_path, limit=99)) == 10
