"""Training progress as JSON lines: one line per epoch, on the disk at once, readable while it grows."""

from __future__ import annotations

import json
import math
import os
import time
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.models.progress import TrainingProgress

__all__ = ["KIND", "NAMES", "DamagedRecord", "append_line", "progress_of", "read_lines", "read_progress", "runs_in"]

KIND = "unseen training progress 1"
NAMES = ("train_error", "monitor_error", "train_p", "monitor_p", "angle", "rate", "length", "variance")


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Add one line and put it on the disk; numbers that are not finite become null."""
    plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()}
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(plain, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"cannot write the record {str(path)!r}: {error.strerror}.") from error


class DamagedRecord(InputError):
    """A record that cannot be read, in contrast to a file that is no record."""


def read_lines(path: str | PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the header and the lines of a record; a last line that is being written or was cut short is left out."""
    name = str(path)
    if Path(path).is_char_device():  # /dev/zero can be read without end
        raise DamagedRecord(f"{name!r} is a device, no record.")
    try:
        texts = Path(path).read_text(encoding="utf-8").split("\n")[:-1]
    except OSError as error:
        raise DamagedRecord(f"cannot read {name!r}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise DamagedRecord(f"cannot read {name!r}: byte {error.start + 1} is no UTF-8 text.") from error
    numbered = [(k, text) for k, text in enumerate(texts, 1) if text.strip()]
    header = _content(name, *numbered[0]) if numbered else None
    if not isinstance(header, dict) or header.get("kind") != KIND:
        raise InputError(f"{name!r} is no record of training progress.")
    return header, [_line(name, k, text) for k, text in numbered[1:]]


def _content(name: str, number: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = getattr(error, "msg", type(error).__name__)
        raise DamagedRecord(f"{name!r} is damaged: line {number} is no JSON ({why}).") from error


def _line(name: str, number: int, text: str) -> dict[str, Any]:
    """Return one line after the header, refusing what `Monitor` does not write."""
    line = _content(name, number, text)
    if not isinstance(line, dict):
        raise DamagedRecord(f"{name!r} is damaged: line {number} is no record of an epoch.")
    if "epoch" in line:
        wrong = [key for key in NAMES if key not in line or not _is_number(line[key], or_none=True)]
        wrong = wrong if _is_number(line["epoch"]) else ["epoch", *wrong]
        if wrong:
            raise DamagedRecord(f"{name!r} is damaged: line {number} holds no number as {', '.join(wrong)}.")
    return line


def _is_number(value: Any, or_none: bool = False) -> bool:
    return (or_none and value is None) or (isinstance(value, (int, float)) and not isinstance(value, bool))


def read_progress(path: str | PathLike[str]) -> TrainingProgress:
    """Read a record written by `Monitor` as the same kind of result that `unseen.models.progress.monitor` gives.

    Examples
    --------
    >>> import tempfile, pathlib, torch
    >>> from unseen.nets import Monitor
    >>> net, X = torch.nn.Linear(2, 2), torch.ones(6, 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "run.jsonl"
    ...     watch = Monitor(net, X[:4], [0, 1, 0, 1], X[4:], [0, 1], path=file)
    ...     _ = watch(), watch()
    ...     len(read_progress(file).train_error)
    2
    """
    header, lines = read_lines(path)
    epochs = [line for line in lines if "epoch" in line]
    if not epochs:
        raise InputError(f"{str(path)!r} holds no epoch yet.")
    return progress_of(epochs, header.get("target_variance"))


def progress_of(epochs: list[dict[str, Any]], target_variance: float | None) -> TrainingProgress:
    """Return lines of epochs as one record; null stands for a number that is not known."""
    table = {
        name: np.array([np.nan if line[name] is None else line[name] for line in epochs], dtype=float) for name in NAMES
    }
    return TrainingProgress(
        **table, target_variance=float("nan") if target_variance is None else float(target_variance)
    )


def runs_in(folder: str | PathLike[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return where each run recorded under a folder (or in one file) stands, and what is wrong with damaged records.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (pathlib.Path(folder) / "run.jsonl").write_text("not JSON\\n")
    ...     rows, damaged = runs_in(folder)
    >>> rows, damaged[0].split(": ")[1]
    ([], 'line 1 is no JSON (Expecting value).')
    """
    place = Path(folder)
    if not place.exists():
        raise InputError(f"there is no file or folder {str(folder)!r}.")
    files = sorted(file for file in place.rglob("*.jsonl") if file.is_file()) if place.is_dir() else [place]
    rows, damaged = [], []
    for file in files:
        try:
            _, lines = read_lines(file)
        except InputError as error:
            if not place.is_dir():
                raise
            if isinstance(error, DamagedRecord):  # other JSON lines may lie in the folder, and are passed over
                damaged.append(str(error))
            continue
        name = str(file.relative_to(place)) if place.is_dir() else file.name
        rows.append({"run": name, **_state_of_run(lines), "seconds_ago": round(time.time() - file.stat().st_mtime, 1)})
    return rows, damaged


def _state_of_run(lines: list[dict[str, Any]]) -> dict[str, Any]:
    epochs = [line for line in lines if "epoch" in line]
    done = next((line["done"] for line in lines if "done" in line), None)
    if not epochs:
        return {"epoch": 0, "state": done or "begun"}
    watched = [math.inf if line.get("monitor_error") is None else line["monitor_error"] for line in epochs]
    last, best = epochs[-1], int(np.argmin(watched))
    shown = ("train_error", "monitor_error", "train_wrong", "monitor_wrong", "monitor_p", "angle", "rate")
    return {
        "epoch": last["epoch"],
        **{name: last.get(name) for name in shown},
        "best_epoch": epochs[best]["epoch"],
        "best_error": epochs[best].get("monitor_error"),
        "state": done or "running",
    }
