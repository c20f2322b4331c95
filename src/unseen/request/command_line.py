"""Options that commands share, how a command registers, and the one way results leave it."""

from __future__ import annotations

import functools
import inspect
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import typer

from unseen.core.errors import InputError
from unseen.core.rng import LARGEST_SEED

if TYPE_CHECKING:
    from unseen.core.data import Data, Task

__all__ = [
    "COMMANDS",
    "GROUPS",
    "After",
    "By",
    "ColumnOptions",
    "Command",
    "Costs",
    "DataFile",
    "Decimal",
    "DropColumns",
    "DuplicateRows",
    "Folds",
    "GroupColumn",
    "IdColumn",
    "Images",
    "Jobs",
    "Json",
    "Level",
    "MissingTarget",
    "ModelName",
    "PositiveClass",
    "Quiet",
    "Report",
    "Rows",
    "RunOptions",
    "Scheduler",
    "Seed",
    "Separator",
    "SharedOptions",
    "Shortcuts",
    "Store",
    "TableOptions",
    "TargetColumn",
    "TaskName",
    "TimeColumn",
    "TrackOptions",
    "WeightColumn",
    "Without",
    "check_store",
    "check_writable",
    "command",
    "emit",
    "keep",
    "progress_for",
    "read_sample",
    "typed_command",
    "write_report",
]


@dataclass(frozen=True, kw_only=True)
class Command:
    """A function that the command line calls by name; `settings` are typer's."""

    name: str
    group: str
    function: Callable[..., None]
    settings: Mapping[str, Any]


COMMANDS: list[Command] = []
GROUPS = {
    "kinetics": "Tracer kinetics: rates, pools and fluxes that balance.",
    "nets": "Deep nets: error estimates, training progress, and which network will generalize.",
    "study": "Studies of error estimators over many samples, kept in a store and resumable.",
}
F = TypeVar("F", bound=Callable[..., None])


class SharedOptions:
    """Base of records whose fields are options that several commands have.

    A command takes such a record as one argument; the command line shows its fields as options at that place.
    """


class Without:
    """Beside a record of options: those that this command does not offer, which keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


@dataclass(frozen=True)
class After:
    """Beside an option of one command: the shared option that the help lists it behind."""

    name: str


def command(name: str, *, group: str = "", **settings: Any) -> Callable[[F], F]:
    """Register a function as a command, of its own or of a group of `GROUPS`."""

    def add(function: F) -> F:
        COMMANDS.append(Command(name=name, group=group, function=_expand_records(function), settings=settings))
        return function

    return add


def _expand_records(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function with one option for each field of the records it takes."""
    hints = get_type_hints(function, include_extras=True)
    records: dict[str, tuple[type[SharedOptions], list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        base = get_args(hints[name])[0] if get_origin(hints[name]) is Annotated else hints[name]
        if isinstance(base, type) and issubclass(base, SharedOptions):
            options = list(_options_of(base, get_args(hints[name])[1:]))
            records[name] = base, [option.name for option in options]
            parameters += options
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))
    if not records:
        return function

    @functools.wraps(function)
    def run(**values: Any) -> None:
        for name, (record, options) in records.items():
            values[name] = record(**{option: values.pop(option) for option in options})
        function(**values)

    cast(Any, run).__signature__ = inspect.Signature(_move_placed(parameters))
    return run


def _options_of(record: Any, marks: tuple[Any, ...]) -> Iterator[inspect.Parameter]:
    """Yield the fields of a record as options, but for those that the command is without."""
    absent = {name for mark in marks if isinstance(mark, Without) for name in mark.names}
    hints = get_type_hints(record, include_extras=True)
    if unknown := absent - set(hints):
        raise TypeError(f"{record.__name__} has no options {sorted(unknown)}.")
    for field in fields(record):
        if field.name not in absent:
            yield inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
            )


