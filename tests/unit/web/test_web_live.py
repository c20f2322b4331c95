"""Streams of progress: what changed and only that, one reader for all, nothing left behind."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from dataclasses import replace

from unseen.store import Progress
from unseen.web import dashboard
from unseen.web._live import ProgressStream
from unseen.web._source import StoreSource
from unseen.web._words import key_of

FIRST = Progress(
    name="one",
    kind="study",
    state="running",
    total=100,
    done=10,
    failed=0,
    claimed=5,
    seconds=1.0,
    created="",
    updated="2026-01-01T00:00:00+00:00",
    eta_seconds=9.0,
)


class Moving:
    """A store whose studies can be changed while it is watched."""

    def __init__(self, *studies):
        self.now = list(studies)
        self.asked = 0
        self.trouble = None

    def studies(self):
        self.asked += 1
        if self.trouble:
            raise self.trouble
        return list(self.now)

    def records(self, kind=None, limit=200):
        return []


def parse(text: str) -> tuple[str, object] | None:
    lines = dict(line.partition(": ")[::2] for line in text.strip().splitlines())
    return (lines["event"], json.loads(lines["data"])) if "event" in lines else None


async def next_event(stream, seconds=10.0):
    while True:
        found = parse(await asyncio.wait_for(anext(stream), seconds))
        if found is not None:
            return found


def test_all_studies_come_first_then_only_those_that_changed():
    store = Moving(FIRST, replace(FIRST, name="two"))
    live = ProgressStream(StoreSource(store), seconds=0.02)

    async def watch():
        stream = live.stream()
        kind, content = await next_event(stream)
        assert kind == "progress"
        assert [s["key"] for s in content["studies"]] == [key_of("one"), key_of("two")]
        assert content["studies"][0]["value"] == 10
        store.now[1] = replace(store.now[1], done=11, failed=2)
        kind, content = await next_event(stream)
        (changed,) = content["studies"]
        assert (changed["key"], changed["value"], changed["words"]["done"]) == (key_of("two"), 13, "11 of 100 tasks")
        del store.now[0]
        kind, content = await next_event(stream)
        assert content == {"studies": [], "gone": [key_of("one")]}
        await stream.aclose()

    asyncio.run(watch())
    assert live.listeners == 0


def test_one_study_alone():
    store = Moving(FIRST, replace(FIRST, name="two"))
    live = ProgressStream(StoreSource(store), seconds=0.02)

    async def watch():
        stream = live.stream(lambda key: key == key_of("two"))
        _, content = await next_event(stream)
        assert [s["key"] for s in content["studies"]] == [key_of("two")]
        store.now[0] = replace(FIRST, done=50)
        await asyncio.sleep(0.1)
        store.now[1] = replace(store.now[1], done=60)
        _, content = await next_event(stream)
        assert [s["value"] for s in content["studies"]] == [60]
        await stream.aclose()

    asyncio.run(watch())


def test_many_pages_cost_one_reader_and_no_thread_stays():
    store = Moving(FIRST)
    live = ProgressStream(StoreSource(store), seconds=0.05)
    before = threading.active_count()

    async def watch():
        streams = [live.stream() for _ in range(40)]
        await asyncio.gather(*(next_event(s) for s in streams))
        assert live.listeners == 40
        asked = store.asked
        await asyncio.sleep(0.5)
        assert store.asked - asked <= 11
        assert threading.active_count() <= before + 3
        for stream in streams:
            await stream.aclose()
        await asyncio.sleep(0.1)
        asked = store.asked
        await asyncio.sleep(0.3)
        assert store.asked == asked, "nobody listens, so nobody reads"

    asyncio.run(watch())
    assert live.listeners == 0
    limit = time.monotonic() + 20
    while threading.active_count() > before and time.monotonic() < limit:
        time.sleep(0.02)  # the pool tells its threads to end with the loop, and does not wait for them
    assert threading.active_count() <= before


def test_a_stream_can_be_taken_up_again_in_another_loop():
    live = ProgressStream(StoreSource(Moving(FIRST)), seconds=0.02)

    async def once():
        stream = live.stream()
        kind, _ = await next_event(stream)
        await stream.aclose()
        return kind

    assert [asyncio.run(once()) for _ in range(3)] == ["progress"] * 3


def test_trouble_is_told_and_taken_back():
    store = Moving(FIRST)
    live = ProgressStream(StoreSource(store), seconds=0.02)

    async def watch():
        stream = live.stream()
        await next_event(stream)
        store.trouble = OSError("gone")
        kind, content = await next_event(stream)
        assert kind == "trouble"
        assert "The store does not answer" in content
        store.trouble = None
        assert await next_event(stream) == ("trouble", "")
        store.now[0] = replace(FIRST, done=12)
        assert (await next_event(stream))[0] == "progress"
        await stream.aclose()

    asyncio.run(watch())


def test_stop_ends_every_stream_soon():
    live = ProgressStream(StoreSource(Moving(FIRST)), seconds=5.0)

    async def watch():
        streams = [live.stream() for _ in range(3)]
        await asyncio.gather(*(next_event(s) for s in streams))
        live.stop()
        start = time.monotonic()
        for stream in streams:
            async for _ in stream:
                pass
        assert time.monotonic() - start < 3

    asyncio.run(watch())


def test_a_page_that_leaves_is_forgotten():
    app = dashboard(Moving(FIRST))
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "path": "/events", "raw_path": b"/events", "query_string": b"", "root_path": "",
        "headers": [(b"host", b"localhost")], "client": None, "server": None,
    }  # fmt: skip

    async def visit():
        left, got = asyncio.Event(), []

        async def receive():
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            got.append(message)

        task = asyncio.create_task(app(scope, receive, send))
        while not any(b"event: progress" in m.get("body", b"") for m in got):
            await asyncio.sleep(0.02)
        headers = dict(got[0]["headers"])
        assert headers[b"content-type"].startswith(b"text/event-stream")
        assert headers[b"cache-control"] == b"no-store"
        assert app.site.live.listeners == 1
        left.set()
        await asyncio.wait_for(task, 10)
        await asyncio.sleep(0.05)

    asyncio.run(visit())
    assert app.site.live.listeners == 0


def test_a_hostile_name_cannot_forge_an_event():
    store = Moving(replace(FIRST, name="x\n\nevent: trouble\ndata: 1\n\n", state="running\n\nevent: x"))
    live = ProgressStream(StoreSource(store), seconds=0.02)

    async def watch():
        stream = live.stream()
        await anext(stream)
        text = await anext(stream)
        assert text.count("\n") == 3
        await stream.aclose()

    asyncio.run(watch())
