"""`unseen diagnose`: what resampling shows about a model beyond one number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from unseen.core.errors import InputError
from unseen.request.command_line import (
    ColumnOptions,
    DataFile,
    DuplicateRows,
    Level,
    ModelName,
    RunOptions,
    TableOptions,
    TargetColumn,
    TrackOptions,
    Without,
    command,
    read_sample,
    typed_command,
)

__all__: list[str] = []


@command("diagnose")
def diagnose(
    data: DataFile,
    *,
    model: ModelName = "logistic",
    target: TargetColumn = None,
    columns: Annotated[ColumnOptions, Without("time")],
    others: Annotated[
        str | None, typer.Option("--rank-with", help="Other models, separated by commas, to rank over the splits.")
    ] = None,
    loss: Annotated[str, typer.Option("--loss", help="Loss, such as zero-one or squared.")] = "auto",
    coefficients: Annotated[str, typer.Option("--coefficients", help="jackknife or bootstrap.")] = "jackknife",
    noise: Annotated[str, typer.Option("--noise", help="labels or features.")] = "labels",
    together: Annotated[
        list[str] | None,
        typer.Option(
            "--together", help="Columns whose importance counts as one, such as size=height,weight; may be repeated."
        ),
    ] = None,
    table: TableOptions,
    duplicates: DuplicateRows = "auto",
    permutations: Annotated[
        int | None, typer.Option("--permutations", min=0, help="Permutations of the test of dependence, such as 999.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer fits.")] = False,
    level: Level = 0.95,
    tracking: TrackOptions,
    run: Annotated[RunOptions, Without("store")],
) -> None:
    """Find hard and unstable units, weak coefficients, the worth of more data, tolerance of noise, and any dependence."""
    run.check()
    tracking.check()
    from unseen.diagnosis.diagnose import diagnose as run_diagnose

    sample = read_sample(data, target, columns, table, run.seed)
    result = run_diagnose(
        model,
        sample,
        others=None if others is None else {name: name for name in others.split(",")},
        loss=loss,
        coefficients=coefficients,
        noise=noise,
        together=_groups(together),
        effort="quick" if quick else "full",
        permutations=permutations,
        level=level,
        random_state=run.seed,
        n_jobs=run.jobs,
        engine=run.scheduler,
        progress=run.progress,
        duplicates=duplicates,
    )
    result = replace(result, command=typed_command())
    run.emit(result)
    run.save(result, Path(data).name)
    tracking.log(result, run.quiet)


@command("permutation-test")
def permutation_test(
    data: DataFile,
    *,
    model: ModelName = "logistic",
    target: TargetColumn = None,
    columns: Annotated[ColumnOptions, Without("time")],
    loss: Annotated[str, typer.Option("--loss", help="Loss, such as zero-one or squared.")] = "auto",
    table: TableOptions,
    permutations: Annotated[
        int, typer.Option("--permutations", min=1, help="Permutations; the smallest p-value is 1 over one more.")
    ] = 999,
    run: Annotated[RunOptions, Without("store")],
) -> None:
    """Test whether a model finds any dependence of the target on the features: permute the target and cross-validate again."""
    run.check()
    from unseen.diagnosis.dependence import permutation_test as run_test

    sample = read_sample(data, target, columns, table, run.seed)
    result = run_test(
        model,
        sample,
        n_permutations=permutations,
        loss=loss,
        random_state=run.seed,
        n_jobs=run.jobs,
        engine=run.scheduler,
        progress=run.reporter,
    )
    result = replace(result, command=typed_command())
    run.emit(result)
    run.save(result, Path(data).name)


def _groups(given: list[str] | None) -> dict[str, list[str]]:
    """Return groups of columns from texts such as "size=height,weight"."""
    out = {}
    for text in given or ():
        name, equal, columns = text.partition("=")
        if not equal or not columns:
            raise InputError(f"--together {text!r}: give a name and its columns, such as size=height,weight.")
        out[name] = columns.split(",")
    return out