def _move_placed(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Put each option that names its place there."""
    places = {
        p.name: mark.name
        for p in parameters
        for mark in getattr(p.annotation, "__metadata__", ())
        if isinstance(mark, After)
    }
    out = [p for p in parameters if p.name not in places]
    for p in parameters:
        if p.name in places:
            out.insert([other.name for other in out].index(places[p.name]) + 1, p)
    return out


def _check_scheduler(text: str | None) -> str | None:
    """Refuse a scheduler that is none under the name it was given by, before data are read."""
    if text is not None:
        from unseen.engine.where import check_engine

        check_engine(text, "--scheduler")
    return text


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Same seed, same numbers.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Worker processes; -1 for all cores.")]
Shortcuts = Annotated[
    bool,
    typer.Option(
        "--shortcuts/--no-shortcuts", help="Answer by algebra where that equals refitting, or refit every part."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        callback=_check_scheduler,
        help="Run on a dask cluster: an address such as tcp://host:8786, or local:4.",
    ),
]
Store = Annotated[
    str | None,
    typer.Option("--store", help="sqlite:///studies.db, postgresql://user@host/database, or the path of a file."),
]
Level = Annotated[float, typer.Option("--level", help="Confidence level, between 0 and 1.")]
Costs = Annotated[
    Path | None, typer.Option("--costs", help="CSV file with the costs: labels in the head and in the first column.")
]
Images = Annotated[
    bool,
    typer.Option(
        "--images/--no-images",
        help="Show two training images, augmented, in report and store, if a measure augments.",
    ),
]
Report = Annotated[Path | None, typer.Option("--report", help="Write a self-contained HTML report here.")]


def typed_command() -> str:
    """Return the command as it was typed, for the part of a report that says how to repeat it."""
    return shlex.join(["unseen", *sys.argv[1:]])


def progress_for(quiet: bool) -> bool | None:
    """Return the `progress` argument for a verb: none when quiet, else if stderr is a terminal."""
    return False if quiet else None


def check_writable(path: Path | None) -> None:
    """Refuse an output path that cannot be written, before any work is done."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the name of a file to write.")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: the folder {str(path.parent)!r} does not exist.")
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from error
    if not existed:
        path.unlink()


def write_report(result: Any, path: Path | None, quiet: bool) -> None:
    """Write the report if one was asked for, and say where it is."""
    if path is not None:
        written = result.report(path)
        if not quiet:
            typer.echo(f"report: {written}", err=True)


def keep(result: Any, kind: str, name: str, store: str | None, quiet: bool) -> None:
    """File a result in a store if one was named, and say under which number."""
    if store is None:
        return
    from unseen.store import open_store

    # names of files may hold bytes that are no text, which no database takes
    written = name.encode("utf-8", "replace").decode()
    with open_store(store) as opened:
        number = opened.keep(kind, written, result.to_record())
    if not quiet:
        typer.echo(f"kept as {kind} {number}", err=True)


def check_store(store: str | None) -> None:
    """Refuse a store that cannot be opened, before any work is done."""
    if store is not None:
        from unseen.store import open_store

        file = _new_file_of(store)
        if file is None:
            open_store(store).close()
            return
        # a command that is refused later leaves no store behind; another command may be making this very one
        trial = file.with_name(f".{file.name[:200]}.{os.getpid()}.trial")
        try:
            open_store(trial).close()
        except InputError as error:
            raise InputError(str(error).replace(str(trial), str(file))) from error
        finally:
            for ending in ("", "-wal", "-shm"):
                trial.with_name(trial.name + ending).unlink(missing_ok=True)


def _new_file_of(store: str) -> Path | None:
    """Return the file of an SQLite store that is not there yet; None for one that is, and for a database server."""
    if "://" in store and not store.startswith("sqlite:///"):
        return None
    file = Path(store.strip().removeprefix("sqlite:///")).expanduser()
    return file if file.name and file.parent.is_dir() and not file.exists() else None


def emit(result: Any, as_json: bool) -> None:
    """Print a result: JSON, or its text."""
    if as_json:
        content = result.to_dict() if hasattr(result, "to_dict") else result
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        typer.echo(str(result))


