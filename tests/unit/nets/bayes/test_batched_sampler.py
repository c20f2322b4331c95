"""Posteriors of many nets at once: each net's samples are those it has alone, and agree with quadrature."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn

import unseen.nets as nets
from unseen.core.errors import FitError, UnknownName
from unseen.nets.bayes.batched_sampler import prior_scales, sample_many
from unseen.nets.bayes.langevin import sample_states

DYNAMICS = {"step": 0.05, "friction": 0.1, "temperature": 1.0, "jitter": 0.02}


def three_fits(make, shape, n=24, classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(3 * n) % classes
    X = rng.standard_normal((3 * n, *shape)) + y.reshape(-1, *[1] * len(shape)) * 0.5
    sets = [np.arange(k * n, (k + 1) * n) for k in range(3)]
    fits = nets.fit_many(make, X, y, sets, seeds=5, epochs=2, stop="none", device="cpu", dtype="float64")
    return fits, torch.as_tensor(X).reshape(3, n, *shape), torch.as_tensor(y).reshape(3, n)


def expanded(fits, chains):
    return {k: v[:, None].expand(len(v), chains, *v.shape[1:]) for k, v in fits.params.items()}


@pytest.mark.parametrize("kind", ["sghmc", "sgld"])
@pytest.mark.parametrize(
    ("make", "shape"), [(partial(nets.make_mlp, width=5), (4,)), (nets.make_lenet5, (1, 12, 12))], ids=["mlp", "lenet"]
)
def test_a_net_of_many_has_the_samples_it_has_alone(make, shape, kind):
    fits, X, y = three_fits(make, shape)
    prior = prior_scales({k: v.shape[1:] for k, v in fits.params.items()}, "unit", 0.7)
    length = {"per_chain": 3, "burn_in": 4, "thin": 2}
    many = sample_many(
        fits.executor,
        expanded(fits, 2),
        fits.buffers,
        X,
        y,
        kind=kind,
        prior=prior,
        seeds=[11, 12, 13],
        **length,
        **DYNAMICS,
    )
    for k in range(3):
        alone = sample_states(
            fits.module(k),
            X[k],
            y[k],
            kind=kind,
            chains=2,
            prior_scale=0.7,
            batch_size=None,
            seed=11 + k,
            **length,
            **DYNAMICS,
        )
        for name, value in alone.items():
            torch.testing.assert_close(many[name][k], value, rtol=1e-9, atol=1e-11)


# without whitening, each net has the samples it has alone, and test_nets_posterior holds these to quadrature
@pytest.mark.parametrize(
    ("whitened", "step"), [pytest.param(False, 0.04, marks=pytest.mark.slow), pytest.param(True, 0.02)]
)
def test_two_posteriors_agree_with_quadrature(whitened, step):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2, 40, 2))
    slopes = np.array([[1.2, -0.7], [-0.3, 0.9]])
    y = (rng.random((2, 40)) < 1 / (1 + np.exp(-np.einsum("kni,ki->kn", X, slopes)))).astype(int)
    scales = 1.5
    axis = np.linspace(-6, 8, 281)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)

    def make():
        return nn.Linear(2, 1, bias=False)

    made = nets.fit_many(
        partial(nn.Linear, 2, 2, bias=False),
        X.reshape(80, 2),
        y.ravel(),
        [range(40), range(40, 80)],
        seeds=0,
        epochs=1,
        stop="none",
        device="cpu",
        dtype="float64",
    )
    executor = type(made.executor)(make().double())
    draws = sample_many(
        executor,
        {"weight": torch.zeros(2, 60, 1, 2, dtype=torch.float64)},
        {},
        torch.as_tensor(X),
        torch.as_tensor(y),
        kind="sghmc",
        per_chain=30,
        burn_in=300,
        thin=20,
        step=step,
        whitened=whitened,
        friction=0.1,
        temperature=1.0,
        jitter=0.1,
        prior={"weight": scales},
        seeds=[1, 2],
    )["weight"].numpy()
    for k in range(2):
        z = grid @ X[k].T
        log = (y[k] * z - np.logaddexp(0, z)).sum(1) - (grid**2).sum(1) / (2 * scales**2)
        mass = np.exp(log - log.max())
        mass /= mass.sum()
        mean = mass @ grid
        variance = mass @ (grid - mean) ** 2
        w = draws[k].reshape(-1, 2)
        np.testing.assert_allclose(
            w.mean(0), mean, atol=4 * np.sqrt(variance.max() / 900)
        )  # 900: a quarter of the draws
        np.testing.assert_allclose(w.var(0), variance, rtol=0.2)
    assert abs(draws[0].mean() - draws[1].mean()) > 0.01  # each net saw its own data


@pytest.mark.parametrize("whitened", [False, True])
def test_the_prior_alone_is_kept(whitened):
    # with no evidence (all inputs 0) weights follow the prior, each parameter its own
    fits, X, y = three_fits(partial(nets.make_mlp, width=2, depth=1), (3,), n=9)
    prior = {"0.weight": 0.5, "0.bias": 1.0, "2.weight": 2.0, "2.bias": 1.0}
    draws = sample_many(
        fits.executor,
        {k: torch.zeros(3, 40, *v.shape[1:], dtype=torch.float64) for k, v in fits.params.items()},
        fits.buffers,
        torch.zeros_like(X),
        y,
        kind="sghmc",
        per_chain=20,
        burn_in=400,
        thin=30,
        step=0.1,
        friction=0.1,
        temperature=1.0,
        jitter=0.0,
        prior=prior,
        seeds=[1, 2, 3],
        whitened=whitened,
    )
    assert float(draws["0.weight"].std()) == pytest.approx(0.5, rel=0.05)


def test_priors():
    shapes = {"0.weight": (6, 1, 5, 5), "0.bias": (6,), "3.weight": (10, 16), "3.bias": (10,)}
    assert prior_scales(shapes, "unit", 2.0) == dict.fromkeys(shapes, 2.0)
    assert prior_scales(shapes, "fan-in", 2.0) == {"0.weight": 0.4, "0.bias": 0.4, "3.weight": 0.5, "3.bias": 0.5}
    with pytest.raises(UnknownName):
        prior_scales(shapes, "wide")


def test_a_chain_that_diverges_is_named():
    fits, X, y = three_fits(partial(nets.make_mlp, width=5), (4,))
    X = X.clone()
    X[1] *= 1e6
    with pytest.raises(FitError, match=r"net 1, chain \d diverged .* smaller step"):
        sample_many(
            fits.executor,
            expanded(fits, 2),
            fits.buffers,
            X,
            y,
            kind="sgld",
            per_chain=1,
            burn_in=60,
            thin=1,
            prior=prior_scales({k: v.shape[1:] for k, v in fits.params.items()}, "unit"),
            seeds=[1, 2, 3],
            **{**DYNAMICS, "step": 5.0},
        )
