"""Every way a database can refuse, as a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unseen.core.errors import UnseenError

__all__ = ["StoreBusy", "StoreError", "StoreFull", "StoreLost", "StoreOutdated", "database_errors"]


class StoreError(UnseenError, RuntimeError):
    """The store cannot do what was asked.

    Examples
    --------
    >>> issubclass(StoreError, UnseenError)
    True
    """


class StoreBusy(StoreError):
    """Another process holds the database; waiting helps."""


class StoreLost(StoreError):
    """The database does not answer; waiting may help."""


class StoreFull(StoreError):
    """There is no room left for the database."""


class StoreOutdated(StoreError):
    """The tables are of an older version and the store was opened for reading; opening it for writing mends that."""


KEPT = "What was finished before is kept"


@contextmanager
def database_errors(where: str) -> Iterator[None]:
    """Turn every database error inside into a sentence, which never shows a password."""
    from sqlalchemy import exc

    try:
        yield
    except exc.DBAPIError as error:
        raise _sentence(error, where) from error
    except exc.TimeoutError as error:
        raise StoreBusy(f"the store {where} has no connection left; try again, or use fewer drivers.") from error


def _sentence(error: Any, where: str) -> StoreError:
    cause = str(error.orig).strip().splitlines() or [type(error.orig).__name__]
    words, state = " ".join(cause).lower(), str(getattr(error.orig, "sqlstate", None) or "")
    if "locked" in words or "database is busy" in words or state in ("55P03", "40P01", "40001"):
        return StoreBusy(
            f"the store {where} is locked by another process. {KEPT}; end the other process, or wait, and resume."
        )
    if "disk is full" in words or state == "53100" or "no space left" in words:
        return StoreFull(f"the disk or quota of the store {where} is full. {KEPT}; make room and resume.")
    if "readonly" in words or "read-only" in words or "read only" in words:
        return StoreError(f"the store {where} can only be read: {cause[0]}; check the permissions of file and folder.")
    if "unable to open" in words:
        return StoreError(f"cannot open the store {where}: the folder does not exist or may not be written.")
    if "not a database" in words or "malformed" in words:
        return StoreError(f"the file of the store {where} is not an SQLite database, or it is damaged: {cause[0]}.")
    # a refused connection carries no code, only words
    if state.startswith("28") or any(sign in words for sign in ("authentication failed", "no password", 'role "')):
        return StoreError(f"the store {where} refuses this user or password; check the URL.")
    if state == "3D000" or ('database "' in words and "does not exist" in words):
        return StoreError(f"the store {where} does not exist on that server; create the database first (createdb).")
    if _is_lost(error, words, state):
        return StoreLost(f"cannot reach the store {where}: {cause[0]}. Check that the server runs, then resume.")
    return StoreError(f"the store {where} refused: {cause[0]}.")


def _is_lost(error: Any, words: str, state: str) -> bool:
    """Return whether the server is away (restarting, unreachable) rather than refusing."""
    signs = ("connection", "server closed", "terminating", "could not translate", "starting up", "shutting down")
    return bool(error.connection_invalidated) or state[:2] in ("08", "57") or any(sign in words for sign in signs)
