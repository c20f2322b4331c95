"""Networks in a folder: checkpoints as they lie there, a manifest that names them, or a zoo."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError, UnknownName, UnseenError
from unseen.core.notes import Note, note
from unseen.core.rng import RandomState, root_seed, stream
from unseen.nets.files.checkpoints import Checkpoint, find_checkpoints, read_checkpoint
from unseen.nets.files.examples import Examples, normalise, open_arrays, read_examples
from unseen.nets.modules import architectures
from unseen.nets.modules.device import device_of, limited_torch
from unseen.nets.modules.layers import eval_mode
from unseen.nets.modules.net import Copy80, Net
from unseen.nets.modules.tokens import BehindEmbedding, NamedInputs, in_one_tensor
from unseen.nets.training.fit_many import fit_many
from unseen.nets.zoo.network_options import Architecture, MadeNetwork, make_network
from unseen.nets.zoo.zoo import Zoo

__all__ = [
    "Networks",
    "class_numbers",
    "count_classes",
    "is_zoo",
    "options_beside",
    "own_normalisation",
    "read_networks",
    "read_zoo_data",
]

MAKERS = [name for name in architectures.__all__ if name.startswith("make_")]
MANIFEST = "manifest.json"
SHOWN = 3  # reasons, or names, in one message


@dataclass(frozen=True, kw_only=True, eq=False)
class Networks(Mapping[str, Net]):
    """Trained networks by name, as `rank` takes them, with what had to be chosen on the way.

    Parameters
    ----------
    nets : dict of str to Net
        Each with its training data.
    options : dict of str to dict
        What each was made with.
    makers : dict of str to callable
        Functions that make each untrained.
    notes : tuple of Note
        Weights chosen, options inferred, files left out, normalisation.
    """

    nets: dict[str, Net]
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    makers: dict[str, Callable[[], torch.nn.Module]] = field(default_factory=dict, repr=False)
    notes: tuple[Note, ...] = ()

    def __getitem__(self, name: str) -> Net:
        return self.nets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nets)

    def __len__(self) -> int:
        return len(self.nets)

    def with_copies(
        self,
        training: Mapping[str, Any],
        *,
        random_state: RandomState = 0,
        device: Any = "auto",
        progress: Any = False,
    ) -> Networks:
        """Return the networks with a copy of each architecture trained on 80% of the data, which shows how large gaps are.

        Parameters
        ----------
        training : mapping
            Options of `fit_many`: how the networks themselves were trained.
        random_state : int, Generator or None
            Of the rows held out and of the copies.
        device : str
            Where to train.
        progress : bool, optional
            Show a bar.
        """
        if not self.makers:
            raise InputError("copies are trained by a function that makes the net (--module); a zoo brings its own.")
        seed = root_seed(random_state)
        nets, known = dict(self.nets), {}
        for name, net in self.nets.items():
            key = repr(sorted(self.options[name].items()))
            if key not in known:
                order = stream(seed, "rank", "copies").permutation(net.n)
                held = np.sort(order[: max(1, net.n // 5)])
                rows = np.setdiff1d(np.arange(net.n), held)
                make, X, behind = self.makers[name], net.X_train, None
                if isinstance(net.module, BehindEmbedding):  # a text is trained on by its tokens
                    behind = net.module
                    make, X = behind.trainable(make), behind.tokens_of(X).float()
                elif isinstance(net.module, NamedInputs):
                    make = partial(_name_inputs, make, net.module.widths)
                fits = fit_many(
                    make, X, net.y_train, [rows], seeds=[seed], device=device, progress=progress, **training
                )
                copy = fits.module(0).to(net.device).eval()
                copy = copy if behind is None else behind.like(copy).eval()
                known[key] = Copy80(copy, torch.as_tensor(held, device=net.device))
            nets[name] = replace(net, copy80=known[key])
        return replace(self, nets=nets)


@limited_torch()
def _name_inputs(make: Callable[[], torch.nn.Module], widths: dict[str, int]) -> torch.nn.Module:
    return NamedInputs(make(), widths)


def read_networks(
    folder: str | PathLike[str],
    data: Any,
    *,
    make: Callable[..., Any] | None = None,
    only: Sequence[str] = (),
    device: Any = "cpu",
    state: str | None = None,
    classes: Sequence[Any] | None = None,
    value_range: tuple[Any, Any] | None = None,
) -> Networks:
    """Read networks and their training data, ready to be ranked.

    Parameters
    ----------
    folder : path
        Files of weights (.pt, .pth, .ckpt, .safetensors), or folders of Hugging Face, in it and below; a `manifest.json` in it counts
        first: that of a zoo (`Zoo.train`), or ``{"networks": {"a": {"weights": "a.pt", "options": {"blocks": 3}}, ...}, "value_range": [0, 1]}``,
        where ``"make": "make_vgg"`` may name an architecture of this package. Nothing in the files is executed.
    data : path, Examples, DataLoader or Dataset
        Training data, see `read_examples`. A zoo needs the very images it was trained on.
    make : callable, optional
        Makes an untrained network. Its arguments come from the manifest, from the checkpoint's own hyper-parameters, from the file name
        (`width64`), from the data (`n_classes`, `in_channels`), or are sought so that the shapes of the weights fit. If that fails, a manifest to
        complete is written into the folder.
    only : sequence of str
        Names of the networks wanted; all by default.
    device : str
        Where networks and data go.
    state : str, optional
        Which weights of files that hold several, such as "model_ema".
    classes : sequence, optional
        Labels of the outputs in their order; otherwise the sorted labels of the data, or whole numbers as they are.
    value_range : tuple, optional
        Values of black and white pixels.

    Returns
    -------
    Networks

    Examples
    --------
    >>> import tempfile
    >>> from unseen.nets import make_mlp
    >>> X, y = np.random.default_rng(0).normal(size=(12, 4)), np.arange(12) % 3
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for width in (4, 8):
    ...         torch.save({"model": make_mlp(4, 3, width=width).state_dict()}, Path(place) / f"run{width}.pt")
    ...     found = read_networks(place, (X, y), make=make_mlp)
    >>> list(found), found.options["run8.pt"], found.notes[0].code
    (['run4.pt', 'run8.pt'], {'width': 8}, 'N009')
    """
    root = Path(folder)
    manifest = _manifest(root)
    if "grid" in manifest:
        zoo = Zoo.load(root, read_zoo_data(data))
        names = _select([net.name for net in zoo.nets], only)
        return Networks(nets={name: zoo.net(name, device) for name in names})
    entries = _entries(root, manifest)
    examples = data if isinstance(data, Examples) else read_examples(data)
    count = count_classes(examples, classes)
    known: dict[Any, Architecture] = {}
    made: dict[str, MadeNetwork] = {}
    held: dict[str, Checkpoint] = {}
    failed: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    for name in _select(list(entries), only):
        entry = entries[name]
        try:
            held[name] = read_checkpoint(_file(root, name, entry))
        except InputError as error:
            if manifest:
                raise
            unreadable[name] = str(error)
            continue
        factory = _factory(name, entry, make)
        architecture = known.setdefault(factory, Architecture(make=factory, shape=examples.shape, n_classes=count))
        try:
            made[name] = make_network(architecture, held[name], name, _options(name, entry), state)
        except UnseenError as error:
            failed[name] = str(error)
    if failed:
        raise _cannot_make(root, manifest, entries, make, made, failed)
    if unreadable and not made:
        reasons = "; ".join(list(unreadable.values())[:SHOWN])
        raise InputError(f"no network in {str(root)!r} can be read: {reasons}")
    if not made:
        return Networks(nets={})
    ends = value_range or manifest.get("value_range") or examples.value_range
    if ends is not None and (not isinstance(ends, (list, tuple)) or len(ends) != 2):
        raise InputError(f"value_range is {ends!r}; give the values of black and white, such as [0, 1].")
    where = device_of(device)
    placed = _Placed(examples, where, None if ends is None else (ends[0], ends[1]))
    y = class_numbers(examples, count_outputs(next(iter(made.values())).module, examples), classes)
    nets = {name: placed.net(one.module.eval(), held[name], y) for name, one in made.items()}
    notes = (*_notes(made, unreadable), *placed.notes)
    makers = {name: one.maker for name, one in made.items() if one.maker is not None}
    return Networks(nets=nets, options={name: one.options for name, one in made.items()}, makers=makers, notes=notes)


class _Placed:
    """The examples on their device, once for every normalisation that the networks ask for."""

    def __init__(self, examples: Examples, where: torch.device, ends: tuple[Any, Any] | None) -> None:
        self.examples, self.where, self.ends = examples, where, ends
        self.inputs: dict[Any, Any] = {}
        self.notes: list[Note] = []

    def net(self, module: torch.nn.Module, checkpoint: Checkpoint, y: np.ndarray) -> Net:
        own = None if self.ends is not None else own_normalisation(module, checkpoint, self.examples)
        if own not in self.inputs:
            shown = self.examples if own is None else normalise(self.examples, *own)
            X = shown.X if isinstance(shown.X, Mapping) else torch.as_tensor(shown.X).to(self.where)
            self.inputs[own] = X, shown.value_range
            if own is not None:
                mean, std = (", ".join(f"{v:.4g}" for v in values) for values in own)
                self.notes.append(note("N011", f"mean {mean} and standard deviation {std}"))
        X, ends = self.inputs[own]
        return Net.of(module, X, y, device=self.where, value_range=self.ends or ends or (0.0, 1.0))


def own_normalisation(
    module: torch.nn.Module, checkpoint: Checkpoint | None, examples: Examples
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return mean and standard deviation per channel that a net's own configuration names for images from 0 to 1; None without one.

    timm's nets carry them as `pretrained_cfg`, folders of Hugging Face in `preprocessor_config.json`.
    """
    if not examples.is_images or examples.value_range is not None:
        return None
    if float(examples.X.min()) < -1e-3 or float(examples.X.max()) > 1 + 1e-3:
        return None  # normalised already
    said = getattr(module, "pretrained_cfg", None) or getattr(module, "default_cfg", None) or {}
    pictures = checkpoint.config.get("pictures", {}) if checkpoint is not None else {}
    if pictures.get("do_normalize", True) and "image_mean" in pictures:
        said = {"mean": pictures["image_mean"], "std": pictures.get("image_std")}
    get = said.get if isinstance(said, Mapping) else lambda name: getattr(said, name, None)
    mean, std = get("mean"), get("std")
    if not isinstance(mean, (list, tuple)) or not isinstance(std, (list, tuple)):
        return None
    if len(mean) != examples.shape[0] or len(std) != examples.shape[0]:
        return None
    return tuple(map(float, mean)), tuple(map(float, std))


