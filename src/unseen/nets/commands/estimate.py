"""`unseen nets estimate`: the error of a trained net from its training data, without training it again."""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from unseen.core.errors import InputError, MissingExtra, UnknownName, UnseenError
from unseen.core.notes import Note, merge_notes, note
from unseen.nets.commands._flags import (
    DataPath,
    Device,
    FailIf,
    Kappa,
    Layer,
    Method,
    ModuleName,
    Options,
    Points,
    Repeats,
    SampleOptions,
    Sampler,
    Samples,
    State,
    Training,
    Validation,
    Weights,
)
from unseen.nets.commands._sources import DataOptions, describe_error, import_function, read_pairs
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

--module imports your code and calls the function named; give only code you trust. Weights are read from safetensors, .pt, .pth and .ckpt
files and from folders of Hugging Face: files with pickled objects are refused and nothing in them is run. A file written by
Classifier.save needs no --module if its architecture is one of this package's.

Calibrated methods train copies: say how with --train. Bayesian methods sample the weights: say how with --sampler, or give samples
of your own with --samples.
"""
WEIGHTS = (".safetensors", ".pt", ".pth", ".ckpt")  # endings of files of weights
# options of the command that --option must not repeat
FLAGS = {
    "method": "--method", "layer": "--layer", "kappa": "--kappa", "n_mc": "--n-mc", "repeats": "--repeats", "device": "--device",
    "training": "--train", "random_state": "--seed", "progress": "--quiet", "validation": "--validation", "classes": "--classes",
    "factory": "--module",
}  # fmt: skip


# mean distances from the test error over 58 nets of seven zoos, docs/tables/estimate_copies.md; those of naive-bayes-bolster over nine nets
REMAINS = {
    "resub": "The error on the points it was trained on: on 58 nets of seven zoos it was .22 from the true error on average, too low.",
    "bolster": (
        "Part of the optimism remains: on 58 nets of seven zoos this was .14 from the true error on average, the training error .22, the error of "
        "copies of the net .013: say how to train them, as in --train epochs=200 --train lr=0.02. The interval is as wide as this estimate "
        "was off on nets of other data; copies make it much narrower."
    ),
    "naive-bayes-bolster": (
        "Much of the optimism remains: on nine nets this was .036 from the true error on average, bolster .020, resubstitution .056."
    ),
    "copies": (
        "The error of copies trained on 80% on the rows they left out: on 58 nets of seven zoos it was .013 from the true error on average, and 95% intervals by what "
        "other data say held 98% of them."
    ),
    "calibrated-bolster": (
        "On 58 nets of seven zoos calibrated estimates were .031 from the true error on average, the plain error of the same copies .013 (-m copies). The interval comes from "
        "the copies' errors on the rows they left out; by what other data say it held 98% of the errors."
    ),
}


@command("estimate", group="nets", help=HELP)
def estimate(
    *,
    data: DataPath,
    module: ModuleName = None,
    weights: Weights = None,
    state: State = None,
    method: Method = None,
    layer: Layer = None,
    kappa: Kappa = None,
    n_mc: Points = 100,
    repeats: Repeats = 5,
    option: Options = None,
    train: Training = None,
    sampler: Sampler = None,
    sample: SampleOptions = None,
    examples: DataOptions,
    samples: Samples = None,
    validation: Validation = None,
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
    from unseen.nets.estimates.methods import default_method

    check_writable(report)
    check_store(store)
    more, training = read_pairs("--option", option), read_pairs("--train", train)
    method = default_method(training) if method is None else method
    given = {"--sampler": sampler, "--samples": samples, "--sample": sample, "--validation": validation}
    _check_given(method, more, training, given, module)
    shown = examples.read(data)
    labels = examples.labels(shown)
    net, make, shown, remarks = _net(module, weights, state, shown, labels, seed)
    more |= {} if labels is None else {"classes": labels}
    if validation is not None:
        more["validation"] = tuple(examples.read(validation))
    if weights is None and not quiet:
        typer.echo("unseen: no --weights: the net is taken as the function makes it.", err=True)
    if training:
        more |= {"training": training} | ({} if make is None else {"factory": make})
    if samples is not None:
        more["posterior"] = _own_samples(samples, net, device)
    if sampler is not None:
        drawn = read_pairs("--sample", sample) | ({"training": training or None} if sampler == "ensemble" else {})
        more["posterior"] = _posterior(net, shown, sampler, {"classes": labels, **drawn}, device, seed)
    result = nets.estimate(
        net,
        shown.X,
        shown.y,
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
    result = replace(result, notes=merge_notes(remarks, result.notes))
    emit(result, as_json)
    if not as_json:
        if method in REMAINS:
            typer.echo(REMAINS[method])
        if result.temperature is not None:
            typer.echo(str(result.temperature))
        for remark in result.notes:
            typer.echo(str(remark))
    write_report(result, report, quiet)
    keep(result, result.kept_as, f"{data.name}, {method}", store, quiet)
    if fail_if is not None and result.value > fail_if:
        raise typer.Exit(1)


def _check_given(
    method: str, options: dict[str, Any], training: dict[str, Any], given: dict[str, Any], module: str | None
) -> None:
    """Refuse what cannot work, in the words of the command line, before anything is read."""
    for name in options:
        if name in FLAGS:
            raise InputError(f"--option {name}: this has a flag of its own, {FLAGS[name]}.")
    tempered = options.get("posterior") == "temperature"
    if tempered and not training and given["--validation"] is None and module is not None:
        raise InputError(
            "posterior=temperature needs rows that the net was not trained on, as in --validation held_out.npz, or copies of the net "
            "trained on 80% of the data; say how, as in --train epochs=200 --train lr=0.02."
        )
    _check_samples(method, training, given, module)


def _check_samples(method: str, training: dict[str, Any], given: dict[str, Any], module: str | None) -> None:
    sampler, own = given["--sampler"], given["--samples"]
    if sampler is not None and own is not None:
        raise InputError("--sampler samples the weights and --samples gives samples of your own; give one of them.")
    if method.startswith("bayesian") and sampler is None and own is None:
        raise InputError(
            f"{method} averages over samples of the weights; say how to sample, as in --sampler laplace or --sampler sghmc, or give --samples."
        )
    if sampler == "ensemble" and not training and module is not None:
        raise InputError("an ensemble trains the net from other first weights; say how, as in --train epochs=200.")
    for flag in ("--sampler", "--samples"):
        if given[flag] is not None and not method.startswith("bayesian"):
            raise InputError(f"{flag} is for the methods bayesian and bayesian-bolster; the method is {method}.")
    if given["--sample"] and sampler is None:
        raise InputError("--sample says how a sampler works; name it with --sampler.")


def _net(
    module: str | None, weights: Path | None, state: str | None, examples: Any, labels: Any, seed: int
) -> tuple[Any, Any, Any, tuple[Note, ...]]:
    """Return the trained net, a function that makes an untrained one (None if the net knows it), its inputs, and what was chosen."""
    from unseen import nets

    if module is None:
        if weights is None:
            raise InputError("give --module for the architecture and --weights for its trained weights.")
        if weights.is_file() and weights.suffix != ".safetensors":
            raise InputError(
                f"{str(weights)!r} holds weights without an architecture; give --module package.module:function."
            )
        return nets.Classifier.load(weights), None, examples, ()
    import torch

    from unseen.nets.files.checkpoints import read_checkpoint
    from unseen.nets.files.examples import normalise
    from unseen.nets.zoo.network_folder import count_classes, options_beside, own_normalisation
    from unseen.nets.zoo.network_options import Architecture, make_network

    architecture = Architecture(
        make=import_function(module), shape=examples.shape, n_classes=count_classes(examples, labels)
    )
    torch.manual_seed(seed)  # a net without weights is the same in every run
    checkpoint = None if weights is None else read_checkpoint(weights)
    options: dict[str, Any] = {}
    remarks: tuple[Note, ...] = ()
    try:
        if weights is None or checkpoint is None:
            net = architecture.build({})
        else:
            made = make_network(architecture, checkpoint, weights.name, options_beside(weights), state)
            net, options, remarks = made.module, made.options, made.notes
            if made.inferred:
                said = ", ".join(f"{key}={options[key]!r}" for key in made.inferred)
                remarks = (*remarks, note("N009", f"{weights.name}: {said}"))
    except UnseenError as error:
        raise InputError(f"--module {module!r}: {error}") from error
    except SystemExit as error:  # it is the user's code that runs
        raise InputError(f"--module {module!r}: the function failed: {describe_error(error)}.") from error
    own = own_normalisation(net, checkpoint, examples)
    if own is not None:
        mean, std = (", ".join(f"{v:.4g}" for v in values) for values in own)
        examples, remarks = normalise(examples, *own), (*remarks, note("N011", f"mean {mean}, deviation {std}"))
    # a class that reads config.json is not called a second time: its layers are initialised anew
    from_config = checkpoint is not None and bool(checkpoint.config) and not options
    return net, None if from_config else lambda: architecture.build(options), examples, remarks


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


def _own_samples(path: Path, net: Any, device: str) -> Any:
    """Return the posterior in a file of logits (samples, rows, classes), or in a folder with one file of weights per sample."""
    from unseen.nets import Posterior
    from unseen.nets.files.checkpoints import read_state
    from unseen.nets.modules.logits import inner_module

    if not (path.is_file() or path.is_dir()):
        raise InputError(f"there is no file or folder {str(path)!r}.")
    if path.is_file():
        return Posterior.from_logits(_logits(path))
    files = sorted(file for file in path.iterdir() if file.suffix in WEIGHTS)
    if not files:
        raise InputError(f"{str(path)!r} holds no files of weights ({', '.join(WEIGHTS)}); one per sample is needed.")
    module: Any = inner_module(net)
    return Posterior.from_states(module, [read_state(file) for file in files], device)


def _logits(path: Path) -> Any:
    from unseen.nets.files.examples import open_arrays

    with open_arrays(path, "an NPY or NPZ file of logits (samples, rows, classes)") as held:
        if not hasattr(held, "files"):
            return held
        names = [name for name in held.files if name == "logits"] or held.files
        if len(names) != 1:
            raise InputError(f"{str(path)!r} holds {', '.join(held.files)}; one array called logits is needed.")
        return held[names[0]]
