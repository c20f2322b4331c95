"""Zoos: what is handed to training, to which rows and seeds, and the grids and rules of the specification, one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="zoos need torch")

from unseen.nets import Zoo, ZooGrid, make_mlp
from unseen.nets.zoo.data import zoo_data
from unseen.nets.zoo.grids import zoo_grid
from unseen.nets.zoo.plan import ZooNet, ZooPlan, without_failures

GRID = ZooGrid(
    "toy",
    make_mlp,
    {"width": (2, 3), "lr": (0.1, 0.2), "dropout": (0.0, 0.5), "weight_decay": (0.0, 0.1), "batch_size": (5, 10)},
    epochs=2,
    accuracy=0.5,
)
HALF, DECAY, BATCHES = (0.0, 0.5), (0.0, 1e-3), (64, 512)
# blocks, widths, rates and batches of section 5.1 of the specification; steps of cifar-nin as docs/decisions/zoos.md has them
SPECIFIED = {
    "cifar-vgg": {
        "blocks": (1, 3),
        "width": (32, 64),
        "dense": (1, 2),
        "dropout": HALF,
        "weight_decay": DECAY,
        "batch_size": BATCHES,
    },
    "fashion-vgg": {
        "blocks": (1, 3),
        "width": (32, 64),
        "dropout": HALF,
        "weight_decay": DECAY,
        "lr": (0.01, 0.03),
        "batch_size": BATCHES,
    },
    "cifar-nin": {
        "blocks": (2, 3),
        "width": (64, 128),
        "dropout": (0.0, 0.25),
        "weight_decay": DECAY,
        "batch_size": BATCHES,
        "lr": (0.03, 0.1),
    },
    "mnist-mlp": {
        "depth": (1, 2, 3),
        "width": (64, 256),
        "dropout": (0.0, 0.2),
        "weight_decay": DECAY,
        "batch_size": (32, 256),
    },
}


def data(n: int = 30, n_test: int = 20) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n + n_test, 3)), np.arange(n + n_test) % 2
    return X[:n], y[:n], X[n:], y[n:]


@pytest.mark.parametrize("name", SPECIFIED)
def test_the_axes_are_those_of_the_specification(name: str) -> None:
    assert dict(zoo_grid(name).axes) == SPECIFIED[name]


class Reached(Exception):
    """Training would begin now."""


def asked(monkeypatch: pytest.MonkeyPatch, folder: Path, **options: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return what a zoo's first group hands to training."""
    seen: list[Any] = []

    def caught(*args: Any, **given: Any) -> None:
        seen.extend((args, given))
        raise Reached

    monkeypatch.setattr("unseen.nets.zoo.plan.fit_many", caught)
    with pytest.raises(Reached):
        Zoo.train(GRID, data(), store=folder, device="cpu", **options)
    return seen[0], seen[1]


def test_networks_and_copies_are_trained_alike_but_for_their_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    args, given = asked(monkeypatch, tmp_path, seeds=2)
    sets, cells = args[3], [(lr, drop, decay) for lr in (0.1, 0.2) for drop in (0.0, 0.5) for decay in (0.0, 0.1)]
    assert given["lr"] == [lr for lr, _, _ in cells] * 4  # two seeds, and copies of both
    assert given["dropout"] == [drop for _, drop, _ in cells] * 4
    assert given["weight_decay"] == [decay for _, _, decay in cells] * 4
    assert given["batch_size"] == 5
    assert (given["stop"], given["stop_at"], given["epochs"], given["momentum"]) == ("train-loss", 0.02, 2, 0.9)
    assert len(sets) == 32
    assert all(np.array_equal(rows, np.arange(30)) for rows in sets[:16])
    held = ZooPlan(
        grid=GRID, data=zoo_data(data()), seeds=(0, 1), copies=True, weights="float32", random_state=0
    ).held_out()
    assert len(set(held)) == 6
    assert all(np.array_equal(rows, [k for k in range(30) if k not in held]) for rows in sets[16:])
    assert len(set(given["seeds"][:16])) == 16
    assert given["seeds"][16:] == given["seeds"][:16]


def test_another_random_state_is_another_zoo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (args, given), (other_args, other) = (
        asked(monkeypatch, tmp_path / str(k), seeds=1, random_state=k) for k in (0, 1)
    )
    assert not set(given["seeds"]) & set(other["seeds"])
    assert not np.array_equal(args[3][-1], other_args[3][-1])


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    return Zoo.train(GRID, data(), store=tmp_path_factory.mktemp("zoo"), device="cpu", seeds=2)


