"""`unseen nets cmi`: score measures of generalization on a table of networks with known gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli._common import Json, Level, Quiet, Seed, emit, table
from unseen.core.errors import InputError, UnknownName

__all__ = ["attach"]


def cmi(
    file: Annotated[Path, typer.Argument(help="Table with one row per network: CSV, TSV, Parquet or JSON Lines.")],
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
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score measures as the PGDL competition did: 0 no information, 100 the order of the gaps."""
    if not measure or not grid:
        raise InputError("name the columns of the measures by --measure and of the hyper-parameters by --grid.")
    from unseen.nets._cmi import cmi as score

    names, axes = _split(measure), _split(grid)
    columns = _read(file, [gap, *names, *axes, *([seed_column] if seed_column else [])])
    scored = []
    for name in names:
        s = score(
            columns[gap], columns[name], {axis: columns[axis] for axis in axes}, sizes=_sizes(sizes), self_pairs=self_pairs,
            seeds=None if seed_column is None else columns[seed_column], level=level, random_state=seed,
        )  # fmt: skip
        scored.append((name, s, s.noise_floor(permutations, random_state=seed)))
    if json:
        emit(
            [{"measure": n, **s.to_dict(), "noise_floor": f.to_dict(), "p_value": f.p_value} for n, s, f in scored],
            True,
        )
    else:
        typer.echo(table([_row(*one) for one in scored]))
        for one in dict.fromkeys(str(n) for _, s, _ in scored for n in s.notes):
            typer.echo(one)
    if fail_if is not None and any(100 * s.value < fail_if for _, s, _ in scored):
        raise typer.Exit(1)


def _row(name: str, score: Any, floor: Any) -> dict[str, Any]:
    low, high = (None, None) if score.interval is None else (100 * score.interval.low, 100 * score.interval.high)
    return {"measure": name, "cmi": 100 * score.value, "lower": low, "upper": high, "floor": 100 * floor.quantile,
            "p": floor.p_value, "least with fixed": " ".join(score.binding), "networks": score.n_networks}  # fmt: skip


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in _split(text))
    except ValueError as error:
        raise InputError(f"--sizes {text!r}: write whole numbers as 2 or 0,1,2.") from error


def _read(file: Path, wanted: list[str]) -> dict[str, Any]:
    from unseen.verbs.prediction_files import read_frame

    frame = read_frame(file)
    for name in wanted:
        if name not in frame.columns:
            raise UnknownName(f"column of {file.name}", name, map(str, frame.columns))
    return {name: frame[name].to_numpy() for name in wanted}


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("cmi")(cmi)
