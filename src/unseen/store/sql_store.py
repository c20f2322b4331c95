"""The store: studies, their tasks and results, and filed results, in SQLite or PostgreSQL.

The contract, which `unseen.testing.check_store` holds every store against:

- A task is known by its id. Adding tasks that are there changes nothing; adding more replications, sizes, models or methods to a
  study adds the missing tasks; a task of the same cell and replication with another id (a method whose version was raised) takes
  the place of the old one, whose result is dropped. Another seed, or tasks taken away, is refused.
- `claim` hands a task to one owner at a time. It stays that owner's until its result is stored, it is released, or the owner's
  lease runs out; an owner that calls `claim` or `heartbeat` renews its lease. Tasks of one group come together if they fit.
- `finish` stores a chunk of results in one transaction: after a crash either all of them are there or none. A result that is there
  already is left as it is, so a chunk may be stored again after an answer was lost.
- A task that failed, or whose owner died, is tried again `max_attempts` times in all, then recorded as failed with the reason. Tasks
  of a dead owner are handed out in smaller and smaller batches, so that one task that kills its worker does not take its neighbours along.
- What `finish`, `add_study` and `keep` committed is on disk (SQLite: write-ahead log, synchronous FULL); a claim or heartbeat may be
  lost in a power cut, which costs a rerun at most. Every call is one transaction.
- Everything is plain columns or JSON text. Nothing is ever unpickled.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, delete, func, select, update

from unseen.core.errors import InputError, KindError
from unseen.store import claims, reading, schema, studies
from unseen.store.errors import StoreError, database_errors
from unseen.store.migrations import bring_up_to_date
from unseen.store.records import Kept, Progress, TaskResult, TaskRow

__all__ = ["SqlStore"]


def _utc() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class SqlStore:
    """A store in one SQLite file or one PostgreSQL database; made by `unseen.store.open_store`.

    Examples
    --------
    >>> from unseen.store import TaskResult, TaskRow, open_store
    >>> store = open_store("sqlite:///example.db")
    >>> store.add_study("mine", "study", {"seed": 1}, [{"n": 20}], [TaskRow("a", 0, 0, 0), TaskRow("b", 0, 1, 1)])
    >>> rows = store.claim("mine", "me", limit=1, lease_seconds=60)
    >>> store.finish("mine", "me", [TaskResult(rows[0].id, estimate=0.2, truth=0.25, seconds=0.1)])
    1
    >>> store.progress("mine").done, store.columns("mine")["estimate"].tolist()
    (1, [0.2])
    >>> store.close()
    """

    def __init__(self, engine: Engine, where: str, *, read_only: bool = False, max_attempts: int = 3) -> None:
        self.engine, self.where = engine, where
        self.read_only, self.max_attempts = read_only, max_attempts
        self._one_writer = threading.RLock()
        begin = self._reading if read_only else self._writing
        try:
            with begin() as connection:
                bring_up_to_date(connection, where, read_only)
        except BaseException:  # Ctrl-C too: no connection is left open, and the error goes on
            engine.dispose()
            raise

    def __enter__(self) -> SqlStore:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SqlStore({self.where!r})"

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with database_errors(self.where), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _writing(self, durable: bool = True) -> Iterator[Connection]:
        if self.read_only:
            raise StoreError(f"the store {self.where} was opened for reading only.")
        with self._one_writer, database_errors(self.where), self.engine.connect() as connection:
            connection = connection.execution_options(writes=True, durable=durable)
            with connection.begin():
                yield connection

    # studies

    def add_study(
        self, name: str, kind: str, spec: dict[str, Any], cells: Sequence[dict[str, Any]], tasks: Iterable[TaskRow]
    ) -> None:
        """Add a study, or what is missing of it; see the contract above for what is refused."""
        with self._writing() as connection:
            studies.add(connection, name, kind, spec, cells, tasks, _utc())

    def studies(self) -> list[Progress]:
        """Return the progress of every study, the one last changed first."""
        with self._reading() as connection:
            rows = connection.execute(select(schema.studies).order_by(schema.studies.c.updated.desc())).all()
            return [reading.progress(connection, row) for row in rows]

    def progress(self, name: str) -> Progress:
        """Return how far one study is."""
        with self._reading() as connection:
            return reading.progress(connection, studies.row(connection, name))

    def spec(self, name: str) -> dict[str, Any]:
        """Return the spec a study was added with."""
        with self._reading() as connection:
            return dict(json.loads(studies.row(connection, name).spec))

    def cells(self, name: str) -> list[dict[str, Any]]:
        """Return the cells of a study; a task's `cell` is an index into this list."""
        with self._reading() as connection:
            found = studies.bodies(connection, studies.row(connection, name).id)
            return [json.loads(body) for body in found]

    def cancel(self, name: str) -> None:
        """Hand out no more tasks of a study; drivers notice at their next heartbeat."""
        self._set_cancelled(name, 1)

    def reopen(self, name: str) -> None:
        """Lift a cancellation, and give all tasks that are not done their attempts again."""
        self._set_cancelled(name, 0)

    def _set_cancelled(self, name: str, value: int) -> None:
        with self._writing() as connection:
            study = studies.row(connection, name).id
            there = schema.studies.c.id == study
            connection.execute(update(schema.studies).where(there).values(cancelled=value, updated=_utc()))
            if not value:
                claims.renew_attempts(connection, study)

    def remove(self, name: str) -> None:
        """Delete a study with its results."""
        with self._writing() as connection:
            study = studies.row(connection, name).id
            for table in (schema.extras, schema.results, schema.tasks, schema.cells, schema.drivers):
                connection.execute(delete(table).where(table.c.study == study))
            connection.execute(delete(schema.studies).where(schema.studies.c.id == study))

    # work

    def claim(self, name: str, owner: str, limit: int, lease_seconds: float) -> list[TaskRow]:
        """Take at most `limit` tasks for `owner`; none if nothing is free or the study is cancelled.

        A group larger than `limit` comes whole (up to 1000 tasks), so that what its tasks share is done once.
        """
        if limit < 1:
            raise InputError(f"limit is {limit}; at least 1 task can be claimed.")
        with self._writing(durable=False) as connection:
            study = studies.row(connection, name)
            if study.cancelled:
                return []
            return claims.claim(connection, study.id, owner, limit, lease_seconds, self.max_attempts)

    def heartbeat(self, name: str, owner: str, lease_seconds: float) -> bool:
        """Renew the lease of `owner`; return False if the study was cancelled or removed meanwhile."""
        with self._writing(durable=False) as connection:
            found = studies.find(connection, name)
            if found is None or found.cancelled:
                return False
            claims.renew(connection, found.id, owner, lease_seconds)
            return True

    def finish(self, name: str, owner: str, results: Sequence[TaskResult]) -> int:
        """Store a chunk of results in one transaction; return how many were new."""
        _check_results(results)
        with self._writing() as connection:
            study = studies.row(connection, name).id
            return claims.finish(connection, study, owner, results, self.max_attempts, _utc())

    def release(self, name: str, owner: str, keep: Iterable[str] | None = None) -> None:
        """Give the tasks of `owner` back, untouched; with `keep`, all but those, and the owner goes on."""
        with self._writing(durable=False) as connection:
            claims.release(connection, studies.row(connection, name).id, owner, keep)

    def owners(self, name: str) -> list[str]:
        """Return the owners of leases on a study, expired ones included."""
        with self._reading() as connection:
            study = studies.row(connection, name).id
            found = connection.execute(select(schema.drivers.c.owner).where(schema.drivers.c.study == study))
            return sorted(found.scalars())

    def expire(self, name: str, owner: str) -> None:
        """End the lease of an owner that is known to be dead."""
        with self._writing(durable=False) as connection:
            study = studies.row(connection, name).id
            mine = (schema.drivers.c.study == study) & (schema.drivers.c.owner == owner)
            connection.execute(update(schema.drivers).where(mine).values(lease_until=0.0))

    # results

    def columns(self, name: str) -> dict[str, np.ndarray]:
        """Return the finished tasks as arrays, in the order of (cell, replication); NaN if there is no number."""
        with self._reading() as connection:
            return reading.columns(connection, studies.row(connection, name).id)

    def moments(self, name: str) -> dict[str, np.ndarray]:
        """Return counts, means and products per cell that has results, computed inside the database.

        Keys: `cell`; `n` (results); `n_pairs` (with estimate and truth) and over those `estimate`, `truth`, `deviation`
        (means), `estimate_variance`, `truth_variance`, `covariance`, `deviation_variance` (divisor n - 1), `deviation2`,
        `deviation3`, `deviation4` (means of powers of estimate - truth); `n_intervals` (with truth and both bounds),
        `covered`, `missed_below`, `missed_above` (counts: truth under the lower bound, over the upper one), `width`, `width2`
        (means); `n_spread`, `spread`, `spread2` (means); `n_p`, `p_01`, `p_05`, `p_10` (counts of p-values at most that);
        `seconds` (sum).
        """
        with self._reading() as connection:
            return reading.moments(connection, studies.row(connection, name).id)

    def extras(self, name: str, cell: int | None = None) -> list[tuple[int, int, str]]:
        """Return (cell, replication, JSON text) of results that carry one."""
        with self._reading() as connection:
            return reading.extras(connection, studies.row(connection, name).id, cell)

    def failures(self, name: str) -> list[dict[str, Any]]:
        """Return cell, replication, attempts and reason of tasks recorded as failed."""
        with self._reading() as connection:
            return reading.failures(connection, studies.row(connection, name).id)

    # filed results

    def keep(self, kind: str, name: str, payload: dict[str, Any]) -> int:
        """File a result; return its number."""
        if not isinstance(payload, dict):
            raise KindError(f"the payload is a {type(payload).__name__}; a store keeps dictionaries of plain values.")
        body = studies.as_json(payload, "payload")
        row = {"kind": kind, "name": name, "created": _utc(), "payload": body}
        with self._writing() as connection:
            added = connection.execute(schema.kept.insert().values(**row).returning(schema.kept.c.id))
            return int(added.scalar_one())

    def records(self, kind: str | None = None, limit: int = 200) -> list[Kept]:
        """Return filed results, the latest first, without their payload."""
        table = schema.kept.c
        query = select(table.id, table.kind, table.name, table.created).order_by(table.id.desc()).limit(limit)
        if kind is not None:
            query = query.where(table.kind == kind)
        with self._reading() as connection:
            return [Kept(**row._mapping) for row in connection.execute(query)]

    def record(self, id: int) -> Kept:
        """Return one filed result with its payload."""
        with self._reading() as connection:
            found = connection.execute(select(schema.kept).where(schema.kept.c.id == id)).first()
            if found is None:
                count = connection.execute(select(func.count()).select_from(schema.kept)).scalar()
                raise InputError(f"the store {self.where} has no filed result {id}; it has {count} in all.")
            return Kept(
                id=found.id, kind=found.kind, name=found.name, created=found.created, payload=json.loads(found.payload)
            )

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def _check_results(results: Sequence[TaskResult]) -> None:
    for result in results:
        numbers = (
            result.estimate,
            result.truth,
            result.lower,
            result.upper,
            result.spread,
            result.p_value,
            result.seconds,
        )
        if not all(value is None or isinstance(value, (int, float, np.number)) for value in numbers):
            raise KindError(f"a number of task {result.task!r} is no number; a store takes numbers and texts only.")
        if not isinstance(result.extra, str) or not isinstance(result.reason, str):
            raise KindError(f"extra and reason of task {result.task!r} must be texts; a store takes no other objects.")
        if result.extra:
            try:
                json.loads(result.extra)
            except ValueError as error:
                raise InputError(f"extra of task {result.task!r} is not JSON text.") from error
