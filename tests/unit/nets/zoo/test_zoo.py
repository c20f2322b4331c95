"""Zoos: full grids, resuming, what is stored is what is scored, failing cells."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="zoos need torch")

from unseen.core.errors import InputError, UnknownName
from unseen.nets import Zoo, ZooGrid, build_measure, flips_and_crops, make_mlp, make_vgg
from unseen.nets.zoo.data import zoo_data
from unseen.nets.zoo.grids import zoo_grid
from unseen.nets.zoo.plan import without_failures

GRID = ZooGrid(
    "toy",
    make_mlp,
    {"width": (8, 24), "dropout": (0.0, 0.3), "weight_decay": (0.0, 0.01), "batch_size": (16, 40)},
    lr=0.05,
    epochs=60,
    stop_loss=0.05,
    accuracy=0.9,
)


def toy_data(n: int = 60, n_test: int = 200) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n + n_test) % 3
    X = rng.normal(size=(n + n_test, 6))
    X[:, :3] += 1.6 * np.eye(3)[y]
    return {"X_train": X[:n], "y_train": y[:n], "X_test": X[n:], "y_test": y[n:]}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    return Zoo.train(GRID, toy_data(), store=tmp_path_factory.mktemp("zoo"), device="cpu", weights="float16")


def test_the_grids_are_those_of_the_specification() -> None:
    assert {name: zoo_grid(name).n for name in ("cifar-vgg", "fashion-vgg", "cifar-nin", "mnist-mlp")} == {
        "cifar-vgg": 64,
        "fashion-vgg": 64,
        "cifar-nin": 64,
        "mnist-mlp": 48,
    }
    assert zoo_grid("mnist-mlp").axes["depth"] == (1, 2, 3)
    assert zoo_grid("cifar-nin").axes["width"] == (64, 128)
    assert zoo_grid("cifar-nin").to_dict()["halve_every"] == 20
    assert "halve_every" not in zoo_grid("cifar-vgg").to_dict()
    for name in ("cifar-vgg", "fashion-vgg", "cifar-nin", "mnist-mlp", "fashion-mlp"):
        grid = zoo_grid(name)
        assert (grid.momentum, grid.stop_loss, grid.epochs, grid.accuracy) == (0.9, 0.02, 150, 0.95)
        net = grid.maker(grid.cells()[0])((1, 28, 28), 10)
        assert net(torch.zeros(2, 1, 28, 28)).shape == (2, 10)
    with pytest.raises(UnknownName, match="cifar-vgg"):
        zoo_grid("cifar-vg")


def test_a_zoo_is_full_factorial_per_seed_and_its_records_are_true(zoo: Zoo) -> None:
    assert len(zoo) == 32
    cells = [tuple(net.hyper.values()) for net in zoo.nets if net.seed == 0]
    assert len(set(cells)) == 16
    assert cells == [tuple(net.hyper.values()) for net in zoo.nets if net.seed == 1]
    data = zoo_data(toy_data())
    for k in (0, 7, 21):
        net, record = zoo.net(k), zoo.nets[k]
        assert net.training_accuracy() == pytest.approx(record.train_accuracy)
        with torch.no_grad():
            tested = (net.module(data.X_test).argmax(1) == data.y_test).double().mean()
            loss = torch.nn.functional.cross_entropy(net.module(data.X_train), data.y_train)
        assert record.gap == pytest.approx(record.train_accuracy - float(tested))
        assert record.train_loss == pytest.approx(float(loss), rel=1e-4)
        assert build_measure("holdout80")(net).value == pytest.approx(record.holdout_error)
        assert record.train_loss < 0.06 or record.epochs == 60


def test_weights_are_rounded_before_they_are_scored(zoo: Zoo) -> None:
    for value in zoo.net(3).module.state_dict().values():
        assert torch.equal(value, value.half().float())


def normed_mlp(n_features: int, n_classes: int, width: int) -> torch.nn.Module:
    nn = torch.nn
    first = nn.Linear(n_features, width)
    nn.init.normal_(first.weight, std=3000)
    return nn.Sequential(first, nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, n_classes))


def test_numbers_beyond_half_precision_keep_their_own(tmp_path: Path) -> None:
    """Running variances behind weights in the thousands exceed 65,504; as infinities they would silence the unit."""
    grid = ZooGrid("wide", normed_mlp, {"width": (6, 12)}, lr=0.01, epochs=5, accuracy=0.0)
    found = Zoo.train(grid, toy_data(), store=tmp_path, seeds=1, copies=False, device="cpu", weights="float16")
    for k, record in enumerate(found.nets):
        state = found.net(k).module.state_dict()
        assert all(bool(torch.isfinite(value.double()).all()) for value in state.values())
        assert state["1.running_var"].max() > 65504
        assert torch.equal(state["3.weight"], state["3.weight"].half().float())
        net = found.net(k)
        right = (net.module(net.X_train).argmax(1) == net.y_train).float().mean()
        assert record.train_accuracy == pytest.approx(float(right))


def test_initial_weights_are_those_training_began_with(zoo: Zoo) -> None:
    one_step = replace(GRID, epochs=1, lr=1e-9, momentum=0.0)
    again = Zoo.train(one_step, toy_data(), store=zoo.folder.parent / "still", device="cpu", copies=False)
    for k in (0, 5):
        net = again.net(k)
        assert all(torch.allclose(v, net.initial[name], atol=1e-6) for name, v in net.module.state_dict().items())
        assert build_measure("distance-from-initial")(zoo.net(k)).value > 0.1
    first, other = again.nets[0], again.nets[16]
    assert first.hyper == other.hyper
    assert first.weight_seed != other.weight_seed


def test_the_copies_have_not_seen_a_fifth_of_the_rows(zoo: Zoo) -> None:
    held = set(zoo.held_out)
    assert len(held) == 12
    net = zoo.net(0)
    assert net.copy80 is not None
    assert not torch.equal(net.copy80.module[0].weight, net.module[0].weight)


@pytest.mark.slow
@pytest.mark.sample
def test_training_goes_on_where_it_stopped_and_gives_the_same_zoo(zoo: Zoo, tmp_path: Path) -> None:
    first = Zoo.train(GRID, toy_data(), store=tmp_path, device="cpu", weights="float16", max_seconds=0)
    assert len(first) == 8
    assert [n.code for n in first.notes if n.code == "N005"]
    before = (tmp_path / "group-000.safetensors").stat().st_mtime_ns
    whole = Zoo.train(GRID, toy_data(), store=tmp_path, device="cpu", weights="float16")
    assert (tmp_path / "group-000.safetensors").stat().st_mtime_ns == before
    assert [vars(a) for a in whole.nets] == [vars(b) for b in zoo.nets]
    assert not [n for n in whole.notes if n.code == "N005"]


@pytest.mark.slow
@pytest.mark.sample
def test_a_group_that_takes_too_long_is_left_out_and_can_be_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("WARNING", logger="unseen"):
        none = Zoo.train(GRID, toy_data(), store=tmp_path, device="cpu", copies=False, max_group_seconds=1e-9)
    assert len(none) == 0
    assert "after 1 epochs" in caplog.text
    told: list[int] = []
    whole = Zoo.train(
        GRID,
        toy_data(),
        store=tmp_path,
        device="cpu",
        copies=False,
        max_group_seconds=600,
        on_group=lambda z: told.append(len(z)),
    )
    assert told == [8, 16, 24, 32]
    how = json.loads((tmp_path / "manifest.json").read_text())["how"]
    assert how["0"].startswith("batched matrix products")
    assert len(whole) == 32


def test_missing_cells_drop_a_value_too(zoo: Zoo) -> None:
    fewer = replace(
        zoo,
        nets=tuple(n for n in zoo.nets if not (n.hyper["batch_size"] == 40 and n.hyper["width"] == 24 and n.seed == 1)),
    )
    cut = fewer.complete(accuracy=0.0)
    assert len(cut) == 16
    assert "missing" in next(n.text for n in cut.notes if n.code == "N004")


def test_step_lengths_may_depend_on_the_batch_size() -> None:
    grid = replace(GRID, lr_by_batch={16: 0.01})
    assert [grid.lr_of({"batch_size": size}) for size in (16, 40)] == [0.01, 0.05]
    assert grid.lr_of({"batch_size": 16, "lr": 0.3}) == 0.3
    assert zoo_grid("cifar-vgg").lr_of({"batch_size": 64}) == 0.005


def test_loading_gives_back_the_zoo_and_refuses_other_data(zoo: Zoo) -> None:
    loaded = Zoo.load(zoo.folder, toy_data(), grid=GRID)
    assert loaded.nets == zoo.nets
    assert loaded.axes == zoo.axes
    other = toy_data()
    other["X_train"] = other["X_train"] + 1e-3
    with pytest.raises(InputError, match="not the data"):
        Zoo.load(zoo.folder, other, grid=GRID)
    with pytest.raises(InputError, match="without data"):
        Zoo.load(zoo.folder, grid=GRID).net(0)
    with pytest.raises(InputError, match=r"manifest\.json"):
        Zoo.load(zoo.folder / "nowhere")


def test_a_folder_of_another_zoo_is_refused(zoo: Zoo) -> None:
    with pytest.raises(InputError, match="another zoo: its seeds"):
        Zoo.train(GRID, toy_data(), store=zoo.folder, seeds=3, device="cpu", weights="float16")


def test_a_failing_cell_drops_the_cheapest_value(zoo: Zoo) -> None:
    good = tuple(replace(net, train_accuracy=1.0) for net in zoo.nets)
    bad = tuple(
        replace(net, train_accuracy=0.5) if net.hyper["dropout"] == 0.3 and net.hyper["width"] == 8 else net
        for net in good
    )
    whole, cut = replace(zoo, nets=good).complete(), replace(zoo, nets=bad).complete()
    assert len(whole) == 32
    assert len(cut) == 16
    assert {net.hyper["dropout"] for net in cut.nets} == {0.0} or {net.hyper["width"] for net in cut.nets} == {24}
    assert "N004" in [n.code for n in cut.notes]
    counts = {tuple(net.hyper.values()): 0 for net in cut.nets}
    assert len(counts) == 8
    everywhere = [{"a": 1, "b": 1}, {"a": 1, "b": 2}]
    with pytest.raises(InputError, match="no complete grid"):
        without_failures(everywhere, [True, True], ["a", "b"], 0.95)


def test_images_are_checked_and_standardised() -> None:
    X = np.random.default_rng(1).integers(0, 256, (30, 3, 8, 8)).astype(np.uint8)
    data = zoo_data((X, np.arange(30) % 2))
    flat = data.X_train.transpose(0, 1).flatten(1)
    assert torch.allclose(flat.mean(1), torch.zeros(3), atol=1e-5)
    assert torch.allclose(flat.std(1, correction=0), torch.ones(3), atol=1e-4)
    low, high = data.value_range
    assert np.all(np.array(low) < data.X_train.amin((0, 2, 3)).numpy() + 1e-3)
    assert np.allclose(np.array(high) - np.array(low), 1 / (X / 255).std((0, 2, 3)))
    with pytest.raises(InputError, match="bytes, or floats between 0 and 1"):
        zoo_data((X.astype(float), np.arange(30) % 2))
    with pytest.raises(InputError, match="whole class numbers"):
        zoo_data((X, np.full(30, 0.5)))
    with pytest.raises(InputError, match="X_test is given without y_test"):
        zoo_data((X, np.arange(30) % 2, X))
    with pytest.raises(InputError, match="X_train holds values that are not finite"):
        zoo_data((np.where(X > 250, np.nan, X / 255), np.arange(30) % 2))


def test_flips_and_crops_move_images_and_nothing_else() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(2, 50, 3, 9, 9, generator=generator)
    moved = flips_and_crops(x, lambda *shape: torch.rand(2, 50, *shape, generator=generator), shift=2)
    assert moved.shape == x.shape
    inner = moved[:, :, :, 4, 4]
    candidates = x[:, :, :, 2:7, 2:7].flatten(3)
    assert bool((candidates == inner[..., None]).any(-1).all())
    still = flips_and_crops(x, lambda *shape: torch.full((2, 50, *shape), 0.5), shift=2)
    assert torch.equal(still, x)
    flipped = flips_and_crops(x, lambda *shape: torch.full((2, 50, *shape), 0.49), shift=0)
    assert torch.equal(flipped, x.flip(-1))


def test_a_zoo_of_convolutions_trains_with_augmentation(tmp_path: Path) -> None:
    X = np.random.default_rng(2).random((24, 1, 8, 8))
    grid = ZooGrid(
        "conv",
        make_vgg,
        {"width": (8,), "dense": (0, 1), "weight_decay": (0.0, 0.1)},
        epochs=2,
        accuracy=0.0,
        augment=flips_and_crops,
    )
    zoo = Zoo.train(
        replace(grid, axes={**grid.axes, "blocks": (1,)}),
        (X, np.arange(24) % 2),
        store=tmp_path,
        seeds=1,
        device="cpu",
    )
    assert len(zoo) == 4
    assert all(net.test_accuracy is None for net in zoo.nets)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["n_groups"] == 2
