"""The tables of a store.

`tasks` says what is to be done and who does it; `results` holds one narrow row per finished task in the order in which
summaries read it, so that a summary of a million rows is one scan; `extras` holds the rare long texts beside it. `drivers`
holds one row per process at work: a lease belongs to the process, not to the task, so a heartbeat writes one row however
many tasks are claimed. All texts are JSON or plain; nothing in a store is ever unpickled. Times are ISO-8601 UTC texts, leases
seconds since 1970 by the clock of the database (of this machine for SQLite).
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Index, Integer, MetaData, SmallInteger, Table, Text

__all__ = [
    "CLAIMED",
    "DONE",
    "FAILED",
    "OUTDATED",
    "SUSPECT",
    "VERSION",
    "WAITING",
    "cells",
    "drivers",
    "extras",
    "kept",
    "meta",
    "metadata",
    "results",
    "studies",
    "tasks",
]

VERSION = 3

WAITING, CLAIMED, DONE, FAILED = 0, 1, 2, 3
SUSPECT = 4  # waiting, and was in the hands of a driver that died
OUTDATED = 5  # replaced by a task of a newer version, within one transaction only

metadata = MetaData()

meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))

studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("cancelled", SmallInteger, nullable=False, default=0),
    Column("seconds", Double, nullable=False, default=0.0),
    Column("created", Text, nullable=False),
    Column("updated", Text, nullable=False),
)

cells = Table(
    "cells",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("cell", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    sqlite_with_rowid=False,
)

tasks = Table(
    "tasks",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("cell", Integer, primary_key=True, autoincrement=False),
    Column("replication", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("grp", BigInteger, nullable=False),
    Column("state", SmallInteger, nullable=False, default=WAITING),
    Column("owner", Text),
    Column("attempts", SmallInteger, nullable=False, default=0),
    Column("deaths", SmallInteger, nullable=False, default=0),
    Column("reason", Text),
    Index("tasks_by_id", "study", "id", unique=True),
    Index("tasks_by_state", "study", "state", "grp"),
    sqlite_with_rowid=False,
)

results = Table(
    "results",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("cell", Integer, primary_key=True, autoincrement=False),
    Column("replication", Integer, primary_key=True, autoincrement=False),
    Column("estimate", Double),
    Column("truth", Double),
    Column("lower", Double),
    Column("upper", Double),
    Column("spread", Double),
    Column("p_value", Double),
    Column("seconds", Double, nullable=False),
    sqlite_with_rowid=False,
)

extras = Table(
    "extras",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("cell", Integer, primary_key=True, autoincrement=False),
    Column("replication", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    sqlite_with_rowid=False,
)

drivers = Table(
    "drivers",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("owner", Text, primary_key=True),
    Column("started", Double, nullable=False),
    Column("lease_until", Double, nullable=False),
    Column("done", BigInteger, nullable=False, default=0),
    sqlite_with_rowid=False,
)

kept = Table(
    "kept",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Index("kept_by_kind", "kind", "id"),
)
