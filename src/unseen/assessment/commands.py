"""Commands `unseen assess`, `unseen distribution`, `unseen resub` and `unseen methods`."""

from __future__ import annotations

import contextlib
import time as clock
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.core.errors import InputError, UnknownName
from unseen.request.command_line import (
    After,
    By,
    ColumnOptions,
    Costs,
    DataFile,
    DuplicateRows,
    Folds,
    Json,
    Level,
    Quiet,
    RunOptions,
    Seed,
    Shortcuts,
    TableOptions,
    TargetColumn,
    TrackOptions,
    Without,
    command,
    emit,
    read_sample,
    typed_command,
)
from unseen.request.effort import check_budget
from unseen.request.gate import GateCheck, GateOptions
from unseen.show.text import text_table

if TYPE_CHECKING:
    from unseen.assessment.resubstitute import Resubstitutions
    from unseen.core.data import Data

__all__: list[str] = []

SUMMARISED = ("term", "estimate", "lower", "upper", "level", "method", "target", "n")  # columns of a Markdown summary
MODEL_FILES = (".skops", ".onnx", ".pkl", ".pickle", ".joblib")  # the last three to be refused with the way out
TrustedTypes = Annotated[
    list[str] | None, typer.Option("--trust", help="Type in the model file you vouch for, full name.")
]


@command("assess")
def assess(
    data: DataFile,
    *,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Model, such as rbf-svm or 'knn:5'; see `unseen models`. By default logistic for classes, ridge for numbers. A skops or ONNX file of a trained model is assessed on DATA as held-out rows.",
        ),
    ] = None,
    target: TargetColumn = None,
    columns: ColumnOptions,
    table: TableOptions,
    duplicates: DuplicateRows = "auto",
    by: By = None,
    loss: Annotated[
        list[str] | None,
        typer.Option(
            "--loss",
            "--measure",
            "--scoring",
            help="Loss or measure, such as zero-one, log-loss, auc or r2, or a name of scikit-learn's; may be repeated: the first leads.",
        ),
    ] = None,
    costs: Costs = None,
    choose_threshold: Annotated[
        bool,
        typer.Option(
            "--choose-threshold", help="Decide at the threshold that costs least, chosen inside each training part."
        ),
    ] = False,
    level: Level = 0.95,
    cv: Folds = None,
    name: Annotated[str, typer.Option("--name", help="What the model is called in the answer.")] = "",
    trust: TrustedTypes = None,
    quick: Annotated[bool, typer.Option("--quick", help="Headline and baseline only.")] = False,
    effort: Annotated[
        str | None, typer.Option("--effort", help="Numbers of splits, such as splits=25,leave_out=200.")
    ] = None,
    budget: Annotated[float | None, typer.Option("--budget", help="Seconds the command may take.")] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", help="Rounds of cross-validation, such as a shortened run had.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show every estimate too, grouped by what it is the error of.")
    ] = False,
    fail_if: Annotated[
        float | None,
        typer.Option(
            "--fail-if",
            help="Exit with 1 if the error (the RMSE for numbers) exceeds this, or if it cannot be trusted.",
        ),
    ] = None,
    shortcuts: Shortcuts = True,
    save: Annotated[
        Path | None, typer.Option("--save", help="Keep the first run's table of predictions (.npz)."), After("report")
    ] = None,
    gate: GateOptions,
    tracking: TrackOptions,
    run: RunOptions,
) -> None:
    """Estimate the error of a model on data it has never seen, with an interval."""
    begin = clock.perf_counter()
    if quick and effort:
        raise InputError("--quick and --effort exclude each other; give one of them.")
    run.check(save)
    tracking.check()
    gate.check()
    from unseen.assessment.assess import assess as run_assess
    from unseen.assessment.costs import cheapest_threshold, measure_of
    from unseen.assessment.wording import in_units
    from unseen.evaluation.slice_columns import sample_with_columns
    from unseen.models.files.load import open_model

    file = _model_file(model)
    if file is not None and (choose_threshold or effort or quick):
        raise InputError(
            "--model names a trained model, and nothing is fitted; leave --choose-threshold, --quick and --effort out."
        )

    def read(drop: list[str] | None) -> Any:
        return read_sample(data, target, replace(columns, drop=drop), table, run.seed, keep_names=file is not None)

    sample, sliced = sample_with_columns(by, columns.drop or (), read)
    model = model or ("logistic" if sample.task == "classification" else "ridge")
    several = loss is not None and len(loss) > 1
    if several and costs is not None:
        raise InputError("--costs brings its own measure; leave --measure out, or give costs alone.")
    by = measure_of((loss or ["auto"])[0], costs, sample)
    with contextlib.nullcontext() if file is None else open_model(file, trusted=trust or ()) as opened:
        result = run_assess(
            cheapest_threshold(model, sample, by) if choose_threshold else model if opened is None else opened,
            sample,
            measure=None if several else by,
            measures=loss if several else None,
            cv=cv,
            level=level,
            random_state=run.seed,
            effort="quick" if quick else effort or "full",
            prefit=opened is not None,
            name=name or ("" if file is None else file.name),
            by=sliced,
            budget=_left_of(budget, begin),
            rounds=rounds,
            shortcuts=shortcuts,
            n_jobs=run.jobs,
            engine=run.scheduler,
            progress=run.reporter,
            command=typed_command(),
            duplicates=duplicates,
        )
    if save is not None:
        written = result.tables[result.headline_design].source[0].save(save)
        if not run.quiet:
            typer.echo(f"predictions: {written}", err=True)
    run.emit(result)
    if everything and not run.json:
        typer.echo(f"\n{result.table()}")
    run.save(result, f"{Path(data).name}, {model}")
    tracking.log(result, run.quiet)
    told = in_units(result.headline) if result.scale == "error" else result.headline
    passed = fail_if is None or (told.value <= fail_if and result.trust.ok)
    asked = "an answer" if fail_if is None else f"error at most {fail_if:g}"
    rows = [{name: row[name] for name in SUMMARISED} for row in result.rows()[:1]]
    check = GateCheck(name=asked, passed=passed and result.complete, sentence=result.sentence())
    gate.write(f"{Path(data).name}, {result.model}", [check], rows)
    if not result.complete:
        raise typer.Exit(3)
    if not passed:
        raise typer.Exit(1)


