"""Every measure on modules of many kinds: residual, without a dense layer, batch norms, one and three channels, sequences, vectors."""

from __future__ import annotations

import copy
import math

import pytest

torch = pytest.importorskip("torch", reason="measures of generalization need torch")
from torch import nn

from unseen.core.errors import InputError, NotApplicable
from unseen.nets import Copy80, Net, build_measure, known_measures

OF_IMAGES = {"always-generalize", "augment-margin", "multi-augment", "par-search", "weighted-augment"}
SPECTRA, NO_DENSE = {"alpha", "alpha-hat"}, {"bayesian"}


class Residual(nn.Module):
    """Convolutions with a batch norm, a shortcut, and activations that are functions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.norm(self.first(x)))
        return self.last((h + torch.relu_(self.second(h))).mean((2, 3)))


def without_dense_layer(channels: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(channels, 6, 3, 2, 1),
        nn.BatchNorm2d(6),
        nn.ReLU(True),
        nn.Dropout2d(0.2),
        nn.Conv2d(6, 3, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


def of_vectors() -> nn.Module:
    return nn.Sequential(
        nn.Linear(20, 30),
        nn.BatchNorm1d(30),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(30, 24),
        nn.Tanh(),
        nn.Linear(24, 3),
    )


def of_sequences() -> nn.Module:
    return nn.Sequential(nn.Conv1d(2, 6, 3, padding=1), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(60, 3))


class OwnArithmetic(nn.Module):
    """Weights, but no layer that torch knows."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(64, 3) / 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1) @ self.weight


