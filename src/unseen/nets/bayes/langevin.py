"""Samples of a net's weights by stochastic-gradient Langevin and Hamiltonian dynamics, all chains side by side."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from unseen.core.errors import FitError
from unseen.nets.modules.logits import LogitFunction

__all__ = ["sample_states"]

CHECK_EVERY = 50  # steps between looks for divergence, which make a GPU wait


def sample_states(
    module: nn.Module,
    X: Any,
    codes: Any,
    *,
    kind: str,
    per_chain: int,
    chains: int,
    burn_in: int,
    thin: int,
    step: float,
    temperature: float,
    prior_scale: float,
    friction: float,
    batch_size: int | None,
    jitter: float,
    seed: int,
    notes: list[Any] | None = None,
) -> dict[str, Any]:
    """Return stacked weights of shape (chains, per_chain, ...) from the posterior of a classifier's weights.

    The potential is the summed cross-entropy plus |w|^2 / (2 prior_scale^2). `step` is a step length on the *mean* loss, as
    for SGD: Langevin moves w by -(step/n) grad U + sqrt(2 step T / n) z, Hamiltonian dynamics keeps a velocity with
    v <- (1 - friction) v - (step/n) grad U + sqrt(2 friction step T / n) z. Gradients are summed over pieces of the sample, so that memory
    does not grow with it; a piece that does not fit is halved, which is said in `notes`.

    References
    ----------
    Welling, M. and Teh, Y. W. (2011). Bayesian learning via stochastic gradient Langevin dynamics. ICML.
    Chen, T., Fox, E. B. and Guestrin, C. (2014). Stochastic gradient Hamiltonian Monte Carlo. ICML.
    """
    generator = torch.Generator(device=X.device).manual_seed(seed)

    def normal(like: Any) -> Any:
        return torch.randn(like.shape, generator=generator, device=like.device, dtype=like.dtype)

    n = len(X)
    size = n if batch_size is None else min(int(batch_size), n)
    buffers = dict(module.named_buffers())
    fixed = {k: p.detach() for k, p in module.named_parameters() if not p.requires_grad}
    weights = {}
    for name, value in module.named_parameters():
        if value.requires_grad:
            start = value.detach().expand(chains, *value.shape).clone()
            weights[name] = start + jitter * normal(start)
    gradient = _gradient(module, buffers, fixed)
    pieces = LogitFunction(
        raw=module, module=module, device=X.device, dtype=X.dtype, notes=[] if notes is None else notes
    )
    velocity = {k: torch.zeros_like(v) for k, v in weights.items()}
    pace = step / n
    keep, share = (1.0 - friction, friction) if kind == "sghmc" else (0.0, 1.0)
    noise = (2 * share * pace * temperature) ** 0.5
    kept: dict[str, list[Any]] = {k: [] for k in weights}
    for t in range(burn_in + per_chain * thin):
        # a batch of its own for every chain
        rows = None if size == n else torch.rand((chains, n), generator=generator, device=X.device).topk(size).indices
        slope = _sum_gradients(gradient, weights, X, codes, rows, pieces)
        for name, value in weights.items():
            pull = n / size * slope[name] + value / prior_scale**2
            velocity[name] = keep * velocity[name] - pace * pull + noise * normal(value)
            weights[name] = value + velocity[name]
        if t % CHECK_EVERY == 0 or t == burn_in + per_chain * thin - 1:
            _check_finite(weights, t)
        if t >= burn_in and (t - burn_in + 1) % thin == 0:
            for name, value in weights.items():
                kept[name].append(value.clone())
    return {name: torch.stack(values, dim=1) for name, values in kept.items()}


def _gradient(module: nn.Module, buffers: Any, fixed: Any) -> Any:
    """Return the gradient of one chain's summed cross-entropy."""

    def loss(weights: Any, X: Any, codes: Any) -> Any:
        out = functional_call(module, ({**weights, **fixed}, buffers), (X,))
        out = torch.cat([torch.zeros_like(out), out], 1) if out.shape[1] == 1 else out
        return nn.functional.cross_entropy(out, codes, reduction="sum")

    return grad(loss)


def _sum_gradients(
    gradient: Any, weights: dict[str, Any], X: Any, codes: Any, rows: Any, pieces: LogitFunction
) -> dict[str, Any]:
    """Return the gradients of all chains over the sample, or over rows of each chain's own, added up piece by piece."""
    total: dict[str, Any] = {}
    chains = len(next(iter(weights.values())))

    def add(slope: dict[str, Any], part: Any) -> Any:
        for name, value in slope.items():
            total[name] = total[name] + value if name in total else value
        return part[:0]

    numbers = chains * X[0].numel()
    if rows is None:
        shared = vmap(gradient, in_dims=(0, None, None))
        pieces.map_batches(lambda x, y: add(shared(weights, x, y), y), X, codes, numbers=numbers)
    else:
        own = vmap(gradient)
        pieces.map_batches(lambda r: add(own(weights, X[r.T], codes[r.T]), r), rows.T, numbers=numbers)
    return total


def _check_finite(weights: dict[str, Any], t: int) -> None:
    for name, value in weights.items():
        bad = (~torch.isfinite(value)).flatten(1).any(1).nonzero().flatten().tolist()
        if bad:
            raise FitError(
                f"chain {bad[0]} diverged within {t + 1} steps (weights {name} are not finite); use a smaller step."
            )
