"""`unseen nets cmi`: score measures of generalization on a table of networks with known gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.core.errors import InputError, UnknownName
from unseen.request.command_line import (
    Level,
    RunOptions,
    Without,
    command,
    emit,
)
from unseen.show.text import text_table

__all__: list[str] = []


@command("cmi", group="nets")
def cmi(
    file: Annotated[Path, typer.Argument(help="Table with one row per network: CSV, TSV, Parquet or JSON Lines.")],
    *,
    gap: Annotated[str, typer.Option("--gap", help="Column with training minus test accuracy.")] = "gap",
    measure: Annotated[str, typer.Option("--measure", help="Column with the measure, or several: m1,m2.")] = "",
    grid: Annotated[str, typer.Option("--grid", help="Columns of the hyper-parameters: h1,h2,h3.")] = "",
    seed_column: Annotated[str | None, typer.Option("--seed-column", help="Column with the training seed.")] = None,
    sizes: Annotated[str, typer.Option("--sizes", help="Sizes of the sets held fixed; the competition's is 2.")] = "2",
    self_pairs: Annotated[bool, typer.Option(help="Pair each network with itself, as the competition does.")] = True,
    permutations: Annotated[int, typer.Option("--permutations", min=1, help="Behind noise floor and p-value.")] = 999,
    level: Level = 0.95,
    fail_if: Annotated[
        float | None, typer.Option("--fail-if", help="Exit with 1 if a score (0 to 100) is below this.")
    ] = None,
    run: Annotated[RunOptions, Without("jobs", "scheduler")],
) -> None:
    """Score measures as the PGDL competition did: 0 no information, 100 the order of the gaps."""
    if not measure or not grid:
        raise InputError("name the columns of the measures by --measure and of the hyper-parameters by --grid.")
    run.check()
    from unseen.nets.ranking.measure_scores import score_measures

    names, axes = _split(measure), _split(grid)
    columns = _read(file, [gap, *names, *axes, *([seed_column] if seed_column else [])])
    result = score_measures(
        columns[gap],
        {name: columns[name] for name in names},
        {axis: columns[axis] for axis in axes},
        sizes=_sizes(sizes),
        self_pairs=self_pairs,
        seeds=None if seed_column is None else columns[seed_column],
        level=level,
        n_permutations=permutations,
        random_state=run.seed,
    )
    if run.json:
        emit(result.to_dict()["measures"], True)
    else:
        typer.echo(text_table(result.rows()))
        for one in result.notes:
            typer.echo(str(one))
    run.save(result, f"{file.name}, {', '.join(names)}")
    if fail_if is not None and any(100 * score.value < fail_if for score in result.scores.values()):
        raise typer.Exit(1)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in _split(text))
    except ValueError as error:
        raise InputError(f"--sizes {text!r}: write whole numbers as 2 or 0,1,2.") from error


def _read(file: Path, wanted: list[str]) -> dict[str, Any]:
    from unseen.datasets.frames import read_frame

    frame = read_frame(file)
    for name in wanted:
        if name not in frame.columns:
            raise UnknownName(f"column of {file.name}", name, map(str, frame.columns))
    return {name: frame[name].to_numpy() for name in wanted}
