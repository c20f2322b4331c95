"""Two or more studies, or two or more kept results, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from unseen.show.sections import Table, TableCell
from unseen.show.text import RATES
from unseen.study.summary_table import ORDER, WORDS, unit_of, with_error
from unseen.web._dots import Dot, dots, number_of
from unseen.web._nets import WORDS as NETS
from unseen.web._payload import record_of
from unseen.web._records import KIND_WORDS, find_record, first_table
from unseen.web._site import Site, query_of
from unseen.web._source import NotThere
from unseen.web._summary import rows_with_losses
from unseen.web._tables import TableView, view
from unseen.web._units import answer_of, row_in_units, unit_of_column
from unseen.web._words import key_of

__all__ = ["ComparedItem", "ComparisonPart", "compare_page", "compare_rows"]

MOST_ITEMS = 8  # columns of a table that fit on a screen
# a list that one still reads
MOST_OFFERED = 60
MOST_ROWS_DRAWN = 30  # a taller picture does not fit on a screen
COUNTS = ("replications", "failed")
KEYS = (
    "population",
    "model",
    "n",
    "method",
    "name",
    "table",
    "cell",
    "check",
    "a",
    "b",
    "measure",
    "dataset",
    "net",
    "network",
)


@dataclass(frozen=True, kw_only=True)
class ComparedItem:
    """A study or a kept result on the page: its name and its rows."""

    item: str
    name: str
    kind: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ComparisonPart:
    """One section of the page."""

    title: str
    view: TableView
    sentences: tuple[str, ...] = ()
    quantities: tuple[dict[str, Any], ...] = ()
    picture: Markup | None = None
    alt: str = ""
    caption: str = ""


def compare_page(site: Site, request: Request) -> Response:
    """Return the page for the items that the address names, and links to add or take away others."""
    query = query_of(request)
    items = list(dict.fromkeys(value for name, value in query if name == "item"))[:MOST_ITEMS]
    chosen = [_find(site, item) for item in items]
    others = [(name, value) for name, value in query if name != "item"]

    def place(wanted: Sequence[str]) -> str:
        return "/compare?" + urlencode([*(("item", i) for i in wanted), *others]) if wanted else "/compare"

    families: dict[str, list[ComparedItem]] = {}
    for one in chosen:
        families.setdefault(one.kind, []).append(one)
    parts = [p for k, (kind, family) in enumerate(families.items()) for p in _parts(kind, family, query, f"f{k}")]
    links = [
        {"name": c.name, "kind": KIND_WORDS.get(c.kind, c.kind), "without": place([i for i in items if i != c.item])}
        for c in chosen
    ]
    full = len(items) >= MOST_ITEMS
    offered = (
        []
        if full
        else [
            {**o, "kind": KIND_WORDS.get(o["kind"], o["kind"]), "place": place([*items, o["item"]])}
            for o in _other_items(site)
            if o["item"] not in items
        ]
    )
    return site.page("compare.html", title="Compare", here="/compare", chosen=links, parts=parts, offered=offered)


def _other_items(site: Site) -> list[dict[str, str]]:
    studies = site.source.ask(lambda store: store.studies())[:MOST_OFFERED]
    kept = site.source.ask(lambda store: store.records(limit=MOST_OFFERED))
    return [
        *({"item": f"study.{key_of(p.name)}", "name": p.name, "kind": "study"} for p in studies),
        *({"item": f"kept.{k.id}", "name": k.name or "(no name)", "kind": k.kind} for k in kept),
    ]


def _find(site: Site, item: str) -> ComparedItem:
    family, _, key = item.partition(".")
    if family == "study":
        name = site.source.name_of(key)
        if name is not None:
            return ComparedItem(item=item, name=name, kind="study", rows=_study_rows(site, name))
    if family == "kept" and key.isascii() and key.isdigit() and len(key) < 19:
        kept = find_record(site, int(key))
        table = first_table(kept)
        payload = kept.payload if isinstance(kept.payload, dict) else {}
        # an assessment says once what all its estimates are of
        shared = {"loss": payload["loss"]} if kept.kind == "assessment" and "loss" in payload else {}
        rows = (
            [] if table is None else [row_in_units({**shared, **dict(zip(table.columns, row))}) for row in table.rows]
        )
        return ComparedItem(
            item=item, name=kept.name or f"number {kept.id}", kind=kept.kind, rows=rows, payload=payload
        )
    raise NotThere("This store does not hold everything that this address asks to compare.")


def _study_rows(site: Site, name: str) -> list[dict[str, Any]]:
    progress = site.progress(name)
    stamp = (progress.done, progress.failed, progress.state, progress.updated)
    make = lambda: site.source.ask(lambda store: rows_with_losses(store, name))  # noqa: E731
    return site.memory.get((name, "rows"), stamp, make, last=progress.state != "running")


def _parts(kind: str, family: list[ComparedItem], query: Any, id: str) -> list[ComparisonPart]:
    names = _distinct_names(family)
    parts = []
    if kind == "assessment":
        parts.append(_errors(family, names, f"{id}-errors", query))
    part = compare_rows([one.rows for one in family], names, kind, f"{id}-rows", query)
    if part is not None:
        parts.append(part)
    elif kind != "assessment" and kind != "study":
        parts.append(_facts(family, names, kind, f"{id}-facts", query))
    return parts


def _distinct_names(family: list[ComparedItem]) -> list[str]:
    """Return names that differ between items."""
    names = [one.name for one in family]
    return [n if names.count(n) == 1 else f"{n} ({one.item.partition('.')[2]})" for n, one in zip(names, family)]


def _errors(family: list[ComparedItem], names: list[str], id: str, query: Any) -> ComparisonPart:
    """Return the errors of assessments on one axis."""
    answers = [answer_of(one.payload) for one in family]
    kinds = list(dict.fromkeys(a.name for a in answers if a is not None))
    one_kind = len(kinds) == 1
    what = kinds[0] if one_kind else "value"
    columns = [
        "name",
        *([] if one_kind else ["measure"]),
        what,
        "lower",
        "upper",
        "level",
        "loss",
        "target",
        "model",
        "n",
    ]
    rows, marks = [], []
    for one, name, found in zip(family, names, answers):
        rest = [one.payload.get(k) for k in ("level", "loss", "target", "model", "n")]
        if found is None:
            rows.append([name, *([] if one_kind else [None]), None, None, None, *rest])
            continue
        ends = (found.value, found.low, found.high)
        cells = [None if v is None else TableCell(found.say(v), v) for v in ends]
        rows.append([name, *([] if one_kind else [found.name]), *cells, *rest])
        scale = 100 if found.measure in RATES else 1
        low, high = (None if v is None else scale * v for v in ends[1:])
        marks.append((name, [Dot(0, scale * found.value, low, high)]))
    differ = [
        w for k, w in (("loss", "losses"), ("target", "targets")) if len({str(o.payload.get(k)) for o in family}) > 1
    ]
    words = (
        (f"These results have different {' and '.join(differ)}; their errors do not measure the same thing.",)
        if differ
        else ()
    )
    overlap = (
        "The command unseen compare tests on the same data whether two models differ; overlap of intervals does not."
    )
    axis = f"{what} and its interval"
    if any(a is not None and a.measure in RATES for a in answers):
        axis += ", per cent of cases"
    picture = dots(marks, [what], axis) if marks and "losses" not in differ else None
    alt = "; ".join(f"{name}: {a.say(a.value)}" for name, a in zip(names, answers) if a is not None)
    return ComparisonPart(
        title="Errors" if what in ("error", "value") else what,
        view=view(Table(columns, rows), id, query),
        sentences=(*words, overlap),
        quantities=(),
        picture=picture,
        alt=f"{what[:1].upper()}{what[1:]}: {alt}",
        caption="Points are estimates, lines their intervals.",
    )


def compare_rows(
    families: list[list[dict[str, Any]]], names: list[str], kind: str, id: str, query: Any
) -> ComparisonPart | None:
    """Return one quantity of several tables side by side, matched by the columns that name a row.

    Parameters
    ----------
    families : list of lists of dict
        The rows of each item.
    names : list of str
        What the items are called.
    kind : str
        What they are.
    id : str
        Name of the table on the page; the query `{id}.show` chooses the quantity.
    query : sequence of (str, str)
        Query of the address.

    Examples
    --------
    >>> a, b = [{"method": "loo", "rms": 0.1}], [{"method": "loo", "rms": 0.25}]
    >>> part = compare_rows([a, b], ["one", "two"], "study", "t", [])
    >>> part.view.table.columns, part.view.table.rows
    (['method', 'one', 'two', 'difference'], [['loo', 0.1, 0.25, 0.15]])
    """
    filled = [rows for rows in families if rows]
    if not filled:
        return None
    shared = [k for k in KEYS if all(k in rows[0] for rows in filled)]
    # where the first names tell all rows apart, further words only lengthen them
    keys = next(
        (shared[:k] for k in range(1, len(shared)) if all(_distinct(rows, shared[:k]) for rows in filled)), shared
    )
    columns = list(dict.fromkeys(c for rows in filled for c in rows[0]))
    quantities = [
        c
        for c in columns
        if c not in keys
        and not c.endswith("_error")
        and any(2 * sum(number_of(row.get(c)) is not None for row in rows) >= len(rows) for rows in filled)
    ]
    if not keys or not quantities:
        return None
    quantities.sort(key=lambda q: (q in COUNTS, ORDER.index(q) if q in ORDER else len(ORDER)))
    asked = dict(query).get(f"{id}.show", "")
    # what one row in two has: the parts of a single estimate are in its own downloads
    preferred = [q for q in ("rms", "ours", "value", "estimate", "difference", "cmi", "score") if q in quantities]
    shown = asked if asked in quantities else next(iter(preferred), quantities[0])
    by_key = [{tuple(row.get(k) for k in keys): row for row in rows} for rows in families]
    labels = list(dict.fromkeys(key for rows in by_key for key in rows))
    units = _units(by_key, labels, kind, shown)
    units_found = {unit for line in units for unit in line if unit is not None}
    table = _comparison_table(by_key, labels, keys, names, shown, units)
    words = _words(keys, labels)
    rest = [(n, v) for n, v in query if not n.startswith(f"{id}.")]
    choice = tuple(
        {"word": _word(q), "chosen": q == shown, "place": f"?{urlencode([*rest, (f'{id}.show', q)])}#part-{id}"}
        for q in quantities
    )
    # numbers of two units have no place on one axis
    picture, alt = _picture(by_key, labels, keys, names, shown, *units_found) if len(units_found) == 1 else (None, "")
    points = " (points)" if units_found == {"points"} else ""
    caption = "Lines reach two Monte-Carlo errors to each side." if any(f"{shown}_error" in c for c in columns) else ""
    title = "Studies" if kind == "study" else NETS.get(kind, kind.capitalize())
    return ComparisonPart(
        title=f"{title}: {_word(shown)}{points}",
        view=view(table, id, query),
        sentences=words,
        quantities=choice,
        picture=picture,
        alt=alt,
        caption=caption,
    )


def _distinct(rows: list[dict[str, Any]], keys: list[str]) -> bool:
    """Say whether some columns tell all rows apart."""
    return len({tuple(row.get(k) for k in keys) for row in rows}) == len(rows)


def _word(quantity: str) -> str:
    return WORDS.get(quantity, quantity.replace("_", " "))


def _words(keys: list[str], labels: list[Any]) -> tuple[str, ...]:
    same = [f"{k} {labels[0][i]}" for i, k in enumerate(keys) if len(labels) > 1 and len({x[i] for x in labels}) == 1]
    return (f"In every row: {', '.join(same)}.",) if same else ()


def _units(by_key: list[Any], labels: list[Any], kind: str, shown: str) -> list[list[str | None]]:
    """Return the unit of each cell, None for one that an item lacks.

    A study says what its errors are means of, a kept table does so in a column.
    """

    def unit(row: dict[str, Any]) -> str:
        study = unit_of(shown, str(row.get("loss"))) if kind == "study" else ""
        return study or unit_of_column(shown, row, "difference" in row)

    return [[unit(rows[label]) if label in rows else None for rows in by_key] for label in labels]


def _comparison_table(
    by_key: list[Any],
    labels: list[Any],
    keys: list[str],
    names: list[str],
    shown: str,
    units: list[list[str | None]],
) -> Table:
    wanted = [i for i in range(len(keys)) if len(labels) == 1 or len({x[i] for x in labels}) > 1]
    rows = []
    for label, line_units in zip(labels, units):
        found = [rows.get(label, {}) for rows in by_key]
        values = [number_of(r.get(shown)) for r in found]
        line = [label[i] for i in wanted]
        line += [with_error(v, r.get(f"{shown}_error"), unit or "") for v, r, unit in zip(values, found, line_units)]
        if len(found) == 2:
            first, second = values
            # numbers of two units have no difference
            alike = line_units[0] == line_units[1]
            gap = None if first is None or second is None or not alike else round(second - first, 12)
            line.append(with_error(gap, unit="points" if line_units[0] else ""))
        rows.append(line)
    in_points = all(unit for line in units for unit in line if unit is not None)
    gap_head = "difference (points)" if in_points else "difference"
    return Table([*(keys[i] for i in wanted), *names, *([gap_head] if len(names) == 2 else [])], rows)


AXES = {"%": ", per cent", "points": ", percentage points", "": ""}


def _picture(by_key: list[Any], labels: list[Any], keys: list[str], names: list[str], shown: str, unit: str) -> Any:
    if len(labels) > MOST_ROWS_DRAWN:
        return None, ""
    wanted = [i for i in range(len(keys)) if len(labels) == 1 or len({x[i] for x in labels}) > 1]
    scale = 100 if unit else 1
    rows = []
    for label in labels:
        marks = []
        for k, rows_of_item in enumerate(by_key):
            row = rows_of_item.get(label, {})
            value, error = number_of(row.get(shown)), number_of(row.get(f"{shown}_error"))
            if value is not None:
                reach = (None, None) if error is None else (scale * (value - 2 * error), scale * (value + 2 * error))
                marks.append(Dot(k, scale * value, *reach))
        if marks:
            words = ", ".join(f"n = {label[i]}" if keys[i] == "n" else str(label[i]) for i in wanted)
            rows.append((words, marks))
    if not rows:
        return None, ""
    words = "; ".join(
        f"{label}: " + ", ".join(f"{names[m.series]} {m.value:.4g}" for m in marks) for label, marks in rows
    )
    axis = f"{_word(shown)}{AXES[unit]}"
    return dots(rows, names, axis), f"{axis}: {words}"


def _facts(family: list[ComparedItem], names: list[str], kind: str, id: str, query: Any) -> ComparisonPart:
    tables = [record_of(one.payload).facts for one in family]
    facts: list[dict[str, Any]] = [{} if t is None else {str(row[0]): row[1] for row in t.rows} for t in tables]
    keys = list(dict.fromkeys(k for f in facts for k in f))
    table = Table(["what", *names], [[k, *(f.get(k) for f in facts)] for k in keys], sortable=False)
    return ComparisonPart(title=kind.capitalize(), view=view(table, id, query))
