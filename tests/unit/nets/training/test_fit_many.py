"""Nets trained together are the nets trained alone, and each stops by its own rule."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from studies.gpu_same_numbers import awkward_cnn, difference_of_training, images
from torch import nn

from unseen.core.errors import FitError, InputError, KindError, UnseenError
from unseen.nets import fit_many, make_lenet5, make_mlp, make_nin, make_vgg
from unseen.nets.training.draws import derive, keys_of, shuffle_positions
from unseen.nets.training.dropout import dropouts_of, with_seeded_dropout
from unseen.nets.training.initial_weights import fresh_nets, maker_of
from unseen.nets.zoo.grids import early_pooled_nin


def blobs(n=160, features=6, classes=3, seed=0, gap=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, features)) + gap * np.eye(classes, features)[y], y


def ragged(n, count, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.permutation(n)[: n - 9 * k] for k in range(count)]


def dropping_mlp(n_features, n_classes):
    return make_mlp(n_features, n_classes, depth=2, width=12, dropout=0.3)


class Residual(nn.Module):
    """A forward pass of its own: skips, views and functions."""

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1)
        self.again = nn.Conv2d(3, 3, 3, padding=1)
        self.out = nn.Linear(3 * 49, n_classes)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = x + 0.5 * self.again(x).tanh()
        x = nn.functional.max_pool2d(x, 2)
        return self.out(x.view(x.size(0), -1))


class Gated(nn.Module):
    """A parameter outside any layer: traced programs give up, vmap does not."""

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.gate = nn.Parameter(torch.ones(n_features))
        self.out = nn.Linear(n_features, n_classes)

    def forward(self, x):
        return self.out(x * self.gate)


class Branching(nn.Module):
    """A forward pass that looks at its values: neither tracing nor vmap can follow."""

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.out = nn.Linear(n_features, n_classes)

    def forward(self, x):
        return self.out(x) if float(x.sum()) > -1e9 else self.out(-x)


def by_hand(module, X, y, rows, seed, *, epochs, batch, lr, momentum, decay):
    """Train one net with torch's own optimiser; only the draws are shared with the package."""
    net = with_seeded_dropout(fresh_nets(maker_of(module, X.shape[1:], int(y.max()) + 1), [seed])[0]).double().train()
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=momentum, weight_decay=decay)
    X, y = torch.as_tensor(X), torch.as_tensor(y)
    for epoch in range(epochs):
        order = shuffle_positions(derive(keys_of([seed], "batches"), epoch), torch.tensor([len(rows)]), len(rows))[
            0
        ].numpy()
        for step, start in enumerate(range(0, len(rows), batch)):
            chosen = rows[order[start : start + batch]]
            for _, layer in dropouts_of(net):
                layer.key.copy_(derive(derive(derive(keys_of([seed], "dropout"), epoch), step), layer.layer + 1)[0])
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(X[chosen]), y[chosen]).backward()
            optimizer.step()
    return net.eval()


@pytest.fixture(scope="module")
def eight_alone():
    """Eight nets, each trained by torch's own optimiser, with their data and scalars."""
    X, y = blobs(100)
    sets, lr, decay = ragged(len(X), 8), np.linspace(0.02, 0.1, 8), np.linspace(0, 0.01, 8)
    nets = [
        by_hand(dropping_mlp, X, y, sets[i], i, epochs=20, batch=16, lr=lr[i], momentum=0.5, decay=decay[i])
        for i in range(8)
    ]
    return X, y, sets, lr, decay, nets


@pytest.mark.parametrize("strategy", ["grouped", "vmap", "one-by-one"])
def test_eight_nets_together_are_eight_single_trainings(strategy, eight_alone):
    X, y, sets, lr, decay, alone = eight_alone
    options = {"epochs": 20, "batch_size": 16, "momentum": 0.5, "stop": "none", "dtype": "float64", "device": "cpu"}
    fits = fit_many(dropping_mlp, X, y, sets, seeds=range(8), lr=lr, weight_decay=decay, strategy=strategy, **options)
    for i in range(8):
        for name, value in alone[i].named_parameters():
            assert torch.allclose(fits.params[name][i], value, atol=1e-5), (i, name)
        assert torch.allclose(fits.logits(X)[i], alone[i](torch.as_tensor(X)), atol=1e-5)


def normalised_nin(n_features, n_classes):
    return early_pooled_nin(n_features, n_classes, blocks=2, width=12, dropout=0.2)


