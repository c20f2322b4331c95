"""Any trained net as one function from a batch of inputs to logits: modules, wrappers that hold one, posteriors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from unseen.core.errors import FitError, InputError, KindError, UnseenError
from unseen.core.notes import Note, note
from unseen.nets.modules.device import device_of, is_out_of_memory
from unseen.nets.modules.inputs import input_tensor
from unseen.nets.modules.layers import eval_mode

__all__ = ["LogitFunction", "inner_module", "logit_function", "plain_output"]

OUTPUTS = ("auto", "logits", "probabilities")
BATCH = 2**26  # numbers in one batch of inputs on a GPU
CPU_BATCH = 2**21  # and on a CPU, where larger batches gain nothing
# convolutions of more than 65,535 images at once are slow: 80,000 took half as long again as four thirds of 60,000
ROWS = 2**15


def inner_module(model: Any) -> nn.Module | None:
    """Return the module of a net or of a fitted wrapper that holds one (`module_`, as skorch and `Classifier` have), else None."""
    if isinstance(model, nn.Module):
        return model
    held = getattr(model, "module_", None)
    return held if isinstance(held, nn.Module) else None


@dataclass(frozen=True, eq=False, kw_only=True)
class LogitFunction:
    """A net as a function of tensors.

    Parameters
    ----------
    raw : function
        Batch of inputs to the net's own outputs.
    module : nn.Module or None
        The module behind it, if there is one.
    device, dtype
        Where and in which precision it computes.
    probabilities : bool
        Whether the outputs are probabilities already; logits are then their logarithms.
    classes : array or None
        Labels of the outputs, if the wrapper knows them.
    notes : list of Note
        Remarks gathered on the way, such as batches that had to be halved.
    most : list of int
        The most rows that one batch may have, one number; it shrinks when memory runs out.

    Examples
    --------
    >>> net = nn.Linear(2, 1)
    >>> view = LogitFunction(raw=net, module=net, device=torch.device("cpu"), dtype=torch.float32)
    >>> view.all_logits(torch.zeros(3, 2)).shape
    torch.Size([3, 2])
    """

    raw: Callable[[torch.Tensor], torch.Tensor]
    module: nn.Module | None
    device: torch.device
    dtype: torch.dtype
    probabilities: bool = False
    classes: Any = None
    notes: list[Note] = field(default_factory=list)
    most: list[int] = field(default_factory=lambda: [ROWS])

    def logits(self, X: torch.Tensor) -> torch.Tensor:
        """Return logits of shape (m, c) of one batch; a single output column z becomes the two columns 0 and z."""
        out = _as_tensor(plain_output(self._run(X)))
        if out.ndim == 1:
            out = out[:, None]
        if out.ndim != 2 or len(out) != len(X):
            raise InputError(
                f"the net turned a batch of shape {tuple(X.shape)} into {tuple(out.shape)}; logits (batch, classes) are needed."
            )
        if self.probabilities:
            out = torch.cat([1 - out, out], 1) if out.shape[1] == 1 else out
            return out.clamp_min(torch.finfo(out.dtype).tiny).log()
        return torch.cat([torch.zeros_like(out), out], 1) if out.shape[1] == 1 else out

    def _run(self, X: torch.Tensor) -> Any:
        """Run the net, turning whatever its code raises into a sentence; memory that runs out is dealt with elsewhere."""
        try:
            return self.raw(X)
        except UnseenError:
            raise
        except Exception as error:  # a net's forward is somebody's code and may raise anything
            if is_out_of_memory(error):
                raise
            raise _cannot_take(X, error) from error

    def map_batches(
        self, function: Callable[..., torch.Tensor], *parts: torch.Tensor, numbers: int | None = None
    ) -> torch.Tensor:
        """Apply a function of row batches piece by piece; a batch that does not fit the memory is halved, with a note."""
        budget = BATCH if self.device.type == "cuda" else CPU_BATCH
        rows = max(1, min(self.most[0], budget // max(1, numbers or parts[0][0].numel())))
        start, out = 0, []
        while start < len(parts[0]):
            try:
                out.append(function(*(part[start : start + rows] for part in parts)))
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                if rows == 1:
                    raise FitError(
                        "memory ran out with one example at a time; use another device or a smaller net."
                    ) from error
                rows = self.most[0] = max(1, min(rows, len(parts[0]) - start) // 2)
                self._replace_note("N021", f"memory was short on {self.device}: batches were halved to {rows} rows")
                if self.device.type == "cuda":
                    torch.cuda.empty_cache()
                continue
            start += rows
        return torch.cat(out)

    def _replace_note(self, code: str, text: str) -> None:
        self.notes[:] = [n for n in self.notes if n.code != code] + [note(code, text)]

    @torch.no_grad()
    def all_logits(self, X: torch.Tensor) -> torch.Tensor:
        """Return logits of any number of rows."""
        return self.map_batches(self.logits, X)


def logit_function(
    model: Any, X: Any, *, device: Any = "auto", outputs: str = "auto", classes: Any = None
) -> tuple[LogitFunction, torch.Tensor]:
    """Return a net as a function of tensors, and its inputs as one tensor on its device.

    Parameters
    ----------
    model : nn.Module, fitted wrapper with `module_`, `Posterior`, or object with predict_proba
        The trained net.
    X : array-like or tensor
        Inputs as the net takes them.
    device : str
        "auto" leaves a module where it lies.
    outputs : {"auto", "logits", "probabilities"}
        What the net returns; "auto" takes rows that are non-negative and sum to 1 for probabilities.
    classes : array-like, optional
        Label of each output; a wrapper's `classes_` by default.
    """
    if outputs not in OUTPUTS:
        raise InputError(f"outputs is {outputs!r}; it is one of {', '.join(OUTPUTS)}.")
    module = inner_module(model)
    where = device_of(device, module if module is not None else getattr(model, "device", None))
    classes = getattr(model, "classes_", None) if classes is None else np.asarray(classes)
    if hasattr(model, "predictive") and hasattr(model, "n_samples"):
        data = input_tensor(X, model.device, model.dtype)
        return LogitFunction(
            raw=model.predictive,
            module=None,
            device=model.device,
            dtype=model.dtype,
            probabilities=True,
            classes=classes,
        ), data
    if module is None:
        return _from_predict_proba(model, X, where, classes)
    first = next((p for p in module.parameters() if p.is_floating_point()), None)
    dtype = torch.float32 if first is None else first.dtype
    if first is not None and first.device != where:
        import copy

        module = copy.deepcopy(module).to(where)
    tokens = _holds_whole_numbers(X) and any(
        isinstance(part, (nn.Embedding, nn.EmbeddingBag)) for part in module.modules()
    )
    data = input_tensor(X, where, None if tokens else dtype)
    probabilities = outputs == "probabilities"
    function = LogitFunction(
        raw=module, module=module, device=where, dtype=dtype, probabilities=probabilities, classes=classes
    )
    trial = _probe_outputs(function, data)
    if outputs == "auto" and _look_like_probabilities(trial, module):
        probabilities = True
    return LogitFunction(
        raw=module,
        module=module,
        device=where,
        dtype=dtype,
        probabilities=probabilities,
        classes=classes,
        notes=function.notes,
    ), data


def plain_output(out: Any) -> Any:
    """Return the logits of nets that give a record with `logits`, or a tuple that begins with them."""
    out = getattr(out, "logits", out)
    return out[0] if isinstance(out, (tuple, list)) else out


def _holds_whole_numbers(X: Any) -> bool:
    kind = X.dtype if isinstance(X, torch.Tensor) else np.asarray(X).dtype
    return not kind.is_floating_point if isinstance(kind, torch.dtype) else kind.kind in "iu"


def _probe_outputs(function: LogitFunction, X: torch.Tensor) -> torch.Tensor:
    """Return the raw outputs of a few rows, turning torch's complaint about their shape into an error of ours."""
    assert function.module is not None
    with torch.no_grad(), eval_mode(function.module):
        out = function.map_batches(lambda rows: _as_tensor(plain_output(function._run(rows))), X[:64])
    if not bool(torch.isfinite(out).all()):
        raise InputError("the net returns NaN or infinite outputs on X; its weights may have diverged in training.")
    return out


