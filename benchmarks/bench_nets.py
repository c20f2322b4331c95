"""Many nets at once against one-at-a-time torch, on a CPU."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.timing import alternating, row

NETS, ROWS, EPOCHS, BATCH = 20, 320, 10, 32


def _one_by_one(make, X, y, sets) -> None:
    """The loop that a torch user writes: for every net its batches, forward, backward, step."""
    import torch
    from torch.nn import functional as F

    for seed, rows in enumerate(sets):
        torch.manual_seed(seed)
        net = make()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
        for _ in range(EPOCHS):
            for part in torch.as_tensor(rows)[torch.randperm(len(rows))].split(BATCH):
                optimizer.zero_grad()
                F.cross_entropy(net(X[part]), y[part]).backward()
                optimizer.step()


def _compared(name: str, make, shape, nets: int, target: float | None) -> dict:
    import torch

    from unseen.nets import fit_many

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 10
    X = rng.normal(size=(2000, *shape)).astype(np.float32)
    sets = [rng.permutation(2000)[:ROWS] for _ in range(nets)]
    options = {
        "seeds": range(nets),
        "epochs": EPOCHS,
        "batch_size": BATCH,
        "momentum": 0.9,
        "stop": "none",
        "device": "cpu",
    }
    tensors = torch.as_tensor(X), torch.as_tensor(y)
    ours, peer = alternating(
        lambda: fit_many(make, X, y, sets, **options), lambda: _one_by_one(make, *tensors, sets), 3
    )
    wanted = "" if target is None else f"at least {target:g} times"
    steps = nets * EPOCHS * -(-ROWS // BATCH)
    remark = f"{ours / steps * 1e6:.0f} against {peer / steps * 1e6:.0f} us per net and step"
    return row(
        name, ours, peer, "torch, one net after the other", wanted, target is None or peer >= target * ours, remark
    )


def run() -> list[dict]:
    """Return one row per architecture; none where torch is absent."""
    if find_spec("torch") is None:
        return []
    from unseen.nets import make_lenet5, make_mlp

    small = partial(make_mlp, n_features=20, n_classes=10, depth=2, width=32)
    dropping = partial(make_mlp, n_features=20, n_classes=10, depth=2, width=64, dropout=0.1)
    rows = [
        _compared("20 perceptrons, 2 layers of 32", small, (20,), NETS, 4),
        _compared("20 perceptrons, 2 layers of 64, dropout", dropping, (20,), NETS, 4),
    ]
    return [*rows, _compared("4 LeNet-5", make_lenet5, (1, 28, 28), 4, None)]