@pytest.mark.parametrize(
    "module",
    [awkward_cnn, Residual, make_lenet5, make_vgg, make_nin, normalised_nin],
    ids=lambda m: m.__name__,
)
def test_grouped_programs_train_as_the_module_itself(module):
    X, y = images(side=14)
    options = {"seeds": [5, 6, 7], "epochs": 3, "batch_size": 11, "momentum": 0.9, "dtype": "float64", "device": "cpu"}
    sets = [np.arange(60), np.arange(45), np.arange(10, 55)]  # a last batch of one example, ragged sets
    together = fit_many(module, X, y, sets, strategy="grouped", **options)
    alone = fit_many(module, X, y, sets, strategy="one-by-one", **options)
    for name in alone.params:
        assert torch.allclose(together.params[name], alone.params[name], atol=1e-9), name
    for name in (n for n in alone.buffers if "running" in n or "tracked" in n):
        assert torch.allclose(together.buffers[name].double(), alone.buffers[name].double(), atol=1e-9), name
    assert together.epochs.tolist() == alone.epochs.tolist()
    assert torch.allclose(together.logits(X), alone.logits(X), atol=1e-9)


def test_batch_norm_repeats_torch():
    """One net, full batches: running statistics equal those of torch's own layer in a plain loop."""
    X, y = images(n=48)
    make = lambda n_features, n_classes: nn.Sequential(  # noqa: E731
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, n_classes)
    )
    fits = fit_many(
        make,
        X,
        y,
        seeds=[3, 4],
        epochs=2,
        batch_size=12,
        lr=0.05,
        stop="none",
        strategy="grouped",
        dtype="float64",
        device="cpu",
    )
    alone = by_hand(make, X, y, np.arange(48), 4, epochs=2, batch=12, lr=0.05, momentum=0.0, decay=0.0)
    for name, value in alone.named_buffers():
        assert torch.allclose(fits.buffers[name][1].double(), value.double(), atol=1e-10), name


def test_running_statistics_of_a_stopped_net_rest_while_its_companions_go_on():
    """Whole batches are normalised by one kernel for all nets; a net that has stopped must not remember them."""
    X, y = blobs(64)
    make = lambda n_features, n_classes: nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))  # noqa: E731
    options = {
        "seeds": [1, 2, 3],
        "epochs": 25,
        "batch_size": 16,
        "lr": [0.3, 0.1, 0.01],
        "stop": "train-loss",
        "stop_at": 0.6,
        "dtype": "float64",
        "device": "cpu",
    }
    together = fit_many(make, X, y, strategy="grouped", **options)
    alone = fit_many(make, X, y, strategy="one-by-one", **options)
    assert together.epochs.min() < together.epochs.max() - 5
    assert together.epochs.tolist() == alone.epochs.tolist()
    for name in ("1.running_mean", "1.running_var", "1.num_batches_tracked"):
        assert torch.allclose(together.buffers[name].double(), alone.buffers[name].double(), atol=1e-10), name


def many_norms(n_features, n_classes):
    layers = [part for _ in range(16) for part in (nn.Linear(6, 6), nn.BatchNorm1d(6))]
    return nn.Sequential(*layers, nn.Linear(6, n_classes))


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_deep_normalised_nets_that_rest_keep_their_weights(optimizer):
    """A net without examples in a batch, or one that has stopped, once divided by eps in every layer and overflowed into its weights."""
    X, y = blobs(96)
    sets = [np.arange(96), np.arange(40), np.arange(70)]
    options = {
        "seeds": [1, 2, 3],
        "epochs": 8,
        "batch_size": 16,
        "lr": [0.02, 0.002, 0.01],
        "momentum": 0.9,
        "weight_decay": 0.01,
        "stop": "train-loss",
        "stop_at": 1.05,
        "optimizer": optimizer,
        "device": "cpu",
    }
    together = fit_many(many_norms, X, y, sets, strategy="grouped", **options)
    alone = fit_many(many_norms, X, y, sets, strategy="one-by-one", **options)
    assert all(torch.isfinite(value).all() for value in (*together.params.values(), *together.buffers.values()))
    assert together.epochs.tolist() == alone.epochs.tolist()
    assert len(set(together.epochs.tolist())) > 1
    assert torch.allclose(together.logits(X), alone.logits(X), atol=0.02)


def test_what_pads_a_batch_does_not_overflow_in_deep_normalised_nets():
    """The only examples of a set are alike: divided by their deviation, a padding row grew with every layer, to infinity."""
    make = lambda n_features, n_classes: nn.Sequential(  # noqa: E731
        *(part for _ in range(50) for part in (nn.Linear(6, 6), nn.BatchNorm1d(6))), nn.Linear(6, n_classes)
    )
    X, y = blobs(64)
    options = {"seeds": [1, 2], "epochs": 2, "batch_size": 16, "lr": 0.002, "stop": "none", "device": "cpu"}
    together = fit_many(make, X, y, [np.arange(64), np.array([3, 3])], strategy="grouped", **options)
    alone = fit_many(make, X, y, [np.arange(64), np.array([3, 3])], strategy="one-by-one", **options)
    assert together.reasons == alone.reasons
    for name in alone.params:
        assert torch.allclose(together.params[name], alone.params[name], atol=1e-5), name


