"""Flatness, sharpness, mixed classes and controls where their answer can be written down."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="measures of generalization need torch")
from torch import nn

from unseen.nets import Copy80, Net, build_measure
from unseen.nets.measures import always_generalize
from unseen.nets.measures.measure import LayerLog


class Logits(nn.Module):
    """Gives the inputs themselves as logits, all times a weight."""

    def __init__(self, weight: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([weight]))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return self.weight * X


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def scattered(n: int = 60, classes: int = 3) -> Net:
    return Net(Logits(), torch.randn(n, classes, generator=generator()), torch.arange(n) % classes)


def test_flatness_is_read_where_the_mean_accuracy_crosses_between_two_steps() -> None:
    # two draws with the mean accuracies 1, 1, .98, .88, ...; .9 lies 8/10 of the way from step 2 to step 3
    logs = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    sample = np.array(
        [[*logs, 1.0, 1.0, 1.0, 0.9, 0.5, 0.5, 0.5, 0.9], [*logs, 1.0, 1.0, 0.96, 0.86, 0.5, 0.5, 0.5, 0.9]]
    )
    assert build_measure("pac-bayes-flatness").statistic(sample) == pytest.approx(math.exp(-2 * 2.8))


def test_flatness_may_lose_a_tenth_of_what_the_network_has() -> None:
    net = scattered()
    measure = build_measure("pac-bayes-flatness")
    rows = np.array(measure.sample(net, 2, generator(), LayerLog()))
    assert net.training_accuracy() < 0.7
    assert rows[:, -1] == pytest.approx(net.training_accuracy() - 0.1)


def test_relative_noise_has_the_magnitude_of_its_weight() -> None:
    weights = {"a": torch.full((40_000,), -3.0), "b": torch.full((40_000,), 0.5)}
    plain, relative = (
        build_measure(name)._noise(weights, generator()) for name in ("pac-bayes-flatness", "pac-bayes-magnitude")
    )
    assert [float(plain[k].std()) for k in "ab"] == pytest.approx([1, 1], rel=0.02)
    assert [float(relative[k].std()) for k in "ab"] == pytest.approx([3, 0.5], rel=0.02)


def test_sharpness_of_all_the_data_has_no_error_and_that_of_parts_has() -> None:
    net = scattered()
    whole, parts = (build_measure("sharpness", m=m)(net) for m in (60, 20))
    assert whole.std_error == pytest.approx(0, abs=1e-6)  # rounding in single precision
    assert parts.std_error is not None
    assert parts.std_error > 1e-4


def test_sharpness_is_the_loss_uphill_less_the_loss() -> None:
    # one weight, so that uphill is one of two directions: the one in which the loss rises
    net = scattered()
    loss = [float(nn.functional.cross_entropy(w * net.X_train, net.y_train)) for w in (1.0, 1.01, 0.99)]
    found = build_measure("sharpness", rho=0.01, m=60)(net).value
    assert found == pytest.approx(max(loss[1:]) - loss[0], rel=1e-3)


def test_the_spectral_margin_is_product_and_inverse_margin_together() -> None:
    module = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.randn(p.shape, generator=generator()))
        X = torch.randn(30, 4, generator=generator(1))
        net = Net(module, X, module(X).argmax(1))
    product, margin, both = (
        build_measure(k)(net).value for k in ("spectral-product", "inverse-margin", "spectral-margin")
    )
    assert both == pytest.approx(product + math.log(margin))
    assert abs(math.log(margin)) > 0.1


def test_margins_by_the_tenth_percentile_of_hand_made_leads() -> None:
    X = torch.stack([torch.arange(1.0, 12.0), torch.zeros(11)], dim=1)  # leads 1 to 11, of which 10% is 2
    assert build_measure("inverse-margin")(Net(Logits(), X, torch.zeros(11, dtype=torch.long))).value == pytest.approx(
        1 / 4
    )


class Between(nn.Module):
    """Class 1 between 1 and 3, class 0 elsewhere."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        led = 1 - (X[:, 0] - 2).abs()
        return torch.stack([-led, led], dim=1)


