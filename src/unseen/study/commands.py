"""`unseen study`: Monte-Carlo studies of error estimators, kept in a store, stopped and resumed at will."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.core.errors import InputError
from unseen.core.rng import LARGEST_SEED
from unseen.request.command_line import (
    After,
    RunOptions,
    Scheduler,
    Store,
    Without,
    check_writable,
    command,
    emit,
    write_report,
)
from unseen.show.text import text_table

if TYPE_CHECKING:
    from unseen.store import Progress
    from unseen.study import Study

__all__ = ["template", "write_template"]


COLUMNS = ["name", "kind", "state", "done", "failed", "total", "seconds", "eta_seconds", "updated"]
Name = Annotated[str, typer.Argument(help="Name of the study; `unseen study list` shows them.")]
Workers = Annotated[
    int | None, typer.Option("--workers", "--jobs", "-j", help="Worker processes; -1 for all cores, one by default.")
]
Seconds = Annotated[
    float | None, typer.Option("--seconds", min=0.001, help="Stop after so many seconds; the study can be resumed.")
]


@command("new", group="study")
def new(
    path: Annotated[Path, typer.Argument(help="File to write, such as my.toml.")],
    *,
    options: Annotated[RunOptions, Without("report", "store", "jobs", "scheduler")],
) -> None:
    """Write a commented spec that runs as it is."""

    written = write_template(path)
    if options.json:
        emit({"written": str(written)}, True)
    else:
        typer.echo(f"wrote {written}; run it with: unseen study run {written}")


@command("run", group="study")
def run(
    path: Annotated[Path, typer.Argument(help="Spec in TOML; `unseen study new` writes one.")],
    *,
    store: Store = None,
    name: Annotated[str | None, typer.Option("--name", help="Name in the store instead of the spec's.")] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    seconds: Seconds = None,
    replications: Annotated[
        int | None, typer.Option("--replications", "-r", help="Replications instead of the spec's.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Seed instead of the spec's.")
    ] = None,
    options: Annotated[RunOptions, Without("store", "jobs", "scheduler", "seed")],
) -> None:
    """Run a study, or what is missing of it, and sum it up."""
    options.check()
    from unseen.engine.threads import worker_count
    from unseen.engine.where import client_of
    from unseen.study import Study
    from unseen.study.spec import StudySpec

    spec = StudySpec.read(path)
    given = {"seed": seed, "replications": replications, "name": name}
    changed = {key: value for key, value in given.items() if value is not None}
    if changed:
        spec = StudySpec.of({**spec.to_dict(), **changed}, str(path))
    if workers is not None:
        worker_count(workers)
    with client_of(scheduler, "scheduler") as client:  # first, so that a refusal leaves no new store behind
        study = Study(spec.name, _url(store))
        study.run(spec, n_jobs=workers, scheduler=client, progress=options.progress, seconds=seconds)
    _emit_summary(study, _url(store), options)


@command("status", group="study")
def status(
    name: Annotated[str | None, typer.Argument(help="Name of the study; all by default.")] = None,
    *,
    options: Annotated[RunOptions, Without("report", "jobs", "scheduler")],
) -> None:
    """Say how far a study is, with the reasons of failed tasks; without a name, list all."""
    if name is None:
        listing(options=options)
        return
    study = _open_study(name, options.store)
    progress, failures = study.status(), study.failures()
    if options.json:
        emit({**asdict(progress), "failures": failures}, True)
        return
    typer.echo(text_table([asdict(progress)], COLUMNS))
    for one in _reasons(failures):
        typer.echo(one)


@command("resume", group="study")
def resume(
    name: Name,
    *,
    store: Store = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    seconds: Seconds = None,
    options: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Run what is missing of a study in the store, failed and cancelled tasks too."""
    options.check()
    study = _open_study(name, store, write=True)
    study.resume(n_jobs=workers, scheduler=scheduler, progress=options.progress, seconds=seconds)
    _emit_summary(study, _url(store), options)


@command("cancel", group="study")
def cancel(name: Name, *, options: Annotated[RunOptions, Without("report", "jobs", "scheduler")]) -> None:
    """Tell every driver of a study to stop; what is done stays, and `resume` goes on."""
    study = _open_study(name, options.store, write=True)
    progress = study.cancel().status()
    if options.json:
        emit(asdict(progress), True)
    else:
        typer.echo(f"{name} is cancelled; {progress.done} of {progress.total} tasks are kept.")


