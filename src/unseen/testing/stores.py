"""The contract of a store: no task for two owners, no result twice, nothing lost, failures bounded, plain values only.

Every check takes `again`, a function that opens the same, at first empty, store once more (with options of `open_store`).
"""

from __future__ import annotations

import json
import math
import pickle
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from unseen.core.errors import UnseenError
from unseen.store import SqlStore, TaskResult, TaskRow

__all__ = ["STORE_CHECKS", "check_store"]

Open = Callable[..., SqlStore]
SPEC = {"seed": 7, "replications": 10}


def cells_of(count: int) -> list[dict[str, Any]]:
    """Return cells that differ in their method."""
    return [{"method": f"m{k}", "version": 1} for k in range(count)]


def tasks_of(cells: int, replications: int, version: int = 1) -> list[TaskRow]:
    """Return the tasks of every cell and replication, one group per replication."""
    return [TaskRow(f"v{version}-{c}-{r}", c, r, r) for r in range(replications) for c in range(cells)]


def store_with_study(again: Open, cells: int = 3, replications: int = 10, **options: Any) -> SqlStore:
    """Open the store and add a study to it."""
    store = again(**options)
    store.add_study("mine", "study", SPEC, cells_of(cells), tasks_of(cells, replications))
    return store


def number_of(row: TaskRow) -> float:
    """Return a number that follows from the task."""
    return math.sin(1000 * row.cell + row.replication)


def results_of(rows: list[TaskRow]) -> list[TaskResult]:
    """Return good results of tasks."""
    return [TaskResult(row.id, estimate=number_of(row), truth=0.25, seconds=0.5) for row in rows]


def check_refusal(call: Callable[[], Any], *words: str) -> None:
    """Check that a call raises a sentence with these words."""
    try:
        call()
    except UnseenError as error:
        for word in words:
            assert word in str(error), f"the message does not say {word!r}: {error}"
    else:
        raise AssertionError(f"nothing was raised, although {words} was expected")


def groups_stay_together(again: Open) -> None:
    """A claim holds whole groups in their order, and a group larger than the limit comes whole."""
    store = store_with_study(again, 4, 5)
    first = store.claim("mine", "a", 10, 60)
    assert [t.group for t in first] == [0] * 4 + [1] * 4, f"groups of the first claim: {[t.group for t in first]}"
    second = store.claim("mine", "b", 3, 60)
    assert [t.group for t in second] == [2] * 4, f"groups of the second claim: {[t.group for t in second]}"


