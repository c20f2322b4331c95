"""Sections to HTML: one file, no request, everything from the user escaped."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from unseen._version import __version__
from unseen.core.controls import escape_controls
from unseen.core.writing import written_whole
from unseen.show.figures import figures_for
from unseen.show.inline_svg import PALETTE_CSS
from unseen.show.sections import Picture, Pictures, Section, Table, TableCell, build, builders_for, picture, table_of

__all__ = ["fragment", "render", "write"]

# fits into one line of a browser tab list or bookmark
LONGEST_TITLE = 90
# rows of a table in a notebook; more are for `frame()`
MOST_ROWS = 200
# longer text in a cell breaks into lines instead of widening the table
LONGEST_LINE = 26
# a name such as corrected-t is not broken at its hyphen; longer ones are, so that tables still fit
LONGEST_NAME = 15
# an interval, a value with its error, a bound: what belongs together stays on one line
_ONE_LINE = re.compile(r"\S+( points)? (to|±) \S+( points)?|[<>] \S+")
# a p-value, and a number with its unit, stay on one line of a sentence
_TOGETHER = re.compile(r"\bp (?:=|&lt;|&gt;) (?=\d)|(?<=\d) (?=(?:ms|s|min|h)\b)")
# a column named as in `frame()`
_OF_FRAME = re.compile(r"[a-z]+(_[a-z0-9]+)+")


def _template_text(name: str) -> str:
    return (resources.files("unseen.show") / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import BaseLoader, Environment, StrictUndefined

    class PackageLoader(BaseLoader):
        def get_source(self, environment: Any, template: str) -> tuple[str, str, Any]:
            return _template_text(template), template, lambda: True

    environment = Environment(
        loader=PackageLoader(), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["cell"] = cell
    environment.filters["sort_key"] = sort_key
    environment.filters["numeric"] = numeric
    environment.tests["number"] = is_number
    environment.tests.update(long=is_long, name=is_name)
    environment.filters["heading"] = heading
    environment.filters["prose"] = prose
    environment.globals["kind"] = lambda block: type(block).__name__
    return environment


def cell(value: Any) -> str:
    """Return a table cell's text: four significant digits, large and small numbers written out, a dash for no value.

    Examples
    --------
    >>> cell(0.123456), cell(25620.3), cell(None), cell(True), cell(12)
    ('0.1235', '25620', '–', 'yes', '12')
    >>> cell(-8.333e-06), cell(1e-9)
    ('-0.0000083', '1e-09')
    """
    if isinstance(value, TableCell):
        return value.text
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        if 1e-7 <= abs(value) < 1e-4:
            return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"
        return f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"
    return str(value)


def heading(name: Any) -> str:
    """Return what a column is called on a page: the names of `frame()` without their underscores.

    Examples
    --------
    >>> heading("std_error"), heading("95% interval"), heading("U_Phe")
    ('std error', '95% interval', 'U_Phe')
    """
    text = str(name)
    return text.replace("_", " ") if _OF_FRAME.fullmatch(text) else text


def prose(text: str) -> Any:
    r"""Return a sentence for a page, what stands in backticks as code, a p-value or a time never broken into two lines.

    Examples
    --------
    >>> str(prose("`unseen assess` tells a < b"))
    '<code>unseen assess</code> tells a &lt; b'
    >>> str(prose("p = 0.16 after 0.4 s, or `p = 0.16`"))
    'p\xa0=\xa00.16 after 0.4\xa0s, or <code>p = 0.16</code>'
    """
    from markupsafe import Markup, escape

    plain, *others = re.split("`([^`<>]+)`", str(escape(text)))
    made = [_unbroken(plain)]
    for code, after in zip(others[::2], others[1::2]):
        made += [f"<code>{code}</code>", _unbroken(after)]
    return Markup("".join(made))


def _unbroken(escaped: str) -> str:
    return _TOGETHER.sub(lambda match: match[0].replace(" ", "\u00a0"), escaped)


def is_long(value: Any, limit: int = LONGEST_LINE) -> bool:
    """Say whether a cell breaks into lines."""
    return max(len(cell(value)), len(getattr(value, "hint", ""))) > limit


def is_name(value: Any) -> bool:
    """Say whether a cell stays on one line: a short name with a hyphen, an interval, a value with its error.

    Examples
    --------
    >>> [is_name(text) for text in ("corrected-t", "9.5% to 26.1%", "0.13 ± 0.01", "< 0.001", "no difference shown")]
    [True, True, True, True, False]
    """
    text = cell(value)
    short = "-" in text and " " not in text and len(text) <= LONGEST_NAME and not is_number(value)
    return short or _ONE_LINE.fullmatch(text) is not None


def is_number(value: Any) -> bool:
    """Say whether a cell is aligned and sorted as a number."""
    value = value.sort if isinstance(value, TableCell) else value
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def numeric(table: Table) -> list[bool]:
    """Say which columns hold numbers."""
    return [any(is_number(row[k]) for row in table.rows) for k in range(len(table.columns))]


def sort_key(value: Any) -> str:
    """Return what a cell is sorted by; empty comes last."""
    value = value.sort if isinstance(value, TableCell) and value.sort is not None else value
    if is_number(value):
        number = float(value)
        return "" if math.isnan(number) else repr(number)
    return "" if value is None else cell(value)


def render(title: str, sections: list[Section]) -> str:
    """Return the whole page; its one script is allowed by its hash alone."""
    script = _template_text("sort.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    short = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + "…"
    # names of columns, classes and files come from others
    return escape_controls(
        _environment()
        .get_template("report.html")
        .render(
            title=short,
            sections=sections,
            version=__version__,
            script=script,
            digest=digest,
            style=_template_text("report.css"),
            blocks_style=_template_text("blocks.css"),
            palette=PALETTE_CSS,
        )
    )


def title_of(result: Any, sections: Sequence[Section] = ()) -> str:
    """Return the page's title: the result's own, or that of its first section."""
    first = sections[0].title if sections else type(result).__name__
    return str(getattr(result, "title", first))


def write(result: Any, path: str | PathLike[str]) -> Path:
    """Write the report of a result to `path` and return it."""
    target = Path(path)
    sections = build(result)
    page = render(title_of(result, sections), sections)
    with written_whole(target, "the report") as partial:
        # a lone surrogate of a damaged file name must not stop the report
        partial.write_bytes(page.encode("utf-8", "replace"))
    return target


def _with_picture(result: Any, first: Section) -> Section:
    """Return the section with the first figure of the result below its first line, unless it has a picture already."""
    if any(isinstance(block, (Picture, Pictures)) for block in first.blocks):
        return first
    drawn = next((one for f in figures_for(result) if (one := picture(result, f.name)) is not None), None)
    blocks = list(first.blocks)
    return first if drawn is None else replace(first, blocks=[*blocks[:1], drawn, *blocks[1:]])


def _fold_tables(result: Any, first: Section | None) -> list[Section]:
    """Return the tables of the first section, or the rows of a result without any, under a heading that opens."""
    tables = [block for block in first.blocks if isinstance(block, Table)] if first is not None else []
    if not tables:
        try:
            rows = result.rows()
        except TypeError:  # a result without a table form
            return []
        tables = [table_of(rows)] if 0 < len(rows) <= MOST_ROWS else []
    lengths = [len(table.rows) for table in tables]
    return [
        Section("table", f"Table of {n} row{'s' * (n != 1)}", [table], folded=True) for n, table in zip(lengths, tables)
    ]


def fragment(result: Any) -> str:
    """Return a result for a notebook: the first section of its report, a picture if that has none, and its table folded.

    Its style touches nothing else on the page.
    """
    made = (builder(result) for builder in builders_for(result))
    first = next((section for section in made if section is not None), None)
    folded = _fold_tables(result, first)
    if first is not None:
        first = replace(first, blocks=[block for block in first.blocks if not isinstance(block, Table)])
    sections = [*([] if first is None else [_with_picture(result, first)]), *folded]
    return escape_controls(
        _environment()
        .get_template("fragment.html")
        .render(sections=sections, style=_template_text("blocks.css"), palette=PALETTE_CSS)
    )
