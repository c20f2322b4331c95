"""Posterior samples of nets: Bayesian logistic regression in two dimensions against quadrature, and the contract of samples."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn

import unseen.nets as nets
from unseen.core.errors import FitError, InputError, KindError, NotApplicable
from unseen.nets.bayes.chains import effective_size, split_r_hat

PRIOR = 1.5
SLOW = (pytest.mark.slow, pytest.mark.sample)  # test_batched_sampler holds this sampler to quadrature too


@pytest.fixture(scope="module")
def logistic():
    """Forty points, the posterior of two weights on a grid, and a net at their mode."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 2))
    y = (rng.random(40) < 1 / (1 + np.exp(-(1.2 * X[:, 0] - 0.7 * X[:, 1])))).astype(int)
    axis = np.linspace(-6, 8, 401)
    w = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    z = w @ X.T
    log_posterior = (y * z - np.logaddexp(0, z)).sum(1) - (w**2).sum(1) / (2 * PRIOR**2)
    mass = np.exp(log_posterior - log_posterior.max())
    mass /= mass.sum()
    assert mass.reshape(401, 401)[[0, -1]].sum() < 1e-8  # the grid holds it all
    net = nn.Linear(2, 1, bias=False).double()
    with torch.no_grad():
        net.weight.copy_(torch.as_tensor(w[mass.argmax()][None]))
    mean = mass @ w
    variance = mass @ (w - mean) ** 2
    return X, y, net, mean, variance, w, mass


def predictive(logistic, points):
    _, _, _, _, _, w, mass = logistic
    return mass @ (1 / (1 + np.exp(-(w @ points.T))))


POINTS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [-3.0, 1.0]])


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("sampler", "step", "thin"), [("sgld", 0.4, 20), pytest.param("sghmc", 0.04, 20, marks=SLOW)])
def test_dynamics_agree_with_quadrature(logistic, sampler, step, thin):
    X, y, net, mean, variance, _, _ = logistic
    p = nets.posterior(
        net,
        X,
        y,
        sampler=sampler,
        n_samples=6000,
        n_chains=60,
        burn_in=300,
        thin=thin,
        step=step,
        prior_scale=PRIOR,
        random_state=0,
    )
    axes = p.logits(np.eye(2))[:, :, 1].numpy()  # the logit at a unit vector is a weight
    sizes = [effective_size(axes[:, k].reshape(60, 100)) for k in range(2)]
    assert min(sizes) > 1500
    for k in range(2):
        error = np.sqrt(variance[k] / sizes[k])
        assert abs(axes[:, k].mean() - mean[k]) < 4 * error
        assert axes[:, k].var() == pytest.approx(variance[k], rel=4 * np.sqrt(2 / sizes[k]) + 0.03)  # 3% for the step
    np.testing.assert_allclose(p.probabilities(POINTS)[:, 1], predictive(logistic, POINTS), atol=0.015)
    assert p.r_hat < 1.05
    assert not p.notes


@pytest.mark.slow
@pytest.mark.sample
def test_batches_keep_the_mean_and_widen_the_posterior(logistic):
    X, y, net, mean, variance, _, _ = logistic
    p = nets.posterior(
        net,
        X,
        y,
        sampler="sgld",
        n_samples=4000,
        n_chains=200,
        burn_in=200,
        thin=10,
        step=0.2,
        prior_scale=PRIOR,
        batch_size=20,
        random_state=0,
    )
    axes = p.logits(np.eye(2))[:, :, 1].numpy()
    np.testing.assert_allclose(axes.mean(0), mean, atol=0.1)
    assert np.all(axes.var(0) > 0.95 * variance)
    assert np.all(axes.var(0) < 1.4 * variance)  # half the rows taken for all of them would nearly double it


@pytest.mark.slow
@pytest.mark.sample
def test_a_colder_posterior_is_narrower_in_proportion(logistic):
    X, y, net, *_ = logistic
    options = {
        "sampler": "sgld",
        "n_samples": 4000,
        "n_chains": 200,
        "burn_in": 250,
        "thin": 10,
        "step": 0.3,
        "prior_scale": PRIOR,
        "random_state": 0,
    }
    warm, cold = (
        nets.posterior(net, X, y, temperature=t, **options).logits(np.eye(2))[:, :, 1].var(0) for t in (1.0, 0.04)
    )
    np.testing.assert_allclose(cold / warm, 0.04, rtol=0.25)  # the wings of the warm one are not quite Gaussian


