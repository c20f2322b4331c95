"""Tables in text files: separator, encoding, missing values and decimal commas are found from the file, or it is refused."""

from __future__ import annotations

import codecs
import csv
import io
import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from unseen.core.errors import InputError
from unseen.datasets.column_types import with_column_types
from unseen.datasets.source import GZIP_ERRORS, SourceFile

__all__ = ["MISSING", "TextLayout", "layout_of", "read_delimited"]

MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "?")
# more columns than any table we know; a file that has them is most likely turned on its side
MAX_COLUMNS = 200_000
SEPARATORS = (",", ";", "\t", "|")
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blank"}
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|", "space": " ", "blank": " "}
# enough lines to see which separator is regular
_BLOCK = 1 << 24  # bytes looked at together
_LONGEST = 100_000  # bytes of a line; csv refuses fields of 131,072 characters
# enough to see how many fields the lines have, and no more than a glance at a large file
_SAMPLE_LINES = 200

log = logging.getLogger("unseen")


@dataclass(frozen=True)
class TextLayout:
    """How a text file is laid out: encoding, separator, column names, number of rows."""

    encoding: str
    sep: str
    names: tuple[str, ...]
    n_rows: int


def read_delimited(source: SourceFile, *, sep: str | None, decimal: str | None, as_text: Collection[str]) -> Any:
    """Return the table as a pandas frame: numbers, truth values, dates, and text as categories.

    Parameters
    ----------
    source : SourceFile
        The file. UTF-8 (with or without byte-order mark) and UTF-16 with its mark are recognised; any other file is
        read as Windows-1252 (Latin-1 if that fails), which is logged as a warning.
    sep, decimal : str, optional
        Field separator and decimal mark; found from the file by default.
    as_text : collection of str
        Columns whose text is kept as written, such as names of rows and groups ("007" stays "007").

    Notes
    -----
    An empty field and NA, N/A, #N/A, NaN, nan, null, NULL and ? are missing. Every line must have as many fields as
    there are column names.
    """
    import pandas as pd

    # from 3.1 on, pandas has one converter, which is exact, and warns of the option
    old = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
    exact: Any = {"float_precision": "round_trip"} if old else {}
    layout = layout_of(source, sep)
    try:
        with _text(source, layout.encoding) as file:
            kinds: Any = str if decimal == "," else {c: str for c in as_text if c in layout.names}
            frame = pd.read_csv(
                file,
                sep=r"\s+" if layout.sep == " " else layout.sep,
                header=0,
                names=list(layout.names),
                index_col=False,
                na_values=list(MISSING),
                keep_default_na=False,
                dtype=kinds,
                low_memory=False,
                skipinitialspace=True,
                **exact,
            )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"the file {str(source.path)!r} cannot be read as a table: {reason}") from error
    if len(frame) != layout.n_rows:
        raise InputError(
            f"the file {str(source.path)!r} has fields with stray quotation marks: {layout.n_rows} lines read as {len(frame)} rows; mend the quotes."
        )
    return with_column_types(frame, layout.sep, decimal, as_text)


def layout_of(source: SourceFile, sep: str | None = None) -> TextLayout:
    """Find encoding, separator and names, and check that every line has the same number of fields."""
    wanted = None if sep is None else _separator(sep)
    for encoding in _encodings(source.head):
        try:
            return _layout(source, encoding, wanted)
        except UnicodeDecodeError:
            continue
        except GZIP_ERRORS as error:
            raise source.damage_error(error) from error
        except csv.Error as error:
            raise InputError(f"the file {str(source.path)!r} cannot be read as a table: {error}.") from error
    raise InputError(f"the file {str(source.path)!r} is not text in any known encoding; save it as UTF-8.")


def _separator(sep: str) -> str:
    given = _WORDS.get(sep.lower(), sep)
    if len(given) != 1 or given in '"\n\r\0' or given.isalnum():
        raise InputError(f"sep is {sep!r}; give one character, such as , or ; or |, or the word tab.")
    return given


def _encodings(head: bytes) -> tuple[str, ...]:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ("utf-16",)
    return ("utf-8-sig", "cp1252", "latin-1")


def _text(source: SourceFile, encoding: str) -> IO[str]:
    return io.TextIOWrapper(source.open(), encoding=encoding, newline="")


def _layout(source: SourceFile, encoding: str, sep: str | None) -> TextLayout:
    with _text(source, encoding) as file:
        first = _first_lines(file)
    if not first:
        raise InputError(f"the file {str(source.path)!r} is empty; it must hold a table with a line of column names.")
    chosen = sep or _find_separator(first, source)
    with _text(source, encoding) as file:
        reader = csv.reader(_lines(file, chosen), delimiter=chosen, skipinitialspace=True)
        names: list[str] = next((row for row in reader if any(row)), [])
        _check_names(names, chosen, first, source)
        width, count = len(names), 0
        plain = _plain_rows(source, encoding, chosen, width)
        for row in reader if plain is None else ():
            if len(row) != width:
                if not row or (len(row) == 1 and not row[0].strip()):
                    continue
                raise _uneven_line_error(source, reader.line_num, len(row), width, chosen)
            count += 1
    count = count if plain is None else plain
    if count == 0:
        raise InputError(f"the file {str(source.path)!r} has column names but no rows below them.")
    if encoding in ("cp1252", "latin-1"):
        log.warning("%s is not UTF-8; its text was read as %s", source.path, encoding)
    return TextLayout(encoding, chosen, tuple(n.strip() for n in names), count)


