"""Parts of the measures of generalization that their values rest on, each where its answer is known."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="measures of generalization need torch")
from torch import nn

from unseen.core.errors import InputError
from unseen.nets import Copy80, Net, build_measure, no_augmentation
from unseen.nets.measures._augmented import classify_augmented
from unseen.nets.measures._subsets import balanced_rows, class_partners, random_rows
from unseen.nets.measures.alpha import eigenvalues, fit_power_law
from unseen.nets.measures.measure import LayerLog, Measure
from unseen.nets.measures.response_curves import SHARES, _partners


class Fixed(nn.Module):
    """Gives the inputs themselves as logits."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return X.flatten(1)


def vectors(n: int = 40, classes: int = 4) -> Net:
    X = torch.randn(n, classes, generator=torch.Generator().manual_seed(0))
    return Net(Fixed(), X, torch.arange(n) % classes)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# what every measure shares


@dataclass(frozen=True)
class Given(Measure):
    """Gives fixed draws, whose statistic is their product over the mean."""

    id: ClassVar[str] = "given"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    default_draws: ClassVar[int] = 4

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        return [1.0, 2.0, 4.0, 9.0]


@dataclass(frozen=True)
class Uniform(Measure):
    """A uniform number."""

    id: ClassVar[str] = "uniform-one"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    default_draws: ClassVar[int] = 1

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        return float(torch.rand(1, generator=generator))


@dataclass(frozen=True)
class Modes(Measure):
    """Counts the modules in training mode."""

    id: ClassVar[str] = "modes"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        return float(net.module.training) + float(net.copy80.module.training)  # type: ignore[union-attr]


def test_the_error_of_a_mean_is_the_sample_deviation_over_the_root_of_the_draws() -> None:
    found = Given()(vectors())
    assert found.value == 4
    # squared deviations 9 + 4 + 0 + 25, over 3, over 4 draws
    assert found.std_error == pytest.approx(math.sqrt(38 / 3 / 4))


def test_draws_follow_the_seed_and_the_measures_own_name() -> None:
    other = type("Other", (Uniform,), {"id": "uniform-two"})
    net = vectors()
    assert Uniform()(net, random_state=1).value == Uniform()(net, random_state=1).value
    assert Uniform()(net, random_state=1).value != Uniform()(net, random_state=2).value
    assert Uniform()(net, random_state=1).value != other()(net, random_state=1).value


def test_networks_and_their_copies_are_measured_in_evaluation_mode() -> None:
    net = dataclasses.replace(vectors(), module=Fixed().train(), copy80=Copy80(Fixed().train(), torch.tensor([0])))
    assert Modes()(net).value == 0
    assert Modes()(net).std_error == 0
    assert net.module.training
    assert net.copy80.module.training  # type: ignore[union-attr]


# parts of the training data


def test_rows_are_drawn_without_replacement() -> None:
    net = vectors()
    assert sorted(random_rows(net, 100, generator()).tolist()) == list(range(40))
    assert len(set(random_rows(net, 30, generator()).tolist())) == 30
    assert random_rows(net, 5, generator(1)).tolist() != random_rows(net, 5, generator(2)).tolist()


def test_balanced_rows_are_a_random_choice_within_each_class() -> None:
    net = vectors()
    rows = balanced_rows(net, 3, generator(), "it")
    assert net.y_train[rows].tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    seen = {k for seed in range(40) for k in balanced_rows(net, 3, generator(seed), "it").tolist()}
    assert seen == set(range(40))


def test_partners_are_of_the_class_and_every_row_is_one_once() -> None:
    y = torch.arange(40) % 4
    partner = class_partners(y, generator())
    assert torch.equal(y[partner], y)
    assert sorted(partner.tolist()) == list(range(40))
    assert partner.tolist() != list(range(40))


@pytest.mark.parametrize("within", [True, False])
def test_inputs_are_mixed_with_another_one_of_the_right_class(within: bool) -> None:
    y = torch.tensor([0, 0, 1, 1, 2, 2])
    for seed in range(20):
        partner = _partners(y, within, generator(seed))
        assert not bool((partner == torch.arange(6)).any())
        assert bool(((y[partner] == y) == within).all())
    assert (SHARES[0], SHARES[-1], len(SHARES)) == (0.0, 0.5, 21)


# augmented images


def test_the_probability_told_of_an_image_is_that_of_its_label() -> None:
    X = torch.rand(6, 1, 1, 3, generator=generator())
    y = torch.tensor([0, 1, 2, 0, 1, 2])
    found = classify_augmented(Net(Fixed(), X, y, batch_size=4), no_augmentation(6))
    p = torch.softmax(X.flatten(1).double(), 1)
    assert torch.allclose(found.p_true, p[torch.arange(6), y], atol=1e-6)
    assert torch.equal(found.wrong, X.flatten(1).argmax(1) != y)
    assert 0 < int(found.wrong.sum()) < 6