DataFile = Annotated[
    str,
    typer.Argument(
        help="File (CSV, TSV, Parquet, ARFF, NPZ, gzipped or not), folder of Parquet files, or bundled name."
    ),
]
ModelName = Annotated[
    str, typer.Option("--model", "-m", help="Model, such as rbf-svm or 'knn:5'; see `unseen models`.")
]
TargetColumn = Annotated[str | None, typer.Option("--target", "-t", help="Column to predict.")]
GroupColumn = Annotated[str | None, typer.Option("--groups", help="Column of groups that must not be split.")]
TimeColumn = Annotated[str | None, typer.Option("--time", help="Column that orders the rows in time.")]
WeightColumn = Annotated[str | None, typer.Option("--weights", help="Column of row weights.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="Column that names the rows.")]
PositiveClass = Annotated[str | None, typer.Option("--positive", help="Positive class.")]
TaskName = Annotated[str | None, typer.Option("--task", help="classification or regression; guessed by default.")]
DropColumns = Annotated[list[str] | None, typer.Option("--drop", help="Column that is no feature; may be given again.")]
DuplicateRows = Annotated[
    str,
    typer.Option("--duplicates", help="Rows with equal features on one side of a split: auto, together or apart."),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", help="Column to slice by; may be repeated, or site,sex. site*sex crosses two, age:4 takes quarters."
    ),
]
MissingTarget = Annotated[
    str, typer.Option("--missing-target", help="Rows without a target: drop them, with a note, or error.")
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--cv",
        min=2,
        help="One round of so many folds instead of the usual designs; the answer says what it is the error of.",
    ),
]
Rows = Annotated[int | None, typer.Option("--n", min=2, help="Use a random subsample of this many rows.")]
Separator = Annotated[str | None, typer.Option("--sep", help="Column separator of a text file.")]
Decimal = Annotated[str | None, typer.Option("--decimal", help="Decimal mark of a text file.")]


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(SharedOptions):
    """What the columns of a table are, besides the target."""

    groups: GroupColumn = None
    time: TimeColumn = None
    weights: WeightColumn = None
    ids: IdColumn = None
    positive: PositiveClass = None
    task: TaskName = None
    drop: DropColumns = None


@dataclass(frozen=True, kw_only=True)
class TableOptions(SharedOptions):
    """How a table is read."""

    n: Rows = None
    sep: Separator = None
    decimal: Decimal = None
    missing_target: MissingTarget = "drop"


@dataclass(frozen=True, kw_only=True)
class RunOptions(SharedOptions):
    """How a command runs, and where its result goes."""

    report: Report = None
    store: Store = None
    jobs: Jobs = None
    scheduler: Scheduler = None
    seed: Seed = 0
    json: Json = False
    quiet: Quiet = False

    @property
    def progress(self) -> bool | None:
        """Argument `progress` of a verb."""
        return progress_for(self.quiet)

    @property
    def reporter(self) -> Any:
        """Argument `progress` of a function that may take minutes: in logs and pipes its lines show how far it has come."""
        if self.quiet or sys.stderr.isatty():
            return self.progress
        from unseen.engine.events import Lines

        return Lines()

    def check(self, *files: Path | None) -> None:
        """Refuse a report, another file or a store that cannot be written, before any work is done."""
        for path in (self.report, *files):
            check_writable(path)
        check_store(self.store)

    def emit(self, result: Any) -> None:
        """Print a result: JSON, or its text."""
        emit(result, self.json)

    def save(self, result: Any, name: str) -> None:
        """Write the report and file the result in the store, if they were asked for."""
        write_report(result, self.report, self.quiet)
        if self.store is not None:
            keep(result, result.kept_as, name, self.store, self.quiet)


@dataclass(frozen=True, kw_only=True)
class TrackOptions(SharedOptions):
    """An experiment tracker that the result is logged to."""

    track: Annotated[
        str | None,
        typer.Option(
            "--track",
            help="Log the result to a run of this tracker, such as mlflow, or mlflow:RUN_ID for a run that exists.",
        ),
    ] = None

    def check(self) -> None:
        """Refuse a tracker that is unknown, not installed or out of reach, before any work is done."""
        if self.track is not None:
            from unseen.store.tracking import check_tracker

            tracker, _, run = self.track.partition(":")
            check_tracker(tracker, run or None)

    def log(self, result: Any, quiet: bool) -> None:
        """Log a result if a tracker was named, and say to which run."""
        if self.track is not None:
            tracker, _, run = self.track.partition(":")
            made = result.track(tracker, run=run or None)
            if not quiet:
                typer.echo(f"tracked: {tracker} run {made}", err=True)


def read_sample(
    data: str, target: str | None, columns: ColumnOptions, table: TableOptions, seed: int, *, keep_names: bool = False
) -> Data:
    """Read the data that a command was given; `keep_names` keeps columns that only name rows, as a trained model may want."""
    from unseen.datasets.read import read

    return read(
        data,
        target,
        groups=columns.groups,
        time=columns.time,
        weights=columns.weights,
        ids=columns.ids,
        positive=columns.positive,
        task=cast("Task | None", columns.task),
        drop=columns.drop or (),
        n=table.n,
        seed=seed,
        sep=table.sep,
        decimal=table.decimal,
        missing_target=table.missing_target,
        keep_names=keep_names,
    )
