"""What was tried to break the package from outside: lost machines, large files, places that cannot be written, strict warnings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unseen
from unseen.core.errors import FitError, PartialRun
from unseen.engine import where
from unseen.engine.run import execute
from unseen.testing._samples import Centroids, sample

UNSEEN = [sys.executable, "-m", "unseen"]

SCHEDULER = """
import asyncio, sys
from distributed import Scheduler

async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""
WORKER = """
import asyncio, sys
from distributed import Worker

async def main():
    async with Worker(sys.argv[1], nthreads=1, dashboard=False, host="127.0.0.1") as worker:
        print("here", flush=True)
        await worker.finished()

asyncio.run(main())
"""


class Slow(Centroids):
    def fit(self, data, seed):
        time.sleep(0.03)
        return super().fit(data, seed)


@contextmanager
def process(code, *words):
    """Run code in a process of its own that imports what this one does; yield it once it has said its first line."""
    found = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}
    child = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | found,
    )
    try:
        child.line = child.stdout.readline().strip()
        yield child
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.fixture
def splits():
    data = sample()
    return data, unseen.designs.LeaveOut(0.25, 120).plan(data, np.random.default_rng(3))


@pytest.fixture
def impatient(monkeypatch, distributed):
    monkeypatch.setattr(where, "PATIENCE", "3s")  # how long a scheduler that went away is waited for
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.filterwarnings("ignore")
class TestCluster:
    def test_a_scheduler_killed_in_mid_run_ends_in_a_sentence(self, impatient, splits):
        data, plan = splits
        with process(SCHEDULER) as scheduler, process(WORKER, scheduler.line), where.using(scheduler.line):
            threading.Timer(1.0, scheduler.kill).start()
            with pytest.raises(FitError, match="scheduler is gone"):
                execute(Slow(), data, plan, seed=5)

    def test_a_study_whose_scheduler_is_killed_is_resumed_with_the_same_numbers(self, impatient, tmp_path):
        pytest.importorskip("sqlalchemy")
        from unseen.core.rng import stream
        from unseen.store import TaskResult, TaskRow, open_store
        from unseen.study.driver import drive

        def runner(spec, cells, rows):
            time.sleep(0.05 * len(rows))
            return [TaskResult(r.id, estimate=stream(1, r.cell, r.replication).random()) for r in rows]

        with open_store(tmp_path / "s.db") as store:
            rows = [TaskRow(f"0-{r}", 0, r, r) for r in range(60)]
            store.add_study("mine", "study", {"seed": 1}, [{"k": 0}], rows)
            with process(SCHEDULER) as scheduler, process(WORKER, scheduler.line):
                threading.Timer(1.5, scheduler.kill).start()
                with pytest.raises(PartialRun, match=r"resume mine"):
                    drive(store, "mine", runner=runner, scheduler=scheduler.line, chunk=2)
            assert store.progress("mine").done < 60
            assert drive(store, "mine", runner=runner, chunk=20).state == "done"
            expected = [stream(1, 0, r).random() for r in range(60)]
            assert store.columns("mine")["estimate"].tolist() == expected

    def test_a_preempted_worker_is_waited_for_and_changes_no_number(self, impatient, splits):
        """The only worker is killed, and another one joins a second later, as a queue of a cluster does it."""
        data, plan = splits
        quiet = execute(Centroids(), data, plan, seed=5)
        made = {}
        with process(SCHEDULER) as scheduler, process(WORKER, scheduler.line) as first, where.using(scheduler.line):

            def preempt():
                time.sleep(0.8)
                first.send_signal(signal.SIGTERM)
                first.wait()
                time.sleep(1.0)
                made["next"] = process(WORKER, scheduler.line)
                made["next"].__enter__()

            thread = threading.Thread(target=preempt)
            thread.start()
            try:
                table = execute(Slow(), data, plan, seed=5)
            finally:
                thread.join()
                made["next"].__exit__(None, None, None)
        assert not table.failures
        assert np.array_equal(table.test.value, quiet.test.value)


