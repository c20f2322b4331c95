"""Fresh nets: one architecture, initialised once per seed, weights stacked over nets."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from unseen.core.errors import InputError, KindError, UnseenError

__all__ = [
    "CLASSES",
    "count_outputs",
    "fresh_nets",
    "known_arguments",
    "maker_of",
    "parameters_of",
    "require_pairs",
    "stacked_state",
    "strip_softmax",
]

Maker = Callable[[], nn.Module]


# arguments by which factories and classes ask for what the data say: classes, channels, features, side of an image
CLASSES = ("n_classes", "num_classes", "num_labels", "n_labels", "out_features", "output_dim", "n_outputs")
CHANNELS = ("in_channels", "in_chans", "input_channels")
FEATURES = ("in_features", "input_dim", "in_dim", "n_inputs")
SIDES = ("img_size", "image_size")


def maker_of(
    module: Any, sample_shape: Sequence[int], n_classes: int, options: Mapping[str, Any] | None = None
) -> Maker:
    """Return a function without arguments that makes an initialised module from a factory, a class or a module.

    A factory or class is called with the arguments it names: `n_features` (a number for flat rows, a shape for
    images) and `n_classes`, or what others call them (`num_classes`, `in_channels`, `in_features`, `img_size`, ...); one with two
    required arguments gets features and classes in that order. Of a net in skorch's manner (`module`,
    `module__width=...`) the module is taken; a Lightning module is a module, and its `forward` is used. `options` are
    further arguments, and count before what the data say.
    """
    module = _architecture_in(module)
    given = dict(options or {})
    if isinstance(module, nn.Module):
        if given:
            raise InputError(f"a module that is made already takes no options; {', '.join(given)} were given.")
        return lambda: _reset(copy.deepcopy(module))
    if not callable(module):
        raise KindError(
            f"the module is a {type(module).__name__}; give a torch.nn.Module, its class, or a function that makes one."
        )
    parameters = parameters_of(module)
    known = known_arguments(sample_shape, n_classes)
    named = {name: value for name, value in known.items() if name in parameters} | given
    required = [
        p.name
        for p in parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name not in named
    ]
    if len(required) == 2 and not named:
        return lambda: _call_factory(module, (known["n_features"], n_classes), {})
    if required:
        raise InputError(
            f"the factory {getattr(module, '__name__', module)} needs {', '.join(required)}; it may ask for n_features and n_classes only. "
            "Bind the rest with functools.partial."
        )
    # a function that passes **options on, as those of torchvision and timm do, takes the number of classes with them
    passes_on = any(p.kind is p.VAR_KEYWORD for p in parameters.values()) and not set(CLASSES) & set(named)
    if passes_on:
        return lambda: _call_passing(module, named, n_classes)
    return lambda: _call_factory(module, (), named)


def parameters_of(factory: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function or class by name; none if it does not tell them."""
    try:
        return dict(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        return {}


def known_arguments(sample_shape: Sequence[int], n_classes: int) -> dict[str, Any]:
    """Return what the data say about a net, under every name that factories ask for it by.

    Examples
    --------
    >>> found = known_arguments((3, 32, 32), 10)
    >>> found["n_features"], found["num_classes"], found["in_channels"], found["img_size"]
    ((3, 32, 32), 10, 3, 32)
    """
    shape = tuple(int(d) for d in sample_shape)
    known: dict[str, Any] = {"n_features": shape[0] if len(shape) == 1 else shape}
    known |= dict.fromkeys(CLASSES, n_classes) | dict.fromkeys(FEATURES, math.prod(shape))
    if len(shape) == 3:
        known |= dict.fromkeys(CHANNELS, shape[0]) | dict.fromkeys(SIDES, shape[-1])
    return known


def _call_passing(factory: Any, named: dict[str, Any], n_classes: int) -> nn.Module:
    try:
        made = factory(**named, num_classes=n_classes)
        return made if isinstance(made, nn.Module) else _call_factory(factory, (), named)
    except TypeError:  # it passes its options to something that asks for no classes
        return _call_factory(factory, (), named)


def _architecture_in(module: Any) -> Any:
    """Return the architecture inside a net that is trained in skorch's way, and anything else as it is."""
    if isinstance(module, (nn.Module, type)) or not hasattr(module, "module") or not hasattr(module, "fit"):
        return module
    made = getattr(module, "module_", None)
    if isinstance(made, nn.Module):
        return made
    params = module.get_params() if hasattr(module, "get_params") else {}
    options = {name[len("module__") :]: value for name, value in params.items() if name.startswith("module__")}
    return partial(module.module, **options) if options else module.module


def _call_factory(factory: Any, args: tuple[Any, ...], options: dict[str, Any]) -> nn.Module:
    try:
        made = factory(*args, **options)
    except UnseenError:
        raise
    except Exception as error:  # a factory may raise anything; its words are passed on
        given = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in options.items())])
        text = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        raise InputError(
            f"the factory {getattr(factory, '__name__', factory)} failed when called with ({given}): {text}"
        ) from error
    if not isinstance(made, nn.Module):
        raise KindError(f"the factory gave a {type(made).__name__}; it must give a torch.nn.Module.")
    return made


