"""`unseen kinetics`: tracer studies, fitted, simulated, summed up by areas, and compared between groups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.core.errors import InputError
from unseen.core.writing import written_whole
from unseen.request.command_line import (
    RunOptions,
    Without,
    command,
)

__all__: list[str] = []

Ttr = Annotated[Path, typer.Argument(help="Table with columns subject, time, analyte, ttr [, sd, exclude].")]
Doses = Annotated[Path, typer.Option("--doses", help="Table with columns subject, dose_precursor, dose_product.")]
SchemeName = Annotated[str, typer.Option("--scheme", help="phe-tyr, or 'precursor,product,formed'.")]
Unit = Annotated[str, typer.Option("--unit", help="Unit of ttr: fraction or percent.")]
TimeUnit = Annotated[str, typer.Option("--time-unit", help="Unit of time: min or h.")]
Early = Annotated[list[str] | None, typer.Option("--drop-early", help="ANALYTE=MINUTES: leave out early samples.")]
Errors = Annotated[str, typer.Option("--error", help="combined, sd, proportional, constant or dissertation.")]
Location = Annotated[str | None, typer.Option("--location", help="EC-EC, IC-IC, IC-EC, EC-IC or whole-body.")]
Outliers = Annotated[str, typer.Option("--outliers", help="deleted, prediction, confidence or none.")]
Order = Annotated[str, typer.Option("--order", help="Exponentials of precursor and product, as 2,2; or auto.")]
Cv = Annotated[float | None, typer.Option("--cv", help="Known coefficient of variation, with --floor.")]
Floor = Annotated[float | None, typer.Option("--floor", help="Known constant part of the error, with --cv.")]
Convention = Annotated[str, typer.Option("--convention", help="mass_balance, or printed (the dissertation's).")]


def _early(pairs: list[str] | None) -> dict[str, float]:
    out = {}
    for text in pairs or []:
        name, found, value = text.partition("=")
        try:
            out[name] = float(value)
        except ValueError as error:
            raise InputError(f"--drop-early {text!r}: write it as ANALYTE=MINUTES, such as Tyr-4=10.") from error
        if not found:
            raise InputError(f"--drop-early {text!r}: write it as ANALYTE=MINUTES, such as Tyr-4=10.")
    return out


def _order(text: str) -> Any:
    if text == "auto":
        return "auto"
    try:
        n, m = (int(v) for v in text.split(","))
    except ValueError as error:
        raise InputError(f"--order {text!r}: write two whole numbers as 2,2, or auto.") from error
    return n, m


@command("fit", group="kinetics")
def fit(
    ttr: Ttr,
    doses: Doses,
    *,
    scheme: SchemeName = "phe-tyr",
    unit: Unit = "fraction",
    time_unit: TimeUnit = "min",
    error: Errors = "combined",
    cv: Cv = None,
    floor: Floor = None,
    order: Order = "2,2",
    location: Location = None,
    convention: Convention = "mass_balance",
    outliers: Outliers = "deleted",
    drop_early: Early = None,
    frame: Annotated[Path | None, typer.Option("--frame", help="Write one row per subject to this CSV file.")] = None,
    run: Annotated[RunOptions, Without("store", "scheduler")],
) -> None:
    """Fit rates, pools and fluxes of every subject, at every location of the conversion."""
    run.check(frame)
    from unseen.kinetics.fitting import fit as run_fit

    result = run_fit(
        ttr,
        doses,
        scheme=scheme,
        unit=unit,
        time_unit=time_unit,
        error=error,
        cv=cv,
        floor=floor,
        order=_order(order),
        location=location,
        convention=convention,
        outliers=None if outliers == "none" else outliers,
        drop_early=_early(drop_early),
        n_jobs=run.jobs,
        progress=run.progress,
    )
    run.emit(result)
    if frame is not None:
        with written_whole(frame) as partial:
            result.frame().to_csv(partial, index=False)
    run.save(result, ttr.name)
    _partial(result.failures)


def _partial(failures: Any) -> None:
    if failures:
        raise typer.Exit(3)


@command("simulate", group="kinetics")
def simulate(
    *,
    out: Annotated[Path, typer.Option("--out", help="CSV file for the samples.")],
    doses: Annotated[
        Path | None, typer.Option("--doses", help="CSV file for the doses; doses.csv beside --out.")
    ] = None,
    subjects: Annotated[int, typer.Option("--subjects", help="Number of subjects.")] = 12,
    noise: Annotated[float, typer.Option("--noise", help="Relative error of a sample.")] = 0.03,
    floor: Annotated[float, typer.Option("--floor", help="Constant part of the error.")] = 2e-4,
    between: Annotated[float, typer.Option("--between", help="Log-scale sd between subjects.")] = 0.3,
    location: Annotated[str, typer.Option("--location", help="Where conversion takes place.")] = "EC-EC",
    gross_errors: Annotated[int, typer.Option("--gross-errors", help="Planted errors per subject.")] = 0,
    effect: Annotated[
        list[str] | None, typer.Option("--effect", help="RATE=FACTOR in the second of two groups; repeatable.")
    ] = None,
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Make a study with known rates: two CSV files ready for `unseen kinetics fit`."""
    where = doses or out.parent / "doses.csv"
    run.check(out, where)
    from unseen.kinetics.simulation import simulate as run_simulate

    groups = {"control": {}, "changed": _factors(effect)} if effect else None
    result = run_simulate(
        subjects,
        noise=noise,
        floor=floor,
        between=between,
        location=location,
        gross_errors=gross_errors,
        groups=groups,
        random_state=run.seed,
    )
    _write(result.ttr, out)
    _write(result.doses, where)
    run.emit(result)
    run.save(result, out.name)
    if not run.quiet:
        typer.echo(f"samples: {out}, doses: {where}", err=True)


