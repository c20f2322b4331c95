"""`unseen disagree`: where two classifiers disagree, what to label, and what the labels say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli._common import Json, Level, Quiet, Report, Seed, check_writable, emit, write_report
from unseen.core.errors import InputError

__all__ = ["attach"]


def disagree(
    files: Annotated[list[Path] | None, typer.Argument(help="Two files of predictions for the same points.")] = None,
    labelled: Annotated[
        Path | None, typer.Option("--labelled", help="A request written by --out, its column `label` filled in.")
    ] = None,
    budget: Annotated[int | None, typer.Option("--budget", min=1, help="Number of disagreements to label.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the points to label here (CSV).")] = None,
    pred: Annotated[str | None, typer.Option("--pred", help="Column with the predicted label.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column that names the point.")] = None,
    sep: Annotated[str | None, typer.Option("--sep", help="Column separator of text files.")] = None,
    level: Level = 0.95,
    report: Report = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare two classifiers by labelling only points on which they disagree."""
    check_writable(report)
    check_writable(out)
    from unseen.verbs.disagree import disagree as run
    from unseen.verbs.disagreement_record import Disagreement

    given = files or []
    if labelled is None and len(given) != 2:
        raise InputError(
            f"give two files of predictions, or --labelled with a filled-in request; got {len(given)} files."
        )
    if labelled is not None and (given or out):
        raise InputError("--labelled stands alone: the request holds all that is needed.")
    pair = given if labelled is None else (None, None)
    result = run(
        *pair, labelled=labelled, pred=pred, id=id, budget=budget, level=level, sep=sep, random_state=seed
    )  # fmt: skip
    if out is not None and isinstance(result, Disagreement):
        result.write(out)
        if not quiet:
            typer.echo(f"fill in the column 'label' of {out}, then: unseen disagree --labelled {out}", err=True)
    emit(result, json)
    write_report(result, report, quiet)


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("disagree")(disagree)
