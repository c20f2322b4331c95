"""Kept rankings, benches, scores and estimates of nets: the sections of their reports as parts of a page."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from unseen.core.errors import UnseenError
from unseen.core.result import Result
from unseen.nets.estimates.records import NetEstimate
from unseen.nets.figures.bench_scatter import BENCH, scatter_info
from unseen.nets.ranking.bench_record import Bench
from unseen.nets.ranking.measure_scores import MeasureScores
from unseen.nets.ranking.ranking_record import NetRanking
from unseen.nets.stored_records import KINDS, from_store
from unseen.show import responsive_svg
from unseen.show.sections import Picture, Section, Table, build
from unseen.show.text import percent_or_number
from unseen.store import Kept
from unseen.web._payload import rows_table
from unseen.web._pictures import clean_svg
from unseen.web._site import Site
from unseen.web._tables import TableView, view

__all__ = ["WORDS", "ReportPart", "nets_headline", "nets_parts", "nets_rows", "read_back"]

log = logging.getLogger("unseen")
WORDS = {
    "nets-rank": "Ranking of networks", "nets-bench": "Bench of measures", "nets-cmi": "Scores of measures", "nets-score": "Score of a measure",
    "nets-estimate": "Error of a net", "nets-augmentations": "Augmented images",
}  # fmt: skip
SCATTER = "scatter"


@dataclass(frozen=True)
class ReportPart:
    """One section of a page: its blocks, tables as views with a name of their own, and links that choose what it shows."""

    id: str
    title: str
    blocks: Sequence[Any]
    choices: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class Rows:
    """A table on the page, and what it is called."""

    view: TableView
    label: str


def read_back(kind: str, payload: Any) -> Result | None:
    """Return the record that was kept; None for other kinds, and if the payload is not what the kind promises.

    Examples
    --------
    >>> read_back("assessment", {"error": 0.05}), read_back("nets-rank", {"names": ["<script>"]})
    (None, None)
    """
    if kind not in KINDS:
        return None
    try:
        return from_store(Kept(id=0, kind=kind, name="", created="", payload=payload))
    except UnseenError as error:
        log.info("a kept %s is shown as plain values: %s", kind, error)
        return None


def nets_headline(kind: str, payload: Any) -> str:
    """Return the answer of a kept record about nets in a few words; empty if it cannot be read back."""
    found = read_back(kind, payload)
    if isinstance(found, NetRanking):
        return f"{found.best} first of {len(found.names)} (probability {found.probability[0, 0]:.2f})"
    if isinstance(found, Bench):
        best = next((line for line in found.lines if not line.control), None)
        return f"{best.measure} {best.cmi:.1f} of 100, noise floor {found.noise_floor:.1f}" if best is not None else ""
    if isinstance(found, MeasureScores):
        name = found.best_first()[0]
        floor = 100 * found.floors[name].quantile
        return f"{name} {100 * found.scores[name].value:.1f} of 100, noise floor {floor:.1f}"
    if isinstance(found, NetEstimate):
        ends = () if found.interval is None else tuple(percent_or_number(v, found.loss) for v in found.interval)
        return percent_or_number(found.value, found.loss) + (f" ({ends[0]} to {ends[1]})" if ends else "")
    return "" if found is None else str(found)


def nets_rows(kind: str, payload: Any) -> Table | None:
    """Return the table of a kept record about nets, for comparisons and downloads."""
    found = read_back(kind, payload)
    return None if found is None else rows_table(found.rows(), ordered=True)


def nets_parts(site: Site, kept: Any, query: Sequence[tuple[str, str]]) -> list[ReportPart] | None:
    """Return the sections of a kept record about nets; None if it is of another kind or cannot be read back.

    Parameters
    ----------
    site : Site
        The dashboard; it remembers what was drawn, since records never change.
    kept : Kept
        The record.
    query : sequence of (str, str)
        Query of the address: how long tables are sorted, and which measure the scatter shows.
    """
    found = read_back(kept.kind, kept.payload)
    if found is None:
        return None
    place = (kept.id, kept.created)
    sections = site.memory.get((place, "sections"), 0, lambda: _sections_of(found), last=True)
    if sections is None:
        return None
    return [_part(one, query) if one.id != SCATTER else _scatter(site, place, found, one, query) for one in sections]


def _sections_of(found: Result) -> list[Section] | None:
    """Return the report's sections with pictures that the page's policy lets through."""
    try:
        return [replace(one, blocks=[_clean(block) for block in one.blocks]) for one in build(found)]
    except Exception:  # a payload is whatever was put into the store; it may be well formed and still make no figure
        log.warning("the sections of a kept %s could not be made", type(found).__name__, exc_info=True)
        return None


def _clean(block: Any) -> Any:
    return replace(block, svg=Markup(clean_svg(block.svg))) if isinstance(block, Picture) else block


def _part(one: Section, query: Sequence[tuple[str, str]]) -> ReportPart:
    tables = sum(isinstance(block, Table) for block in one.blocks)
    blocks: list[Any] = []
    for block in one.blocks:
        if not isinstance(block, Table):
            blocks.append(block)
            continue
        number = sum(isinstance(b, Rows) for b in blocks) + 1
        label = one.title if tables == 1 else f"{one.title}, {number} of {tables}"
        blocks.append(Rows(view(block, f"{one.id}-{number}", query), label))
    return ReportPart(one.id, one.title, blocks)


def _scatter(site: Site, place: Any, found: Any, one: Section, query: Sequence[tuple[str, str]]) -> ReportPart:
    """Return the scatter of the measure that the address asks for, the best by default, with links to the others."""
    names = [line.measure for line in found.lines] if isinstance(found, Bench) else found.best_first()
    names = [name for name in names if name in found.values]
    best = next((n for n in names if not (isinstance(found, Bench) and found.line(n).control)), names[0])
    asked = dict(query).get(SCATTER, "")
    shown = asked if asked in names else best
    rest = [(name, value) for name, value in query if name != SCATTER]
    choices = [
        {"word": name, "chosen": name == shown, "place": f"?{urlencode([*rest, (SCATTER, name)])}#{SCATTER}"}
        for name in names
    ]
    if shown == best:
        return replace(_part(one, query), choices=choices)
    picture = site.memory.get((place, SCATTER, shown), 0, lambda: _scatter_picture(found, shown), last=True)
    title = f"Gap against {shown}"
    return ReportPart(one.id, title, [picture] if picture is not None else one.blocks, choices)


def _scatter_picture(found: Bench | MeasureScores, measure: str) -> Picture | None:
    numbers = scatter_info(found, measure)
    if numbers is None:
        return None
    picture = Markup(clean_svg(responsive_svg(BENCH, numbers)))
    return Picture(picture, BENCH.caption, f"Gap against {measure}: {numbers.summary}")