def test_records_count_parameters_of_one_network_and_come_seed_by_seed(zoo: Zoo) -> None:
    assert [net.seed for net in zoo.nets] == [0] * 32 + [1] * 32
    assert [net.hyper for net in zoo.nets[:32]] == GRID.cells()
    for k in (0, 40):
        net = zoo.net(k)
        assert zoo.nets[k].n_parameters == sum(p.numel() for p in net.module.parameters())
        assert not net.module.training
    assert zoo.rows()[3]["gap"] == pytest.approx(zoo.nets[3].train_accuracy - zoo.nets[3].test_accuracy)


def test_a_network_at_the_threshold_has_not_failed(zoo: Zoo) -> None:
    at = tuple(replace(net, train_accuracy=0.5) for net in zoo.nets)
    assert len(replace(zoo, nets=at).complete()) == 64
    assert len(replace(zoo, nets=(replace(at[0], train_accuracy=0.499), *at[1:])).complete()) == 32


def test_axes_with_one_value_left_are_no_axes(zoo: Zoo) -> None:
    kept = tuple(net for net in zoo.nets if net.hyper["width"] == 2)
    assert list(replace(zoo, nets=kept).axes) == ["lr", "dropout", "weight_decay", "batch_size"]


@pytest.mark.parametrize("axes", [["a", "b"], ["b", "a"]])
def test_values_go_by_good_networks_per_failure(axes: list[str]) -> None:
    # a=1 costs 3 good networks for 3 failures; each of b=1, 2, 3 costs 2 for one
    cells = [{"a": a, "b": b} for a in (1, 2, 3) for b in (1, 2, 3, 4, 5, 6)]
    failed = [cell["a"] == 1 and cell["b"] <= 3 for cell in cells]
    kept, dropped = without_failures(cells, failed, axes, 0.95)
    assert kept == list(range(6, 18))
    assert dropped == ["a=1 (3 networks below 0.95)"]


def test_a_gap_is_training_less_test_accuracy() -> None:
    net = ZooNet(
        name="n",
        seed=0,
        hyper={},
        group=0,
        weight_seed=0,
        epochs=1,
        train_loss=0.01,
        train_accuracy=0.99,
        test_accuracy=0.75,
        n_parameters=10,
        reason="",
    )
    assert net.gap == pytest.approx(0.24)


def test_data_are_told_apart_by_their_labels_too() -> None:
    X, y, *_ = data()
    assert zoo_data((X, y)).fingerprint == zoo_data((X.copy(), y.copy())).fingerprint
    assert zoo_data((X, y)).fingerprint != zoo_data((X, 1 - y)).fingerprint
    assert zoo_data((X, y)).fingerprint != zoo_data((X + 1, y)).fingerprint


def test_everything_is_standardised_by_the_training_set_channel_by_channel() -> None:
    rng = np.random.default_rng(1)
    X, T = rng.random((20, 2, 4, 4)) * np.array([0.5, 1.0])[None, :, None, None], rng.random((9, 2, 4, 4))
    made = zoo_data((X, np.arange(20) % 2, T, np.arange(9) % 2))
    for c in range(2):
        mean, sd = X[:, c].mean(), np.sqrt(np.mean((X[:, c] - X[:, c].mean()) ** 2))
        assert made.X_test[:, c].numpy() == pytest.approx((T[:, c] - mean) / sd, abs=1e-5)
        assert (made.value_range[0][c], made.value_range[1][c]) == pytest.approx(
            (-mean / sd, (1 - mean) / sd), rel=1e-5
        )


def test_features_far_from_zero_are_standardised_as_well() -> None:
    spread = np.array([-1.0, 1.0] * 500)[:, None]
    made = zoo_data((100_000 + 3 * spread, np.arange(1000) % 2))
    assert made.X_train.numpy() == pytest.approx(spread, abs=1e-6)


def test_dropout_layers_are_in_every_cell_and_groups_share_architecture_and_batch() -> None:
    for cell in GRID.cells():
        assert any(isinstance(m, torch.nn.Dropout) for m in GRID.maker(cell)(3, 2).modules())
    groups = ZooPlan(
        grid=GRID, data=zoo_data(data()), seeds=(0,), copies=True, weights="float32", random_state=0
    ).groups()
    assert [{(cell["width"], cell["batch_size"]) for cell in group} for group in groups] == [
        {(2, 5)},
        {(2, 10)},
        {(3, 5)},
        {(3, 10)},
    ]
