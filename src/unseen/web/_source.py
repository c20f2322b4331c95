"""The store as the dashboard sees it: read-only, opened again when it comes back, its errors as sentences."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from unseen.core.errors import InputError, UnseenError
from unseen.web._words import key_of

__all__ = ["NotThere", "StoreAway", "StoreSource", "file_of", "shown_url", "without_password"]

T = TypeVar("T")
log = logging.getLogger("unseen")


class StoreAway(UnseenError):
    """The store cannot be read now; the message says why."""


class NotThere(UnseenError, LookupError):
    """The store answers, but holds nothing of that name or number."""


def file_of(url: str) -> str | None:
    """Return the file of an SQLite store, None for a server's.

    Examples
    --------
    >>> file_of("sqlite:///studies.db"), file_of("runs/studies.db"), file_of("postgresql://me@lab/studies")
    ('studies.db', 'runs/studies.db', None)
    """
    if "://" not in url:
        return url
    scheme, _, rest = url.partition("://")
    return rest.partition("?")[0].removeprefix("/") or None if scheme.startswith("sqlite") else None


def shown_url(url: str) -> str:
    """Return what the pages call a store: its file, or its server without password and options.

    Examples
    --------
    >>> shown_url("sqlite:////home/me/studies.db"), shown_url("postgresql://me:secret@lab:5432/studies?password=x")
    ('studies.db', 'postgresql://me@lab:5432/studies')
    """
    path = file_of(url)
    if path is not None:
        return os.path.basename(path)
    parts = urlsplit(url)
    user = f"{parts.username}@" if parts.username else ""
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.scheme}://{user}{parts.hostname or ''}{port}{parts.path}"


def without_password(text: str, url: str) -> str:
    """Return a message without the password of a store's address.

    Examples
    --------
    >>> without_password("cannot reach postgresql://me:s%21cret@lab", "postgresql://me:s%21cret@lab")
    'cannot reach postgresql://me:***@lab'
    """
    secret = urlsplit(url).password if "://" in url else None
    for word in sorted({secret, unquote(secret)}, key=len, reverse=True) if secret else ():
        text = text.replace(word, "***")
    return text


class StoreSource:
    """A store to read from.

    Parameters
    ----------
    store : str or store
        Address of a store, or a store that is open already.
    opener : callable, optional
        Function of the address that opens the store; `unseen.store.open_store`, read-only, by default.
    """

    def __init__(self, store: Any, opener: Callable[[str], Any] | None = None) -> None:
        self.url = store if isinstance(store, str) else ""
        self.title = shown_url(self.url) if self.url else type(store).__name__
        self._opener = opener or _open
        self._path = file_of(self.url) if self.url else None
        self._store = None if self.url else store
        self._identity: tuple[int, int] | None = None
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        if self.url:
            self._store = self._opener(self.url)
            self._identity = self._stat()

    def ask(self, question: Callable[[Any], T]) -> T:
        """Return the store's answer; raise `StoreAway` with a sentence if there is none."""
        try:
            store = self._current()
            try:
                return question(store)
            except InputError as error:
                raise NotThere(str(error)) from error
        except (StoreAway, NotThere):
            raise
        except UnseenError as error:
            raise StoreAway(without_password(str(error), self.url)) from error
        except _database_errors() as error:
            log.warning("the dashboard could not read its store: %s", without_password(str(error), self.url))
            raise StoreAway("The store does not answer: it is locked, damaged or out of reach.") from error

    def name_of(self, key: str) -> str | None:
        """Return the study whose key this is; the only way from an address to a study."""
        if key not in self._names:
            self._names = {key_of(p.name): p.name for p in self.ask(lambda s: s.studies())}
        return self._names.get(key)

    def _current(self) -> Any:
        """Return the open store; a file that was replaced is opened again."""
        if not self.url:
            return self._store
        with self._lock:
            seen = self._stat()
            if self._store is None or seen != self._identity:
                self.close()
                self._store = self._opener(self.url)
                self._identity = seen
            return self._store

    def _stat(self) -> tuple[int, int] | None:
        if self._path is None or self._path == ":memory:":
            return None
        try:
            seen = os.stat(os.path.expanduser(self._path))
        except OSError as error:
            self.close()
            raise StoreAway(
                f"The file {os.path.basename(self._path)!r} of this store is not there (any more). "
                "The page works again as soon as it is back."
            ) from error
        return seen.st_dev, seen.st_ino

    def close(self) -> None:
        """Close a store that was opened here."""
        if self.url and self._store is not None:
            self._store.close()
            self._store = None


def _open(url: str) -> Any:
    from unseen.store import open_store

    # a page that waits longer than this is better answered with a sentence
    return open_store(url, read_only=True, busy_seconds=2.0)


def _database_errors() -> tuple[type[Exception], ...]:
    import sqlite3

    try:
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        return (OSError, sqlite3.Error)
    return (OSError, sqlite3.Error, SQLAlchemyError)
