"""Samples from the posterior of a net, whatever made them, behind one contract: logits of shape (S, n, c)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.func import functional_call

from unseen.core.errors import InputError, KindError, NotApplicable
from unseen.core.notes import Note, note
from unseen.core.result import Result
from unseen.nets.bayes.chains import effective_size, largest_r_hat
from unseen.nets.modules.device import device_of, limited_torch
from unseen.nets.modules.inputs import input_tensor
from unseen.nets.modules.layers import eval_mode
from unseen.nets.modules.logits import LogitFunction

__all__ = ["Posterior", "posterior_of_states"]

WATCHED = 50  # training rows whose logits the diagnostics follow: more cost time and add little
SETTLED = 1.05  # largest R-hat of settled chains, stricter than the 1.1 of Gelman et al. (2013)


@dataclass(frozen=True, eq=False, kw_only=True)
class Posterior(Result):
    """A net with uncertain weights, as samples of its logits.

    Parameters
    ----------
    sampler : str
        What made the samples.
    n_samples : int
        S; 1 for a predictive in closed form, 0 if a function is given and the number is not known.
    draw : function or None
        Batch of inputs to logits of shape (S, m, c).
    fixed : tensor or None
        Logits given for the training rows alone, shape (S, n, c).
    device, dtype
        Where and in which precision it computes.
    r_hat, ess : float
        Largest split R-hat and smallest effective sample size over watched logits; NaN if there are no chains.
    notes : tuple of Note
        Such as chains that have not settled.
    classes_ : array or None
        Labels of the outputs, if known.

    Examples
    --------
    >>> net = nn.Linear(2, 3)
    >>> p = Posterior.from_states(net, [net.state_dict(), nn.Linear(2, 3).state_dict()])
    >>> p.logits(np.zeros((4, 2))).shape, p.probabilities(np.zeros((4, 2))).shape
    (torch.Size([2, 4, 3]), (4, 3))
    """

    sampler: str
    n_samples: int
    draw: Callable[[Any], Any] | None = field(repr=False, metadata={"shown": False})
    fixed: Any = field(default=None, repr=False, metadata={"shown": False})
    device: Any = field(default=torch.device("cpu"), metadata={"shown": False})
    dtype: Any = field(default=torch.float32, metadata={"shown": False})
    r_hat: float = float("nan")
    ess: float = float("nan")
    notes: tuple[Note, ...] = ()
    classes_: Any = field(default=None, repr=False)

    @limited_torch()
    def logits(self, X: Any) -> Any:
        """Return sampled logits of shape (S, n, c), batch by batch."""
        data = input_tensor(X, self.device, self.dtype)
        function = LogitFunction(raw=lambda x: x, module=None, device=self.device, dtype=self.dtype)
        with torch.no_grad():
            return function.map_batches(lambda x: self._draw_logits(x).transpose(0, 1), data).transpose(0, 1)

    def predictive(self, X: Any) -> Any:
        """Return the softmax averaged over samples, shape (m, c), for one batch on the device."""
        return self._draw_logits(X).softmax(2).mean(0)

    def probabilities(self, X: Any) -> Any:
        """Return the posterior predictive probabilities as an array of shape (n, c)."""
        return self.logits(X).softmax(2).mean(0).cpu().numpy()

    def _draw_logits(self, X: Any) -> Any:
        if self.draw is None:
            raise NotApplicable(
                "these samples are logits of the training rows alone; at other points a net or its weights are needed."
            )
        return self.draw(X)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row: sampler, samples and diagnostics."""
        return [{"sampler": self.sampler, "n_samples": self.n_samples, "r_hat": self.r_hat, "ess": self.ess}]

    def __str__(self) -> str:
        text = f"{self.sampler} posterior" + (
            f", {self.n_samples} sample{'s' if self.n_samples > 1 else ''}" if self.n_samples else ""
        )
        return (
            text
            if np.isnan(self.r_hat)
            else f"{text}, largest R-hat {self.r_hat:.3f}, smallest effective size {self.ess:.0f}"
        )

    @classmethod
    def from_logits(cls, logits: Any) -> Posterior:
        """Return the posterior that your own samples of logits stand for: an array (S, n, c) for the training rows in their order,
        or a function from a batch of inputs to (S, m, c).

        Examples
        --------
        >>> Posterior.from_logits(np.zeros((5, 10, 3))).n_samples
        5
        """
        if callable(logits):
            return cls(sampler="given", n_samples=0, draw=logits)
        given = np.asarray(logits.detach().cpu() if isinstance(logits, torch.Tensor) else logits)
        if given.dtype.kind not in "fiu":
            raise KindError(
                f"logits hold {given.dtype}; give numbers of shape (samples, rows, classes), or a function of inputs."
            )
        values = torch.as_tensor(given, dtype=torch.float32)
        if values.ndim != 3 or not bool(torch.isfinite(values).all()):
            raise InputError(
                f"logits have shape {tuple(values.shape)}; finite numbers of shape (samples, rows, classes) are needed."
            )
        return cls(sampler="given", n_samples=len(values), draw=None, fixed=values)

    @classmethod
    def from_states(cls, module: nn.Module, states: Sequence[Any], device: Any = "auto") -> Posterior:
        """Return the posterior that your own samples of weights stand for: state dicts of one module."""
        if not isinstance(module, nn.Module):
            raise KindError(f"module is a {type(module).__name__}; give a torch.nn.Module.")
        expected = {k: tuple(v.shape) for k, v in module.state_dict().items()}
        for number, state in enumerate(states):
            if not isinstance(state, Mapping) or not all(isinstance(v, torch.Tensor) for v in state.values()):
                raise KindError(
                    f"state {number} is a {type(state).__name__}; give state dictionaries: names to tensors."
                )
            if {k: tuple(v.shape) for k, v in state.items()} != expected:
                raise InputError(f"state {number} does not fit the module: names or shapes differ.")
        if not states:
            raise InputError("no states are given; at least one is needed.")
        where = device_of(device, module)
        stacked = {k: torch.stack([torch.as_tensor(s[k]) for s in states]).to(where) for k in expected}
        return posterior_of_states(module.to(where), stacked, "given")


