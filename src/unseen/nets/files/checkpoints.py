"""Checkpoints as they occur: weights in dictionaries, behind first names, in shards and folders; nothing is unpickled freely."""

from __future__ import annotations

import importlib
import json
import re
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unseen.core.errors import InputError
from unseen.core.notes import Note, note
from unseen.nets.files.weights import read_metadata, read_weights

__all__ = [
    "ENDINGS",
    "Checkpoint",
    "FittedWeights",
    "checkpoint_rows",
    "fill_from",
    "fill_module",
    "find_checkpoints",
    "fit_weights",
    "load_weights",
    "read_checkpoint",
    "read_state",
]

ENDINGS = (".pt", ".pth", ".ckpt", ".safetensors")
INDEX = ".safetensors.index.json"
CONFIG, PICTURES_CONFIG = "config.json", "preprocessor_config.json"
# names under which programs keep the weights, the usual ones first
PLACES = ("", "state_dict", "model_state_dict", "model", "net", "network", "module", "model_state", "weights", "params")
# what is no net, though it holds tensors
OTHERS = re.compile(r"optim|sched|scaler|callback|loops|rng|hyper_parameters")
# averages over the training, and teachers: weights of the same shapes that are not the net that was trained
AVERAGES = re.compile(r"(^|[._])(\w*_)?(ema|swa|swa_\w+|averaged?|avg|teacher|shadow|momentum)(_\w+)?([._]|$)")
# entries beside a net that its forward does not need
EXTRAS = re.compile(
    r"(^|\.)(loss\w*|criterion|metrics?|\w+_metrics?|n_averaged|total_ops|total_params|pos_weight|class_weights?"
    r"|position_ids|num_batches_tracked|_extra_state)(\.|$)"
)
HYPER = (
    "hyper_parameters",
    "hparams",
    "hyperparameters",
    "model_args",
    "model_config",
    "model_kwargs",
    "args",
    "config",
    "cfg",
    "kwargs",
    "options",
    "opt",
)
NUMBERED = re.compile(r"(\d+)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """What a file or folder of weights holds.

    Parameters
    ----------
    name : str
        Path as it was given.
    states : dict
        Place in the file (empty for the file itself) to names and tensors.
    hyper : dict
        Hyper-parameters that were saved with the weights.
    facts : dict
        Single numbers and texts beside them, such as the epoch.
    config : dict
        Content of a folder's `config.json` and of its `preprocessor_config.json`, empty for a file.
    """

    name: str
    states: dict[str, dict[str, Tensor]]
    hyper: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedWeights:
    """Weights that fit a module, and what had to be chosen or left out."""

    state: dict[str, Tensor]
    notes: tuple[Note, ...]


def find_checkpoints(folder: str | PathLike[str]) -> dict[str, Path]:
    """Return the files and folders of weights in a folder and below by name, numbers in names in their order.

    A folder with `config.json` beside safetensors files, or with an index of shards, is one network. What trainers save beside
    the weights under names of its own (optimizer, schedule, random state) is passed over.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("epoch-10.pt", "epoch-9.pt", "optimizer.pt", "notes.txt"):
    ...         (Path(folder) / name).touch()
    ...     list(find_checkpoints(folder))
    ['epoch-9.pt', 'epoch-10.pt']
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"there is no folder {str(root)!r}.")
    found: dict[str, Path] = {}
    for place in [root, *(p for p in root.rglob("*") if p.is_dir() and not p.name.startswith("."))]:
        if _is_network(place):
            found[place.name if place == root else place.relative_to(root).as_posix()] = place
            continue
        for file in place.iterdir():
            if file.is_file() and file.suffix in ENDINGS and not OTHERS.search(file.name):
                found[file.relative_to(root).as_posix()] = file
    return {name: found[name] for name in sorted(found, key=_by_numbers)}


def _is_network(folder: Path) -> bool:
    files = [file.name for file in folder.iterdir() if file.is_file()]
    shards = any(name.endswith(INDEX) for name in files)
    return shards or (CONFIG in files and any(name.endswith(".safetensors") for name in files))


