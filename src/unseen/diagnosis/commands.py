"""`unseen diagnose`: what resampling shows about a model beyond one number."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.request.command_line import (
    ColumnOptions,
    DataFile,
    Level,
    ModelName,
    RunOptions,
    TableOptions,
    TargetColumn,
    Without,
    command,
    read_sample,
)

__all__: list[str] = []


@command("diagnose")
def diagnose(
    data: DataFile,
    *,
    model: ModelName = "logistic",
    target: TargetColumn = None,
    columns: Annotated[ColumnOptions, Without("time", "drop")],
    others: Annotated[
        str | None, typer.Option("--rank-with", help="Other models, separated by commas, to rank over the splits.")
    ] = None,
    loss: Annotated[str, typer.Option("--loss", help="Loss, such as zero-one or squared.")] = "auto",
    coefficients: Annotated[str, typer.Option("--coefficients", help="jackknife or bootstrap.")] = "jackknife",
    noise: Annotated[str, typer.Option("--noise", help="labels or features.")] = "labels",
    table: TableOptions,
    permutations: Annotated[
        int | None, typer.Option("--permutations", min=0, help="Permutations of the test of dependence, such as 999.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer fits.")] = False,
    level: Level = 0.95,
    run: Annotated[RunOptions, Without("store")],
) -> None:
    """Find hard and unstable units, weak coefficients, the worth of more data, tolerance of noise, and any dependence."""
    run.check()
    from unseen.diagnosis.diagnose import diagnose as run_diagnose

    sample = read_sample(data, target, columns, table, run.seed)
    result = run_diagnose(
        model,
        sample,
        others=None if others is None else {name: name for name in others.split(",")},
        loss=loss,
        coefficients=coefficients,
        noise=noise,
        effort="quick" if quick else "full",
        permutations=permutations,
        level=level,
        random_state=run.seed,
        n_jobs=run.jobs,
        engine=run.scheduler,
        progress=run.progress,
    )
    run.emit(result)
    run.save(result, Path(data).name)