def _left_of(budget: float | None, begin: float) -> float | None:
    """Return what reading the data has left of a budget, a twentieth at least."""
    budget = check_budget(budget)
    return None if budget is None else round(max(budget - (clock.perf_counter() - begin), 0.05 * budget), 2)


def _model_file(model: str | None) -> Path | None:
    """Return the path if the model is a file and not a name."""
    path = None if model is None else Path(model)
    return path if path is not None and path.suffix.lower() in MODEL_FILES else None


@command("distribution")
def distribution(
    data: DataFile,
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", "-m", help="Model (logistic or ols by default); give two to compare them on the same splits."
        ),
    ] = None,
    target: TargetColumn = None,
    columns: Annotated[ColumnOptions, Without("time", "positive")],
    table: TableOptions,
    duplicates: DuplicateRows = "auto",
    fraction: Annotated[float, typer.Option("--fraction", help="Share of the units left out of each fit.")] = 0.25,
    splits: Annotated[int, typer.Option("--splits", min=2, help="Number of distinct splits.")] = 500,
    loss: Annotated[str, typer.Option("--loss", help="Loss, such as zero-one, squared or log-loss.")] = "auto",
    log: Annotated[bool, typer.Option("--log", help="Show the distribution of log(1 + error).")] = False,
    run: Annotated[RunOptions, Without("store")],
) -> None:
    """Show how a model's error varies over random splits: location, dispersion, fractiles."""
    run.check()
    models = list(model or [])
    if len(models) > 2:
        raise InputError(f"{len(models)} models were given; one distribution or two to compare. See `unseen compare`.")
    from unseen.assessment.distribution import distribution as run_distribution

    sample = read_sample(data, target, columns, table, run.seed)
    models = models or ["logistic" if sample.task == "classification" else "ols"]
    made = [
        run_distribution(
            one,
            sample,
            fraction=fraction,
            n_splits=splits,
            loss=loss,
            random_state=run.seed,
            n_jobs=run.jobs,
            engine=run.scheduler,
            progress=run.progress,
            duplicates=duplicates,
        )
        for one in models
    ]
    made = [one.log1p() for one in made] if log else made
    result = replace(made[0] if len(made) == 1 else made[0].compare(made[1]), command=typed_command())
    if run.json:
        run.emit(result)
    else:
        rows = [{"model": name, **row} for name, one in zip(models, made) for row in one.rows()]
        typer.echo(text_table(rows))
        typer.echo(f"errors of {len(made[0].values)} splits ({made[0].loss})" if len(made) == 1 else str(result))
        for note in result.notes:
            typer.echo(str(note))
    run.save(result, Path(data).name)