def _reset(module: nn.Module) -> nn.Module:
    """Draw all weights again that their layers know how to draw; other parameters keep their values."""
    for layer in module.modules():
        reset = getattr(layer, "reset_parameters", None)
        if callable(reset):
            reset()
        elif isinstance(layer, nn.modules.batchnorm._NormBase):
            layer.reset_running_stats()
    return module


def fresh_nets(make: Maker, seeds: Sequence[int]) -> list[nn.Module]:
    """Return one net per seed, each made under its own seed; torch's global generator is left as it was."""
    nets = []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.manual_seed(int(seed) % (1 << 63))
            nets.append(make().cpu())
    first = [(name, tuple(p.shape)) for name, p in nets[0].named_parameters()]
    for net in nets[1:]:
        if [(name, tuple(p.shape)) for name, p in net.named_parameters()] != first:
            raise InputError(
                "the factory made nets of different shapes; all nets of one call must have one architecture."
            )
    if not first:
        raise InputError("the module has no parameters; there is nothing to train.")
    return nets


def stacked_state(
    nets: Sequence[nn.Module], device: torch.device, dtype: torch.dtype
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return parameters and buffers of the nets, each stacked over nets in a new first axis."""

    def stack(values: list[Tensor]) -> Tensor:
        out = torch.stack([v.detach() for v in values])
        return out.to(device, dtype if out.is_floating_point() else out.dtype).contiguous()

    params = [dict(net.named_parameters()) for net in nets]
    buffers = [dict(net.named_buffers()) for net in nets]
    return (
        {name: stack([p[name] for p in params]) for name in params[0]},
        {name: stack([b[name] for b in buffers]) for name in buffers[0]},
    )


def count_outputs(net: nn.Module, X: Tensor) -> int:
    """Return how many logits the net gives for rows like X, or say why it cannot take them."""
    return int(_outputs(net, X).shape[1])


def _outputs(net: nn.Module, X: Tensor) -> Tensor:
    """Return what the net gives for two examples, in evaluation mode."""
    net = copy.deepcopy(net).to(X.dtype).eval()
    try:
        with torch.no_grad():
            out = net(X[:2].cpu().clone())
    except Exception as error:  # a module's forward may raise anything; its words are passed on
        shape = tuple(int(d) for d in X.shape[1:])
        text = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(
            f"the module cannot take examples of shape {shape}: {text}. "
            "Give X in the shape the module reads (images as (n, channels, height, width)), input_shape= to a Classifier of flat rows, or a "
            "module for this shape."
        ) from error
    if not isinstance(out, Tensor) or out.dim() != 2 or out.shape[0] != len(X[:2]):
        got = tuple(out.shape) if isinstance(out, Tensor) else type(out).__name__
        raise InputError(f"the module gives {got} for two examples; it must give one row of logits for each.")
    return out


def require_pairs(net: nn.Module, X: Tensor, lengths: Tensor, batch_size: int) -> None:
    """Refuse batches of one example if the net would normalise each channel by a single value, as torch does."""
    single = (lengths == 1).nonzero().flatten().tolist()
    if batch_size > 1 and not single:
        return
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            copy.deepcopy(net).to(X.dtype).train()(X[:1].cpu().clone())
    except ValueError as error:
        what = "batch_size is 1" if batch_size == 1 else f"net {single[0]} trains on a single row"
        raise InputError(
            f"{what}, but batch normalisation needs at least two examples in a batch; give more, or use nn.LayerNorm."
        ) from error


def strip_softmax(nets: Sequence[nn.Module], X: Tensor) -> Sequence[nn.Module]:
    """Take the softmax off the end of nets that return probabilities, as nets for skorch often do; refuse one that stays.

    Cross-entropy reads logits: fed with probabilities it would train, and train badly.

    Examples
    --------
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))
    >>> X = torch.ones(2, 2)
    >>> shares = net(X)
    >>> (bare,) = strip_softmax([net], X)
    >>> bool(torch.allclose(bare(X).softmax(1), shares)), type(bare[1]).__name__
    (True, 'Identity')
    """
    out = _outputs(nets[0], X)
    if out.shape[1] < 2 or bool((out < 0).any()) or not bool(((out.sum(1) - 1).abs() < 1e-4).all()):
        return nets
    for net in nets:
        for path in [name for name, part in net.named_modules() if isinstance(part, nn.Softmax)][-1:]:
            parent, _, name = path.rpartition(".")
            setattr(net.get_submodule(parent), name, nn.Identity())
    if not torch.allclose(_outputs(nets[0], X).softmax(1), out, atol=1e-5):
        raise InputError(
            "the module returns probabilities, and training needs its logits; leave out the softmax at its end (predict_proba applies it)."
        )
    return nets