class CalledByName(nn.Module):
    """Layers that take their input by name, one of them with weights made of others, and one that never runs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3)
        self.middle = nn.utils.parametrizations.weight_norm(nn.Linear(144, 24))
        self.last = nn.Linear(24, 3)
        self.spare = nn.Linear(5, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.first(input=x)).flatten(1)
        return self.last(input=torch.relu(self.middle(input=h)))


NO_LAYERS = {
    "alpha", "alpha-hat", "augment-margin", "bayesian", "dbi-mixup", "distance-from-initial", "frobenius-product", "frobenius-sum", "kv-gn-margin",
    "kv-margin", "mixup-margin", "path-norm", "spectral-margin", "spectral-product", "spectral-sum", "vpm", "vr", "wcv",
}  # fmt: skip
KINDS = {
    "residual, 1 channel": (lambda: Residual(1), (1, 8, 8), set()),
    "residual, 3 channels": (lambda: Residual(3), (3, 8, 8), set()),
    "no dense layer": (lambda: without_dense_layer(3), (3, 8, 8), NO_DENSE),
    "vectors": (of_vectors, (20,), OF_IMAGES),
    "sequences": (of_sequences, (2, 20), OF_IMAGES | SPECTRA),
    "no layer at all": (OwnArithmetic, (1, 8, 8), NO_LAYERS),
    "layers called by name": (CalledByName, (1, 8, 8), set()),
}


@pytest.fixture(scope="module", params=KINDS)
def measured(request: pytest.FixtureRequest) -> tuple[Net, set[str]]:
    """A network of the kind, trained a little on classes that differ in their mean, in training mode."""
    make, shape, refused = KINDS[request.param]
    torch.manual_seed(0)
    y = torch.arange(60) % 3
    X = (0.5 * torch.rand(60, *shape) + 0.2 * y.reshape(-1, *[1] * len(shape))).clamp(0, 1)
    module = make()
    initial = copy.deepcopy(module.state_dict())
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(25):
        optimizer.zero_grad()
        nn.functional.cross_entropy(module(X), y).backward()
        optimizer.step()
    optimizer.zero_grad()
    copy80 = Copy80(copy.deepcopy(module), torch.arange(12))
    return Net(module, X, y, initial=initial, copy80=copy80, epochs=25, train_loss=0.1, hyper={"a": 1}), refused


@pytest.mark.parametrize("name", known_measures())
def test_any_module_is_measured_or_refused_in_words(measured: tuple[Net, set[str]], name: str) -> None:
    net, refused = measured
    measure = build_measure(name)
    before = copy.deepcopy(net.module.state_dict())
    if name in refused:
        with pytest.raises(NotApplicable, match=name):
            measure(net)
    else:
        found = measure(net, draws=2)
        low, high = measure.range
        assert math.isfinite(found.value)
        assert low <= found.value <= high
        assert found.std_error is not None
        assert found.std_error >= 0
        assert not set(found.used) & set(found.skipped)
        assert set(found.used) | set(found.skipped) <= set(dict(net.module.named_modules()))
        assert all(found.skipped.values())
    assert all(torch.equal(value, before[key]) for key, value in net.module.state_dict().items())
    assert all(part.training for part in net.module.modules())
    assert all(p.grad is None for p in net.module.parameters())


@pytest.mark.parametrize(
    ("name", "used", "skipped"),
    [
        ("dbi-mixup", {"first"}, {"second", "last"}),
        ("mixup-margin", {"first"}, {"second", "last"}),
        ("augment-margin", {"first"}, {"second", "last"}),
        ("vpm", {"last"}, {"first", "second"}),
        ("wcv", {"second", "last"}, {"first"}),
        ("vr", {"second", "last"}, {"first"}),
        ("kv-margin", {"second"}, {"first", "last"}),
        ("bayesian", {"last"}, {"first", "second"}),
        ("spectral-product", {"first", "second", "last"}, {"norm"}),
        ("frobenius-sum", {"first", "second", "last"}, {"norm"}),
        ("distance-from-initial", {"first", "second", "last"}, {"norm"}),
        ("path-norm", {"first", "norm", "second", "last"}, set()),
        ("pac-bayes-flatness", {"first", "norm", "second", "last"}, set()),
        ("sharpness", {"first", "norm", "second", "last"}, set()),
        ("alpha", {"first", "second"}, {"norm", "last"}),
    ],
)
def test_layers_used_and_skipped_are_named(name: str, used: set[str], skipped: set[str]) -> None:
    torch.manual_seed(0)
    module, y = Residual(3), torch.arange(40) % 3
    X = torch.rand(40, 3, 8, 8)
    initial = {k: v + 0.1 for k, v in module.state_dict().items()}
    found = build_measure(name)(Net(module, X, y, initial=initial), draws=2)
    assert set(found.used) == used
    assert set(found.skipped) == skipped


@pytest.mark.parametrize(
    "normed",
    [
        nn.utils.parametrizations.weight_norm,
        pytest.param(nn.utils.weight_norm, marks=pytest.mark.filterwarnings("ignore")),
    ],
)
def test_a_path_norm_is_that_of_the_weights_that_act(normed) -> None:
    torch.manual_seed(0)
    X, y = torch.rand(12, 6), torch.arange(12) % 3
    module = nn.Sequential(normed(nn.Linear(6, 5)), nn.ReLU(), nn.Linear(5, 3))
    with torch.no_grad():
        for p in module.parameters():
            p.mul_(1.7)
        logits = module(X)
    plain = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))
    plain.load_state_dict({f"{k}.{n}": getattr(module[k], n).detach() for k in (0, 2) for n in ("weight", "bias")})
    found, expected = (build_measure("path-norm")(Net(m, X, y)).value for m in (module, plain))
    assert found == pytest.approx(expected, rel=1e-6)
    assert torch.equal(module(X), logits)


@pytest.mark.filterwarnings("ignore:`torch.jit.trace")  # traced modules of users are still met
@pytest.mark.parametrize("name", ["pac-bayes-flatness", "pac-bayes-magnitude", "sharpness"])
def test_weights_are_moved_in_wrapped_modules_and_not_in_traced_ones(name: str) -> None:
    torch.manual_seed(0)
    X, y = torch.rand(12, 6), torch.arange(12) % 3
    module = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)).eval()
    measure = build_measure(name)
    wrapped = measure(Net(nn.DataParallel(module), X, y), draws=2)
    assert wrapped.value == measure(Net(module, X, y), draws=2).value
    assert wrapped.used == ("module.0", "module.2")
    with pytest.raises(NotApplicable, match="traced module"):
        measure(Net(torch.jit.trace(module, X), X, y), draws=2)
    with pytest.raises(NotApplicable, match="no parameters"):
        measure(Net(nn.Flatten(), X, y), draws=2)


def test_spectral_norms_are_told_of_half_precision() -> None:
    torch.manual_seed(0)
    X, y = torch.rand(12, 1, 4, 4), torch.arange(12) % 3
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 3)).bfloat16()
    half = build_measure("spectral-sum")(Net(module, X.bfloat16(), y)).value
    assert half == pytest.approx(build_measure("spectral-sum")(Net(module.float(), X, y)).value, rel=1e-4)


@pytest.mark.parametrize("lost", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["kv-gn-margin", "path-norm", "weighted-augment"])
def test_a_network_whose_weights_are_lost_is_refused_at_once(name: str, lost: float) -> None:
    torch.manual_seed(0)
    X, y = torch.rand(12, 1, 8, 8), torch.arange(12) % 3
    module = nn.Sequential(nn.Flatten(), nn.Linear(64, 6), nn.ReLU(), nn.Linear(6, 3))
    with torch.no_grad():
        module[3].weight[0] = lost
    with pytest.raises(InputError, match="logits that are not finite"):
        build_measure(name)(Net(module, X, y))


def test_features_that_are_not_finite_beyond_the_first_inputs_end_no_search() -> None:
    torch.manual_seed(0)
    X, y = torch.rand(30, 5), torch.arange(30) % 3
    X[20] = 3e38  # finite, and not so behind the first layer
    module = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
    nn.init.constant_(module[0].weight, 2.0)
    with pytest.raises(NotApplicable, match="kv-margin needs finite features"):
        build_measure("kv-margin")(Net(module, X, y))


def test_a_lead_that_nothing_moves_has_no_slope_to_divide_by() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
    nn.init.zeros_(module[2].weight)
    with pytest.raises(NotApplicable, match="steepest slope of the lead, which is 0"):
        build_measure("kv-margin")(Net(module, torch.rand(12, 5), torch.arange(12) % 3))


def test_the_distance_from_initial_weights_is_that_of_the_weights_that_act() -> None:
    torch.manual_seed(0)
    X, y = torch.rand(12, 6), torch.arange(12) % 3
    module = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)))
    initial, before = copy.deepcopy(module.state_dict()), module[0].weight.detach().clone()
    with torch.no_grad():
        module[0].parametrizations.weight.original0.mul_(2.0)  # twice the length, the same direction
    net = Net(module, X, y, initial=initial)
    assert build_measure("distance-from-initial")(net).value == pytest.approx(float(before.norm()), rel=1e-6)
    assert torch.allclose(module[0].weight, 2 * before)
    with pytest.raises(InputError, match=r"lack '0\.weight'"):
        build_measure("distance-from-initial")(Net(module, X, y, initial={"0.bias": initial["0.bias"]}))
