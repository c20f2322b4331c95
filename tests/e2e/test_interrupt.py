"""Ctrl-C: workers end at once, what was kept is said, no child process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import sys, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
import unseen

class Slow(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0.3)
        return self
    def predict(self, X):
        return np.full(len(X), self.classes_[0])

if __name__ == "__main__":
    X, y = unseen.datasets.load("iris").xy
    try:
        unseen.run(Slow(), X, y, design=unseen.designs.MonteCarlo(0.1, 400), random_state=0, n_jobs=2)
    except KeyboardInterrupt as stop:
        print(type(stop).__name__, stop, flush=True)
        sys.exit(9)
"""


def children_of(pid: int) -> list[int]:
    """Return every live descendant of a process."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(path.parent.name)] = int(fields[1])
    found, frontier = [], {pid}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier}
        found += frontier
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds: float):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    return condition()


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize("moment", [0.0, 1.0], ids=["starting", "running"])
@pytest.mark.parametrize("whole_group", [True, False], ids=["terminal", "driver-only"])
def test_ctrl_c_ends_the_workers_and_says_what_was_kept(tmp_path, whole_group, moment):
    script = tmp_path / "slow.py"
    script.write_text(SCRIPT)
    driver = subprocess.Popen(
        [sys.executable, str(script), "0.3"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    workers = wait_until(lambda: len(children_of(driver.pid)) >= 2 and children_of(driver.pid), 60)
    assert workers, "no workers were started"
    time.sleep(moment)
    begin = time.monotonic()
    (os.killpg if whole_group else os.kill)(driver.pid, signal.SIGINT)
    out, err = driver.communicate(timeout=30)
    assert time.monotonic() - begin < 10
    assert driver.returncode == 9, err
    assert out.startswith("Stopped stopped after ")
    assert "of 400 fits of monte-carlo" in out
    assert wait_until(lambda: not any(map(is_alive, workers)), 10)
    assert err == ""
