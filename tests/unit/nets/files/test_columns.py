"""Examples in tables, loaders and dictionaries: pictures as bytes, tokens with masks, normalisation."""

from __future__ import annotations

import io

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="examples of nets need torch")

from unseen.core.errors import InputError
from unseen.nets import estimate, make_mlp, rank, read_examples

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 5, 5, 3), dtype=np.uint8)
LABELS = [0, 1, 2, 0, 1, 2]


def png(pixels):
    image = pytest.importorskip("PIL.Image", reason="pictures need Pillow")
    held = io.BytesIO()
    image.fromarray(pixels).save(held, format="png")
    return held.getvalue()


def parquet(path, columns):
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet as files

    files.write_table(arrow.table(columns), path)
    return path


@pytest.mark.parametrize("wrapped", [True, False])
def test_parquet_with_bytes_of_pictures(tmp_path, wrapped):
    pictures = [png(p) for p in PIXELS]
    column = [{"bytes": p, "path": "x.png"} for p in pictures] if wrapped else pictures
    file = parquet(tmp_path / "train.parquet", {"image": column, "label": LABELS})
    for source in (file, tmp_path):
        X, y = read_examples(source)
        np.testing.assert_array_equal((X * 255).round(), PIXELS.transpose(0, 3, 1, 2))
        assert y.tolist() == LABELS
    assert len(read_examples(file, limit=4)) == 4
    assert read_examples(file, channels=1).X.shape == (6, 1, 5, 5)


def test_parquet_of_tokens_and_of_numbers(tmp_path):
    texts = {"input_ids": [[3, 4, 5], [6]], "attention_mask": [[1, 1, 1], [1]], "labels": [1, 0]}
    X, y = read_examples(parquet(tmp_path / "a.parquet", texts))
    assert X["input_ids"].tolist() == [[3, 4, 5], [6, 0, 0]]
    assert X["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert y.tolist() == [1, 0]
    numbers = read_examples(parquet(tmp_path / "b.parquet", {"a": [1.0, 2.0], "b": [3, 4], "y": ["u", "v"]}))
    assert numbers.X.tolist() == [[1, 3], [2, 4]]
    assert numbers.classes == ("u", "v")
    with pytest.raises(InputError, match="none of them is called label"):
        read_examples(parquet(tmp_path / "c.parquet", {"a": [1.0]}))
    with pytest.raises(InputError, match="the name of a file"):
        read_examples(parquet(tmp_path / "d.parquet", {"image": [{"bytes": None, "path": "x.png"}], "label": [0]}))
    (tmp_path / "e.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(InputError, match="cannot read"):
        read_examples(tmp_path / "e.parquet")


def test_pictures_are_brought_to_one_size(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pictures need Pillow")
    (tmp_path / "a").mkdir()
    grey = np.tile(np.repeat([0, 200, 0], [4, 8, 4]).astype(np.uint8), (8, 1))  # 8 high, 16 wide, bright in the middle
    image.fromarray(grey).save(tmp_path / "a" / "0.png")
    image.fromarray(np.full((4, 4), 100, np.uint8)).save(tmp_path / "a" / "1.png")
    with pytest.raises(InputError, match="--size 64"):
        read_examples(tmp_path)
    X = read_examples(tmp_path, size=8).X
    assert X.shape == (2, 1, 8, 8)
    assert np.allclose(X[0] * 255, 200)  # the ends of the longer side were cut off
    assert np.allclose(X[1] * 255, 100)


def test_normalisation_by_hand():
    images = np.random.default_rng(0).random((4, 3, 2, 2)).astype(np.float32)
    mean, std = [0.1, 0.2, 0.3], [0.5, 1.0, 2.0]
    e = read_examples((images, [0, 1, 0, 1]), mean=mean, std=std)
    for k in range(3):
        np.testing.assert_allclose(e.X[:, k], (images[:, k] - mean[k]) / std[k], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(e.value_range, [[-0.2, -0.2, -0.15], [1.8, 0.8, 0.35]])
    with pytest.raises(InputError, match="normalised already"):
        read_examples(e, mean=0.5)
    with pytest.raises(InputError, match="are for images"):
        read_examples((np.ones((2, 3)), [0, 1]), mean=0.5)


class Texts(torch.utils.data.Dataset):
    rows = ([3, 4, 5], [6], [2, 2], [7, 8, 1])

    def __len__(self):
        return 4

    def __getitem__(self, k):
        return {"input_ids": torch.tensor(self.rows[k]), "label": k % 2}


def collate(items):
    longest = max(len(one["input_ids"]) for one in items)
    ids = torch.zeros(len(items), longest, dtype=torch.long)
    for k, one in enumerate(items):
        ids[k, : len(one["input_ids"])] = one["input_ids"]
    return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": torch.tensor([o["label"] for o in items])}


def test_loaders_of_dictionaries():
    expected = [[3, 4, 5], [6, 0, 0], [2, 2, 0], [7, 8, 1]]
    plain = read_examples(torch.utils.data.DataLoader(Texts(), batch_size=2, shuffle=True))
    own = read_examples(torch.utils.data.DataLoader(Texts(), batch_size=2, shuffle=True, collate_fn=collate))
    for e in (plain, own):
        assert e.X["input_ids"].tolist() == expected
        assert e.X["attention_mask"].tolist() == [[int(v > 0) for v in row] for row in expected]
        assert e.y.tolist() == [0, 1, 0, 1]
    assert len(read_examples(torch.utils.data.DataLoader(Texts(), batch_size=2, collate_fn=collate), limit=3)) == 3


def test_verbs_take_a_loader():
    torch.manual_seed(0)
    X, y = torch.randn(40, 4), torch.arange(40) % 2
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=8, shuffle=True)
    net = make_mlp(4, 2)
    assert estimate(net, loader, method="resub").value == estimate(net, X, y, method="resub").value
    both = {"a": net, "b": make_mlp(4, 2)}
    by_loader = rank(both, loader, measures=["spectral-margin"], device="cpu", accuracy=0)
    by_arrays = rank(both, X, y, measures=["spectral-margin"], device="cpu", accuracy=0)
    assert by_loader.names == by_arrays.names
    assert [v.value for v in by_loader.values["spectral-margin"]] == [
        v.value for v in by_arrays.values["spectral-margin"]
    ]
