"""Texts behind their embedding: the same logits, masks that stay, mixtures by hand, measures that say why they cannot be made."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="nets need torch")
from torch import nn

import unseen.nets as nets
from unseen.core.errors import InputError, KindError, NotApplicable
from unseen.nets.modules.tokens import BehindEmbedding, in_one_tensor


class Answer:
    def __init__(self, logits):
        self.logits = logits


class Reader(nn.Module):
    """Mean of the embeddings that the mask lets through, with a table of positions that must not be taken for the text's."""

    def __init__(self, size=5, kinds=3):
        super().__init__()
        self.position, self.words = nn.Embedding(7, size), nn.Embedding(20, size)
        self.hidden, self.out = nn.Linear(size, 6), nn.Linear(6, kinds)

    def forward(self, input_ids, attention_mask):
        places = torch.arange(input_ids.shape[1]).expand_as(input_ids)
        features = self.words(input_ids) + self.position(places)
        mask = attention_mask[..., None].to(features)
        return Answer(self.out(self.hidden((features * mask).sum(1) / mask.sum(1)).tanh()))


@pytest.fixture
def texts():
    rng = np.random.default_rng(0)
    mask = (np.arange(7) < rng.integers(2, 8, 30)[:, None]).astype(np.int64)
    return {"input_ids": rng.integers(1, 20, (30, 7)) * mask, "attention_mask": mask}, np.arange(30) % 3


def test_the_net_behind_its_embedding_gives_its_logits(texts):
    torch.manual_seed(0)
    X, y = texts
    module = Reader()
    net = nets.Net.of(module, X, y, device="cpu")
    with torch.no_grad():
        expected = module(**{k: torch.as_tensor(v) for k, v in X.items()}).logits
    torch.testing.assert_close(net.logits(net.X_train), expected)
    assert isinstance(net.module, BehindEmbedding)
    assert net.module.embedding == "module.words"
    assert float(net.X_train[:, 35:].abs().max()) < 1e-10  # tokens weigh nothing in a distance


def test_a_mixture_is_the_net_at_the_mixed_embeddings(texts):
    torch.manual_seed(0)
    X, y = texts
    module = Reader()
    net = nets.Net.of(module, X, y, device="cpu")
    lengths = X["attention_mask"].sum(1)
    a, b = 0, int(np.flatnonzero(lengths != lengths[0])[0])
    with torch.no_grad():
        mixed = net.module((net.X_train[[a]] + net.X_train[[b]]) / 2)
        words = module.words(torch.as_tensor(X["input_ids"])) + module.position(torch.arange(7))
        mask = torch.as_tensor(X["attention_mask"][a] | X["attention_mask"][b]).float()[:, None]
        by_hand = module.out(module.hidden(((words[a] + words[b]) / 2 * mask).sum(0) / mask.sum()).tanh())
    torch.testing.assert_close(mixed[0], by_hand)


def test_kernels_move_the_embedding_and_never_the_mask(texts):
    torch.manual_seed(0)
    X, y = texts
    module = Reader()
    e = nets.estimate(module, X, y, "bolster", n_mc=200, random_state=0)
    assert e.space == "module.words"
    net = nets.Net.of(module, X, y, device="cpu")
    value = nets.build_measure("bolster")(net, draws=40, random_state=0)
    assert value.value == pytest.approx(e.value, abs=4 * (value.std_error + e.mc_error))
    resub = nets.estimate(module, X, y, "resub").value
    assert nets.estimate(module, X, y, "bolster", kappa=0.0, n_mc=2, random_state=0).value == pytest.approx(resub)


def test_a_ranking_of_text_classifiers_names_what_cannot_be_made(texts):
    X, y = texts
    made = {}
    for k in range(2):
        torch.manual_seed(k)
        made[f"net{k}"] = Reader()
    few = dict.fromkeys(("pal-score", "pal-score-between", "vpm", "margin-distribution", "pac-bayes-magnitude"), 2)
    default = nets.rank(made, X, y, draws=few, device="cpu", accuracy=0)
    assert set(default.values) == {"pal-score-between"}
    some = ["augment-margin", "always-generalize", "path-norm", "bolster", "gi-score", "dbi-mixup"]
    found = nets.rank(made, X, y, measures=some, draws=dict.fromkeys(some, 2), device="cpu", accuracy=0)
    reasons = {n.text.split(",")[0]: n.text for n in found.notes if n.code == "N007"}
    assert {"augment-margin", "always-generalize"} <= set(reasons)
    assert "(n, channels, height, width)" in reasons["augment-margin"]
    assert {"bolster", "gi-score", "dbi-mixup"} <= set(found.values)


def test_bare_tokens_and_what_is_refused(texts):
    X, y = texts
    net = nn.Sequential(nn.Embedding(20, 3), nn.Flatten(), nn.Linear(21, 3))
    found = nets.Net.of(net, X["input_ids"], y, device="cpu")
    with torch.no_grad():
        torch.testing.assert_close(found.logits(found.X_train), net(torch.as_tensor(X["input_ids"])))
    with pytest.raises(InputError, match="whole numbers of shape"):
        in_one_tensor(net, {"a": np.ones((2, 3)), "b": np.ones((2, 3), int)})
    with pytest.raises(InputError, match="empty dictionary"):
        in_one_tensor(net, {})
    with pytest.raises(KindError, match="Give the torch module"):
        nets.estimate(nets.Classifier(device="cpu", epochs=1).fit(np.eye(4), [0, 1, 0, 1]), X, y, "resub")
    with pytest.raises(NotApplicable, match="cannot take what the measure makes"):
        found.module(torch.ones(1, found.X_train.shape[1]))


def test_one_named_input_of_any_shape():
    class Pictures(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(12, 2)

        def forward(self, pixel_values):
            return Answer(self.layer(pixel_values.flatten(1)))

    X, y = np.random.default_rng(0).random((8, 3, 2, 2)).astype(np.float32), np.arange(8) % 2
    module = Pictures()
    net = nets.Net.of(module, {"pixel_values": X}, y, device="cpu")
    with torch.no_grad():
        torch.testing.assert_close(net.logits(net.X_train), module.layer(torch.as_tensor(X).flatten(1)))
    assert net.is_images
