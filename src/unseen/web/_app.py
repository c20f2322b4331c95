"""The dashboard as an ASGI application: its addresses, its first page, its errors, and the guard around them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

from unseen.web._guard import LOOPBACK, Guard
from unseen.web._live import news_of
from unseen.web._site import Site
from unseen.web._source import NotThere, StoreAway, StoreSource
from unseen.web._words import count

__all__ = ["Dashboard", "dashboard"]

log = logging.getLogger("unseen")
KEY = "[a-z0-9-]{1,60}"
STUDIES = 100  # on one page of the list
RECORDS = 8  # the latest results beside it
GLANCES = 3  # studies that are shown with a picture; more would make a long page


def dashboard(store: Any, *, token: str | None = None, hosts: Iterable[str] | None = LOOPBACK) -> Dashboard:
    """Return a read-only dashboard over a store, as an ASGI application.

    Parameters
    ----------
    store : str or store
        Address of a store (`sqlite:///studies.db`, `postgresql://...`, a path), or an open one.
    token : str, optional
        Secret of at least 16 characters that every request must know. Needed if others can reach the server.
    hosts : iterable of str, optional
        Host names that are answered; those of this machine by default, any if None.

    Returns
    -------
    Dashboard
        The application. It answers GET and HEAD only, and writes nothing anywhere.

    Examples
    --------
    >>> from unseen.store import open_store
    >>> store = open_store("sqlite:///example.db")
    >>> _ = store.keep("assessment", "iris", {"error": 0.05})
    >>> app = dashboard("sqlite:///example.db")
    >>> app.site.source.title
    'example.db'
    >>> app.close(); store.close()
    """
    site = Site(StoreSource(store))
    return Dashboard(_application(site), site, token=token, hosts=hosts)


class Dashboard(Guard):
    """The guarded application, and what has to be ended with it."""

    def __init__(self, app: Any, site: Site, **options: Any) -> None:
        super().__init__(app, **options)
        self.site = site

    def stop(self) -> None:
        """Let streams end, so that the server can stop at once."""
        self.site.live.stop()

    def close(self) -> None:
        """Close the store if it was opened here."""
        self.stop()
        self.site.source.close()


def _application(site: Site) -> Any:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException

    handlers: dict[Any, Any] = {
        HTTPException: lambda request, error: _error_page(site, error.status_code),
        NotThere: lambda request, error: _error_page(site, 404),
        StoreAway: lambda request, error: _store_away_page(site, request, error),
        Exception: lambda request, error: _failure_page(site, error),
    }
    application = Starlette(routes=_routes(site), exception_handlers=handlers)
    # its redirects would repeat the host name that the request claims
    application.router.redirect_slashes = False
    return application


def _routes(site: Site) -> list[Any]:
    from starlette.convertors import Convertor, register_url_convertor
    from starlette.routing import Route

    from unseen.web import _compare, _records, _study

    class Key(Convertor[str]):
        regex = KEY

        def convert(self, value: str) -> str:
            return value

        def to_string(self, value: str) -> str:
            return value

    class Number(Convertor[int]):
        regex = "[0-9]{1,20}"

        def convert(self, value: str) -> int:
            return int(value)

        def to_string(self, value: int) -> str:
            return str(value)

    register_url_convertor("study", Key())
    register_url_convertor("number", Number())

    def to(handler: Callable[[Site, Any], Any]) -> Callable[[Any], Any]:
        return lambda request: handler(site, request)

    async def events(request: Any) -> Any:
        return await _events(site, request)

    places: list[tuple[str, Any]] = [
        ("/", to(_first_page)),
        ("/kept", to(_records.list_page)),
        ("/kept/{id:number}", to(_records.record_page)),
        ("/compare", to(_compare.compare_page)),
        ("/events", events),
        ("/static/{name}", site.file),
        ("/studies/{key:study}", to(_study.study_page)),
        ("/studies/{key:study}/live", to(_study.live_page)),
        ("/studies/{key:study}/glance", to(_study.glance_page)),
        ("/studies/{key:study}/failures", to(_study.failures_page)),
        ("/studies/{key:study}/cells", to(_study.cells_page)),
        ("/studies/{key:study}/summary.csv", to(_study.summary_csv)),
    ]
    for ending in ("csv", "json"):
        places.append((f"/studies/{{key:study}}/results.{ending}", _download_route(site, _study.results, ending)))
        places.append((f"/kept/{{id:number}}/results.{ending}", _download_route(site, _records.results, ending)))
    return [Route(path, handler, methods=["GET"]) for path, handler in places]


def _download_route(site: Site, handler: Callable[[Site, Any], Any], ending: str) -> Callable[[Any], Any]:
    def answer(request: Any) -> Any:
        request.path_params["ending"] = ending
        return handler(site, request)

    return answer


def _first_page(site: Site, request: Any) -> Any:
    """Return the first page: every study with its progress, and the latest results."""
    from unseen.web._records import latest

    text = request.query_params.get("page", "0")
    found = site.source.ask(lambda store: store.studies())
    page = min(int(text), len(found) // STUDIES) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    shown = found[page * STUDIES : (page + 1) * STUDIES]
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
        store_word=_store_address(site),
        heading=heading if found else "No study yet",
        studies=[{**news_of(p), "name": p.name, "pictured": len(found) <= GLANCES and p.done > 1} for p in shown],
        records=records,
        total=len(found),
        first=page * STUDIES + 1,
        last=page * STUDIES + len(shown),
        before=place(page - 1) if page else "",
        after=place(page + 1) if (page + 1) * STUDIES < len(found) else "",
    )


def _store_address(site: Site) -> str:
    """Return how the store is named on a command line, without a password."""
    title = site.source.title
    return title if "://" in title else f"sqlite:///{title}"


async def _events(site: Site, request: Any) -> Any:
    """Return the stream of progress, of one study or of all."""
    from starlette.responses import Response, StreamingResponse

    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    key = request.query_params.get("study")
    if request.method == "HEAD":
        return Response(headers=headers, media_type="text/event-stream")
    wanted: Any = (lambda one: True) if key is None else (lambda one: one == key)
    return StreamingResponse(site.live.stream(wanted), headers=headers, media_type="text/event-stream")


def _error_page(site: Site, status: int) -> Any:
    if status == 404:
        return site.message(404, "Not found", "There is nothing at this address.")
    return site.message(status, "Not possible", "The dashboard cannot answer this request.")


def _store_away_page(site: Site, request: Any, error: Exception) -> Any:
    sentence = str(error)
    answer = site.message(503, "The store cannot be read", sentence[:1].upper() + sentence[1:])
    answer.headers["retry-after"] = "5"
    return answer


def _failure_page(site: Site, error: Exception) -> Any:
    log.error("the dashboard could not make a page", exc_info=error)
    return site.message(500, "Something went wrong", "This page could not be made; the log of the server says why.")
