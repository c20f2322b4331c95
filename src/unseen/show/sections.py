"""What a report is made of, and the registry of functions that make its sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unseen.core.notes import Note
from unseen.core.versions import package_versions
from unseen.show.figures import Figure, figures_for, load_owners
from unseen.show.inline_svg import responsive_svg

__all__ = [
    "Alarm",
    "Block",
    "Code",
    "Notes",
    "Picture",
    "Pictures",
    "Section",
    "Table",
    "TableCell",
    "Text",
    "build",
    "figure_section",
    "figure_sections",
    "picture",
    "repeat_section",
    "section",
    "table_of",
]

# a longer text repeats the table line by line
MOST_LINES = 6
# a longer table stands after the figures
LONG_TABLE = 12


@dataclass(frozen=True)
class Text:
    """A paragraph; `lead` sets it large."""

    text: str
    lead: bool = False


@dataclass(frozen=True)
class TableCell:
    """A table cell whose text is not its value: `sort` orders its column, `hint` is a small second line."""

    text: str
    sort: float | str | None = None
    hint: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under named columns; numbers are aligned right, columns of three rows or more can be sorted unless `sortable` is False."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    sortable: bool = True


@dataclass(frozen=True)
class Picture:
    """Inline SVG made by this package, with a caption that says how to read it."""

    svg: str
    caption: str = ""
    alt: str = ""


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side, as many in a row as fit."""

    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Code:
    """Text set as code."""

    text: str
    caption: str = ""


@dataclass(frozen=True)
class Notes:
    """Coded notes with advice."""

    notes: Sequence[Note]


@dataclass(frozen=True)
class Alarm:
    """A framed warning that stands before everything else: why the result cannot be trusted, and what to do."""

    text: str
    advice: str = ""


Block = Text | Table | Picture | Pictures | Code | Notes | Alarm


@dataclass(frozen=True)
class Section:
    """A titled part of a report; `id` is its anchor. A folded one shows its title until a reader opens it."""

    id: str
    title: str
    blocks: Sequence[Block]
    folded: bool = False


Builder = Callable[[Any], Section | None]


@dataclass(frozen=True)
class _Registered:
    """A function that makes a section, the class of result it is for, and its place in the report."""

    order: int
    record: type
    builder: Builder


_registered: list[_Registered] = []


def section(record: type, order: int) -> Callable[[Builder], Builder]:
    """Register a function that makes a section for a class of result, or None if it has nothing to say."""

    def add(builder: Builder) -> Builder:
        _registered.append(_Registered(order, record, builder))
        return builder

    return add


def build(result: Any) -> list[Section]:
    """Return the sections for a result, in order; with none registered, its table and figures."""
    return [made for builder in builders_for(result) if (made := builder(result)) is not None]


def builders_for(result: Any) -> list[Builder]:
    """Return the functions that make a result's sections, in order."""
    load_owners(type(result))
    found = [one for one in sorted(_registered, key=lambda one: one.order) if isinstance(result, one.record)]
    if found:
        return [one.builder for one in found]
    figures = [lambda r, f=f: figure_section(r, f.name, f.name, f.title) for f in figures_for(result)]
    if figures and len(result.rows()) > LONG_TABLE:
        return [lambda r: _plain_section(r, table=False), *figures, _rows_section]
    return [_plain_section, *figures]


def _rows_section(result: Any) -> Section:
    """Return all rows, after the figures that sum them up."""
    return Section("numbers", "Numbers", [table_of(result.rows())], folded=True)


def _plain_section(result: Any, table: bool = True) -> Section:
    first, *more = str(result).splitlines() or [""]
    rows = result.rows() if table else []
    blocks: list[Block] = [
        Text(first, lead=True),
        *(Text(line) for line in more if (table and not rows) or len(more) < MOST_LINES),
    ]
    if rows:
        blocks.append(table_of(rows))
    notes = tuple(getattr(result, "notes", ()))
    return Section("result", _class_in_words(type(result)), [*blocks, *([Notes(notes)] if notes else [])])


def _class_in_words(cls: type) -> str:
    """Return the name of a class as a title: TrainingProgress is "Training progress"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).capitalize()


def repeat_section(command: str, facts: Sequence[Sequence[Any]], *more: Block) -> Section:
    """Return how to repeat a result: the command line or the call that made it, its settings, and what else belongs to them.

    Parameters
    ----------
    command : str
        As it is typed; empty if it is not known.
    facts : sequence of pairs
        Names and values of settings.
    *more : Block
        Further blocks.
    """
    same = "The same command with the same data and versions gives the same numbers."
    code = [Code(command, same)] if command else []
    named = {name for name, _ in facts}  # a stored result knows the versions that made it
    versions = [[f"{name} version", number] for name, number in package_versions().items()]
    rows = [*facts, *(row for row in versions if row[0] not in named)]
    return Section(
        "repeat",
        "How to repeat this",
        [*code, Table(["what", "value"], rows, "Settings.", sortable=False), *more],
        folded=True,
    )


def table_of(
    rows: Sequence[Mapping[str, Any]],
    caption: str = "",
    *,
    percent: Collection[str] = (),
    points: Collection[str] = (),
    heads: Mapping[str, str] | None = None,
) -> Table:
    """Return a table block for rows given as dicts.

    Parameters
    ----------
    rows : sequence of mappings
        One per line.
    caption : str
        What stands above.
    percent, points : collection of str
        Columns that hold shares, shown in per cent, and differences of shares, shown in percentage points.
    heads : mapping of str to str, optional
        What columns are called on the page; "" leaves one out.
    """
    heads = heads or {}
    # a column without a negative difference needs no signs
    signed = {name for name in points if any(isinstance(v := row.get(name), float) and v < 0 for row in rows)}
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if heads.get(name, name)]

    def shown(name: str, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            return value
        if name in points:
            return TableCell(f"{100 * value + 0.0:{'+' if name in signed else ''}.1f}", value)
        return TableCell(f"{100 * value:.1f}%", value) if name in percent else value

    head = [heads.get(name, name) + (" (points)" if name in points else "") for name in names]
    return Table(head, [[shown(name, row.get(name)) for name in names] for row in rows], caption)


def picture(result: Any, name: str) -> Picture | None:
    """Return a registered figure of a result as a block, or None if it has nothing to draw."""
    for one in figures_for(result):
        if one.name == name:
            numbers = one.info(result)
            return (
                None
                if numbers is None
                else Picture(
                    responsive_svg(one, numbers), getattr(numbers, "caption", one.caption), _in_words(one, numbers)
                )
            )
    return None


def _in_words(one: Figure, numbers: Any) -> str:
    """Return what a picture shows, for those who cannot see it."""
    summary = getattr(numbers, "summary", "")
    return f"{one.title}: {summary}" if summary else one.title


def figure_section(result: Any, name: str, id: str, title: str) -> Section | None:
    """Return a section that holds one figure."""
    made = picture(result, name)
    return None if made is None else Section(id, title, [made])


def figure_sections(result: Any) -> list[Section]:
    """Return one section per figure of a result."""
    made = (figure_section(result, f.name, f.name, f.title) for f in figures_for(result))
    return [s for s in made if s is not None]