class Halving(nn.Module):
    """A forward pass that differs while training."""

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.hidden = nn.Linear(n_features, 8)
        self.unused = nn.Linear(2, 2)
        self.out = nn.Linear(8, n_classes)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return self.out(0.5 * x if self.training else x)


class Skipping(Halving):
    """Stochastic depth: the layer is left out in half of the steps."""

    def forward(self, x):
        x = self.hidden(x)
        return self.out(x if self.training and torch.rand(1).item() < 0.5 else torch.relu(x))


class Centred(Halving):
    """A forward pass in which the examples of a batch meet."""

    def forward(self, x):
        x = self.hidden(x)
        return self.out(torch.relu(x - x.mean(0)))


class Remembering(Halving):
    """A forward pass that writes to a buffer."""

    def __init__(self, n_features, n_classes):
        super().__init__(n_features, n_classes)
        self.register_buffer("seen", torch.zeros(8))

    def forward(self, x):
        x = self.hidden(x)
        if self.training:
            self.seen.mul_(0.9).add_(0.1 * x.detach()[0])
        return self.out(torch.relu(x))


class Replacing(Remembering):
    """A forward pass that puts another tensor in the place of a buffer."""

    def forward(self, x):
        x = self.hidden(x)
        if self.training:
            self.seen = 0.9 * self.seen + 0.1 * x.detach()[0]
        return self.out(torch.relu(x - self.seen))


def taught_by_torch(module, X, y, rows, seed, optimizer, batch, epochs, decay):
    """Train one net in a plain loop, with torch's optimiser; torch's generator starts from the net's seed."""
    net = fresh_nets(maker_of(module, X.shape[1:], 3), [seed])[0].double().train()
    steps = optimizer(net.parameters(), lr=0.05, weight_decay=decay)
    torch.manual_seed(seed)
    for epoch in range(epochs):
        order = shuffle_positions(derive(keys_of([seed], "batches"), epoch), torch.tensor([len(rows)]), len(rows))[
            0
        ].numpy()
        for start in range(0, len(rows), batch):
            chosen = rows[order[start : start + batch]]
            steps.zero_grad()
            nn.functional.cross_entropy(net(torch.as_tensor(X[chosen])), torch.as_tensor(y[chosen])).backward()
            steps.step()
    return net