def _by_numbers(name: str) -> list[Any]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in NUMBERED.split(name)]


def read_checkpoint(path: str | PathLike[str]) -> Checkpoint:
    """Read a file of weights, an index of shards, or a folder with `config.json` and safetensors files.

    A torch file is opened by torch's own reader of weights, which builds tensors, plain containers and the few kinds that torch's
    safe list is given here (`argparse.Namespace`, paths, dates, numpy numbers); a file with anything else is refused, and nothing in it is run.

    Examples
    --------
    >>> import argparse, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "epoch-3.pt"
    ...     torch.save({"net": nn.Linear(2, 1).state_dict(), "epoch": 3, "args": argparse.Namespace(width=8)}, file)
    ...     found = read_checkpoint(file)
    >>> list(found.states["net"]), found.hyper, found.facts
    (['weight', 'bias'], {'width': 8}, {'epoch': 3})
    """
    place = Path(path)
    if place.is_dir():
        return _from_folder(place)
    if not place.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    if place.name.endswith(INDEX):
        return Checkpoint(name=str(path), states={"": _shards(place)})
    if place.suffix == ".safetensors":
        return Checkpoint(name=str(path), states={"": read_weights(place)}, hyper=_from_texts(read_metadata(place)))
    content = _load(place)
    if not isinstance(content, dict):
        raise InputError(
            f"{str(path)!r} must hold a state dictionary (names to tensors); it holds a {type(content).__name__}."
        )
    states = dict(_states(content, "", 3))
    if not states:
        held = ", ".join(map(str, list(content)[:8])) or "nothing"
        raise InputError(f"{str(path)!r} must hold a state dictionary (names to tensors); it holds {held}.")
    return Checkpoint(name=str(path), states=states, hyper=_hyper(content), facts=_facts(content))


def _from_folder(folder: Path) -> Checkpoint:
    indices = sorted(folder.glob(f"*{INDEX}"))
    files = indices or sorted(folder.glob("*.safetensors"))
    if not files:
        others = sorted(file.name for file in folder.iterdir() if file.suffix in (".bin", *ENDINGS))
        held = f"it holds {', '.join(others[:5])}" if others else "it holds no weights"
        raise InputError(f"{str(folder)!r} must hold safetensors files; {held}.")
    named = [file for file in files if file.name.startswith("model.")]
    if len(files) > 1 and len(named) != 1:
        raise InputError(
            f"{str(folder)!r} holds {', '.join(file.name for file in files[:5])}; name one of them, or the folder of all for a ranking."
        )
    chosen = (named or files)[0]
    state = _shards(chosen) if indices else read_weights(chosen)
    config = _json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    if (folder / PICTURES_CONFIG).is_file():
        config["pictures"] = _json(folder / PICTURES_CONFIG)
    return Checkpoint(name=str(folder), states={"": state}, config=config)


def _json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot read {str(file)!r}: {error}.") from error
    if not isinstance(content, dict):
        raise InputError(f"{str(file)!r} holds a {type(content).__name__}; an object is needed.")
    return content


def _shards(index: Path) -> dict[str, Tensor]:
    places = _json(index).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise InputError(f"{str(index)!r} has no weight_map, which names the file of every weight.")
    state: dict[str, Tensor] = {}
    for name in sorted(set(places.values())):
        if Path(name).name != name:  # a file names nothing outside its folder
            raise InputError(f"{str(index)!r} names {name!r}; shards must lie beside the index.")
        state |= read_weights(index.parent / name)
    absent = [name for name in places if name not in state]
    if absent:
        raise InputError(f"the shards of {str(index)!r} lack {absent[0]!r}.")
    return {name: state[name] for name in places}


