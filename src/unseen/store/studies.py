"""Adding a study and finding it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, func, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from unseen.core.errors import InputError, KindError, UnknownName
from unseen.store import schema
from unseen.store.records import TaskRow

__all__ = ["add", "as_json", "bodies", "find", "insert_into", "row"]

BATCH = 20_000  # tasks inserted at a time, so that memory does not grow with the study


def insert_into(connection: Connection, table: Any) -> Any:
    """Return the dialect's INSERT, which knows ON CONFLICT."""
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)


def as_json(value: Any, what: str) -> str:
    """Return canonical JSON text, or say that the value is not made of plain values."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise KindError(
            f"the {what} holds something that is not plain JSON ({error}); a store keeps numbers, texts, lists and "
            "dictionaries only."
        ) from error


def find(connection: Connection, name: str, lock: bool = False) -> Row[Any] | None:
    """Return the row of a study, None if there is none."""
    query = select(schema.studies).where(schema.studies.c.name == name)
    return connection.execute(query.with_for_update() if lock else query).first()


def row(connection: Connection, name: str) -> Row[Any]:
    """Return the row of a study, or say which ones there are."""
    found = find(connection, name)
    if found is None:
        names = connection.execute(select(schema.studies.c.name).limit(1000)).scalars()
        known = list(names)
        if not known:
            raise InputError(f"there is no study {name!r}: the store holds none yet.")
        raise UnknownName("study", name, known)
    return found


def bodies(connection: Connection, study: int) -> list[str]:
    """Return the JSON texts of a study's cells in their order."""
    query = select(schema.cells.c.body).where(schema.cells.c.study == study).order_by(schema.cells.c.cell)
    return list(connection.execute(query).scalars())


def add(
    connection: Connection,
    name: str,
    kind: str,
    spec: dict[str, Any],
    cells: Sequence[dict[str, Any]],
    tasks: Iterable[TaskRow],
    now: str,
) -> None:
    """Add a study, or what is missing of it."""
    if not name.strip() or "\0" in name or name.encode(errors="replace").decode() != name:
        raise InputError(f"a study cannot be called {name!r}; give it a name of ordinary characters.")
    body = as_json(spec, "spec")
    fresh = {"name": name, "kind": kind, "spec": body, "created": now, "updated": now}
    connection.execute(insert_into(connection, schema.studies).values(**fresh).on_conflict_do_nothing())
    found = find(connection, name, lock=True)
    assert found is not None
    _check_same(found, kind, spec)
    index = _add_cells(connection, found.id, cells)
    given = _add_tasks(connection, found.id, index, tasks)
    total = connection.execute(
        select(func.count()).select_from(schema.tasks).where(schema.tasks.c.study == found.id)
    ).scalar_one()
    if total > given:
        raise InputError(
            f"the study {name!r} is in the store with {total - given} tasks that this spec does not ask for (fewer "
            "replications, or a population, size, model or method was taken out); use another name, or remove the study first."
        )
    _drop_outdated(connection, found.id)
    if found.spec != body:
        there = schema.studies.c.id == found.id
        connection.execute(update(schema.studies).where(there).values(spec=body, updated=now))


def _check_same(found: Row[Any], kind: str, spec: dict[str, Any]) -> None:
    if found.kind != kind:
        raise InputError(f"{found.name!r} is in the store as a {found.kind}, not as a {kind}; use another name.")
    before = json.loads(found.spec).get("seed")
    if before != spec.get("seed"):
        raise InputError(
            f"the study {found.name!r} is in the store with seed {before}, and seed {spec.get('seed')} was given; its results "
            "cannot be mixed: use the same seed, or another name."
        )


def _identity(body: str) -> str:
    """Return what identifies a cell: everything but the versions of its parts."""
    return as_json(_without_versions(json.loads(body)), "cell")


def _without_versions(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_versions(v) for k, v in value.items() if k not in ("version", "versions")}
    return [_without_versions(v) for v in value] if isinstance(value, list) else value


def _add_cells(connection: Connection, study: int, cells: Sequence[dict[str, Any]]) -> list[int]:
    """Add the cells that are not there; return the stored index of each given one."""
    stored = bodies(connection, study)
    index = {_identity(body): k for k, body in enumerate(stored)}
    if len(index) != len(stored):
        raise InputError("two cells of the stored study are the same.")
    places, added = [], []
    for cell in cells:
        body = as_json(cell, "cell")
        key = _identity(body)
        if key not in index:
            index[key] = len(index)
            added.append({"study": study, "cell": index[key], "body": body})
        elif index[key] < len(stored) and stored[index[key]] != body:
            here = (schema.cells.c.study == study) & (schema.cells.c.cell == index[key])
            connection.execute(update(schema.cells).where(here).values(body=body))
        places.append(index[key])
    if len(set(places)) != len(places):
        raise InputError("two cells of the study are the same; take one of them out.")
    if added:
        connection.execute(schema.cells.insert(), added)
    return places


UPSERT = f"""
INSERT INTO tasks (study, cell, replication, id, grp, state, attempts, deaths) %s
ON CONFLICT (study, cell, replication) DO UPDATE SET
  id = excluded.id, grp = excluded.grp, state = {schema.OUTDATED}, owner = NULL, attempts = 0, deaths = 0, reason = NULL
WHERE tasks.id <> excluded.id
"""
FROM_VALUES = f"VALUES (?, ?, ?, ?, ?, {schema.WAITING}, 0, 0)"
FROM_COPY = f"SELECT study, cell, replication, id, grp, {schema.WAITING}, 0, 0 FROM incoming"
INCOMING = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS incoming (study int, cell int, replication int, id text, grp bigint) "
    "ON COMMIT DELETE ROWS"
)


def _add_tasks(connection: Connection, study: int, index: list[int], tasks: Iterable[TaskRow]) -> int:
    """Add the tasks that are not there, mark those of an older version, and return how many were given."""
    given, stream = 0, iter(tasks)
    while batch := list(islice(stream, BATCH)):
        given += len(batch)
        rows = [(study, index[t.cell], t.replication, t.id, t.group) for t in batch]
        if connection.dialect.name == "postgresql":
            _copy_tasks(connection, rows)
        else:
            connection.exec_driver_sql(UPSERT % FROM_VALUES, rows)
    return given


def _copy_tasks(connection: Connection, rows: list[tuple[Any, ...]]) -> None:
    """Send rows by COPY, which PostgreSQL takes many times faster than single inserts."""
    connection.exec_driver_sql(INCOMING)
    raw: Any = connection.connection.driver_connection
    with raw.cursor() as cursor, cursor.copy("COPY incoming FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    connection.exec_driver_sql(UPSERT % FROM_COPY)
    connection.exec_driver_sql("TRUNCATE incoming")


def _drop_outdated(connection: Connection, study: int) -> None:
    """Delete results whose task was replaced, and let the new task wait."""
    old = (schema.tasks.c.study == study) & (schema.tasks.c.state == schema.OUTDATED)
    if not connection.execute(select(exists().where(old))).scalar():
        return
    where = select(schema.tasks.c.cell, schema.tasks.c.replication).where(old)
    for table in (schema.results, schema.extras):
        key = tuple_(table.c.cell, table.c.replication)
        connection.execute(delete(table).where((table.c.study == study) & key.in_(where)))
    connection.execute(update(schema.tasks).where(old).values(state=schema.WAITING))
