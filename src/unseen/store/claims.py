"""Handing out tasks and taking results back, each within one transaction of the caller."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Text, bindparam, case, cast, delete, func, literal, select, text, update

from unseen.store import schema
from unseen.store.records import LONGEST_LEASE, TaskResult, TaskRow
from unseen.store.studies import insert_into

__all__ = ["claim", "finish", "release", "renew", "renew_attempts", "server_now"]

SHRINK = 8  # each death of an owner divides the batch in which its tasks are handed out again
IDS_PER_QUERY = 500  # SQLite before 3.32 takes at most 999 variables in a statement
LARGEST_GROUP = 1000  # tasks; a larger group would be more than a chunk, so it is cut
LONGEST_REASON = 1000  # characters

tasks, drivers = schema.tasks, schema.drivers


def server_now(connection: Connection) -> float:
    """Return the database's clock: drivers on several machines agree on it."""
    if connection.dialect.name == "postgresql":
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
    return time.time()


def renew(connection: Connection, study: int, owner: str, lease_seconds: float) -> None:
    """Extend the owner's lease; one that was given back or has expired is not opened again."""
    mine = (drivers.c.study == study) & (drivers.c.owner == owner)
    connection.execute(update(drivers).where(mine).values(lease_until=server_now(connection) + lease_seconds))


def _open_lease(connection: Connection, study: int, owner: str, lease_seconds: float) -> None:
    """Write the owner's lease, and the owner itself if it is new."""
    now = server_now(connection)
    row = {"study": study, "owner": owner, "started": now, "lease_until": now + lease_seconds, "done": 0}
    statement = insert_into(connection, drivers).values(**row)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[drivers.c.study, drivers.c.owner], set_={"lease_until": now + lease_seconds}
        )
    )


def claim(
    connection: Connection, study: int, owner: str, limit: int, lease_seconds: float, max_attempts: int
) -> list[TaskRow]:
    """Take tasks for `owner`: those of dead owners first and few at a time, then waiting ones."""
    _open_lease(connection, study, owner, lease_seconds)
    _expire_leases(connection, study, max_attempts)
    rows = _suspects(connection, study, limit) or _waiting(connection, study, limit)
    if not rows:
        return []
    mine = update(tasks).where(
        tasks.c.study == study, tasks.c.cell == bindparam("c"), tasks.c.replication == bindparam("r")
    )
    connection.execute(
        mine.values(state=schema.CLAIMED, owner=owner), [{"c": r.cell, "r": r.replication} for r in rows]
    )
    return rows


def _expire_leases(connection: Connection, study: int, max_attempts: int) -> None:
    """Free the tasks of owners whose lease ran out, or was never renewed since the clock was set back."""
    now = server_now(connection)
    set_back = (drivers.c.started > now) & (drivers.c.lease_until >= drivers.c.started)
    ended = (drivers.c.lease_until < now) | (drivers.c.lease_until > now + LONGEST_LEASE) | set_back
    ran_out = (drivers.c.study == study) & ended
    dead = list(connection.execute(select(drivers.c.owner).where(ran_out)).scalars())
    if not dead:
        return
    theirs = (tasks.c.study == study) & (tasks.c.state == schema.CLAIMED) & tasks.c.owner.in_(dead)
    last = tasks.c.attempts + 1 >= max_attempts
    times = (
        literal("worker died ") + cast(tasks.c.deaths + 1, Text) + case((tasks.c.deaths > 0, " times"), else_=" time")
    )
    connection.execute(
        update(tasks)
        .where(theirs)
        .values(
            state=case((last, schema.FAILED), else_=schema.SUSPECT),
            owner=None,
            attempts=tasks.c.attempts + 1,
            deaths=tasks.c.deaths + 1,
            reason=times,
        )
    )
    connection.execute(delete(drivers).where(ran_out, drivers.c.owner.in_(dead)))


