"""Commands `unseen power` and `unseen plan-test-size`."""

from __future__ import annotations

from typing import Annotated

import typer

from unseen.request.command_line import Level, RunOptions, Without, command

__all__: list[str] = []


@command("power")
def power(
    *,
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
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Power of a paired comparison; of --n, --difference and --power give two."""
    run.check()
    from unseen.planning.power import power as plan_power

    result = plan_power(n, difference, disagreement=disagreement, sd=sd, power=wanted, alpha=alpha, sides=sides)
    run.emit(result)
    run.save(result, "power")


@command("plan-test-size")
def plan_test_size(
    *,
    half_width: Annotated[float, typer.Option("--half-width", help="Half the interval's width: plus or minus.")],
    error: Annotated[float | None, typer.Option("--error", help="Error rate expected; 0.5 by default.")] = None,
    sd: Annotated[float | None, typer.Option("--sd", help="Standard deviation of a unit's loss.")] = None,
    disagreement: Annotated[
        float | None,
        typer.Option("--disagreement", help="For a difference: share of units one model alone gets right."),
    ] = None,
    difference: Annotated[float, typer.Option("--difference", help="Difference expected.")] = 0.0,
    interval: Annotated[
        str | None,
        typer.Option("--interval", help="wald, wilson or clopper-pearson; by default wilson with --error, else wald."),
    ] = None,
    cluster_size: Annotated[float, typer.Option("--cluster-size", help="Mean rows of a cluster.")] = 1.0,
    icc: Annotated[float, typer.Option("--icc", help="Correlation of two rows of a cluster.")] = 0.0,
    level: Level = 0.95,
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Size of a test set for an interval of a wanted width."""
    run.check()
    from unseen.planning.test_size import plan_test_size as plan_size

    result = plan_size(
        half_width,
        error=error,
        sd=sd,
        disagreement=disagreement,
        difference=difference,
        level=level,
        interval=interval,
        cluster_size=cluster_size,
        icc=icc,
    )
    run.emit(result)
    run.save(result, "test size")