def test_laplace_is_the_gaussian_at_the_mode(logistic):
    X, y, net, _, variance, _, _ = logistic
    p = 1 / (1 + np.exp(-net(torch.as_tensor(X)).detach().numpy()[:, 0]))
    precision = (X * (p * (1 - p))[:, None]).T @ X + np.eye(2) / PRIOR**2
    covariance = np.linalg.inv(precision)
    drawn = nets.posterior(net, X, y, sampler="laplace", n_samples=20_000, prior_scale=PRIOR, random_state=0)
    axes = drawn.logits(np.eye(2))[:, :, 1].double().numpy()
    np.testing.assert_allclose(axes.mean(0), net.weight[0].detach(), atol=4 * np.sqrt(covariance[0, 0] / 20_000))
    np.testing.assert_allclose(np.cov(axes.T), covariance, rtol=0.05, atol=0.01)
    # within its theory: the exact posterior is wider by terms of order 1/n
    np.testing.assert_allclose(np.diag(covariance), variance, rtol=0.35)
    np.testing.assert_allclose(drawn.probabilities(POINTS)[:, 1], predictive(logistic, POINTS), atol=0.05)
    closed = nets.posterior(net, X, y, sampler="laplace", predictive="probit", prior_scale=PRIOR)
    z = POINTS @ net.weight[0].detach().numpy()
    spread = np.einsum("ij,jk,ik->i", POINTS, covariance, POINTS)
    expected = 1 / (1 + np.exp(-z / np.sqrt(1 + np.pi / 8 * spread)))
    np.testing.assert_allclose(closed.probabilities(POINTS)[:, 1], expected, atol=1e-7)
    assert closed.n_samples == 1


def test_two_outputs_have_the_full_gauss_newton_matrix():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 3)).double()
    X = torch.randn(25, 3, dtype=torch.float64)
    y = torch.arange(25) % 3
    from unseen.nets.bayes.laplace import last_layer_posterior

    last = last_layer_posterior(net, X, y, prior_scale=0.8, temperature=1.0)
    phi = torch.cat([net[:2](X), torch.ones(25, 1)], 1).detach()

    def potential(flat):
        z = phi @ flat.reshape(3, 3).T
        return nn.functional.cross_entropy(z, y, reduction="sum") + flat.square().sum() / (2 * 0.8**2)

    flat = torch.cat([net[2].weight, net[2].bias[:, None]], 1).detach().flatten()
    hessian = torch.autograd.functional.hessian(potential, flat)  # for softmax on linear logits the two are one
    np.testing.assert_allclose(last.root @ last.root.T, torch.linalg.inv(hessian), rtol=1e-8)


def test_dropout_samples_are_fixed_nets_with_the_right_mean():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 30), nn.Dropout(0.25), nn.Linear(30, 3)).double()
    X = np.random.default_rng(0).standard_normal((12, 4))
    p = nets.posterior(net, X, np.arange(12) % 3, sampler="mc-dropout", n_samples=4000, random_state=0)
    z = p.logits(X)
    # behind one linear layer the mean over masks is the net without dropout
    error = z.std(0) / np.sqrt(4000)
    assert bool(((z.mean(0) - net.eval()(torch.as_tensor(X))).abs() < 4.5 * error).all())
    assert torch.equal(p.logits(X[5:6]), z[:, 5:6]) or torch.allclose(p.logits(X[5:6]), z[:, 5:6])
    with pytest.raises(NotApplicable, match="dropout layers"):
        nets.posterior(nn.Linear(4, 3), X, np.arange(12) % 3, sampler="mc-dropout")


def test_an_ensemble_is_nets_from_other_first_weights():
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = (X[:, 0] > 0).astype(int)
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    training = {"epochs": 40, "lr": 0.5, "batch_size": 20, "stop": "none"}
    p = nets.posterior(net, X, y, sampler="ensemble", n_samples=4, training=training, random_state=0)
    z = p.logits(X)
    assert z.shape == (4, 40, 2)
    assert bool((z.argmax(2).numpy() == y).mean() > 0.9)
    assert not torch.allclose(z[0], z[1])
    with pytest.raises(InputError, match="training=dict"):
        nets.posterior(net, X, y, sampler="ensemble")


@pytest.mark.parametrize("count", [1, 6, 8])
def test_as_many_samples_as_asked_for(count):
    X = torch.randn(12, 2, generator=torch.Generator().manual_seed(0))
    options = {"n_samples": count, "n_chains": 4, "burn_in": 3, "thin": 1, "step": 1e-4, "random_state": 0}
    p = nets.posterior(nn.Linear(2, 2), X, np.arange(12) % 2, sampler="sgld", **options)
    assert p.n_samples == count
    assert len(p.logits(X)) == count


