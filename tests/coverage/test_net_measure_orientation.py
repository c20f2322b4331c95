"""Networks trained on partly random labels have a far larger gap; every measure of this kind has to say so."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_digits

pytest.importorskip("torch", reason="measures of generalization need torch")

import torch
from torch import nn

from unseen.nets import Copy80, Net, build_measure

MEASURES = {
    "par-search": {}, "multi-augment": {}, "weighted-augment": {"sampling": "rings", "coin": 0.0}, "dbi-mixup": {}, "mixup-margin": {},
    "augment-margin": {}, "always-generalize": {}, "vpm": {}, "wcv": {}, "vr": {}, "kv-margin": {}, "kv-gn-margin": {},
}  # fmt: skip


def trained(X, y, seed, epochs=110):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(512, 64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )
        optimizer = torch.optim.Adam(module.parameters(), 2e-3)
        for _ in range(epochs):
            for rows in torch.randperm(len(X)).split(64):
                optimizer.zero_grad()
                nn.functional.cross_entropy(module(X[rows]), y[rows]).backward()
                optimizer.step()
        optimizer.zero_grad()
    return module.eval()


def network(share, seed=0):
    """A network trained on 600 digits, a share of the labels replaced at random, and its accuracy on the other digits."""
    pixels, labels = load_digits(return_X_y=True)
    X, y = torch.tensor(pixels / 16).float().reshape(-1, 1, 8, 8), torch.tensor(labels)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(X), generator=generator)
    X, y = X[order], y[order]
    mixed = y[:600].clone()
    mixed[: int(600 * share)] = torch.randint(0, 10, (int(600 * share),), generator=generator)
    rows = torch.randperm(600, generator=generator)
    X_train, y_train = X[:600][rows], mixed[rows]
    copy80 = Copy80(trained(X_train[:480], y_train[:480], seed), torch.arange(480, 600))
    net = Net(trained(X_train, y_train, seed), X_train, y_train, copy80=copy80)
    return net, float((net.logits(X[600:]).argmax(1) == y[600:]).double().mean())


@pytest.fixture(scope="module")
def pair():
    (clean, good), (noisy, bad) = network(0.0), network(0.3)
    assert clean.training_accuracy() - good < 0.08
    assert noisy.training_accuracy() - bad > 0.12
    return clean, noisy


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
def test_measure_rises_with_random_labels(pair, name):
    clean, noisy = (build_measure(name, **MEASURES[name])(net) for net in pair)
    spread = ((clean.std_error or 0) ** 2 + (noisy.std_error or 0) ** 2) ** 0.5
    assert noisy.value - clean.value > 3 * spread