@pytest.mark.slow
@pytest.mark.sample
def test_several_workers_of_a_study_are_killed_and_it_is_resumed(tmp_path):
    """Workers die by SIGKILL at three moments and the driver has a deadline; two runs later every number is there once."""
    pytest.importorskip("sqlalchemy")
    import cloudpickle

    from unseen.core.rng import stream
    from unseen.store import TaskResult, TaskRow, open_store
    from unseen.study.driver import drive

    side = tmp_path / "side"
    side.touch()

    def runner(spec, cells, rows):
        with open(side, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(0.02 * len(rows))
        return [TaskResult(r.id, estimate=stream(1, r.cell, r.replication).random()) for r in rows]

    killed = []
    over = threading.Event()

    def kill():
        while len(killed) < 3 and not over.is_set():
            seen = [int(pid) for pid in side.read_text().split() if int(pid) not in killed]
            if len(seen) > 3:
                try:
                    os.kill(seen[-1], signal.SIGKILL)
                except ProcessLookupError:
                    continue
                killed.append(seen[-1])
            time.sleep(0.3)

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        with open_store(tmp_path / "s.db") as store:
            rows = [TaskRow(f"0-{r}", 0, r, r) for r in range(120)]
            store.add_study("mine", "study", {"seed": 1}, [{"k": 0}], rows)
            thread = threading.Thread(target=kill)
            thread.start()
            drive(store, "mine", runner=runner, n_jobs=3, chunk=2, stop_after=6.0)
            over.set()
            thread.join()
            final = drive(store, "mine", runner=runner, chunk=40)
            assert killed
            assert (final.state, final.done, final.failed) == ("done", 120, 0)
            assert store.columns("mine")["estimate"].tolist() == [stream(1, 0, r).random() for r in range(120)]
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


class TestLargeFiles:
    @pytest.mark.slow
    @pytest.mark.sample
    def test_ten_thousand_columns(self, run_unseen, tmp_path):
        rng = np.random.default_rng(0)
        y = np.arange(40) % 2
        X = rng.normal(size=(40, 10_000))
        X[:, :500] += y[:, None]  # so far apart that every rule that uses all columns tells them
        frame = pd.DataFrame(X.astype(np.float32), columns=[f"gene{k}" for k in range(10_000)]).assign(y=y)
        frame.to_parquet(tmp_path / "wide.parquet")
        done = run_unseen("assess", tmp_path / "wide.parquet", "-t", "y", "-m", "ridge", "--quick", "--json", "-q")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["n"] == 40
        assert found["error"] < 0.05

    @pytest.mark.slow
    def test_one_million_rows_of_predictions(self, run_unseen, tmp_path):
        """Against closed forms: the share of errors and its standard error are those of a binomial."""
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 1_000_000)
        p = np.clip(0.3 + 0.4 * y + rng.normal(0, 0.2, y.size), 0.001, 0.999)
        pd.DataFrame({"y": y, "p": p}).to_parquet(tmp_path / "long.parquet")
        words = ("--truth", "y", "--score", "p", "--positive", "1", "--measure", "accuracy,auc", "--json", "-q")
        done = run_unseen("measure", tmp_path / "long.parquet", *words)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)["measures"]
        share = np.mean((p >= 0.5) == y)
        assert found["accuracy"]["value"] == pytest.approx(share, abs=1e-12)
        assert found["accuracy"]["std_error"] == pytest.approx(np.sqrt(share * (1 - share) / y.size), rel=1e-6)
        from scipy.stats import norm

        # equal normal scores 0.4 apart with sd 0.2; clipping touches both tails alike and ties are rare
        assert found["auc"]["value"] == pytest.approx(norm.cdf(0.4 / (0.2 * np.sqrt(2))), abs=0.002)

    @pytest.mark.slow
    def test_one_million_rows_are_assessed(self, run_unseen, tmp_path):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 1_000_000)
        X = rng.normal(size=(y.size, 2)).astype(np.float32) + y[:, None]
        np.savez(tmp_path / "long.npz", X=X, y=y)
        done = run_unseen("assess", tmp_path / "long.npz", "-m", "naive-bayes", "--quick", "--json", "-q")
        assert done.returncode == 0, done.stderr
        from scipy.stats import norm

        value = json.loads(done.stdout)["error"]
        assert value == pytest.approx(norm.cdf(-np.sqrt(2) / 2), abs=0.002)  # two normals sqrt 2 apart


OUTPUTS = {
    "a file in place of the folder": "taken/report.html",
    "a folder that does not take files": "/proc/report.html",
    "a folder": ".",
}


@pytest.mark.parametrize("where_to", OUTPUTS.values(), ids=OUTPUTS)
@pytest.mark.parametrize("option", ["--report", "--save", "--store"])
def test_places_that_cannot_be_written_are_refused_before_anything_is_computed(option, where_to, run_unseen, tmp_path):
    (tmp_path / "taken").write_text("mine")
    before = sorted(p.name for p in tmp_path.iterdir())
    began = time.process_time()
    done = run_unseen("assess", "iris", "-m", "dummy", "--quick", option, where_to, "-q", cwd=tmp_path)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert "internal" not in done.stderr
    assert time.process_time() - began < 5
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.sample
def test_no_cache_can_be_written(tmp_path):
    """Home, cache and temporary files of the plotting library all point at what takes no files; the report is the same."""
    (tmp_path / "taken").write_text("")
    nowhere = {name: str(tmp_path / "taken") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR")}
    words = [*UNSEEN, "assess", "iris", "-m", "knn:3", "--quick", "-q", "--report", "r.html"]
    env = os.environ | nowhere | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "r.html").read_text()
    assert "Traceback" not in done.stderr


STRICT = {
    "assess": ["assess", "iris", "-m", "logistic", "--quick", "--report", "r.html"],
    "numbers": ["assess", "diabetes", "-m", "ridge", "--quick"],
    "compare": ["compare", "iris", "-m", "knn:3", "-m", "lda", "--test", "5x2cv"],
    "measure": ["measure", "p.csv", "--truth", "y", "--score", "p", "--positive", "1"],
    "power": ["power", "--n", "100", "--difference", "0.1", "--disagreement", "0.3"],
    "kinetics": ["kinetics", "simulate", "--out", "k.csv", "--subjects", "1"],
}


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("words", STRICT.values(), ids=STRICT)
def test_with_every_warning_an_error(words, tmp_path):
    """As under `python -W error`: what users make of warnings must not change an answer into a crash."""
    (tmp_path / "p.csv").write_text("y,p\n" + "\n".join(f"{k % 2},{0.2 + 0.05 * (k % 13)}" for k in range(40)) + "\n")
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-W", "error", "-m", "unseen", *words, "-q"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-800:]
    assert "Warning" not in done.stderr
