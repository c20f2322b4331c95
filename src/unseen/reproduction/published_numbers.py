"""Published numbers shipped as package data: CSV files whose first lines, marked #, name the source."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any

from unseen.core.errors import InputError

__all__ = ["read_published"]


def read_published(name: str) -> list[dict[str, Any]]:
    """Return the rows of a publication's file `published/NAME.csv`; cells that read as numbers are numbers, empty ones None.

    Examples
    --------
    >>> row = read_published("ghane_synthetic")[0]
    >>> row["table"], row["rule"], row["n"], row["value"]
    ('2.1', 'linear-svm', 20, 0.311)
    """
    folders = resources.files("unseen.reproduction").iterdir()
    files = [file for folder in folders if (file := folder / "published" / f"{name}.csv").is_file()]
    if not files:
        raise InputError(f"there are no published numbers called {name!r}.")
    lines = [line for line in files[0].read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [{k: v if k in TEXTS else _value(v) for k, v in row.items()} for row in csv.DictReader(lines)]


TEXTS = frozenset({"table", "note", "rule", "estimator", "quantity", "source"})


def _value(text: str) -> Any:
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
