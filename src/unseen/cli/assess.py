"""`unseen assess`: an honest error estimate of a model on a file or a bundled data set."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from unseen.cli._common import (
    Costs,
    Jobs,
    Json,
    Level,
    Quiet,
    Report,
    Scheduler,
    Seed,
    Store,
    check_store,
    check_writable,
    emit,
    keep,
    progress_for,
    write_report,
)
from unseen.cli._sample import (
    DataFile,
    Decimal,
    DropColumns,
    GroupColumn,
    IdColumn,
    ModelName,
    PositiveClass,
    Rows,
    Separator,
    TargetColumn,
    TaskName,
    TimeColumn,
    WeightColumn,
)
from unseen.core.data import Task
from unseen.core.errors import InputError

__all__ = ["attach"]


def assess(
    data: DataFile,
    model: ModelName = "logistic",
    target: TargetColumn = None,
    groups: GroupColumn = None,
    time: TimeColumn = None,
    weights: WeightColumn = None,
    ids: IdColumn = None,
    positive: PositiveClass = None,
    task: TaskName = None,
    drop: DropColumns = None,
    n: Rows = None,
    sep: Separator = None,
    decimal: Decimal = None,
    loss: Annotated[
        str, typer.Option("--loss", "--measure", help="Loss or measure, such as zero-one, log-loss, auc or r2.")
    ] = "auto",
    costs: Costs = None,
    choose_threshold: Annotated[
        bool,
        typer.Option(
            "--choose-threshold", help="Decide at the threshold that costs least, chosen inside each training part."
        ),
    ] = False,
    level: Level = 0.95,
    quick: Annotated[bool, typer.Option("--quick", help="Headline and baseline only.")] = False,
    effort: Annotated[
        str | None, typer.Option("--effort", help="Numbers of splits, such as splits=25,leave_out=200.")
    ] = None,
    budget: Annotated[float | None, typer.Option("--budget", help="Seconds the run may take.")] = None,
    fail_if: Annotated[float | None, typer.Option("--fail-if", help="Exit with 1 if the error exceeds this.")] = None,
    report: Report = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Keep the headline's table of predictions (.npz).")
    ] = None,
    store: Store = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the error of a model on data it has never seen, with an interval."""
    if quick and effort:
        raise InputError("--quick and --effort exclude each other; give one of them.")
    check_writable(report)
    check_writable(save)
    check_store(store)
    from unseen.datasets.read import read
    from unseen.verbs.assess import assess as run_assess
    from unseen.verbs.costs import cheapest_threshold, measured_by

    sample = read(
        data, target, groups=groups, time=time, weights=weights, ids=ids, positive=positive, task=cast("Task | None", task), n=n, seed=seed,
        sep=sep, decimal=decimal, drop=drop or (),
    )  # fmt: skip
    by = measured_by(loss, costs, sample)
    result = run_assess(
        cheapest_threshold(model, sample, by) if choose_threshold else model, sample, measure=by, level=level, random_state=seed, effort="quick" if quick else effort or "full", budget=budget,
        n_jobs=jobs, engine=scheduler, progress=progress_for(quiet), command=shlex.join(["unseen", *sys.argv[1:]]),
    )  # fmt: skip
    if save is not None:
        written = result.tables[result.headline_design].source[0].save(save)
        if not quiet:
            typer.echo(f"predictions: {written}", err=True)
    emit(result, json)
    write_report(result, report, quiet)
    keep(result, "assessment", f"{Path(data).name}, {model}", store, quiet)
    if not result.complete:
        raise typer.Exit(3)
    if fail_if is not None and result.error > fail_if:
        raise typer.Exit(1)


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("assess")(assess)