def no_task_goes_to_two_owners(again: Open) -> None:
    """Many owners at once, each with a connection of its own, share the tasks without overlap or loss."""
    store = store_with_study(again, 3, 60)
    with again() as other:
        held = [row.id for k in range(6) for row in (store, other)[k % 2].claim("mine", f"early-{k % 2}", 7, 60)]
        assert len(set(held)) == len(held) == 36, "a task was handed to two owners"
        for k in range(2):
            store.release("mine", f"early-{k}")
    taken: dict[str, list[str]] = {f"owner-{k}": [] for k in range(4)}
    errors: list[BaseException] = []

    def work(owner: str) -> None:
        try:
            with again() as mine:
                while rows := mine.claim("mine", owner, 7, 60):
                    taken[owner] += [row.id for row in rows]
                    mine.finish("mine", owner, results_of(rows))
        except BaseException as error:  # a thread cannot raise in the test; it is raised there
            errors.append(error)

    threads = [threading.Thread(target=work, args=(owner,)) for owner in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, f"an owner failed: {errors[0]!r}"
    everything = [one for ids in taken.values() for one in ids]
    assert len(everything) == len(set(everything)) == 180, f"{len(everything)} claims of {len(set(everything))} tasks"
    assert store.progress("mine").state == "done", "the study is not done"


def failures_are_retried_then_recorded(again: Open) -> None:
    """A failed task is handed out again up to the bound, then kept with its reason; a success in between counts."""
    store = store_with_study(again, 1, 2, max_attempts=3)
    for attempt in range(3):
        rows = {r.replication: r for r in store.claim("mine", "me", 10, 60)}
        assert set(rows) == ({0, 1} if attempt < 2 else {0}), f"attempt {attempt} got {set(rows)}"
        results = [TaskResult(rows[0].id, reason=f"no luck {attempt}\0")]
        if attempt < 2:
            failed = TaskResult(rows[1].id, reason="once")
            results.append(failed if attempt == 0 else TaskResult(rows[1].id, estimate=0.5))
        store.finish("mine", "me", results)
    assert store.claim("mine", "me", 10, 60) == [], "a task that failed three times was handed out again"
    expected = [{"cell": 0, "replication": 0, "attempts": 3, "reason": "no luck 2"}]
    assert store.failures("mine") == expected, f"recorded: {store.failures('mine')}"
    now = store.progress("mine")
    assert (now.state, now.done, now.failed, now.missing) == ("partial", 1, 1, 0), f"{now}"
    store.reopen("mine")
    assert [r.replication for r in store.claim("mine", "me", 10, 60)] == [0], "reopening did not free the failed task"


def leases_run_out(again: Open) -> None:
    """Tasks of an owner whose lease ran out go to others; one that renews its lease, or still has time, keeps them."""
    store = store_with_study(again, 1, 4)
    silent = store.claim("mine", "silent", 2, 0.4)
    alive = store.claim("mine", "alive", 2, 0.4)
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        assert store.heartbeat("mine", "alive", 0.4) is True
        time.sleep(0.05)
    assert store.progress("mine").state == "running", "a beating owner does not count as at work"
    taken = store.claim("mine", "heir", 10, 60) + store.claim("mine", "heir", 10, 60)
    assert {r.id for r in taken} == {r.id for r in silent}, f"the heir got {taken} for {silent}"
    assert store.finish("mine", "alive", results_of(alive)) == 2, "results of the living owner were not taken"
    assert store.finish("mine", "silent", results_of(silent[:1])) == 1, (
        "a late result of the silent owner was not taken"
    )
    assert store.finish("mine", "silent", [TaskResult(silent[1].id, reason="late failure")]) == 0
    assert store.finish("mine", "heir", results_of(taken)) == 1, "the heir's results were stored twice"
    assert store.progress("mine").state == "done"


def deaths_are_bounded_and_narrowed(again: Open) -> None:
    """Tasks of dead owners come back in ever smaller batches, and after the bound are recorded as failed."""
    store = store_with_study(again, 1, 100, max_attempts=3)
    sizes = []
    for k in range(3):
        sizes.append(len(store.claim("mine", f"doomed-{k}", 64, 60)))
        store.expire("mine", f"doomed-{k}")
    assert sizes == [64, 8, 1], f"batches after deaths: {sizes}"
    while rows := store.claim("mine", "careful", 64, 60):
        store.finish("mine", "careful", results_of(rows))
    failed = store.failures("mine")
    assert [(f["attempts"], f["reason"]) for f in failed] == [(3, "worker died 3 times")], f"recorded: {failed}"
    assert store.progress("mine").done == 99, "neighbours of the deadly task were lost"


def reopening_renews_all_attempts(again: Open) -> None:
    """A task that its last owner holds while the study is reopened does not fail when that owner turns out to be dead."""
    store = store_with_study(again, 1, 1, max_attempts=3)
    for k in range(3):
        assert len(store.claim("mine", f"doomed-{k}", 10, 60)) == 1
        if k == 2:
            store.reopen("mine")
        store.expire("mine", f"doomed-{k}")
    rows = store.claim("mine", "careful", 10, 60)
    assert len(rows) == 1, "the attempts before the reopening were counted"
    store.finish("mine", "careful", results_of(rows))
    assert store.progress("mine").state == "done" and store.failures("mine") == []


def released_tasks_are_as_new(again: Open) -> None:
    """Releasing costs no attempt, ends the owner's presence, and may leave some tasks out."""
    store = store_with_study(again, 1, 6, max_attempts=1)
    for _ in range(3):
        assert len(store.claim("mine", "me", 10, 60)) == 6, "released tasks did not come back"
        assert store.owners("mine") == ["me"]
        store.release("mine", "me")
        assert store.owners("mine") == [] and store.progress("mine").state == "waiting"
    rows = store.claim("mine", "me", 10, 60)
    store.release("mine", "me", keep=[rows[0].id, rows[1].id])
    assert store.progress("mine").claimed == 2, "the tasks to keep were released"
    assert {r.id for r in store.claim("mine", "other", 10, 60)} == {r.id for r in rows[2:]}


def cancelling_is_noticed(again: Open) -> None:
    """After a cancellation nothing is handed out and heartbeats say so; finished work is still taken; reopening lifts it."""
    store, elsewhere = store_with_study(again, 1, 5), again()
    rows = store.claim("mine", "me", 2, 60)
    assert store.heartbeat("mine", "me", 60) is True
    elsewhere.cancel("mine")
    assert store.claim("mine", "me", 2, 60) == [], "a cancelled study hands out tasks"
    assert store.heartbeat("mine", "me", 60) is False, "a heartbeat does not tell of the cancellation"
    assert store.finish("mine", "me", results_of(rows)) == 2, "work that was done is thrown away"
    store.release("mine", "me")
    assert store.progress("mine").state == "cancelled"
    elsewhere.reopen("mine")
    assert store.progress("mine").state == "partial" and len(store.claim("mine", "me", 9, 60)) == 3


def progress_gives_the_state(again: Open) -> None:
    """Waiting, running, partial and done follow each other; the estimate of time left is there while someone works."""
    store = store_with_study(again, 1, 4)
    states = [store.progress("mine").state]
    rows = store.claim("mine", "me", 3, 60)
    states.append(store.progress("mine").state)
    assert store.progress("mine").claimed == 3
    store.finish("mine", "me", results_of(rows))
    left = store.progress("mine").eta_seconds
    assert left is not None and 0 <= left < 60, f"time left: {left}"
    store.release("mine", "me")
    states.append(store.progress("mine").state)
    store.finish("mine", "me", results_of(store.claim("mine", "me", 3, 60)))
    states.append(store.progress("mine").state)
    assert states == ["waiting", "running", "partial", "done"], f"states: {states}"
    assert store.progress("mine").eta_seconds is None
    assert [p.name for p in store.studies()] == ["mine"]


def adding_twice_changes_nothing(again: Open) -> None:
    """The same study added twice, also while it runs, is there once with its results."""
    store = store_with_study(again)
    rows = store.claim("mine", "me", 6, 60)
    store.finish("mine", "me", results_of(rows))
    before = store.progress("mine")
    store.add_study("mine", "study", SPEC, cells_of(3), tasks_of(3, 10))
    after = store.progress("mine")
    assert (after.total, after.done) == (before.total, before.done) == (30, 6), f"{before} became {after}"


def more_can_be_asked_for(again: Open) -> None:
    """More replications or cells add what is missing, whatever the order of the cells; less, or another seed, is refused."""
    store = store_with_study(again, 2, 4)
    store.finish("mine", "me", results_of(store.claim("mine", "me", 100, 60)))
    wider = [{"method": "new"}, *cells_of(2)]
    shifted = [TaskRow(f"new-{r}", 0, r, r) for r in range(6)]
    shifted += [TaskRow(t.id, t.cell + 1, t.replication, t.group) for t in tasks_of(2, 6)]
    store.add_study("mine", "study", {**SPEC, "replications": 6}, wider, shifted)
    now = store.progress("mine")
    assert (now.total, now.done) == (18, 8), f"adding a cell and replications gave {now}"
    assert [c["method"] for c in store.cells("mine")] == ["m0", "m1", "new"], "cells that were there moved"
    missing = {(t.cell, t.replication) for t in store.claim("mine", "me", 100, 60)}
    assert missing == {(2, r) for r in range(6)} | {(c, r) for c in (0, 1) for r in (4, 5)}, f"missing: {missing}"
    assert store.spec("mine")["replications"] == 6, "the spec was not brought up to date"
    check_refusal(
        partial(store.add_study, "mine", "study", SPEC, cells_of(2), tasks_of(2, 4)), "10 tasks", "another name"
    )
    other = {**SPEC, "seed": 8}
    check_refusal(partial(store.add_study, "mine", "study", other, cells_of(2), tasks_of(2, 4)), "seed 7", "seed 8")
    check_refusal(lambda: store.add_study("mine", "contest", SPEC, cells_of(2), tasks_of(2, 4)), "as a study")
    assert store.progress("mine").total == 18, "a refused change was half made"


def raised_versions_run_again(again: Open) -> None:
    """A task whose id changed takes the place of the old one, whose result goes; the others stay."""
    store = store_with_study(again, 2, 3)
    store.finish("mine", "me", results_of(store.claim("mine", "me", 100, 60)))
    changed = [{**cells_of(2)[0], "version": 2}, cells_of(2)[1]]
    rows = [
        TaskRow(t.id if t.cell else f"v2-{t.replication}", *(t.cell, t.replication, t.group)) for t in tasks_of(2, 3)
    ]
    store.add_study("mine", "study", SPEC, changed, rows)
    assert store.progress("mine").done == 3, "results of the old version are still counted"
    assert set(store.columns("mine")["cell"].tolist()) == {1}, "results of the old version are still there"
    assert {t.id for t in store.claim("mine", "me", 100, 60)} == {"v2-0", "v2-1", "v2-2"}, "the wrong tasks run again"
    assert store.cells("mine")[0]["version"] == 2, "the cell still has the old version"


def results_are_stored_once(again: Open) -> None:
    """Storing a chunk again, or by an owner that was late, changes nothing and counts nothing."""
    store = store_with_study(again, 1, 4)
    rows = store.claim("mine", "slow", 10, 60)
    assert store.finish("mine", "slow", results_of(rows[:2])) == 2, "two new results were not counted"
    assert store.finish("mine", "slow", results_of(rows[:3])) == 1, "a result stored again was counted again"
    other = [
        TaskResult(rows[0].id, estimate=99.0),
        TaskResult(rows[3].id, estimate=1.0),
        TaskResult("no such task", estimate=1.0),
    ]
    assert store.finish("mine", "late", other) == 1, "a missing result of another owner was not taken"
    table = store.columns("mine")
    assert table["estimate"].tolist() == [*(number_of(r) for r in rows[:3]), 1.0], "a stored result was overwritten"
    assert store.progress("mine").seconds == 1.5, "seconds of a result stored twice were added twice"


def numbers_come_back_exactly(again: Open) -> None:
    """Every double comes back bit for bit, None and NaN as NaN, -0 as 0, in the order of cell and replication."""
    values = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, math.inf, -math.inf, None, math.nan, 1 / 3, -1e-17]
    store = again()
    store.add_study("mine", "study", SPEC, cells_of(1), [TaskRow(f"t{k}", 0, k, k) for k in range(10)])
    rows = store.claim("mine", "me", 100, 60)
    made = [
        TaskResult(f"t{k}", estimate=v, truth=v, lower=v, upper=v, spread=v, p_value=v, seconds=0.1 + k)
        for k, v in enumerate(values)
    ]
    store.finish("mine", "me", made[5:])
    store.finish("mine", "me", made[:5])
    assert len(rows) == 10
    table = store.columns("mine")
    expected = np.array([math.nan if v is None else v + 0.0 for v in values])
    for name in ("estimate", "truth", "lower", "upper", "spread", "p_value"):
        assert table[name].tobytes() == expected.tobytes(), f"{name}: {table[name]} for {expected}"
    assert table["replication"].tolist() == list(range(10)), "results are out of order"
    assert table["seconds"].tolist() == [0.1 + k for k in range(10)], "seconds are not what was stored"


