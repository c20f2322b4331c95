"""Margins at a layer, optimal transport and label variation along graphs, against matrices written out and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

pytest.importorskip("torch", reason="measures of generalization need torch")

import torch
from torch import nn

from unseen.core.errors import InputError, NotApplicable
from unseen.nets import Net, build_measure, sample_net
from unseen.nets.measures._graphs import nearest, neighbours, normalised_variation, plain_variation
from unseen.nets.measures._layer_margins import lead, leads_at, rivals, trimmed_mean
from unseen.nets.measures.kv_margin import cheapest_assignment, wasserstein
from unseen.nets.measures.vpm import Vpm, _beta22


def linear_net(X, y, seed=0, hidden=5):
    """Two dense layers without activation: leads and gradients have closed forms."""
    generator = torch.Generator().manual_seed(seed)
    module = nn.Sequential(nn.Linear(X.shape[1], hidden), nn.Linear(hidden, int(y.max()) + 1))
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.randn(p.shape, generator=generator))
    return Net(module, X, y)


def by_hand(net, X, y):
    """Lead, gradient norm at the hidden layer, and hidden features, in numpy."""
    (W1, b1), (W2, b2) = ((m.weight.detach().numpy(), m.bias.detach().numpy()) for m in net.module)
    h = X.numpy() @ W1.T + b1
    f = h @ W2.T + b2
    lead_, norm = [], []
    for i, k in enumerate(y.tolist()):
        other = max((c for c in range(f.shape[1]) if c != k), key=lambda c: f[i, c])
        lead_.append(f[i, k] - f[i, other])
        norm.append(np.linalg.norm(W2[k] - W2[other]))
    return np.array(lead_), np.array(norm), h


@pytest.fixture
def points():
    generator = torch.Generator().manual_seed(4)
    return torch.randn(30, 4, generator=generator), torch.arange(30) % 3


@pytest.mark.parametrize(("at", "name"), [("output", "0"), ("input", "1")])
def test_leads_and_gradients_of_a_linear_network(points, at, name):
    net = linear_net(*points)
    got = leads_at(net, *points, name, at=at)
    for ours, expected in zip(got, by_hand(net, *points)):
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_rival_is_the_runner_up_where_right_and_the_predicted_class_where_wrong():
    logits = torch.tensor([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    assert rivals(logits, torch.tensor([0, 2])).tolist() == [1, 0]
    assert lead(logits, torch.tensor([0, 2])).tolist() == [1, -2]


@pytest.mark.parametrize("n", [1, 19, 20, 100])
def test_trimmed_mean_agrees_with_scipy(n):
    values = torch.rand(n, dtype=torch.float64)
    assert float(trimmed_mean(values)) == pytest.approx(stats.trim_mean(values.numpy(), 0.05))


@pytest.mark.parametrize("hidden", [3, 60])  # of 60 variances 3 are cut off at either end
def test_mixup_margin_by_hand(hidden):
    # every class is one point, so that averages within a class change nothing
    X = torch.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.5, 0.0, 3.0]]).repeat(4, 1)
    y = torch.arange(3).repeat(4)
    net = linear_net(X, y, hidden=hidden)
    leads, norms, h = by_hand(net, X, y)
    expected = -np.mean(leads / norms) / math.sqrt(stats.trim_mean(h.var(axis=0), 0.05))
    result = build_measure("mixup-margin", batch=12)(net, draws=3)
    assert result.value == pytest.approx(expected, rel=1e-5)
    assert result.std_error == pytest.approx(0, abs=1e-6)


def test_mixup_margin_is_larger_for_a_worse_network(points):
    X, y = points
    right = Net(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3)), X, y)
    with torch.no_grad():
        for layer in right.module:
            layer.bias.zero_()
        right.module[0].weight.copy_(torch.eye(3, 4))
        right.module[1].weight.copy_(torch.eye(3))
    X_good = nn.functional.one_hot(y, 4).float() * 3
    good, bad = Net(right.module, X_good, y), Net(right.module, X_good, (y + 1) % 3)
    for name in ("mixup-margin", "kv-margin", "kv-gn-margin"):
        jitter = torch.randn(30, 4, generator=torch.Generator().manual_seed(1)) * 0.1
        one, two = (build_measure(name)(Net(n.module, X_good + jitter, n.y_train)).value for n in (good, bad))
        assert one < 0 < two


def test_margins_need_a_hidden_layer():
    net = Net(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)), torch.rand(6, 1, 2, 2), torch.arange(6) % 2)
    for name in ("mixup-margin", "augment-margin", "kv-margin", "kv-gn-margin"):
        with pytest.raises(NotApplicable, match=f"{name}.*1 dense or convolution layers"):
            build_measure(name)(net)


# transport ------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(1, 25), st.booleans())
def test_assignment_is_as_cheap_as_scipys(seed, n, ties):
    rng = np.random.default_rng(seed)
    cost = rng.integers(0, 4, (n, n)).astype(float) if ties else rng.random((n, n))
    ours = cheapest_assignment(cost)
    rows, columns = linear_sum_assignment(cost)
    assert sorted(ours.tolist()) == list(range(n))
    assert cost[np.arange(n), ours].sum() == pytest.approx(cost[rows, columns].sum(), abs=1e-9)


def test_wasserstein_on_a_line_agrees_with_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=40), rng.normal(1, 2, size=40)
    ours = wasserstein(torch.tensor(a)[:, None], torch.tensor(b)[:, None])
    assert ours == pytest.approx(stats.wasserstein_distance(a, b))


def test_wasserstein_of_a_shifted_cloud_is_the_shift():
    cloud = torch.randn(30, 6, dtype=torch.float64)
    assert wasserstein(cloud, cloud[torch.randperm(30)] + torch.tensor([3.0, 4, 0, 0, 0, 0])) == pytest.approx(5)


def test_kv_margins_by_hand():
    # two points a class: each half holds one, whichever it is
    X = torch.tensor([[2.0, 0.1], [1.5, 0.0], [0.0, 3.0], [0.3, 2.0], [1.0, 1.0], [1.2, 0.9]])
    y = torch.tensor([0, 0, 1, 1, 2, 2])
    net = linear_net(X, y, seed=2)
    leads, norms, h = by_hand(net, X, y)
    spread = [np.linalg.norm(h[2 * k] - h[2 * k + 1]) for k in range(3)]
    steep = [norms[2 * k : 2 * k + 2].max() for k in range(3)]
    middle = lambda v: np.sort(v)[2]  # noqa: E731 - torch takes the lower of the two middle values
    expected = -middle(leads) / np.mean([s * g for s, g in zip(spread, steep)])
    assert build_measure("kv-margin")(net).value == pytest.approx(expected, rel=1e-4)
    expected = -middle(leads / norms) / np.mean(spread)
    assert build_measure("kv-gn-margin")(net).value == pytest.approx(expected, rel=1e-4)


def test_kv_margin_weighs_classes_by_their_share(points):
    X, _ = points
    y = (torch.arange(30) >= 24).long()
    net = linear_net(X, y)
    _, _, h = by_hand(net, X, y)
    values = [build_measure("kv-gn-margin")(net, random_state=s).value for s in range(3)]
    leads, norms, _ = by_hand(net, X, y)
    rng = np.random.default_rng(0)
    spread = np.zeros(2)
    for k in range(2):
        own = h[y.numpy() == k]
        half = len(own) // 2
        draws = [rng.permutation(len(own)) for _ in range(200)]
        costs = [cdist(own[d[:half]], own[d[half:]]) for d in draws]
        spread[k] = np.mean([c[linear_sum_assignment(c)].mean() for c in costs])
    expected = -np.median(leads / norms) / (0.8 * spread[0] + 0.2 * spread[1])
    assert np.mean(values) == pytest.approx(expected, rel=0.25)


def test_layers_are_counted_from_both_ends():
    net = sample_net("mlp")
    assert build_measure("kv-margin", layer=1)(net).used == ("3",)
    assert build_measure("kv-margin", layer=-1)(net).used == ("5",)
    assert build_measure("kv-margin", layer=8)(net).used == ("5",)
    assert set(build_measure("kv-margin")(net).skipped) == {"1", "5"}
    with pytest.raises(InputError, match="layer"):
        build_measure("kv-margin", layer=1.5)


def test_classes_that_are_points_have_no_spread():
    X = torch.eye(3).repeat(4, 1)
    net = linear_net(X, torch.arange(3).repeat(4))
    with pytest.raises(NotApplicable, match="kv-margin divides by the spread"):
        build_measure("kv-margin")(net)


# graphs ---------------------------------------------------------------------------------------------------------------


def laplacian(A):
    d = A.sum(1)
    return np.eye(len(A)) - A / np.sqrt(np.outer(d, d))


def test_nearest_is_the_largest_of_the_radial_kernel():
    features = torch.randn(40, 6, dtype=torch.float64)
    unit = features.numpy() / np.linalg.norm(features.numpy(), axis=1, keepdims=True)
    squared = cdist(unit, unit) ** 2
    kernel = np.exp(-squared / (3 * squared.std()))
    np.fill_diagonal(kernel, -1)
    assert nearest(features).tolist() == kernel.argmax(1).tolist()


def test_variations_are_traces_with_the_laplacian():
    rng = np.random.default_rng(0)
    A = rng.random((12, 12)) * (rng.random((12, 12)) < 0.4)
    A = np.maximum(A, A.T) + np.eye(12) * 0.1
    Y = rng.random((12, 3))
    assert normalised_variation(torch.tensor(A), torch.tensor(Y)) == pytest.approx(np.trace(Y.T @ laplacian(A) @ Y))
    assert plain_variation(torch.tensor(A), torch.tensor(Y)) == pytest.approx(
        np.trace(Y.T @ (np.diag(A.sum(1)) - A) @ Y)
    )


def test_neighbour_graph_by_loops():
    features = np.random.default_rng(1).normal(size=(15, 4))
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    cosine = np.clip(unit @ unit.T, 0, 1)
    A = np.zeros((15, 15))
    for i in range(15):
        for j in sorted((j for j in range(15) if j != i), key=lambda j: -cosine[i, j])[:3]:
            A[i, j] = A[j, i] = cosine[i, j]
    np.testing.assert_allclose(neighbours(torch.tensor(features), 3).numpy(), A, atol=1e-12)


def features_of(net):
    """Inputs of the dense layers 3 and 5 of the sample network, and its logits."""
    with torch.no_grad():
        three = net.module[:3](net.X_train)
        five = net.module[3:5](three)
        return three.double(), five.double(), net.module[5](five.float()).double()


def test_wcv_by_hand():
    net = sample_net("mlp", epochs=6)
    Y = np.eye(3)[net.y_train.numpy()]
    worst = 0.0
    for features in features_of(net)[:2]:
        A = np.zeros((48, 48))
        for i, j in enumerate(nearest(features).tolist()):
            A[i, j] = A[j, i] = 1
        worst = max(worst, np.trace(Y.T @ laplacian(A) @ Y) / (4 * 48))
    result = build_measure("wcv")(net, draws=2)  # all 48 inputs every time
    assert worst > 0
    assert result.value == pytest.approx(worst, rel=1e-6)


def test_vr_by_hand():
    net = sample_net("mlp", epochs=6)
    Y = np.eye(3)[net.y_train.numpy()]
    varied = []
    for features in features_of(net):
        A = neighbours(features, 20).numpy()
        varied.append(np.trace(Y.T @ (np.diag(A.sum(1)) - A) @ Y) / (200 * 48))
    expected = (abs(varied[1] - varied[0]) + abs(varied[2] - varied[1])) / 2
    assert build_measure("vr")(net, draws=2).value == pytest.approx(expected, rel=1e-5)


def test_labels_that_agree_with_the_features_do_not_vary():
    y = torch.arange(40) % 4
    X = nn.functional.one_hot(y, 4).float() * 5 + 0.1 * torch.rand(40, 4, generator=torch.Generator().manual_seed(0))
    module = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    with torch.no_grad():
        for layer in module:
            layer.weight.copy_(torch.eye(4))
    # pairs that are each other's nearest have no variation; longer chains have some, since degrees differ along them
    assert build_measure("wcv")(Net(module, X[:8], y[:8]), draws=1).value == pytest.approx(0, abs=1e-12)
    shuffled = Net(module, X, y[torch.randperm(40, generator=torch.Generator().manual_seed(2))])
    assert build_measure("wcv")(Net(module, X, y), draws=1).value < 0.03
    assert build_measure("wcv")(shuffled, draws=1).value > 0.1


def test_vpm_of_features_without_meaning_has_its_closed_form():
    # features independent of labels: E|y|^2 = .6 + .4/c, E y.y' = 1/c for mixes of two labels with Beta(2, 2) weights
    generator = torch.Generator().manual_seed(0)
    c, n = 5, 5000
    X, y = torch.randn(n, 30, generator=generator), torch.randint(0, c, (n,), generator=generator)

    class Scrambled(nn.Module):
        """Features that depend on the mix in a way no neighbour shares."""

        def __init__(self):
            super().__init__()
            self.out = nn.Linear(30, c)

        def forward(self, x):
            return self.out(torch.sin(1e4 * x))

    result = build_measure("vpm")(Net(Scrambled(), X, y), draws=20)
    assert result.value == pytest.approx((0.6 + 0.4 / c - 1 / c) / 4, abs=4 * result.std_error + 0.002)
    assert 0 < result.std_error < 0.003


def test_mixing_weights_are_beta_2_2():
    weights = _beta22(20_000, torch.Generator().manual_seed(0)).numpy()
    assert stats.kstest(weights, stats.beta(2, 2).cdf).pvalue > 0.001


def test_error_of_a_median():
    rng = np.random.default_rng(0)
    medians = [np.median(rng.normal(size=101)) for _ in range(2000)]
    claimed = np.mean([Vpm().std_error(rng.normal(size=101)) for _ in range(200)])
    assert claimed == pytest.approx(np.std(medians), rel=0.06)
    assert Vpm().std_error([1.0]) is None