def _suspects(connection: Connection, study: int, limit: int) -> list[TaskRow]:
    """Return free tasks whose owner died: the more deaths, the fewer at a time."""
    suspect = (tasks.c.study == study) & (tasks.c.state == schema.SUSPECT)
    deaths = connection.execute(select(func.max(tasks.c.deaths)).where(suspect)).scalar()
    if deaths is None:
        return []
    order = (tasks.c.deaths.desc(), tasks.c.grp, tasks.c.cell, tasks.c.replication)
    return _free(connection, suspect, order, max(1, limit // SHRINK**deaths))


def _waiting(connection: Connection, study: int, limit: int) -> list[TaskRow]:
    """Return waiting tasks in whole groups: a last group that is cut is left out, a first one that is cut is completed."""
    waiting = (tasks.c.study == study) & (tasks.c.state == schema.WAITING)
    order = (tasks.c.grp, tasks.c.cell, tasks.c.replication)
    rows = _free(connection, waiting, order, limit + 1)
    if len(rows) <= limit:
        return rows
    whole = [row for row in rows[:limit] if row.group != rows[limit].group]
    if whole or limit >= LARGEST_GROUP:
        return whole or rows[:limit]
    return _free(connection, waiting & (tasks.c.grp == rows[0].group), order, LARGEST_GROUP)


def _free(connection: Connection, which: Any, order: Any, limit: int) -> list[TaskRow]:
    query = select(tasks.c.id, tasks.c.cell, tasks.c.replication, tasks.c.grp).where(which).order_by(*order)
    found = connection.execute(query.limit(limit).with_for_update(skip_locked=True))  # SQLite leaves FOR UPDATE out
    return [TaskRow(*row) for row in found]


def finish(
    connection: Connection, study: int, owner: str, results: Sequence[TaskResult], max_attempts: int, now: str
) -> int:
    """Store results; return how many were new."""
    new = 0
    seconds = 0.0
    for start in range(0, len(results), IDS_PER_QUERY):
        by_id = {r.task: r for r in results[start : start + IDS_PER_QUERY]}
        query = select(tasks.c.id, tasks.c.cell, tasks.c.replication, tasks.c.state, tasks.c.owner, tasks.c.attempts)
        query = query.where(tasks.c.study == study, tasks.c.id.in_(by_id)).order_by(tasks.c.cell, tasks.c.replication)
        open_ = [t for t in connection.execute(query.with_for_update()) if t.state != schema.DONE]
        good = [(t, by_id[t.id]) for t in open_ if not by_id[t.id].reason]
        bad = [(t, by_id[t.id]) for t in open_ if by_id[t.id].reason and t.state == schema.CLAIMED and t.owner == owner]
        _store(connection, study, good)
        _count_failed(connection, study, bad, max_attempts)
        new += len(good)
        seconds += sum(r.seconds for _, r in good)
    there, us = schema.studies.c, (drivers.c.study == study) & (drivers.c.owner == owner)
    connection.execute(update(drivers).where(us).values(done=drivers.c.done + new))
    connection.execute(
        update(schema.studies).where(there.id == study).values(seconds=there.seconds + seconds, updated=now)
    )
    return new


def _store(connection: Connection, study: int, good: list[tuple[Any, TaskResult]]) -> None:
    if not good:
        return
    rows = [
        {
            "study": study,
            "cell": t.cell,
            "replication": t.replication,
            "estimate": _number(r.estimate),
            "truth": _number(r.truth),
            "lower": _number(r.lower),
            "upper": _number(r.upper),
            "spread": _number(r.spread),
            "p_value": _number(r.p_value),
            "seconds": float(r.seconds),
        }
        for t, r in good
    ]
    connection.execute(insert_into(connection, schema.results).on_conflict_do_nothing(), rows)
    long = [{"study": study, "cell": t.cell, "replication": t.replication, "body": r.extra} for t, r in good if r.extra]
    if long:
        connection.execute(insert_into(connection, schema.extras).on_conflict_do_nothing(), long)
    _set_states(
        connection,
        study,
        [{"c": t.cell, "r": t.replication, "s": schema.DONE, "a": t.attempts, "w": None} for t, _ in good],
    )


def _count_failed(connection: Connection, study: int, bad: list[tuple[Any, TaskResult]], max_attempts: int) -> None:
    if bad:
        _set_states(
            connection,
            study,
            [
                {
                    "c": t.cell,
                    "r": t.replication,
                    "s": schema.FAILED if t.attempts + 1 >= max_attempts else schema.WAITING,
                    "a": t.attempts + 1,
                    "w": _plain(r.reason),
                }
                for t, r in bad
            ],
        )


def _set_states(connection: Connection, study: int, rows: list[dict[str, Any]]) -> None:
    here = (tasks.c.study == study) & (tasks.c.cell == bindparam("c")) & (tasks.c.replication == bindparam("r"))
    new: dict[str, Any] = {"state": bindparam("s"), "attempts": bindparam("a"), "reason": bindparam("w"), "owner": None}
    connection.execute(update(tasks).where(here).values(**new), rows)


def _plain(reason: str) -> str:
    """Return a text that every database accepts: some refuse zero bytes and lone surrogates."""
    return reason[:LONGEST_REASON].replace("\0", "").encode(errors="replace").decode()


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value) + 0.0  # SQLite has no negative zero


def release(connection: Connection, study: int, owner: str, keep: Iterable[str] | None) -> None:
    """Let the owner's tasks wait again, as if they had never been claimed."""
    mine = (tasks.c.study == study) & (tasks.c.state == schema.CLAIMED) & (tasks.c.owner == owner)
    if keep is None:
        connection.execute(delete(drivers).where(drivers.c.study == study, drivers.c.owner == owner))
    else:
        mine &= tasks.c.id.not_in(list(keep))
    before = case((tasks.c.deaths > 0, schema.SUSPECT), else_=schema.WAITING)
    connection.execute(update(tasks).where(mine).values(state=before, owner=None))


def renew_attempts(connection: Connection, study: int) -> None:
    """Let failed tasks wait again, and give every unfinished one all its attempts: the lease of a dead driver may yet run out."""
    connection.execute(update(tasks).where(tasks.c.study == study, tasks.c.state != schema.DONE).values(attempts=0))
    failed = (tasks.c.study == study) & (tasks.c.state == schema.FAILED)
    fresh = {"state": schema.WAITING, "attempts": 0, "deaths": 0, "reason": None}
    connection.execute(update(tasks).where(failed).values(**fresh))