def moments_agree_with_columns(again: Open) -> None:
    """What the database sums up per cell is what numpy finds in the columns, missing values included."""
    rng = np.random.default_rng(3)
    store = store_with_study(again, 3, 40)
    results = []
    for k, row in enumerate(store.claim("mine", "me", 1000, 60)):
        truth = 1e6 + rng.normal() if row.cell == 2 else rng.uniform(0.1, 0.4)
        estimate = truth + rng.normal(0.02, 0.05)
        low, high = estimate - rng.uniform(0, 0.1), estimate + rng.uniform(0, 0.1)
        names = ("estimate", "truth", "lower", "upper", "spread", "p_value", "seconds")
        numbers: dict[str, Any] = dict(
            zip(names, (estimate, truth, low, high, rng.uniform(), rng.uniform(0, 0.2), 0.25), strict=True)
        )
        if k % 3 == 0:
            numbers[names[k % 5]] = None
        results.append(TaskResult(row.id, **numbers))
    store.finish("mine", "me", results)
    table, found = store.columns("mine"), store.moments("mine")
    assert found["cell"].tolist() == [0, 1, 2]
    for k in range(3):
        here = {name: values[table["cell"] == k] for name, values in table.items()}
        for name, value in _by_numpy(here).items():
            assert np.isclose(found[name][k], value, rtol=1e-9, atol=1e-12), f"{name}: {found[name][k]} for {value}"


