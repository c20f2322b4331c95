"""`unseen distribution`: the distribution of a model's error over leave-out splits, and of two models compared."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unseen.cli._common import (
    Jobs,
    Json,
    Quiet,
    Report,
    Scheduler,
    Seed,
    check_writable,
    emit,
    progress_for,
    table,
    write_report,
)
from unseen.cli._sample import DataFile, GroupColumn, Rows, TargetColumn, WeightColumn
from unseen.core.errors import InputError

__all__ = ["attach"]


def distribution(
    data: DataFile,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", "-m", help="Model (logistic or ols by default); give two to compare them on the same splits."
        ),
    ] = None,
    target: TargetColumn = None,
    groups: GroupColumn = None,
    weights: WeightColumn = None,
    task: Annotated[str | None, typer.Option("--task", help="classification or regression.")] = None,
    n: Rows = None,
    fraction: Annotated[float, typer.Option("--fraction", help="Share of the units left out of each fit.")] = 0.25,
    splits: Annotated[int, typer.Option("--splits", min=2, help="Number of distinct splits.")] = 500,
    loss: Annotated[str, typer.Option("--loss", help="Loss, such as zero-one, squared or log-loss.")] = "auto",
    log: Annotated[bool, typer.Option("--log", help="Show the distribution of log(1 + error).")] = False,
    report: Report = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how a model's error varies over random splits: location, dispersion, fractiles."""
    check_writable(report)
    models = list(model or [])
    if len(models) > 2:
        raise InputError(f"{len(models)} models were given; one distribution or two to compare. See `unseen compare`.")
    from unseen.datasets.read import read
    from unseen.verbs.distribution import distribution as run

    kind: Any = task
    sample = read(data, target, groups=groups, weights=weights, task=kind, n=n, seed=seed)
    models = models or ["logistic" if sample.task == "classification" else "ols"]
    made = [
        run(one, sample, fraction=fraction, n_splits=splits, loss=loss, random_state=seed, n_jobs=jobs, engine=scheduler,
            progress=progress_for(quiet))
        for one in models
    ]  # fmt: skip
    made = [one.log1p() for one in made] if log else made
    result = made[0] if len(made) == 1 else made[0].compare(made[1])
    if json:
        emit(result, True)
    else:
        rows = [{"model": name, **row} for name, one in zip(models, made) for row in one.rows()]
        typer.echo(table(rows))
        typer.echo(f"errors of {len(made[0].values)} splits ({made[0].loss})" if len(made) == 1 else str(result))
        for note in result.notes:
            typer.echo(str(note))
    write_report(result, report, quiet)


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("distribution")(distribution)