def test_classes_weigh_the_same_when_averages_are_counted_and_no_input_is_averaged_with_itself() -> None:
    # class 0 lies at 0 and 4, its only average at 2 is taken for class 1; class 1 has six averages, all right
    X, y = torch.tensor([[0.0], [4.0], [2.0], [2.0], [2.0], [2.0]]), torch.tensor([0, 0, 1, 1, 1, 1])
    measure: Any = build_measure("dbi-mixup")
    assert measure._share_of_right_midpoints(Net(Between(), X, y), generator()) == pytest.approx(0.5)
    assert measure.statistic(np.array([[1.0, 0.4], [3.0, 0.6]])) == pytest.approx(2 * 0.5)


def test_the_hold_out_error_is_the_copys_and_has_the_binomial_error() -> None:
    X, y = torch.tensor([[0.0], [4.0], [2.0], [2.0], [0.0], [0.0]]), torch.tensor([0, 0, 1, 1, 1, 0])

    class Never(nn.Module):
        def forward(self, X: torch.Tensor) -> torch.Tensor:
            return torch.stack([torch.full((len(X),), -2.0), torch.full((len(X),), 3.0)], dim=1)

    net = Net(Never(), X, y, copy80=Copy80(Between(), torch.tensor([1, 2, 4, 5])))
    found = build_measure("holdout80")(net)
    assert found.value == pytest.approx(0.25)
    assert found.std_error == pytest.approx(math.sqrt(0.25 * 0.75 / 4))


def test_resubstitution_counts_errors_and_the_posterior_goes_by_the_class_assigned() -> None:
    net = scattered()
    wrong = float((net.X_train.argmax(1) != net.y_train).double().mean())
    assert wrong > 0.3
    assert build_measure("resubstitution")(net).value == pytest.approx(wrong)
    p = torch.softmax(net.X_train.double(), 1)
    assert build_measure("posterior")(net).value == pytest.approx(1 - float(p.max(1).values.mean()))


def test_the_random_control_differs_between_networks_and_seeds_and_repeats() -> None:
    one, other = (Net(Logits(w), torch.randn(6, 2, generator=generator()), torch.arange(6) % 2) for w in (1.3, 1.7001))
    measure = build_measure("random-order")
    assert measure(one).value == measure(one).value
    assert measure(one).value != measure(other).value
    assert measure(one).value != measure(one, random_state=1).value


def test_the_random_control_is_random_if_the_first_weight_never_moves() -> None:
    """Nets on images with a black corner share its zero weight; the control is uniform all the same."""
    values = []
    for seed in range(40):
        torch.manual_seed(seed)
        module = nn.Linear(3, 2)
        module.weight.data[0, 0] = 0.0
        values.append(build_measure("random-order")(Net(module, torch.zeros(4, 3), torch.arange(4) % 2)).value)
    assert len(set(values)) == 40
    assert abs(sum(values) / 40 - 0.5) < 4 * (1 / 12 / 40) ** 0.5


def test_parameters_are_counted_with_their_biases() -> None:
    net = Net(nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2)), torch.randn(4, 3), torch.arange(4) % 2)
    assert build_measure("parameter-count")(net).value == 3 * 5 + 5 + 5 * 2 + 2


