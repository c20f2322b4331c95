"""What a file is: its kind by name and content, and its bytes with any gzip taken off; a folder of Parquet files is one table."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, cast

from unseen.core.errors import InputError
from unseen.core.unpacking import limit_reading

__all__ = ["GZIP_ERRORS", "SourceFile", "open_source"]

SUFFIXES = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".txt": "delimited",
    ".dat": "delimited",
    ".data": "delimited",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".npz": "npz",
}
_OTHER_FORMATS = {
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"\x93NUMPY": "a single numpy array",
}
# text in any encoding has a smaller share of control bytes
MOST_CONTROLS = 0.02
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x0b\x1b")
# enough bytes to recognise every format
_HEAD = 1 << 16
# what a damaged gzip stream raises
GZIP_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)
_READABLE = "CSV, TSV, Parquet, ARFF and NPZ can be read, gzipped or not, and a folder of Parquet files"
PARTS = (".parquet", ".pq")
OTHERS = (".csv", ".tsv", ".arff", ".npz")  # plain tables beside them; a .txt may be a note on the data


@dataclass(frozen=True)
class SourceFile:
    """A file to be read: where it is, what kind, and whether gzip must be taken off; `parts` are the files of a folder in their order."""

    path: Path
    kind: str
    gzipped: bool
    head: bytes
    parts: tuple[Path, ...] = ()

    @property
    def size(self) -> int:
        """Bytes on disk, all parts together."""
        return sum(part.stat().st_size for part in self.parts or (self.path,))

    def open(self) -> IO[bytes]:
        """Open the content, unpacked as it is read, up to the limit of `unpack_limit`."""
        if self.parts:
            raise InputError(f"{str(self.path)!r} is a folder of Parquet files; a single file is needed here.")
        if not self.gzipped:
            return self.path.open("rb")
        return limit_reading(cast(IO[bytes], gzip.open(self.path, "rb")), self.path)

    def seekable(self) -> IO[bytes]:
        """Open the content so that it can be read from any place; a gzipped file is unpacked in memory."""
        return io.BytesIO(self.whole()) if self.gzipped else self.path.open("rb")

    def whole(self) -> bytes:
        """Return all of the content."""
        try:
            with self.open() as file:
                return file.read()
        except GZIP_ERRORS as error:
            raise self.damage_error(error) from error

    def damage_error(self, error: Exception) -> InputError:
        """Return the error for gzip that cannot be unpacked to its end."""
        return InputError(f"the file {str(self.path)!r} is gzipped but damaged: {error}.")


def open_source(path: str | PathLike[str]) -> SourceFile:
    """Open a file and find what kind it is, or say why it cannot be read.

    Parameters
    ----------
    path : path
        A file. The kind follows from its name (`.csv`, `.tsv`, `.parquet`, `.arff`, `.npz`, each with `.gz` or not)
        and is checked against its first bytes; a name that says nothing is read as delimited text. Or a folder of
        Parquet files, the partitions of one table, in the order of their names, numbers in them by value.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "small.csv"
    ...     _ = file.write_text("a,b\\n1,2\\n")
    ...     open_source(file).kind
    'delimited'
    """
    if not str(path):  # as a path it would be the folder one is in
        raise InputError(f"the name of a file is empty; give a file: {_READABLE}.")
    place = Path(path)
    if _is_folder(place):
        return SourceFile(place, "parquet", False, b"PAR1", _parts_of(place))
    head, gzipped = _first_bytes(place)
    suffixes = [s.lower() for s in place.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".gzip"):
        suffixes.pop()
    named = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if not head.strip():
        raise InputError(f"the file {str(path)!r} is empty; it must hold a table with a line of column names.")
    return SourceFile(place, _kind(head, named, str(path)), gzipped, head)


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except (OSError, ValueError):
        return False


def _parts_of(place: Path) -> tuple[Path, ...]:
    """Return the Parquet files of a folder; what begins with _ or . are marks that other programs leave."""
    try:
        held = [one for one in place.iterdir() if not one.name.startswith(("_", "."))]
    except OSError as error:
        raise InputError(f"the folder {str(place)!r} cannot be read: {error.strerror}.") from error
    parts = [one for one in held if one.suffix.lower() in PARTS and one.is_file()]
    if not parts:
        deeper = next((one.name for one in sorted(held) if _is_folder(one)), None)
        hint = "" if deeper is None else f" Its subfolders are not looked into: give one of them, such as {deeper!r}."
        raise InputError(f"{str(place)!r} is a directory without Parquet files; give a file: {_READABLE}.{hint}")
    # which table is meant cannot be known
    other = next((one.name for one in sorted(held) if one.suffix.lower() in OTHERS), None)
    if other is not None:
        raise InputError(
            f"{str(place)!r} is a directory with other tables than Parquet, such as {other!r}; give one of its files."
        )
    for one in parts:
        if _first_bytes(one)[0][:4] != b"PAR1":
            raise InputError(f"{str(one)!r} is called a parquet file but does not begin like one; it may be damaged.")
    return tuple(sorted(parts, key=_by_number))


def _by_number(path: Path) -> list[tuple[int, int | str]]:
    """Return a key that puts part.2 before part.10."""
    pieces = re.split(r"(\d+)", path.name)
    return [(0, int(piece)) if k % 2 else (1, piece) for k, piece in enumerate(pieces)]


def _first_bytes(place: Path) -> tuple[bytes, bool]:
    try:
        with place.open("rb") as file:
            head = file.read(_HEAD)
        gzipped = head.startswith(b"\x1f\x8b")
        if gzipped:
            with gzip.open(place, "rb") as file:
                head = file.read(_HEAD)
    except FileNotFoundError:
        raise InputError(f"there is no file {str(place)!r}; check the path ({_READABLE}).") from None
    except GZIP_ERRORS as error:
        raise InputError(f"the file {str(place)!r} is gzipped but damaged: {error}.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"the file {str(place)!r} cannot be read: {reason}.") from error
    return head, gzipped


def _kind(head: bytes, named: str | None, path: str) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        if b"[Content_Types].xml" in head[:4096] or path.lower().endswith((".xlsx", ".ods", ".docx")):
            raise InputError(f"{path!r} is a spreadsheet; save it as CSV and give that file ({_READABLE}).")
        return "npz"
    for mark, what in _OTHER_FORMATS.items():
        if head.startswith(mark):
            raise InputError(f"{path!r} is {what}, not a table that can be read; {_READABLE}.")
    if named in ("parquet", "npz"):
        raise InputError(f"{path!r} is called a {named} file but does not begin like one; it may be damaged.")
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")) and _is_binary(head):
        raise InputError(f"{path!r} holds binary data, not text; {_READABLE}.")
    return named or "delimited"


def _is_binary(head: bytes) -> bool:
    controls = sum(b < 32 and b not in _TEXT_CONTROLS for b in head)
    return b"\0" in head or controls > MOST_CONTROLS * len(head)
