"""Convolutions written as matrix products give what torch's own convolutions give, and are taken only where they are faster."""

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra torch is not installed")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from unseen.nets import _fastest, _fit_many, fit_many, make_lenet5  # noqa: E402
from unseen.nets._fastest import fastest_form  # noqa: E402
from unseen.nets._product_convolution import as_products, convolve_by_products  # noqa: E402
from unseen.nets._program import Grouped, Plain  # noqa: E402

GEOMETRIES = [
    # kernel, stride, padding
    ((3, 3), (1, 1), (1, 1)),
    ((3, 3), (2, 2), (1, 1)),
    ((1, 1), (1, 1), (0, 0)),
    ((5, 3), (1, 1), (4, 2)),
    ((2, 3), (2, 1), (0, 2)),
    ((3, 3), (3, 2), (0, 1)),
    ((1, 1), (2, 2), (0, 0)),
    ((1, 1), (1, 1), (2, 2)),
]


@pytest.mark.parametrize(("kernel", "stride", "padding"), GEOMETRIES)
@pytest.mark.parametrize("biased", [True, False])
def test_values_and_derivatives_are_those_of_torch(kernel, stride, padding, biased):
    generator = torch.Generator().manual_seed(1)
    made = [
        torch.randn(shape, dtype=torch.float64, generator=generator, requires_grad=True)
        for shape in ((2, 3, 4, 9, 8), (2, 5, 4, *kernel), (2, 5))
    ]
    x, weight, bias = made
    used = made if biased else made[:2]
    biases = bias if biased else [None, None]
    expected = torch.stack([F.conv2d(a, w, b, stride, padding) for a, w, b in zip(x, weight, biases)])
    got = convolve_by_products(x, weight, bias if biased else None, stride, padding)
    assert torch.allclose(got, expected, atol=1e-12)
    back = torch.randn(expected.shape, dtype=torch.float64, generator=generator)
    for mine, theirs in zip(torch.autograd.grad(got, used, back), torch.autograd.grad(expected, used, back)):
        assert torch.allclose(mine, theirs, atol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
def test_a_net_gives_the_same_logits_in_every_form(shared):
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, padding="same"), nn.Tanh(),
        nn.Conv2d(6, 6, 1), nn.Conv2d(6, 6, 3, groups=2, padding=1), nn.Conv2d(6, 5, 3, dilation=2, padding=2),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(20, 3),
    ).double()  # fmt: skip
    generator = torch.Generator().manual_seed(2)
    params = {
        k: torch.randn((4, *p.shape), dtype=torch.float64, generator=generator) for k, p in net.named_parameters()
    }
    x = torch.randn((5, 3, 12, 12) if shared else (4, 5, 3, 12, 12), dtype=torch.float64, generator=generator)
    expected = Plain(net)(params, {}, x, train=False, shared=shared)
    for form in ("grouped", "looped", "products"):
        got = Grouped(net).with_convolution(form)(params, {}, x, train=False, shared=shared)
        assert torch.allclose(got, expected, atol=1e-10), form


def test_training_with_products_ends_where_other_forms_end(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1, 16, 16)), np.arange(40) % 3
    sets = [np.arange(40), np.arange(25)]
    options = {"seeds": [1, 2], "epochs": 3, "batch_size": 8, "momentum": 0.9, "device": "cpu", "dtype": "float64"}
    usual = fit_many(make_lenet5, X, y, sets, **options)
    monkeypatch.setattr(_fit_many, "fastest_form", lambda program, *given: program.with_convolution("products"))
    other = fit_many(make_lenet5, X, y, sets, **options)
    assert (usual.how, other.how) == (
        "batched, convolutions net by net",
        "convolutions as batched matrix products",
    )
    assert torch.allclose(usual.logits(X), other.logits(X), atol=1e-10)


def test_layers_with_a_form_as_products():
    assert as_products(nn.Conv2d(2, 4, 3))
    for layer in (nn.Conv1d(2, 4, 3), nn.Conv2d(2, 4, 3, groups=2), nn.Conv2d(2, 4, 3, dilation=2), nn.Linear(2, 2)):
        assert not as_products(layer)
    assert not as_products(nn.Conv2d(2, 4, 3, padding="same"))


@pytest.mark.parametrize(
    ("seconds", "taken"),
    [
        ({"grouped": 2.0, "products": 1.0}, "products"),
        ({"grouped": 1.0, "products": 2.0}, "grouped"),
        ({"grouped": 1.0, "products": RuntimeError("CUDA out of memory")}, "grouped"),
        ({"grouped": RuntimeError("cannot be captured"), "products": RuntimeError("cannot be captured")}, "grouped"),
    ],
)
def test_the_faster_form_is_taken_on_a_gpu(monkeypatch, seconds, taken):
    def timed(program, *given):
        found = seconds[program.convolution]
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(_fastest, "_seconds", timed)
    on_gpu = SimpleNamespace(device=torch.device("cuda"))
    params = {"weight": torch.zeros(2, 1)}
    assert fastest_form(Grouped(make_lenet5()), params, {}, on_gpu, 8).convolution == taken


def test_nothing_is_timed_where_there_is_nothing_to_choose(monkeypatch):
    monkeypatch.setattr(_fastest, "_seconds", lambda *given: pytest.fail("timed"))
    here, there = SimpleNamespace(device=torch.device("cpu")), SimpleNamespace(device=torch.device("cuda"))
    images, rows = Grouped(make_lenet5()), Grouped(nn.Sequential(nn.Linear(2, 2)))
    assert fastest_form(images, {}, {}, here, 8) is images
    assert fastest_form(rows, {}, {}, there, 8) is rows
