"""The same weights and the same kernel points give the same estimate: by hand in float64, and on a GPU as on the CPU."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
import torch
from studies.gpu_same_numbers import (
    ESTIMATES,
    POINTS,
    ROWS,
    difference_of_estimates,
    difference_of_measures,
    given_points,
    small_net,
    small_sample,
)
from torch import nn

from unseen import nets
from unseen.core.errors import UnseenError
from unseen.nets.estimates.kernels import KernelPoints

GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


def logits_by_hand(net: nn.Module, points: np.ndarray) -> np.ndarray:
    weights = {name: value.detach().numpy() for name, value in net.named_parameters()}
    hidden = np.tanh(points @ weights["1.weight"].T + weights["1.bias"])
    return hidden @ weights["3.weight"].T + weights["3.bias"]


def sizes_by_hand(X: np.ndarray, y: np.ndarray, kind: str) -> np.ndarray:
    """Mean nearest-neighbour distance within the class over the median of the chi distribution; of each coordinate for diagonal kernels."""
    from scipy.stats import chi

    sizes = np.empty_like(X)
    for c in np.unique(y):
        own = X[y == c]
        apart = own[:, None] - own[None]
        if kind == "spherical":
            distance = np.sqrt(np.square(apart).sum(2))
            np.fill_diagonal(distance, np.inf)
            sizes[y == c] = distance.min(1).mean() / chi(X.shape[1]).median()
        else:
            distance = np.where(apart == 0, np.inf, np.abs(apart))
            sizes[y == c] = distance.min(1).mean(0) / chi(1).median()
    return sizes


@pytest.mark.parametrize(("method", "kind"), [("bolster", "spherical"), ("naive-bayes-bolster", "diagonal")])
@pytest.mark.parametrize("kappa", [1.0, 2.5])
def test_each_points_share_is_that_of_the_definition(method: str, kind: str, kappa: float) -> None:
    X, y = small_sample()
    net = small_net()
    z = np.random.default_rng(11).standard_normal((ROWS, POINTS, 8))
    points = X[:, None] + kappa * sizes_by_hand(X, y, kind)[:, None] * z
    wrong = logits_by_hand(net, points).argmax(2) != y[:, None]
    with patch.object(KernelPoints, "blocks", given_points):
        e = nets.estimate(net, X, y, method=method, n_mc=POINTS, draws=11, kappa=kappa, device="cpu")
    np.testing.assert_allclose(e.contributions, wrong.mean(1), atol=1e-12)
    assert 0.1 < e.value < 0.9
    assert e.value == pytest.approx(wrong.mean(), abs=1e-12)
    # variance of a mean of POINTS independent points, averaged over rows
    error = np.sqrt((wrong.var(1, ddof=1) / POINTS).sum()) / ROWS
    assert e.mc_error == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("posterior", [False, True])
def test_posterior_errors_are_those_of_the_definition(posterior: bool) -> None:
    X, y = small_sample()
    net = small_net()
    z = np.random.default_rng(11).standard_normal((ROWS, POINTS, 8)) if posterior else np.zeros((ROWS, 1, 8))
    raw = logits_by_hand(net, X[:, None] + sizes_by_hand(X, y, "spherical")[:, None] * z)
    p = np.exp(raw - raw.max(2, keepdims=True))
    p /= p.sum(2, keepdims=True)
    method = "bolster-posterior" if posterior else "posterior"
    with patch.object(KernelPoints, "blocks", given_points):
        e = nets.estimate(net, X, y, method=method, n_mc=POINTS, draws=11, device="cpu")
    np.testing.assert_allclose(e.contributions, (1 - p.max(2)).mean(1), atol=1e-12)


@GPU
@pytest.mark.parametrize("method", ESTIMATES)
def test_a_gpu_gives_the_same_estimate_of_every_row(method: str) -> None:
    assert difference_of_estimates(method, "cuda") <= 1e-10


@GPU
@pytest.mark.parametrize("name", sorted(nets.known_measures()))
def test_a_gpu_gives_the_same_measure(name: str) -> None:
    try:
        assert difference_of_measures(name, "cuda") <= 1e-8
    except UnseenError as error:
        pytest.skip(str(error))


def test_a_difference_between_devices_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that gives other points, or a net that is another after the move, must not pass."""
    seeds = iter(range(100))

    def other_points(self: KernelPoints, n: int, d: int, device: object, dtype: object) -> object:
        z = np.random.default_rng(next(seeds)).standard_normal((n, self.groups[0], 1, d))
        yield slice(0, n), torch.as_tensor(z)

    monkeypatch.setattr("studies.gpu_same_numbers.given_points", other_points)
    assert difference_of_estimates("bolster", "cpu") > 1e-3
    assert difference_of_measures("bolster", "cpu") > 1e-3