@pytest.mark.parametrize(
    ("module", "how"),
    [
        (Halving, "batched matrix products"),
        (Skipping, "one by one: a forward pass that draws random numbers"),
        (Centred, "one by one: a mean over the examples; a forward pass in which the examples of a batch meet"),
        (Remembering, "one by one: "),
        (Replacing, "one by one: "),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_forward_passes_with_ways_of_their_own_train_as_in_torch(module, how):
    """Ragged sets and early stops: neither padding nor a net that rests may leave a trace."""
    X, y = blobs(70)
    sets = [np.arange(70), np.arange(33), np.arange(5, 50)]
    with torch.random.fork_rng(devices=[]):
        alone = [taught_by_torch(module, X, y, sets[i], i, torch.optim.SGD, 16, 3, 0.01) for i in range(3)]
    fits = fit_many(
        module,
        X,
        y,
        sets,
        seeds=range(3),
        epochs=3,
        batch_size=16,
        lr=0.05,
        weight_decay=0.01,
        stop="none",
        dtype="float64",
        device="cpu",
    )
    assert fits.how.startswith(how)
    for i, net in enumerate(alone):
        for name, value in net.state_dict().items():
            held = {**fits.params, **fits.buffers}[name][i]
            assert torch.allclose(held, value, atol=1e-10), (i, name)
        assert torch.allclose(fits.logits(X)[i], net.eval()(torch.as_tensor(X)), atol=1e-10)


class Shifting(nn.Module):
    """A forward pass that writes to its input."""

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.out = nn.Linear(n_features, n_classes)

    def forward(self, x):
        return self.out(x.sub_(1.0))


@pytest.mark.parametrize("strategy", ["auto", "one-by-one"])
def test_a_forward_pass_that_writes_to_its_input_leaves_the_users_rows_alone(strategy):
    X, y = blobs(40)
    X = X.astype(np.float32)
    before = X.copy()
    fits = fit_many(Shifting, X, y, seeds=[1, 2], epochs=2, stop="none", device="cpu", strategy=strategy)
    logits = fits.logits(X)
    assert np.array_equal(X, before)
    for i in range(2):
        net = fits.module(i)
        assert torch.allclose(logits[i], net.out(torch.as_tensor(before) - 1.0), atol=1e-6)
        assert torch.allclose(fits.take([i]).logits(X)[0], logits[i], atol=1e-6)


def test_a_dropout_layer_that_stands_in_two_places_is_dropped_by_the_nets_own_stream_in_both():
    def make(n_features, n_classes, layer=nn.Dropout):
        twice = layer(0.4)
        return nn.Sequential(nn.Linear(6, 8), twice, nn.Linear(8, 8), twice, nn.Linear(8, n_classes))

    X, y = blobs(60)
    options = {"seeds": [1, 2], "epochs": 3, "stop": "none", "device": "cpu", "dtype": "float64"}
    fits = fit_many(make, X, y, **options)
    assert fits.how == "batched matrix products"
    assert torch.allclose(fits.logits(X), fit_many(make, X, y, strategy="one-by-one", **options).logits(X), atol=1e-10)
    without = fit_many(lambda n_features, n_classes: make(n_features, n_classes, nn.Identity), X, y, **options)
    assert torch.allclose(fit_many(make, X, y, dropout=0.0, **options).logits(X), without.logits(X), atol=1e-10)


class ZeroHead(nn.Module):
    """Activations overwritten in place that are read again, and a last layer of zeros that hides it from the first logits."""

    def __init__(self):
        super().__init__()
        self.first, self.out = nn.Linear(6, 8), nn.Linear(8, 3)
        nn.init.zeros_(self.out.weight)

    def forward(self, x):
        x = self.first(x)
        return self.out(nn.functional.relu(x, inplace=True) + x)


def test_first_weights_of_zero_hide_no_difference():
    X, y = blobs(60)
    options = {"seeds": [1, 2], "epochs": 3, "stop": "none", "device": "cpu", "dtype": "float64"}
    together, alone = (fit_many(ZeroHead, X, y, strategy=s, **options) for s in ("auto", "one-by-one"))
    assert together.how == "batched (vmap)"
    assert torch.allclose(together.logits(X), alone.logits(X), atol=1e-10)


class DroppingTwice(nn.Module):
    """One dropout layer, used in two places."""

    def __init__(self):
        super().__init__()
        self.first, self.out, self.drop = nn.Linear(6, 8), nn.Linear(8, 3), nn.Dropout(0.5)

    def forward(self, x):
        return self.out(self.drop(torch.relu(self.first(self.drop(x)))))


@pytest.mark.parametrize("strategy", ["grouped", "vmap"])
def test_a_dropout_layer_used_twice_draws_two_masks(strategy):
    net = with_seeded_dropout(nn.Sequential(nn.Dropout(0.5)))
    twice = with_seeded_dropout(nn.Sequential(net[0], nn.Identity(), net[0])).train()
    ones = torch.ones(50, 200)
    assert abs((twice(ones) > 0).double().mean() - 0.25) < 0.03  # the same mask twice would keep a half
    assert torch.equal(twice(ones), twice(ones))
    X, y = blobs(60)
    options = {"seeds": [1, 2], "epochs": 3, "stop": "none", "device": "cpu", "dtype": "float64"}
    together, alone = (fit_many(DroppingTwice, X, y, strategy=s, **options) for s in (strategy, "one-by-one"))
    assert torch.allclose(together.logits(X), alone.logits(X), atol=1e-10)


def test_adam_and_halving_repeat_torch():
    X, y = blobs(64)
    fits = fit_many(
        make_mlp,
        X,
        y,
        seeds=[2, 9],
        epochs=6,
        batch_size=64,
        lr=0.01,
        weight_decay=0.01,
        stop="none",
        optimizer="adam",
        halve_every=2,
        dtype="float64",
        device="cpu",
    )
    net = fresh_nets(maker_of(make_mlp, (6,), 3), [9])[0].double()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    for _ in range(6):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(torch.as_tensor(X)), torch.as_tensor(y)).backward()
        optimizer.step()
        schedule.step()
    for name, value in net.named_parameters():
        assert torch.allclose(fits.params[name][1], value, atol=1e-9)


@pytest.mark.parametrize(
    ("module", "how"),
    [(make_mlp, "batched matrix products"), (Gated, "batched (vmap)"), (Branching, "one by one: ")],
    ids=["known layers", "vmap", "alone"],
)
def test_the_way_is_chosen_and_said(module, how):
    X, y = blobs(60)
    fits = fit_many(module, X, y, seeds=[0, 1], epochs=2, stop="none", device="cpu")
    assert fits.how.startswith(how)
    assert (fits.how == "one by one: ") is False
    forced = fit_many(module, X, y, seeds=[0, 1], epochs=2, stop="none", device="cpu", strategy="one-by-one")
    assert torch.allclose(fits.logits(X), forced.logits(X), atol=1e-5)


@pytest.mark.slow
@pytest.mark.sample
def test_a_net_does_not_depend_on_its_companions():
    X, y = blobs()
    sets = ragged(len(X), 6)
    options = {"epochs": 40, "batch_size": 16, "lr": 0.1, "patience": 3, "device": "cpu", "dtype": "float64"}
    many = fit_many(dropping_mlp, X, y, sets, seeds=range(6), **options)
    assert len(set(many.epochs.tolist())) > 1  # they stop at different times, so stopped nets were dropped on the way
    for i in (0, 3, 5):
        one = fit_many(dropping_mlp, X, y, [sets[i]], seeds=[i], **options)
        assert one.epochs[0] == many.epochs[i]
        assert one.reasons[0] == many.reasons[i]
        assert np.allclose(one.history[0]["validation_loss"], many.history[i]["validation_loss"])
        assert torch.allclose(one.logits(X)[0], many.logits(X)[i], atol=1e-9)


def test_same_seed_same_bits_and_another_seed_another_net():
    X, y = images()
    runs = [fit_many(awkward_cnn, X, y, seeds=s, epochs=2, device="cpu").logits(X) for s in ([1, 2], [1, 2], [1, 3])]
    assert torch.equal(runs[0], runs[1])
    assert not torch.allclose(runs[0][1], runs[2][1])


def test_global_generator_is_left_alone():
    X, y = blobs(40)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fit_many(Branching, X, y, seeds=[0], epochs=1, device="cpu")
    assert torch.equal(torch.rand(3), expected)


def test_patience_keeps_the_weights_of_the_lowest_validation_loss():
    X, y = blobs(80, gap=0.3)
    fits = fit_many(make_mlp, X, y, seeds=range(3), epochs=80, lr=0.5, patience=4, device="cpu", dtype="float64")
    from unseen.nets.training.index_sets import make_sets

    sets = make_sets([np.arange(80)] * 3, range(3), 0.1)
    for i in range(3):
        losses = fits.history[i]["validation_loss"]
        assert fits.best_epochs[i] == losses.argmin() + 1
        assert fits.epochs[i] == len(losses) == fits.best_epochs[i] + 4
        rows = sets.kept[i].numpy()
        assert len(rows) == 8
        kept = nn.functional.cross_entropy(fits.module(i)(torch.as_tensor(X[rows])), torch.as_tensor(y[rows]))
        assert float(kept.detach()) == pytest.approx(losses.min())
        assert fits.reasons[i] == "no lower validation loss for 4 epochs"


def test_copies_of_a_row_stay_on_one_side_of_the_validation_split():
    from unseen.nets.training.index_sets import make_sets

    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 50, 200) for _ in range(20)]
    sets = make_sets(rows, range(20), 0.2)
    for i in range(20):
        train, kept = sets.rows[i, : sets.lengths[i]].tolist(), sets.kept[i, : sets.kept_lengths[i]].tolist()
        assert not set(train) & set(kept)
        assert sorted(train + kept) == sorted(rows[i].tolist())
        assert 40 <= len(kept) <= 50


