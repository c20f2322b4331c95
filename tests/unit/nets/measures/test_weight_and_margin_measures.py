"""Norm, margin, flatness and response measures on networks whose value is known beforehand."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="measures of generalization need torch")
from torch import nn

from unseen.core.errors import InputError, NotApplicable
from unseen.nets import Net, build_measure, known_measures, sample_net
from unseen.nets.measures.response_curves import SHARES

OURS = (
    "alpha", "alpha-hat", "bayesian", "bolster", "bolster-posterior", "constrained-margin", "distance-from-initial", "epochs",
    "frobenius-product", "frobenius-sum", "gi-score", "gi-score-between", "holdout80", "inverse-margin", "margin-distribution",
    "naive-bayes-bolster", "pac-bayes-flatness", "pac-bayes-magnitude", "pal-score", "pal-score-between", "parameter-count",
    "path-norm", "posterior", "random-order", "resubstitution", "sharpness", "spectral-margin", "spectral-product",
    "spectral-sum", "training-loss",
)  # fmt: skip


def linear_net(weight: list[list[float]], bias: list[float], X: torch.Tensor, y: torch.Tensor, **more) -> Net:
    """A network of one dense layer with given weights."""
    layer = nn.Linear(len(weight[0]), len(weight))
    layer.weight.data, layer.bias.data = torch.tensor(weight), torch.tensor(bias)
    return Net(nn.Sequential(layer).eval(), X, y, **more)


@pytest.fixture
def two_classes() -> Net:
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(200) % 2
    X = torch.randn(200, 3, generator=generator) + 3.0 * (2 * y[:, None] - 1) * torch.tensor([1.0, 0.0, 0.0])
    return linear_net([[-1.0, 0.2, 0.0], [1.0, -0.2, 0.0]], [0.1, -0.1], X, y)


@pytest.mark.parametrize("name", OURS)
def test_every_measure_is_finite_repeatable_and_leaves_the_network_as_it_was(name: str) -> None:
    net = sample_net("conv")
    before = {k: v.clone() for k, v in net.module.state_dict().items()}
    first, again = (build_measure(name)(net, random_state=5) for _ in range(2))
    assert first.value == again.value
    assert math.isfinite(first.value)
    low, high = known_measures()[name].range
    assert low <= first.value <= high
    assert first.std_error is None or first.std_error >= 0
    assert all(torch.equal(v, before[k]) for k, v in net.module.state_dict().items())
    assert not any(p.grad is not None for p in net.module.parameters())


def test_counts_and_norms_by_hand() -> None:
    net = linear_net(
        [[3.0, 0.0], [0.0, 4.0]],
        [1.0, 2.0],
        torch.rand(4, 2),
        torch.arange(4) % 2,
        initial={"0.weight": torch.zeros(2, 2)},
    )
    value = {
        name: build_measure(name)(net).value
        for name in OURS
        if name.split("-")[0] in ("parameter", "spectral", "frobenius", "path", "distance")
    }
    assert value["parameter-count"] == 6
    assert value["spectral-product"] == pytest.approx(2 * math.log(4))
    assert value["spectral-sum"] == pytest.approx(16)
    assert value["frobenius-product"] == pytest.approx(2 * math.log(5))
    assert value["frobenius-sum"] == pytest.approx(25)
    assert value["path-norm"] == pytest.approx(math.sqrt(9 + 16 + 1 + 4))
    assert value["distance-from-initial"] == pytest.approx(5)


def test_inverse_margin_is_that_of_the_tenth_percentile(two_classes: Net) -> None:
    logits = two_classes.module(two_classes.X_train).detach().double().numpy()
    y = two_classes.y_train.numpy()
    margin = logits[np.arange(200), y] - logits[np.arange(200), 1 - y]
    assert build_measure("inverse-margin")(two_classes).value == pytest.approx(np.quantile(margin, 0.1) ** -2, rel=1e-5)
    spectral = build_measure("spectral-product")(two_classes).value
    assert build_measure("spectral-margin")(two_classes).value == pytest.approx(
        spectral - 2 * math.log(np.quantile(margin, 0.1)), rel=1e-5
    )


def test_a_margin_that_most_inputs_miss_counts_as_the_smallest(two_classes: Net) -> None:
    turned = Net(two_classes.module, two_classes.X_train, 1 - two_classes.y_train)
    assert build_measure("inverse-margin")(turned).value == pytest.approx(1e6)


def test_margins_of_a_linear_rule_are_distances_to_its_plane(two_classes: Net) -> None:
    difference = two_classes.module[0].weight.detach()[1] - two_classes.module[0].weight.detach()[0]
    shift = float(two_classes.module[0].bias.detach().diff())
    sign = 2 * two_classes.y_train - 1
    distance = sign * (two_classes.X_train @ difference + shift) / difference.norm()
    spread = two_classes.X_train.var(0).sum().sqrt()
    median = build_measure("margin-distribution", quantiles=(0.5,), n=200)(two_classes, draws=1).value
    assert median == pytest.approx(-float(distance.median() / spread), rel=0.02)
    # all variance lies along the first component, so that the constrained margin is the distance along it
    along = (sign * (two_classes.X_train @ difference + shift)).clamp_min(0)
    basis = torch.linalg.eigh(torch.cov(two_classes.X_train.T))[1][:, -1]
    expected = float((along / (difference @ basis).abs()).mean())
    found = -build_measure("constrained-margin", n=200)(two_classes, draws=1).value
    assert found == pytest.approx(1.02 * expected, rel=0.02)


def test_a_constrained_margin_goes_to_the_nearest_rival_not_to_the_strongest() -> None:
    x = torch.linspace(-0.5, 0.5, 21)
    X, y = torch.stack([x, torch.zeros(21)], dim=1), torch.zeros(21, dtype=torch.long)
    y[-1] = 2  # misclassified: counts as 0
    # of the rivals of class 0 the second class is stronger (lead 0.5 - 0.1 x, boundary at x = 5), the third nearer (x = 1)
    net = linear_net([[0.0, 0.0], [0.1, 0.0], [2.0, 0.0]], [3.0, 2.5, 1.0], X, y)
    expected = 1.02 * float((1 - x[:-1]).sum()) / 21
    assert -build_measure("constrained-margin", n=21)(net, draws=1).value == pytest.approx(expected, rel=1e-5)


def test_sharpness_of_a_short_step_is_the_gradient_times_its_length(two_classes: Net) -> None:
    module, X, y = two_classes.module, two_classes.X_train, two_classes.y_train
    loss = nn.functional.cross_entropy(module(X), y)
    slopes = torch.autograd.grad(loss, list(module.parameters()))
    norm = math.sqrt(sum(float(g.square().sum()) for g in slopes))
    length = 1e-3 * math.sqrt(sum(float(p.detach().square().sum()) for p in module.parameters()))
    found = build_measure("sharpness", rho=1e-3, m=200)(two_classes, draws=1).value
    assert found == pytest.approx(norm * length, rel=0.02)


def test_flatness_scales_with_the_weights_and_relative_flatness_does_not(two_classes: Net) -> None:
    module = two_classes.module
    larger = linear_net(
        (3 * module[0].weight.detach()).tolist(),
        (3 * module[0].bias.detach()).tolist(),
        two_classes.X_train,
        two_classes.y_train,
    )
    plain = [build_measure("pac-bayes-flatness")(net, draws=20).value for net in (two_classes, larger)]
    relative = [build_measure("pac-bayes-magnitude")(net, draws=20).value for net in (two_classes, larger)]
    # the two are read off grids of noise that do not coincide: one per cent is the error of interpolating between their points
    assert plain[0] / plain[1] == pytest.approx(9, rel=0.01)
    assert relative[0] == pytest.approx(relative[1], rel=0.01)


def test_flatness_is_where_simulated_noise_costs_a_tenth(two_classes: Net) -> None:
    value = build_measure("pac-bayes-flatness", n=200)(two_classes, draws=200)
    sigma = value.value**-0.5
    generator = torch.Generator().manual_seed(9)
    weight, bias = two_classes.module[0].weight.detach(), two_classes.module[0].bias.detach()
    lost = []
    for _ in range(1000):
        w = weight + sigma * torch.randn(weight.shape, generator=generator)
        b = bias + sigma * torch.randn(bias.shape, generator=generator)
        lost.append(float(((two_classes.X_train @ w.T + b).argmax(1) == two_classes.y_train).double().mean()))
    assert two_classes.training_accuracy() - np.mean(lost) == pytest.approx(0.1, abs=0.02)


class Step(nn.Module):
    """Right while less than a share of another class is mixed into inputs 0 or 1."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        off = (x - x.round()).abs()[:, 0]
        own = torch.where(off < self.share, x.round()[:, 0], 1 - x.round()[:, 0])
        return torch.stack([1 - 2 * own, 2 * own - 1], dim=1)


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_response_scores_of_a_network_that_breaks_at_a_known_share(share: float) -> None:
    y = torch.arange(60) % 2
    net = Net(Step(share), y[:, None].float(), y)
    shares = np.array(SHARES)
    # lost accuracy is a step, its running integral a ramp, whose area is a triangle: ((1/2 - share) / (1/2))^2 but for the grid
    gi = build_measure("gi-score-between")(net, draws=2).value
    assert gi == pytest.approx(((0.5 - share) / 0.5) ** 2, abs=2 * shares[1] / 0.5 * (0.5 - share) / 0.5 + 0.01)
    kept = (shares < share)[-13:].mean()
    if kept > 0:
        assert build_measure("pal-score-between")(net, draws=2).value == pytest.approx(1 / kept, abs=0.2)
    assert build_measure("gi-score")(net, draws=2).value == 0.0


