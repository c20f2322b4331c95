"""`unseen measure`: every measure of a file of predictions, with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli._common import Costs, Json, Level, Quiet, Report, Seed, check_writable, emit, write_report

__all__ = ["attach"]


def measure(
    file: Annotated[Path, typer.Argument(help="File of predictions: CSV, TSV, Parquet or JSON Lines.")],
    truth: Annotated[str, typer.Option("--truth", help="Column with the true label or number; several outputs: a,b.")],
    score: Annotated[
        str | None,
        typer.Option(
            "--score", help="Column with the positive class's probability or score, or one per class: p_a,p_b."
        ),
    ] = None,
    pred: Annotated[
        str | None, typer.Option("--pred", help="Column with the predicted label or number; as many as outputs: p,q.")
    ] = None,
    positive: Annotated[str | None, typer.Option("--positive", help="Positive class.")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Score from which on a case is called positive.")
    ] = None,
    costs: Costs = None,
    prevalence: Annotated[
        float | None, typer.Option("--prevalence", help="Share of positives where the predictions will be used.")
    ] = None,
    only: Annotated[str | None, typer.Option("--measure", help="Only these measures: auc,f1.")] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", help="Column that names what cases share.")] = None,
    weights: Annotated[str | None, typer.Option("--weights", help="Column of case weights.")] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="classification or regression; guessed by default.")
    ] = None,
    sep: Annotated[str | None, typer.Option("--sep", help="Column separator of a text file.")] = None,
    level: Level = 0.95,
    report: Report = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure a file of predictions: rates, curves, calibration or errors of numbers, each with an interval."""
    check_writable(report)
    from unseen.verbs.measure_file import measure_file

    result = measure_file(
        file, truth=truth, score=None if score is None else score.split(","), pred=pred, positive=positive,
        threshold=threshold, costs=costs, prevalence=prevalence, measures=None if only is None else only.split(","),
        cluster=cluster, weights=weights, task=task, sep=sep, level=level, random_state=seed,
    )  # fmt: skip
    emit(result, json)
    write_report(result, report, quiet)


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("measure")(measure)