def test_stop_at_training_accuracy_and_loss():
    X, y = blobs(90, gap=4.0)
    sets = [np.arange(90), np.arange(60)]
    accurate = fit_many(
        make_mlp, X, y, sets, seeds=0, lr=0.05, stop="train-accuracy", stop_at=0.9, device="cpu", dtype="float64"
    )
    for i in range(2):
        measured = accurate.history[i]["evaluated_accuracy"]
        assert measured[-1] >= 0.9 > measured[:-1].max(initial=0)
        own = accurate.logits(X)[i].argmax(1).numpy()[sets[i]]
        assert measured[-1] == pytest.approx(np.mean(own == y[sets[i]]))
    low = fit_many(
        dropping_mlp, X, y, sets, seeds=0, lr=0.1, stop="train-loss", stop_at=0.1, device="cpu", dtype="float64"
    )
    for i in range(2):
        measured = low.history[i]["evaluated_loss"]
        assert measured[-1] < 0.1 <= measured[:-1].min(initial=1)
        own = nn.functional.cross_entropy(low.logits(X)[i][sets[i]], torch.as_tensor(y[sets[i]]))
        assert measured[-1] == pytest.approx(float(own))
        assert low.reasons[i] == "training loss below 0.1"


def test_class_weights_move_the_decision():
    X, y = blobs(200, classes=2, gap=0.0)
    y = (np.arange(200) % 10 == 0).astype(int)
    plain, balanced, heavy = (
        fit_many(make_mlp, X, y, seeds=0, epochs=10, lr=0.1, stop="none", class_weight=w, device="cpu")
        .logits(X)[0]
        .argmax(1)
        for w in (None, "balanced", {1: 1000.0})
    )
    assert plain.double().mean() < 0.1
    assert 0.25 < balanced.double().mean() < 0.75
    assert heavy.double().mean() == 1