def test_response_scores_order_networks_by_where_they_break() -> None:
    y = torch.arange(60) % 2
    early, late = (Net(Step(share), y[:, None].float(), y) for share in (0.15, 0.4))
    for name in ("gi-score-between", "pal-score-between"):
        try:
            worse = build_measure(name)(early, draws=2).value
        except NotApplicable:
            worse = math.inf
        assert worse > build_measure(name)(late, draws=2).value


def test_holdout_error_is_that_of_the_copy_on_rows_it_has_not_seen() -> None:
    net = sample_net("conv")
    assert net.copy80 is not None
    rows = net.copy80.held_out
    with torch.no_grad():
        wrong = (net.copy80.module.eval()(net.X_train[rows]).argmax(1) != net.y_train[rows]).double().mean()
    found = build_measure("holdout80")(net)
    assert found.value == float(wrong)
    assert found.std_error == pytest.approx(math.sqrt(float(wrong) * (1 - float(wrong)) / len(rows)))


def test_measures_say_what_they_lack() -> None:
    bare = Net(sample_net("mlp").module, sample_net("mlp").X_train, sample_net("mlp").y_train)
    for name, text in (
        ("distance-from-initial", "before training"),
        ("epochs", "epochs"),
        ("training-loss", "training loss"),
        ("holdout80", "80%"),
    ):
        with pytest.raises(NotApplicable, match=text):
            build_measure(name)(bare)
    small = Net(nn.Linear(5, 3), torch.rand(6, 5), torch.arange(6) % 3)
    with pytest.raises(NotApplicable, match="20 eigenvalues"):
        build_measure("alpha")(small)
    with pytest.raises(InputError, match="quantile"):
        build_measure("inverse-margin", quantile=1.5)


