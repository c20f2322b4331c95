"""Rows of the studies of `combined`, one drawn sample and one rule each: run part by part, packed into one file."""

from __future__ import annotations

import csv
import gzip
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import sklearn
from threadpoolctl import threadpool_limits

KEY = ("set", "n", "rule", "draw")
Task = tuple[str, int, str, int]  # as KEY
Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file, packed or not; none where there is no file."""
    if not path.exists():
        return []
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        return list(csv.DictReader(file))


def append_rows(
    path: Path,
    packed: Path,
    tasks: Iterable[Task],
    one: Callable[..., Mapping[str, float] | None],
    columns: Iterable[str],
    minutes: float,
) -> None:
    """Append the row of each task until the CPU time is used up; what either file holds already is not run again."""
    done = {(r["set"], int(r["n"]), r["rule"], int(r["draw"])) for kept in (packed, path) for r in read_rows(kept)}
    end = time.process_time() + 60 * minutes
    quick = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with path.open("a", newline="") as file, threadpool_limits(1), quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = csv.DictWriter(file, [*KEY, "d", "classes", "truth", *columns])
        if file.tell() == 0:
            writer.writeheader()
        for task in tasks:
            if task in done:
                continue
            if time.process_time() > end:
                break
            row = one(*task)
            if row is not None:
                writer.writerow({**dict(zip(KEY, task)), **{c: f"{v:.6g}" for c, v in row.items()}})
                file.flush()


def pack_rows(packed: Path, needed: str = "632plus") -> list[Row]:
    """Return all rows with a needed column in order, after packing what the parts of a run have left beside the packed file into it."""
    stem = packed.name.removesuffix(".csv.gz")
    parts = sorted(packed.parent.glob(f"{stem}.*.csv"))
    found = {tuple(r[k] for k in KEY): r for path in (packed, *parts) for r in read_rows(path) if r[needed]}
    ordered = [found[key] for key in sorted(found)]
    lines = [",".join(ordered[0]), *(",".join(r.values()) for r in ordered)]
    with gzip.GzipFile(packed, "wb", mtime=0) as file:
        file.write(("\n".join(lines) + "\n").encode())
    for path in parts:
        path.unlink()
    return ordered
