"""The training loop of many nets: one step for all of them, each net stopped by its own rule, its best weights kept."""

from __future__ import annotations

import contextlib
import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unseen.core.errors import KindError
from unseen.nets.modules.device import is_out_of_memory
from unseen.nets.training.draws import derive, keys_of, shuffle_positions, uniform
from unseen.nets.training.dropout import dropout_keys
from unseen.nets.training.executors import Executor, Plain
from unseen.nets.training.index_sets import IndexSets
from unseen.nets.training.optimizers import optimizer_for, zero_resting
from unseen.nets.training.settings import TrainingSettings

__all__ = [
    "EvaluationTooLarge",
    "NetGroup",
    "NotCaptured",
    "RunningNets",
    "TrainingJob",
    "TrainingRecord",
    "epoch_hook",
    "train_group",
]


class RunningNets(Mapping[int, nn.Module]):
    """The nets still in training by their number, each a plain module with weights of its own, made when it is asked for.

    Parameters
    ----------
    template : nn.Module
        A net of the architecture.
    nets : sequence of int
        Numbers of the nets, in the order of the stacked weights.
    alive : Tensor of bool
        Which of them are still in training.
    params, buffers : dict of str to Tensor
        Stacked weights and buffers.

    Examples
    --------
    >>> stacked = {"weight": torch.ones(2, 1, 3), "bias": torch.zeros(2, 1)}
    >>> live = RunningNets(nn.Linear(3, 1), [4, 7], torch.tensor([False, True]), stacked, {})
    >>> list(live), live[7](torch.ones(1, 3)).item()
    ([7], 3.0)
    """

    def __init__(self, template: nn.Module, nets: Any, alive: Tensor, params: Any, buffers: Any) -> None:
        self._template, self._params, self._buffers = template, params, buffers
        self._place = {int(net): k for k, (net, on) in enumerate(zip(nets, alive.tolist())) if on}

    @torch.no_grad()
    def __getitem__(self, net: int) -> nn.Module:
        place = self._place[net]
        dtype = next(iter(self._params.values())).dtype
        module = copy.deepcopy(self._template).to(dtype)
        for held, values in ((module.named_parameters(), self._params), (module.named_buffers(), self._buffers)):
            for name, value in held:
                value.copy_(values[name][place])
        return module.eval()

    def __iter__(self) -> Iterator[int]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)


def epoch_hook(after_epoch: Any, template: Callable[[], nn.Module]) -> Callable[[int, Any], Any] | None:
    """Return what training calls after an epoch with a group of nets; None without `after_epoch`."""
    if after_epoch is None:
        return None
    if not callable(after_epoch):
        raise KindError(f"after_epoch is a {type(after_epoch).__name__}; give a function of the epoch and the nets.")
    return lambda epoch, group: after_epoch(
        epoch, RunningNets(template(), group.nets, group.alive, group.params, group.buffers)
    )


WARM_UP_STEPS = 3  # as torch asks for before a step is captured as a CUDA graph
EPOCHS_AHEAD = 10  # epochs over which dropping stopped nets has to pay for a new capture


class NotCaptured(Exception):
    """A step that a CUDA graph cannot hold."""


