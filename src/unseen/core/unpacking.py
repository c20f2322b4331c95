"""Limits on what a compressed data file unpacks to, so that a small file cannot fill the memory."""

from __future__ import annotations

import io
import os
from os import PathLike
from pathlib import Path
from typing import IO, Any

from unseen.core.errors import InputError

__all__ = ["check_archive", "check_unpacked", "limit_reading", "unpack_limit"]

SETTING = "UNSEEN_UNPACK_MB"
MEGABYTE = 1 << 20
# in megabytes; any file may unpack to so much, which every machine that fits models has
ALWAYS = 512
# tables of repeated text shrink to a tenth and seldom to less; zeros shrink to a thousandth
MOST_TIMES = 20


def unpack_limit(packed: int) -> int:
    """Return how many bytes a file of `packed` bytes may unpack to: 512 MB or 20 times its size, or `UNSEEN_UNPACK_MB`.

    Examples
    --------
    >>> unpack_limit(3_000_000) // 2**20, unpack_limit(2**30) // 2**30
    (512, 20)
    """
    given = os.environ.get(SETTING)
    if given is None:
        return max(ALWAYS * MEGABYTE, MOST_TIMES * packed)
    if not given.isdecimal() or int(given) < 1:
        raise InputError(f"{SETTING} is {given!r}; it is a whole number of megabytes of at least 1.")
    return int(given) * MEGABYTE


def check_unpacked(size: int, path: str | PathLike[str], packed: int | None = None) -> None:
    """Refuse a file whose content would take `size` bytes if that is beyond its limit; `packed` are the bytes of a folder's files."""
    packed = Path(path).stat().st_size if packed is None else packed
    if size > unpack_limit(packed):
        raise _too_large(path, packed, f"{-(-size // MEGABYTE):,} MB", -(-size // MEGABYTE))


def check_archive(archive: Any, path: str | PathLike[str]) -> None:
    """Refuse an NPZ archive whose arrays together are beyond the limit, before one of them is read."""
    members = getattr(archive, "zip", None)  # a single array has none, and is as large as its file
    if members is not None:
        check_unpacked(sum(member.file_size for member in members.infolist()), path)


def limit_reading(file: IO[bytes], path: str | PathLike[str]) -> IO[bytes]:
    """Return a stream that is unpacked as it is read, and refuses to go on beyond the limit."""
    return io.BufferedReader(_LimitedReader(file, path))


def _too_large(path: str | PathLike[str], packed: int, size: str, needed: int) -> InputError:
    return InputError(
        f"the file {str(path)!r} has {max(packed / MEGABYTE, 0.1):,.1f} MB and unpacks to {size}, which could fill the memory; "
        f"if you trust it, allow more: {SETTING}={needed}."
    )


class _LimitedReader(io.RawIOBase):
    """Counts what was read."""

    def __init__(self, file: IO[bytes], path: str | PathLike[str]) -> None:
        self._file, self._path = file, path
        self._packed = Path(path).stat().st_size
        self._limit, self._count = unpack_limit(self._packed), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        self._count += len(content)
        if self._count > self._limit:
            allowed = self._limit // MEGABYTE
            raise _too_large(self._path, self._packed, f"more than {allowed:,} MB", 2 * allowed)
        return len(content)

    def close(self) -> None:
        self._file.close()
        super().close()