class Bent(nn.Module):
    """Two classes on either side of a curve, so that no closed form takes the place of draws."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        led = X[:, 0] + X[:, 1].square() / 3
        return torch.stack([-led, led], dim=1)


@pytest.mark.parametrize("name", ["bolster", "bolster-posterior", "naive-bayes-bolster"])
def test_every_draw_of_a_bolstered_measure_has_points_of_its_own(name: str) -> None:
    y = torch.arange(60) % 2
    X = torch.randn(60, 2, generator=generator()) + 0.7 * (2 * y[:, None] - 1)
    net = Net(Bent(), X, y)
    found = build_measure(name, n_mc=2)(net, draws=6)
    assert found.std_error is not None
    assert found.std_error > 0
    assert build_measure(name, n_mc=2)(net, draws=6, random_state=1).value != found.value
    with pytest.raises(InputError, match=r"n_mc is 1; .*at least 2"):
        build_measure(name, n_mc=1)


# spectra


def test_a_power_law_by_hand() -> None:
    # from 1 up: 1 + 4 / log(1 * 2 * 4 * 8); other starts leave fewer values
    logs = np.log([1.0, 2.0, 4.0, 8.0])
    candidates = []
    for k in range(3):
        tail = logs[k:] - logs[k]
        alpha = 1 + len(tail) / tail.sum()
        gap = max(abs(1 - math.exp(-(alpha - 1) * t) - i / len(tail)) for i, t in enumerate(tail))
        candidates.append((gap, alpha, math.exp(logs[k]), len(tail)))
    distance, alpha, start, size = min(candidates)
    found = fit_power_law(np.array([8.0, 1.0, 4.0, 2.0]))
    assert (found.distance, found.alpha, found.xmin, found.n_tail) == pytest.approx((distance, alpha, start, size))
    assert found.largest == 8


def test_eigenvalues_of_a_convolution_are_those_of_every_place_of_its_kernel() -> None:
    layer = nn.Conv2d(2, 3, (1, 2), bias=False)
    layer.weight.data.zero_()
    layer.weight.data[0, 0, 0, 0], layer.weight.data[1, 1, 0, 0] = 2.0, 4.0
    layer.weight.data[2, 1, 0, 1] = 6.0
    # squares 4 and 16, and 36 and 0, halved
    assert sorted(eigenvalues(layer).tolist()) == pytest.approx([0, 2, 8, 18])
    dense = nn.Linear(2, 2, bias=False)
    dense.weight.data = torch.diag(torch.tensor([3.0, 5.0]))
    assert sorted(eigenvalues(dense).tolist()) == pytest.approx([9, 25])


def two_dense() -> Net:
    module = nn.Sequential(nn.Linear(30, 25), nn.ReLU(), nn.Linear(25, 24))
    with torch.no_grad():
        for k, layer in enumerate((module[0], module[2])):
            layer.weight.copy_(torch.randn(layer.weight.shape, generator=generator(k)) ** 3)
    return Net(module, torch.randn(48, 30, generator=generator(9)), torch.arange(48) % 24)


def test_alpha_is_the_mean_over_layers_and_alpha_hat_weighs_by_the_decimal_logarithm() -> None:
    net = two_dense()
    fits = [fit_power_law(eigenvalues(layer)) for layer in (net.module[0], net.module[2])]
    assert fits[0].alpha != pytest.approx(fits[1].alpha)
    assert build_measure("alpha")(net).value == pytest.approx((fits[0].alpha + fits[1].alpha) / 2)
    expected = sum(fit.alpha * math.log(fit.largest) / math.log(10) for fit in fits) / 2
    assert build_measure("alpha-hat")(net).value == pytest.approx(expected)


# ends of response curves, quantiles, priors


def test_the_palma_ratio_takes_the_mildest_tenth_and_the_strongest_six_tenths() -> None:
    curve = np.concatenate([np.full(2, 0.9), np.full(6, 0.123), np.full(13, 0.6)])
    assert build_measure("pal-score").statistic(np.array([curve, curve])) == pytest.approx(1.5)


def test_a_wider_prior_is_a_less_certain_last_layer() -> None:
    net = two_dense()
    narrow, wide = (build_measure("bayesian", prior_scale=scale)(net).value for scale in (0.1, 3.0))
    assert wide > narrow + 1e-3


def test_rings_change_images_less_and_so_cost_more_per_failure() -> None:
    class Wrong(nn.Module):
        def forward(self, X: torch.Tensor) -> torch.Tensor:
            return torch.stack([torch.full((len(X),), 3.0), torch.full((len(X),), -3.0)], dim=1)

    net = Net(Wrong(), torch.rand(2000, 1, 2, 2, generator=generator()), torch.ones(2000, dtype=torch.long))
    uniform, rings = (build_measure("weighted-augment", sampling=how)(net).value for how in ("uniform", "rings"))
    assert uniform == pytest.approx(3.745214, abs=0.1)  # mean of max(1, penalty), specification 6.4
    assert rings > uniform + 1
