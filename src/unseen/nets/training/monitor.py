"""Training progress of any torch loop: errors, Pineda's P and the weight vector by epoch, and when to stop (Hutton, 1992)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.models.progress import TrainingProgress, targets_of, weight_summary
from unseen.nets.files.progress import KIND, NAMES, append_line, progress_of, read_lines
from unseen.nets.modules.inputs import class_codes
from unseen.nets.modules.layers import eval_mode
from unseen.nets.modules.logits import LogitFunction, logit_function

__all__ = ["Monitor"]

TAKEN = ("epoch", *NAMES, "train_wrong", "monitor_wrong", "done", "kind")


class Monitor:
    """Call it after every epoch of a training loop of your own; it looks, never touches.

    Parameters
    ----------
    module : nn.Module
        What is being trained.
    X, y : array-like or tensor
        What it is trained on.
    X_monitor, y_monitor : array-like or tensor
        What is only looked at, never trained on.
    path : path, optional
        File for the record as JSON lines, each on the disk when the call returns; `unseen nets monitor` shows it live.
    resume : bool
        Go on with a record that is there already; otherwise one that is there is an error.
    patience : int, optional
        `stop` becomes True after so many epochs without a new smallest monitored error.
    keep_best : bool
        Keep a copy of the weights of the best epoch, for `restore()`.
    classes : array-like, optional
        Label of each output; numbers 0, 1, ... by default.
    task : {"auto", "classes", "numbers"}
        Whether targets are classes or numbers; "auto" takes fractions for numbers, everything else for classes.

    Attributes
    ----------
    stop : bool
        Whether patience has run out.
    best_epoch : int
        Epoch, counted from 1, with the smallest monitored error.
    progress : TrainingProgress
        E_m and P of both parts, angle, rate, length and normalised variance of the weight vector, by epoch; `progress.plot()`.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> import torch
    >>> torch.manual_seed(0) is not None
    True
    >>> X = torch.randn(60, 3)
    >>> y = (X[:, 0] > 0).long()
    >>> net = torch.nn.Linear(3, 2)
    >>> optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    >>> watch = Monitor(net, X[:40], y[:40], X[40:], y[40:], patience=20)
    >>> for epoch in range(30):
    ...     optimizer.zero_grad()
    ...     torch.nn.functional.cross_entropy(net(X[:40]), y[:40]).backward()
    ...     optimizer.step()
    ...     line = watch()
    >>> line["epoch"], line["monitor_wrong"] < 0.3, bool(watch.progress.monitor_p[-1] > watch.progress.monitor_p[0])
    (30, True, True)
    """

    def __init__(
        self,
        module: nn.Module,
        X: Any,
        y: Any,
        X_monitor: Any,
        y_monitor: Any,
        *,
        path: str | PathLike[str] | None = None,
        resume: bool = False,
        patience: int | None = None,
        keep_best: bool = True,
        classes: Any = None,
        task: str = "auto",
    ) -> None:
        if not isinstance(module, nn.Module):
            raise KindError(f"module is a {type(module).__name__}; give the torch.nn.Module that is being trained.")
        if patience is not None and (not isinstance(patience, (int, np.integer)) or patience < 1):
            raise InputError(f"patience is {patience!r}; a whole number of at least one epoch is needed.")
        if task not in ("auto", "classes", "numbers"):
            raise UnknownName("task", task, ("auto", "classes", "numbers"))
        self.module, self.patience, self.keep_best, self.task = module, patience, keep_best, task
        self._logits, first = logit_function(module, X, classes=classes)
        _, second = logit_function(module, X_monitor, classes=classes)
        self._parts = [(first, *self._target(y, first)), (second, *self._target(y_monitor, second))]
        self._spread = [float(target.var(axis=0).mean()) for _, target, _ in self._parts]
        self.lines: list[dict[str, Any]] = []
        self._best_state: dict[str, Any] | None = None
        self._best_error, self.best_epoch = float("inf"), 0
        self.path = None if path is None else Path(path)
        if self.path is not None:
            self._open(self.path, resume)

    def _target(self, y: Any, X: Any) -> tuple[Floats, Any]:
        """Return targets as columns, and class codes (None for numbers)."""
        values = np.asarray(y.detach().cpu() if isinstance(y, torch.Tensor) else y)
        fractions = values.dtype.kind == "f" and not np.array_equal(values, np.round(values))
        if self.task == "numbers" or (self.task == "auto" and fractions):
            return targets_of(values, None), None
        with torch.no_grad(), eval_mode(self.module):
            width = self._logits.logits(X[:2]).shape[1]
        codes, _ = class_codes(values, width, self._logits.classes, len(X))
        return targets_of(codes, np.arange(width)), codes

    def _open(self, path: Path, resume: bool) -> None:
        parameters = sum(p.numel() for p in self.module.parameters())
        if path.exists() and path.stat().st_size > 0:
            if not resume:
                raise InputError(f"{str(path)!r} is there already; give another name, or resume=True to go on with it.")
            header, lines = read_lines(path)
            if header.get("parameters") != parameters:
                raise InputError(
                    f"{str(path)!r} is the record of a net with {header.get('parameters')} weights, this one has {parameters}."
                )
            self.lines = [line for line in lines if "epoch" in line]
            watched = [line["monitor_error"] for line in self.lines if line["monitor_error"] is not None]
            if watched:
                self._best_error = min(watched)
                self.best_epoch = next(
                    line["epoch"] for line in self.lines if line["monitor_error"] == self._best_error
                )
            content = path.read_bytes()
            path.write_bytes(content[: content.rfind(b"\n") + 1])  # a line cut short by a crash
            return
        head = {
            "kind": KIND,
            "module": type(self.module).__name__,
            "parameters": parameters,
            "target_variance": self._spread[0],
        }
        append_line(path, {**head, "started": time.strftime("%Y-%m-%dT%H:%M:%S%z")})

    def __call__(self, **more: float) -> dict[str, Any]:
        """Record an epoch and return its line; numbers of your own, such as the loss, are kept in it by name."""
        own = _own_numbers(more)
        with torch.no_grad(), eval_mode(self.module):
            (train, train_wrong), (watched, watched_wrong) = (self._errors(*part) for part in self._parts)
        weights = torch.cat([p.detach().flatten().double() for p in self.module.parameters()]).cpu().numpy()
        angle, length, variance = weight_summary(weights)
        before = self.lines[-1]["angle"] if self.lines else None
        line = {
            "epoch": len(self.lines) + 1,
            "train_error": train,
            "monitor_error": watched,
            "train_p": _p(train, self._spread[0]),
            "monitor_p": _p(watched, self._spread[1]),
            "angle": angle,
            "rate": float("nan") if before is None else abs(angle - before),
            "length": length,
            "variance": variance,
            "train_wrong": train_wrong,
            "monitor_wrong": watched_wrong,
            **own,
        }
        self.lines.append(line)
        if watched < self._best_error:
            self._best_error, self.best_epoch = watched, len(self.lines)
            if self.keep_best:
                self._best_state = {k: v.detach().clone() for k, v in self.module.state_dict().items()}
        if self.path is not None:
            append_line(self.path, line)
        return line

    def follow(self, epoch: int, running: Mapping[int, nn.Module]) -> None:
        """Record an epoch of the first net in training with `Classifier` or `fit_many`: give this as their `after_epoch`.

        The weights go into the module that the monitor was made with, which has the same architecture.

        Examples
        --------
        >>> import unseen.nets as nets
        >>> X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
        >>> watch = nets.Monitor(nets.make_mlp(3, 2), X[:40], y[:40], X[40:], y[40:])
        >>> net = nets.Classifier(nets.make_mlp, epochs=5, device="cpu", random_state=0, after_epoch=watch.follow).fit(X[:40], y[:40])
        >>> len(watch.lines) == net.n_epochs_
        True
        """
        module = running[min(running)]
        theirs, ours = ({k: tuple(v.shape) for k, v in m.state_dict().items()} for m in (module, self.module))
        if theirs != ours:
            raise InputError(
                "the net in training has another architecture than the module that the monitor was made with."
            )
        self.module.load_state_dict(module.state_dict())
        self()

    def _errors(self, X: Any, target: Floats, codes: Any) -> tuple[float, float]:
        """Return the mean squared difference of targets and outputs, and the share of wrong classes."""
        function: LogitFunction = self._logits
        if codes is None:
            out = function.map_batches(function.raw, X).double().cpu().numpy().reshape(len(X), -1)
            return float(np.square(target - out).mean()), float("nan")
        p = function.all_logits(X).double().softmax(1).cpu().numpy()
        wrong = float((p.argmax(1) != codes).mean())
        return float(np.square(target - (p[:, 1:] if p.shape[1] == 2 else p)).mean()), wrong

    @property
    def stop(self) -> bool:
        """Whether there was no new smallest monitored error for `patience` epochs."""
        return self.patience is not None and len(self.lines) - self.best_epoch >= self.patience

    @property
    def progress(self) -> TrainingProgress:
        """The record so far."""
        if not self.lines:
            raise InputError("nothing is recorded yet; call the monitor after an epoch.")
        return progress_of(self.lines, self._spread[0])

    def restore(self) -> int:
        """Put the weights of the best epoch back into the module and return that epoch."""
        if self._best_state is None:
            raise InputError(
                "no weights are kept; the monitor needs keep_best=True and an epoch recorded in this process."
            )
        self.module.load_state_dict(self._best_state)
        return self.best_epoch

    def close(self, reason: str = "done") -> None:
        """Write into the record that training has ended, and why."""
        if self.path is not None:
            append_line(self.path, {"done": reason})


def _own_numbers(more: dict[str, Any]) -> dict[str, float]:
    """Return numbers that the user records beside ours."""
    out = {}
    for name, value in more.items():
        if name in TAKEN:
            raise InputError(f"{name} is a number that the monitor itself records; give yours another name.")
        try:
            out[name] = float(value)
        except (TypeError, ValueError, RuntimeError) as error:
            raise KindError(f"{name} is {value!r}; one number per epoch is kept.") from error
    return out


def _p(error: float, spread: float) -> float:
    return 1 - error / spread if spread > 0 else float("nan")
