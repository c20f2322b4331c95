"""Brings the tables of an older store up to date; refuses one that newer code has written.

Version 1 kept no p-values and no filed results; version 2 added `results.p_value`; version 3 added the table `kept`. To add a
version: change `schema.py`, raise its VERSION, and append one function to STEPS that turns the version before into it.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, select, text

from unseen.store import schema
from unseen.store.errors import StoreError, StoreOutdated

__all__ = ["STEPS", "bring_up_to_date", "stored_version"]


def _add_p_values(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE results ADD COLUMN p_value DOUBLE PRECISION"))


def _add_kept(connection: Connection) -> None:
    schema.metadata.create_all(connection, tables=[schema.kept])


STEPS: dict[int, Callable[[Connection], None]] = {1: _add_p_values, 2: _add_kept}


def stored_version(connection: Connection) -> int | None:
    """Return the version of the tables in this database, None if there are none."""
    tables = inspect(connection)
    if not tables.has_table("meta") or not {"key", "value"} <= {c["name"] for c in tables.get_columns("meta")}:
        return None
    found = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == "version")).scalar()
    return None if found is None else int(found)


def _refuse_foreign(connection: Connection, where: str) -> None:
    """Leave the file of another program alone; a database server is shared, so there only tables of our names are in the way."""
    there = inspect(connection).get_table_names()
    if connection.dialect.name != "sqlite":
        there = [name for name in there if name in schema.metadata.tables]
    if there:
        named = ", ".join(there[:5]) + (", ..." if len(there) > 5 else "")
        raise StoreError(
            f"the store {where} holds tables of another program ({named}); nothing was written, give a file or database of its own."
        )


def bring_up_to_date(connection: Connection, where: str, read_only: bool) -> None:
    """Create, migrate or refuse, within the transaction of `connection`."""
    if connection.dialect.name == "postgresql" and not read_only:
        connection.execute(text("SELECT pg_advisory_xact_lock(7241803)"))  # two programs may open a new store at once
    found = stored_version(connection)
    if found == schema.VERSION:
        return
    if found is not None and found > schema.VERSION:
        raise StoreError(
            f"the store {where} was written by a newer unseen (its tables are version {found}, this one knows up to "
            f"{schema.VERSION}); upgrade unseen, or use another store."
        )
    if read_only and found is not None:
        raise StoreOutdated(
            f"the store {where} has tables of the older version {found}; whatever writes to it brings them up to date, "
            "such as `unseen study run SPEC --store ...` or `unseen study resume NAME --store ...`."
        )
    if read_only:
        raise StoreError(f"the store {where} has no tables of unseen; check its address.")
    if found is None:
        _refuse_foreign(connection, where)
        schema.metadata.create_all(connection)
        connection.execute(schema.meta.insert().values(key="version", value=str(schema.VERSION)))
        return
    for version in range(found, schema.VERSION):
        STEPS[version](connection)
    connection.execute(schema.meta.update().where(schema.meta.c.key == "version").values(value=str(schema.VERSION)))
