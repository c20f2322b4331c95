"""Reading a study: progress, columns, moments, extras and failures."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, func, select, text

from unseen.store import schema
from unseen.store.claims import server_now
from unseen.store.records import Progress

__all__ = ["columns", "extras", "failures", "moments", "progress"]

NUMBERS = ("estimate", "truth", "lower", "upper", "spread", "p_value", "seconds")
BATCH = 5000  # rows turned into an array at a time: memory stays small, and larger batches are no faster


def progress(connection: Connection, study: Row[Any]) -> Progress:
    """Return how far a study is."""
    tasks, drivers = schema.tasks.c, schema.drivers.c
    query = select(tasks.state, func.count()).where(tasks.study == study.id).group_by(tasks.state)
    count = {state: int(number) for state, number in connection.execute(query)}
    total, done, failed = sum(count.values()), count.get(schema.DONE, 0), count.get(schema.FAILED, 0)
    now = server_now(connection)
    alive = connection.execute(
        select(drivers.started, drivers.done).where(drivers.study == study.id, drivers.lease_until >= now)
    ).all()
    state = _state(bool(study.cancelled), bool(alive), total, done, failed)
    rate = sum(d.done / max(now - d.started, 0.1) for d in alive)
    eta = (total - done - failed) / rate if rate > 0 and state == "running" else None
    return Progress(
        name=study.name,
        kind=study.kind,
        state=state,
        total=total,
        done=done,
        failed=failed,
        claimed=count.get(schema.CLAIMED, 0),
        seconds=float(study.seconds),
        created=study.created,
        updated=study.updated,
        eta_seconds=eta,
    )


def _state(cancelled: bool, alive: bool, total: int, done: int, failed: int) -> str:
    if done == total:
        return "done"
    if cancelled:
        return "cancelled"
    if done + failed == total:
        return "partial"
    if alive:
        return "running"
    return "partial" if done + failed else "waiting"


def columns(connection: Connection, study: int) -> dict[str, np.ndarray]:
    """Return finished tasks as arrays, ordered by cell and replication."""
    if connection.dialect.name == "postgresql":
        return _columns_by_cell(connection, study)
    count = connection.execute(
        select(func.count()).select_from(schema.results).where(schema.results.c.study == study)
    ).scalar_one()
    table = np.empty((2 + len(NUMBERS), count))
    query = f"SELECT cell, replication, {', '.join(NUMBERS)} FROM results WHERE study = ? ORDER BY cell, replication"
    cursor = connection.exec_driver_sql(query, (study,)).cursor
    start = 0
    while rows := cursor.fetchmany(BATCH):
        table[:, start : start + len(rows)] = np.array(rows, dtype=float).T
        start += len(rows)
    whole = {name: table[k].astype(np.int64) for k, name in enumerate(("cell", "replication"))}
    return whole | {name: table[2 + k] for k, name in enumerate(NUMBERS)}


def _columns_by_cell(connection: Connection, study: int) -> dict[str, np.ndarray]:
    """Let PostgreSQL pack each column of a cell into bytes, since to read row by row takes ten times as long here."""
    packed = ", ".join(f"string_agg(float8send(coalesce({name}, 'NaN'::float8)), ''::bytea)" for name in NUMBERS)
    found = connection.execute(
        text(
            f"SELECT cell, count(*), string_agg(int8send(replication::int8), ''::bytea), {packed} FROM "
            "(SELECT * FROM results WHERE study = :study ORDER BY cell, replication) r GROUP BY cell ORDER BY cell"
        ),
        {"study": study},
    ).all()
    cell = np.repeat(np.array([row[0] for row in found], np.int64), np.array([row[1] for row in found], np.int64))
    parts = [b"".join(bytes(row[k]) for row in found) for k in range(2, 3 + len(NUMBERS))]
    replication = np.frombuffer(parts[0], ">i8").astype(np.int64)
    order = np.lexsort((replication, cell))  # the rows come in order as a rule, but SQL does not promise it
    numbers = {name: np.frombuffer(part, ">f8").astype(float)[order] for name, part in zip(NUMBERS, parts[1:])}
    return {"cell": cell[order], "replication": replication[order], **numbers}


MOMENTS = """
WITH origin AS MATERIALIZED (
  SELECT c.cell, coalesce((
    SELECT coalesce(f.truth, f.estimate) FROM results f WHERE f.study = c.study AND f.cell = c.cell
    ORDER BY f.replication LIMIT 1), 0.0) AS zero
  FROM cells c WHERE c.study = :study
)
SELECT
  o.cell AS cell, max(o.zero) AS zero, count(*) AS n, count(r.estimate - r.truth) AS n_pairs,
  sum(r.estimate - r.truth) AS d,
  sum((r.estimate - r.truth) * (r.estimate - r.truth)) AS dd,
  sum((r.estimate - r.truth) * (r.estimate - r.truth) * (r.estimate - r.truth)) AS ddd,
  sum((r.estimate - r.truth) * (r.estimate - r.truth) * (r.estimate - r.truth) * (r.estimate - r.truth)) AS dddd,
  sum(CASE WHEN r.estimate IS NOT NULL THEN r.truth - o.zero END) AS t,
  sum(CASE WHEN r.estimate IS NOT NULL THEN (r.truth - o.zero) * (r.truth - o.zero) END) AS tt,
  sum((r.estimate - r.truth) * (r.truth - o.zero)) AS dt,
  count(CASE WHEN r.lower IS NOT NULL AND r.upper IS NOT NULL THEN r.truth END) AS n_intervals,
  count(CASE WHEN r.truth BETWEEN r.lower AND r.upper THEN 1 END) AS covered,
  count(CASE WHEN r.truth < r.lower AND r.upper IS NOT NULL THEN 1 END) AS missed_below,
  sum(CASE WHEN r.truth IS NOT NULL THEN r.upper - r.lower END) AS w,
  sum(CASE WHEN r.truth IS NOT NULL THEN (r.upper - r.lower) * (r.upper - r.lower) END) AS ww,
  count(r.spread) AS n_spread, sum(r.spread) AS s, sum(r.spread * r.spread) AS ss,
  count(r.p_value) AS n_p,
  count(CASE WHEN r.p_value <= 0.01 THEN 1 END) AS p_01,
  count(CASE WHEN r.p_value <= 0.05 THEN 1 END) AS p_05,
  count(CASE WHEN r.p_value <= 0.10 THEN 1 END) AS p_10,
  sum(r.seconds) AS seconds