def _factors(pairs: list[str]) -> dict[str, float]:
    out = {}
    for text in pairs:
        name, _, value = text.partition("=")
        try:
            out[name] = float(value)
        except ValueError as error:
            raise InputError(f"--effect {text!r}: write it as RATE=FACTOR, such as k02=1.5.") from error
    return out


def _write(columns: Any, path: Path) -> None:
    import csv

    with written_whole(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


@command("nca", group="kinetics")
def nca(
    ttr: Ttr,
    doses: Doses,
    *,
    scheme: SchemeName = "phe-tyr",
    unit: Unit = "fraction",
    time_unit: TimeUnit = "min",
    drop_early: Early = None,
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler")],
) -> None:
    """Non-compartmental rates of appearance (lower bounds) and conversion between sampled pools, from areas only."""
    run.check()
    from unseen.kinetics.noncompartmental import nca as run_nca

    result = run_nca(ttr, doses, scheme=scheme, unit=unit, time_unit=time_unit, drop_early=_early(drop_early))
    run.emit(result)
    run.save(result, ttr.name)
    _partial(result.failures)


@command("compare-groups", group="kinetics")
def compare_groups(
    ttr: Ttr,
    doses: Doses,
    *,
    group: Annotated[str, typer.Option("--group", help="Column of the dose table that holds the groups.")],
    scheme: SchemeName = "phe-tyr",
    unit: Unit = "fraction",
    time_unit: TimeUnit = "min",
    error: Errors = "combined",
    location: Location = None,
    outliers: Outliers = "deleted",
    drop_early: Early = None,
    model: Annotated[str | None, typer.Option("--model", help="Classifier; shrunken LDA by default.")] = None,
    permutations: Annotated[int, typer.Option("--permutations", help="Exchanges of the labels.")] = 199,
    run: Annotated[RunOptions, Without("store", "scheduler")],
) -> None:
    """Ask whether groups differ in rates and pools, with error estimators made for few subjects."""
    run.check()
    from unseen.kinetics.group_comparison import compare_groups as run_compare_groups

    result = run_compare_groups(
        ttr,
        doses,
        group=group,
        model=model,
        permutations=permutations,
        random_state=run.seed,
        scheme=scheme,
        unit=unit,
        time_unit=time_unit,
        error=error,
        location=location,
        outliers=None if outliers == "none" else outliers,
        drop_early=_early(drop_early),
        n_jobs=run.jobs,
        progress=run.progress,
    )
    run.emit(result)
    run.save(result, ttr.name)
    _partial(result.study.failures)