HELP = """Estimate the error of a trained model from a skops or ONNX file, without training anything.

DATA are the points the model was trained on. The file is opened in a process of its own; pickles are never read.
"""


@command("resub", help=HELP)
def resub(
    modelfile: Annotated[Path, typer.Argument(help="Model file: skops or ONNX.")],
    data: Annotated[str, typer.Argument(help="File with the training data, or bundled name.")],
    *,
    target: Annotated[str | None, typer.Option("--target", "-t", help="Column the model predicts.")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="Method without retraining; may be repeated. All that apply by default."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="key=value, for one --method; a list is 1,2, a matrix 1,0;0,1."),
    ] = None,
    trust: TrustedTypes = None,
    classes: Annotated[str | None, typer.Option("--classes", help="Labels of an ONNX graph's columns: a,b,c.")] = None,
    columns: Annotated[ColumnOptions, Without("time", "positive")],
    table: Annotated[TableOptions, Without("n")],
    duplicates: DuplicateRows = "auto",
    memory: Annotated[int, typer.Option("--memory", min=16, help="MiB the model may use.")] = 2048,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="Time for one answer of the model.")] = 60.0,
    fail_if: Annotated[
        float | None,
        typer.Option(
            "--fail-if", help="Exit with 1 if the error by the first --method, else by auto-resub, exceeds this."
        ),
    ] = None,
    level: Level = 0.95,
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Assess a model file."""
    run.check()
    from unseen.assessment.resubstitute import resubstitute
    from unseen.models.files.load import format_of, open_model

    if option and (method is None or len(method) != 1):
        raise InputError("--option belongs to one method; give exactly one --method with it.")
    format_of(modelfile)  # a wrong file is refused before the data are read
    columns = replace(columns, task=columns.task or (None if classes is None else "classification"))
    sample = read_sample(data, target, columns, table, run.seed, keep_names=True)
    labels = None if classes is None else _labels(classes, sample)
    with open_model(modelfile, trusted=trust or (), classes=labels, memory_mb=memory, seconds=seconds) as model:
        result = resubstitute(
            model,
            sample,
            methods=method,
            options=_options(option),
            random_state=run.seed,
            level=level,
            progress=run.progress,
            duplicates=duplicates,
        )
    result = replace(result, command=typed_command())
    run.emit(result)
    run.save(result, modelfile.name)
    if fail_if is not None and _error_to_fail_by(result, method) > fail_if:
        raise typer.Exit(1)


def _error_to_fail_by(result: Resubstitutions, method: list[str] | None) -> float:
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


@command("methods")
def methods(
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only resampling, direct, recipe, resubstitution or comparison.")
    ] = None,
    references: Annotated[bool, typer.Option("--references", help="Show the papers too.")] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the methods: what each estimates, on which designs, at how many fits."""
    from unseen.assessment.listing import method_rows
    from unseen.core.errors import UnknownName

    rows = method_rows()
    kinds = sorted({row["kind"] for row in rows})
    if kind is not None and kind not in kinds:
        raise UnknownName("kind of method", kind, kinds)
    rows = [row for row in rows if kind in (None, row["kind"])]
    if json:
        emit({"methods": rows}, True)
        return
    shown = [row | {"designs": " ".join(row["designs"]) or None} for row in rows]
    columns = ["id", "kind", "target", "fits", "designs", "description"]
    typer.echo(text_table(shown, [*columns, "reference"] if references else columns))