FROM origin o JOIN results r ON r.study = :study AND r.cell = o.cell
GROUP BY o.cell ORDER BY o.cell
"""
COUNTS = ("cell", "n", "n_pairs", "n_intervals", "covered", "missed_below", "n_spread", "n_p", "p_01", "p_05", "p_10")


def moments(connection: Connection, study: int) -> dict[str, np.ndarray]:
    """Return counts and moments per cell; sums run over values less the cell's first truth, which spares digits.

    They run in the order of replications, so that the same results give the same digits. SQLite sums in the order of the table's
    key; PostgreSQL in the order in which rows were stored, so its sums are computed here.
    """
    if connection.dialect.name == "postgresql":
        x = _sums(columns(connection, study))
    else:
        found = connection.execute(text(MOMENTS), {"study": study})
        names = list(found.keys())
        rows = np.array([tuple(r) for r in found.all()], dtype=float).reshape(-1, len(names))
        x = {name: rows[:, k] for k, name in enumerate(names)}
    return _moments_of(x)


def _sums(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the sums that MOMENTS selects, from columns."""
    cell, first, group = np.unique(table["cell"], return_index=True, return_inverse=True)

    def total(values: np.ndarray, where: np.ndarray | None = None) -> np.ndarray:
        picked = ~np.isnan(values) if where is None else where
        return np.bincount(group[picked], np.asarray(values, float)[picked], minlength=len(cell))

    truth, e = table["truth"], table["estimate"]
    zero = np.where(np.isnan(truth[first]), e[first], truth[first])
    zero = np.where(np.isnan(zero), 0.0, zero)
    d, t = e - truth, truth - zero[group]
    low, high, spread, p = (table[name] for name in ("lower", "upper", "spread", "p_value"))
    pairs, ranged = ~np.isnan(e) & ~np.isnan(truth), ~np.isnan(truth) & ~np.isnan(low) & ~np.isnan(high)
    width, one = high - low, np.ones(len(e))
    return {
        "cell": cell,
        "zero": zero,
        "n": total(one),
        "n_pairs": total(one, pairs),
        "d": total(d, pairs),
        "dd": total(d * d, pairs),
        "ddd": total(d * d * d, pairs),
        "dddd": total(d * d * d * d, pairs),
        "t": total(t, pairs),
        "tt": total(t * t, pairs),
        "dt": total(d * t, pairs),
        "n_intervals": total(one, ranged),
        "covered": total(one, ranged & (truth >= low) & (truth <= high)),
        "missed_below": total(one, ranged & (truth < low)),
        "w": total(width, ranged),
        "ww": total(width * width, ranged),
        "n_spread": total(one, ~np.isnan(spread)),
        "s": total(spread),
        "ss": total(spread * spread),
        "n_p": total(one, ~np.isnan(p)),
        "p_01": total(one, p <= 0.01),
        "p_05": total(one, p <= 0.05),
        "p_10": total(one, p <= 0.10),
        "seconds": total(table["seconds"]),
    }


