"""The first page: every study with its progress, the latest results; and the stream that keeps progress up to date."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from unseen.web._live import news_of
from unseen.web._records import latest
from unseen.web._site import Site
from unseen.web._words import count

__all__ = ["events", "list_page"]

PAGE = 100
RECORDS = 8


def list_page(site: Site, request: Request) -> Response:
    """Return the page of studies."""
    text = request.query_params.get("page", "0")
    found = site.source.ask(lambda store: store.studies())
    page = min(int(text), len(found) // PAGE) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    shown = found[page * PAGE : (page + 1) * PAGE]
    records, _ = latest(site, None, 0, RECORDS)

    def place(number: int) -> str:
        return "/?" + urlencode({"page": number})

    running = sum(p.state == "running" for p in found)
    heading = f"{count(len(found))} {'study' if len(found) == 1 else 'studies'}, {count(running)} running"
    return site.page(
        "list.html",
        title="Studies",
        here="/",
        events="/events",
        again=place(page),
        store_word=_word(site),
        heading=heading if found else "No study yet",
        studies=[{**news_of(p), "name": p.name} for p in shown],
        records=records,
        total=len(found),
        first=page * PAGE + 1,
        last=page * PAGE + len(shown),
        before=place(page - 1) if page else "",
        after=place(page + 1) if (page + 1) * PAGE < len(found) else "",
    )


def _word(site: Site) -> str:
    """Return how the store is named on a command line, without a password."""
    title = site.source.title
    return title if "://" in title else f"sqlite:///{title}"


async def events(site: Site, request: Request) -> Response:
    """Return the stream of progress, of one study or of all."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    key = request.query_params.get("study")
    if request.method == "HEAD":
        return Response(headers=headers, media_type="text/event-stream")
    wanted: Any = (lambda one: True) if key is None else (lambda one: one == key)
    return StreamingResponse(site.live.stream(wanted), headers=headers, media_type="text/event-stream")
