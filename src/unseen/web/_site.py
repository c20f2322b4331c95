"""What all pages share: the store, the templates, the files beside the pages, and the look of an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any

from unseen._version import __version__
from unseen.core.controls import escape_controls
from unseen.core.errors import MissingExtra
from unseen.show.inline_svg import PALETTE_CSS
from unseen.show.page import cell, heading, is_long, is_name, numeric, prose, sort_key
from unseen.web._live import ProgressStream
from unseen.web._memory import CostLimitedCache
from unseen.web._source import NotThere, StoreSource
from unseen.web._words import count

try:
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, Response
except ImportError as error:
    missing = MissingExtra("starlette", "web", "the dashboard")
    missing.name = "starlette"
    raise missing from error

__all__ = ["Link", "Site", "query_of"]

LONGEST_LINE = 44  # characters of a table cell that stay on one line
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "txt": "text/plain"}
DARK = "--ink: #e6eaec; --soft: #a9b3ba; --page: #14181b; --card: #1c2226; --line: #3a444b; --accent: #8cc3e8"
LIGHT_MORE, DARK_MORE = "--track: #dfe4e8; --bad: #a8321c", "--track: #333d44; --bad: #ff9f88"


@dataclass(frozen=True)
class Link:
    """A table cell that leads somewhere on this server."""

    text: str
    place: str

    def __str__(self) -> str:
        return self.text


def _package_files(package: str, folder: str) -> dict[str, str]:
    """Return the text files of a folder of the package; read once, so that no address ever names a file."""
    found = (resources.files(package) / folder).iterdir()
    return {f.name: f.read_text(encoding="utf-8") for f in found if f.name.rpartition(".")[2] in {*TYPES, "html"}}


def _style(own: str, report: Mapping[str, str]) -> str:
    dark = f"@media screen and (prefers-color-scheme: dark) {{ .unseen {{ {DARK}; {DARK_MORE}; {PALETTE_CSS['dark']}; }} }}"
    light = f".unseen {{ {PALETTE_CSS['light']}; {LIGHT_MORE}; }}"
    return "\n".join([report["blocks.css"], light, dark, report["report.css"], own])


def query_of(request: Request) -> list[tuple[str, str]]:
    """Return the query of a request, without what never belongs into a link."""
    return [(name, value) for name, value in request.query_params.multi_items() if name not in ("token", "narrow")]


class Site:
    """A dashboard over one store.

    Parameters
    ----------
    source : StoreSource
        The store.
    """

    def __init__(self, source: StoreSource) -> None:
        self.source = source
        self.live = ProgressStream(source)
        self.memory = CostLimitedCache()
        self.headlines: dict[tuple[int, str], str] = {}
        own, report = _package_files("unseen.web", "static"), _package_files("unseen.show", "templates")
        self.files = {**own, "dashboard.css": _style(own["dashboard.css"], report)}
        self.digests = {n: hashlib.sha256(t.encode()).hexdigest()[:12] for n, t in self.files.items()}
        self.templates = {**report, **_package_files("unseen.web", "templates")}

    @cached_property
    def environment(self) -> Any:
        """The templates, with escaping on everywhere."""
        from jinja2 import DictLoader, Environment, StrictUndefined

        environment = Environment(
            loader=DictLoader(self.templates),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(
            cell=cell, heading=heading, prose=prose, sort_key=sort_key, numeric=numeric, count=count
        )
        environment.tests.update(long=lambda v: is_long(v, LONGEST_LINE), name=is_name)
        environment.tests["link"] = lambda v: isinstance(v, Link)
        environment.globals["kind"] = lambda block: type(block).__name__
        environment.globals["static"] = lambda name: f"/static/{name}?v={self.digests[name]}"
        environment.globals.update(version=__version__, store=self.source.title, events="", here="")
        return environment

    def page(self, template: str, code: int = 200, **content: Any) -> Response:
        """Return a page."""
        text = escape_controls(self.environment.get_template(template).render(**content))
        # a lone surrogate of a damaged name must not stop the page
        return HTMLResponse(text.encode("utf-8", "replace"), code)

    def message(self, status: int, title: str, sentence: str) -> Response:
        """Return a page with one sentence."""
        return self.page("message.html", status, title=title, sentence=sentence, status=status)

    def file(self, request: Request) -> Response:
        """Return one of the files beside the pages, from memory."""
        name = request.path_params["name"]
        if name not in self.files:
            raise HTTPException(404)
        headers = {"cache-control": "private, max-age=86400", "etag": f'"{self.digests[name]}"'}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(self.files[name], headers=headers, media_type=TYPES[name.rpartition(".")[2]])

    def study(self, request: Request) -> tuple[str, Any]:
        """Return name and progress of the study that an address names."""
        name = self.source.name_of(request.path_params["key"])
        if name is None:
            raise NotThere("There is no such study in this store.")
        return name, self.progress(name)

    def progress(self, name: str) -> Any:
        """Return the progress of a study."""
        return self.source.ask(lambda store: store.progress(name))