def _moments_of(x: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    answer: dict[str, np.ndarray] = {name: x[name].astype(np.int64) for name in COUNTS}
    answer["missed_above"] = answer["n_intervals"] - answer["covered"] - answer["missed_below"]
    with np.errstate(divide="ignore", invalid="ignore"):
        n, less = x["n_pairs"], np.where(x["n_pairs"] > 1, x["n_pairs"] - 1, np.nan)
        of_d, of_t = x["dd"] - x["d"] ** 2 / n, x["tt"] - x["t"] ** 2 / n
        of_both = x["dt"] - x["d"] * x["t"] / n
        answer |= {
            "estimate": (x["d"] + x["t"]) / n + x["zero"],
            "truth": x["t"] / n + x["zero"],
            "deviation": x["d"] / n,
            "estimate_variance": np.maximum(of_d + of_t + 2 * of_both, 0) / less,
            "truth_variance": np.maximum(of_t, 0) / less,
            "covariance": (of_both + of_t) / less,
            "deviation_variance": np.maximum(of_d, 0) / less,
            "deviation2": x["dd"] / n,
            "deviation3": x["ddd"] / n,
            "deviation4": x["dddd"] / n,
            "width": x["w"] / x["n_intervals"],
            "width2": x["ww"] / x["n_intervals"],
            "spread": x["s"] / x["n_spread"],
            "spread2": x["ss"] / x["n_spread"],
            "seconds": x["seconds"],
        }
    return answer


def extras(connection: Connection, study: int, cell: int | None) -> list[tuple[int, int, str]]:
    """Return the JSON texts that some results carry."""
    table = schema.extras.c
    query = select(table.cell, table.replication, table.body).where(table.study == study)
    if cell is not None:
        query = query.where(table.cell == cell)
    return [tuple(row) for row in connection.execute(query.order_by(table.cell, table.replication))]


def failures(connection: Connection, study: int) -> list[dict[str, Any]]:
    """Return the tasks that are recorded as failed."""
    table = schema.tasks.c
    query = select(table.cell, table.replication, table.attempts, table.reason).where(
        table.study == study, table.state == schema.FAILED
    )
    found = connection.execute(query.order_by(table.cell, table.replication))
    return [{**row._mapping, "reason": row.reason or ""} for row in found]
