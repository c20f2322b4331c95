"""A dashboard to ask, without a server: requests are handed to the application as a server would."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.store import TaskResult, TaskRow, open_store

HOSTILE = "<script>alert(1)</script> ../../etc/passwd \"' & $x$"
METHODS = ("resub", "loo", "cv10")
BIAS = {"resub": -0.05, "loo": 0.0, "cv10": 0.01}


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    pieces: int = 0

    def __getitem__(self, name: str) -> str:
        found = [v for k, v in self.headers if k == name]
        assert len(found) == 1, f"{name} is there {len(found)} times"
        return found[0]

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


async def call(app, target="/", method="GET", headers=(), host="127.0.0.1:8765", kind="http", scheme="http"):
    """Hand one request to an ASGI application; the target is taken apart as uvicorn does it."""
    from urllib.parse import unquote

    path, _, query = target.partition("?")
    lines = [(b"host", host.encode("latin-1"))] if host is not None else []
    lines += [(k.encode(), v.encode("latin-1")) for k, v in headers]
    scope = {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": scheme,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": lines,
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 8765),
    }
    made = Answer(0, [], b"")
    never = asyncio.Event()
    asked = []

    async def receive():
        if asked:
            await never.wait()
        asked.append(True)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            made.status = message["status"]
            made.headers = [(k.decode().lower(), v.decode("latin-1")) for k, v in message["headers"]]
        elif message["type"] == "http.response.body":
            made.body += message.get("body", b"")
            made.pieces += bool(message.get("body"))
        else:
            made.status = -message.get("code", 0)

    await app(scope, receive, send)
    return made


@pytest.fixture(scope="session")
def ask():
    """Return a function that asks an application for an address."""
    return lambda app, target="/", **options: asyncio.run(call(app, target, **options))


class Reader(HTMLParser):
    """Elements of a page, and whether its ids and labels hold together."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="session")
def read():
    """Return a function that takes a page apart."""
    return Reader


def add_study(store, name, *, done=1.0, replications=6, sizes=(20, 40), methods=METHODS, fail=(), release=True):
    """Put a study with known numbers into a store: a truth near 0.2, and estimates off by the bias of the method."""
    cells = [
        {
            "kind": "estimate",
            "population": "blocks",
            "model": "lda",
            "n": n,
            "method": m,
            "models": ["lda"],
            "how": {"id": m, "options": {}},
        }
        for n in sizes
        for m in methods
    ]
    names = [(c, r) for r in range(replications) for c in range(len(cells))]
    ids = {hashlib.sha256(f"{name}|{c}|{r}".encode()).hexdigest()[:32]: (c, r) for c, r in names}
    spec = {"name": name, "seed": 1, "replications": replications, "level": 0.95, "folder": "/secret/folder"}
    store.add_study(name, "study", spec, cells, [TaskRow(i, c, r, r) for i, (c, r) in ids.items()])
    finish(store, name, cells, ids, int(done * len(ids)), fail)
    if release:
        store.release(name, "tests")
    return cells


def finish(store, name, cells, ids, count, fail=()):
    while count > 0:
        rows = store.claim(name, "tests", min(count, 100), 60)
        if not rows:
            return
        results = []
        for row in rows[:count]:
            cell, replication = ids[row.id]
            if (cell, replication) in fail:
                results.append(TaskResult(row.id, seconds=0.1, reason="FitError: <b>one class</b> only"))
                continue
            truth = 0.2 + 0.01 * np.sin(replication)
            estimate = truth + BIAS[cells[cell]["method"]] + 0.02 * np.cos(7 * replication + cell)
            results.append(
                TaskResult(
                    row.id,
                    estimate=float(estimate),
                    truth=float(truth),
                    lower=float(estimate - 0.1),
                    upper=float(estimate + 0.1),
                    seconds=0.5,
                )
            )
        store.finish(name, "tests", results)
        count -= len(results)


ASSESSMENT = {
    "sentence": "lda is expected to misclassify 5.3% of new cases.", "error": 0.0533, "interval": [0.007, 0.0997],
    "level": 0.95, "loss": "zero-one", "target": "the algorithm", "model": "lda", "n": 150,
    "estimates": {"corrected-t": {"value": 0.0533, "interval": {"low": 0.007, "high": 0.0997, "level": 0.95}},
                  "loo": {"value": 0.06, "interval": None}},
    "notes": [{"code": "U002", "title": "copies", "text": "rows are copies", "advice": "remove them"}],
}  # fmt: skip


@dataclass
class Made:
    """A store with something of everything, its URL, and what is in it."""

    url: str
    store: object
    kept: dict[str, int] = field(default_factory=dict)


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """File of a small store with every kind of content, and the numbers of its records."""
    path = tmp_path_factory.mktemp("filled") / "studies.db"
    store = open_store(f"sqlite:///{path}", max_attempts=1)
    add_study(store, "whole", fail={(0, 0)})
    add_study(store, "half", done=0.5)
    add_study(store, HOSTILE, done=0.4)
    add_study(store, "fresh", done=0)
    rows = [
        {"table": "2.1", "cell": f"n={k}", "published": 0.1, "ours": 0.1 + k / 1e4, "z": 1.0, "verdict": "agrees"}
        for k in range(450)
    ]
    kept = {
        "assessment": store.keep("assessment", "iris", ASSESSMENT),
        "other": store.keep("assessment", "iris again", {**ASSESSMENT, "error": 0.08, "interval": [0.02, 0.1]}),
        "comparison": store.keep(
            "comparison",
            HOSTILE,
            {
                "pairs": [
                    {"a": "x", "b": "y", "difference": -0.1, "lower": -0.2, "upper": 0.0, "verdict": "x is better"}
                ]
            },
        ),
        "reproduction": store.keep(
            "reproduction", "table 2.1", {"title": "An experiment", "cells": rows, "agreeing": 450, "judged": 450}
        ),
        "nets": store.keep(
            "nets-rank", "nets", {"rows": [{"measure": "path-norm", "tau": 0.5}, {"measure": HOSTILE, "tau": -0.25}]}
        ),
        "odd": store.keep(
            "odd", "", {"deep": [[{"a": [1]}]], "long": "x" * 5000, "formula": "=1+1", "rows": [{"=cmd": "=1+1"}]}
        ),
    }
    store.close()
    return path, kept


@pytest.fixture
def made(tmp_path, filled):
    """A copy of the small store for one test."""
    path, kept = filled
    copy = shutil.copy(path, tmp_path / "studies.db")
    store = open_store(f"sqlite:///{copy}")
    yield Made(f"sqlite:///{copy}", store, kept)
    store.close()
