"""Zoos: full-factorial grids of networks with known gaps, trained side by side, kept in a folder that can be resumed."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError
from unseen.core.notes import Note, note
from unseen.core.result import Result
from unseen.nets.files.weights import read_weights
from unseen.nets.modules.device import device_of, limited_torch
from unseen.nets.modules.net import Copy80, Net
from unseen.nets.training.initial_weights import fresh_nets
from unseen.nets.zoo.data import ZooData, zoo_data
from unseen.nets.zoo.grids import ZooGrid, zoo_grid
from unseen.nets.zoo.plan import KINDS, OutOfTime, ZooNet, ZooPlan, without_failures

__all__ = ["Zoo", "ZooNet", "fill_from_group"]

LOG = logging.getLogger("unseen")


@dataclass(frozen=True, kw_only=True)
class Zoo(Result):
    """Networks on a grid, with their weights in a folder.

    Parameters
    ----------
    grid : ZooGrid
        What varies.
    nets : tuple of ZooNet
        One record per network, seed by seed in the order of the grid's cells.
    folder : Path
        Manifest and weights.
    data : ZooData or None
        What they were trained on.
    held_out : tuple of int
        Training rows that the 80% copies have not seen; empty if there are no copies.
    notes : tuple of Note
        Weakness: values dropped, gaps that hardly differ, groups not yet trained.

    Examples
    --------
    >>> import tempfile
    >>> from unseen.nets import ZooGrid, make_mlp
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 4)) + 3 * y[:, None]
    >>> grid = ZooGrid("toy", make_mlp, {"width": (4, 8), "weight_decay": (0.0, 0.01)}, epochs=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     zoo = Zoo.train(grid, (X[:40], y[:40], X[40:], y[40:]), store=folder, copies=False, device="cpu")
    >>> len(zoo), zoo.nets[0].hyper
    (8, {'width': 4, 'weight_decay': 0.0})
    """

    grid: ZooGrid
    nets: tuple[ZooNet, ...]
    folder: Path
    data: ZooData | None = field(default=None, repr=False, metadata={"shown": False})
    held_out: tuple[int, ...] = field(default=(), repr=False, metadata={"shown": False})
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.nets)

    @classmethod
    @limited_torch()
    def train(
        cls,
        grid: str | ZooGrid,
        data: Any,
        *,
        store: str | PathLike[str],
        seeds: int | Sequence[int] = 2,
        copies: bool = True,
        device: Any = "auto",
        weights: str = "float32",
        random_state: int = 0,
        max_seconds: float | None = None,
        max_group_seconds: float | None = None,
        on_group: Callable[[Zoo], None] | None = None,
        **options: Any,
    ) -> Zoo:
        """Train every network of a grid, or go on where an earlier call stopped.

        Networks of one architecture and batch size are trained side by side, all seeds and the copies on 80% of the data together; each such group is
        written when it is done.

        Parameters
        ----------
        grid : str or ZooGrid
            "cifar-vgg", "fashion-vgg", "cifar-nin", "mnist-mlp", "fashion-mlp", or a grid of your own.
        data : mapping or sequence
            X_train, y_train, X_test, y_test, see `zoo_data`.
        store : path
            Folder for manifest and weights; it may hold an unfinished zoo of the same grid, data and seeds.
        seeds : int or sequence of int
            How many networks per cell, or their seed numbers.
        copies : bool
            Also train a copy of each network on 80% of the data, for the hold-out control and for Par-Search.
        device : str
            "auto", "cpu", "cuda".
        weights : {"float32", "float16"}
            How weights are kept. With "float16" the networks are rounded first and everything is measured on the rounded ones.
        random_state : int
            Same number, same zoo on one machine.
        max_seconds : float, optional
            Begin no further group after so long; at least one is tried.
        max_group_seconds : float, optional
            End a group that takes longer, without its networks, and go on with the next one.
        on_group : callable, optional
            Called with the zoo so far when a group is done.
        **options
            Further options of `fit_many`, such as ``tf32=True``.

        Returns
        -------
        Zoo
            With the groups trained so far; `notes` say what is missing.
        """
        made, cut = zoo_grid(grid), zoo_data(data)
        numbers = list(range(seeds)) if isinstance(seeds, int) else [int(s) for s in seeds]
        if weights not in KINDS or not numbers:
            raise InputError(
                f"weights is {weights!r} and there are {len(numbers)} seeds; give float32 or float16 and at least one seed."
            )
        plan = ZooPlan(
            grid=made, data=cut, seeds=tuple(numbers), copies=copies, weights=weights, random_state=random_state
        )
        root = Path(store)
        root.mkdir(parents=True, exist_ok=True)
        manifest = plan.manifest(root)
        started, where = time.perf_counter(), device_of(device)
        there, trained = cut.to(where), 0
        for number, cells in enumerate(plan.groups()):
            if str(number) in manifest["groups"]:
                continue
            begun = time.perf_counter()
            if trained and max_seconds is not None and begun - started > max_seconds:
                break
            trained += 1
            try:
                records, how = plan.train_group(number, cells, there, root, where, options, max_group_seconds)
            except OutOfTime as error:
                LOG.warning("%s; the group is left out", error)
                continue
            manifest["groups"][str(number)] = records
            manifest["seconds"][str(number)] = round(time.perf_counter() - begun, 2)
            manifest["how"][str(number)] = how
            _write_json(root / "manifest.json", manifest)
            LOG.info(
                "zoo %s: group %d of %d in %.1f s", made.id, number + 1, len(plan.groups()), time.perf_counter() - begun
            )
            if on_group is not None:
                on_group(_from_manifest(manifest, made, root, cut))
        return _from_manifest(manifest, made, root, cut)

    @classmethod
    def load(cls, folder: str | PathLike[str], data: Any = None, grid: ZooGrid | None = None) -> Zoo:
        """Read a zoo from its folder.

        Parameters
        ----------
        folder : path
            What `train` was given as its store.
        data : optional
            What it was trained on; needed to measure networks, refused when it is other data.
        grid : ZooGrid, optional
            For a grid of your own; those of this package are found by name.
        """
        root = Path(folder)
        try:
            manifest = json.loads((root / "manifest.json").read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"{str(root)!r} holds no readable manifest.json of a zoo: {error}.") from error
        if not isinstance(manifest, dict) or not isinstance(manifest.get("grid"), dict):
            raise InputError(
                f"the manifest in {str(root)!r} is none of a zoo: it names no grid; `unseen.nets.rank` takes networks of any kind."
            )
        made = zoo_grid(manifest["grid"]["id"]) if grid is None else grid
        axes = {name: tuple(values) for name, values in manifest["grid"]["axes"].items()}
        if axes != {name: tuple(values) for name, values in made.axes.items()}:
            made = replace(made, axes=axes)
        cut = None if data is None else zoo_data(data)
        if cut is not None and cut.fingerprint != manifest["data"]:
            raise InputError("these are not the data the zoo was trained on (their fingerprints differ).")
        return _from_manifest(manifest, made, root, cut)

    @property
    def gap(self) -> np.ndarray:
        """Training accuracy less test accuracy of each network."""
        return np.array([net.gap for net in self.nets])

    @property
    def seeds(self) -> np.ndarray:
        """Seed of each network."""
        return np.array([net.seed for net in self.nets])

    @property
    def axes(self) -> dict[str, list[Any]]:
        """Value of each hyper-parameter in each network, constant ones left out."""
        columns = {name: [net.hyper[name] for net in self.nets] for name in self.grid.axes}
        return {name: column for name, column in columns.items() if len(set(column)) > 1}

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per network."""
        return [net.row(self.grid.id) for net in self.nets]

    def complete(self, accuracy: float | None = None) -> Zoo:
        """Return the zoo without the values of hyper-parameters at which a network failed, so that the grid stays full.

        A network fails when its loss was lost or its training accuracy stays below the grid's threshold. Whole values are left out, those first that cost the fewest
        good networks, never single networks.
        """
        least = self.grid.accuracy if accuracy is None else accuracy
        hyper, failed = [net.hyper for net in self.nets], [not net.train_accuracy >= least for net in self.nets]
        kept, dropped = without_failures(hyper, failed, list(self.grid.axes), least, [net.seed for net in self.nets])
        found = (note("N004", "; ".join(dropped)),) if dropped else ()
        others = (one for one in self.notes if one.code != "N006")  # the poorly trained networks are left out
        return replace(self, nets=tuple(self.nets[k] for k in kept), notes=(*others, *found))

    def net(self, which: int | str, device: Any = "cpu") -> Net:
        """Return one network with its training data, ready for a measure.

        Parameters
        ----------
        which : int or str
            Position, or name.
        device : str
            Where module and data go.
        """
        if self.data is None:
            raise InputError(
                "the zoo was loaded without data; load it with `Zoo.load(folder, data)` to measure networks."
            )
        record = self.nets[which] if isinstance(which, (int, np.integer)) else _find(self.nets, which)
        where = device_of(device)
        stored = read_weights(self.folder / f"group-{record.group:03d}.safetensors")
        make = self.grid.maker(record.hyper)
        shape, classes = tuple(self.data.X_train.shape[1:]), self.data.n_classes
        features = shape[0] if len(shape) == 1 else shape
        first = fresh_nets(lambda: make(features, classes), [record.weight_seed])[0]
        initial = {name: value.clone() for name, value in first.state_dict().items()}
        module = fill_from_group(make(features, classes), stored, record.name).to(where)
        there = self.data.of_cell(record.hyper).to(where)
        copy = None
        if any(key.startswith(f"{record.name}.copy80/") for key in stored):
            twin = fill_from_group(make(features, classes), stored, f"{record.name}.copy80").to(where)
            held = [row for row in self.held_out if row < len(there.y_train)]
            copy = Copy80(twin, torch.tensor(held, device=where))
        ends = there.value_range if there.X_train.ndim == 4 else (0.0, 1.0)
        return Net(
            module,
            there.X_train,
            there.y_train,
            value_range=ends,
            initial=initial,
            hyper=record.hyper,
            copy80=copy,
            epochs=record.epochs,
            train_loss=record.train_loss,
        )

    def __str__(self) -> str:
        lines = [f"zoo {self.grid.id}: {len(self)} networks, {len(set(self.seeds.tolist()))} seeds"]
        if len(self) and np.isfinite(self.gap).all():
            lines.append(f"gap {self.gap.min():.4f} to {self.gap.max():.4f}, standard deviation {self.gap.std():.4f}")
        return "\n".join([*lines, *map(str, self.notes)])


def _from_manifest(manifest: Mapping[str, Any], grid: ZooGrid, root: Path, data: ZooData | None) -> Zoo:
    records = [ZooNet(**record) for group in manifest["groups"].values() for record in group]
    order = {name: k for k, name in enumerate(sorted(r.name for r in records))}
    nets = sorted(records, key=lambda r: (r.seed, order[r.name]))
    notes = []
    missing = manifest["n_groups"] - len(manifest["groups"])
    if missing:
        notes.append(note("N005", f"{missing} of {manifest['n_groups']} groups are not trained yet"))
    poor = [net.name for net in nets if not net.train_accuracy >= grid.accuracy]
    if poor:
        more = f" and {len(poor) - 5} more" if len(poor) > 5 else ""
        notes.append(note("N006", f"training accuracy below {grid.accuracy:g}: {', '.join(poor[:5])}{more}"))
    gaps = np.array([net.gap for net in nets])
    if gaps.size and np.isfinite(gaps).all() and gaps.std() < 0.02:
        notes.append(note("N003", f"the gaps' standard deviation is {gaps.std():.3g}"))
    return Zoo(
        grid=grid, nets=tuple(nets), folder=root, data=data, held_out=tuple(manifest["held_out"]), notes=tuple(notes)
    )


def _find(nets: Sequence[ZooNet], name: str) -> ZooNet:
    for net in nets:
        if net.name == name:
            return net
    raise InputError(f"the zoo has no network {name!r}; its networks are called like {nets[0].name!r}.")


def _write_json(path: Path, content: Any) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1))
    partial.replace(path)


def fill_from_group(module: torch.nn.Module, stored: Mapping[str, torch.Tensor], label: str) -> torch.nn.Module:
    """Return the module with the weights that a zoo's group keeps under `label/`, in evaluation mode."""
    state = {key.partition("/")[2]: value for key, value in stored.items() if key.partition("/")[0] == label}
    if not state:
        raise InputError(f"the zoo's folder holds no weights of {label!r}.")
    floats = {key: value.float() if value.is_floating_point() else value for key, value in state.items()}
    module.load_state_dict(floats)
    return module.eval()
