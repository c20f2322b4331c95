"""`unseen nets estimate`: the error of a trained net from its training data, without training it again."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli._common import (
    Json,
    Quiet,
    Report,
    Seed,
    Store,
    check_store,
    check_writable,
    emit,
    keep,
    progress_for,
    write_report,
)
from unseen.cli._net_options import check_given, labels_of
from unseen.cli._net_samples import own_samples
from unseen.core.errors import InputError, MissingExtra, UnknownName, UnseenError

__all__ = ["attach"]

HELP = """Estimate the error of a trained net on unseen data from the data it was trained on.

--module imports your code and calls the function named; give only code you trust. Weights are read from safetensors, or from
a .pt file that holds nothing but tensors: files with pickled objects are refused and nothing in them is run. A file written by
Classifier.save needs no --module where its architecture is one of this package's.

Calibrated methods train copies: say how with --train. Bayesian methods sample the weights: say how with --sampler, or give samples
of your own with --samples.
"""
TEXTS = ("posterior_layer",)  # options whose value is text, also where it looks like a number


def estimate(
    data: Annotated[
        Path, typer.Option("--data", help="Training data: NPZ with X and y, or a folder (IDX, or pictures by class).")
    ],
    module: Annotated[
        str | None,
        typer.Option(
            "--module", help="pkg.mod:function that returns the untrained net; your code is imported and run."
        ),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option("--weights", help="Trained weights: safetensors, or .pt with tensors alone.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help="Estimator; see unseen.nets.estimate.")
    ] = "naive-bayes-bolster",
    layer: Annotated[
        str | None, typer.Option("--layer", help="Put kernels behind this layer instead of in input space.")
    ] = None,
    kappa: Annotated[float | None, typer.Option("--kappa", min=0, help="Factor on the size of the kernels.")] = None,
    n_mc: Annotated[int, typer.Option("--n-mc", min=2, help="Points per kernel.")] = 100,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="80/20 splits of a calibrated estimate.")] = 5,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="key=value, another option of the estimator, such as posterior=knn."),
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(
            "--train",
            help="key=value, how copies are trained for calibrated methods and ensembles, such as epochs=200 or lr=0.02.",
        ),
    ] = None,
    sampler: Annotated[
        str | None,
        typer.Option(
            "--sampler", help="Sampler of the Bayesian methods: sghmc, sgld, mc-dropout, ensemble or laplace."
        ),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option("--sample", help="key=value, an option of unseen.nets.posterior, such as n_samples=50."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            help="Read so many examples of the data at most: the first ones, of pictures equally many of every class.",
        ),
    ] = None,
    channels: Annotated[
        int | None,
        typer.Option("--channels", min=1, max=3, help="Turn pictures to grey (1) or colour (3); as the first one is."),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            "--samples",
            help="Own samples for the Bayesian methods: an NPY or NPZ file of logits (samples, rows, classes), or a folder of weights.",
        ),
    ] = None,
    validation: Annotated[
        Path | None,
        typer.Option(
            "--validation", help="Data that the net was not trained on, for posterior=temperature; read as --data is."
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option("--classes", help="Labels of the net's outputs in their order, between commas, or their number."),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto",
    fail_if: Annotated[
        float | None, typer.Option("--fail-if", help="Exit with code 1 where the estimate is above this error.")
    ] = None,
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
        typer.echo("unseen: no --weights: the net is judged as the function makes it.", err=True)
    if training:
        more |= {"training": training} | ({} if make is None else {"factory": make})
    if samples is not None:
        more["posterior"] = own_samples(samples, net, device)
    if sampler is not None:
        drawn = _pairs("--sample", sample) | ({"training": training or None} if sampler == "ensemble" else {})
        more["posterior"] = _posterior(net, examples, sampler, {"classes": labels, **drawn}, device, seed)
    result = nets.estimate(
        net, examples.X, examples.y, method=method, repeats=repeats, n_mc=n_mc, device=device, layer=layer, kappa=kappa,
        random_state=seed, progress=progress_for(quiet), **more,
    )  # fmt: skip
    emit(result, as_json)
    if not as_json:
        for remark in result.notes:
            typer.echo(str(remark))
    write_report(result, report, quiet)
    keep(result, result.kept_as, f"{data.name}, {method}", store, quiet)
    if fail_if is not None and result.value > fail_if:
        raise typer.Exit(1)


def _net(module: str | None, weights: Path | None, examples: Any, labels: Any, seed: int) -> tuple[Any, Any]:
    """Return the trained net, and a function that makes an untrained one (None where the net knows it)."""
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
    torch.manual_seed(seed)  # a net that is judged without weights is the same in every run
    net = _made(function, module, examples, count)
    return (net if weights is None else nets.load_weights(net, weights)), lambda: _made(
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


def _made(make: Any, name: str, examples: Any, n_classes: int) -> Any:
    from unseen.nets._start import maker_of

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


def attach(group: typer.Typer) -> None:
    """Add the command."""
    group.command("estimate", help=HELP)(estimate)