def test_a_diverging_net_is_named_and_the_others_go_on():
    X, y = blobs()
    fits = fit_many(make_mlp, 50 * X, y, seeds=range(3), lr=[0.001, 1e30, 0.001], epochs=5, device="cpu")
    assert fits.failed.tolist() == [False, True, False]
    assert "NaN" in fits.reasons[1]
    assert "net 1 (seed 1)" in fits.notes[0]
    alone = fit_many(make_mlp, 50 * X, y, seeds=[2], lr=0.001, epochs=5, device="cpu")
    assert torch.allclose(alone.logits(50 * X)[0], fits.logits(50 * X)[2], rtol=1e-4, atol=1e-4)
    with pytest.raises(FitError, match="all 2 nets became NaN"):
        fit_many(make_mlp, 50 * X, y, seeds=[0, 1], lr=1e30, epochs=5, device="cpu")


def test_memory_that_runs_out_halves_the_nets_together(monkeypatch):
    from unseen.nets.training import fit_many as front

    X, y = blobs()
    plain = fit_many(make_mlp, X, y, seeds=range(5), epochs=3, device="cpu", dtype="float64")
    sizes, real = [], front.train_group

    def scarce(job, nets, record, advance):
        sizes.append(len(nets))
        if len(nets) > 2:
            real(job, nets, record, advance)  # the attempt spoils the record before memory runs out
            raise torch.OutOfMemoryError("CUDA out of memory")
        real(job, nets, record, advance)

    monkeypatch.setattr(front, "train_group", scarce)
    fits = fit_many(make_mlp, X, y, seeds=range(5), epochs=3, device="cpu", dtype="float64")
    assert sizes == [5, 2, 2, 1]
    assert "memory ran out with 5 nets together: 2 at a time" in fits.notes[0]
    assert torch.allclose(fits.logits(X), plain.logits(X), atol=1e-9)


def test_memory_that_runs_out_in_evaluation_changes_no_number(monkeypatch):
    from unseen.nets.training.loop import NetGroup

    X, y = blobs()
    plain = fit_many(make_mlp, X, y, seeds=range(3), epochs=3, device="cpu", dtype="float64", eval_batch=64)
    real, asked = NetGroup._evaluate_rows, []

    def scarce(group, rows, lengths):
        asked.append((len(group.nets), group.job.eval_batch, group.job.settings.batch_size))
        if group.job.eval_batch > 20:
            raise RuntimeError("CUDA out of memory")
        return real(group, rows, lengths)

    monkeypatch.setattr(NetGroup, "_evaluate_rows", scarce)
    fits = fit_many(make_mlp, X, y, seeds=range(3), epochs=3, device="cpu", dtype="float64", eval_batch=64)
    assert list(dict.fromkeys(asked)) == [(3, 64, 32), (3, 32, 32), (3, 16, 32)]
    assert fits.notes[-1] == "memory ran out in evaluation: at most 16 examples at a time from net 0 on."
    assert torch.allclose(fits.logits(X), plain.logits(X), atol=1e-9)


def test_a_net_too_large_for_its_batch_gets_half_of_it_and_says_so(monkeypatch):
    from unseen.nets.training import fit_many as front

    X, y = blobs()
    plain = fit_many(make_mlp, X, y, seeds=range(2), epochs=3, batch_size=8, device="cpu", dtype="float64")
    real = front.train_group

    def scarce(job, nets, record, advance):
        if len(nets) > 1 or job.settings.batch_size > 8:
            raise torch.OutOfMemoryError("CUDA out of memory")
        real(job, nets, record, advance)

    monkeypatch.setattr(front, "train_group", scarce)
    fits = fit_many(make_mlp, X, y, seeds=range(2), epochs=3, batch_size=32, device="cpu", dtype="float64")
    assert fits.notes[-1] == "memory ran out with one net: batches of 8 instead of 16 from net 0 on."
    assert torch.allclose(fits.logits(X), plain.logits(X), atol=1e-9)
    monkeypatch.setattr(front, "train_group", lambda *given: (_ for _ in ()).throw(RuntimeError("out of memory")))
    with pytest.raises(FitError, match="one net and one example at a time"):
        fit_many(make_mlp, X, y, seeds=range(2), epochs=3, device="cpu")