def test_alpha_names_the_layers_too_small_for_a_tail() -> None:
    found = build_measure("alpha")(sample_net("conv"))
    assert found.used == ("3",)
    assert "fewer than 20" in found.skipped["0"]
    assert "neither dense" in found.skipped["4"]


def _trained(shuffle: bool) -> Net:
    """A network that fits true labels, or labels without meaning, of the same inputs."""
    generator = torch.Generator().manual_seed(1)
    y = torch.arange(120) % 2
    X = torch.randn(120, 10, generator=generator)
    X[:, 0] += 2.5 * (2 * y - 1)
    labels = y[torch.randperm(120, generator=generator)] if shuffle else y
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2))
        initial = {k: v.clone() for k, v in module.state_dict().items()}
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
        epochs = 0
        while epochs < 1000:
            epochs += 1
            loss = nn.functional.cross_entropy(module(X), labels)
            if float(loss.detach()) < 0.02:
                break
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return Net(module.eval(), X, labels, initial=initial, epochs=epochs, train_loss=float(loss.detach()))


@pytest.mark.parametrize(
    "name",
    [
        "path-norm",
        "frobenius-sum",
        "spectral-sum",
        "distance-from-initial",
        "margin-distribution",
        "pac-bayes-flatness",
        "pac-bayes-magnitude",
        "gi-score",
        "pal-score",
        "bolster",
        "bolster-posterior",
        "epochs",
        "spectral-margin",
        "spectral-product",
    ],
)
def test_a_network_that_memorised_noise_measures_larger(name: str) -> None:
    honest, memorised = _trained(False), _trained(True)
    assert honest.training_accuracy() == memorised.training_accuracy() == 1.0
    assert build_measure(name)(memorised).value > build_measure(name)(honest).value