def count_classes(examples: Examples, classes: Sequence[Any] | None) -> int:
    """Return how many classes a net for these examples has."""
    if classes is not None:
        return len(classes)
    if examples.y.dtype.kind == "i" and examples.y.min() == 0:
        return int(examples.y.max()) + 1
    return len(examples.classes)


@torch.no_grad()
def count_outputs(module: torch.nn.Module, examples: Examples) -> int | None:
    """Return how many logits a net gives; None if it cannot be run, which is said later."""
    X = {k: v[:2] for k, v in examples.X.items()} if isinstance(examples.X, Mapping) else examples.X[:2]
    net, rows = in_one_tensor(module, X)
    try:
        with eval_mode(net):
            out = net(torch.as_tensor(rows))
    except Exception:  # a net's forward may raise anything
        return None
    out = getattr(out, "logits", out)
    return int(out.shape[1]) if isinstance(out, torch.Tensor) and out.ndim == 2 else None


def class_numbers(examples: Examples, outputs: int | None, classes: Sequence[Any] | None = None) -> np.ndarray:
    """Return labels as numbers of the outputs.

    Whole numbers that are outputs stay as they are, also if some are missing from the data; other labels are numbered in their sorted order.

    Examples
    --------
    >>> e = read_examples((np.zeros((3, 2)), [2, 0, 2]))
    >>> class_numbers(e, 10).tolist(), class_numbers(e, 2).tolist(), class_numbers(e, 3, [0, 2, 1]).tolist()
    ([2, 0, 2], [1, 0, 1], [1, 0, 1])
    """
    y = examples.y
    if classes is not None:
        order = {label: k for k, label in enumerate(classes)}
        unknown = [label for label in examples.classes if label not in order]
        if unknown:
            raise InputError(f"the data hold the label {unknown[0]!r}, which is none of the classes {list(classes)}.")
        return np.array([order[label] for label in y.tolist()])
    if y.dtype.kind == "i" and y.min() >= 0 and outputs is not None and y.max() < outputs:
        return np.asarray(y)
    return np.searchsorted(np.asarray(examples.classes), y)


