"""`unseen compare`: several models on the same splits, every pair tested."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from unseen.core.data import Task
from unseen.core.errors import InputError
from unseen.request.command_line import (
    Costs,
    DataFile,
    Decimal,
    GroupColumn,
    Jobs,
    Json,
    Level,
    PositiveClass,
    Quiet,
    Report,
    Rows,
    Scheduler,
    Seed,
    Separator,
    Store,
    TargetColumn,
    TaskName,
    TimeColumn,
    WeightColumn,
    check_store,
    check_writable,
    command,
    emit,
    keep,
    progress_for,
    write_report,
)
from unseen.show.text import text_table

__all__: list[str] = []

COLUMNS = ["a", "b", "difference", "lower", "upper", "p", "p_adjusted", "prob_superior", "rope", "verdict"]


@command("compare")
def compare(
    data: DataFile,
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="Model, such as rbf-svm; give the option twice or more.")
    ] = None,
    target: TargetColumn = None,
    test: Annotated[
        str | None,
        typer.Option(
            "--test", help="corrected-t (the default; delong for auc), conservative-z, nested-cv, 5x2cv, mcnemar ..."
        ),
    ] = None,
    loss: Annotated[
        str, typer.Option("--loss", "--measure", help="Loss or measure, such as zero-one, log-loss, auc or r2.")
    ] = "auto",
    rope: Annotated[float | None, typer.Option("--rope", help="Half-width of practical equivalence.")] = None,
    adjust: Annotated[str, typer.Option("--adjust", help="holm, benjamini-hochberg or none.")] = "holm",
    groups: GroupColumn = None,
    time: TimeColumn = None,
    weights: WeightColumn = None,
    positive: PositiveClass = None,
    task: TaskName = None,
    n: Rows = None,
    sep: Separator = None,
    decimal: Decimal = None,
    costs: Costs = None,
    level: Level = 0.95,
    report: Report = None,
    store: Store = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare models: which has the smaller error, by how much, and how sure one may be."""
    names = model or []
    if len(names) < 2:
        raise InputError("give at least two models: --model rbf-svm --model cart; `unseen models` lists them.")
    if len(set(names)) < len(names):
        raise InputError(f"a model is named twice: {', '.join(names)}.")
    check_writable(report)
    check_store(store)
    from unseen.assessment.costs import measure_of
    from unseen.comparison.compare import compare as run_compare
    from unseen.datasets.read import read

    sample = read(
        data,
        target,
        groups=groups,
        time=time,
        weights=weights,
        positive=positive,
        task=cast("Task | None", task),
        n=n,
        seed=seed,
        sep=sep,
        decimal=decimal,
    )
    result = run_compare(
        {name: name for name in names},
        sample,
        test=test,
        measure=measure_of(loss, costs, sample),
        level=level,
        rope=rope,
        adjust=adjust,
        random_state=seed,
        n_jobs=jobs,
        engine=scheduler,
        progress=progress_for(quiet),
        command=shlex.join(["unseen", *sys.argv[1:]]),
    )
    if json:
        emit(result, json)
    else:
        shown = [name for name in COLUMNS if any(row[name] is not None for row in result.rows())]
        if sentence := result.scale_sentence():
            typer.echo(sentence)
        typer.echo(text_table(result.rows(), shown))
        typer.echo(str(result.winner))
        for remark in result.notes:
            typer.echo(str(remark))
    write_report(result, report, quiet)
    keep(result, "comparison", f"{Path(data).name}, {', '.join(names)}", store, quiet)