def _by_numpy(x: dict[str, np.ndarray]) -> dict[str, float]:
    paired = ~np.isnan(x["estimate"] - x["truth"])
    e, t = x["estimate"][paired], x["truth"][paired]
    d = e - t
    ranged = ~np.isnan(x["lower"] + x["upper"] + x["truth"])
    low, high, truth = x["lower"][ranged], x["upper"][ranged], x["truth"][ranged]
    s, p = x["spread"][~np.isnan(x["spread"])], x["p_value"][~np.isnan(x["p_value"])]
    return {
        "n": len(paired),
        "n_pairs": len(d),
        "estimate": e.mean(),
        "truth": t.mean(),
        "deviation": d.mean(),
        "estimate_variance": e.var(ddof=1),
        "truth_variance": t.var(ddof=1),
        "covariance": np.cov(e, t)[0, 1],
        "deviation_variance": d.var(ddof=1),
        "deviation2": (d**2).mean(),
        "deviation3": (d**3).mean(),
        "deviation4": (d**4).mean(),
        "n_intervals": len(low),
        "covered": ((truth >= low) & (truth <= high)).sum(),
        "missed_below": (truth < low).sum(),
        "missed_above": (truth > high).sum(),
        "width": (high - low).mean(),
        "width2": ((high - low) ** 2).mean(),
        "n_spread": len(s),
        "spread": s.mean(),
        "spread2": (s**2).mean(),
        "n_p": len(p),
        "p_01": (p <= 0.01).sum(),
        "p_05": (p <= 0.05).sum(),
        "p_10": (p <= 0.1).sum(),
        "seconds": x["seconds"].sum(),
    }


