"""The samplers by name: Langevin and Hamiltonian dynamics, dropout, ensembles, the last layer's Laplace approximation."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

from unseen.core.errors import InputError, KindError, NotApplicable, UnknownName
from unseen.core.notes import Note
from unseen.core.rng import RandomState, root_seed, task_seed
from unseen.nets.bayes.langevin import sample_states
from unseen.nets.bayes.laplace import LastLayer, last_layer_posterior, two_columns
from unseen.nets.bayes.posterior import Posterior, posterior_of_chains
from unseen.nets.modules.device import limited_torch
from unseen.nets.modules.inputs import class_codes
from unseen.nets.modules.layers import eval_mode
from unseen.nets.modules.logits import inner_module, logit_function
from unseen.nets.training.classifier import TrainingSpec, inputs_for
from unseen.nets.training.fit_many import fit_many, training_options

__all__ = ["SAMPLERS", "posterior"]

SAMPLERS = ("sghmc", "sgld", "mc-dropout", "ensemble", "laplace")
DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)


@limited_torch()
def posterior(
    module: Any,
    X: Any,
    y: Any,
    sampler: str = "sghmc",
    *,
    n_samples: int = 50,
    burn_in: int = 500,
    thin: int = 20,
    step: float = 0.02,
    temperature: float = 1.0,
    prior_scale: float = 1.0,
    n_chains: int = 4,
    friction: float = 0.1,
    batch_size: int | None = None,
    jitter: float = 0.01,
    predictive: str = "mc",
    training: dict[str, Any] | None = None,
    device: Any = "auto",
    classes: Any = None,
    random_state: RandomState = None,
) -> Posterior:
    """Sample the posterior of a trained net's weights, given its training data and a Gaussian prior.

    Parameters
    ----------
    module : nn.Module, Classifier or wrapper with `module_`
        The trained net, where chains start; it returns logits and is left as it was. Dropout is off and batch statistics are
        fixed while sampling.
    X, y : array-like or tensor
        Its training data.
    sampler : {"sghmc", "sgld", "mc-dropout", "ensemble", "laplace"}
        Hamiltonian or Langevin dynamics; dropout masks kept at prediction, one thinned net per sample; nets trained from
        different first weights; Gaussian around the last layer's weights with the full Gauss-Newton matrix.
    n_samples : int
        Samples in all, rounded up to the same number in every chain.
    burn_in, thin : int
        Steps before the first sample, and between samples.
    step : float
        Step length on the mean loss, as for SGD; the dynamics are exact for small steps only.
    temperature : float
        1 is the posterior; below 1 a colder, narrower one.
    prior_scale : float
        Standard deviation of every weight under the prior.
    n_chains : int
        Chains run side by side; R-hat compares them.
    friction : float
        Of "sghmc", between 0 and 1.
    batch_size : int, optional
        Rows per step; all by default, in pieces that fit the memory. Smaller batches add noise that is not corrected for.
    jitter : float
        Standard deviation of the starting points around the trained weights.
    predictive : {"mc", "probit"}
        For "laplace": samples of the weights, or logits shrunk by 1/sqrt(1 + pi/8 variance) (one sample, no noise). The two
        differ if the variance is large.
    training : dict
        For "ensemble": options of `fit_many`; a `Classifier` knows its own.
    device, classes
        As in `estimate`.
    random_state : int, Generator or None
        Same seed, same samples on one kind of device.

    Returns
    -------
    Posterior

    References
    ----------
    Welling, M. and Teh, Y. W. (2011); Chen, T., Fox, E. B. and Guestrin, C. (2014); Gal, Y. and Ghahramani, Z. (2016).
    Dropout as a Bayesian approximation. ICML; Lakshminarayanan, B. et al. (2017). Deep ensembles. NeurIPS; MacKay (1992).

    Examples
    --------
    >>> import torch, unseen.nets
    >>> X = torch.randn(30, 2, generator=torch.Generator().manual_seed(0))
    >>> p = unseen.nets.posterior(torch.nn.Linear(2, 2), X, (X[:, 0] > 0).long(), sampler="sgld", n_samples=8, burn_in=50, random_state=0)
    >>> p.logits(X).shape
    torch.Size([8, 30, 2])
    """
    if sampler not in SAMPLERS:
        raise UnknownName("sampler", sampler, SAMPLERS)
    _check_counts(n_samples=n_samples, thin=thin, n_chains=n_chains, burn_in=burn_in, batch_size=batch_size)
    _check_numbers(step=step, temperature=temperature, prior_scale=prior_scale, friction=friction, jitter=jitter)
    if inner_module(module) is None:
        raise KindError(f"{type(module).__name__} holds no torch module; a posterior of weights needs one.")
    spec, X = TrainingSpec.of(module), inputs_for(module, X)
    function, data = logit_function(module, X, device=device, classes=classes)
    assert function.module is not None
    if function.probabilities:
        raise InputError(
            "the net returns probabilities; a posterior of weights needs its logits: leave out the softmax or sigmoid at its end."
        )
    with eval_mode(function.module):
        width = function.all_logits(data[:2]).shape[1]
    codes, labels = class_codes(y, width, function.classes, len(data))
    target, seed = torch.as_tensor(codes, device=function.device), root_seed(random_state)
    net = copy.deepcopy(function.module).eval()
    if sampler == "mc-dropout":
        return _by_dropout(net, data, n_samples, seed, labels)
    if sampler == "ensemble":
        return _by_ensemble(
            net if spec.factory is None else spec.factory,
            data,
            target,
            n_samples,
            seed,
            training or spec.training,
            labels,
        )
    if sampler == "laplace":
        if predictive not in ("mc", "probit"):
            raise UnknownName("predictive", predictive, ("mc", "probit"))
        last = last_layer_posterior(net, data, target, prior_scale, temperature)
        return _by_laplace(last, data, n_samples, predictive, seed, labels)
    notes: list[Note] = []
    states = sample_states(
        net,
        data,
        target,
        kind=sampler,
        per_chain=-(-n_samples // n_chains),
        chains=n_chains,
        burn_in=int(burn_in),
        thin=thin,
        step=step,
        temperature=temperature,
        prior_scale=prior_scale,
        friction=friction,
        batch_size=batch_size,
        jitter=jitter,
        seed=task_seed(seed, "chains"),
        notes=notes,
    )
    return posterior_of_chains(net, states, data, sampler, labels, notes, n_samples)


def _check_counts(**whole: Any) -> None:
    for name, value in whole.items():
        least = 0 if name == "burn_in" else 1
        if name == "batch_size" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"{name} is {value!r}; it is a whole number of at least {least}.")


def _check_numbers(**numbers: Any) -> None:
    for name, value in numbers.items():
        known = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
        if name == "jitter" and known and 0 <= value < np.inf:
            continue
        high = 1.0 if name == "friction" else np.inf
        if not known or not 0 < value <= high or value == np.inf:
            wanted = (
                "above 0 and at most 1" if name == "friction" else "of at least 0" if name == "jitter" else "above 0"
            )
            raise InputError(f"{name} is {value!r}; it is a number {wanted}.")


def _by_dropout(net: nn.Module, X: Any, count: int, seed: int, labels: Any) -> Posterior:
    layers = [part for part in net.modules() if isinstance(part, DROPOUTS) and part.p > 0]
    if not layers:
        raise NotApplicable("mc-dropout needs a net with dropout layers of a positive rate; this one has none.")

    def mask_hook(number: int, sample: int) -> Any:
        def hook(layer: Any, _: Any, output: Any) -> Any:
            shape = (
                output.shape[1:]
                if isinstance(layer, (nn.Dropout, nn.AlphaDropout))
                else (output.shape[1], *[1] * (output.ndim - 2))
            )
            generator = torch.Generator().manual_seed(task_seed(seed, "mask", number, sample))
            kept = torch.rand(shape, generator=generator) >= layer.p
            return output * kept.to(output) / (1 - layer.p) if layer.p < 1 else torch.zeros_like(output)

        return hook

    def draw(batch: Any) -> Any:
        out = []
        for sample in range(count):
            handles = [layer.register_forward_hook(mask_hook(k, sample)) for k, layer in enumerate(layers)]
            try:
                out.append(two_columns(net(batch)))
            finally:
                for handle in handles:
                    handle.remove()
        return torch.stack(out)

    return Posterior(
        sampler="mc-dropout", n_samples=count, draw=draw, fixed=None, device=X.device, dtype=X.dtype, classes_=labels
    )


def _by_ensemble(net: Any, X: Any, codes: Any, count: int, seed: int, training: Any, labels: Any) -> Posterior:
    if training is None:
        raise InputError(
            "an ensemble trains the net from other first weights: give training=dict(epochs=, batch_size=, lr=, ...)."
        )
    seeds = [task_seed(seed, "member", k) for k in range(count)]
    fits = fit_many(net, X, codes, None, seeds=seeds, device=X.device, dtype=X.dtype, **training_options(training))
    fits.demand_all("the member of the ensemble number")
    return Posterior(
        sampler="ensemble",
        n_samples=count,
        draw=lambda batch: two_columns(fits.logits(batch)),
        fixed=None,
        device=X.device,
        dtype=X.dtype,
        classes_=labels,
    )


def _by_laplace(last: LastLayer, X: Any, count: int, predictive: str, seed: int, labels: Any) -> Posterior:
    if predictive == "probit":
        return Posterior(
            sampler="laplace (probit)",
            n_samples=1,
            draw=last.probit_logits,
            fixed=None,
            device=X.device,
            dtype=X.dtype,
            classes_=labels,
        )
    weights = last.samples(count, task_seed(seed, "laplace"))
    return Posterior(
        sampler="laplace",
        n_samples=count,
        draw=lambda batch: last.sampled_logits(batch, weights),
        fixed=None,
        device=X.device,
        dtype=X.dtype,
        classes_=labels,
    )
