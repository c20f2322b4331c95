"""The driver: same numbers wherever tasks run, bounded retries, orderly stops, shared work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

import unseen.study.driver as driver
from unseen.core.errors import InputError, PartialRun, Paused
from unseen.core.rng import stream
from unseen.engine.events import Silent
from unseen.store import TaskResult, TaskRow, open_store
from unseen.study.driver import drive
from unseen.study.lease import is_dead, new_owner

# workers cannot import a test module; its functions travel by value, as those of a user's script do
cloudpickle.register_pickle_by_value(sys.modules[__name__])

PROCESS = Path(__file__).with_name("driver_process.py")


def add(store, cells=3, replications=20, name="mine"):
    rows = (TaskRow(f"{c:03d}-{r:05d}", c, r, r) for r in range(replications) for c in range(cells))
    store.add_study(name, "study", {"seed": 5, "marker": "spec"}, [{"method": f"m{k}"} for k in range(cells)], rows)


def estimate_of(row):
    return stream(5, row.cell, row.replication).random()


def plain(spec, cells, rows):
    assert spec["marker"] == "spec"
    assert len(cells) == 3
    return [TaskResult(row.id, estimate=estimate_of(row), seconds=0.001) for row in rows]


def estimates(store, name="mine"):
    table = store.columns(name)
    return [(c, r, e) for c, r, e in zip(table["cell"], table["replication"], table["estimate"])]


def expected(cells=3, replications=20):
    return [(c, r, estimate_of(TaskRow("", c, r, r))) for c in range(cells) for r in range(replications)]


class Heard(Silent):
    def __init__(self):
        self.words, self.done, self.failed, self.expected = [], 0, 0, 0

    def say(self, text):
        self.words.append(text)

    def expect(self, fits, label):
        self.expected += fits

    def advance(self, fits, failed=0):
        self.done += fits
        self.failed += failed


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store.db") as made:
        yield made


@pytest.mark.parametrize("options", [{}, {"chunk": 1}, {"chunk": 7}, {"n_jobs": 2, "chunk": 4}], ids=str)
def test_the_same_numbers_wherever_tasks_run(store, options):
    add(store)
    heard = Heard()
    progress = drive(store, "mine", runner=plain, reporter=heard, **options)
    assert (progress.state, progress.done, progress.claimed) == ("done", 60, 0)
    assert estimates(store) == expected()
    assert (heard.expected, heard.done, heard.failed) == (60, 60, 0)
    assert store.owners("mine") == []
    assert drive(store, "mine", runner=None) == store.progress("mine")


def test_only_what_is_missing_runs(store):
    add(store, replications=10)
    drive(store, "mine", runner=plain)
    add(store, replications=15)
    seen = []

    def watching(spec, cells, rows):
        seen.extend((row.cell, row.replication) for row in rows)
        return plain(spec, cells, rows)

    drive(store, "mine", runner=watching)
    assert sorted(seen) == [(c, r) for c in range(3) for r in range(10, 15)]
    assert estimates(store) == expected(replications=15)


def test_chunks_take_about_the_time_they_should_and_hold_whole_groups(store, monkeypatch):
    monkeypatch.setattr(driver, "CHUNK_SECONDS", 0.1)
    add(store, replications=120)
    chunks = []

    def slow(spec, cells, rows):
        chunks.append(rows)
        time.sleep(0.002 * len(rows))
        return plain(spec, cells, rows)

    drive(store, "mine", runner=slow)
    assert len(chunks[0]) == 3
    assert 9 <= max(map(len, chunks)) <= 60
    for rows in chunks:
        counts = Counter(row.group for row in rows)
        assert set(counts.values()) == {3}, "a group was cut"


@pytest.mark.slow
@pytest.mark.sample
def test_memory_does_not_grow_with_the_number_of_tasks(tmp_path):
    def peak(replications):
        with open_store(tmp_path / f"{replications}.db") as store:
            add(store, replications=replications)
            drive(store, "mine", runner=plain, stop_after=0.0)
            tracemalloc.start()
            drive(store, "mine", runner=plain, chunk=200)
            top = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return top

    peak(100)
    few, many = peak(200), peak(2000)
    assert many < few + 500_000, f"{few} bytes for 600 tasks, {many} for 6,000"


def test_failures_are_tried_again_and_then_told(store):
    add(store)
    runs = Counter()

    def failing(spec, cells, rows):
        runs.update(row.id for row in rows)
        results = plain(spec, cells, rows)
        bad = [k for k, row in enumerate(rows) if row.cell == 1 and row.replication == 3]
        for k in bad:
            results[k] = TaskResult(rows[k].id, reason="no convergence")
        once = [r for r in results if r.task == "002-00007" and runs[r.task] == 1]
        return [r for r in results if r not in once]

    heard = Heard()
    progress = drive(store, "mine", runner=failing, reporter=heard)
    assert (progress.state, progress.done, progress.failed) == ("partial", 59, 1)
    assert runs["001-00003"] == 3
    assert runs["002-00007"] == 2
    assert store.failures("mine") == [{"cell": 1, "replication": 3, "attempts": 3, "reason": "no convergence"}]
    assert (heard.done, heard.failed) == (60, 1)


def test_a_runner_that_raises_fails_its_chunk_with_the_reason(store):
    add(store, replications=2)

    def broken(spec, cells, rows):
        raise ZeroDivisionError("oh\nno")

    progress = drive(store, "mine", runner=broken)
    assert (progress.state, progress.failed) == ("partial", 6)
    assert {f["reason"] for f in store.failures("mine")} == {"ZeroDivisionError: oh"}


def deadly(spec, cells, rows):
    """Kill the worker that runs one certain task."""
    for row in rows:
        if row.id == "001-00003":
            os.kill(os.getpid(), signal.SIGKILL)
    return [TaskResult(row.id, estimate=estimate_of(row), seconds=0.001) for row in rows]


@pytest.mark.slow
@pytest.mark.sample
def test_a_task_that_kills_its_worker_is_found_and_recorded(store):
    add(store, replications=6)
    progress = drive(store, "mine", runner=deadly, n_jobs=2, chunk=6)
    assert (progress.state, progress.done, progress.failed) == ("partial", 17, 1)
    (failure,) = store.failures("mine")
    assert (failure["cell"], failure["replication"], failure["attempts"]) == (1, 3, 3)
    assert "worker died" in failure["reason"]


def test_workers_that_cannot_live_end_the_run_with_a_sentence(store, monkeypatch):
    monkeypatch.setattr(driver, "MOST_LOSSES", 1)
    add(store, replications=30)

    def never(spec, cells, rows):
        os._exit(1)

    with pytest.raises(PartialRun, match=r"workers died .* times in a row.*0 of 90 tasks .* are kept.*resume mine"):
        drive(store, "mine", runner=never, n_jobs=2, chunk=8)
    assert store.progress("mine").claimed == 0


def test_what_workers_cannot_load_ends_the_run_with_a_sentence(store, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def runner(spec, cells, rows):\n    return []\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    import only_here

    (tmp_path / "only_here.py").unlink()
    add(store)
    with pytest.raises(PartialRun, match=r"cannot load what they are to run: ModuleNotFoundError.*only_here.*0 of 60"):
        drive(store, "mine", runner=only_here.runner, n_jobs=2)


def test_a_deadline_leaves_a_resumable_study(store):
    add(store, replications=200)

    def slow(spec, cells, rows):
        time.sleep(0.005 * len(rows))
        return plain(spec, cells, rows)

    start = time.monotonic()
    progress = drive(store, "mine", runner=slow, chunk=3, stop_after=0.3)
    assert time.monotonic() - start < 20
    assert progress.state == "partial"
    assert 0 < progress.done < 600
    assert progress.claimed == 0
    assert drive(store, "mine", runner=plain).state == "done"
    assert estimates(store) == expected(replications=200)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cancellation_by_someone_else_is_noticed(store, tmp_path, n_jobs):
    add(store, replications=2000)

    def slow(spec, cells, rows):
        time.sleep(0.01 * len(rows))
        return [TaskResult(row.id, estimate=estimate_of(row)) for row in rows]

    def cancel():
        with open_store(tmp_path / "store.db") as other:
            while other.progress("mine").done < 6:
                time.sleep(0.05)
            other.cancel("mine")

    thread = threading.Thread(target=cancel)
    thread.start()
    progress = drive(store, "mine", runner=slow, chunk=3, n_jobs=n_jobs, lease_seconds=0.9)
    thread.join()
    assert progress.state == "cancelled"
    assert 6 <= progress.done < 3000
    assert progress.claimed == 0
    with pytest.raises(InputError, match="was cancelled"):
        drive(store, "mine", runner=plain)
    store.reopen("mine")
    assert drive(store, "mine", runner=plain, chunk=500).state == "done"
    assert estimates(store) == expected(replications=2000)


def test_tasks_of_a_driver_that_fell_silent_are_waited_for_and_taken(store):
    add(store)
    store.claim("mine", "a driver on another machine", 10, 1.0)
    heard = Heard()
    start = time.monotonic()
    assert drive(store, "mine", runner=plain, reporter=heard, lease_seconds=2.0).state == "done"
    assert time.monotonic() - start > 0.5
    assert estimates(store) == expected()
    assert any(words == "waiting for 9 tasks of other drivers" for words in heard.words)


def test_owners_that_are_dead_are_told_from_those_that_live():
    made = subprocess.run(
        [sys.executable, "-c", "from unseen.study.lease import new_owner; print(new_owner())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert is_dead(made)
    assert not is_dead(new_owner())
    host, machine, pid, start, token = new_owner().split("|")
    assert is_dead("|".join([host, machine, pid, str(int(start) - 1), token])), "an earlier process with this number"
    assert not is_dead("|".join([host, "another", "999999999", start, token])), "a process nobody can see from here"


def start_driver(url, side, seconds, n_jobs=1):
    command = [sys.executable, str(PROCESS), str(url), str(side), str(seconds), str(n_jobs)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("n_jobs", "sign"), [(1, signal.SIGINT), (2, signal.SIGINT), (1, signal.SIGTERM)])
def test_ctrl_c_gives_back_what_was_under_way_and_says_what_is_kept(store, tmp_path, n_jobs, sign):
    add(store, replications=200)
    running = start_driver(tmp_path / "store.db", tmp_path / "side", 0.02, n_jobs)
    wait_for(lambda: store.progress("mine").done >= 10)
    if sign == signal.SIGINT:
        os.killpg(running.pid, sign)  # as a terminal does
    else:
        running.send_signal(sign)
    errors = running.communicate(timeout=60)[1]
    now = store.progress("mine")
    assert running.returncode == 3, errors
    assert f"stopped: {now.done} of 600 tasks of the study 'mine' are kept" in errors
    assert "given back" in errors
    assert "resume mine" in errors
    assert "Traceback" not in errors
    assert (now.state, now.claimed) == ("partial", 0)
    assert drive(store, "mine", runner=plain).state == "done"
    assert estimates(store) == expected(replications=200)


@pytest.mark.slow
@pytest.mark.sample
def test_workers_end_when_their_driver_is_killed(store, tmp_path):
    add(store, replications=200)
    running = start_driver(tmp_path / "store.db", tmp_path / "side", 0.02, 2)
    wait_for(lambda: store.progress("mine").done >= 10)
    workers = {int(line.split()[1]) for line in (tmp_path / "side").read_text().splitlines()}
    running.kill()
    running.communicate()
    assert running.pid not in workers
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), 20)
    assert drive(store, "mine", runner=plain).state == "done"
    assert estimates(store) == expected(replications=200)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_two_drivers_share_the_work(database, tmp_path, request):
    if database == "sqlite":
        url = f"sqlite:///{tmp_path / 'store.db'}"
    else:
        url = request.getfixturevalue("postgres").new_database()
    with open_store(url) as store:
        add(store, replications=100)
        drivers = [start_driver(url, tmp_path / "side", 0.005) for _ in range(2)]
        errors = [d.communicate(timeout=120)[1] for d in drivers]
        assert [d.returncode for d in drivers] == [0, 0], errors
        runs = [line.split() for line in (tmp_path / "side").read_text().splitlines()]
        assert len(runs) == len({task for task, _ in runs}) == 300, "a task ran twice although no lease ran out"
        shares = Counter(process for _, process in runs)
        assert len(shares) == 2
        assert min(shares.values()) > 20, f"one driver did nearly everything: {shares}"
        assert estimates(store) == expected(replications=100)


def test_misuse_is_told(store):
    add(store)
    with pytest.raises(InputError, match="lease_seconds is 0"):
        drive(store, "mine", runner=plain, lease_seconds=0)
    with pytest.raises(InputError, match="chunk is 0"):
        drive(store, "mine", runner=plain, chunk=0)
    with pytest.raises(InputError, match="unknown study 'mien': did you mean 'mine'"):
        drive(store, "mien", runner=plain)
    pytest.importorskip("distributed", reason="distributed is not installed")
    with pytest.raises(InputError, match=r"^scheduler is 'locl:2'; it must be"):
        drive(store, "mine", runner=plain, scheduler="locl:2")


def test_a_pause_is_a_keyboard_interrupt_for_callers_who_catch_that(store):
    add(store)

    def pressing(spec, cells, rows):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
        return []

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Paused, match="0 of 60 tasks"):
        drive(store, "mine", runner=pressing)
    assert signal.getsignal(signal.SIGINT) is before
    assert issubclass(Paused, KeyboardInterrupt)


@pytest.mark.slow  # test_study_stored asks the same of a study
def test_numbers_of_the_real_runner_do_not_depend_on_workers(store):
    pytest.importorskip("pydantic", reason="pydantic is not installed")
    from unseen.study.spec import as_spec

    spec = {
        "replications": 6,
        "sizes": [20],
        "populations": ["gaussian-blocks"],
        "models": ["knn:3", "lda"],
        "methods": ["resub", "bolster"],
        "n_test": 200,
    }
    tables = []
    for name, options in (("one", {}), ("two", {"n_jobs": 2, "chunk": 2})):
        made = as_spec(spec, name)
        store.add_study(name, "study", made.to_dict(), made.cells(), made.tasks())
        assert drive(store, name, **options).state == "done"
        tables.append(store.columns(name))
    for column in ("estimate", "truth", "lower", "upper", "spread"):
        assert np.array_equal(tables[0][column], tables[1][column], equal_nan=True), f"{column} depends on the workers"
