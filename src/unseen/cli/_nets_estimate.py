"""`unseen nets estimate`: the error of a trained net from its training data, without training it again."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli._common import Json, Quiet, Report, Seed, check_writable, emit, write_report
from unseen.core.errors import InputError, MissingExtra

__all__ = ["attach"]

HELP = """Estimate the error of a trained net on unseen data from the data it was trained on.

--module imports your code and calls the function named; give only code you trust. Weights are read from safetensors, or from
a .pt file that holds nothing but tensors: files with pickled objects are refused and nothing in them is run. A file written by
Classifier.save needs no --module where its architecture is one of this package's.
"""


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
        typer.Option("--train", help="key=value, how copies are trained for calibrated methods: epochs=200 lr=0.02."),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto",
    fail_if: Annotated[
        float | None, typer.Option("--fail-if", help="Exit with code 1 where the estimate is above this error.")
    ] = None,
    report: Report = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read the net and its data, and print the estimate."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("torch", "torch", "unseen nets estimate")
    from unseen import nets

    check_writable(report)
    examples = nets.read_examples(data)
    net, more = _net(module, weights, examples, _pairs("--train", train))
    result = nets.estimate(
        net, examples.X, examples.y, method=method, repeats=repeats, n_mc=n_mc, device=device, layer=layer, kappa=kappa,
        random_state=seed, **more, **_pairs("--option", option),
    )  # fmt: skip
    emit(result, as_json)
    if not as_json:
        for remark in result.notes:
            typer.echo(str(remark))
    write_report(result, report, quiet)
    if fail_if is not None and result.value > fail_if:
        raise typer.Exit(1)


def _net(
    module: str | None, weights: Path | None, examples: Any, training: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the trained net, and how its copies are made and trained."""
    from unseen import nets

    if module is None:
        if weights is None:
            raise InputError("give --module for the architecture and --weights for its trained weights.")
        return nets.Classifier.load(weights), {"training": training} if training else {}
    make = _function(module)
    net = _made(make, module, examples)
    if weights is not None:
        net = nets.load_weights(net, weights)
    return net, {"training": training, "factory": lambda: _made(make, module, examples)} if training else {}


def _function(name: str) -> Any:
    """Import the function that makes the net; the working folder counts as a place to import from."""
    path, found, function = name.partition(":")
    if not found or not path or not function.isidentifier():
        raise InputError(f"--module {name!r}: write it as package.module:function.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        made = getattr(importlib.import_module(path), function, None)
    except ImportError as error:
        raise InputError(f"--module {name!r}: cannot import {path!r}: {error}.") from error
    if not callable(made):
        raise InputError(f"--module {name!r}: {path!r} has no function {function!r}.")
    return made


def _made(make: Any, name: str, examples: Any) -> Any:
    from torch import nn

    from unseen.nets._start import maker_of

    net = maker_of(make, examples.X.shape[1:], len(examples.classes))()
    if not isinstance(net, nn.Module):
        raise InputError(f"--module {name!r} gave a {type(net).__name__}; it must give a torch.nn.Module.")
    return net


def _pairs(flag: str, texts: list[str] | None) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for text in texts or []:
        key, found, value = text.partition("=")
        if not found or not key.isidentifier():
            raise InputError(f"{flag} {text!r}: write it as key=value.")
        out[key] = _value(value)
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
