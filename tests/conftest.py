"""Fixtures shared by all tests, and the rule about required parts."""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

# The libraries read these when they load. Tests are small: a second thread costs ten times the CPU of what it computes.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")  # no test opens a window

import pytest
from hypothesis import HealthCheck, settings

# a loaded machine must not fail a property for being slow to draw examples
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

REQUIRED = set(filter(None, os.environ.get("UNSEEN_REQUIRE", "").split(",")))
SHARED = Path(__file__).resolve().parents[2] / "shared"


def absent(part: str, reason: str) -> None:
    """Skip a test whose part is absent here, or fail where CI requires the part."""
    if part in REQUIRED:
        pytest.fail(f"{part} is required by UNSEEN_REQUIRE, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def _tree_of_commands():
    """Build the tree of commands once for all calls of `main`: it takes 50 ms, and a process of tests makes hundreds."""
    import typer.main

    build, built = typer.main.get_command, {}

    def get_command(app):
        key = id(app), len(app.registered_commands), len(app.registered_groups)
        if key not in built:
            built[key] = app, build(app)  # the app too, so that no other one takes its id
        return built[key][1]

    with mock.patch.object(typer.main, "get_command", get_command):
        yield


@dataclass(frozen=True)
class Ended:
    """How a command ended, in the words of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="session")
def run_unseen() -> Callable[..., Ended]:
    """Return a function that runs `unseen` in this process, as the console script does, and returns how it ended."""
    from unseen.cli.app import main

    def run(*arguments: object, cwd: str | Path = ".") -> Ended:
        out, err = io.StringIO(), io.StringIO()
        words = ["unseen", *map(str, arguments)]
        with (
            mock.patch.object(sys, "argv", words),
            contextlib.chdir(cwd),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as end,
        ):
            main()
        return Ended(int(end.value.code or 0), out.getvalue(), err.getvalue())

    return run


NURSERY = """
import json, os, signal, socket, sys
from unseen.models.files import child

child._import_before_limits("skops")
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are not waited for
asked = socket.socket(fileno=0)
while True:
    message, streams, _, _ = socket.recv_fds(asked, 1 << 16, 4)
    if not message:
        break
    if os.fork() == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        model = os.fork()
        if model == 0:
            where, environment = json.loads(message)
            os.chdir(where)
            os.environ.clear()
            os.environ.update(environment)
            for to, stream in enumerate(streams[:3]):
                os.dup2(stream, to)
            os.closerange(3, 1024)
            child.main()
            os._exit(0)
        for stream in streams[:3]:
            os.close(stream)
        os.write(streams[3], b"%d\\n" % model)
        code = os.waitstatus_to_exitcode(os.waitpid(model, 0)[1])
        os.write(streams[3], b"%d\\n" % code)
        os._exit(0)
    for stream in streams:
        os.close(stream)
"""


class Forked:
    """A process of a model file with what the sandbox uses of `subprocess.Popen`."""

    def __init__(self, stdin: int, stdout: int, news: int) -> None:
        self.stdin, self.stdout = os.fdopen(stdin, "wb", buffering=0), os.fdopen(stdout, "rb", buffering=0)
        self._news = os.fdopen(news, "rb", buffering=0)
        self.pid, self.returncode = int(self._news.readline()), None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._news], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a model", timeout or 0.0)
            self.returncode = int(self._news.readline())
            self._news.close()
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


class Nursery:
    """A process that has loaded what model files need, and starts the process of each file as a copy of itself."""

    def __init__(self) -> None:
        self._asked, other = socket.socketpair()
        self._process = subprocess.Popen([sys.executable, "-c", NURSERY], stdin=other)
        other.close()

    def start(self, command, *, stderr, cwd, env, **_) -> Forked:
        assert command[-1] == "unseen.models.files.child"
        (to_read, to_write), (from_read, from_write), (news_read, news_write) = (os.pipe() for _ in range(3))
        theirs = [to_read, from_write, stderr.fileno(), news_write]
        socket.send_fds(self._asked, [json.dumps([cwd, env]).encode()], theirs)
        for one in (to_read, from_write, news_write):
            os.close(one)
        return Forked(to_write, from_read, news_read)

    def close(self) -> None:
        self._asked.close()
        self._process.wait()


@pytest.fixture(scope="session")
def _nursery():
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def forked_models(_nursery, monkeypatch):
    """Start the processes of model files as copies of one; a start from nothing takes 3 s to load the libraries."""
    from unseen.models.files import sandbox

    parts = {"PIPE": subprocess.PIPE, "TimeoutExpired": subprocess.TimeoutExpired}
    monkeypatch.setattr(sandbox, "subprocess", SimpleNamespace(Popen=_nursery.start, **parts))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the shared data sets; skips where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the shared data sets are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a chromium; skips where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        absent("browser", "no chromium is installed")
    return str(path)


@pytest.fixture(scope="session")
def distributed():
    """The package distributed; skips where it is not installed."""
    try:
        import distributed as package
    except ImportError:
        absent("dask", "distributed is not installed")
    return package


class Postgres:
    """A PostgreSQL server of our own in a temporary folder, run by an unprivileged user because initdb refuses root."""

    def __init__(self, programs: Path, *options: str) -> None:
        self.programs, self.options = programs, options
        self.folder = Path(tempfile.mkdtemp(prefix="unseen-pg-"))  # short: the path of a socket has at most 107 bytes
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        if os.getuid() == 0:
            shutil.chown(self.folder, "nobody")
        self._run("initdb", "-A", "trust", "-U", "unseen", "--no-sync", "-E", "UTF8", "--locale=C")
        self.start()

    def start(self) -> None:
        settings = f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder} {' '.join(self.options)}"
        self._run("pg_ctl", "-w", "-t", "60", "-l", str(self.folder / "log"), "-o", settings, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def new_database(self) -> str:
        """Return the URL of an empty schema, which serves as a database and takes a tenth of the time and files."""
        name = f"s{uuid.uuid4().hex[:12]}"
        command = [self.programs / "psql", "-q", "-h", self.folder, "-p", str(self.port), "-U", "unseen", "postgres"]
        subprocess.run([*command, "-c", f"CREATE SCHEMA {name}"], check=True, capture_output=True)
        return f"postgresql://unseen@127.0.0.1:{self.port}/postgres?options=-csearch_path%3D{name}"

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        user = (
            ["setpriv", "--reuid=nobody", "--clear-groups"]
            if shutil.which("setpriv")
            else ["runuser", "-u", "nobody", "--"]
        )
        command = [*(user if os.getuid() == 0 else []), str(self.programs / program), "-D", str(self.folder / "data")]
        # a daemon that inherits a pipe would keep this call waiting
        with (self.folder / "out").open("wb") as out:
            done = subprocess.run([*command, *arguments], cwd="/", stdout=out, stderr=out, check=False)
        if done.returncode:
            raise RuntimeError(f"{program} failed: {(self.folder / 'out').read_text()}")


@pytest.fixture(scope="session")
def postgres_programs() -> Path:
    """Folder of PostgreSQL's server programs; skips where there are none."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]), reverse=True)
    on_path = shutil.which("initdb")
    programs = [path.parent for path in found] + ([Path(on_path).resolve().parent] if on_path else [])
    if not programs:
        absent("postgres", "no PostgreSQL server is installed")
    if os.getuid() == 0 and not (shutil.which("setpriv") or shutil.which("runuser")):
        absent("postgres", "neither setpriv nor runuser can start PostgreSQL as an unprivileged user")
    return programs[0]


@pytest.fixture(scope="session")
def postgres(postgres_programs):
    """A running PostgreSQL, one per test process; fast and forgetful."""
    server = Postgres(postgres_programs, "-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off")
    yield server
    server.close()


@pytest.fixture
def restartable_postgres(postgres_programs):
    """A running PostgreSQL with the settings of a real one, for one test to stop and start."""
    server = Postgres(postgres_programs)
    yield server
    server.close()


@pytest.fixture(scope="session")
def loss_table():
    """Return a function that makes a table of losses from index pairs (or splits) and the losses of their test rows."""
    import numpy as np

    from unseen.core.data import Data
    from unseen.core.losses import Predictions, PredictionTable
    from unseen.core.plan import Plan, Split

    def make(pairs, losses, design, *, rate=False, groups=None, weights=None, n=None, model="m", seed=0):
        splits = [
            p if isinstance(p, Split) else Split(np.asarray(p[0]), np.asarray(p[1]), repeat=j)
            for j, p in enumerate(pairs)
        ]
        n = n or 1 + max(int(max(s.train.max(), s.test.max())) for s in splits)
        target = np.zeros(n, dtype=np.int64 if rate else float)
        data = Data(
            None,
            target,
            "classification" if rate else "regression",
            np.array([0, 1]) if rate else None,
            groups=groups,
            weights=weights,
        )
        rows = np.concatenate([s.test for s in splits]).astype(np.int64)
        split = np.repeat(np.arange(len(splits)), [len(s.test) for s in splits])
        value = np.concatenate([np.asarray(v) for v in losses]).astype(np.int64 if rate else float)
        table = PredictionTable(
            plan=Plan(design, tuple(splits), data.units),
            data=data,
            test=Predictions(split=split, row=rows, value=value),
            model=model,
            seed=seed,
        )
        return table.losses("zero-one" if rate else "absolute")

    return make
