"""The dashboard's study pages asked for by 20 clients at once while the study runs: time of an answer, errors, memory."""

from __future__ import annotations

import csv
import http.client
import io
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.timing import Time, largest_difference, row, same_value

CLIENTS = 20
SECONDS = 20.0
PAUSE = 0.5  # between two pages of one client: nobody reads faster
SPEC = """name = "load"
seed = 1
replications = 20000
sizes = [20]
n_test = 50
[[populations]]
id = "gaussian-blocks"
[[models]]
model = "knn:3"
[[methods]]
id = "resub"
[[methods]]
id = "holdout"
"""


@dataclass(frozen=True)
class Load:
    """What the clients saw: seconds of each answer, statuses other than 200; the server's memory in MiB and CPU seconds.

    `done` tasks and the `means` of estimates, by cell, are what the pages say once the study is stopped; `kept` and
    `expected` are those of its store by SQL.
    """

    seconds: np.ndarray
    bad: list[int]
    memory: list[float]
    cpu: float
    done: int = 0
    kept: int = 0
    means: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()


@contextmanager
def child(words: list[str], folder: Path, **options) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen([sys.executable, "-m", "unseen", *words], cwd=folder, text=True, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def get(port: int, target: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def load(seconds: float = SECONDS, clients: int = CLIENTS) -> Load:
    """Start a study and a dashboard, and let clients walk through the study's pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "load.toml").write_text(SPEC)
        study = child(["study", "run", "load.toml", "--store", "s.db", "-q"], folder, stdout=subprocess.DEVNULL)
        board = child(["serve", "--store", "s.db", "--port", "0"], folder, stderr=subprocess.PIPE)
        with study as driver:
            until = time.monotonic() + 120
            while not (folder / "s.db").exists() and time.monotonic() < until:
                time.sleep(0.1)
            time.sleep(1.0)
            with board as server:
                port = int(re.search(r"http://[^/]*:(\d+)/", server.stderr.readline())[1])
                seen = _walk(server, port, seconds, clients)
                driver.kill()
                driver.wait()
                return _with_pages(seen, port, folder / "s.db")


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of another process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def study_of(port: int) -> str:
    """Return the address of the only study."""
    return re.search(r'href="(/studies/[^"/]+)"', get(port, "/")[1])[1]


def _with_pages(seen: Load, port: int, base: Path) -> Load:
    """Add what the pages say of a study that has stopped, and what its store says."""
    study = study_of(port)
    with closing(sqlite3.connect(base)) as store:
        kept = store.execute("SELECT COUNT(*) FROM results").fetchone()[0]
        means = store.execute("SELECT AVG(estimate - truth) FROM results GROUP BY cell ORDER BY cell").fetchall()
    until = time.monotonic() + 30
    done = -1
    while done != kept and time.monotonic() < until:  # the page looks at the store once a second
        time.sleep(0.5)
        found = re.search(r"(\d[\d,]*) of", get(port, study)[1])
        done = int(found[1].replace(",", "")) if found else -1
    table = list(csv.DictReader(io.StringIO(get(port, f"{study}/summary.csv")[1])))
    biases = tuple(float(line["bias"]) for line in table)
    return replace(seen, done=done, kept=kept, means=biases, expected=tuple(mean for (mean,) in means))


def _walk(server: subprocess.Popen, port: int, seconds: float, clients: int) -> Load:
    study = study_of(port)
    targets = ["/", study, f"{study}/live", f"{study}/cells", f"{study}/failures", f"{study}/summary.csv"]
    for target in targets:
        get(port, target)  # the first look at a page makes its figures
    begin = cpu_of(server.pid)
    times: list[float] = []
    bad: list[int] = []
    end = time.monotonic() + seconds

    def client(number: int) -> None:
        k = number
        while time.monotonic() < end:
            start = time.perf_counter()
            status, _ = get(port, targets[k % len(targets)])
            times.append(time.perf_counter() - start)
            if status != 200:
                bad.append(status)
            k += 1
            time.sleep(PAUSE)

    threads = [threading.Thread(target=client, args=(k,)) for k in range(clients)]
    for thread in threads:
        thread.start()
    memory = []
    while time.monotonic() < end:
        memory.append(resident(server.pid))
        time.sleep(0.5)
    for thread in threads:
        thread.join()
    return Load(np.array(times), bad, memory, cpu_of(server.pid) - begin)


def run() -> list[dict]:
    """Return the row: CPU of the server per page, and the wall time that 95% of pages take at most."""
    found = load()
    late = float(np.quantile(found.seconds, 0.95))
    growth = found.memory[-1] - found.memory[len(found.memory) // 2]
    same = same_value("tasks on the page and by SQL", found.done, found.kept)
    return [
        row(
            f"dashboard, 95% of pages with {CLIENTS} clients, a study running",
            Time(found.cpu / len(found.seconds), late),
            other=f"{len(found.bad)} errors, memory {growth:+.0f} MiB in the second half",
            same=same.also(largest_difference(found.means, found.expected, 1e-6, "biases of the summary and by SQL")),
            target="below 0.3 s, no error, memory flat",
            met=late < 0.3 and not found.bad and growth < 20,
            remark=f"{len(found.seconds)} pages; CPU is the server's per page",
        )
    ]
