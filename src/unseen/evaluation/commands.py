"""Commands `unseen measure`, `unseen predictions` and `unseen disagree`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.core.errors import InputError
from unseen.core.scale import gap_words, measure_name
from unseen.request.command_line import (
    By,
    Costs,
    Level,
    PositiveClass,
    RunOptions,
    Separator,
    TaskName,
    TrackOptions,
    Without,
    command,
    typed_command,
)
from unseen.request.gate import GateCheck, GateOptions
from unseen.show.text import percent_or_number, text_table

if TYPE_CHECKING:
    from unseen.evaluation.prediction_record import PredictionFiles

__all__: list[str] = []


@command("measure")
def measure(
    file: Annotated[Path, typer.Argument(help="File of predictions: CSV, TSV, Parquet or JSON Lines.")],
    *,
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
    positive: PositiveClass = None,
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
    by: By = None,
    task: TaskName = None,
    sep: Separator = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every measure, not only the ten best known.")] = False,
    level: Level = 0.95,
    tracking: TrackOptions,
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Measure a file of predictions: rates, curves, calibration or errors of numbers, each with an interval."""
    run.check()
    tracking.check()
    from unseen.evaluation.measure_file import measure_file

    result = measure_file(
        file,
        truth=truth,
        score=None if score is None else score.split(","),
        pred=pred,
        positive=positive,
        threshold=threshold,
        costs=costs,
        prevalence=prevalence,
        measures=None if only is None else only.split(","),
        cluster=cluster,
        weights=weights,
        by=by,
        task=task,
        sep=sep,
        level=level,
        random_state=run.seed,
    )
    result = replace(result, command=typed_command(), asked=result.asked or everything)
    run.emit(result)
    run.save(result, file.name)
    tracking.log(result, run.quiet)


@command("predictions")
def predictions(
    files: Annotated[list[Path], typer.Argument(help="Files of predictions: CSV, TSV, Parquet or JSON Lines.")],
    *,
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
    by: By = None,
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
    fail_if_worse: Annotated[
        float | None,
        typer.Option(
            "--fail-if-worse",
            min=0,
            help="Exit with 1 if the last file's error exceeds the first one's by more than this.",
        ),
    ] = None,
    gate: GateOptions,
    tracking: TrackOptions,
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Estimate and compare errors from files of predictions; no model, no training."""
    run.check()
    tracking.check()
    gate.check()
    if fail_if_worse is not None and len(files) < 2:
        raise InputError("--fail-if-worse compares the last file with the first; give at least two files.")
    from unseen.evaluation.predictions import predictions as run_predictions

    result = run_predictions(
        *files,
        truth=truth,
        pred=pred,
        prob=None if prob is None else prob.split(","),
        score=score,
        loss=loss,
        id=id,
        cluster=cluster,
        by=by,
        measure=measure,
        positive=positive,
        adjust=adjust,
        missing=missing,
        sep=sep,
        level=level,
        random_state=run.seed,
    )
    result = replace(result, command=typed_command())
    if run.json:
        run.emit(result)
    else:
        typer.echo(f"{result.sentence()}\n")
        columns = ["file", "measure", "estimate", "std_error", "lower", "upper", "level", "method", "n"]
        typer.echo(text_table(result.by_file(), columns))
        if result.pairs:
            if sentence := result.scale_sentence():
                typer.echo(f"\n{sentence}")
            columns = ["a", "b", "difference", "std_error", "lower", "upper", "test", "p", "p_adjusted", "verdict"]
            typer.echo("")
            typer.echo(text_table(result.rows(), columns))
        for one in result.slices:
            typer.echo(f"\n{one.sentence()}\n{one.table()}")
        for note in result.notes:
            typer.echo(str(note))
    run.save(result, ", ".join(file.name for file in files))
    tracking.log(result, run.quiet)
    checks = _gate_checks(result, fail_if, fail_if_worse)
    gate.write(", ".join(file.name for file in files), checks, result.by_file())
    if not all(one.passed for one in checks):
        raise typer.Exit(1)


def _gate_checks(result: PredictionFiles, fail_if: float | None, fail_if_worse: float | None) -> list[GateCheck]:
    """Return what a build asks of files of predictions: the last one's error, and what it loses against the first."""
    names = list(result.estimates)
    last = result.estimates[names[-1]]
    checks = []
    if fail_if is not None:
        sentence = f"{names[-1]}: {'error' if last.loss == 'zero-one' else measure_name(last.loss)} {percent_or_number(last.value, last.loss)}."
        checks.append(GateCheck(name=f"error at most {fail_if:g}", passed=last.value <= fail_if, sentence=sentence))
    if fail_if_worse is not None:
        pair = result[names[0], names[-1]]
        loss = -pair.difference if pair.a == names[0] else pair.difference
        ends = () if pair.interval is None else sorted(-v if pair.a == names[0] else v for v in pair.interval)
        low, high = (gap_words(v, result.loss, bare=True) for v in ends) if ends else ("", "")
        span = f" ({100 * pair.level:g}% interval {low} to {high})" if ends else ""
        sentence = f"The error of {names[-1]} is {gap_words(abs(loss), result.loss)} {'larger' if loss > 0 else 'smaller'} than that of {names[0]}{span}."
        if ends and ends[0] <= 0 <= ends[1]:
            sentence += " The interval holds 0: the two may as well be equal."
        name = f"error at most {fail_if_worse:g} above that of {names[0]}"
        checks.append(GateCheck(name=name, passed=loss <= fail_if_worse, sentence=sentence))
    if not checks:
        checks.append(GateCheck(name="an answer", passed=True, sentence=str(result).splitlines()[0]))
    return checks


@command("disagree")
def disagree(
    files: Annotated[list[Path] | None, typer.Argument(help="Two files of predictions for the same points.")] = None,
    *,
    labelled: Annotated[
        Path | None, typer.Option("--labelled", help="A request written by --out, its column `label` filled in.")
    ] = None,
    budget: Annotated[int | None, typer.Option("--budget", min=1, help="Number of disagreements to label.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the points to label here (CSV).")] = None,
    pred: Annotated[str | None, typer.Option("--pred", help="Column with the predicted label.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column that names the point.")] = None,
    sep: Annotated[str | None, typer.Option("--sep", help="Column separator of text files.")] = None,
    level: Level = 0.95,
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Compare two classifiers by labelling only points on which they disagree."""
    run.check(out)
    from unseen.evaluation.disagree import Disagreement
    from unseen.evaluation.disagree import disagree as run_disagree

    given = files or []
    if labelled is None and len(given) != 2:
        raise InputError(
            f"give two files of predictions, or --labelled with a filled-in request; got {len(given)} files."
        )
    if labelled is not None and (given or out):
        raise InputError("--labelled stands alone: the request holds all that is needed.")
    pair = given if labelled is None else (None, None)
    result = run_disagree(
        *pair, labelled=labelled, pred=pred, id=id, budget=budget, level=level, sep=sep, random_state=run.seed
    )
    if out is not None and isinstance(result, Disagreement):
        result.write(out)
        if not run.quiet:
            typer.echo(f"fill in the column 'label' of {out}, then: unseen disagree --labelled {out}", err=True)
    run.emit(result)
    run.save(result, "disagreement")
