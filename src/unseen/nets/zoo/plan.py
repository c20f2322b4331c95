"""How the networks of a zoo are grouped, trained side by side, rounded, written and scored."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError, UnseenError
from unseen.core.rng import stream, task_seed
from unseen.nets.files.weights import write_weights
from unseen.nets.training.fit_many import fit_many
from unseen.nets.training.fits import Fits
from unseen.nets.zoo.data import ZooData
from unseen.nets.zoo.grids import ZooGrid

__all__ = ["KINDS", "OutOfTime", "ZooNet", "ZooPlan", "without_failures"]

KINDS = {"float16": torch.float16, "float32": torch.float32}
VERSION, MOST_NAMED = 1, 5
LOG = logging.getLogger("unseen")


class OutOfTime(UnseenError):
    """A group of networks took longer than it may."""


class ZooProgress:
    """Listens to the training of a group: logs its progress, and ends it when its time is over."""

    def __init__(self, label: str, max_seconds: float | None) -> None:
        self.label, self.limit, self.started, self.epochs = label, max_seconds, time.perf_counter(), 0

    def expect(self, fits: int, label: str) -> None:
        """Take note of nothing."""

    def advance(self, fits: int, failed: int = 0) -> None:
        """Count an epoch of the networks that still run."""
        self.epochs += 1
        spent = time.perf_counter() - self.started
        if self.epochs % 25 == 0:
            LOG.info("%s: epoch %d, %d networks run, %.1f s", self.label, self.epochs, fits, spent)
        if self.limit is not None and spent > self.limit:
            raise OutOfTime(f"{self.label}: {spent:.0f} s after {self.epochs} epochs, of {self.limit:.0f} s allowed")

    def say(self, text: str) -> None:
        """Log it."""
        LOG.info("%s: %s", self.label, text)

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, kw_only=True)
class ZooNet:
    """What is known of one network of a zoo."""

    name: str
    seed: int
    hyper: dict[str, Any]
    group: int
    weight_seed: int
    epochs: int
    train_loss: float
    train_accuracy: float
    test_accuracy: float | None
    n_parameters: int
    reason: str
    holdout_error: float | None = None

    @property
    def gap(self) -> float:
        """Training accuracy less test accuracy."""
        return float("nan") if self.test_accuracy is None else self.train_accuracy - self.test_accuracy

    def row(self, zoo: str) -> dict[str, Any]:
        """Return the record as a flat row."""
        known = {k: v for k, v in asdict(self).items() if k not in ("hyper", "group", "weight_seed")}
        return {"zoo": zoo, **known, "gap": self.gap, **self.hyper}


@dataclass(frozen=True, kw_only=True)
class ZooPlan:
    """Which networks are trained in which group, and with what seeds."""

    grid: ZooGrid
    data: ZooData
    seeds: tuple[int, ...]
    copies: bool
    weights: str
    random_state: int

    def groups(self) -> list[list[dict[str, Any]]]:
        """Return the cells of each group."""
        found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for cell in self.grid.cells():
            found.setdefault(self.grid.group_of(cell), []).append(cell)
        return list(found.values())

    def held_out(self) -> list[int]:
        """Return the rows the copies do not see: every fifth of a random order."""
        if not self.copies:
            return []
        order = stream(self.random_state, "zoo", "copy80").permutation(len(self.data.y_train))
        return sorted(order[: len(order) // 5].tolist())

    def manifest(self, root: Path) -> dict[str, Any]:
        """Return the manifest to go on with: the folder's own, or a new one."""
        fresh = {
            "version": VERSION,
            "grid": self.grid.to_dict(),
            "data": self.data.fingerprint,
            "seeds": list(self.seeds),
            "copies": self.copies,
            "weights": self.weights,
            "random_state": self.random_state,
            "n_groups": len(self.groups()),
            "held_out": self.held_out(),
            "groups": {},
            "seconds": {},
            "how": {},
        }
        path = root / "manifest.json"
        if not path.exists():
            return fresh
        found = json.loads(path.read_text())
        for name in fresh:
            if name not in ("groups", "seconds", "how") and found.get(name) != json.loads(json.dumps(fresh[name])):
                raise InputError(
                    f"{str(root)!r} holds another zoo: its {name} differs from what is asked for now. Give an empty folder, or ask for the same zoo."
                )
        return found

    def name_of(self, cell: Mapping[str, Any], seed: int) -> str:
        """Return the name of a network: its number in the grid and its seed."""
        return f"n{self.grid.cells().index(dict(cell)):03d}s{seed}"

    def train_group(
        self,
        number: int,
        cells: list[dict[str, Any]],
        data: ZooData,
        root: Path,
        device: torch.device,
        options: dict[str, Any],
        max_seconds: float | None = None,
    ) -> tuple[list[dict[str, Any]], str]:
        """Train, write the weights and return the records of one group and how it was trained; `OutOfTime` after so long."""
        pairs = [(cell, seed) for seed in self.seeds for cell in cells]
        names = [self.name_of(cell, seed) for cell, seed in pairs]
        numbers = [task_seed(self.random_state, "zoo", self.grid.id, name) for name in names]
        held, twice = self.held_out(), 2 if self.copies else 1
        noises = sorted({cell.get("label_noise", 0.0) for cell, _ in pairs})
        labels = torch.stack([data.labels_with_noise(noise) for noise in noises])
        n, rows = len(data.y_train), [np.arange(cell.get("train_rows", len(data.y_train))) for cell, _ in pairs]
        first = [n * noises.index(cell.get("label_noise", 0.0)) for cell, _ in pairs]
        sets = [start + own for start, own in zip(first, rows)]
        sets += [start + np.setdiff1d(own, held) for start, own in zip(first, rows)] if self.copies else []
        column = lambda name, default: [cell.get(name, default) for cell, _ in pairs] * twice  # noqa: E731
        fits = fit_many(
            self.grid.maker(cells[0]),
            torch.cat([data.X_train] * len(noises)) if len(noises) > 1 else data.X_train,  # one copy per level of noise
            labels.flatten(),
            sets,
            seeds=numbers * twice,
            epochs=self.grid.epochs,
            batch_size=cells[0].get("batch_size", self.grid.batch_size),
            lr=[self.grid.lr_of(cell) for cell, _ in pairs] * twice,
            momentum=self.grid.momentum,
            weight_decay=column("weight_decay", 0.0),
            dropout=column("dropout", 0.0) if self.grid.has_dropout else None,
            stop="train-loss",
            stop_at=self.grid.stop_loss,
            n_classes=data.n_classes,
            device=device,
            augment=self.grid.augment if cells[0].get("augment", True) else None,
            halve_every=self.grid.halve_every,
            progress=ZooProgress(f"zoo {self.grid.id}, group {number + 1}", max_seconds),
            **options,
        )
        _round(fits, KINDS[self.weights])
        write_weights(root / f"group-{number:03d}.safetensors", _tensors(fits, names, KINDS[self.weights]))
        seen = [labels[start // n, : len(own)] for start, own in zip(first, rows)]
        return self._records(fits, pairs, names, numbers, number, data, held, seen), "; ".join([fits.how, *fits.notes])

    def _records(
        self,
        fits: Fits,
        pairs: list[tuple[dict[str, Any], int]],
        names: list[str],
        seeds: list[int],
        number: int,
        data: ZooData,
        held: list[int],
        seen: list[torch.Tensor],
    ) -> list[dict[str, Any]]:
        count = len(pairs)
        loss, right = _score(fits, data.X_train, seen * (len(fits) // count))
        tested = _score(fits, data.X_test, [data.y_test] * len(fits))[1] if len(data.y_test) else None
        out = None
        if held:
            rows = torch.tensor(held, device=data.X_train.device)
            kept = [
                labels[rows[rows < len(labels)]] for labels in seen
            ]  # the first rows of a smaller set come first here too
            out = 1 - _score(fits, data.X_train[rows], kept * (len(fits) // count))[1][count:]
        size = sum(p[0].numel() for p in fits.params.values())
        return [
            asdict(
                ZooNet(
                    name=names[k],
                    seed=seed,
                    hyper=dict(cell),
                    group=number,
                    weight_seed=seeds[k],
                    epochs=int(fits.epochs[k]),
                    train_loss=float(loss[k]),
                    train_accuracy=float(right[k]),
                    test_accuracy=None if tested is None else float(tested[k]),
                    n_parameters=size,
                    reason=fits.reasons[k],
                    holdout_error=None if out is None else float(out[k]),
                )
            )
            for k, (cell, seed) in enumerate(pairs)
        ]


def _round(fits: Fits, kind: torch.dtype) -> None:
    """Round the networks to what will be stored, so that everything is measured on what is stored."""
    if kind == torch.float32:
        return
    for store in (fits.params, fits.buffers):
        for name, value in store.items():
            if value.dtype == torch.float32:
                store[name] = torch.stack([_round_tensor(part.detach(), kind).to(torch.float32) for part in value])


def _round_tensor(value: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """Return the tensor in the shorter kind, or as it is if a number is beyond its range."""
    short = value.to(kind)
    return short if torch.equal(torch.isfinite(short), torch.isfinite(value)) else value


def _tensors(fits: Fits, names: list[str], kind: torch.dtype) -> dict[str, torch.Tensor]:
    """Return the state of every network by name: plain modules' names, seeds of dropout left out."""
    wanted = list(fits.template.state_dict())
    state = {**fits.params, **fits.buffers}
    labels = [*names, *(f"{name}.copy80" for name in names)][: len(fits)]
    return {
        f"{label}/{key}": _round_tensor(state[key][k], kind) if state[key].is_floating_point() else state[key][k]
        for k, label in enumerate(labels)
        for key in wanted
    }


@torch.no_grad()
def _score(fits: Fits, X: torch.Tensor, labels: Sequence[torch.Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean cross-entropy and accuracy of every network on the first inputs, as many as it has labels."""
    counts = torch.tensor([len(own) for own in labels], device=X.device)
    padded = torch.nn.utils.rnn.pad_sequence(
        list(labels), batch_first=True, padding_value=-100
    )  # what the loss ignores
    loss = torch.zeros(len(fits), dtype=torch.float64, device=X.device)
    right = torch.zeros_like(loss)
    for rows in torch.arange(padded.shape[1], device=X.device).split(2000):
        logits, target = fits.logits(X[rows]), padded[:, rows]
        loss += (
            torch.nn.functional.cross_entropy(logits.flatten(0, 1).double(), target.flatten(), reduction="none")
            .reshape(target.shape)
            .sum(1)
        )
        right += (logits.argmax(2) == target).sum(1)
    return (loss / counts).cpu().numpy(), (right / counts).cpu().numpy()


def without_failures(
    hyper: Sequence[Mapping[str, Any]],
    failed: Sequence[bool],
    axes: Sequence[str],
    least: float,
    seeds: Sequence[Any] | None = None,
) -> tuple[list[int], list[str]]:
    """Return the positions left when whole values are dropped until no network fails or is missing, and what was dropped.

    The value that goes first covers failures at the smallest cost in good networks per failure.

    Examples
    --------
    >>> cells = [{"a": a, "b": b} for a in (1, 2) for b in (1, 2, 3)]
    >>> without_failures(cells, [False, False, True, False, False, False], ["a", "b"], 0.95)
    ([0, 1, 3, 4], ['b=3 (1 network below 0.95)'])
    >>> without_failures(cells[:5], [False] * 5, ["a", "b"], 0.95)
    ([0, 1, 3, 4], ['b=3 (1 network missing: a=2, b=3)'])
    """
    given = [tuple(h[name] for name in axes) for h in hyper]
    which = [0] * len(given) if seeds is None else list(seeds)
    values = [list(dict.fromkeys(cell[k] for cell in given)) for k in range(len(axes))]
    there = set(zip(which, given))
    lacking = [(seed, cell) for seed in dict.fromkeys(which) for cell in product(*values) if (seed, cell) not in there]
    absent = [cell for _, cell in lacking]
    cells = [*given, *absent]
    bad_cell = [*failed, *[True] * len(absent)]
    kept, dropped = list(range(len(cells))), []
    while bad := [k for k in kept if bad_cell[k]]:
        best: tuple[float, int, Any] | None = None
        for axis in range(len(axes)):
            if len({cells[k][axis] for k in kept}) < 2:
                continue
            for value in dict.fromkeys(cells[k][axis] for k in bad):
                wrong = sum(cells[k][axis] == value for k in bad)
                good = sum(cells[k][axis] == value for k in kept) - wrong
                if best is None or good / wrong < best[0]:
                    best = (good / wrong, axis, value)
        names = [_cell_name(axes, *cell, seeds is not None) for cell in lacking]
        if best is None:
            why = _failures_in_words(sum(failed), names, least)
            raise InputError(
                f"networks fail at every value of some hyper-parameter: no complete grid is left ({why}; {len(given)} were given)."
            )
        _, axis, value = best
        gone = [k for k in bad if cells[k][axis] == value]
        missing = [names[k - len(given)] for k in gone if k >= len(given)]
        dropped.append(f"{axes[axis]}={value} ({_failures_in_words(len(gone) - len(missing), missing, least)})")
        kept = [k for k in kept if cells[k][axis] != value]
    return kept, dropped


def _failures_in_words(below: int, missing: Sequence[str], least: float) -> str:
    """Return in words how many networks are below the accuracy asked for, and which are missing."""
    why = [f"{_networks(below)} below {least:g}"] * (below > 0)
    if missing:
        rest = f"; and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        why.append(f"{_networks(len(missing))} missing: {'; '.join(missing[:MOST_NAMED])}{rest}")
    return ", ".join(why)


def _networks(count: int) -> str:
    return "1 network" if count == 1 else f"{count} networks"


def _cell_name(axes: Sequence[str], seed: Any, cell: tuple[Any, ...], has_seeds: bool) -> str:
    return ", ".join([f"{name}={value}" for name, value in zip(axes, cell)] + ([f"seed={seed}"] if has_seeds else []))
