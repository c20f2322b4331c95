"""Pages of one study: progress, figures, summary, failed tasks, cells, spec, and downloads."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from unseen.show.sections import Table
from unseen.study.summary_table import split_columns
from unseen.web._download import study_csv, study_json, table_csv
from unseen.web._live import news_of
from unseen.web._payload import rows_table
from unseen.web._records import attachment
from unseen.web._site import Site, query_of
from unseen.web._source import NotThere
from unseen.web._summary import LiveSummary, glance, live_summary, summary_rows
from unseen.web._tables import view
from unseen.web._words import count, key_of

__all__ = ["cells_page", "failures_page", "glance_page", "live_page", "results", "study_page", "summary_csv"]

AT_ONCE = 20_000  # results that are summed up well within a second
CELLS_SHOWN = 20  # a table that fits on a screen; a page of its own shows all
# one screen of rows
REASONS_SHOWN = 20
NAMES = ("population", "model", "n", "method")


def _cached_summary(site: Site, name: str, progress: Any, figures: bool, narrow: bool) -> LiveSummary:
    """Return what a study has found so far, made no more often than its cost allows."""
    stamp = (progress.done, progress.failed, progress.state, progress.updated)
    return site.memory.get(
        (name, figures, narrow),
        stamp,
        lambda: site.source.ask(lambda store: live_summary(store, name, progress, figures, narrow)),
        last=progress.state != "running",
    )


def _live_content(
    site: Site, name: str, progress: Any, query: Any, *, figures: bool, narrow: bool = False
) -> dict[str, Any]:
    part = _cached_summary(site, name, progress, figures, narrow)
    first, others = (None, None) if part.table is None else split_columns(part.table)
    none_yet = "The first results of this study have not come in yet."
    nothing = none_yet if progress.done < 2 else "There is no figure for this study."
    return {
        "key": key_of(name),
        "name": name,
        "stamp": part.stamp,
        "drawn": figures,
        "figures": part.figures,
        "no_figures": nothing,
        "lead": part.lead,
        "sentences": part.sentences,
        "summary": None if first is None else view(first, "summary-rows", query),
        "others": None if others is None else view(others, "other-rows", query),
        "no_summary": none_yet,
    }


def _later(name: str) -> dict[str, Any]:
    """Return an empty part, which the page replaces by itself when a long summary is ready."""
    return {
        "key": key_of(name),
        "name": name,
        "stamp": "",
        "drawn": False,
        "figures": (),
        "no_figures": "",
        "lead": "",
        "sentences": (),
        "summary": None,
        "others": None,
        "no_summary": "The results are being summed up.",
    }


def study_page(site: Site, request: Request) -> Response:
    """Return the page of a study; its figures are asked for by the page itself, so that it is there at once."""
    name, progress = site.study(request)
    query = query_of(request)
    cells = site.source.ask(lambda store: store.cells(name))
    spec = {k: v for k, v in site.source.ask(lambda store: store.spec(name)).items() if k != "folder"}
    failed, sentence = _reasons(site, name, cells) if progress.failed else (None, "")
    key = key_of(name)
    at_once = progress.done <= AT_ONCE
    content = _live_content(site, name, progress, query, figures=False) if at_once else _later(name)
    return site.page(
        "study.html",
        **content,
        title=name,
        news=news_of(progress),
        events=f"/events?study={key}",
        failed=None if failed is None else view(failed, "reasons", query),
        failed_sentence=sentence,
        cells=view(_cells_table(cells[:CELLS_SHOWN]), "cell-rows", query),
        cells_word=f"The cells: {_cells_words(cells)}",
        more_cells=len(cells) if len(cells) > CELLS_SHOWN else 0,
        spec=json.dumps(spec, indent=2, ensure_ascii=False),
    )


def live_page(site: Site, request: Request) -> Response:
    """Return figures and summary: as a part for the page that asks, or as a page for those who open it."""
    name, progress = site.study(request)
    content = _live_content(site, name, progress, query_of(request), figures=True, narrow=_is_narrow(request))
    if request.headers.get("hx-request") == "true":
        return site.page("live.html", **content)
    return site.page("live_page.html", **content, title=name)


def _is_narrow(request: Request) -> bool:
    """Return whether the browser says that its window is as narrow as a phone."""
    return "narrow" in request.query_params


def glance_page(site: Site, request: Request) -> Response:
    """Return one sentence and one picture of a study, for the list of studies."""
    name, progress = site.study(request)
    stamp = (progress.done, progress.failed, progress.state)
    narrow = _is_narrow(request)
    lead, figure = site.memory.get(
        (name, "glance", narrow),
        stamp,
        lambda: site.source.ask(lambda store: glance(store, name, progress, narrow)),
        last=progress.state != "running",
    )
    return site.page("glance.html", key=key_of(name), lead=lead, figure=figure)


def _cells_words(cells: list[dict[str, Any]]) -> str:
    """Return how many of what were crossed."""
    kinds = {name: len({str(c.get(name)) for c in cells}) for name in NAMES}
    words = {"population": "population", "model": "model", "n": "size", "method": "method"}
    return " × ".join(f"{count(kinds[n])} {words[n]}{'' if kinds[n] == 1 else 's'}" for n in NAMES)


def _cells_table(cells: list[dict[str, Any]], first: int = 0) -> Table:
    rows = [
        {"cell": first + k, **{n: c.get(n) for n in NAMES}, "options": (c.get("how") or c).get("options") or None}
        for k, c in enumerate(cells)
    ]
    return rows_table(rows, ordered=True)


def _reasons(site: Site, name: str, cells: list[dict[str, Any]]) -> tuple[Table, str]:
    failures = site.source.ask(lambda store: store.failures(name))
    frequency = Counter(one["reason"] for one in failures)
    example = {one["reason"]: one for one in reversed(failures)}
    rows = [
        [reason, number, _label(cells, example[reason]["cell"])]
        for reason, number in frequency.most_common(REASONS_SHOWN)
    ]
    more = f" The {REASONS_SHOWN} most frequent reasons are shown." if len(frequency) > REASONS_SHOWN else ""
    tasks = "1 task" if len(failures) == 1 else f"{count(len(failures))} tasks"
    sentence = f"{tasks} failed and {'is' if len(failures) == 1 else 'are'} left out of the numbers above.{more}"
    return Table(["reason", "tasks", "first in"], rows), sentence


def _label(cells: list[dict[str, Any]], index: int) -> str:
    cell = cells[index] if 0 <= index < len(cells) else {}
    return ", ".join(f"n = {cell[n]}" if n == "n" else str(cell[n]) for n in NAMES if n in cell) or f"cell {index}"


def failures_page(site: Site, request: Request) -> Response:
    """Return every failed task."""
    name, _ = site.study(request)
    cells = site.source.ask(lambda store: store.cells(name))
    found = site.source.ask(lambda store: store.failures(name))
    rows = [[_label(cells, one["cell"]), one["replication"], one["attempts"], one["reason"]] for one in found]
    table = Table(["cell", "replication", "attempts", "reason"], rows, "Tasks that failed, and why.")
    return _rows_page(site, request, name, "Failed tasks", table, "No task of this study has failed.")


def cells_page(site: Site, request: Request) -> Response:
    """Return every cell."""
    name, _ = site.study(request)
    table = _cells_table(site.source.ask(lambda store: store.cells(name)))
    return _rows_page(site, request, name, "Cells", table, "This study has no cells.")


def _rows_page(site: Site, request: Request, name: str, heading: str, table: Table, nothing: str) -> Response:
    shown = view(table, "rows-table", query_of(request))
    title = f"{heading} of {name}"
    return site.page(
        "rows.html", title=title, heading=heading, name=name, key=key_of(name), view=shown, nothing=nothing
    )


def results(site: Site, request: Request) -> Response:
    """Return every finished task as CSV or JSON."""
    name, progress = site.study(request)
    cells = site.source.ask(lambda store: store.cells(name))
    columns = site.source.ask(lambda store: store.columns(name))
    if request.path_params["ending"] == "csv":
        return attachment(study_csv(columns, cells), name, "csv", "text/csv")
    spec = {k: v for k, v in site.source.ask(lambda store: store.spec(name)).items() if k != "folder"}
    head = {"study": name, "state": progress.state, "total": progress.total, "done": progress.done, "spec": spec}
    return attachment(study_json(head, columns, cells), name, "json", "application/json")


def summary_csv(site: Site, request: Request) -> Response:
    """Return the summary as CSV, every Monte-Carlo error in a column of its own."""
    name, progress = site.study(request)
    rows = site.memory.get(
        (name, "rows"),
        (progress.done, progress.failed),
        lambda: site.source.ask(lambda store: summary_rows(store, name)),
        last=progress.state != "running",
    )
    if not rows:
        raise NotThere("The first results of this study have not come in yet.")
    table = Table(list(rows[0]), [list(row.values()) for row in rows])
    return attachment(table_csv(table), f"{name} summary", "csv", "text/csv")
