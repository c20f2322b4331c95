"""`unseen serve` as a process: says where it is, keeps strangers out, ends at once, says what is wrong."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.store import open_store

linux = pytest.mark.skipif(not os.path.isdir("/proc/net"), reason="reads the process table of Linux")


@pytest.fixture
def url(tmp_path):
    made = f"sqlite:///{tmp_path / 'studies.db'}"
    with open_store(made) as store:
        store.keep("assessment", "iris", {"error": 0.05, "loss": "zero-one"})
    return made


@contextmanager
def serving(url, *options, env=None):
    command = [sys.executable, "-m", "unseen", "serve", "--store", url, "--port", "0", *options]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
    )
    try:
        line = (child.stdout if "--json" in options else child.stderr).readline()
        yield child, line
    finally:
        child.kill()
        child.communicate()


def get(port: int, target: str = "/", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", target, headers=headers)
    answer = connection.getresponse()
    found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    connection.close()
    return found


def port_of(line: str) -> int:
    return int(re.search(r"http://[^/]*:(\d+)/", line).group(1))


def test_it_says_where_it_is_and_answers(url):
    with serving(url) as (_, line):
        assert "dashboard at http://127.0.0.1:" in line
        status, headers, body = get(port_of(line))
        assert status == 200
        assert b"iris" in body
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "server" not in headers
        assert get(port_of(line), Host="evil.example")[0] == 421


@linux
def test_this_machine_alone_can_reach_it_by_default(url):
    with serving(url) as (child, line):
        port = port_of(line)
        inodes = set()
        for link in os.listdir(f"/proc/{child.pid}/fd"):
            try:
                inodes.add(os.readlink(f"/proc/{child.pid}/fd/{link}"))
            except OSError:
                continue
        with open("/proc/net/tcp") as table:
            listening = [row.split() for row in table if row.split()[3] == "0A"]
        mine = [row[1] for row in listening if f"socket:[{row[9]}]" in inodes]
        assert mine == [f"0100007F:{port:04X}"]


def test_elsewhere_a_token_is_made_and_told_once(url):
    with serving(url, "--host", "0.0.0.0", "--quiet") as (_, line):
        token = re.search(r"token=([\w-]+)", line).group(1)
        assert len(token) >= 32
        port = port_of(line)
        assert get(port)[0] == 401
        assert get(port, "/?token=wrong")[0] == 401
        assert get(port, Authorization=f"Bearer {token}")[0] == 200
        status, headers, _ = get(port, f"/?token={token}")
        assert (status, headers["location"]) == (303, "/")
        assert get(port, Cookie=headers["set-cookie"].partition(";")[0])[0] == 200


def test_two_runs_make_two_tokens(url):
    tokens = []
    for _ in range(2):
        with serving(url, "--host", "0.0.0.0", "--json") as (_, line):
            tokens.append(json.loads(line)["address"].partition("token=")[2])
    assert tokens[0] != tokens[1]


def test_a_given_token_comes_by_the_environment(url):
    with serving(url, env={"UNSEEN_TOKEN": "a-token-of-my-own-choice"}) as (_, line):
        assert get(port_of(line))[0] == 401
        assert get(port_of(line), Authorization="Bearer a-token-of-my-own-choice")[0] == 200


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("listeners", [0, 5])
def test_ctrl_c_ends_it_at_once_whoever_listens(url, listeners):
    with serving(url) as (child, line):
        port = port_of(line)
        first = threading.Semaphore(0)

        def listen():
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                connection.request("GET", "/events")
                answer = connection.getresponse()
                answer.readline()
                first.release()
                answer.read()

        threads = [threading.Thread(target=listen, daemon=True) for _ in range(listeners)]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert first.acquire(timeout=60)
        get(port)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
        assert time.monotonic() - start < 8
        assert child.returncode == 0
        assert "Traceback" not in err
        assert "dashboard ended" in err
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()


@linux
def test_pages_that_leave_cost_no_thread(url):
    with serving(url) as (child, line):
        port = port_of(line)

        def threads() -> int:
            with open(f"/proc/{child.pid}/status") as status:
                return int(re.search(r"Threads:\s+(\d+)", status.read()).group(1))

        get(port)
        for _ in range(30):
            with socket.create_connection(("127.0.0.1", port)) as page:
                page.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert b"200 OK" in page.recv(4000)
        assert get(port)[0] == 200
        assert threads() < 15


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "unseen", "serve", *arguments], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--store", "sqlite:///none.db"], "there is no store at"),
        (["--store", "mysql://x"], "unknown kind of store"),
        (["--store", "STORE", "--token", "short"], "at least 16"),
        (["--store", "STORE", "--port", "70000"], "port 70000 does not exist"),
        (["--store", "STORE", "--host", "256.1.1.1"], "cannot listen on 256.1.1.1"),
        (["--store", "STORE", "--host", "203.0.113.7"], "cannot listen on 203.0.113.7"),
    ],
)
def test_misuse_is_a_sentence(url, arguments, words):
    done = run(*[a.replace("STORE", url) for a in arguments])
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_taken_port_is_a_sentence(url):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("--store", url, "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "cannot listen on 127.0.0.1" in done.stderr


@linux
@pytest.mark.slow
@pytest.mark.sample
def test_twenty_clients_read_the_pages_of_a_study_that_runs(monkeypatch):
    """Every page is answered, also where the driver writes at that moment, and memory stays what it was."""
    import importlib

    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2]), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    found = importlib.import_module("benchmarks.bench_dashboard").load(seconds=5.0)
    assert found.bad == []
    assert len(found.seconds) >= 20
    assert found.done > 0
    assert found.memory[-1] - found.memory[len(found.memory) // 2] < 40
