"""The epochs of a group: stop each net by its own rule, keep its best weights, drop stopped nets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from unseen.nets._group import Group, Job

__all__ = ["Record", "train_group"]

COLUMNS = ("train_loss", "validation_loss", "validation_accuracy", "evaluated_loss", "evaluated_accuracy")


@dataclass(kw_only=True)
class Record:
    """What training left of each net of a call."""

    params: dict[str, Tensor]
    buffers: dict[str, Tensor]
    epochs: np.ndarray
    best_epochs: np.ndarray
    reasons: list[str]
    history: list[dict[str, list[float]]] = field(default_factory=list)

    @classmethod
    def empty(cls, params: dict[str, Tensor], buffers: dict[str, Tensor]) -> Record:
        """Return a record of nets not yet trained, at their first weights."""
        nets = len(next(iter(params.values())))
        history: list[dict[str, list[float]]] = [{} for _ in range(nets)]
        first, second = ({k: v.clone() for k, v in d.items()} for d in (params, buffers))
        return cls(
            params=first,
            buffers=second,
            epochs=np.zeros(nets, np.int64),
            best_epochs=np.zeros(nets, np.int64),
            reasons=[""] * nets,
            history=history,
        )


class _Best:
    """The weights of each net at its lowest validation loss."""

    def __init__(self, group: Group) -> None:
        self.loss = torch.full((len(group.nets),), torch.inf, dtype=torch.float64, device=group.alive.device)
        self.waited = torch.zeros(len(group.nets), dtype=torch.int64, device=group.alive.device)
        self.state = {k: v.detach().clone() for k, v in {**group.params, **group.buffers}.items()}

    @torch.no_grad()
    def update(self, group: Group, loss: Tensor) -> Tensor:
        better = group.alive & (loss < self.loss)
        self.loss = torch.where(better, loss, self.loss)
        self.waited = torch.where(better, 0, self.waited + 1)
        for name, value in {**group.params, **group.buffers}.items():
            wide = better.reshape(-1, *([1] * (value.dim() - 1)))
            self.state[name] = torch.where(wide, value, self.state[name])
        return better

    @torch.no_grad()
    def restore(self, group: Group, which: Tensor) -> None:
        for name, value in {**group.params, **group.buffers}.items():
            wide = which.reshape(-1, *([1] * (value.dim() - 1)))
            value.copy_(torch.where(wide, self.state[name], value))

    def pick(self, keep: Tensor) -> None:
        self.loss, self.waited = self.loss[keep], self.waited[keep]
        self.state = {k: v[keep] for k, v in self.state.items()}


def train_group(job: Job, nets: Sequence[int], record: Record, advance: Callable[[int], None]) -> None:
    """Train nets together and write what became of them into the record."""
    chosen = torch.tensor(list(nets), device=job.X.device)
    group = Group(
        job, nets, {k: v[chosen] for k, v in record.params.items()}, {k: v[chosen] for k, v in record.buffers.items()}
    )
    best = _Best(group) if job.settings.stop == "patience" else None
    for i in nets:
        record.history[i] = {}
    with group.own_generator():
        for epoch in range(job.settings.epochs):
            running = [i for i, on in zip(group.nets, group.alive.tolist()) if on]
            measured, reasons = _epoch(group, best, epoch, record)
            _note(record, group, running, epoch, measured, reasons)
            advance(len(running))
            alive = int(group.alive.sum())
            if alive == 0:
                break
            if group.worth_dropping(alive):
                _write(record, group)
                keep = group.alive.nonzero().flatten()
                group.pick(keep)
                if best is not None:
                    best.pick(keep)
    _finish(record, group, best)


def _epoch(group: Group, best: _Best | None, epoch: int, record: Record) -> tuple[dict[str, list[float]], list[str]]:
    """Run one epoch and decide who stops; return what was measured, by column, and the reasons, by net."""
    settings, was = group.job.settings, group.alive.clone()
    measured: dict[str, Tensor] = {"train_loss": group.train_epoch(epoch)}
    if settings.after_epoch is not None:
        settings.after_epoch(epoch + 1, group)
    lost = was & ~torch.isfinite(measured["train_loss"])
    stopped = torch.zeros_like(was)
    why = ""
    if best is not None:
        loss, accuracy = group.evaluate(group.sets.kept, group.sets.kept_lengths)
        measured |= {"validation_loss": loss, "validation_accuracy": accuracy}
        better = best.update(group, loss)
        for s in better.nonzero().flatten().tolist():
            record.best_epochs[group.nets[s]] = epoch + 1
        stopped = best.waited >= settings.patience
        why = f"no lower validation loss for {settings.patience} epochs"
    elif settings.stop != "none":
        loss, accuracy = group.evaluate(group.sets.rows, group.sets.lengths)
        measured |= {"evaluated_loss": loss, "evaluated_accuracy": accuracy}
        target = settings.target
        stopped = loss < target if settings.stop == "train-loss" else accuracy >= target
        why = (
            f"training loss below {target:g}"
            if settings.stop == "train-loss"
            else f"training accuracy reached {target:g}"
        )
    if "validation_loss" in measured or "evaluated_loss" in measured:
        lost |= was & ~torch.isfinite(loss)
    stopped = stopped & was & ~lost
    group.alive &= ~(stopped | lost)
    if best is not None:
        best.restore(group, stopped | lost)
    gone, reached = lost.tolist(), stopped.tolist()
    reasons = [
        f"the loss became NaN or infinite in epoch {epoch + 1}" if g else why if r else ""
        for g, r in zip(gone, reached)
    ]
    return {name: values.double().tolist() for name, values in measured.items()}, reasons


def _note(
    record: Record,
    group: Group,
    running: Sequence[int],
    epoch: int,
    measured: dict[str, list[float]],
    reasons: list[str],
) -> None:
    place = {net: s for s, net in enumerate(group.nets)}
    for net in running:
        record.epochs[net] = epoch + 1
        record.reasons[net] = reasons[place[net]]
        for column, values in measured.items():
            record.history[net].setdefault(column, []).append(values[place[net]])


def _finish(record: Record, group: Group, best: _Best | None) -> None:
    if best is not None:
        best.restore(group, group.alive)
    for s, on in enumerate(group.alive.tolist()):
        if on:
            record.reasons[group.nets[s]] = f"all {group.job.settings.epochs} epochs"
    _write(record, group)


@torch.no_grad()
def _write(record: Record, group: Group) -> None:
    """Copy the weights of a group into the record."""
    where = torch.tensor(group.nets, device=group.alive.device)
    for store, values in ((record.params, group.params), (record.buffers, group.buffers)):
        for name, value in values.items():
            store[name][where] = value.detach()
