"""Measuring many networks: within a time, value by value on the disk, so that a stopped run goes on."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError, UnseenError
from unseen.core.notes import Note, note
from unseen.core.rng import stream
from unseen.engine.events import reporting
from unseen.engine.interrupts import name_file_on_interrupt
from unseen.nets.measures.measure import Measure
from unseen.nets.measures.value import MeasureValue
from unseen.nets.modules.net import Net

__all__ = ["MeasureTable", "MeasuringEffort", "effort_note", "measure_networks", "plan_effort", "some_examples"]

PILOT = 256  # examples on which a measure is timed
LEAST = 200  # examples below which no ranking is made for want of time, if there are as many
PER_CLASS = 20  # and so many of every class
SHARES = (1.0, 0.5, 0.25, 0.1)  # of a measure's usual draws
RESERVE = 0.85  # of the time is planned: networks differ, and timing is rough
KIND = "unseen values of measures 1"


@dataclass(frozen=True, kw_only=True)
class MeasuringEffort:
    """What is measured: how many examples, how many draws, which measures; the same for every network.

    Parameters
    ----------
    examples : int
        Training examples, drawn by class.
    draws : dict of str to int
        Draws of single measures; others take their usual ones.
    left_out : tuple of str
        Measures for which there is no time.
    """

    examples: int
    draws: dict[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MeasureTable:
    """Values by measure, each in the order of the networks, and why others are missing."""

    values: dict[str, list[MeasureValue]]
    notes: tuple[Note, ...]


def some_examples(nets: Mapping[str, Net], count: int, seed: int) -> dict[str, Net]:
    """Return networks with the same part of their training data: equally many of every class, as far as there are.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> part = some_examples({"a": sample_net("conv")}, 9, seed=0)["a"]
    >>> part.n, torch.bincount(part.y_train).tolist()
    (9, [3, 3, 3])
    """
    first = next(iter(nets.values()))
    labels = first.y_train.cpu().numpy()
    if count >= len(labels):
        return dict(nets)
    order = stream(seed, "rank", "examples").permutation(len(labels))
    turn = np.empty(len(labels), dtype=np.int64)  # the how-manieth of its class each example is
    for label in np.unique(labels):
        own = order[labels[order] == label]
        turn[own] = np.arange(len(own))
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = np.arange(len(labels))
    rows = np.sort(np.lexsort((place, turn))[:count])
    found = {}
    for name, net in nets.items():
        if net.n != len(labels):
            raise InputError(
                f"network {name!r} has {net.n} training examples, others {len(labels)}; a part needs the same for all."
            )
        chosen = torch.as_tensor(rows, device=net.device)
        # a copy's held-out rows are numbers of the whole data
        found[name] = replace(net, X_train=net.X_train[chosen], y_train=net.y_train[chosen], copy80=None)
    return found


def plan_effort(
    nets: Mapping[str, Net],
    measures: Sequence[Measure],
    seconds: float,
    seed: int,
    draws: Mapping[str, int] | None = None,
) -> MeasuringEffort:
    """Return how many examples, draws and measures fit into a time, after timing one draw of each measure on one network.

    Draws are halved first, then examples, down to a few hundred; then the dearest measures are left out, all but one.
    """
    started, first = time.perf_counter(), next(iter(nets.values()))
    small = some_examples({"": first}, PILOT, seed)[""]
    costs: dict[str, float] = {}
    usual: dict[str, int] = {}
    for measure in measures:
        begun = time.perf_counter()
        usual[measure.id] = (draws or {}).get(measure.id) or max(1, measure.draws_for(first))
        try:
            measure(small, draws=1, random_state=seed)
        except UnseenError:
            costs[measure.id] = 0.0  # whoever measures next says why it does not apply
            continue
        costs[measure.id] = (time.perf_counter() - begun) / small.n
    left = max(0.05 * seconds, RESERVE * seconds - (time.perf_counter() - started)) / len(nets)
    least = min(first.n, max(LEAST, PER_CLASS * first.n_classes))
    sizes = [first.n]
    while sizes[-1] > least:
        sizes.append(max(least, sizes[-1] // 2))
    kept = sorted(costs, key=lambda name: costs[name] * usual[name])
    while True:
        for size in sizes:
            for share in SHARES:
                counts = {name: max(1, round(share * usual[name])) for name in kept}
                if sum(costs[name] * size * counts[name] for name in kept) <= left or (
                    len(kept) == 1 and (size, share) == (sizes[-1], SHARES[-1])
                ):
                    changed = {name: n for name, n in counts.items() if n != usual[name]}
                    gone = tuple(m.id for m in measures if m.id not in kept)
                    return MeasuringEffort(examples=size, draws=changed, left_out=gone)
        kept.pop()


def effort_note(effort: MeasuringEffort, of: int, seconds: float) -> Note | None:
    """Return what was done less of for want of time, so that it can be repeated without the clock; None if nothing was."""
    parts = [f"{effort.examples} of {of} examples"] if effort.examples < of else []
    parts += [f"{name} with {count} draw{'s' if count > 1 else ''}" for name, count in effort.draws.items()]
    parts += [f"without {name}" for name in effort.left_out]
    return note("N012", f"within {seconds:g} s: {', '.join(parts)}") if parts else None


def measure_networks(
    nets: Mapping[str, Net],
    measures: Sequence[Measure],
    *,
    draws: Mapping[str, int],
    seed: int,
    path: str | PathLike[str] | None = None,
    deadline: float | None = None,
    progress: Any = None,
) -> MeasureTable:
    """Measure networks, one measure on all of them first, so that a run that is stopped leaves whole columns.

    Parameters
    ----------
    nets : mapping of str to Net
        Networks.
    measures : sequence of Measure
        In the order they are taken.
    draws : mapping of str to int
        Draws of single measures.
    seed : int
        All networks meet the same draws.
    path : path, optional
        File to add each value to, as lines of JSON; values that it holds of the same weights, data and draws are not computed again.
    deadline : float, optional
        Begin no further measure after this reading of `time.perf_counter`, once one is done.
    progress : bool, optional
        Show a bar that names network and measure.
    """
    held = _Values(path)
    prints = {name: _fingerprint(net) for name, net in nets.items()} if path is not None else {}
    table: dict[str, list[MeasureValue]] = {}
    notes: list[Note] = []
    with name_file_on_interrupt(path), reporting(progress, len(measures) * len(nets), "measures") as reporter:
        for measure in measures:
            if deadline is not None and table and time.perf_counter() > deadline:
                notes.append(note("N007", f"{measure.id}: the time was over"))
                reporter.advance(len(nets))
                continue
            values: list[MeasureValue] = []
            count = draws.get(measure.id)
            try:
                for name, net in nets.items():
                    reporter.expect(0, f"{measure.id}, {name}")
                    key = (prints.get(name, ""), repr(measure), count, seed)
                    value = held.get(key)
                    if value is None:
                        value = measure(net, draws=count, random_state=seed)
                        held.add(key, name, value)
                    values.append(value)
                    reporter.advance(1)
                table[measure.id] = values
            except UnseenError as error:
                reporter.advance(len(nets) - len(values))
                notes.append(note("N007", f"{measure.id}, network {list(nets)[len(values)]!r}: {error}"))
    return MeasureTable(values=table, notes=tuple(notes))


def _fingerprint(net: Net) -> str:
    """Return a hash of weights and data."""
    found = hashlib.blake2b(digest_size=16)
    for name, value in (*net.module.state_dict().items(), ("X", net.X_train), ("y", net.y_train)):
        found.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        found.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


class _Values:
    """Values on the disk, one line each; a last line that was cut off is left out."""

    def __init__(self, path: str | PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.known: dict[str, MeasureValue] = {}
        if self.path is None or not self.path.exists():
            return
        if not self.path.is_file():  # a device such as /dev/full can be read without end
            raise InputError(f"{str(self.path)!r} is no file that values could be kept in; name a new one.")
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the values {str(self.path)!r}: {error}.") from error
        for line in lines:
            try:
                row = json.loads(line)
                if row["kind"] != KIND:
                    raise InputError(f"{str(self.path)!r} holds no values of measures; name a new file.")
                self.known[row["key"]] = _from_row(row["value"])
            except (ValueError, TypeError, KeyError) as error:
                if isinstance(error, InputError) or (line != lines[-1]):
                    raise InputError(f"{str(self.path)!r} holds no values of measures; name a new file.") from error
        if lines and not self.path.read_text(encoding="utf-8").endswith("\n"):
            self.path.write_text("".join(f"{line}\n" for line in lines[:-1]), encoding="utf-8")

    def get(self, key: tuple[Any, ...]) -> MeasureValue | None:
        return self.known.get(json.dumps(key)) if self.path is not None else None

    def add(self, key: tuple[Any, ...], name: str, value: MeasureValue) -> None:
        if self.path is None:
            return
        row = {"kind": KIND, "network": name, "key": json.dumps(key), "value": asdict(value)}
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        except OSError as error:
            raise InputError(f"cannot write the values {str(self.path)!r}: {error.strerror}.") from error


def _from_row(row: Mapping[str, Any]) -> MeasureValue:
    known = {f.name for f in fields(MeasureValue)}
    held: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items() if k in known}
    return MeasureValue(**held)
