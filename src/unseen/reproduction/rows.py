"""Finished rows of a long run: a CSV file that grows line by line, and from which the same command goes on after a kill."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from unseen.core.columns import decompress, unpack_columns
from unseen.core.errors import InputError

__all__ = ["SHIPPED", "RowFile"]

SHIPPED = "shipped"  # the word that stands for the finished run that comes with the package


@dataclass(frozen=True, kw_only=True)
class RowFile:
    """The layout of a results file: its columns, and what kind of value each of them holds.

    A line that begins with # states the setting behind the rows that follow it.

    Parameters
    ----------
    columns : tuple of str
        Names, in the order of the file.
    words, whole : tuple of str
        Columns that hold text and whole numbers; all others hold floats.
    setting_words : tuple of str
        Fields of a setting that are columns, too. A file may hold rows of several settings if these fields differ;
        with none of them it holds rows of one setting alone.
    digits : int or None
        Significant digits of floats; all of them if None.
    line_end : str
        End of a row.

    Examples
    --------
    >>> import tempfile
    >>> layout = RowFile(columns=("n", "error"), whole=("n",))
    >>> file = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> layout.append(file, [{"n": 20, "error": 0.25}])
    >>> layout.read(file)
    [{'n': 20, 'error': 0.25}]
    """

    columns: tuple[str, ...]
    words: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    setting_words: tuple[str, ...] = ()
    digits: int | None = 6
    line_end: str = "\n"

    def append(self, path: Path, rows: Sequence[Mapping[str, Any]], setting: Any = None) -> None:
        """Add rows, the first row of a setting behind a line that states it, and write them to the disk at once."""
        drop_cut_line(path)
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else [""]
        stated = None if setting is None else f"# {json.dumps(asdict(setting))}"
        with path.open("a", newline="", encoding="utf-8") as file:
            if stated is not None and stated not in lines:
                file.write(stated + "\n")
            writer = csv.writer(file, lineterminator=self.line_end)
            if lines == [""]:
                writer.writerow(self.columns)
            writer.writerows([self._text(row[name]) for name in self.columns] for row in rows)
            file.flush()
            os.fsync(file.fileno())

    def read(self, path: Any, setting: Any = None) -> list[dict[str, Any]]:
        """Return the whole rows of a file, plain or compressed; none if there is no such file.

        A last line that was cut short is left out. Rows that were begun with another setting are refused.
        """
        if not path.is_file():
            return []
        text = decompress(path.read_bytes()).decode("utf-8")
        lines = text.split("\n")[:-1]  # what follows the last line end was cut short
        if setting is not None:
            self._refuse_other_settings(path, [line for line in lines if line.startswith("#")], setting)
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [self._values(row) for row in table if self._is_whole(row)]

    def read_results(self, results: str, package: str) -> list[dict[str, Any]]:
        """Return the rows of a file by its name; "shipped" is the one that comes with a package."""
        if results != SHIPPED:
            return self.read(Path(results))
        content = (resources.files(package) / "columns.xz").read_bytes()
        return [self._values(row) for row in unpack_columns(content)]

    def same_setting(self, row: Mapping[str, Any], setting: Any) -> bool:
        """Return whether a row, or what a file states, belongs to a setting by its words."""
        return all(row[name] == getattr(setting, name) for name in self.setting_words)

    def _refuse_other_settings(self, path: Any, lines: Sequence[str], setting: Any) -> None:
        for line in lines:
            stated = json.loads(line[1:])
            if self.same_setting(stated, setting) and stated != asdict(setting):
                raise InputError(
                    f"{str(path)!r} was begun with another setting, {line[2:]}; give another file, or the same setting."
                )

    def _is_whole(self, row: Mapping[Any, Any]) -> bool:
        return None not in row and all(row.get(name) not in (None, "") for name in self.columns)

    def _values(self, row: Mapping[str, str]) -> dict[str, Any]:
        return {k: v if k in self.words else int(v) if k in self.whole else float(v) for k, v in row.items()}

    def _text(self, value: Any) -> str:
        return str(value) if isinstance(value, (int, str)) or self.digits is None else f"{value:.{self.digits}g}"


def drop_cut_line(path: Path) -> None:
    """Remove a last line without an end, left by a run that was killed while writing it."""
    if path.exists():
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            path.write_bytes(whole)
