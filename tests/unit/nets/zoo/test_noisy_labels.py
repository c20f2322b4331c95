"""Networks of one zoo that differ in their training data: noisy labels, fewer rows, augmentation."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="zoos need torch")

from unseen.core.errors import InputError
from unseen.nets import Zoo, ZooGrid, fit_many, make_mlp
from unseen.nets.zoo.data import zoo_data


def _blobs(n: int, classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 4)) + 2.0 * np.eye(classes, 4)[y], y


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    X, y = _blobs(240)
    grid = ZooGrid(
        "noisy",
        make_mlp,
        {"width": (6,), "label_noise": (0.0, 0.4), "train_rows": (30, 90)},
        lr=0.1,
        epochs=15,
        accuracy=0.0,
    )
    data = {"X_train": X[:90], "y_train": y[:90], "X_test": X[90:], "y_test": y[90:]}
    return Zoo.train(grid, data, store=tmp_path_factory.mktemp("noisy"), seeds=1, device="cpu"), zoo_data(data)


def test_noise_replaces_the_share_asked_for_by_other_classes_evenly():
    data = zoo_data(dict(zip(("X_train", "y_train"), _blobs(3000))))
    noisy = data.labels_with_noise(0.4)
    changed = noisy != data.y_train
    assert int(changed.sum()) == 1200
    moves = (noisy - data.y_train)[changed] % 3
    counts = np.bincount(moves.numpy(), minlength=3)
    assert counts[0] == 0
    assert abs(counts[1] - 600) < 4 * np.sqrt(1200) / 2
    less = data.labels_with_noise(0.2)
    assert torch.equal(less[less != data.y_train], noisy[less != data.y_train])
    with pytest.raises(InputError, match="from 0 to below 1"):
        data.labels_with_noise(1.0)


def test_each_network_is_scored_on_the_rows_and_labels_it_was_trained_on(noisy):
    zoo, data = noisy
    assert len(zoo) == 4
    for record in zoo.nets:
        net = zoo.net(record.name)
        rows, noise = record.hyper["train_rows"], record.hyper["label_noise"]
        assert net.n == rows
        assert torch.equal(net.y_train, data.labels_with_noise(noise)[:rows])
        with torch.no_grad():
            right = (net.module(data.X_train[:rows]).argmax(1) == net.y_train).float().mean()
            tested = (net.module(data.X_test).argmax(1) == data.y_test).float().mean()
        assert record.train_accuracy == pytest.approx(float(right))
        assert record.test_accuracy == pytest.approx(float(tested))
        held = net.copy80.held_out if hasattr(net.copy80, "held_out") else None
        assert held is None or int(held.max()) < rows


def test_a_network_of_a_noisy_group_is_the_one_trained_alone_on_its_own_labels(noisy):
    zoo, data = noisy
    record = next(r for r in zoo.nets if r.hyper == {"width": 6, "label_noise": 0.4, "train_rows": 30})
    alone = fit_many(
        zoo.grid.maker(record.hyper),
        data.X_train[:30],
        data.labels_with_noise(0.4)[:30],
        seeds=[record.weight_seed],
        epochs=15,
        batch_size=zoo.grid.batch_size,
        lr=zoo.grid.lr,
        momentum=zoo.grid.momentum,
        stop="train-loss",
        stop_at=zoo.grid.stop_loss,
        n_classes=3,
        device="cpu",
    )
    net = zoo.net(record.name)
    with torch.no_grad():
        torch.testing.assert_close(net.module(data.X_test), alone.logits(data.X_test)[0], rtol=1e-4, atol=1e-5)


def test_the_grids_with_noise_are_whole():
    from unseen.nets.zoo.grids import GRIDS

    named = [grid for grid in GRIDS.values() if "label_noise" in grid.axes]
    assert {grid.id for grid in named} == {"cifar-noise", "mnist-noise", "fashion-noise", "letter-noise"}
    for grid in named:
        assert grid.n == 48
        shape = (3, 32, 32) if grid.data == "cifar" else (1, 28, 28) if grid.data in ("mnist", "fashion") else 16
        for cell in grid.cells()[:: grid.n // 2]:
            grid.maker(cell)(shape, 10)
