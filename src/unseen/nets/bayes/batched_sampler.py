"""Samples of the weights of many nets, each with training data of its own, all nets and chains moved by one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from unseen.core.errors import FitError, InputError, UnknownName
from unseen.nets.modules.device import limited_torch
from unseen.nets.training.executors import Executor

__all__ = ["prior_scales", "sample_many"]

CHECK_EVERY = 50  # steps between looks for divergence, which make a GPU wait
PRIORS = ("unit", "fan-in")


def prior_scales(shapes: Mapping[str, Sequence[int]], prior: str, scale: float = 1.0) -> dict[str, float]:
    """Return the prior standard deviation of each parameter of a net.

    Parameters
    ----------
    shapes : dict of str to tuple of int
        Shapes of one net's parameters, as named by the module.
    prior : {"unit", "fan-in"}
        The same for every weight, or divided by the square root of the inputs of its layer, so that what a unit receives
        does not grow with the width of the layer before it.
    scale : float
        Factor on all of them.

    References
    ----------
    Neal, R. M. (1996). Bayesian Learning for Neural Networks. Springer, section 2.1.

    Examples
    --------
    >>> prior_scales({"0.weight": (8, 4), "0.bias": (8,)}, "fan-in")
    {'0.weight': 0.5, '0.bias': 0.5}
    """
    if prior not in PRIORS:
        raise UnknownName("prior", prior, PRIORS)
    if not scale > 0:
        raise InputError(f"the scale of the prior is {scale}; it is a positive number.")
    if prior == "unit":
        return dict.fromkeys(shapes, float(scale))
    inputs = {name.rpartition(".")[0]: _product(shape[1:]) for name, shape in shapes.items() if len(shape) > 1}
    return {name: scale / inputs.get(name.rpartition(".")[0], 1) ** 0.5 for name in shapes}


def _product(shape: Sequence[int]) -> int:
    out = 1
    for size in shape:
        out *= int(size)
    return out


@limited_torch()
def sample_many(
    executor: Executor,
    start: Mapping[str, Tensor],
    buffers: Mapping[str, Tensor],
    X: Tensor,
    codes: Tensor,
    *,
    kind: str,
    per_chain: int,
    burn_in: int,
    thin: int,
    step: float,
    temperature: float,
    prior: Mapping[str, float],
    friction: float,
    jitter: float,
    seeds: Sequence[int],
    whitened: bool = False,
) -> dict[str, Tensor]:
    """Return weights of shape (nets, chains, per_chain, ...) from the posteriors of many nets of one architecture.

    The dynamics are those of `unseen.nets.posterior` with full batches, and each net draws from its own generator in the same
    order: a net's samples are those that it would have alone with that seed, whatever nets are sampled with it.

    Parameters
    ----------
    executor : Executor
        One forward pass for all nets, as in `Fits.executor`.
    start : dict of str to Tensor
        Where chains begin, (nets, chains, ...); every parameter is sampled.
    buffers : dict of str to Tensor
        (nets, ...); not moved.
    X, codes : Tensor
        Training data of each net, (nets, n, ...) and (nets, n).
    kind : {"sghmc", "sgld"}
        Hamiltonian dynamics with friction, or Langevin dynamics.
    per_chain, burn_in, thin : int
        Samples kept of each chain, steps before the first, and steps between samples.
    step, friction, temperature, jitter : float
        As in `unseen.nets.posterior`.
    prior : dict of str to float
        Standard deviation of each parameter; see `prior_scales`.
    seeds : sequence of int
        One per net.
    whitened : bool
        Step in units of each parameter's prior scale: the step of a parameter is multiplied by its scale squared, so that narrow and
        wide parts of the prior are explored at one pace. Without it, and with one scale for all, the samples are those of
        `unseen.nets.posterior`.

    References
    ----------
    Welling, M. and Teh, Y. W. (2011); Chen, T., Fox, E. B. and Guestrin, C. (2014), as for `unseen.nets.posterior`.

    Examples
    --------
    >>> import unseen.nets as nets
    >>> X = torch.randn(2, 20, 3, generator=torch.Generator().manual_seed(0))
    >>> y = (X[..., 0] > 0).long()
    >>> sets = [range(20), range(20, 40)]
    >>> fits = nets.fit_many(nets.make_mlp, X.flatten(0, 1), y.flatten(), sets, seeds=0, epochs=2, device="cpu")
    >>> prior = prior_scales({k: v.shape[1:] for k, v in fits.params.items()}, "unit")
    >>> dynamics = dict(kind="sghmc", step=0.02, friction=0.1, temperature=1.0, jitter=0.01, prior=prior)
    >>> start = {k: v[:, None].expand(2, 3, *v.shape[1:]) for k, v in fits.params.items()}  # three chains from each net
    >>> w = sample_many(fits.executor, start, fits.buffers, X, y, per_chain=4, burn_in=5, thin=2, seeds=[1, 2], **dynamics)
    >>> w["0.weight"].shape
    torch.Size([2, 3, 4, 32, 3])
    """
    nets, n = codes.shape
    if kind not in ("sghmc", "sgld"):
        raise UnknownName("sampler", kind, ("sghmc", "sgld"))
    generators = [torch.Generator(device=X.device).manual_seed(int(seed)) for seed in seeds]
    chains = next(iter(start.values())).shape[1]
    weights = _jittered_start(start, jitter, generators)
    state = {k: _for_chains(v, chains) for k, v in buffers.items()}
    rows, targets = _for_chains(X, chains), codes.repeat_interleave(chains, 0).flatten()
    velocity = {k: torch.zeros_like(v) for k, v in weights.items()}
    pace = {k: step / n * (prior[k] ** 2 if whitened else 1.0) for k in weights}
    keep, share = (1.0 - friction, friction) if kind == "sghmc" else (0.0, 1.0)
    kept = {k: v.new_empty((nets * chains, per_chain, *v.shape[1:])) for k, v in weights.items()}
    for t in range(burn_in + per_chain * thin):
        slopes = _slopes(executor, weights, state, rows, targets)
        with torch.no_grad():
            for (name, value), slope in zip(weights.items(), slopes):
                drawn = _normal(value.shape, nets, chains, generators, value)
                velocity[name].mul_(keep).add_(slope, alpha=-pace[name]).add_(
                    value, alpha=-pace[name] / prior[name] ** 2
                )
                value.add_(velocity[name].add_(drawn, alpha=(2 * share * pace[name] * temperature) ** 0.5))
                if t >= burn_in and (t - burn_in + 1) % thin == 0:
                    kept[name][:, (t - burn_in) // thin] = value
        if t % CHECK_EVERY == 0 or t == burn_in + per_chain * thin - 1:
            _check_finite(weights, t, chains)
    return {k: v.unflatten(0, (nets, chains)) for k, v in kept.items()}


def _for_chains(value: Tensor, chains: int) -> Tensor:
    return value.unsqueeze(1).expand(len(value), chains, *value.shape[1:]).flatten(0, 1).contiguous()


def _jittered_start(start: Mapping[str, Tensor], jitter: float, generators: Any) -> dict[str, Tensor]:
    """Return the first weights, (nets * chains, ...), moved by a little noise."""
    out = {}
    for name, value in start.items():
        nets, chains = value.shape[:2]
        first = value.detach().flatten(0, 1)
        out[name] = (first + jitter * _normal(first.shape, nets, chains, generators, first)).requires_grad_()
    return out


def _normal(shape: Sequence[int], nets: int, chains: int, generators: Any, like: Tensor) -> Tensor:
    out = torch.empty((nets, chains, *shape[1:]), device=like.device, dtype=like.dtype)
    for k, generator in enumerate(generators):
        torch.randn(out.shape[1:], generator=generator, out=out[k])
    return out.flatten(0, 1)


def _slopes(executor: Executor, weights: dict[str, Tensor], buffers: Any, rows: Tensor, targets: Tensor) -> Any:
    """Return the gradient of the summed cross-entropy; nets share no weights, so one sum serves all of them."""
    logits = executor(weights, buffers, rows, train=False)
    if logits.shape[2] == 1:
        logits = torch.cat([torch.zeros_like(logits), logits], 2)
    loss = F.cross_entropy(logits.flatten(0, 1), targets, reduction="sum")
    return torch.autograd.grad(loss, list(weights.values()))


def _check_finite(weights: dict[str, Tensor], t: int, chains: int) -> None:
    for name, value in weights.items():
        bad = (~torch.isfinite(value)).flatten(1).any(1).nonzero().flatten().tolist()
        if bad:
            raise FitError(
                f"net {bad[0] // chains}, chain {bad[0] % chains} diverged within {t + 1} steps (weights {name} are not finite); use a "
                "smaller step."
            )
