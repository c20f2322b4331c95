"""`unseen compare`: several models on the same splits, every pair tested."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from unseen.core.comparison import p_words
from unseen.core.errors import InputError
from unseen.request.command_line import (
    By,
    ColumnOptions,
    Costs,
    DataFile,
    DuplicateRows,
    Folds,
    Level,
    RunOptions,
    Shortcuts,
    TableOptions,
    TargetColumn,
    TrackOptions,
    command,
    read_sample,
    typed_command,
)
from unseen.show.text import text_table

__all__: list[str] = []

COLUMNS = ["a", "b", "difference", "lower", "upper", "p", "p_adjusted", "share_of_splits", "rope", "verdict"]


@command("compare")
def compare(
    data: DataFile,
    *,
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="Model, such as rbf-svm; give the option twice or more.")
    ] = None,
    target: TargetColumn = None,
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            help="subsampling (the default; corrected-t for groups and more than 2,000 rows), nested-cv, 5x2cv, mcnemar ...",
        ),
    ] = None,
    loss: Annotated[
        str,
        typer.Option(
            "--loss",
            "--measure",
            "--scoring",
            help="Loss or measure, such as zero-one, log-loss, auc or r2, or a name of scikit-learn's.",
        ),
    ] = "auto",
    rope: Annotated[float | None, typer.Option("--rope", help="Half-width of practical equivalence.")] = None,
    adjust: Annotated[str, typer.Option("--adjust", help="holm, benjamini-hochberg or none.")] = "holm",
    columns: ColumnOptions,
    table: TableOptions,
    duplicates: DuplicateRows = "auto",
    by: By = None,
    costs: Costs = None,
    level: Level = 0.95,
    cv: Folds = None,
    shortcuts: Shortcuts = True,
    tracking: TrackOptions,
    run: RunOptions,
) -> None:
    """Compare models: which has the smaller error, by how much, and how sure one may be."""
    names = model or []
    if len(names) < 2:
        raise InputError("give at least two models: --model rbf-svm --model cart; `unseen models` lists them.")
    if len(set(names)) < len(names):
        raise InputError(f"a model is named twice: {', '.join(names)}.")
    run.check()
    tracking.check()
    from unseen.assessment.costs import measure_of
    from unseen.comparison.compare import compare as run_compare
    from unseen.evaluation.slice_columns import sample_with_columns

    sample, sliced = sample_with_columns(
        by, columns.drop or (), lambda drop: read_sample(data, target, replace(columns, drop=drop), table, run.seed)
    )
    result = run_compare(
        {name: name for name in names},
        sample,
        test=test,
        measure=measure_of(loss, costs, sample),
        level=level,
        rope=rope,
        adjust=adjust,
        by=sliced,
        cv=cv,
        random_state=run.seed,
        shortcuts=shortcuts,
        n_jobs=run.jobs,
        engine=run.scheduler,
        progress=run.progress,
        command=typed_command(),
        duplicates=duplicates,
    )
    if run.json:
        run.emit(result)
    else:
        typer.echo(result.sentence)
        typer.echo(result.test_sentence)
        if sentence := result.scale_sentence():
            typer.echo(sentence)
        for line in result.model_sentences():
            typer.echo(line)
        rows = [
            {**row, **{k: p_words(row[k], "") for k in ("p", "p_adjusted") if row[k] is not None}}
            for row in result.rows()
        ]
        shown = [name for name in COLUMNS if any(row[name] is not None for row in rows)]
        typer.echo(text_table(rows, shown))
        typer.echo(str(result.winner))
        for remark in result.notes:
            typer.echo(str(remark))
        for one in result.slices:
            typer.echo(f"\n{one.sentence()}\n{one.table()}")
    run.save(result, f"{Path(data).name}, {', '.join(names)}")
    tracking.log(result, run.quiet)
