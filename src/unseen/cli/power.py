"""`unseen power`: what a test set can show about two models."""

from __future__ import annotations

from typing import Annotated

import typer

from unseen.cli._common import Json, Quiet, Report, Seed, check_writable, emit, write_report

__all__ = ["attach"]


def power(
    n: Annotated[int | None, typer.Option("--n", help="Units in the test set.")] = None,
    difference: Annotated[
        float | None, typer.Option("--difference", "-d", help="True difference of the errors.")
    ] = None,
    disagreement: Annotated[
        float | None, typer.Option("--disagreement", help="Share of units on which exactly one model is right.")
    ] = None,
    sd: Annotated[
        float | None, typer.Option("--sd", help="Standard deviation of a unit's difference of losses.")
    ] = None,
    wanted: Annotated[float | None, typer.Option("--power", help="Wanted power; n or the difference is found.")] = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Size of the test.")] = 0.05,
    sides: Annotated[int, typer.Option("--sides", help="1 or 2.")] = 2,
    report: Report = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Power of a paired comparison; of --n, --difference and --power give two."""
    check_writable(report)
    from unseen.verbs.power import power as run

    result = run(n, difference, disagreement=disagreement, sd=sd, power=wanted, alpha=alpha, sides=sides)
    emit(result, json)
    write_report(result, report, quiet)


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("power")(power)
