"""Norms of layers and power-law fits against closed forms, explicit matrices and weightwatcher's numbers."""

from __future__ import annotations

import itertools
import json
import math
import runpy
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn

from unseen.core.errors import InputError, NotApplicable
from unseen.nets import Net, build_measure
from unseen.nets.files.weights import read_weights, write_weights
from unseen.nets.measures.alpha import eigenvalues, fit_power_law
from unseen.nets.modules.weight_layers import (
    frobenius_norm,
    input_shapes,
    other_layers,
    path_norm,
    spectral_norm,
    weight_layers,
)

REFERENCE = Path(__file__).parents[3] / "reference"


def _matrix(layer: nn.Module, shape: tuple[int, ...]) -> torch.Tensor:
    """The layer's linear map as a matrix, column by column."""
    size = math.prod(shape)
    basis = torch.eye(size).reshape(size, *shape)
    with torch.no_grad():
        return (layer(basis) - layer(torch.zeros(1, *shape))).flatten(1).T


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Conv2d(2, 3, 3, padding=1), (2, 6, 6)),
        (nn.Conv2d(3, 4, 3, stride=2, padding=1), (3, 7, 5)),
        (nn.Conv2d(2, 4, 1), (2, 4, 4)),
        (nn.Conv1d(2, 3, 3), (2, 9)),
        (nn.Conv2d(4, 4, 3, padding=1, groups=2), (4, 5, 5)),
    ],
)
def test_spectral_norm_of_a_convolution_is_that_of_its_matrix(layer: nn.Module, shape: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    layer.reset_parameters()
    expected = float(torch.linalg.matrix_norm(_matrix(layer, shape), 2))
    assert spectral_norm(layer, shape, tolerance=1e-9, max_steps=5000) == pytest.approx(expected, rel=1e-4)


def test_the_reshaped_kernel_would_be_another_number() -> None:
    torch.manual_seed(0)
    layer = nn.Conv2d(2, 3, 3, padding=1)
    reshaped = float(torch.linalg.matrix_norm(layer.weight.detach().flatten(1), 2))
    assert abs(spectral_norm(layer, (2, 8, 8)) - reshaped) > 0.1 * reshaped


def test_spectral_and_frobenius_norm_of_a_dense_layer() -> None:
    layer = nn.Linear(3, 2)
    layer.weight.data = torch.tensor([[2.0, 0.0, 0.0], [0.0, -5.0, 0.0]])
    assert spectral_norm(layer, (3,)) == pytest.approx(5.0)
    assert frobenius_norm(layer) == pytest.approx(math.sqrt(29))


def test_path_norm_of_two_layers_by_hand() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    w1 = torch.tensor([[1.0, -2.0], [0.5, 3.0], [-1.0, 1.0]])
    b1 = torch.tensor([0.5, -1.0, 2.0])
    w2, b2 = torch.tensor([[1.0, -1.0, 2.0], [0.0, 4.0, -0.5]]), torch.tensor([3.0, -1.0])
    for layer, w, b in ((net[0], w1, b1), (net[2], w2, b2)):
        layer.weight.data, layer.bias.data = w, b
    paths = sum((w2[o, h] * w1[h, i]) ** 2 for o, h, i in itertools.product(range(2), range(3), range(2)))
    biases = sum((w2[o, h] * b1[h]) ** 2 for o, h in itertools.product(range(2), range(3))) + (b2**2).sum()
    assert path_norm(net, (2,)) == pytest.approx(float(paths + biases) ** 0.5)
    assert torch.equal(net[0].weight.data, w1)


def test_path_norm_does_not_depend_on_what_bends_the_signal() -> None:
    torch.manual_seed(0)
    relu, tanh = (nn.Sequential(nn.Linear(4, 5), act, nn.Linear(5, 3)) for act in (nn.ReLU(), nn.Tanh()))
    tanh.load_state_dict(relu.state_dict())
    assert path_norm(relu, (4,)) == path_norm(tanh, (4,))


def test_path_norm_of_a_convolution_is_that_of_its_matrix() -> None:
    torch.manual_seed(2)
    conv, dense = nn.Conv2d(2, 3, 3, padding=1, bias=False), nn.Linear(3 * 4 * 4, 2, bias=False)
    net = nn.Sequential(conv, nn.ReLU(), nn.Flatten(), dense)
    first = _matrix(conv, (2, 4, 4))
    expected = (dense.weight**2) @ (first**2) @ torch.ones(32)
    assert path_norm(net, (2, 4, 4)) == pytest.approx(float(expected.sum().sqrt().detach()), rel=1e-5)


def test_path_norm_counts_batch_normalisation_as_what_it_does_when_evaluated() -> None:
    net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1), nn.Linear(1, 1, bias=False)).eval()
    net[0].weight.data.fill_(2.0), net[2].weight.data.fill_(1.0)
    net[1].weight.data.fill_(3.0), net[1].bias.data.fill_(1.0)
    net[1].running_mean.fill_(4.0), net[1].running_var.fill_(4.0 - net[1].eps)
    # scale 3 / 2, shift 1 - 4 * 1.5 = -5: 2^2 * 1.5^2 + 5^2 = 34
    assert path_norm(net, (1,)) == pytest.approx(34**0.5, rel=1e-6)