def only_plain_values_are_kept(again: Open) -> None:
    """Objects, bytes and pickles are refused; texts that look like a pickle come back as the text they are."""
    store = store_with_study(again, 1, 3)
    rows = store.claim("mine", "me", 10, 60)
    bomb: Any = pickle.dumps(ValueError("opened"))
    for made in (
        TaskResult(rows[0].id, extra=bomb),
        TaskResult(rows[0].id, reason=bomb),
        TaskResult(rows[0].id, estimate=bomb),
    ):
        check_refusal(partial(store.finish, "mine", "me", [*results_of(rows[1:]), made]), rows[0].id)
    assert store.progress("mine").done == 0, "part of a refused chunk was stored"
    check_refusal(lambda: store.finish("mine", "me", [TaskResult(rows[0].id, extra="not JSON")]), "not JSON")
    check_refusal(lambda: store.keep("assessment", "bad", {"model": bomb}), "plain JSON")
    check_refusal(lambda: store.keep("assessment", "bad", {"model": object()}), "plain JSON")
    check_refusal(lambda: store.keep("assessment", "bad", bomb), "bytes")
    check_refusal(lambda: store.add_study("other", "study", {"seed": bomb}, cells_of(1), []), "plain JSON")
    text = {"model": bomb.decode("latin-1"), "list": [1, 2.5, None, True, "\0 é 漢"]}
    store.finish("mine", "me", [TaskResult(rows[0].id, estimate=0.5, extra=json.dumps(text))])
    assert json.loads(store.extras("mine")[0][2]) == text and store.extras("mine", cell=1) == []
    assert store.record(store.keep("assessment", "good", text)).payload == text
    assert store.records() and store.records()[0].payload == {}, (
        "a refused result was filed, or a listing carries payloads"
    )