def is_zoo(folder: str | PathLike[str]) -> bool:
    """Return whether a folder is one that `Zoo.train` filled."""
    return "grid" in _manifest(Path(folder))


def options_beside(file: Path) -> dict[str, Any]:
    """Return the options that a manifest in the folder of a file of weights names for it; none without a manifest."""
    for name, entry in _manifest(file.parent).get("networks", {}).items():
        if isinstance(entry, dict) and entry.get("weights") == file.name:
            return _options(name, entry)
    return {}


def _manifest(root: Path) -> dict[str, Any]:
    file = root / MANIFEST
    if not file.is_file():
        return {}
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{str(root)!r} holds no readable manifest.json: {error}.") from error
    if not isinstance(manifest, dict):
        raise InputError(
            f"the manifest in {str(root)!r} is a {type(manifest).__name__}; it must be an object with networks."
        )
    if "grid" not in manifest and not isinstance(manifest.get("networks"), dict):
        raise InputError(
            f"the manifest in {str(root)!r} has neither a grid nor networks; see `unseen.nets.rank`'s page for its form."
        )
    return manifest


def _entries(root: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the manifest says of each network, or every checkpoint that lies in the folder."""
    if manifest:
        return dict(manifest["networks"])
    found = find_checkpoints(root)
    if not found:
        raise InputError(
            f"{str(root)!r} holds no files of weights (.pt, .pth, .ckpt, .safetensors), no folders of Hugging Face and no manifest.json."
        )
    return {name: {"weights": path.relative_to(root).as_posix()} for name, path in found.items()}


def read_zoo_data(path: str | PathLike[str]) -> dict[str, np.ndarray]:
    """Read the raw arrays of a zoo from an NPZ file with X_train, y_train and, if gaps are wanted, X_test and y_test."""
    with open_arrays(path) as file:
        if not hasattr(file, "files"):
            raise InputError(f"{str(path)!r} holds one array; an NPZ file with X_train and y_train is needed.")
        found = {name: file[name] for name in file.files}
    renamed = {"X": "X_train", "x": "X_train", "y": "y_train", "x_train": "X_train", "x_test": "X_test"}
    return {renamed.get(name, name): values for name, values in found.items()}


def _select(names: list[str], only: Sequence[str]) -> list[str]:
    for name in only:
        if name not in names:
            raise UnknownName("network", name, names)
    return list(only) or names


def _file(root: Path, name: str, entry: Any) -> Path:
    if not isinstance(entry, dict) or not isinstance(entry.get("weights"), str):
        raise InputError(f"network {name!r} of the manifest names no file of weights.")
    file = (root / entry["weights"]).resolve()
    if not file.is_relative_to(root.resolve()):
        raise InputError(
            f"network {name!r}: weights must lie in the folder of the manifest; {entry['weights']!r} does not."
        )
    return root / entry["weights"]


def _factory(name: str, entry: Mapping[str, Any], make: Any) -> Any:
    if "make" in entry:
        if entry["make"] not in MAKERS:
            raise UnknownName("architecture", entry["make"], MAKERS, "Others need a function of your own.")
        return getattr(architectures, entry["make"])
    if make is None:
        raise InputError(f"network {name!r} names no architecture; give a function that makes it.")
    return make


def _options(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    options = entry.get("options", {})
    if not isinstance(options, dict):
        raise InputError(f'network {name!r}: options is {options!r}; give an object such as {{"width": 32}}.')
    open_ones = [key for key, value in options.items() if value is None]
    if open_ones:
        raise InputError(f"network {name!r}: the manifest leaves {', '.join(open_ones)} open; say how it was made.")
    return options


def _cannot_make(
    root: Path,
    manifest: Mapping[str, Any],
    entries: Mapping[str, Any],
    make: Any,
    made: Mapping[str, MadeNetwork],
    failed: Mapping[str, str],
) -> InputError:
    """Return the error for networks that cannot be made; if the folder has no manifest, one to complete is written first."""
    first = next(iter(failed))
    why = failed[first].rstrip(".")
    count = f"{len(failed)} of {len(failed) + len(made)} networks cannot be made; " if len(failed) > 1 else ""
    reason = f"{count}network {first!r}: {why}."
    if manifest:
        return InputError(reason)
    asked = [name for name, p in Architecture(make=make, shape=(), n_classes=0).names.items() if name not in TOLD]
    content: dict[str, Any] = {"networks": {}}
    for name in (*made, *failed):
        open_ones = dict.fromkeys(asked) if name in failed else made[name].options
        content["networks"][name] = {"weights": entries[name]["weights"], "options": open_ones}
    target = root / MANIFEST
    try:
        target.write_text(json.dumps(content, indent=1, default=str) + "\n", encoding="utf-8")
    except OSError as error:
        return InputError(f"{reason} A manifest to complete cannot be written to {str(target)!r}: {error.strerror}.")
    return InputError(
        f"{reason} {str(target)!r} was written: say there how these networks were made (options, where it says null), or take "
        "out what is no network of this function, and run this again."
    )


TOLD = ("n_features", "n_classes", "num_classes", "in_channels", "in_features")  # what the data tell


def _notes(made: Mapping[str, MadeNetwork], unreadable: Mapping[str, str]) -> tuple[Note, ...]:
    """Return what was chosen, inferred and left out, each kind once for all networks."""
    found: list[Note] = []
    chosen: dict[str, list[str]] = {}
    for name, one in made.items():
        for remark in one.notes:
            chosen.setdefault(remark.text.partition(": ")[2], []).append(name)
    found += [note("N008", f"{_some(names)}: {text}") for text, names in chosen.items()]
    inferred: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, one in made.items():
        if one.inferred:
            inferred.setdefault(tuple(sorted(one.inferred.items())), []).append(name)
    for kinds, names in inferred.items():
        by_source: dict[str, list[str]] = {}
        for key, source in kinds:
            by_source.setdefault(source, []).append(key)
        words = "; ".join(f"{', '.join(keys)} by the {SOURCES[source]}" for source, keys in by_source.items())
        found.append(note("N009", f"{_some(names)}: {words}"))
    if unreadable:
        reasons = "; ".join(f"{name}: {text}" for name, text in list(unreadable.items())[:SHOWN])
        more = f"; and {len(unreadable) - SHOWN} more" if len(unreadable) > SHOWN else ""
        found.append(note("N010", reasons + more))
    return tuple(found)


SOURCES = {
    "file name": "name of the file",
    "checkpoint": "checkpoint's own hyper-parameters",
    "shapes": "shapes of the weights",
}


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