def test_logits_in_parts_are_logits_at_once():
    X, y = images()
    fits = fit_many(make_lenet5, X, y, seeds=range(3), epochs=1, device="cpu", dtype="float64")
    whole = fits.logits(X)
    assert torch.allclose(fits.logits(X, batch=7), whole, atol=1e-12)
    assert torch.allclose(fits.logits(np.stack([X, X, X]), own=True), whole, atol=1e-12)
    assert torch.allclose(fits.module(2)(torch.as_tensor(X)), whole[2], atol=1e-12)
    assert torch.allclose(fits.take([2, 0]).logits(X), whole[[2, 0]], atol=1e-12)
    assert torch.allclose(fits.probabilities(X), torch.softmax(whole, 2))


def test_augmentation_is_each_nets_own():
    X, y = images()
    seen = {}

    def shift(x, draw):
        moves = draw(1)
        seen.setdefault(len(x), []).append(moves.clone())
        return x + moves[..., None, None]

    for seeds in ([4, 8], [8]):
        fit_many(make_lenet5, X, y, seeds=seeds, epochs=1, augment=shift, stop="none", device="cpu")
    together, alone = torch.cat(seen[2], 1), torch.cat(seen[1], 1)
    assert torch.equal(together[1], alone[0])
    assert not torch.equal(together[0], together[1])
    assert 0.3 < float(alone.mean()) < 0.7


def test_dropout_given_replaces_the_modules_own():
    X, y = blobs()
    own = fit_many(dropping_mlp, X, y, seeds=[1], epochs=3, device="cpu", stop="none")
    same, none = (
        fit_many(dropping_mlp, X, y, seeds=[1], epochs=3, device="cpu", stop="none", dropout=d) for d in (0.3, 0.0)
    )
    never = fit_many(
        lambda n_features, n_classes: make_mlp(n_features, n_classes, 2, 12),
        X,
        y,
        seeds=[1],
        epochs=3,
        device="cpu",
        stop="none",
    )
    assert torch.equal(own.logits(X), same.logits(X))
    assert torch.allclose(none.logits(X), never.logits(X), atol=1e-6)
    assert not torch.allclose(none.logits(X), own.logits(X), atol=1e-3)


def test_rows_for_validation_may_be_named():
    X, y = blobs(90)
    kept = [np.arange(60, 75), np.arange(75, 90)]
    fits = fit_many(
        make_mlp, X, y, [np.arange(60)] * 2, seeds=[1, 2], validation=kept, epochs=6, device="cpu", dtype="float64"
    )
    for i in range(2):
        rows = torch.as_tensor(X[kept[i]])
        loss = nn.functional.cross_entropy(fits.module(i)(rows), torch.as_tensor(y[kept[i]]))
        assert float(loss.detach()) == pytest.approx(fits.history[i]["validation_loss"].min())


def test_groups_of_few_nets_give_the_same():
    X, y = blobs()
    options = {
        "seeds": range(5),
        "epochs": 4,
        "momentum": [0.0, 0.5, 0.9, 0.0, 0.5],
        "device": "cpu",
        "dtype": "float64",
    }
    whole, parts = (fit_many(make_mlp, X, y, max_together=m, **options) for m in (None, 2))
    assert torch.allclose(whole.logits(X), parts.logits(X), atol=1e-10)


@pytest.mark.parametrize("stop", ["none", "train-loss"])
def test_divergence_is_seen_under_every_rule(stop):
    X, y = blobs()
    fits = fit_many(make_mlp, 50 * X, y, seeds=range(3), lr=[0.001, 1e30, 0.001], epochs=3, stop=stop, device="cpu")
    assert fits.failed.tolist() == [False, True, False]
    assert fits.epochs[1] < 3
    assert torch.isfinite(fits.logits(X)[[0, 2]]).all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_a_gpu_repeats_the_cpu():
    assert difference_of_training("cuda") <= 1e-9


def test_frozen_weights_do_not_move():
    X, y = blobs()
    net = make_mlp(6, 3)
    net[0].weight.requires_grad_(False)
    for strategy in ("grouped", "one-by-one"):
        first = fit_many(net, X, y, seeds=[7], epochs=1, lr=1e-12, stop="none", device="cpu", strategy=strategy)
        last = fit_many(net, X, y, seeds=[7], epochs=5, stop="none", device="cpu", strategy=strategy)
        assert torch.equal(first.params["0.weight"], last.params["0.weight"])
        assert not torch.equal(first.params["0.bias"], last.params["0.bias"])


