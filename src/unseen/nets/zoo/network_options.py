"""How a network is made: its options from a manifest, from the checkpoint itself, from its file name, or from the shapes of its weights."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import torch
from torch import Tensor, nn

from unseen.core.errors import InputError, UnseenError
from unseen.core.notes import Note
from unseen.nets.files.checkpoints import Checkpoint, fill_from, fit_weights
from unseen.nets.training.initial_weights import known_arguments, maker_of, parameters_of

__all__ = ["Architecture", "MadeNetwork", "make_network", "options_in_name"]

Shapes = dict[str, tuple[int, ...]]
MOST_BUILDS = 3000  # nets made without memory while options are sought; a small net takes about a millisecond
BEAM = 6  # combinations kept while further options are tried
SMALL = range(13)  # numbers of layers and blocks that are tried besides the sizes in the weights
COUNTS = re.compile(r"depth|block|layer|dense|stage|head|repeat|^n$|^num$|^k$")
MOST_LAYERS = 64  # an option that counts layers is not tried beyond this
MOST_SIZES = 40  # sizes tried for one option, the most frequent ones
# options that would fetch or read weights of others
NEVER = ("pretrained", "weights", "checkpoint_path", "cache_dir", "progress", "device", "dtype")
ARCHITECTURE_NAMES = ("model_name", "name", "arch", "model")  # arguments that name an architecture
SAVED_NAMES = ("arch", "model_name", "architecture", "model")  # and where programs save that name


@dataclass(frozen=True, kw_only=True, eq=False)
class Architecture:
    """A factory with the data its nets take: what `make_network` asks it for.

    Parameters
    ----------
    make : callable
        Makes an untrained net.
    shape : tuple of int
        Shape of one input.
    n_classes : int
        Different labels in the data.
    found : dict
        Options found before, by the names and shapes of weights, so that forty checkpoints of one net are looked at once.
    """

    make: Callable[..., Any]
    shape: tuple[int, ...]
    n_classes: int
    found: dict[Any, dict[str, Any]] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, inspect.Parameter]:
        """Arguments that can be given by name."""
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return {name: p for name, p in parameters_of(self.make).items() if p.kind in kinds}

    def build(self, options: Mapping[str, Any]) -> nn.Module:
        """Return an untrained net."""
        return maker_of(self.make, self.shape, self.n_classes, options)()


@dataclass(frozen=True, kw_only=True, eq=False)
class MadeNetwork:
    """A trained net, the options it was made with, which of them were inferred, what had to be chosen, and how to make another."""

    module: nn.Module
    options: dict[str, Any]
    inferred: dict[str, str]
    notes: tuple[Note, ...]
    maker: Callable[[], nn.Module] | None = None


def make_network(
    architecture: Architecture,
    checkpoint: Checkpoint,
    name: str,
    given: Mapping[str, Any] | None = None,
    state: str | None = None,
) -> MadeNetwork:
    """Make the net of a checkpoint and fill it.

    Options that are given count first, then the checkpoint's own hyper-parameters, then what the file name says; the rest is left
    to the factory, or sought so that names and shapes of the weights fit.

    Parameters
    ----------
    architecture : Architecture
        Factory and data.
    checkpoint : Checkpoint
        Weights with what was saved beside them.
    name : str
        Name of the file, such as "width=64/epoch-3.pt".
    given : mapping, optional
        Options of a manifest.
    state : str, optional
        Which weights of the file, see `load_weights`.

    Examples
    --------
    >>> from unseen.nets import make_mlp
    >>> held = Checkpoint(name="a.pt", states={"": make_mlp(4, 3, depth=2, width=24).state_dict()})
    >>> made = make_network(Architecture(make=make_mlp, shape=(4,), n_classes=3), held, "a.pt")
    >>> made.options, made.inferred
    ({'depth': 2, 'width': 24}, {'depth': 'shapes', 'width': 'shapes'})
    """
    if checkpoint.config and _takes_config(architecture.make):
        module, notes = _from_folder(architecture.make, checkpoint, state)
        return MadeNetwork(module=module, options={}, inferred={}, notes=notes)
    names = architecture.names
    said = dict.fromkeys(options_in_name(name, names), "file name") | dict.fromkeys(
        _saved_options(checkpoint, names), "checkpoint"
    )
    sources = {**options_in_name(name, names), **_saved_options(checkpoint, names)}
    options = {**sources, **(given or {})}
    first: UnseenError
    try:
        module, notes = fill_from(architecture.build(options), checkpoint, state)
        return _network_of(architecture, module, options, said, given, notes)
    except UnseenError as error:
        first = error
    key = tuple((place, k, tuple(v.shape)) for place, held in checkpoint.states.items() for k, v in held.items())
    for fixed in (options, dict(given or {})):  # what a name or a program seems to say may be wrong
        known = architecture.found.get(key)
        found = known if known is not None else _seek(architecture, checkpoint, fixed, state)
        if found is None:
            continue
        architecture.found[key] = found
        whole = {**found, **{k: v for k, v in fixed.items() if k not in found}}
        try:
            module, notes = fill_from(architecture.build(whole), checkpoint, state)
        except UnseenError:
            continue
        return _network_of(
            architecture, module, whole, {**said, **dict.fromkeys(set(found) - set(fixed), "shapes")}, given, notes
        )
    raise first


def _network_of(
    architecture: Architecture,
    module: nn.Module,
    options: dict[str, Any],
    said: Mapping[str, str],
    given: Mapping[str, Any] | None,
    notes: tuple[Note, ...],
) -> MadeNetwork:
    inferred = {key: said[key] for key in sorted(options) if key in said and key not in (given or {})}
    known = {k: options[k] for k in sorted(options)}
    return MadeNetwork(
        module=module, options=known, inferred=inferred, notes=notes, maker=lambda: architecture.build(known)
    )


def options_in_name(name: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that a file name says: `width64`, `width=64`, `width_64` or `width-64`; words need `=`.

    Examples
    --------
    >>> options_in_name("runs/vgg_width64_dropout-0.5_act=tanh_epoch3.pt", {"width": 0, "dropout": 0, "act": 0})
    {'width': 64, 'dropout': 0.5, 'act': 'tanh'}
    """
    text = name.removesuffix(PurePath(name).suffix)
    truth: dict[str, Any] = {"True": True, "False": False, "true": True, "false": False}
    found: dict[str, Any] = {}
    for key in names:
        if key in NEVER:
            continue
        start = rf"(?<![A-Za-z]){re.escape(key)}"
        number = re.search(rf"{start}[=_-]?(\d+(?:\.\d+)?(?:e-?\d+)?)(?![A-Za-z\d])", text)
        word = re.search(rf"{start}=([A-Za-z][\w-]*?)(?=$|[_/.,-])", text)
        if number:
            found[key] = float(number[1]) if not number[1].isdigit() else int(number[1])
        elif word:
            found[key] = truth.get(word[1], word[1])
    return found


