"""`unseen nets estimate`: the error of a trained net from its training data, without training it again."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

import typer

from unseen.core.errors import InputError, MissingExtra, UnknownName, UnseenError
from unseen.nets.commands._flags import (
    Channels,
    Classes,
    DataPath,
    Device,
    FailIf,
    Kappa,
    Layer,
    Limit,
    Method,
    ModuleName,
    Options,
    Points,
    Repeats,
    SampleOptions,
    Sampler,
    Samples,
    Training,
    Validation,
    Weights,
)
from unseen.nets.commands._options import check_given, labels_of
from unseen.nets.commands._samples import own_samples
from unseen.request.command_line import (
    Json,
    Quiet,
    Report,
    Seed,
    Store,
    check_store,
    check_writable,
    command,
    emit,
    keep,
    progress_for,
    write_report,
)

__all__: list[str] = []

HELP = """Estimate the error of a trained net on unseen data from the data it was trained on.

--module imports your code and calls the function named; give only code you trust. Weights are read from safetensors, or from
a .pt file that holds nothing but tensors: files with pickled objects are refused and nothing in them is run. A file written by
Classifier.save needs no --module if its architecture is one of this package's.

Calibrated methods train copies: say how with --train. Bayesian methods sample the weights: say how with --sampler, or give samples
of your own with --samples.
"""
TEXTS = ("posterior_layer",)  # options whose value is text, also if it looks like a number


@command("estimate", group="nets", help=HELP)
def estimate(
    data: DataPath,
    module: ModuleName = None,
    weights: Weights = None,
    method: Method = "naive-bayes-bolster",
    layer: Layer = None,
    kappa: Kappa = None,
    n_mc: Points = 100,
    repeats: Repeats = 5,
    option: Options = None,
    train: Training = None,
    sampler: Sampler = None,
    sample: SampleOptions = None,
    limit: Limit = None,
    channels: Channels = None,
    samples: Samples = None,
    validation: Validation = None,
    classes: Classes = None,
    device: Device = "auto",
    fail_if: FailIf = None,
    report: Report = None,
    store: Store = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read the net and its data, and print the estimate."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("torch", "torch", "unseen nets estimate")
    from unseen import nets

    check_writable(report)
    check_store(store)
    more, training = _pairs("--option", option), _pairs("--train", train)
    given = {"--sampler": sampler, "--samples": samples, "--sample": sample, "--validation": validation}
    check_given(method, more, training, given, module)
    examples = nets.read_examples(data, limit=limit, channels=channels)
    labels = labels_of(classes, examples)
    net, make = _net(module, weights, examples, labels, seed)
    more |= {} if labels is None else {"classes": labels}
    if validation is not None:
        more["validation"] = tuple(nets.read_examples(validation, channels=channels))
    if weights is None and not quiet:
        typer.echo("unseen: no --weights: the net is taken as the function makes it.", err=True)
    if training:
        more |= {"training": training} | ({} if make is None else {"factory": make})
    if samples is not None:
        more["posterior"] = own_samples(samples, net, device)
    if sampler is not None:
        drawn = _pairs("--sample", sample) | ({"training": training or None} if sampler == "ensemble" else {})
        more["posterior"] = _posterior(net, examples, sampler, {"classes": labels, **drawn}, device, seed)
    result = nets.estimate(
        net,
        examples.X,
        examples.y,
        method=method,
        repeats=repeats,
        n_mc=n_mc,
        device=device,
        layer=layer,
        kappa=kappa,
        random_state=seed,
        progress=progress_for(quiet),
        **more,
    )
    emit(result, as_json)
    if not as_json:
        for remark in result.notes:
            typer.echo(str(remark))
    write_report(result, report, quiet)
    keep(result, result.kept_as, f"{data.name}, {method}", store, quiet)
    if fail_if is not None and result.value > fail_if:
        raise typer.Exit(1)


def _net(module: str | None, weights: Path | None, examples: Any, labels: Any, seed: int) -> tuple[Any, Any]:
    """Return the trained net, and a function that makes an untrained one (None if the net knows it)."""
    from unseen import nets

    if module is None:
        if weights is None:
            raise InputError("give --module for the architecture and --weights for its trained weights.")
        if weights.is_file() and weights.suffix != ".safetensors":
            raise InputError(
                f"{str(weights)!r} holds weights without an architecture; give --module package.module:function."
            )
        return nets.Classifier.load(weights), None
    import torch

    function, count = _function(module), len(examples.classes if labels is None else labels)
    torch.manual_seed(seed)  # a net without weights is the same in every run
    net = _make_net(function, module, examples, count)
    return (net if weights is None else nets.load_weights(net, weights)), lambda: _make_net(
        function, module, examples, count
    )


def _posterior(net: Any, examples: Any, sampler: str, options: dict[str, Any], device: str, seed: int) -> Any:
    from unseen import nets

    known = [
        name for name in inspect.signature(nets.posterior).parameters if name not in ("module", "X", "y", "sampler")
    ]
    for name in options:
        if name not in known:
            raise UnknownName("option of nets.posterior", name, known)
    chosen: dict[str, Any] = {"device": device, "random_state": seed, **options}
    return nets.posterior(net, examples.X, examples.y, sampler, **chosen)


def _function(name: str) -> Any:
    """Import the function that makes the net; the working folder counts as a place to import from."""
    path, found, function = name.partition(":")
    if not found or not path or path.startswith(".") or not function.isidentifier():
        raise InputError(f"--module {name!r}: write it as package.module:function.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        made = getattr(importlib.import_module(path), function, None)
    except (Exception, SystemExit) as error:  # importing runs the user's code, which may do anything
        raise InputError(f"--module {name!r}: cannot import {path!r}: {_words(error)}.") from error
    if not callable(made):
        raise InputError(f"--module {name!r}: {path!r} has no function {function!r}.")
    return made


def _make_net(make: Any, name: str, examples: Any, n_classes: int) -> Any:
    from unseen.nets.training.initial_weights import maker_of

    try:
        return maker_of(make, examples.X.shape[1:], n_classes)()
    except UnseenError as error:
        raise InputError(f"--module {name!r}: {error}") from error
    except SystemExit as error:  # it is the user's code that runs
        raise InputError(f"--module {name!r}: the function failed: {_words(error)}.") from error


def _words(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0].rstrip(".")
    return text if isinstance(error, ImportError) else f"{type(error).__name__}: {text}"


def _pairs(flag: str, texts: list[str] | None) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for text in texts or []:
        key, found, value = text.partition("=")
        if not found or not key.isidentifier():
            raise InputError(f"{flag} {text!r}: write it as key=value.")
        out[key] = value if key in TEXTS else _value(value)
    return out


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
