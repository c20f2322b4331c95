"""What `fit_many` returns: the weights of all nets, stacked, their logits and how training went."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unseen.core.errors import FitError, InputError
from unseen.nets.modules.device import exact_float32, is_out_of_memory, limited_torch, rows_at_once, tensor_of
from unseen.nets.training.dropout import dropouts_of, with_seeded_dropout
from unseen.nets.training.executors import Executor

__all__ = ["Fits"]


@dataclass(eq=False, kw_only=True)
class Fits:
    """Nets trained by `fit_many`.

    Attributes
    ----------
    params, buffers : dict of str to Tensor
        Weights and buffers, stacked: (S, ...) each.
    epochs, best_epochs : ndarray of int, (S,)
        Epochs trained, and the epoch (from 1) whose weights were kept if a validation share decided (else 0).
    history : list of dict of str to ndarray
        Per net: `train_loss` and, if measured, `validation_loss`, `validation_accuracy`, `evaluated_loss` and
        `evaluated_accuracy` (evaluation mode, all training rows), one number per epoch.
    reasons : list of str
        Why each net stopped.
    how : str
        How they were trained: "grouped convolutions, CUDA graph", "batched (vmap)", "one by one: <reason>".
    notes : list of str
        What the user should know, such as nets that diverged or memory that ran out.

    Examples
    --------
    >>> import numpy as np, unseen.nets as nets
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    >>> fits = nets.fit_many(nets.make_mlp, X + 3 * y[:, None], y, [range(40), range(20, 60)], seeds=[1, 2], epochs=5)
    >>> fits.logits(X).shape, fits.probabilities(X).sum(2).round().unique().tolist()
    (torch.Size([2, 60, 2]), [1.0])
    >>> type(fits.module(1)).__name__, fits.epochs.tolist()
    ('Sequential', [5, 5])
    """

    params: dict[str, Tensor]
    buffers: dict[str, Tensor]
    epochs: np.ndarray
    best_epochs: np.ndarray
    history: list[dict[str, np.ndarray]]
    reasons: list[str]
    how: str
    n_classes: int
    sample_shape: tuple[int, ...]
    template: nn.Module
    executor: Executor
    notes: list[str] = field(default_factory=list)
    tf32: bool = False
    eval_batch: int | None = None

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(iter(self.params.values())).device

    @property
    def dtype(self) -> torch.dtype:
        """Kind of the weights."""
        return next(v.dtype for v in self.params.values() if v.is_floating_point())

    @property
    def failed(self) -> np.ndarray:
        """True for nets whose loss became NaN or infinite."""
        return np.array(["NaN" in reason for reason in self.reasons])

    def demand_all(self, what: str) -> Fits:
        """Return the nets, or raise if the loss of one of them became NaN: its weights would spoil what is made of all."""
        if self.failed.any():
            k = int(np.flatnonzero(self.failed)[0])
            raise FitError(
                f"{what} {k} of {len(self)} failed: {self.reasons[k]}; use a smaller lr, or scale the features."
            )
        return self

    def module(self, i: int) -> nn.Module:
        """Return net `i` as a plain module in evaluation mode, on the CPU, with weights of its own."""
        if not -len(self) <= i < len(self):
            raise InputError(f"net {i} was asked for, but there are nets 0 to {len(self) - 1}.")
        net = copy.deepcopy(self.template).to(self.dtype)
        with torch.no_grad():
            for name, value in net.named_parameters():
                value.copy_(self.params[name][i])
            for name, value in net.named_buffers():
                value.copy_(self.buffers[name][i])
        return net.eval()

    def take(self, nets: Sequence[int]) -> Fits:
        """Return some of the nets, in the order named."""
        chosen = [range(len(self))[int(i)] for i in nets]
        where = torch.tensor(chosen, device=self.device)
        return Fits(
            params={k: v[where] for k, v in self.params.items()},
            buffers={k: v[where] for k, v in self.buffers.items()},
            epochs=self.epochs[chosen],
            best_epochs=self.best_epochs[chosen],
            history=[self.history[i] for i in chosen],
            reasons=[self.reasons[i] for i in chosen],
            how=self.how,
            n_classes=self.n_classes,
            sample_shape=self.sample_shape,
            template=self.template,
            executor=self.executor,
            notes=list(self.notes),
            tf32=self.tf32,
            eval_batch=self.eval_batch,
        )

    @limited_torch()
    @torch.no_grad()
    def logits(self, X: Any, *, own: bool = False, batch: int | None = None) -> Tensor:
        """Return logits (S, n, c) in evaluation mode, on the device of the weights.

        Parameters
        ----------
        X : array or Tensor
            Examples that all nets see, (n, ...), or, with `own`, examples of each net, (S, n, ...).
        own : bool
            Whether X has a first axis over nets.
        batch : int, optional
            Examples, summed over nets, in memory at once; chosen from the size of an example by default and halved
            when memory runs out.
        """
        X = X if isinstance(X, Tensor) else tensor_of(X)
        lead = 2 if own else 1
        if tuple(X.shape[lead:]) != self.sample_shape or (own and X.shape[0] != len(self)):
            raise InputError(
                f"the nets read examples of shape {self.sample_shape}; X has shape {tuple(X.shape)}"
                f"{f', and must start with one axis over the {len(self)} nets' if own else ''}."
            )
        n = X.shape[lead - 1]
        out = torch.empty(len(self), n, self.n_classes, dtype=self.dtype, device=self.device)
        size = batch or self.eval_batch or rows_at_once(self.sample_shape, self.device)
        start, width = 0, max(1, size // len(self))
        with exact_float32(self.tf32):
            while start < n:
                part = X[:, start : start + width] if own else X[start : start + width]
                try:
                    rows = part.to(self.device, self.dtype, copy=True)  # a forward pass may write to its input
                    out[:, start : start + width] = self.executor(
                        self.params, self.buffers, rows, train=False, shared=not own
                    )
                except (torch.OutOfMemoryError, RuntimeError) as error:
                    if width == 1 or not is_out_of_memory(error):
                        raise
                    width = max(1, width // 2)
                    continue
                start += width
        return out

    def probabilities(self, X: Any, *, own: bool = False, batch: int | None = None) -> Tensor:
        """Return the softmax of the logits, (S, n, c)."""
        return torch.softmax(self.logits(X, own=own, batch=batch), dim=2)

    def named_dropouts(self) -> list[str]:
        """Return the paths of dropout layers."""
        return [path for path, _ in dropouts_of(with_seeded_dropout(self.template))]
