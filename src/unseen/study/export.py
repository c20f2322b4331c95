"""A study as a file: CSV, Parquet or a LaTeX table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError, MissingExtra
from unseen.core.writing import written_whole

__all__ = ["FORMATS", "export", "latex_table", "task_frame"]

FORMATS = {".csv": "tasks", ".parquet": "tasks", ".tex": "summary"}
NAMES = ("population", "model", "n", "method")
LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
FIGURES = ("truth", "bias", "variance", "rms", "internal", "correlation", "coverage", "width", "size", "power")


def export(study: Any, path: str | PathLike[str], what: str | None = None) -> Path:
    """Write a study's tasks or summary in the format of the file's ending."""
    place = Path(path)
    ending = place.suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"{str(path)!r} ends in {ending or 'nothing'!r}; a study is written as {', '.join(FORMATS)}.")
    what = what or FORMATS[ending]
    if what not in ("tasks", "summary"):
        raise InputError(f"what is {what!r}; it is 'tasks' or 'summary'.")
    if ending == ".tex" and what == "tasks":
        raise InputError("a LaTeX table holds the summary; write tasks to .csv or .parquet.")
    if not place.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: the folder {str(place.parent)!r} does not exist.")
    with written_whole(place) as partial:
        if ending == ".tex":
            partial.write_text(latex_table(study.summary().rows()), encoding="utf-8")
        else:
            frame = (
                task_frame(study.store.cells(study.name), study.columns())
                if what == "tasks"
                else study.summary().frame()
            )
            _write(frame, partial, ending)
    return place


def _write(frame: Any, place: Path, ending: str) -> None:
    if ending == ".csv":
        frame.to_csv(place, index=False)
        return
    try:
        frame.to_parquet(place, index=False)
    except ImportError as error:
        raise MissingExtra("pyarrow", "frames", "Writing Parquet") from error


def task_frame(cells: Sequence[Mapping[str, Any]], columns: Mapping[str, Any]) -> Any:
    """Return one line per finished task: population, model, n and method, replication and results."""
    import pandas as pd

    index = np.asarray(columns["cell"], dtype=np.int64)
    named = {name: np.array([cell[name] for cell in cells], dtype=object)[index] for name in NAMES}
    named["n"] = named["n"].astype(np.int64)
    return pd.DataFrame({**named, **{k: v for k, v in columns.items() if k != "cell"}})


def latex_table(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""Return a table for the booktabs package, Monte-Carlo errors in brackets after each figure.

    Examples
    --------
    >>> row = {"population": "p", "model": "knn_3", "n": 20, "method": "resub", "rms": 0.25, "rms_error": 0.0125}
    >>> print(latex_table([row]).splitlines()[4])
    p & knn\_3 & 20 & resub & 0.2500 (0.0125) \\
    """
    figures = [name for name in FIGURES if any(row.get(name) is not None for row in rows)]
    lines = [
        rf"\begin{{tabular}}{{llrl{'r' * len(figures)}}}",
        r"\toprule",
        " & ".join([*NAMES, *figures]) + r" \\",
        r"\midrule",
    ]
    for row in rows:
        cells = [_escape(str(row[name])) for name in NAMES]
        lines.append(" & ".join([*cells, *(_figure(row, name) for name in figures)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _figure(row: Mapping[str, Any], name: str) -> str:
    value, error = row.get(name), row.get(f"{name}_error")
    if value is None:
        return "--"
    digits = 5 if name in ("variance", "internal") else 4
    return f"{value:.{digits}f}" + ("" if error is None else f" ({error:.{digits}f})")


def _escape(text: str) -> str:
    return "".join(LATEX.get(c, c) for c in text)
