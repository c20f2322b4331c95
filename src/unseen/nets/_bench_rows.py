"""Values of measures on the networks of a zoo, written row by row so that a stopped run can go on."""

from __future__ import annotations

import csv
import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError, UnseenError
from unseen.engine.events import reporting
from unseen.engine.interrupts import kept_in
from unseen.nets._csv_rows import csv_rows
from unseen.nets._device import device_of
from unseen.nets._measure import Measure, measures_named
from unseen.nets._net import Net
from unseen.nets._zoo import Zoo

__all__ = ["MeasureRow", "measure_zoo", "read_rows", "write_table"]

LOG = logging.getLogger("unseen")


@dataclass(frozen=True, kw_only=True)
class MeasureRow:
    """One measure of one network; `value` is NaN where it does not apply, for the `reason` given."""

    zoo: str
    seed: int
    net: str
    measure: str
    value: float
    std_error: float
    draws: int
    seconds: float
    reason: str = ""


def measure_zoo(
    zoo: Zoo,
    measures: str | Iterable[str | Measure] = "all",
    *,
    path: str | PathLike[str] | None = None,
    nets: Sequence[int] | None = None,
    draws: Mapping[str, int] | None = None,
    device: Any = "cpu",
    random_state: int = 0,
    max_seconds: float | None = None,
    progress: Any = None,
) -> list[MeasureRow]:
    """Measure the networks of a zoo, measure by measure, each row written when it is there.

    Parameters
    ----------
    zoo : Zoo
        Loaded with its data.
    measures : "all" or sequence of str or Measure
        Which, in the order they are taken.
    path : path, optional
        CSV file to add to; rows it holds already are not computed again.
    nets : sequence of int, optional
        Positions of networks; all by default.
    draws : mapping of str to int, optional
        Draws of single measures.
    device : str
        Where to compute.
    random_state : int
        Seed of all draws; every network meets the same draws.
    max_seconds : float, optional
        Begin no further measure after so long.
    progress : bool, optional
        Progress bar on stderr; by default where that is a terminal.

    Returns
    -------
    list of MeasureRow
        Those of the file and the new ones.
    """
    wanted, started = measures_named(measures), time.perf_counter()
    if zoo.data is not None:
        zoo = replace(zoo, data=zoo.data.to(device_of(device)))  # once, so that all networks share one tensor
    rows = _resumed(Path(path)) if path is not None and Path(path).exists() else []
    done = {(row.seed, row.net, row.measure) for row in rows}
    loaded: dict[int, Net] = {}
    # one measure on all networks first: a run that is stopped leaves whole columns
    every = [(m, k) for m in wanted for k in (range(len(zoo)) if nets is None else nets)]
    left = [(m, k) for m, k in every if (zoo.nets[k].seed, zoo.nets[k].name, m.id) not in done]
    with kept_in(path), reporting(progress, len(left), "measures") as reporter:
        for measure, k in left:
            if max_seconds is not None and time.perf_counter() - started > max_seconds:
                LOG.warning("measuring stopped after %.0f s", max_seconds)
                return rows
            if k not in loaded:
                loaded[k] = zoo.net(k, device)
            row = _measured(zoo, zoo.nets[k], loaded[k], measure, (draws or {}).get(measure.id), random_state)
            rows.append(row)
            if path is not None:
                _append(Path(path), row)
            reporter.advance(1)
    return rows


def _measured(zoo: Zoo, record: Any, net: Any, measure: Measure, draws: int | None, random_state: int) -> MeasureRow:
    begun = time.perf_counter()
    place = {"zoo": zoo.grid.id, "seed": record.seed, "net": record.name, "measure": measure.id}
    try:
        found = measure(net, draws=draws, random_state=random_state)
    except UnseenError as error:
        seconds = time.perf_counter() - begun
        return MeasureRow(**place, value=math.nan, std_error=math.nan, draws=0, seconds=seconds, reason=str(error))
    spread = math.nan if found.std_error is None else found.std_error
    return MeasureRow(**place, value=found.value, std_error=spread, draws=found.draws, seconds=found.seconds)


def _resumed(path: Path) -> list[MeasureRow]:
    """Read a file and write it again without a line that was cut off, lest the next row be glued to it."""
    rows = read_rows(path)
    if rows:
        write_table(path, [_written(row) for row in rows])
    elif len(path.read_text().splitlines()) > 2:
        raise InputError(
            f"no line of {str(path)!r} holds a value of a measure; name a new file, or one that a bench wrote."
        )
    else:
        path.unlink()
    return rows


def _written(row: MeasureRow) -> dict[str, Any]:
    return {k: f"{v:.9g}" if isinstance(v, float) else v for k, v in asdict(row).items()}


def _append(path: Path, row: MeasureRow) -> None:
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(MeasureRow)])
        if fresh:
            writer.writeheader()
        writer.writerow(_written(row))


def read_rows(path: str | PathLike[str]) -> list[MeasureRow]:
    """Read rows of measures; a last line that was cut off is left out."""
    if Path(path).is_file() and not Path(path).stat().st_size:
        return []  # a run that was stopped before its first row
    rows = []
    for line in csv_rows(path, [f.name for f in fields(MeasureRow)], "measures"):
        try:
            row = MeasureRow(
                zoo=line["zoo"],
                seed=int(line["seed"]),
                net=line["net"],
                measure=line["measure"],
                value=float(line["value"]),
                std_error=float(line["std_error"]),
                draws=int(line["draws"]),
                seconds=float(line["seconds"]),
                reason=line["reason"] or "",
            )
            rows.append(row)
        except (TypeError, ValueError):
            continue
    return rows


def write_table(path: str | PathLike[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV, the columns those of the first row; the file under its own name is always whole."""
    target = Path(path)
    partial = target.with_suffix(".partial")
    with partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(target)