def _saved_options(checkpoint: Checkpoint, names: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """Return the hyper-parameters saved with the weights that the factory asks for by name."""
    plain = (int, float, str, bool, list, tuple)
    saved = {key: value for key, value in checkpoint.hyper.items() if isinstance(value, plain) and key not in NEVER}
    found = {key: saved[key] for key in names if key in saved}
    for key, parameter in names.items():
        if key in ARCHITECTURE_NAMES and parameter.default is parameter.empty:
            other = next((saved[n] for n in SAVED_NAMES if isinstance(saved.get(n), str)), None)
            if other is not None:
                found[key] = other
    return found


def _takes_config(make: Any) -> bool:
    return hasattr(make, "from_config") or hasattr(make, "config_class")


def _from_folder(make: Any, checkpoint: Checkpoint, state: str | None) -> tuple[nn.Module, tuple[Note, ...]]:
    """Return the net of a folder of Hugging Face, by the package's own reader if the names in the file are not the net's."""
    made = _from_config(make, checkpoint)
    try:
        return fill_from(made, checkpoint, state)
    except InputError:
        if not hasattr(make, "from_pretrained"):
            raise
        try:
            # safetensors of this folder alone: nothing is fetched, unpickled or imported
            read, told = make.from_pretrained(
                checkpoint.name, use_safetensors=True, local_files_only=True, output_loading_info=True
            )
        except Exception as error:  # somebody's class reads somebody's file
            text = (str(error).strip().splitlines() or [""])[0]
            raise InputError(f"{getattr(make, '__name__', make)} cannot read {checkpoint.name!r}: {text}.") from error
        absent = sorted(map(str, told.get("missing_keys", ())))
        if absent or told.get("mismatched_keys"):
            named = repr(absent[0]) if absent else "weights of these shapes"
            raise InputError(f"the weights in {checkpoint.name!r} do not fit the module: they lack {named}.") from None
        return read.float(), ()


def _from_config(make: Any, checkpoint: Checkpoint) -> nn.Module:
    """Return the net that `config.json` describes, made by a class in the manner of Hugging Face, without its files of weights."""
    said = {key: value for key, value in checkpoint.config.items() if key != "pictures"}
    try:
        kind = getattr(make, "config_class", None)
        if kind is not None:
            module = make(kind.from_dict(said))
        else:
            package = importlib.import_module(type.mro(make)[0].__module__.partition(".")[0])
            module = make.from_config(package.AutoConfig.for_model(**said))
    except Exception as error:  # somebody's class reads somebody's file
        text = (str(error).strip().splitlines() or [""])[0]
        raise InputError(
            f"{getattr(make, '__name__', make)} cannot be made from the config.json in {checkpoint.name!r}: {text}."
        ) from error
    if not isinstance(module, nn.Module):
        raise InputError(f"{getattr(make, '__name__', make)} gave a {type(module).__name__} and no torch.nn.Module.")
    return module.float()


def _seek(
    architecture: Architecture, checkpoint: Checkpoint, fixed: Mapping[str, Any], state: str | None
) -> dict[str, Any] | None:
    """Return options with which names and shapes of the weights fit, the best few kept as option after option is tried; None if there are none."""
    search = _Search(architecture, checkpoint, dict(fixed), state)
    known = known_arguments(architecture.shape, architecture.n_classes)
    free = {name: p for name, p in architecture.names.items() if name not in fixed and name not in NEVER}
    tries = {name: list(_values(p, search.states)) for name, p in free.items()}
    asked = [name for name, values in tries.items() if values]
    # what the data say is doubted last: labels may be missing from a part of the data
    for names in ([name for name in asked if name not in known], asked):
        beam = [_first_guess(known, tries, free)]
        for _ in range(3):
            before = beam
            for name in names:
                grown = beam + [{**options, name: value} for options in beam for value in tries[name]]
                beam = sorted(_distinct(grown), key=search.score, reverse=True)[:BEAM]
                if search.score(beam[0]) == 1:
                    return _drop_defaults(search, beam[0])
            if beam == before:
                break
    return None


def _distinct(many: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({repr(sorted(options.items())): options for options in many}.values())


def _first_guess(known: Mapping[str, Any], tries: Mapping[str, list[Any]], free: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for options without a default that the data do not tell: the first value to try."""
    bare = [name for name, p in free.items() if p.default is p.empty and name not in known]
    return {name: tries[name][0] for name in bare if name in tries}


def _drop_defaults(search: _Search, options: dict[str, Any]) -> dict[str, Any]:
    """Leave out options that fit without being named."""
    for name in list(options):
        fewer = {key: value for key, value in options.items() if key != name}
        if search.score(fewer) == 1:
            options = fewer
    return options


class _Search:
    """Nets made without memory, and how well their names and shapes fit the weights."""

    def __init__(self, architecture: Architecture, checkpoint: Checkpoint, fixed: dict[str, Any], state: str | None):
        self.architecture, self.checkpoint, self.fixed, self.state = architecture, checkpoint, fixed, state
        self.states = [one for held in checkpoint.states.values() for one in _bare_states(held)]
        self.builds, self.where = 0, "meta"
        self.known: dict[str, float] = {}

    def score(self, options: Mapping[str, Any]) -> float:
        """Return the share of names and shapes that agree, 1 if the weights fit."""
        key = repr(sorted(options.items()))
        if key not in self.known:
            self.known[key] = self._score({**options, **self.fixed}) if self.builds < MOST_BUILDS else -1.0
            self.builds += 1
        return self.known[key]

    def _score(self, options: dict[str, Any]) -> float:
        shapes = self._shapes(options)
        if shapes is None:
            return -1.0
        try:
            fit_weights(self.checkpoint, shapes, self.state)
            return 1.0
        except InputError:
            return max(_agreement(shapes, state) for state in self.states)

    def _shapes(self, options: dict[str, Any]) -> Shapes | None:
        for where in dict.fromkeys((self.where, "cpu")):
            try:
                with warnings.catch_warnings(), torch.random.fork_rng(devices=[]), torch.device(where):
                    warnings.simplefilter("ignore")  # a layer without units is tried too
                    made = self.architecture.build(options)
                self.where = where  # a factory that computes with weights cannot be run without memory
                return {name: tuple(value.shape) for name, value in made.state_dict().items()}
            except UnseenError:
                continue
        return None


def _bare_states(state: dict[str, Tensor]) -> Iterator[Shapes]:
    """Yield shapes by name, as they are and without first names that many weights share."""
    shapes = {name: tuple(value.shape) for name, value in state.items()}
    yield shapes
    for depth in (1, 2):
        parts: dict[str, Shapes] = {}
        for name, shape in shapes.items():
            pieces = name.split(".", depth)
            if len(pieces) > depth:
                parts.setdefault(".".join(pieces[:depth]), {})[pieces[depth]] = shape
        yield from (part for part in parts.values() if len(part) > 1)


def _agreement(wanted: Shapes, held: Shapes) -> float:
    """Return a number below 1: the mean of the shares of names, of shapes, and of both together that agree."""
    both = sum(held.get(name) == shape for name, shape in wanted.items())
    names = sum(name in held for name in wanted)
    shapes = (Counter(wanted.values()) & Counter(held.values())).total()
    return 0.999 * (both + names + shapes) / (3 * max(len(wanted), len(held)))


def _values(parameter: inspect.Parameter, states: Sequence[Shapes]) -> Iterator[Any]:
    """Yield values to try for an option: whole numbers, truth values, or sizes of successive layers, by its default."""
    default, said = parameter.default, str(parameter.annotation)
    sizes = [size for shape in states[0].values() for size in shape]
    common = sorted(set(sizes), key=lambda size: (-sizes.count(size), size))[:MOST_SIZES]
    if isinstance(default, bool):
        yield not default
        return
    bare = default is parameter.empty or default is None
    if isinstance(default, int) or (bare and "int" in said) or (bare and parameter.annotation is parameter.empty):
        counts = COUNTS.search(parameter.name)  # a net of 2,304 blocks would take minutes to make
        yield from dict.fromkeys([size for size in (*common, *SMALL) if not counts or size <= MOST_LAYERS])
    if isinstance(default, (list, tuple)) or (bare and ("[" in said or parameter.annotation is parameter.empty)):
        for rank in ((2,), (4,), (2, 4)):
            widths = [shape[0] for key, shape in states[0].items() if len(shape) in rank and key.endswith("weight")]
            for part in (widths[:-1], widths):
                if part:
                    yield type(default)(part) if isinstance(default, (list, tuple)) else part