def posterior_of_states(module: nn.Module, states: dict[str, Any], sampler: str, **more: Any) -> Posterior:
    """Return the posterior of weights stacked over samples."""
    count = len(next(iter(states.values())))
    first = next(p for p in module.parameters() if p.is_floating_point())

    def one(s: int, X: Any) -> Any:
        state = {k: v[s] for k, v in states.items()}
        return LogitFunction(
            raw=lambda x: functional_call(module, state, (x,)), module=None, device=X.device, dtype=X.dtype
        ).logits(X)

    def draw(X: Any) -> Any:
        with eval_mode(module):
            return torch.stack([one(s, X) for s in range(count)])

    return Posterior(
        sampler=sampler, n_samples=count, draw=draw, fixed=None, device=first.device, dtype=first.dtype, **more
    )


def posterior_of_chains(
    module: nn.Module,
    states: dict[str, Any],
    X: Any,
    sampler: str,
    classes: Any,
    notes: Sequence[Note] = (),
    count: int | None = None,
) -> Posterior:
    """Return the posterior of weights (chains, draws, ...) with diagnostics of the logits of some training rows.

    The chains are of one length; if `count` is smaller than their draws together, the last chains go without their first draws.
    """
    chains, draws = next(iter(states.values())).shape[:2]
    flat = {k: v.flatten(0, 1) for k, v in states.items()}
    spare = 0 if count is None else chains * draws - count
    left_out = {(chains - 1 - k) * draws for k in range(spare)}
    kept = [k for k in range(chains * draws) if k not in left_out]
    bare = posterior_of_states(module, flat, sampler)
    z = bare.logits(X[:WATCHED])
    z = (z - z.mean(2, keepdim=True)).double().cpu().numpy().reshape(chains, draws, -1)
    z = z[:, :, np.ptp(z, axis=(0, 1)) > 0]
    flat = {k: v[kept] for k, v in flat.items()} if spare else flat
    if z.shape[2] == 0:
        return posterior_of_states(module, flat, sampler, notes=tuple(notes), classes_=classes)
    r_hat, limit = largest_r_hat(z)
    ess = min(effective_size(z[..., k]) for k in range(z.shape[2]))
    if r_hat > max(SETTLED, limit):
        said = f"largest R-hat {r_hat:.3f} over the logits of {len(X[:WATCHED])} training rows; settled chains of {draws} independent draws stay below {limit:.3f}"
        notes = (*notes, note("N020", said))
    return posterior_of_states(module, flat, sampler, r_hat=r_hat, ess=ess, notes=tuple(notes), classes_=classes)
