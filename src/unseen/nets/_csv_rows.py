"""Rows of a CSV file with the columns they must have."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from unseen.core.errors import InputError

__all__ = ["csv_rows", "number_in"]


def csv_rows(path: str | PathLike[str], needed: Sequence[str], what: str) -> list[dict[str, str]]:
    """Return the rows of a file, refusing one that cannot be read or lacks a column.

    Parameters
    ----------
    path : path
        CSV file with a line of column names.
    needed : sequence of str
        Columns that must be there.
    what : str
        What the file is a table of, for the message.
    """
    name = str(path)
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            columns = list(reader.fieldnames or [])
            rows = list(reader)
    except OSError as error:
        raise InputError(f"cannot read the table of {what} {name!r}: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{name!r} is no CSV file, which a table of {what} must be.") from error
    absent = [column for column in needed if column not in columns]
    if absent and not columns:
        raise InputError(f"the table of {what} {name!r} is empty; its columns are {', '.join(needed)}.")
    if absent:
        raise InputError(
            f"the table of {what} {name!r} has no column {', '.join(absent)}; it has {', '.join(columns)}."
        )
    return rows


def number_in(row: dict[str, str], column: str, place: str) -> float:
    """Return the number in a column of a row, or say where it is not one.

    Examples
    --------
    >>> number_in({"gap": "much"}, "gap", "line 2 of 'networks.csv'")
    Traceback (most recent call last):
    ...
    unseen.core.errors.InputError: line 2 of 'networks.csv': gap is 'much', not a number.
    """
    try:
        return float(row[column])
    except (TypeError, ValueError) as error:
        raise InputError(f"{place}: {column} is {row[column]!r}, not a number.") from error
