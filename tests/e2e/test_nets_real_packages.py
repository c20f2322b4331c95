"""Checkpoints and data as timm, torchvision, Lightning, transformers and datasets write them, with random weights.

These packages are no dependency: each test is skipped where its package is absent. They were run beside torch 2.13.0 in an environment of their own.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
from torch import nn

import unseen.nets as nets
from unseen.cli.app import main

MEASURES = ["inverse-margin", "frobenius-sum"]


@pytest.fixture(scope="module", autouse=True)
def operators():
    """A build of torchvision for other hardware lacks its own operators, which no net here uses; declare those it insists on."""
    try:
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    except RuntimeError:
        pass


@pytest.fixture
def images():
    rng = np.random.default_rng(0)
    return rng.random((12, 3, 32, 32)).astype(np.float32), np.arange(12) % 3


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["unseen", "nets", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        out = capsys.readouterr()
        assert done.value.code == 0, out.err
        return json.loads(out.out)

    return call


def same(found, name, expected, X):
    """The network that was read gives the logits of the one that was saved."""
    net = found[name]
    with torch.no_grad():
        np.testing.assert_allclose(net.logits(net.X_train)[: len(X)], expected.eval()(X), rtol=1e-4, atol=1e-5)


def test_timm(tmp_path, images, run):
    timm = pytest.importorskip("timm")
    X, y = images
    mean, std = (
        np.array(v, dtype=np.float32)[:, None, None]
        for v in (timm.data.IMAGENET_DEFAULT_MEAN, timm.data.IMAGENET_DEFAULT_STD)
    )
    made = {}
    for k, name in enumerate(("resnet18", "resnet34")):
        torch.manual_seed(k)
        net = made[f"{k}.pth.tar.pt"] = timm.create_model(name, num_classes=3)
        # as timm's own CheckpointSaver writes them
        content = {
            "epoch": k,
            "arch": name,
            "state_dict": net.state_dict(),
            "optimizer": {"state": {}, "param_groups": []},
        }
        content |= {"version": 2, "args": argparse.Namespace(model=name, num_classes=3, pretrained=True, lr=0.1)}
        content |= {"state_dict_ema": {n: v + 1 for n, v in net.state_dict().items()}, "metric": 50.0}
        torch.save(content, tmp_path / f"{k}.pth.tar.pt")
    found = nets.read_networks(tmp_path, (X, y), make=timm.create_model)
    for name, net in made.items():
        same(found, name, net, torch.as_tensor((X - mean) / std))
    assert found.options["1.pth.tar.pt"]["model_name"] == "resnet34"
    assert {"N008", "N009", "N011"} <= {n.code for n in found.notes}
    assert "state_dict_ema" in next(n.text for n in found.notes if n.code == "N008")
    np.savez(tmp_path / "train.npz", X=X, y=y)
    words = ("--module", "timm:create_model", "--data", tmp_path / "train.npz", "--measures", ",".join(MEASURES))
    got = run("rank", tmp_path, *words, "--device", "cpu", "--json", "--quiet")
    assert sorted(got["names"]) == sorted(made)


def test_torchvision(tmp_path, images):
    torchvision = pytest.importorskip("torchvision")
    X, y = images
    made = {}
    for k in range(2):
        torch.manual_seed(k)
        net = made[f"model_{k}.pth"] = torchvision.models.resnet18(num_classes=3)
        # as torchvision's reference scripts save, from a net in DataParallel
        content = {"model": {f"module.{n}": v for n, v in net.state_dict().items()}, "epoch": k}
        torch.save({**content, "args": argparse.Namespace(model="resnet18", weights=None)}, tmp_path / f"model_{k}.pth")
    found = nets.read_networks(tmp_path, (X, y), make=torchvision.models.resnet18)
    by_name = nets.read_networks(tmp_path, (X, y), make=torchvision.models.get_model)
    for name, net in made.items():
        same(found, name, net, torch.as_tensor(X))
        same(by_name, name, net, torch.as_tensor(X))


@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path):
    lightning = pytest.importorskip("pytorch_lightning")
    metrics = pytest.importorskip("torchmetrics")

    class Lit(lightning.LightningModule):
        def __init__(self, width=8, lr=0.1):
            super().__init__()
            self.save_hyperparameters()
            self.model = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))
            self.loss = nn.CrossEntropyLoss(weight=torch.ones(3))
            self.metric = metrics.ConfusionMatrix(task="multiclass", num_classes=3)
            self.metric.persistent(True)

        def forward(self, x):
            return self.model(x)

        def training_step(self, batch, _):
            return self.loss(self(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)

    X, y = torch.randn(30, 4, generator=torch.Generator().manual_seed(0)), torch.arange(30) % 3
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=10)
    made = {}
    for width in (8, 16):
        lit = Lit(width=width)
        trainer = lightning.Trainer(
            max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
        )
        trainer.fit(lit, loader)
        trainer.save_checkpoint(tmp_path / f"{width}.ckpt")
        made[f"{width}.ckpt"] = lit
    whole = nets.read_networks(tmp_path, loader, make=Lit)
    inner = nets.read_networks(
        tmp_path, loader, make=lambda width: nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))
    )
    for name, lit in made.items():
        same(whole, name, lit, X)
        same(inner, name, lit, X)
    assert whole.options["16.ckpt"]["width"] == 16
    assert "loss.weight" in next(n.text for n in inner.notes if n.code == "N008")


def text_classifiers(transformers, folder):
    made = {}
    for k, (name, options) in enumerate(
        (
            ("Bert", {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 20}),
            ("DistilBert", {"dim": 16, "n_heads": 2, "hidden_dim": 20, "n_layers": 2}),
        )
    ):
        torch.manual_seed(k)
        config = getattr(transformers, f"{name}Config")(vocab_size=40, num_hidden_layers=2, num_labels=3, **options)
        net = getattr(transformers, f"{name}ForSequenceClassification")(config).eval()
        net.save_pretrained(folder / f"checkpoint-{k}", **({"max_shard_size": "8KB"} if k else {}))
        made[f"checkpoint-{k}"] = net
    return made


def test_transformers_texts(tmp_path, run):
    transformers = pytest.importorskip("transformers")
    made = text_classifiers(transformers, tmp_path)
    assert list((tmp_path / "checkpoint-1").glob("*.index.json"))  # in shards
    rng = np.random.default_rng(0)
    mask = (np.arange(9) < rng.integers(3, 10, 24)[:, None]).astype(np.int64)
    X = {"input_ids": rng.integers(1, 40, (24, 9)) * mask, "attention_mask": mask}
    y = np.arange(24) % 3
    found = nets.read_networks(tmp_path, (X, y), make=transformers.AutoModelForSequenceClassification)
    inputs = {k: torch.as_tensor(v) for k, v in X.items()}
    for name, net in made.items():
        with torch.no_grad():
            expected = net(**inputs).logits
        np.testing.assert_allclose(found[name].logits(found[name].X_train), expected, rtol=1e-4, atol=1e-5)
    ranked = nets.rank(found, measures="all", device="cpu", accuracy=0)
    assert {"vpm", "bolster", "margin-distribution", "inverse-margin", "pac-bayes-magnitude"} <= set(ranked.values)
    left = {n.text.split(",")[0] for n in ranked.notes if n.code == "N007"}
    assert {"always-generalize", "weighted-augment"} <= left  # they change images
    assert nets.rank(found, device="cpu", accuracy=0).names  # the default works on texts
    bolster = nets.estimate(made["checkpoint-0"], X, y, "bolster", n_mc=5, random_state=0)
    assert bolster.space.endswith("word_embeddings")
    np.savez(tmp_path / "train.npz", **X, y=y)
    words = ("--module", "transformers:BertForSequenceClassification", "--weights", tmp_path / "checkpoint-0")
    got = run("estimate", *words, "--data", tmp_path / "train.npz", "--method", "resub", "--json", "--quiet")
    with torch.no_grad():
        wrong = made["checkpoint-0"](**inputs).logits.argmax(1).numpy() != y
    assert got["value"] == pytest.approx(wrong.mean())


def test_transformers_images(tmp_path, images):
    transformers = pytest.importorskip("transformers")
    X, y = images
    made = {}
    for k in range(2):
        torch.manual_seed(k)
        config = transformers.ViTConfig(
            image_size=32, patch_size=16, hidden_size=16, num_attention_heads=2, intermediate_size=20, num_hidden_layers=2, num_labels=3
        )  # fmt: skip
        net = made[f"checkpoint-{k}"] = transformers.ViTForImageClassification(config)
        net.save_pretrained(tmp_path / f"checkpoint-{k}")
        said = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4], "do_normalize": True}
        (tmp_path / f"checkpoint-{k}" / "preprocessor_config.json").write_text(json.dumps(said))
    found = nets.read_networks(tmp_path, (X, y), make=transformers.ViTForImageClassification)
    shifted = (X - np.array([0.5, 0.4, 0.3])[:, None, None]) / np.array([0.2, 0.3, 0.4])[:, None, None]
    with torch.no_grad():
        for name, net in made.items():
            expected = net.eval()(torch.as_tensor(shifted, dtype=torch.float32)).logits
            np.testing.assert_allclose(found[name].logits(found[name].X_train), expected, rtol=1e-4, atol=1e-5)
    assert "N011" in {n.code for n in found.notes}
    assert list(nets.rank(found, measures=["augment-margin"], device="cpu", accuracy=0).values) == ["augment-margin"]


def test_datasets_on_disk(tmp_path):
    datasets = pytest.importorskip("datasets")
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["a", "b"])})
    held = datasets.Dataset.from_dict(
        {"image": [image.fromarray(p) for p in pixels], "label": [0, 1] * 3}, features=features
    )
    datasets.DatasetDict({"train": held, "test": held.select([0, 1])}).save_to_disk(tmp_path / "both")
    held.save_to_disk(tmp_path / "one")
    held.to_parquet(tmp_path / "train.parquet")
    for source in (tmp_path / "both", tmp_path / "one", tmp_path / "train.parquet", held):
        X, y = nets.read_examples(source)
        np.testing.assert_array_equal((X * 255).round().astype(np.uint8), pixels.transpose(0, 3, 1, 2))
        assert y.tolist() == [0, 1] * 3
    assert len(nets.read_examples(tmp_path / "both", part="test")) == 2
    texts = datasets.Dataset.from_dict(
        {"input_ids": [[3, 4, 5], [6]], "attention_mask": [[1, 1, 1], [1]], "label": [0, 1]}
    )
    texts.save_to_disk(tmp_path / "texts")
    assert nets.read_examples(tmp_path / "texts").X["input_ids"].tolist() == [[3, 4, 5], [6, 0, 0]]
    assert "datasets" in sys.modules
