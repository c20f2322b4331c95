"""The dashboard's study pages asked for by 20 clients at once while the study runs: time of an answer, errors, memory."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.timing import row

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
    """What the clients saw: seconds of each answer, statuses other than 200, and the server's memory in MiB."""

    seconds: np.ndarray
    bad: list[int]
    memory: list[float]
    done: int


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
        with study:
            until = time.monotonic() + 120
            while not (folder / "s.db").exists() and time.monotonic() < until:
                time.sleep(0.1)
            time.sleep(1.0)
            with board as server:
                return _walk(server, seconds, clients)


def _walk(server: subprocess.Popen, seconds: float, clients: int) -> Load:
    port = int(re.search(r"http://[^/]*:(\d+)/", server.stderr.readline())[1])
    page = get(port, "/")[1]
    study = re.search(r'href="(/studies/[^"/]+)"', page)[1]
    targets = ["/", study, f"{study}/live", f"{study}/cells", f"{study}/failures", f"{study}/summary.csv"]
    for target in targets:
        get(port, target)  # the first look at a page makes its figures
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
    found = re.search(r"(\d[\d,]*) of", get(port, study)[1])
    return Load(np.array(times), bad, memory, int(found[1].replace(",", "")) if found else 0)


def run() -> list[dict]:
    found = load()
    late = float(np.quantile(found.seconds, 0.95))
    growth = found.memory[-1] - found.memory[len(found.memory) // 2]
    met = late < 0.3 and not found.bad and growth < 20
    remark = f"{len(found.seconds)} pages, {len(found.bad)} errors, memory {growth:+.0f} MiB in the second half"
    name = f"dashboard, 95% of pages with {CLIENTS} clients, a study running"
    return [row(name, late, float("nan"), "none", "below 0.3 s, no error, memory flat", met, remark)]
