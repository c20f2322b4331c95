"""What a store promises of work: no task in two hands, no failure without end, no owner mourned too early."""

from __future__ import annotations

import threading
import time

from unseen.store import TaskResult
from unseen.testing._store_samples import Open, filled, results_of

__all__ = [
    "cancelling_is_noticed",
    "deaths_are_bounded_and_narrowed",
    "failures_are_retried_then_recorded",
    "groups_stay_together",
    "leases_run_out",
    "no_task_goes_to_two_owners",
    "progress_tells_the_state",
    "released_tasks_are_as_new",
]


def groups_stay_together(again: Open) -> None:
    """A claim holds whole groups in their order, and a group larger than the limit comes whole."""
    store = filled(again, 4, 5)
    first = store.claim("mine", "a", 10, 60)
    assert [t.group for t in first] == [0] * 4 + [1] * 4, f"groups of the first claim: {[t.group for t in first]}"
    second = store.claim("mine", "b", 3, 60)
    assert [t.group for t in second] == [2] * 4, f"groups of the second claim: {[t.group for t in second]}"


def no_task_goes_to_two_owners(again: Open) -> None:
    """Many owners at once, each with a connection of its own, share the tasks without overlap or loss."""
    store = filled(again, 3, 60)
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
    store = filled(again, 1, 2, max_attempts=3)
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
    """Tasks of an owner that fell silent go to others; one that beats, or is not yet due, keeps them."""
    store = filled(again, 1, 4)
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
    store = filled(again, 1, 100, max_attempts=3)
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


def released_tasks_are_as_new(again: Open) -> None:
    """Releasing costs no attempt, ends the owner's presence, and may leave some tasks out."""
    store = filled(again, 1, 6, max_attempts=1)
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
    store, elsewhere = filled(again, 1, 5), again()
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


def progress_tells_the_state(again: Open) -> None:
    """Waiting, running, partial and done follow each other; the estimate of time left is there while someone works."""
    store = filled(again, 1, 4)
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