@command("summary", group="study")
def summary(
    name: Name,
    *,
    store: Store = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Add the paired tests between estimators."), After("report")
    ] = False,
    options: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Sum up what is done: bias, variance, RMS, coverage, width, size, power, time, with Monte-Carlo errors."""
    options.check()
    study = _open_study(name, store)
    result = study.summary()
    options.emit(result)
    if pairs and not options.json:
        typer.echo("\n" + text_table([one.row() for one in result.pairs]))
    write_report(result, options.report, options.quiet)


@command("export", group="study")
def export(
    name: Name,
    *,
    to: Annotated[Path, typer.Option("--to", help="File to write: .csv or .parquet (tasks), .tex (summary).")],
    store: Store = None,
    what: Annotated[str | None, typer.Option("--what", help="tasks or summary.")] = None,
    options: Annotated[RunOptions, Without("report", "store", "jobs", "scheduler")],
) -> None:
    """Write the results of a study to a file."""
    check_writable(to)
    written = _open_study(name, store).export(to, what)
    if options.json:
        emit({"written": str(written)}, True)
    elif not options.quiet:
        typer.echo(f"wrote {written}")


@command("list", group="study")
def listing(*, options: Annotated[RunOptions, Without("report", "jobs", "scheduler")]) -> None:
    """List the studies of a store."""
    from unseen.store import open_store

    with open_store(_url(options.store), read_only=True) as opened:
        rows = [asdict(one) for one in opened.studies()]
    emit({"studies": rows}, True) if options.json else typer.echo(text_table(rows, COLUMNS))


@command("remove", group="study")
def remove(
    name: Name,
    *,
    store: Store = None,
    yes: Annotated[bool, typer.Option("--yes", help="Say that its results may be lost.")] = False,
    options: Annotated[RunOptions, Without("report", "store", "jobs", "scheduler")],
) -> None:
    """Remove a study and its results from the store."""
    study = _open_study(name, store, write=True)
    done = study.status().done
    if not yes:
        raise InputError(f"{name!r} has {done} results, which would be lost for good; give --yes to remove it.")
    study.store.remove(name)
    if options.json:
        emit({"removed": name, "results": done}, True)
    elif not options.quiet:
        typer.echo(f"removed {name} with {done} results")


def _url(store: str | None) -> str:
    from unseen.store import DEFAULT_URL

    return store or DEFAULT_URL


def _open_study(name: str, store: str | None, write: bool = False) -> Study:
    """Return a study of a store that exists already; to write, older tables are brought up to date."""
    from unseen.store import StoreOutdated, open_store
    from unseen.study import Study

    try:
        with open_store(_url(store), read_only=True) as opened:
            opened.progress(name)
    except StoreOutdated:
        if not write:
            raise
        with open_store(_url(store)) as opened:
            opened.progress(name)
    return Study(name, open_store(_url(store), read_only=not write))


def _emit_summary(study: Study, url: str, options: RunOptions) -> None:
    """Print the summary; a study with tasks missing or failed ends with exit code 3."""
    progress, result = study.status(), study.summary()
    options.emit(result)
    write_report(result, options.report, options.quiet)
    if progress.missing or progress.failed:
        typer.echo(_resume_advice(study, progress, url), err=True)
        raise typer.Exit(3)


def _resume_advice(study: Study, progress: Progress, url: str) -> str:
    """Return what failed or is missing, and the command that goes on."""
    from unseen.store import mask_password

    lines = _reasons(study.failures())
    if progress.missing:
        lines.append(f"unseen: stopped with {progress.done} of {progress.total} tasks done; what is done is kept.")
    where = "" if url == _url(None) else f" --store {mask_password(url)}"
    return "\n".join([*lines, f"unseen: go on with: unseen study resume {shlex.quote(study.name)}{where}"])


def _reasons(failures: list[dict[str, Any]]) -> list[str]:
    """Return each reason once, with its count and its first place."""
    by_reason: dict[str, list[dict[str, Any]]] = {}
    for one in failures:
        by_reason.setdefault(one["reason"], []).append(one)
    lines = []
    for reason, ones in list(by_reason.items())[:10]:
        first = ones[0]
        where = f"{first['population']}, {first['model']}, n = {first['n']}, {first['method']}"
        lines.append(f"{len(ones)} failed, first {where}: {reason}")
    return lines


def template(name: str = "my-study") -> str:
    """Return a commented spec that runs as it is.

    Examples
    --------
    >>> 'name = "mine"' in template("mine")
    True
    """
    text = (files("unseen.study") / "template.toml").read_text(encoding="utf-8")
    return text.replace('name = "my-study"', f'name = "{_plain(name)}"', 1)


def _plain(name: str) -> str:
    """Return a name that needs no escape in TOML."""
    return "".join(c for c in name if c.isalnum() or c in "-_. ").strip() or "my-study"


def write_template(path: str | PathLike[str]) -> Path:
    """Write the commented spec to a new file, its name taken from the file's."""
    place = Path(path)
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(template(place.stem))
    except FileExistsError as error:
        raise InputError(f"{str(path)!r} is there already and is not overwritten; give another name.") from error
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from error
    return place
