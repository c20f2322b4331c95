"""From a URL or a path to an open store."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.core.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from unseen.store.sql_store import SqlStore

__all__ = ["DEFAULT_URL", "mask_password", "open_store"]

DEFAULT_URL = "sqlite:///unseen.db"
BUSY_SECONDS = 20.0  # the longest write, a chunk of results or the tasks of a study, takes a few seconds
CONNECT_SECONDS = 10  # a server that does not answer by then is away


def open_store(
    url: str | Path = DEFAULT_URL,
    *,
    read_only: bool = False,
    max_attempts: int = 3,
    busy_seconds: float = BUSY_SECONDS,
) -> SqlStore:
    """Open a store, and create or migrate its tables if needed.

    Parameters
    ----------
    url : str or Path
        `sqlite:///studies.db`, `postgresql://user@host/database`, or the plain path of an SQLite file.
    read_only : bool
        Refuse every change; the store must exist.
    max_attempts : int
        How often a task may fail, or lose its worker, before it is recorded as failed.
    busy_seconds : float
        How long one call waits for another process that is writing to the same SQLite file.

    Examples
    --------
    >>> store = open_store("sqlite:///example.db")
    >>> store.keep("assessment", "iris", {"error": 0.05})
    1
    >>> [(k.kind, k.name) for k in store.records()]
    [('assessment', 'iris')]
    >>> store.close()
    """
    address = _address(url)
    if max_attempts < 1:
        raise InputError(f"max_attempts is {max_attempts}; a task needs at least 1 attempt.")
    try:
        import sqlalchemy  # noqa: F401
    except ImportError as error:
        raise MissingExtra("sqlalchemy", "study", "a store") from error
    from unseen.store.sql_store import SqlStore

    if address.startswith("sqlite"):
        engine = _sqlite(address.removeprefix("sqlite:///"), read_only, busy_seconds)
    else:
        engine = _postgres(address, read_only)
    return SqlStore(engine, mask_password(str(url)), read_only=read_only, max_attempts=max_attempts)


def mask_password(url: str) -> str:
    """Return a URL fit for messages: without its password.

    Examples
    --------
    >>> mask_password("postgresql://ann:secret@host/db?password=secret")
    'postgresql://ann:***@host/db?password=***'
    """
    hidden = re.sub(r"(://[^:/@]*):.*@", r"\1:***@", url)
    return re.sub(r"((?:password|passfile|sslpassword)=)[^&\s]*", r"\1***", hidden, flags=re.IGNORECASE)


def _address(url: str | Path) -> str:
    text = str(url).strip()
    if not text:
        raise InputError("the store has an empty URL; give sqlite:///studies.db or postgresql://user@host/database.")
    scheme, found, _ = text.partition("://")
    if not found:
        return f"sqlite:///{text}"
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return "postgresql+psycopg" + text[len(scheme) :]
    if scheme != "sqlite":
        raise InputError(
            f"unknown kind of store {mask_password(text)!r}; give sqlite:///studies.db, postgresql://user@host/database or a path."
        )
    if not text.startswith("sqlite:///") or text in ("sqlite:///", "sqlite:///:memory:"):
        raise InputError(f"the store {text!r} names no file, so nothing would be kept; give sqlite:///studies.db.")
    return text


def _sqlite(path: str, read_only: bool, busy_seconds: float) -> Engine:
    from sqlalchemy import URL, create_engine, event

    file = Path(path).expanduser()
    if read_only and not file.is_file():
        raise InputError(f"there is no store at {str(file)!r}; check the path, or run a study with --store first.")
    if file.is_dir():
        raise InputError(f"{str(file)!r} is a folder; give the name of a file for the store.")
    if not file.parent.is_dir():
        raise InputError(f"cannot make the store {str(file)!r}: the folder {str(file.parent)!r} does not exist.")
    if read_only:
        address = URL.create(
            "sqlite", database=f"file:{file.absolute().as_uri()[7:]}", query={"mode": "ro", "uri": "true"}
        )
    else:
        address = URL.create("sqlite", database=str(file.absolute()))
    engine = create_engine(address, connect_args={"timeout": busy_seconds})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver's guess
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {int(1000 * busy_seconds)}")
        if not read_only:
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA cache_size = -65536")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        options = connection.get_execution_options()
        if not options.get("writes", False):
            connection.exec_driver_sql("BEGIN")
            return
        # a claim or heartbeat that a power cut takes back does no harm, and syncing costs milliseconds
        connection.exec_driver_sql(f"PRAGMA synchronous = {'FULL' if options.get('durable', True) else 'NORMAL'}")
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgres(address: str, read_only: bool) -> Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MissingExtra("psycopg", "postgres", "a store on PostgreSQL") from error
    from sqlalchemy import create_engine
    from sqlalchemy.exc import ArgumentError

    options = {"connect_timeout": CONNECT_SECONDS, "application_name": "unseen"}
    try:
        return create_engine(
            address, connect_args=options, pool_size=3, execution_options={"postgresql_readonly": read_only}
        )
    except (ArgumentError, ValueError) as error:
        raise InputError(
            f"cannot read the URL of the store {mask_password(address)!r}; its form is postgresql://user:password@host:port/database."
        ) from error
