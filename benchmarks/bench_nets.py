"""Many nets at once against one-at-a-time torch, on a CPU."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.timing import Agreement, alternating, row

NETS, ROWS, EPOCHS, BATCH = 20, 320, 10, 32
LR, MOMENTUM = 0.02, 0.9
SAME = 1e-4  # weights that two orders of adding float32 numbers may differ by after all steps


def _one_by_one(make, X, y, sets) -> None:
    """The loop that a torch user writes: for every net its batches, forward, backward, step."""
    import torch
    from torch.nn import functional as F

    for seed, rows in enumerate(sets):
        torch.manual_seed(seed)
        net = make()
        optimizer = torch.optim.SGD(net.parameters(), lr=LR, momentum=MOMENTUM)
        for _ in range(EPOCHS):
            for part in torch.as_tensor(rows)[torch.randperm(len(rows))].split(BATCH):
                optimizer.zero_grad()
                F.cross_entropy(net(X[part]), y[part]).backward()
                optimizer.step()


def _same_nets(make, X, y, sets, fits) -> Agreement:
    """Return how far weights are from plain torch's, one net after the other, with the same starts, batches and masks."""
    import torch
    from torch.nn import functional as F

    from unseen.nets.training.draws import derive, keys_of, shuffle_positions
    from unseen.nets.training.dropout import dropout_keys, dropouts_of, with_seeded_dropout
    from unseen.nets.training.initial_weights import fresh_nets, maker_of

    largest = 0.0
    for k, (rows, net) in enumerate(zip(sets, fresh_nets(maker_of(make, X.shape[1:], 10), range(len(sets))))):
        net = with_seeded_dropout(net).train()
        layers = [layer for _, layer in dropouts_of(net)]
        optimizer = torch.optim.SGD(net.parameters(), lr=LR, momentum=MOMENTUM)
        rows, length = torch.as_tensor(rows), torch.tensor([len(rows)])
        batches, masks = keys_of([k], "batches"), keys_of([k], "dropout")
        for epoch in range(EPOCHS):
            order = rows[shuffle_positions(derive(batches, epoch), length, len(rows))[0]].split(BATCH)
            keys = dropout_keys(masks, epoch, len(order), len(layers))
            for step, part in enumerate(order):
                for layer, key in zip(layers, keys):
                    layer.key = key[step, 0]
                optimizer.zero_grad()
                F.cross_entropy(net(X[part]), y[part]).backward()
                optimizer.step()
        gaps = [(p.detach() - fits.params[name][k]).abs().max() for name, p in net.named_parameters()]
        largest = max(largest, float(torch.stack(gaps).max()))
    text = f"weights of {len(sets)} nets and of plain torch, same batches and masks: largest difference {largest:.1g}"
    return Agreement(f"{text} (at most {SAME:g})", largest <= SAME)


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
        "lr": LR,
        "momentum": MOMENTUM,
        "stop": "none",
        "device": "cpu",
    }
    tensors = torch.as_tensor(X), torch.as_tensor(y)
    ours, peer = alternating(
        lambda: fit_many(make, X, y, sets, **options), lambda: _one_by_one(make, *tensors, sets), 5
    )
    steps = nets * EPOCHS * -(-ROWS // BATCH)
    return row(
        name,
        ours,
        peer,
        against="torch, one net after the other",
        same=_same_nets(make, *tensors, sets, ours.result),
        target="reported" if target is None else f"at least {target:g} times",
        met=target is None or peer.cpu >= target * ours.cpu,
        remark=f"{ours.cpu / steps * 1e6:.0f} against {peer.cpu / steps * 1e6:.0f} us per net and step",
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
