"""Full disks, locked files and servers that go away: a clear message, nothing lost, and the study goes on."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time

import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from sqlalchemy import event

from unseen.core.errors import InputError, PartialRun
from unseen.core.rng import stream
from unseen.engine.events import Silent
from unseen.store import StoreBusy, StoreFull, StoreLost, TaskResult, TaskRow, open_store
from unseen.study.driver import drive


class Heard(Silent):
    def __init__(self):
        self.words = []

    def say(self, text):
        self.words.append(text)


def add(store, replications=100):
    rows = [TaskRow(f"{c}-{r}", c, r, r) for r in range(replications) for c in range(2)]
    store.add_study("mine", "study", {"seed": 1}, [{"k": 0}, {"k": 1}], rows)


def make_runner(seconds=0.0, extra=""):
    def runner(spec, cells, rows):
        time.sleep(seconds * len(rows))
        return [TaskResult(r.id, estimate=stream(1, r.cell, r.replication).random(), extra=extra) for r in rows]

    return runner


def expected(replications=100):
    return [stream(1, c, r).random() for c in range(2) for r in range(replications)]


def limit_pages(store, pages):
    """Let the database grow to so many pages and no more."""

    @event.listens_for(store.engine, "begin", insert=True)
    def limit(connection):
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_is_told_nothing_is_lost_and_the_study_goes_on(tmp_path):
    long_text = '"' + "x" * 2000 + '"'
    with open_store(tmp_path / "a.db") as store:
        add(store)
        with store.engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        limit_pages(store, pages + 30)
        with pytest.raises(PartialRun, match=r"(?s)disk or quota of the store .*a.db is full.*are kept") as caught:
            drive(store, "mine", runner=make_runner(extra=long_text), chunk=10)
        assert isinstance(caught.value.__cause__, StoreFull)
        assert caught.value.exit_code == 3
    with open_store(tmp_path / "a.db") as store:
        before = store.columns("mine")
        assert 0 < len(before["cell"]) < 200
        assert len(store.extras("mine")) == len(before["cell"]), "a chunk was half stored"
        assert drive(store, "mine", runner=make_runner(extra=long_text)).state == "done"
        assert store.columns("mine")["estimate"].tolist() == expected()
        assert store.failures("mine") == []


def test_a_locked_database_is_told(tmp_path):
    with open_store(tmp_path / "a.db", busy_seconds=0.1) as store:
        add(store)
        other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"a.db is locked by another process"):
            store.claim("mine", "me", 1, 60)
        assert store.progress("mine").done == 0, "a reader had to wait for the writer"
        with pytest.raises(PartialRun, match=r"locked by another process.*resume"):
            drive(store, "mine", runner=make_runner(), patience=0.3)
        other.execute("ROLLBACK")
        assert drive(store, "mine", runner=make_runner()).state == "done"
        assert store.columns("mine")["estimate"].tolist() == expected()


def test_a_driver_waits_for_a_lock_to_go(tmp_path):
    with open_store(tmp_path / "a.db", busy_seconds=0.05) as store:
        add(store)
        locked = threading.Event()

        def lock():
            other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            locked.set()
            time.sleep(0.8)
            other.execute("ROLLBACK")

        thread = threading.Thread(target=lock)
        thread.start()
        locked.wait()
        heard = Heard()
        assert drive(store, "mine", runner=make_runner(), reporter=heard, patience=60).state == "done"
        thread.join()
        assert "locked by another process" in heard.words[0]
        assert "Waiting up to 60 s" in heard.words[0]
        assert heard.words[-1] == "the store answers again; the study goes on."
        assert store.columns("mine")["estimate"].tolist() == expected()


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("mode", ["immediate", "fast"])
def test_a_driver_waits_while_postgres_restarts(restartable_postgres, mode):
    server = restartable_postgres
    with open_store(server.new_database()) as store:
        add(store)
        heard, ran = Heard(), []

        def restart():
            while len(ran) < 6:
                time.sleep(0.01)
            server.stop(mode)
            time.sleep(1.0)
            server.start()

        slow = make_runner(0.005)

        def watched(spec, cells, rows):
            ran.extend(row.id for row in rows)
            return slow(spec, cells, rows)

        thread = threading.Thread(target=restart)
        thread.start()
        progress = drive(store, "mine", runner=watched, chunk=4, reporter=heard, patience=60)
        thread.join()
        assert progress.state == "done"
        assert "cannot reach the store" in heard.words[0]
        assert "Waiting up to 60 s" in heard.words[0]
        assert heard.words[-1] == "the store answers again; the study goes on."
        assert store.columns("mine")["estimate"].tolist() == expected()
        assert len(ran) == len(set(ran)) == 200, "a task ran twice although its result, or its lease, was kept"
        assert store.owners("mine") == []


@pytest.mark.slow
@pytest.mark.sample
def test_a_driver_gives_up_on_a_postgres_that_stays_away_and_the_study_resumes(restartable_postgres):
    server = restartable_postgres
    with open_store(server.new_database()) as store:
        add(store)
        ran = []

        def stopping(spec, cells, rows):
            ran.extend(rows)
            if len(ran) == 12:
                server.stop("immediate")
            return make_runner()(spec, cells, rows)

        with pytest.raises(
            PartialRun, match=r"cannot reach the store.*everything finished before is kept, resume"
        ) as caught:
            drive(store, "mine", runner=stopping, chunk=4, patience=0.5, lease_seconds=3)
        assert isinstance(caught.value.__cause__, StoreLost)
        server.start()
        assert store.progress("mine").done == 8
        assert drive(store, "mine", runner=make_runner(), lease_seconds=3).state == "done"
        assert store.columns("mine")["estimate"].tolist() == expected()


def test_a_claim_whose_answer_was_lost_is_given_back(tmp_path):
    """The worst moment: the claim is committed and the connection breaks before the driver hears of it."""
    with open_store(tmp_path / "a.db") as store:
        add(store, 20)
        claim, calls = store.claim, []

        def losing(*args):
            rows = claim(*args)
            calls.append(len(rows))
            if len(calls) == 2:
                raise StoreLost("the answer was lost.")
            return rows

        store.claim = losing
        assert drive(store, "mine", runner=make_runner(), chunk=4, patience=5).state == "done"
        assert store.columns("mine")["estimate"].tolist() == expected(20)


def test_a_result_whose_answer_was_lost_is_stored_once(tmp_path):
    with open_store(tmp_path / "a.db") as store:
        add(store, 20)
        finish, calls = store.finish, []

        def losing(*args):
            new = finish(*args)
            calls.append(new)
            if len(calls) == 2:
                raise StoreLost("the answer was lost.")
            return new

        store.finish = losing
        assert drive(store, "mine", runner=make_runner(), chunk=4, patience=5).state == "done"
        assert calls[1] == 4
        assert calls[2] == 0
        assert store.columns("mine")["estimate"].tolist() == expected(20)


def test_a_second_ctrl_c_does_not_wait_for_a_store_that_is_away(tmp_path):
    with open_store(tmp_path / "a.db") as store:
        add(store, 5)

        def away(*args):
            os.kill(os.getpid(), signal.SIGINT)
            raise StoreLost("the server is away.")

        store.claim = away
        start = time.monotonic()
        with pytest.raises((PartialRun, KeyboardInterrupt)):
            drive(store, "mine", runner=make_runner(), patience=60)
        assert time.monotonic() - start < 10


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("ending", ["csv", "tex"])
def test_an_export_to_a_full_disk_is_told(ending, tmp_path):
    pytest.importorskip("pydantic", reason="pydantic is not installed")
    import unseen

    spec = {
        "replications": 3,
        "sizes": [20],
        "populations": ["gaussian-blocks"],
        "models": ["knn:3"],
        "methods": ["resub"],
        "n_test": 100,
    }
    study = unseen.Study("mine", tmp_path / "a.db").run(spec, n_jobs=1)
    os.symlink("/dev/full", tmp_path / f"full.{ending}")
    with pytest.raises(InputError, match="No space left on device"):
        study.export(tmp_path / f"full.{ending}")
    assert study.status().state == "done"