def bad(**changes):
    X, y = blobs(30)
    return {
        "module": make_mlp,
        "X": X,
        "y": y,
        "index_sets": None,
        "seeds": [0],
        "epochs": 1,
        "device": "cpu",
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"X": np.zeros((30, 3, 28, 28)), "module": nn.Conv2d(1, 2, 3)}, "examples of shape \\(3, 28, 28\\).*channels"),
        ({"module": nn.Linear(5, 3)}, "cannot take examples of shape \\(6,\\)"),
        ({"y": np.full(30, 9), "module": nn.Linear(6, 3)}, "class 9, but the module gives 3 logits"),
        ({"y": np.arange(30) - 3}, "class -3; classes are numbered from 0"),
        ({"y": np.array(["a", "b", "c"] * 10)}, "Classifier takes labels"),
        ({"module": nn.Conv1d(6, 2, 1)}, "it must give one row of logits|cannot take examples"),
        ({"module": "lenet"}, "the module is a str"),
        ({"module": lambda a, b, c: None}, "needs a, b, c"),
        ({"module": lambda: 3}, "gave a int"),
        ({"module": nn.Identity()}, "no parameters"),
        ({"index_sets": [[0, 30]]}, "index set 0 names 30, but the rows of X have the indices 0 to 29"),
        ({"index_sets": [[]]}, "non-empty list"),
        ({"seeds": [0, 1], "index_sets": [range(9)]}, "1 index sets and 2 seeds"),
        ({"lr": [0.1, 0.2]}, "lr must be one number or one per net"),
        ({"lr": float("nan")}, "lr must be finite"),
        ({"X": np.full((30, 6), np.nan)}, "NaN or infinite"),
        ({"X": np.zeros(30)}, "one row per example"),
        ({"y": np.zeros(29, int)}, "X has 30 rows and y has 29"),
        ({"stop": "early"}, "unknown stop"),
        ({"validation": 0}, "validation share"),
        ({"dropout": 1.0}, "below 1"),
        ({"dropout": 0.1}, "no dropout layer"),
        ({"device": "abacus"}, "not known to torch"),
        ({"dtype": "int8"}, "float32 or float64"),
        ({"class_weight": {7: 1.0}}, "names the class 7"),
        ({"module": Branching, "strategy": "grouped"}, "cannot train this module"),
        ({"epochs": 0}, "at least 1"),
        ({"validation": [range(3), range(4)]}, "names 2 sets of rows for 1 nets"),
        ({"module": many_norms, "batch_size": 1}, "batch_size is 1, but batch normalisation"),
        ({"module": many_norms, "index_sets": [[3]], "stop": "none"}, "net 0 trains on a single row"),
    ],
)
def test_misuse_is_told_in_words(changes, words):
    with pytest.raises(UnseenError, match=words) as caught:
        fit_many(**bad(**changes))
    assert isinstance(caught.value, (InputError, KindError))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_told():
    with pytest.raises(InputError, match="torch sees no GPU"):
        fit_many(**bad(device="cuda"))


@pytest.mark.parametrize("name", ["allow_tf32", "fp32_precision"])
def test_settings_of_float32_products_are_put_back(name):
    """Torch has two ways to set them, and cannot read the first after the second was used."""
    from unseen.nets.modules.device import exact_float32

    products, convolutions = torch.backends.cuda.matmul, torch.backends.cudnn.conv
    places = (products, torch.backends.cudnn if name == "allow_tf32" else convolutions)
    first = products.fp32_precision, convolutions.fp32_precision
    try:
        if name == "fp32_precision":
            products.fp32_precision = "tf32"
        before = [getattr(place, name) for place in places]
        for tf32 in (False, True):
            with exact_float32(tf32):
                inside = products.fp32_precision, convolutions.fp32_precision
            assert (inside == ("tf32", "tf32")) is tf32
            assert [getattr(place, name) for place in places] == before
    finally:
        products.fp32_precision, convolutions.fp32_precision = first


@pytest.mark.parametrize(("kind", "shape"), [(nn.Dropout, (40, 500)), (nn.Dropout2d, (100, 200, 3, 3))])
def test_dropout_drops_and_scales_as_torchs_own_does(kind, shape):
    x = torch.ones(shape, dtype=torch.float64)
    torch.manual_seed(0)
    theirs = kind(0.3)(x)
    layer = with_seeded_dropout(nn.Sequential(kind(0.3)))[0]
    layer.key.copy_(keys_of([5], "dropout")[0])
    ours = layer.train()(x)
    assert torch.equal(ours.unique(), theirs.unique())  # 0 and 1 / 0.7
    assert ours.unique().tolist() == [0, pytest.approx(1 / 0.7)]
    draws = ours.flatten(2)[..., 0] if len(shape) == 4 else ours
    assert abs((draws == 0).double().mean() - 0.3) < 4 * (0.21 / draws.numel()) ** 0.5
    if len(shape) == 4:  # channels go as a whole
        assert torch.equal(ours.amin((2, 3)), ours.amax((2, 3)))
    assert torch.equal(layer.eval()(x), x)
