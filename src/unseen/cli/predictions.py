"""`unseen predictions`: errors and paired differences from files of predictions or scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli._common import Json, Level, Quiet, Report, Seed, check_writable, emit, table, write_report

__all__ = ["attach"]


def predictions(
    files: Annotated[list[Path], typer.Argument(help="Files of predictions: CSV, TSV, Parquet or JSON Lines.")],
    truth: Annotated[str | None, typer.Option("--truth", help="Column with the true label or number.")] = None,
    pred: Annotated[str | None, typer.Option("--pred", help="Column with the predicted label or number.")] = None,
    prob: Annotated[
        str | None,
        typer.Option("--prob", help="Column with the positive class's probability, or one per class: p_a,p_b,p_c."),
    ] = None,
    score: Annotated[str | None, typer.Option("--score", help="Column with a score; higher is better.")] = None,
    loss: Annotated[str | None, typer.Option("--loss", help="Column with a loss; lower is better.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column that names the item; files are matched by it.")] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Column that names what items share; clusters are the units.")
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", help="Loss or measure, such as zero-one, brier, auc, f1 or r2.")
    ] = "auto",
    positive: Annotated[str | None, typer.Option("--positive", help="The class --prob is about.")] = None,
    adjust: Annotated[str, typer.Option("--adjust", help="holm, benjamini-hochberg or none.")] = "holm",
    missing: Annotated[str, typer.Option("--missing", help="error, or drop rows that lack a value.")] = "error",
    sep: Annotated[str | None, typer.Option("--sep", help="Column separator of text files.")] = None,
    level: Level = 0.95,
    fail_if: Annotated[
        float | None, typer.Option("--fail-if", help="Exit with 1 if the last file's error exceeds this.")
    ] = None,
    report: Report = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate and compare errors from files of predictions; no model, no training."""
    check_writable(report)
    from unseen.verbs.predictions import predictions as run

    result = run(
        *files, truth=truth, pred=pred, prob=None if prob is None else prob.split(","), score=score, loss=loss, id=id,
        cluster=cluster, measure=measure, positive=positive, adjust=adjust, missing=missing, sep=sep, level=level,
        random_state=seed,
    )  # fmt: skip
    if json:
        emit(result, True)
    else:
        columns = ["file", "measure", "estimate", "std_error", "lower", "upper", "level", "method", "n"]
        typer.echo(table(result.by_file(), columns))
        if result.pairs:
            if sentence := result.scale_sentence():
                typer.echo(f"\n{sentence}")
            columns = ["a", "b", "difference", "std_error", "lower", "upper", "test", "p", "p_adjusted", "verdict"]
            typer.echo("")
            typer.echo(table(result.rows(), columns))
        for note in result.notes:
            typer.echo(str(note))
    write_report(result, report, quiet)
    if fail_if is not None and list(result.estimates.values())[-1].value > fail_if:
        raise typer.Exit(1)


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("predictions")(predictions)
