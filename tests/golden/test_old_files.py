"""Tables and stores written before still open, give the same numbers, and are shown by the dashboard."""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unseen

HERE = Path(__file__).resolve().parent
FILES = HERE / "files"
TOLD = json.loads((FILES / "told.json").read_text())
STUDY = "golden"


def beside(name):
    """Import a module that lies beside this file and in no package."""
    known = f"unseen_golden_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, HERE / f"{name}.py")
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]


def check(stored, found):
    lines = beside("test_golden").differences(stored, json.loads(json.dumps(found)), 1e-9)
    assert not lines, "\n".join(lines[:20])


def dashboard_of(url):
    """The one place that knows where the dashboard is."""
    from unseen.web import dashboard

    return dashboard(url)


def ask(app, target):
    """Hand one request to the application as a server would; return status and body."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1:8765")],
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 8765),
    }
    answer = {"status": 0, "body": b""}

    async def call():
        never, asked = asyncio.Event(), []

        async def receive():
            if asked:
                await never.wait()
            asked.append(True)
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
            elif message["type"] == "http.response.body":
                answer["body"] += message.get("body", b"")

        await app(scope, receive, send)

    asyncio.run(call())
    return answer["status"], answer["body"].decode("utf-8")


@pytest.mark.parametrize("name", ["classes.npz", "numbers.npz"])
def test_a_table_loads_and_gives_its_estimates(name):
    table = unseen.load(FILES / name)
    for key, stored in TOLD[name].items():
        method, loss = key.split()
        check(stored, beside("calls").reduced(unseen.estimate(table, method=method, loss=loss)))


@pytest.fixture(scope="module")
def sqlite_url(tmp_path_factory):
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    copy = shutil.copy(FILES / "studies.db", tmp_path_factory.mktemp("old") / "studies.db")
    return f"sqlite:///{copy}"


@pytest.fixture(scope="module")
def postgres_url(request):
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    server = request.getfixturevalue("postgres")
    url = server.new_database()
    schema = url.rpartition("%3D")[2]
    lines = gzip.decompress((FILES / "postgres.sql.gz").read_bytes()).decode().splitlines()
    # the schema is there already, and words of newer versions of the program are unknown to older ones
    wanted = [line for line in lines if not line.startswith(("CREATE SCHEMA", "\\", "SET transaction_timeout"))]
    text = "\n".join(wanted).replace("golden_schema", schema)
    command = [
        server.programs / "psql",
        "-q",
        "-v",
        "ON_ERROR_STOP=1",
        "-h",
        server.folder,
        "-p",
        str(server.port),
        "-U",
        "unseen",
    ]
    done = subprocess.run([*command, "postgres"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def url(request):
    return request.getfixturevalue(f"{request.param}_url")


def test_the_study_is_summed_up_as_before(url):
    with unseen.Study(STUDY, url) as study:
        assert study.status().state == TOLD["store"]["state"]
        check(TOLD["store"]["summary"], beside("calls").reduced(study.summary()))


def test_what_was_kept_reads_back_under_the_same_words(url):
    from unseen.store import open_store

    with open_store(url, read_only=True) as store:
        kept = [store.record(one.id) for one in reversed(store.records())]
    assert [[one.id, one.kind, one.name] for one in kept] == [
        [one["id"], one["kind"], one["name"]] for one in TOLD["store"]["kept"]
    ]
    for stored, one in zip(TOLD["store"]["kept"], kept):
        check(stored["payload"], beside("calls").reduced(one.payload))


def test_results_about_nets_become_records_again(url):
    from unseen.store import open_store

    with open_store(url, read_only=True) as store:
        for one in store.records():
            if one.kind.startswith("nets-"):
                again = unseen.nets.from_store(store.record(one.id))
                assert again.kept_as == one.kind


@pytest.mark.slow
@pytest.mark.sample
def test_the_dashboard_shows_all_of_it(url):
    pytest.importorskip("starlette", reason="starlette is not installed")
    app = dashboard_of(url)
    try:
        status, page = ask(app, "/")
        assert status == 200
        study = re.search(r'href="(/studies/golden-[a-z0-9-]+)"', page)[1]
        parts = ("", "/live", "/failures", "/cells", "/summary.csv", "/results.csv", "/results.json")
        records = [f"/kept/{one['id']}" for one in TOLD["store"]["kept"]]
        downloads = [f"{record}/results.json" for record in records]
        for target in ("/kept", *(study + part for part in parts), *records, *downloads, "/compare"):
            assert (target, ask(app, target)[0]) == (target, 200)
        for one, record in zip(TOLD["store"]["kept"], records):
            assert one["name"] in ask(app, record)[1] or "&" in one["name"]
    finally:
        app.close()


def test_the_store_takes_more(url):
    """An older store is written to as well: its study resumes with nothing to do, and a result is kept beside the others."""
    with unseen.Study(STUDY, url) as study:
        assert study.resume(progress=False).status().state == "done"
    number = unseen.power(100, 0.1, disagreement=0.2).keep(url, "new")
    assert number > max(one["id"] for one in TOLD["store"]["kept"])