def _plain_rows(source: SourceFile, encoding: str, sep: str, width: int) -> int | None:
    """Return the number of rows below the names if counting separators shows that each has all its fields.

    None if that needs a closer look: quotes, other line ends, blank or uneven lines, lines so long that csv has a limit for them.
    """
    if encoding == "utf-16" or sep == " " or not sep.isascii():
        return None
    decoder = codecs.getincrementaldecoder(encoding)()
    rows, rest = -1, b""
    with source.open() as file:
        while block := file.read(_BLOCK):
            decoder.decode(block)  # text in another encoding is an error here as it is below
            block = rest + block
            end = block.rfind(b"\n") + 1
            rest = block[end:]
            found = _full_lines(block[:end], sep, width)
            if found is None or len(rest) > _LONGEST:
                return None
            rows += found
    decoder.decode(b"", final=True)
    if rest:
        found = _full_lines(rest + b"\n", sep, width)
        return None if found is None else rows + found
    return rows


def _full_lines(block: bytes, sep: str, width: int) -> int | None:
    """Return the number of lines if each has `width` fields and no quote or bare carriage return; else None."""
    if b'"' in block or b"\0" in block or block.count(b"\r") != block.count(b"\r\n"):
        return None
    values = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(values == 10)
    if not len(ends):
        return 0
    marks = np.searchsorted(np.flatnonzero(values == ord(sep)), ends)
    lines = np.diff(ends, prepend=-1)
    even = np.all(np.diff(marks, prepend=0) == width - 1) and lines.max() <= _LONGEST
    return len(ends) if even else None


def _first_lines(file: IO[str]) -> list[str]:
    lines: list[str] = []
    for line in file:
        if line.strip():
            lines.append(line)
        if len(lines) >= _SAMPLE_LINES:
            break
    return lines


def _lines(file: Iterable[str], sep: str) -> Iterable[str]:
    """Return the lines; if blanks separate, outer blanks are cut and tabs count as blanks."""
    return (line.strip().replace("\t", " ") for line in file) if sep == " " else file


def _fields(lines: list[str], sep: str) -> list[int]:
    try:
        return [len(row) for row in csv.reader(lines, delimiter=sep, skipinitialspace=True) if row]
    except csv.Error:
        return [0]


def _find_separator(lines: list[str], source: SourceFile) -> str:
    """Return the separator by which the header has several fields and the most lines have as many."""
    if source.path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")) and "\t" in lines[0]:
        return "\t"
    best, found = (0.0, 0), ""
    for sep in SEPARATORS:
        counts = _fields(lines, sep) or [0]
        agree = sum(c == counts[0] for c in counts) / len(counts)
        if counts[0] > 1 and (agree, counts[0]) > best:
            best, found = (agree, counts[0]), sep
    if not found:
        raise _one_column_error(lines, source, "none of comma, semicolon, tab and bar separates it")
    return found


def _one_column_error(lines: list[str], source: SourceFile, why: str) -> InputError:
    shown = lines[0].strip()
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    blank = " (its fields look separated by blanks: --sep ' ')" if len(shown.split()) > 1 else ""
    return InputError(
        f"only one column was found in {str(source.path)!r}: {why}; its first line is {shown!r}. Give the separator by --sep{blank}."
    )


def _check_names(names: list[str], sep: str, lines: list[str], source: SourceFile) -> None:
    if not names:
        raise InputError(f"the file {str(source.path)!r} is empty; it must hold a table with a line of column names.")
    if len(names) == 1:
        others = [s for s in SEPARATORS if s != sep and _fields(lines, s)[:1] > [1]]
        likely = f"; it looks separated by {_NAMES[others[0]]}" if others else ""
        raise _one_column_error(lines, source, f"no {_NAMES.get(sep, repr(sep))} separates it{likely}")
    if len(names) > MAX_COLUMNS:
        raise InputError(
            f"{str(source.path)!r} has {len(names):,} columns; at most {MAX_COLUMNS:,} can be read. Is the table turned on its side?"
        )
    stripped = [n.strip() for n in names]
    seen: set[str] = set()
    twice = [n for n in stripped if n in seen or seen.add(n)]  # type: ignore[func-returns-value]
    if twice:
        shown = ", ".join(repr(n) for n in dict.fromkeys(twice[:5]))
        advice = " (the first line looks like data: add a line of column names)" if _looks_like_data(stripped) else ""
        raise InputError(f"{str(source.path)!r} has several columns called {shown}; give each its own name{advice}.")


def _looks_like_data(names: list[str]) -> bool:
    return sum(n.replace(".", "", 1).replace("-", "").isdigit() for n in names) > len(names) / 2


def _uneven_line_error(source: SourceFile, line: int, found: int, width: int, sep: str) -> InputError:
    more = "; row names need a column name of their own" if found == width + 1 else ""
    return InputError(
        f"line {line} of {str(source.path)!r} has {found} fields, but there are {width} column names (separator {_NAMES.get(sep, repr(sep))}); mend the line, or give --sep{more}."
    )