def _harmless() -> list[Any]:
    """Return kinds that only hold values: building them runs no code of the file."""
    import argparse
    import collections
    import datetime
    import pathlib
    import types

    import numpy as np

    kinds: list[Any] = [argparse.Namespace, types.SimpleNamespace, collections.defaultdict, list, dict, int, float]
    kinds += [datetime.datetime, datetime.date, datetime.timedelta, pathlib.PosixPath, pathlib.PurePosixPath]
    core: Any = importlib.import_module("numpy._core.multiarray" if hasattr(np, "_core") else "numpy.core.multiarray")
    kinds += [np.ndarray, np.dtype, core.scalar, core._reconstruct]
    kinds += [type(np.dtype(kind)) for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")]
    return kinds


def _load(file: Path) -> Any:
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(_harmless()):
            warnings.simplefilter("ignore")  # torch wonders about pickles that are refused anyway
            return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # what a damaged or hostile file makes torch raise is not foreseeable
        raise InputError(
            f"{str(file)!r} holds pickled objects{_refused_kinds(file)} or is no torch file, and pickles can run code when opened; it was not opened. "
            "Save the weights alone: safetensors.torch.save_file(module.state_dict(), 'net.safetensors'), or torch.save(module.state_dict(), 'net.pt')."
        ) from error


def _refused_kinds(file: Path) -> str:
    """Return the kinds of objects that a file asks for and torch's safe list lacks, in words; reading them builds nothing."""
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(_harmless()):
            warnings.simplefilter("ignore")
            kinds = sorted(torch.serialization.get_unsafe_globals_in_checkpoint(file))
    except Exception:  # a file that is no torch file has none
        return ""
    return f" ({', '.join(kinds[:3])}{', ...' if len(kinds) > 3 else ''})" if kinds else ""


def _states(content: Mapping[Any, Any], place: str, depth: int) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """Yield every dictionary of tensors with its place, the usual names first."""
    held = {str(k): v for k, v in content.items() if not str(k).endswith("_extra_state")}
    if held and all(isinstance(value, Tensor) for value in held.values()):
        yield place, held
        return
    order = {name: k for k, name in enumerate(PLACES)}
    for key in sorted(held, key=lambda name: order.get(name, len(order))):
        value = held[key]
        if depth and isinstance(value, Mapping) and not OTHERS.search(key):
            yield from _states(value, f"{place}.{key}" if place else key, depth - 1)


def _hyper(content: Mapping[Any, Any]) -> dict[str, Any]:
    """Return hyper-parameters, also those one level deeper; the first place that names one counts."""
    found: dict[str, Any] = {}
    for name in HYPER:
        values = content.get(name)
        values = vars(values) if hasattr(values, "__dict__") and not isinstance(values, Mapping) else values
        if isinstance(values, Mapping):
            inner = [v for v in values.values() if isinstance(v, Mapping)]
            for part in (values, *inner):
                for key, value in part.items():
                    found.setdefault(str(key), value)
    if isinstance(content.get("arch"), str):
        found.setdefault("arch", content["arch"])
    return found


def _facts(content: Mapping[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in content.items():
        plain = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
        if isinstance(plain, (int, float, str)) or (hasattr(plain, "item") and getattr(plain, "ndim", 1) == 0):
            found[str(key)] = plain.item() if hasattr(plain, "item") else plain
    return found


def _from_texts(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return what a safetensors file says about itself, JSON values read."""
    found: dict[str, Any] = {}
    for key, text in texts.items():
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if isinstance(value, dict):
            for inner, one in value.items():
                found.setdefault(str(inner), one)
        found.setdefault(key, value)
    return found


@dataclass(frozen=True, eq=False)
class _Candidate:
    place: str
    prefix: str
    state: dict[str, Tensor]
    left: tuple[str, ...]
    reason: str

    @property
    def order(self) -> tuple[bool, int, int]:
        """Averages last, then the usual places first, then the shortest first name."""
        places = {name: k for k, name in enumerate(PLACES)}
        average = bool(AVERAGES.search(f"{self.place}.{self.prefix}"))
        return average, places.get(self.place, len(places)), len(self.prefix)

    @property
    def label(self) -> str:
        """Place and first name, as `state=` takes it."""
        return ".".join(part for part in (self.place, self.prefix.rstrip(".")) if part)


def fit_weights(checkpoint: Checkpoint, wanted: Mapping[str, Sequence[int]], which: str | None = None) -> FittedWeights:
    """Return the weights of a checkpoint that fit a module, by the names and shapes of its state.

    Parameters
    ----------
    checkpoint : Checkpoint
        What was read.
    wanted : mapping of str to shape
        Names and shapes that the module has.
    which : str, optional
        Place of the weights in the file, such as "model_ema"; by default the net that was trained, not an average over its training.

    Examples
    --------
    >>> net = nn.Linear(2, 1)
    >>> state = {f"net.{k}": v for k, v in net.state_dict().items()} | {"loss.weight": torch.ones(2)}
    >>> held = Checkpoint(name="a.ckpt", states={"state_dict": state})
    >>> fitted = fit_weights(held, {k: tuple(v.shape) for k, v in net.state_dict().items()})
    >>> list(fitted.state), fitted.notes[0].code
    (['weight', 'bias'], 'N008')
    """
    tried = [one for place, state in checkpoint.states.items() for one in _candidates(place, state, wanted)]
    chosen = [one for one in tried if not one.reason]
    if which is not None:
        chosen = [one for one in chosen if which in (one.place, one.label, one.prefix.rstrip("."))]
        if not chosen:
            known = ", ".join(dict.fromkeys(repr(one.label) for one in tried if not one.reason)) or "none"
            raise InputError(f"{checkpoint.name!r} has no weights at {which!r} that fit the module; it has {known}.")
    if not chosen:
        nearest = min(tried, key=lambda one: (one.order[0], len(set(wanted) - set(one.state)), one.order))
        raise InputError(f"the weights in {checkpoint.name!r} do not fit the module: {nearest.reason}")
    chosen.sort(key=lambda one: one.order)
    best, others = chosen[0], chosen[1:]
    remarks = []
    if others and which is None:
        labels = ", ".join(repr(one.label or "the file itself") for one in others)
        remarks.append(f"the weights at {best.label or 'the top'!r} were taken; others that fit are at {labels}")
    if best.left:
        more = f" and {len(best.left) - 3} more" if len(best.left) > 3 else ""
        remarks.append(f"left out, since the net has no place for them: {', '.join(best.left[:3])}{more}")
    notes = (note("N008", f"{Path(checkpoint.name).name}: {'; '.join(remarks)}"),) if remarks else ()
    return FittedWeights(state=best.state, notes=notes)


def _candidates(place: str, state: dict[str, Tensor], wanted: Mapping[str, Sequence[int]]) -> Iterator[_Candidate]:
    first = next((name for name in wanted if not EXTRAS.search(name)), "")
    found = [""] + [name[: -len(first)] for name in state if first and name.endswith(f".{first}")]
    for prefix in dict.fromkeys(found):
        inside = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
        kept = {name: inside[name] for name in wanted if name in inside}
        missing = sorted(name for name in wanted if name not in kept and not EXTRAS.search(name))
        extra = sorted(name for name in inside if name not in wanted)
        strange = [name for name in extra if not EXTRAS.search(name) and not AVERAGES.search(name)]
        outside = [name for name in state if not name.startswith(prefix)]
        reason = ""
        wrong = [name for name, value in kept.items() if tuple(value.shape) != tuple(wanted[name])]
        if missing:
            reason = f"they lack {missing[0]!r}; give the module they came from."
        elif strange:
            reason = f"they hold {strange[0]!r}, which the module has not; give the module they came from."
        elif wrong:
            there, here = tuple(kept[wrong[0]].shape), tuple(wanted[wrong[0]])
            reason = f"{wrong[0]!r} has shape {there} there and {here} in the module."
        yield _Candidate(place, prefix, kept, (*(prefix + name for name in extra), *outside), reason)


def checkpoint_rows(
    folder: str | PathLike[str], known: dict[Path, tuple[float, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return where the checkpoints of a folder stand: name, epoch, age in seconds.

    Parameters
    ----------
    folder : path
        Looked through with its subfolders.
    known : dict
        What was read before, by path; a file that has not changed is not read again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     torch.save({"model": nn.Linear(2, 1).state_dict(), "epoch": 7}, Path(folder) / "last.pt")
    ...     [(row["run"], row["epoch"], row["state"]) for row in checkpoint_rows(folder, {})]
    [('last.pt', 7, 'checkpoint')]
    """
    rows = []
    for name, path in find_checkpoints(folder).items():
        changed = path.stat().st_mtime
        if known.get(path, (0.0, {}))[0] != changed:
            try:
                facts = read_checkpoint(path).facts
                known[path] = changed, {"epoch": _number(facts, "epoch", "global_step"), "state": "checkpoint"}
            except InputError:  # it may be half written, or no checkpoint
                known[path] = changed, {"epoch": None, "state": "unreadable"}
        rows.append({"run": name, **known[path][1], "seconds_ago": round(time.time() - changed, 1)})
    return rows


def _number(facts: Mapping[str, Any], *names: str) -> float | None:
    found = (facts[name] for name in names if isinstance(facts.get(name), (int, float)))
    return next(found, None)


def read_state(path: str | PathLike[str]) -> dict[str, Tensor]:
    """Return named weights from a file: those of the net that was trained if there are several."""
    found = read_checkpoint(path).states
    return min(found.items(), key=lambda item: _Candidate(item[0], "", {}, (), "").order)[1]


def load_weights(module: nn.Module, path: str | PathLike[str], *, state: str | None = None) -> nn.Module:
    """Fill a module with weights from a file or folder and return it, or say where they do not fit.

    Parameters
    ----------
    module : nn.Module
        Net of the right architecture.
    path : path
        A safetensors file, a .pt, .pth or .ckpt file whose weights stand by themselves or under a name such as `state_dict`, `model` or
        `net`, or a folder of Hugging Face; one with pickled objects is refused. First names that a wrapper put before all weights
        are taken off.
    state : str, optional
        Place of the weights if the file has several, such as "model_ema"; the net that was trained by default.

    Examples
    --------
    >>> import os, tempfile, unseen.nets as nets
    >>> a, b = nets.make_mlp(2, 2), nets.make_mlp(2, 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     torch.save({"net": a.state_dict(), "epoch": 3}, os.path.join(folder, "net.pt"))
    ...     b = nets.load_weights(b, os.path.join(folder, "net.pt"))
    >>> bool((a[0].weight == b[0].weight).all())
    True
    """
    return fill_from(module, read_checkpoint(path), state)[0]


def fill_from(
    module: nn.Module, checkpoint: Checkpoint, which: str | None = None
) -> tuple[nn.Module, tuple[Note, ...]]:
    """Fill a module with the weights of a checkpoint that fit it; return it and what had to be chosen."""
    wanted = module.state_dict()
    shapes = {name: tuple(wanted[name].shape) for name in _stored_names(wanted, checkpoint)}
    fitted = fit_weights(checkpoint, shapes, which)
    module.load_state_dict(
        fitted.state, strict=False
    )  # what is missing was looked at: tied weights, counters of batches
    return module, fitted.notes


def _stored_names(wanted: Mapping[str, Tensor], checkpoint: Checkpoint) -> list[str]:
    """Return the names of weights that are stored: of several names of one tensor, safetensors files keep one."""
    held = {name for state in checkpoint.states.values() for name in state}
    owners: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for name, value in wanted.items():
        owners.setdefault((value.data_ptr() or id(value), tuple(value.shape)), []).append(name)
    kept = {name for names in owners.values() for name in ([n for n in names if n in held] or names)}
    return [name for name in wanted if name in kept]


def fill_module(module: nn.Module, state: dict[str, Tensor], name: str) -> nn.Module:
    """Fill a module with named weights, or say where they do not fit."""
    return fill_from(module, Checkpoint(name=name, states={"": state}))[0]
