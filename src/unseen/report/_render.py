"""Sections to HTML: one file, no request, everything from the user escaped."""

from __future__ import annotations

import math
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from unseen._version import __version__
from unseen.core.errors import InputError
from unseen.report._sections import Section, build

__all__ = ["fragment", "render", "write"]


@cache
def _environment() -> Any:
    from jinja2 import BaseLoader, Environment, StrictUndefined

    class Packaged(BaseLoader):
        def get_source(self, environment: Any, template: str) -> tuple[str, str, Any]:
            text = (resources.files("unseen.report") / "templates" / template).read_text(encoding="utf-8")
            return text, template, lambda: True

    environment = Environment(
        loader=Packaged(), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["cell"] = cell
    environment.tests["number"] = lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)
    environment.globals["kind"] = lambda block: type(block).__name__
    return environment


def cell(value: Any) -> str:
    """Return a table cell's text: four significant digits, a dash for nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def render(title: str, sections: list[Section]) -> str:
    """Return the whole page."""
    return str(_environment().get_template("report.html").render(title=title, sections=sections, version=__version__))


def title_of(result: Any) -> str:
    """Return the page's title."""
    return str(getattr(result, "title", type(result).__name__))


def write(result: Any, path: str | PathLike[str]) -> Path:
    """Write the report of a result to `path` and return it."""
    target = Path(path)
    page = render(title_of(result), build(result))
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the report to {str(path)!r}: {error.strerror or error}.") from error
    return target


def fragment(result: Any) -> str:
    """Return the first section for a notebook, made of the same parts as the report."""
    first = build(result)[:1]
    return str(_environment().get_template("fragment.html").render(sections=first))