def _as_tensor(out: Any) -> torch.Tensor:
    if not isinstance(out, torch.Tensor):
        raise KindError(f"the net returns a {type(out).__name__}; a tensor of logits (batch, classes) is needed.")
    if out.ndim == 0:
        raise InputError("the net turned a batch into a single number; logits (batch, classes) are needed.")
    return out


def _cannot_take(X: torch.Tensor, error: Exception) -> InputError:
    text = (str(error).splitlines() or [""])[0].rstrip(".")
    text = text if isinstance(error, RuntimeError) else f"{type(error).__name__}: {text}"
    return InputError(
        f"the net cannot take inputs of shape {tuple(X.shape[1:])} ({text}); give X as the net was trained on, "
        "channels first for images."
    )


def _look_like_probabilities(out: torch.Tensor, module: nn.Module) -> bool:
    if out.ndim == 1 or out.shape[-1] == 1:
        leaves = [part for part in module.modules() if not any(True for _ in part.children())]
        return isinstance(leaves[-1], nn.Sigmoid)
    if out.ndim != 2 or out.shape[1] < 2 or bool((out < 0).any()):
        return False
    return bool(((out.sum(1) - 1).abs() < 1e-4).all())


def _from_predict_proba(model: Any, X: Any, where: torch.device, classes: Any) -> tuple[LogitFunction, torch.Tensor]:
    if not callable(getattr(model, "predict_proba", None)):
        raise KindError(
            f"{type(model).__name__} is no torch.nn.Module, holds none as module_, and has no predict_proba; give a trained net."
        )

    def raw(batch: torch.Tensor) -> torch.Tensor:
        values = model.predict_proba(batch.cpu().numpy())
        return torch.as_tensor(np.asarray(values), dtype=torch.float32, device=where)

    return LogitFunction(
        raw=raw, module=None, device=where, dtype=torch.float32, probabilities=True, classes=classes
    ), input_tensor(X, where, torch.float32)