def filed_results_come_back(again: Open) -> None:
    """Filed results are listed latest first and by kind, and found by number."""
    store = again()
    numbers = [store.keep(kind, f"r{k}", {"k": k}) for k, kind in enumerate(["assessment", "comparison", "assessment"])]
    assert len(set(numbers)) == 3
    assert [k.name for k in again().records()] == ["r2", "r1", "r0"]
    assert [k.name for k in store.records("assessment", limit=1)] == ["r2"]
    assert store.record(numbers[1]).payload == {"k": 1}
    check_refusal(lambda: store.record(10**6), "no filed result")


def any_name_is_only_a_name(again: Open) -> None:
    """Names with quotes, markup or signs of other scripts are kept as they are; unknown ones are refused with the known ones."""
    store = again()
    check_refusal(lambda: store.progress("mine"), "holds none yet")
    names = ["<script>alert(1)</script>", "x'; DROP TABLE tasks; --", "über/../é 漢字", "%(a)s :b ? {c}"]
    for name in names:
        store.add_study(name, "study", SPEC, [{"name": name}], [TaskRow(name, 0, 0, 0)])
        store.finish(name, name, results_of(store.claim(name, name, 1, 60)))
        assert store.progress(name).state == "done" and store.cells(name) == [{"name": name}]
    assert sorted(p.name for p in store.studies()) == sorted(names)
    check_refusal(lambda: store.spec("<script>alert(2)</script>"), "did you mean")
    for bad in ("", "  ", "a\0b", "a\udc80"):
        check_refusal(partial(store.add_study, bad, "study", SPEC, [], []), "name")


def removing_removes_one(again: Open) -> None:
    """Removing a study takes all of it and nothing of another."""
    store = store_with_study(again, 2, 3)
    store.add_study("other", "study", SPEC, cells_of(1), tasks_of(1, 3))
    for name in ("mine", "other"):
        store.finish(name, "me", results_of(store.claim(name, "me", 100, 60)))
    store.remove("mine")
    assert [p.name for p in store.studies()] == ["other"] and len(store.columns("other")["cell"]) == 3
    check_refusal(lambda: store.columns("mine"), "unknown study")
    again_mine = store_with_study(again, 2, 3)
    assert again_mine.progress("mine").done == 0, "a study added again found old results"


def reading_changes_nothing(again: Open) -> None:
    """A store opened for reading answers and refuses every change with a sentence."""
    store = store_with_study(again, 1, 3)
    rows = store.claim("mine", "me", 1, 60)
    reader = again(read_only=True)
    store.finish("mine", "me", results_of(rows))
    assert reader.progress("mine").done == 1 and len(reader.columns("mine")["cell"]) == 1
    for change in (
        lambda: reader.cancel("mine"),
        lambda: reader.keep("assessment", "x", {}),
        lambda: reader.claim("mine", "me", 1, 60),
        lambda: reader.remove("mine"),
    ):
        check_refusal(change, "reading only")


STORE_CHECKS = (
    adding_twice_changes_nothing,
    more_can_be_asked_for,
    raised_versions_run_again,
    groups_stay_together,
    no_task_goes_to_two_owners,
    results_are_stored_once,
    numbers_come_back_exactly,
    failures_are_retried_then_recorded,
    leases_run_out,
    deaths_are_bounded_and_narrowed,
    reopening_renews_all_attempts,
    released_tasks_are_as_new,
    cancelling_is_noticed,
    progress_gives_the_state,
    moments_agree_with_columns,
    only_plain_values_are_kept,
    filed_results_come_back,
    any_name_is_only_a_name,
    removing_removes_one,
    reading_changes_nothing,
)


def check_store(fresh: Callable[[], Open]) -> None:
    """Check a store against the contract.

    Parameters
    ----------
    fresh : callable
        Returns, for a new empty store each time, a function that opens it; that function takes the options `read_only` and
        `max_attempts` of `unseen.store.open_store`.

    Examples
    --------
    >>> from functools import partial
    >>> from itertools import count
    >>> from unseen.store import open_store
    >>> number = count()
    >>> check_store(lambda: partial(open_store, f"sqlite:///contract-{next(number)}.db"))
    """
    for check in STORE_CHECKS:
        check(fresh())
