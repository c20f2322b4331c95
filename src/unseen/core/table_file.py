"""Tables on disk: an npz of plain arrays and one JSON text, never a pickle."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.notes import Note
from unseen.core.plan import Plan, Split
from unseen.core.result import plain
from unseen.core.table import Failure, Predictions, PredictionTable

__all__ = ["load_table", "save_table"]

FORMAT = 1
_PARTS = ("test", "train", "full")
_COLUMNS = ("split", "row", "value", "score", "count")
_DATA_ARRAYS = ("y", "classes", "groups", "weights", "order", "ids")


def _storable(array: Array) -> Array:
    return array.astype(str) if array.dtype == object else array


def save_table(table: PredictionTable, path: str | PathLike[str]) -> str:
    """Write `table` to `path`; the suffix `.npz` is added where it is missing."""
    target = Path(path)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    arrays: dict[str, Array] = {"units": table.plan.units, "seconds": table.seconds}
    for side in ("train", "test"):
        sets = [getattr(s, side) for s in table.plan.splits]
        arrays[f"plan_{side}"] = np.concatenate([*sets, np.zeros(0, np.int64)])
        arrays[f"plan_{side}_len"] = np.array([len(s) for s in sets], dtype=np.int64)
    arrays["plan_labels"] = np.array([(s.repeat, s.fold, s.part) for s in table.plan.splits], dtype=np.int64).reshape(
        -1, 3
    )
    for name in _DATA_ARRAYS:
        if (value := getattr(table.data, name)) is not None:
            arrays[f"data_{name}"] = _storable(value)
    for part in _PARTS:
        if (rows := getattr(table, part)) is not None:
            for column in _COLUMNS:
                if (value := getattr(rows, column)) is not None:
                    arrays[f"{part}_{column}"] = value
    probes = _store_probes(table, arrays)
    arrays["meta"] = np.array(json.dumps({**_meta(table), "probes": probes}))
    try:
        with target.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise InputError(f"cannot write the table to {str(path)!r}: {error.strerror or error}.") from error
    return str(target)


def _store_probes(table: PredictionTable, arrays: dict[str, Array]) -> dict[str, list[bool]]:
    probes = {}
    for name, values in table.probes.items():
        probes[name] = [v is not None for v in values]
        for j, value in enumerate(values):
            if value is not None:
                arrays[f"probe_{name}_{j}"] = np.asarray(value)
    return probes


def _meta(table: PredictionTable) -> dict[str, Any]:
    data, plan = table.data, table.plan
    return {
        "format": FORMAT,
        "task": data.task,
        "names": list(data.names),
        "target_name": data.target_name,
        "positive": plain(data.positive),
        "data_fingerprint": data.fingerprint,
        "design": plan.design,
        "options": plain(dict(plan.options)),
        "notes": [[n.code, n.text] for n in plan.notes],
        "score_kind": table.score_kind,
        "failures": [[f.split, f.reason] for f in table.failures],
        "model": table.model,
        "seed": table.seed,
    }


def load_table(path: str | PathLike[str]) -> PredictionTable:
    """Read a table written by `PredictionTable.save`; refuses pickled content."""
    try:
        # numpy leaves a damaged archive open if it opens the file itself
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays.pop("meta")))
        if meta["format"] > FORMAT:
            raise InputError(f"{path} was written by a newer version (format {meta['format']}); update unseen.")
        return _table(arrays, meta)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}.") from error
    except InputError:
        raise
    except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError) as error:
        raise InputError(f"{str(path)!r} is not a table saved by unseen: {error}") from error
    except Exception as error:  # zipfile and zlib raise their own kinds for damaged files
        raise InputError(f"{str(path)!r} is damaged: {error}") from error


def _table(arrays: dict[str, Array], meta: dict[str, Any]) -> PredictionTable:
    sides = {}
    for side in ("train", "test"):
        ends = np.cumsum(arrays[f"plan_{side}_len"])
        sides[side] = np.split(arrays[f"plan_{side}"], ends[:-1]) if len(ends) else []
    splits = tuple(
        Split(train, test, repeat=int(labels[0]), fold=int(labels[1]), part=int(labels[2]))
        for train, test, labels in zip(sides["train"], sides["test"], arrays["plan_labels"])
    )
    notes = tuple(Note(code, text) for code, text in meta["notes"])
    plan = Plan(meta["design"], splits, arrays["units"], options=meta["options"], notes=notes)
    columns: dict[str, Any] = {name: arrays.get(f"data_{name}") for name in _DATA_ARRAYS}
    y = columns.pop("y")
    assert y is not None
    data = Data(
        None,
        y,
        meta["task"],
        names=tuple(meta["names"]),
        target_name=meta["target_name"],
        positive=meta["positive"],
        fingerprint=meta["data_fingerprint"],
        **columns,
    )
    parts = {part: _predictions(arrays, part) for part in _PARTS}
    test = parts.pop("test")
    assert test is not None
    probes = {
        name: [arrays[f"probe_{name}_{j}"] if there else None for j, there in enumerate(mask)]
        for name, mask in meta["probes"].items()
    }
    failures = tuple(Failure(int(s), str(r)) for s, r in meta["failures"])
    return PredictionTable(
        plan=plan,
        data=data,
        test=test,
        **parts,
        score_kind=meta["score_kind"],
        failures=failures,
        seconds=arrays["seconds"],
        probes=probes,
        model=meta["model"],
        seed=meta["seed"],
    )


def _predictions(arrays: dict[str, Array], part: str) -> Predictions | None:
    if f"{part}_row" not in arrays:
        return None
    return Predictions(**{c: arrays[f"{part}_{c}"] for c in _COLUMNS if f"{part}_{c}" in arrays})
