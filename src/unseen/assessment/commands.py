"""`unseen resub`: the error of a trained model from a file, estimated on its training data without training anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from unseen.cli._common import Json, Level, Quiet, Report, Seed, check_writable, emit, progress_for, write_report
from unseen.cli._sample import Decimal, Separator, TaskName, WeightColumn
from unseen.core.errors import InputError, UnknownName

if TYPE_CHECKING:
    from unseen.core.data import Data, Task
    from unseen.verbs.resubstitute import Resubstitutions

__all__ = ["attach"]

HELP = """Estimate the error of a trained model from a skops or ONNX file, without training anything.

DATA are the points the model was trained on. The file is opened in a process of its own; pickles are never read.
"""


def resub(
    modelfile: Annotated[Path, typer.Argument(help="Model file: skops or ONNX.")],
    data: Annotated[str, typer.Argument(help="File with the training data, or bundled name.")],
    target: Annotated[str | None, typer.Option("--target", "-t", help="Column the model predicts.")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="Method without retraining; may be repeated. All that apply by default."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="key=value, for one --method; a list is 1,2, a matrix 1,0;0,1."),
    ] = None,
    trust: Annotated[
        list[str] | None, typer.Option("--trust", help="Type in the file you vouch for, full name.")
    ] = None,
    classes: Annotated[str | None, typer.Option("--classes", help="Labels of an ONNX graph's columns: a,b,c.")] = None,
    drop: Annotated[list[str] | None, typer.Option("--drop", help="Column that is no feature.")] = None,
    groups: Annotated[str | None, typer.Option("--groups", help="Column of groups.")] = None,
    weights: WeightColumn = None,
    task: TaskName = None,
    sep: Separator = None,
    decimal: Decimal = None,
    memory: Annotated[int, typer.Option("--memory", min=16, help="MiB the model may use.")] = 2048,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="Time for one answer of the model.")] = 60.0,
    fail_if: Annotated[
        float | None,
        typer.Option(
            "--fail-if", help="Exit with 1 if the error by the first --method, else by auto-resub, exceeds this."
        ),
    ] = None,
    level: Level = 0.95,
    report: Report = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Assess a model file."""
    check_writable(report)
    from unseen.adapt.load import format_of, open_model
    from unseen.datasets.read import read
    from unseen.verbs.resubstitute import resubstitute

    if option and (method is None or len(method) != 1):
        raise InputError("--option belongs to one method; give exactly one --method with it.")
    format_of(modelfile)  # a wrong file is refused before the data are read
    kind = cast("Task | None", task or (None if classes is None else "classification"))
    sample = read(data, target, groups=groups, weights=weights, task=kind, sep=sep, decimal=decimal, drop=drop or ())
    labels = None if classes is None else _labels(classes, sample)
    with open_model(modelfile, trusted=trust or (), classes=labels, memory_mb=memory, seconds=seconds) as model:
        result = resubstitute(
            model,
            sample,
            methods=method,
            options=_options(option),
            random_state=seed,
            level=level,
            progress=progress_for(quiet),
        )
    emit(result, json)
    write_report(result, report, quiet)
    if fail_if is not None and _judged_by(result, method) > fail_if:
        raise typer.Exit(1)


def _judged_by(result: Resubstitutions, method: list[str] | None) -> float:
    """Return the error that --fail-if goes by: the first method named, else auto-resub."""
    named = "auto-resub" if method is None else method[0]
    found = [e.value for e in result.estimates if e.method == named]
    if not found:
        why = result.left_out.get(named, "it was not made")
        raise InputError(f"--fail-if goes by {named}, which is left out here: {why} Name a --method to go by.")
    return found[0]


def _labels(text: str, sample: Data) -> list[Any]:
    """Return labels of the data by their names, in the order of the graph's columns."""
    known = {} if sample.classes is None else {str(label): label for label in sample.classes.tolist()}
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise UnknownName("label in --classes", name, known, "These are the labels of the target column.")
    return [known[name] for name in names]


def _options(texts: list[str] | None) -> dict[str, Any] | None:
    """Read `key=value` texts; numbers become numbers, 1,2 a list and 1,0;0,1 a table of them."""
    if not texts:
        return None
    out: dict[str, Any] = {}
    for text in texts:
        key, found, value = text.partition("=")
        if not found:
            raise InputError(f"--option {text!r}: write it as key=value.")
        out[key.replace("-", "_")] = _value(value)
    return out


def _value(text: str) -> Any:
    for mark in (";", ","):
        if mark in text:
            return [_value(part) for part in text.split(mark)]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("resub", help=HELP)(resub)
