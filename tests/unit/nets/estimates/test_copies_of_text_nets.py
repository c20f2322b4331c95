"""Copies of nets that read tokens with attention masks: trained as by hand, and used by estimates and rankings."""

import numpy as np
import pytest
import torch
from torch import nn

from unseen import nets
from unseen.nets.modules.tokens import BehindEmbedding, TokensAsNumbers


class MaskedReader(nn.Module):
    """Mean of embedded words that the mask shows."""

    def __init__(self, size: int = 4) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(30, size), nn.Linear(size, 2)

    def forward(self, input_ids, attention_mask):
        mask = attention_mask[..., None].to(self.words.weight)
        return self.out((self.words(input_ids) * mask).sum(1) / mask.sum(1))


TRAINING = {"epochs": 25, "lr": 0.5, "batch_size": 16, "stop": "none"}


def make_texts(n: int, seed: int):
    """Most words of a class come from its half of the vocabulary; behind the mask stand words of the other class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    shown = (np.arange(12) < rng.integers(4, 9, n)[:, None]).astype(int)
    own = rng.random((n, 12)) < 0.68
    words = rng.integers(1, 15, (n, 12)) + 14 * np.where(shown == 1, own == (y[:, None] == 1), y[:, None] == 0)
    return {"input_ids": words, "attention_mask": shown}, y


def train_by_hand(X, y, rows, epochs: int = 400) -> nn.Module:
    torch.manual_seed(0)
    net = MaskedReader()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    parts = {name: torch.as_tensor(values[rows]) for name, values in X.items()}
    for _ in range(epochs):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(**parts), torch.as_tensor(y[rows])).backward()
        optimizer.step()
    return net


def error_of(net: nn.Module, X, y) -> float:
    with torch.no_grad():
        said = net(**{name: torch.as_tensor(values) for name, values in X.items()}).argmax(1).numpy()
    return float((said != y).mean())


@pytest.mark.slow
@pytest.mark.sample
def test_an_estimate_trains_copies_of_a_net_with_masks():
    X, y = make_texts(160, 0)
    net = train_by_hand(X, y, np.arange(160))
    truth = error_of(net, *make_texts(4000, 1))
    found = nets.estimate(net, X, y, training=TRAINING, factory=MaskedReader, repeats=3, n_mc=5, random_state=0)
    assert found.n_fits == 3
    assert "N025" not in {one.code for one in found.notes}
    assert truth in found.interval
    assert found.interval.high < 0.45  # copies that had learned nothing, or had read behind the mask, are beyond
    assert 0.05 < truth < 0.35
    assert found.temperature.n_copies == 3
    hasty = train_by_hand(X, y, np.arange(160), epochs=40)  # fits its rows far worse than the copies do
    assert "N025" in {
        one.code for one in nets.estimate(hasty, X, y, training=TRAINING, repeats=2, n_mc=5, random_state=0).notes
    }
    again = nets.estimate(net, X, y, training=TRAINING, repeats=3, n_mc=5, random_state=0)  # layers started anew
    assert again.interval.high < 0.45


def test_one_step_of_a_copy_is_that_of_plain_torch():
    X, y = make_texts(24, 2)
    tokens = np.hstack([X["input_ids"], X["attention_mask"]]).astype(np.float32)
    behind, rows = BehindEmbedding.of(nets.modules.tokens.NamedInputs(MaskedReader(), {"input_ids": 12, "attention_mask": 12}), torch.as_tensor(tokens).long())  # fmt: skip
    torch.testing.assert_close(behind.tokens_of(rows).float(), torch.as_tensor(tokens))
    make = behind.trainable(MaskedReader)
    fits = nets.fit_many(make, tokens, y, None, seeds=[4], epochs=1, batch_size=24, lr=0.3, momentum=0.0, stop="none", device="cpu")  # fmt: skip
    first = nets.fit_many(make, tokens, y, None, seeds=[4], epochs=1, batch_size=24, lr=1e-30, momentum=0.0, stop="none", device="cpu")  # fmt: skip
    by_hand = first.module(0).module.module
    loss = nn.functional.cross_entropy(by_hand(**{k: torch.as_tensor(v) for k, v in X.items()}), torch.as_tensor(y))
    gradients = torch.autograd.grad(loss, list(by_hand.parameters()))
    for after, before, gradient in zip(fits.module(0).parameters(), by_hand.parameters(), gradients):
        torch.testing.assert_close(after, before - 0.3 * gradient, atol=1e-6, rtol=1e-5)
    copy = behind.like(fits.module(0))
    assert isinstance(copy, TokensAsNumbers)
    with torch.no_grad():
        torch.testing.assert_close(copy(rows), fits.module(0)(torch.as_tensor(tokens)))


@pytest.mark.slow
@pytest.mark.sample
def test_a_ranking_takes_the_level_of_gaps_from_copies_of_text_nets(tmp_path):
    X, y = make_texts(120, 3)
    for epochs in (5, 400):
        torch.save(train_by_hand(X, y, np.arange(120), epochs).state_dict(), tmp_path / f"epoch-{epochs}.pt")
    found = nets.read_networks(tmp_path, (X, y), make=MaskedReader)
    found = found.with_copies(TRAINING, random_state=0, device="cpu")
    ranking = nets.rank(found, device="cpu", measures=["vpm", "holdout80"], random_state=0)
    assert ranking.expected.source == "copies trained on 80%"
    held = next(iter(found.values())).copy80.held_out.numpy()
    own = train_by_hand(X, y, np.setdiff1d(np.arange(120), held))
    part = {name: values[held] for name, values in X.items()}
    value = ranking.values["holdout80"][0].value
    assert value == pytest.approx(error_of(own, part, y[held]), abs=0.17)  # 24 rows: four of them
    assert value < 0.4