class EvaluationTooLarge(Exception):
    """Memory ran out while nets were evaluated, not while they were trained."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingJob:
    """What a call of `fit_many` trains: data on their device, rows and seeds per net, options."""

    executor: Executor
    X: Tensor
    y: Tensor
    sets: IndexSets
    seeds: Sequence[int]
    weights: Tensor | None
    settings: TrainingSettings
    trainable: tuple[str, ...]
    dropouts: tuple[str, ...]
    normalised: bool
    eval_batch: int
    graph: bool
    row_weights: Tensor | None = None


class NetGroup:
    """Nets that share every step; stopped ones stay as they are until `pick` drops them."""

    def __init__(
        self, job: TrainingJob, nets: Sequence[int], params: dict[str, Tensor], buffers: dict[str, Tensor]
    ) -> None:
        self.job, self.nets = job, list(nets)
        device = job.X.device
        self.params = {k: v.detach().clone().requires_grad_(k in job.trainable) for k, v in params.items()}
        self.buffers = {k: v.clone() for k, v in buffers.items()}
        self.optimizer = optimizer_for(self._trainable(), job.settings, self.nets)
        self.sets = job.sets.of(torch.tensor(self.nets)).to(device)
        chosen = [job.seeds[i] for i in self.nets]
        self.keys = {purpose: keys_of(chosen, purpose, device) for purpose in ("batches", "dropout", "augment")}
        self.weights = None if job.weights is None else job.weights[torch.tensor(self.nets, device=device)]
        self.alive = torch.ones(len(self.nets), dtype=torch.bool, device=device)
        self.capture_seconds = self.epoch_seconds = 0.0
        self._allocate()

    def _trainable(self) -> dict[str, Tensor]:
        return {k: p for k, p in self.params.items() if k in self.job.trainable}

    def _allocate(self) -> None:
        """Make the buffers that a captured graph reads and writes."""
        device, size = self.job.X.device, self.job.settings.batch_size
        self.usable = self.sets.lengths
        if self.job.normalised:
            lonely = (self.usable % size == 1) & (self.usable > 1)
            self.usable = self.usable - lonely.to(torch.int64)
        self.longest = int(self.usable.max())
        self.whole_batches = int(self.usable.min()) // size if self.job.normalised else 0
        self.n_batches = -(-self.longest // size)
        self.order = torch.zeros(len(self.nets), self.n_batches * size, dtype=torch.int64, device=device)
        self.cursor = torch.zeros((), dtype=torch.int64, device=device)
        self.epoch = torch.zeros((), dtype=torch.int64, device=device)
        self.masks = torch.zeros(
            len(self.job.dropouts), self.n_batches, len(self.nets), dtype=torch.int64, device=device
        )
        self.loss_sum = torch.zeros(len(self.nets), dtype=torch.float64, device=device)
        self.replays: dict[bool, Callable[[], None]] = {}

    def pick(self, keep: Tensor) -> None:
        """Keep some nets only (positions in this group)."""
        self.nets = [self.nets[int(i)] for i in keep]
        self.params = {k: v.detach()[keep].clone().requires_grad_(v.requires_grad) for k, v in self.params.items()}
        self.buffers = {k: v[keep].clone() for k, v in self.buffers.items()}
        self.optimizer.pick(keep)
        self.sets = self.sets.of(keep)
        self.keys = {purpose: k[keep] for purpose, k in self.keys.items()}
        self.weights = None if self.weights is None else self.weights[keep]
        self.alive = self.alive[keep]
        self._allocate()

    def train_epoch(self, epoch: int) -> Tensor:
        """Run one epoch (counted from 0) and return each net's mean training loss."""
        self.prepare(epoch)
        start = time.perf_counter()
        for batch in range(self.n_batches):
            self.run_batch(batch)
        mean = self.loss_sum / self.usable
        if self.job.graph:
            torch.cuda.synchronize()
        self.epoch_seconds = time.perf_counter() - start
        return mean

    def worth_dropping(self, alive: int) -> bool:
        """Return whether half of the nets have stopped, and dropping them saves more than capturing a new graph costs."""
        saved = self.epoch_seconds * (1 - alive / len(self.nets)) * EPOCHS_AHEAD
        return 2 * alive <= len(self.nets) and saved >= self.capture_seconds

    def prepare(self, epoch: int) -> None:
        """Draw the order of an epoch and, on a GPU, capture the step if that was not done yet."""
        self.optimizer.begin(epoch)
        self.epoch.fill_(epoch)
        self.cursor.zero_()
        self.loss_sum.zero_()
        width = self.sets.rows.shape[1]
        order = shuffle_positions(derive(self.keys["batches"], epoch), self.sets.lengths, width)
        rows = self.sets.rows.gather(1, order)[:, : self.order.shape[1]]
        self.order[:, : rows.shape[1]] = rows
        self.masks.copy_(dropout_keys(self.keys["dropout"], epoch, *self.masks.shape[1::-1]))
        if self.job.graph and not self.replays:
            try:
                self._capture()
            except RuntimeError as error:
                if is_out_of_memory(error):
                    raise
                raise NotCaptured(str(error).splitlines()[0]) from error

    def run_batch(self, batch: int) -> None:
        """Make the step of a batch; without a captured graph the last batch is as wide as the longest set needs."""
        whole = batch < self.whole_batches
        if self.replays:
            self.replays[whole]()
            return
        size = self.job.settings.batch_size
        self._step(min(size, self.longest - batch * size), whole)

    def _step(self, width: int, whole: bool) -> None:
        """Make one step; `whole` says that no net's batch is padded, which spares batch normalisation its masks."""
        positions = self.cursor * self.job.settings.batch_size + torch.arange(width, device=self.cursor.device)
        valid = (positions < self.usable[:, None]) & self.alive[:, None]
        rows = self.order.index_select(1, positions)
        x = self.job.X.index_select(0, rows.flatten()).unflatten(0, rows.shape)
        y = self.job.y.index_select(0, rows.flatten()).unflatten(0, rows.shape)
        if self.job.settings.augment is not None:
            x = self._augment(x)
        for path, keys in zip(self.job.dropouts, self.masks):
            self.buffers[path].copy_(keys.index_select(0, self.cursor[None])[0])
        counts = self.alive[:, None] if whole else valid
        logits = self.job.executor(self.params, self.buffers, x, train=True, valid=counts)
        loss, weight = self._losses(logits, y, self._weigh_rows(rows, valid))
        trained = self._trainable()
        grads = torch.autograd.grad(loss.sum(), list(trained.values()), allow_unused=True)
        used = {name: p for (name, p), g in zip(trained.items(), grads) if g is not None}  # the rest stay, as in torch
        active, moves = (weight > 0).to(x.dtype), [g for g in grads if g is not None]
        self.optimizer.step(used, zero_resting(moves, active) if self.job.normalised else moves, active)
        self.loss_sum += torch.where(weight > 0, loss.detach() * valid.sum(1), 0.0)
        self.cursor += 1

    def _augment(self, x: Tensor) -> Tensor:
        key = derive(derive(self.keys["augment"], self.epoch), self.cursor)
        drawn = 0

        def draw(*shape: int) -> Tensor:
            nonlocal drawn
            drawn += 1
            return uniform(derive(key, drawn), (x.shape[1], *shape), x.dtype)

        augment: Any = self.job.settings.augment
        return augment(x, draw)

    def _weigh_rows(self, rows: Tensor, valid: Tensor) -> Tensor:
        """Return how much each example counts: not at all if it only pads, else by its row's weight."""
        weights = self.job.row_weights
        return valid.to(self.job.X.dtype) if weights is None else valid * weights[rows]

    def _losses(self, logits: Tensor, y: Tensor, counted: Tensor) -> tuple[Tensor, Tensor]:
        """Return each net's mean loss over the examples that count, and the sum of their weights."""
        each = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none").unflatten(0, y.shape)
        weight = counted
        if self.weights is not None:
            weight = weight * self.weights.gather(1, y)
        total = weight.sum(1)
        return (each * weight).sum(1) / total.clamp(min=torch.finfo(each.dtype).tiny), total

    def _capture(self) -> None:
        """Record the steps as CUDA graphs, of whole and of padded batches if that matters; warm-up steps are undone."""
        torch.cuda.synchronize()
        start = time.perf_counter()
        kept = [t.detach().clone() for t in self._tensors()]
        kinds = [w for w in (True, False) if (self.whole_batches if w else self.n_batches - self.whole_batches) > 0]
        pool = torch.cuda.graph_pool_handle()
        replays = {whole: self._capture_step(whole, pool) for whole in kinds}
        with torch.no_grad():
            for tensor, before in zip(self._tensors(), kept):
                tensor.copy_(before)
        self.replays = replays
        torch.cuda.synchronize()
        self.capture_seconds = time.perf_counter() - start

    def _capture_step(self, whole: bool, pool: Any) -> Callable[[], None]:
        size = self.job.settings.batch_size
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP_STEPS):
                self.cursor.zero_()
                self._step(size, whole)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        self.cursor.zero_()
        with torch.cuda.graph(graph, pool=pool):
            self._step(size, whole)
        replay: Callable[[], None] = graph.replay
        return replay

    def _tensors(self) -> list[Tensor]:
        changing = [*self.params.values(), *self.buffers.values(), *self.optimizer.state.values()]
        return [*changing, self.cursor, self.loss_sum]

    def evaluate(self, rows: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return each net's evaluation-mode loss and accuracy on rows (S, V) of its own."""
        try:
            return self._evaluate_rows(rows, lengths)
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise EvaluationTooLarge from error

    @torch.no_grad()
    def _evaluate_rows(self, rows: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        width = max(1, self.job.eval_batch // len(self.nets))
        if isinstance(self.job.executor, Plain):
            width = max(1, self.job.eval_batch)
        loss = hits = weights = sizes = torch.zeros(len(self.nets), dtype=torch.float64, device=rows.device)
        for start in range(0, rows.shape[1], width):
            part = rows[:, start : start + width]
            x = self.job.X.index_select(0, part.flatten()).unflatten(0, part.shape)
            y = self.job.y.index_select(0, part.flatten()).unflatten(0, part.shape)
            valid = torch.arange(start, start + part.shape[1], device=rows.device) < lengths[:, None]
            logits = self.job.executor(self.params, self.buffers, x, train=False)
            counted = self._weigh_rows(part, valid)
            mean, weight = self._losses(logits, y, counted)
            loss = loss + torch.where(weight > 0, mean.double() * weight, 0.0)
            weights = weights + weight
            hits = hits + ((logits.argmax(2) == y) * counted).sum(1, dtype=torch.float64)
            sizes = sizes + counted.sum(1, dtype=torch.float64)
        return loss / weights.clamp(min=1e-300), hits / sizes.clamp(min=1e-300)

    @contextlib.contextmanager
    def own_generator(self) -> Iterator[None]:
        """Seed torch's generator for a net that trains alone, for forward passes that draw from it; undo it after."""
        devices = [self.job.X.device] if self.job.X.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices, enabled=isinstance(self.job.executor, Plain)):
            if isinstance(self.job.executor, Plain):
                torch.manual_seed(int(self.job.seeds[self.nets[0]]) % (1 << 63))
            yield


COLUMNS = ("train_loss", "validation_loss", "validation_accuracy", "evaluated_loss", "evaluated_accuracy")


@dataclass(kw_only=True)
class TrainingRecord:
    """What training left of each net of a call."""

    params: dict[str, Tensor]
    buffers: dict[str, Tensor]
    epochs: np.ndarray
    best_epochs: np.ndarray
    reasons: list[str]
    history: list[dict[str, list[float]]] = field(default_factory=list)

    @classmethod
    def empty(cls, params: dict[str, Tensor], buffers: dict[str, Tensor]) -> TrainingRecord:
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


class _BestWeights:
    """The weights of each net at its lowest validation loss."""

    def __init__(self, group: NetGroup) -> None:
        self.loss = torch.full((len(group.nets),), torch.inf, dtype=torch.float64, device=group.alive.device)
        self.waited = torch.zeros(len(group.nets), dtype=torch.int64, device=group.alive.device)
        self.state = {k: v.detach().clone() for k, v in {**group.params, **group.buffers}.items()}

    @torch.no_grad()
    def update(self, group: NetGroup, loss: Tensor) -> Tensor:
        better = group.alive & (loss < self.loss)
        self.loss = torch.where(better, loss, self.loss)
        self.waited = torch.where(better, 0, self.waited + 1)
        for name, value in {**group.params, **group.buffers}.items():
            wide = better.reshape(-1, *([1] * (value.dim() - 1)))
            self.state[name] = torch.where(wide, value, self.state[name])
        return better

    @torch.no_grad()
    def restore(self, group: NetGroup, which: Tensor) -> None:
        for name, value in {**group.params, **group.buffers}.items():
            wide = which.reshape(-1, *([1] * (value.dim() - 1)))
            value.copy_(torch.where(wide, self.state[name], value))

    def pick(self, keep: Tensor) -> None:
        self.loss, self.waited = self.loss[keep], self.waited[keep]
        self.state = {k: v[keep] for k, v in self.state.items()}


def train_group(job: TrainingJob, nets: Sequence[int], record: TrainingRecord, advance: Callable[[int], None]) -> None:
    """Train nets together and write what became of them into the record."""
    chosen = torch.tensor(list(nets), device=job.X.device)
    group = NetGroup(
        job, nets, {k: v[chosen] for k, v in record.params.items()}, {k: v[chosen] for k, v in record.buffers.items()}
    )
    best = _BestWeights(group) if job.settings.stop == "patience" else None
    for i in nets:
        record.history[i] = {}
    with group.own_generator():
        for epoch in range(job.settings.epochs):
            running = [i for i, on in zip(group.nets, group.alive.tolist()) if on]
            measured, reasons = _run_epoch(group, best, epoch, record)
            _write_epoch(record, group, running, epoch, measured, reasons)
            advance(len(running))
            alive = int(group.alive.sum())
            if alive == 0:
                break
            if group.worth_dropping(alive):
                _write_weights(record, group)
                keep = group.alive.nonzero().flatten()
                group.pick(keep)
                if best is not None:
                    best.pick(keep)
    _finish(record, group, best)


def _run_epoch(
    group: NetGroup, best: _BestWeights | None, epoch: int, record: TrainingRecord
) -> tuple[dict[str, list[float]], list[str]]:
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


def _write_epoch(
    record: TrainingRecord,
    group: NetGroup,
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


def _finish(record: TrainingRecord, group: NetGroup, best: _BestWeights | None) -> None:
    if best is not None:
        best.restore(group, group.alive)
    for s, on in enumerate(group.alive.tolist()):
        if on:
            record.reasons[group.nets[s]] = f"all {group.job.settings.epochs} epochs"
    _write_weights(record, group)


@torch.no_grad()
def _write_weights(record: TrainingRecord, group: NetGroup) -> None:
    """Copy the weights of a group into the record."""
    where = torch.tensor(group.nets, device=group.alive.device)
    for store, values in ((record.params, group.params), (record.buffers, group.buffers)):
        for name, value in values.items():
            store[name][where] = value.detach()
