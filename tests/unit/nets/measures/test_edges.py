"""Measures of generalization at their edges: collapsed and missing classes, rising probabilities, steep rivals."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from sklearn.metrics import davies_bouldin_score

torch = pytest.importorskip("torch", reason="measures of generalization need torch")
from torch import nn

from unseen.nets import Net, build_measure, no_augmentation
from unseen.nets.measures import always_generalize, vpm
from unseen.nets.measures._graphs import nearest
from unseen.nets.measures._subsets import balanced_rows
from unseen.nets.measures.dbi_mixup import davies_bouldin
from unseen.nets.measures.kv_margin import class_spreads
from unseen.nets.measures.pac_bayes import PacBayesFlatness


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class Slopes(nn.Module):
    """Logits 0, x - 1 and 4 x - 6 of one number."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return torch.cat([0 * X, X - 1, 4 * X - 6], dim=1)


class Pair(nn.Module):
    """Logits 0 and the number given."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return torch.cat([0 * X, X], dim=1)


class Brightness(nn.Module):
    """Logits 3 times the mean of an image, and 0."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        mean = X.flatten(1).mean(1)
        return torch.stack([3 * mean, 0 * mean], dim=1)


def test_one_collapsed_class_leaves_an_index_and_scikit_learn_has_the_same() -> None:
    points = np.random.default_rng(0).normal(size=(12, 3))
    labels = np.repeat([0, 1, 2], 4)
    points[:4] = points[0]
    found = davies_bouldin(torch.tensor(points), torch.tensor(labels))
    assert found > 0.1
    assert found == pytest.approx(davies_bouldin_score(points, labels))


def test_classes_weigh_by_their_share_of_all_training_rows() -> None:
    """Three rows in four are of class 0, whose halves go from 0 to 0.5 and from 1 to 3; those of class 1 from 7 to 9."""
    y = torch.tensor([0] * 9 + [1] * 3)
    net = Net(nn.Linear(1, 2), torch.zeros(12, 1), y)
    features = torch.tensor([[0.0], [1.0], [3.0], [0.5], [7.0], [9.0]])
    found = class_spreads(features, torch.tensor([0, 0, 0, 0, 1, 1]), net, "any")
    assert found == {0: (0.75, pytest.approx(1.25)), 1: (0.25, pytest.approx(2.0))}


@pytest.mark.parametrize(("layer", "used"), [(-1, "4"), (-2, "2"), (-3, "2"), (-9, "2"), (0, "2"), (1, "2"), (2, "4")])
def test_the_features_looked_at_are_never_the_inputs(layer: int, used: str) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2))
    net = Net(module, torch.randn(20, 3, generator=generator()), torch.arange(20) % 2)
    assert build_measure("kv-margin", layer=layer)(net, draws=1).used == (used,)


def test_a_class_without_rows_does_not_stand_in_the_way_of_the_others() -> None:
    y = torch.tensor([0, 2, 2, 0, 2, 0])
    rows = balanced_rows(Net(nn.Linear(1, 3), torch.zeros(6, 1), y), 2, generator(), "any")
    assert y[rows].tolist() == [0, 0, 2, 2]


def test_a_probability_that_rises_costs_as_much_as_one_that_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grey images of 0.2: the Sobel filter makes them 0.5 and brightness 0.7, all else leaves them as they are."""
    monkeypatch.setattr(always_generalize, "draw_rectangles", lambda n, shape, generator: no_augmentation(n))
    net = Net(Brightness(), torch.full((6, 1, 8, 8), 0.2), torch.zeros(6, dtype=torch.long), value_range=(0.0, 1.0))
    p = {grey: 1 / (1 + math.exp(-3 * grey)) for grey in (0.2, 0.5, 0.7)}
    found = build_measure("always-generalize")(net, draws=2).value
    assert found == pytest.approx((p[0.5] - p[0.2]) + (p[0.7] - p[0.2]), abs=1e-6)


def test_the_nearest_rival_is_nearest_by_distance_and_not_by_the_square_of_the_slope() -> None:
    """From 0 class 1 begins at 1 and class 2 at 1.5; from 1.2 class 0 at 1 and class 2 at 5/3; from 3 class 1 at 5/3."""
    X, y = torch.tensor([[0.0], [-1.0], [1.2], [3.0]]), torch.tensor([0, 0, 1, 2])
    distances = [1.0, 2.0, 0.2, 3 - 5 / 3]
    found = -build_measure("constrained-margin", n=4)(Net(Slopes(), X, y), draws=1).value
    assert found == pytest.approx(1.02 * np.mean(distances), rel=1e-5)


def test_an_accuracy_that_rises_with_the_noise_is_taken_as_not_risen() -> None:
    """Means 1, 0.92, 0.96, 0.8: from 0.92 to 0.8 a sixth of the way is 0.9."""
    logs = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    sample = np.array([[*logs, 1.0, 0.92, 0.96, 0.8, 0.5, 0.5, 0.5, 0.9]])
    assert build_measure("pac-bayes-flatness").statistic(sample) == pytest.approx(math.exp(-2 * (2 + 1 / 6)))


@pytest.mark.parametrize("misled", [1 / 9, 1.0, 9.0])
def test_flatness_of_one_weight_is_a_normal_quantile_wherever_the_search_begins(
    misled: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A weight of 1 turns its sign with probability Phi(-1 / sigma), a tenth where 1 / sigma is the quantile of 0.9."""
    quantile = NormalDist().inv_cdf(0.9)
    monkeypatch.setattr(PacBayesFlatness, "_bracket", lambda *_: math.log(misled / quantile))
    module = nn.Linear(1, 1, bias=False)
    nn.init.ones_(module.weight)
    net = Net(nn.Sequential(module, Pair()), torch.tensor([[-1.0], [1.0]]), torch.tensor([0, 1]))
    assert PacBayesFlatness()(net, draws=600).value == pytest.approx(quantile**2, rel=0.2)


def test_labels_are_mixed_as_the_inputs_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs that begin with their own one-hot labels: what they begin with after mixing is the mixed label."""
    seen: list[torch.Tensor] = []
    monkeypatch.setattr(vpm, "nearest", lambda features: seen.append(features) or nearest(features))
    y = torch.arange(30) % 3
    others = 3 * torch.randn(30, 5, generator=generator())
    net = Net(nn.Linear(8, 3), torch.cat([nn.functional.one_hot(y, 3), others], dim=1), y)
    found = build_measure("vpm")(net, draws=1).value
    (mixed,) = (features.numpy() for features in seen)
    unit = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    next_to = (unit @ unit.T - 3 * np.eye(30)).argmax(axis=1)
    label = mixed[:, :3]
    wanted = sum(label[i] @ (label[i] - label[next_to[i]]) for i in range(30)) / (4 * 30)
    assert wanted > 0.01
    assert found == pytest.approx(wanted, rel=1e-5)


def test_distance_is_from_where_the_weights_began() -> None:
    """From (1, 2) to (4, 6) it is 5; the bias does not count."""
    module = nn.Linear(2, 1)
    module.load_state_dict({"weight": torch.tensor([[4.0, 6.0]]), "bias": torch.tensor([9.0])})
    initial = {"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([0.0])}
    net = Net(
        nn.Sequential(module, Pair()),
        torch.zeros(4, 2),
        torch.arange(4) % 2,
        initial={f"0.{k}": v for k, v in initial.items()},
    )
    assert build_measure("distance-from-initial")(net).value == pytest.approx(5.0)
