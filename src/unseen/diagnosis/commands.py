"""`unseen diagnose`: what resampling shows about a model beyond one number."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from unseen.core.data import Task
from unseen.request.command_line import (
    DataFile,
    Decimal,
    GroupColumn,
    IdColumn,
    Jobs,
    Json,
    Level,
    ModelName,
    PositiveClass,
    Quiet,
    Report,
    Rows,
    Scheduler,
    Seed,
    Separator,
    TargetColumn,
    TaskName,
    WeightColumn,
    check_writable,
    command,
    emit,
    progress_for,
    write_report,
)

__all__: list[str] = []


@command("diagnose")
def diagnose(
    data: DataFile,
    model: ModelName = "logistic",
    target: TargetColumn = None,
    groups: GroupColumn = None,
    weights: WeightColumn = None,
    ids: IdColumn = None,
    positive: PositiveClass = None,
    task: TaskName = None,
    others: Annotated[
        str | None, typer.Option("--rank-with", help="Other models, separated by commas, to rank over the splits.")
    ] = None,
    loss: Annotated[str, typer.Option("--loss", help="Loss, such as zero-one or squared.")] = "auto",
    coefficients: Annotated[str, typer.Option("--coefficients", help="jackknife or bootstrap.")] = "jackknife",
    noise: Annotated[str, typer.Option("--noise", help="labels or features.")] = "labels",
    n: Rows = None,
    sep: Separator = None,
    decimal: Decimal = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer fits.")] = False,
    level: Level = 0.95,
    report: Report = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find hard and unstable units, weak coefficients, the worth of more data, tolerance of noise, and any dependence."""
    check_writable(report)
    from unseen.datasets.read import read
    from unseen.diagnosis.diagnose import diagnose as run

    sample = read(
        data,
        target,
        groups=groups,
        weights=weights,
        ids=ids,
        positive=positive,
        task=cast("Task | None", task),
        n=n,
        seed=seed,
        sep=sep,
        decimal=decimal,
    )
    result = run(
        model,
        sample,
        others=None if others is None else {name: name for name in others.split(",")},
        loss=loss,
        coefficients=coefficients,
        noise=noise,
        effort="quick" if quick else "full",
        level=level,
        random_state=seed,
        n_jobs=jobs,
        engine=scheduler,
        progress=progress_for(quiet),
    )
    emit(result, json)
    write_report(result, report, quiet)