def test_own_samples_give_the_estimate_by_hand():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((7, 20, 3))
    y = rng.integers(0, 3, 20)
    p = (np.exp(z) / np.exp(z).sum(2, keepdims=True)).mean(0)
    e = nets.estimate(None, None, y, method="bayesian", posterior=nets.Posterior.from_logits(z))
    assert e.value == pytest.approx((1 - p.max(1)).mean(), abs=1e-6)
    net = nn.Linear(2, 3)
    X = rng.standard_normal((20, 2)).astype(np.float32)
    decided = net(torch.as_tensor(X)).argmax(1).numpy()
    with_net = nets.estimate(net, X, y, method="bayesian", posterior=nets.Posterior.from_logits(z))
    assert with_net.value == pytest.approx((1 - p[np.arange(20), decided]).mean(), abs=1e-6)
    with pytest.raises(InputError, match="other points"):
        nets.estimate(None, None, y, method="bayesian-bolster", posterior=nets.Posterior.from_logits(z))


def test_bayesian_bolster_is_the_expectation_at_kernel_points():
    X = np.random.default_rng(0).standard_normal((30, 2)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    torch.manual_seed(0)
    makers = [nn.Linear(2, 2) for _ in range(3)]
    p = nets.Posterior.from_states(makers[0], [m.state_dict() for m in makers])
    e = nets.estimate(None, X, y, method="bayesian-bolster", posterior=p, n_mc=400, random_state=0)
    # the same by hand: Gaussian points of the same widths, softmax averaged over the three nets
    from unseen.nets.estimates.kernel_sizes import diagonal_sizes

    sizes = diagonal_sizes(torch.as_tensor(X), torch.as_tensor(y), 2)
    z = torch.randn(400, 30, 2, generator=torch.Generator().manual_seed(1))
    points = torch.as_tensor(X) + sizes[torch.as_tensor(y)] * z
    mean = torch.stack([m(points).softmax(-1) for m in makers]).mean(0).detach()
    assert e.value == pytest.approx(float((1 - mean.amax(-1)).mean()), abs=4 * 1.5 * e.mc_error)
    bolstered = nets.estimate(p, X, y, method="naive-bayes-bolster", n_mc=400, random_state=0)
    wrong = (mean.argmax(-1) != torch.as_tensor(y)).double().mean()
    assert bolstered.value == pytest.approx(float(wrong), abs=4 * 1.5 * bolstered.mc_error)


def test_diagnostics_of_known_chains():
    rng = np.random.default_rng(0)
    rho, length = 0.9, 4000
    x = np.zeros((4, length))
    noise = rng.standard_normal((4, length))
    for t in range(1, length):
        x[:, t] = rho * x[:, t - 1] + noise[:, t]
    known = 4 * length * (1 - rho) / (1 + rho)
    assert effective_size(x) == pytest.approx(known, rel=0.2)
    assert split_r_hat(x) == pytest.approx(1, abs=0.02)
    assert split_r_hat(x + np.arange(4)[:, None] * 5) > 1.5
    drifting = x + np.linspace(0, 20, length)
    assert split_r_hat(drifting) > 1.5  # halves of one chain disagree


def test_unsettled_and_diverging_chains_are_named(logistic):
    X, y, net, *_ = logistic
    p = nets.posterior(
        net, X, y, sampler="sgld", n_samples=40, burn_in=1, thin=1, step=1e-5, jitter=3.0, random_state=0
    )
    assert [n.code for n in p.notes] == ["N020"]
    with pytest.raises(FitError, match="chain 0 diverged"):
        nets.posterior(net, X, y, sampler="sgld", step=1e6, prior_scale=0.1, random_state=0)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"sampler": "nuts"}, InputError, "sghmc"),
        ({"n_samples": 0}, InputError, "n_samples"),
        ({"step": -1.0}, InputError, "step"),
        ({"prior_scale": 0}, InputError, "prior_scale"),
        ({"sampler": "laplace", "predictive": "exact"}, InputError, "probit"),
    ],
)
def test_misuse_of_posterior(logistic, change, kind, words):
    X, y, net, *_ = logistic
    with pytest.raises(kind, match=words):
        nets.posterior(net, X, y, **change)


def test_states_must_fit():
    net = nn.Linear(2, 2)
    with pytest.raises(InputError, match="state 1 does not fit"):
        nets.Posterior.from_states(net, [net.state_dict(), nn.Linear(3, 2).state_dict()])
    with pytest.raises(KindError, match=r"torch\.nn\.Module"):
        nets.Posterior.from_states("net", [])
    bent = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    with pytest.raises(NotApplicable, match="plain logits"):
        nets.posterior(bent, np.ones((4, 2)), [0, 1, 0, 1], sampler="laplace")