def test_saturation_goes_from_six_to_sixteen_tenths(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Net(nn.Flatten(), torch.rand(64, 3, 2, 2, generator=generator()), torch.arange(64) % 12)
    seen = []

    def noted(net: Net, rows: torch.Tensor, factor: torch.Tensor, black: object) -> torch.Tensor:
        seen.append(factor)
        return torch.zeros(len(rows), dtype=torch.float64)

    monkeypatch.setattr(always_generalize, "_penalties", noted)
    build_measure("always-generalize")(net, draws=50)
    factor = torch.cat(seen).double()
    assert float(factor.min()) == pytest.approx(0.6, abs=0.01)
    assert float(factor.max()) == pytest.approx(1.6, abs=0.01)
    assert float(torch.corrcoef(factor.T)[0, 1]) == pytest.approx(0, abs=0.1)  # alone and with the flip, drawn anew


def test_rectangles_have_whole_pixels_from_two_to_the_side_less_one() -> None:
    # of 1,024 pixels: the root of .006 of them is 2.5, that of 4/3 of them more than the side
    drawn = always_generalize.draw_rectangles(3000, torch.Size([32, 32]), generator())
    for share in (drawn.cut_height, drawn.cut_width):
        side = share * 32
        assert torch.allclose(side, side.round(), atol=1e-4)
        assert (int(side.min().round()), int(side.max().round())) == (2, 31)
        assert float(side.mean()) == pytest.approx(16.5, abs=0.5)


class Same(nn.Module):
    """Class 0 with probability .7 wherever it looks."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return torch.tensor([math.log(0.7), math.log(0.3)]).expand(len(X), -1) + 1 + 0 * X[:, :1]


@pytest.mark.parametrize(
    ("name", "expected"), [("bolster", 0.4), ("naive-bayes-bolster", 0.4), ("bolster-posterior", 0.3)]
)
def test_kernels_do_not_move_a_network_that_says_the_same_everywhere(name: str, expected: float) -> None:
    # four labels in ten are of the other class; the probability of the class assigned is .7 at every point
    X, y = torch.randn(50, 2, generator=generator()), (torch.arange(50) % 5 < 2).long()
    assert build_measure(name)(Net(Same(), X, y)).value == pytest.approx(expected, abs=1e-6)


def test_clusters_are_looked_for_behind_the_first_window_even_where_it_pools() -> None:
    module = nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(1, 2, 1), nn.Flatten(), nn.Linear(8, 2))
    found = build_measure("dbi-mixup")(
        Net(module, torch.rand(12, 1, 4, 4, generator=generator()), torch.arange(12) % 2)
    )
    assert found.used == ("0",)
    assert set(found.skipped) == {"1", "3"}


def test_kv_margins_take_the_steepest_slope_of_a_class_or_each_leads_own() -> None:
    leads, norms, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 3.0, 2.0]), torch.tensor([0, 0, 1])
    spreads = {0: (0.5, 2.0), 1: (0.5, 4.0)}
    plain, own = build_measure("kv-margin"), build_measure("kv-gn-margin")
    assert plain._over_spread(leads, norms, y, spreads) == pytest.approx(-2 / (0.5 * 2 * 3 + 0.5 * 4 * 2))
    assert own._over_spread(leads, norms, y, spreads) == pytest.approx(-1 / (0.5 * 2 + 0.5 * 4), rel=1e-5)


def test_distances_are_told_in_units_of_the_inputs_sample_deviation() -> None:
    class Line(nn.Module):
        def forward(self, X: torch.Tensor) -> torch.Tensor:
            return torch.cat([-X, X], dim=1)

    X = torch.tensor([[-3.0], [-1.0], [1.0], [3.0]])  # distances 1, 1, 3, 3 from 0, squares 20 over 3
    found = build_measure("margin-distribution", quantiles=(0.5,))(Net(Line(), X, (X[:, 0] > 0).long()))
    assert found.value == pytest.approx(-2 / math.sqrt(20 / 3))


@pytest.mark.parametrize("name", ["vpm", "wcv", "vr"])
def test_graphs_are_summed_up_by_their_median(name: str) -> None:
    draws = np.array([1.0, 2.0, 4.0, 9.0])
    assert build_measure(name).statistic(draws) == 3
    # squared deviations from the mean 38, over 3, over 4 draws, and pi / 2 for a median
    assert build_measure(name).std_error(draws) == pytest.approx(math.sqrt(math.pi / 2 * 38 / 3 / 4))