def test_layers_are_named_and_others_left_out() -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 2))
    assert list(weight_layers(net)) == ["0", "3"]
    assert other_layers(net) == ("1",)
    assert input_shapes(net.eval(), torch.zeros(5, 1, 4, 4)) == {"0": (1, 4, 4), "3": (8,)}
    with pytest.raises(NotApplicable, match="no dense or convolution layer"):
        weight_layers(nn.Sequential(nn.ReLU()))


def test_power_law_and_spectra_agree_with_weightwatcher() -> None:
    stored = json.loads((REFERENCE / "power_law.json").read_text())
    assert stored["source"]["weightwatcher"] == "0.7.7"
    net = runpy.run_path(str(REFERENCE / "oracles_power_law.py"))["network"]()
    layers = weight_layers(net)
    for expected in stored["layers"]:
        values = eigenvalues(layers[expected["name"]])
        fit = fit_power_law(values)
        assert values.size == expected["n"]
        assert fit.largest == pytest.approx(expected["largest"], rel=1e-5)
        assert fit.alpha == pytest.approx(expected["alpha"], rel=1e-4)
        assert fit.xmin == pytest.approx(expected["xmin"], rel=1e-4)
        assert fit.distance == pytest.approx(expected["D"], rel=1e-3)
        assert fit.alpha * math.log10(fit.largest) == pytest.approx(expected["alpha_hat"], rel=1e-4)


@pytest.mark.parametrize(("name", "column"), [("alpha", "alpha"), ("alpha-hat", "alpha_hat")])
def test_exponents_of_a_network_are_means_of_weightwatchers_over_layers(name: str, column: str) -> None:
    stored = json.loads((REFERENCE / "power_law.json").read_text())["layers"]
    module = runpy.run_path(str(REFERENCE / "oracles_power_law.py"))["network"]()
    found = build_measure(name)(Net(module, torch.rand(4, 3, 6, 6), torch.arange(4) % 2))
    assert found.value == pytest.approx(np.mean([layer[column] for layer in stored]), rel=1e-4)
    assert found.used == tuple(layer["name"] for layer in stored)


@pytest.mark.parametrize("alpha", [1.8, 2.5, 4.0])
def test_power_law_finds_the_exponent_and_the_start_of_a_simulated_tail(alpha: float) -> None:
    rng = np.random.default_rng(3)
    tail = 2.0 * (1 - rng.random(4000)) ** (-1 / (alpha - 1))
    body = rng.uniform(0.5, 2.0, 2000)
    fit = fit_power_law(np.concatenate([tail, body]))
    assert fit.alpha == pytest.approx(alpha, abs=5 * (alpha - 1) / 4000**0.5)
    assert fit.xmin == pytest.approx(2.0, rel=0.15)


def test_power_law_needs_different_positive_values() -> None:
    with pytest.raises(InputError, match="three different positive values"):
        fit_power_law(np.array([1.0, 1.0, 2.0, 0.0]))


def test_weight_files_are_those_of_safetensors(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.torch")
    tensors = {
        "a/0.weight": torch.randn(3, 4),
        "half": torch.randn(5).half(),
        "whole": torch.arange(6),
        "none": torch.empty(0, 2),
        "one": torch.tensor(2.5),
    }
    write_weights(tmp_path / "ours.safetensors", tensors)
    library.save_file(tensors, tmp_path / "theirs.safetensors")
    for found in (library.load_file(tmp_path / "ours.safetensors"), read_weights(tmp_path / "theirs.safetensors")):
        assert set(found) == set(tensors)
        assert all(torch.equal(found[k], v) and found[k].dtype == v.dtype for k, v in tensors.items())


def test_a_broken_weight_file_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "bad.safetensors").write_bytes(b"\x80\x04nothing of the kind")
    with pytest.raises(InputError, match="no readable safetensors file"):
        read_weights(tmp_path / "bad.safetensors")
    with pytest.raises(InputError, match="complex"):
        write_weights(tmp_path / "c.safetensors", {"w": torch.zeros(2, dtype=torch.complex64)})
