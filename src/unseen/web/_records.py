"""Pages of kept results: the list, one record, and its downloads."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from unseen.core.result import plain
from unseen.show.sections import Table, TableCell
from unseen.show.text import RATES, percent_or_number
from unseen.web._dots import Dot, dots, number_of
from unseen.web._download import table_csv
from unseen.web._nets import WORDS, nets_headline, nets_parts, nets_rows
from unseen.web._payload import fit_columns, record_of, table_value
from unseen.web._site import Link, Site, query_of
from unseen.web._source import NotThere
from unseen.web._summary import PageFigure
from unseen.web._tables import view
from unseen.web._units import SHARES, SQUARED, answer_of, root, row_in_units, unit_of_column
from unseen.web._words import clock, file_name

__all__ = [
    "KIND_WORDS",
    "attachment",
    "find_record",
    "first_table",
    "headline",
    "latest",
    "list_page",
    "record_page",
    "results",
]

# two screens of rows
PAGE = 50
MOST_DRAWN = 40  # rows of a picture; more do not fit on a screen
LONGEST_ANSWER = 110  # characters of a line in a list
FEW_CHOICES = 12  # links in a line; more fold into a list
# what kinds are called on a page, where their name in the store is no word
KIND_WORDS = {
    "predictionfiles": "predictions",
    "resubstitutions": "error without retraining",
    "errordistribution": "distribution of the error",
    "distributionwithlaw": "distribution of the error",
    "dependence": "permutation test",
    "labelleddisagreement": "difference of two classifiers",
    "testsize": "size of a test set",
    "ncastudy": "non-compartmental analysis",
    "kineticfit": "tracer kinetics of a subject",
    "kineticstudy": "tracer kinetics",
    "groupcomparison": "kinetics of groups",
    "trainingprogress": "training progress",
    "seedruns": "reproduction at several seeds",
    **{k: w.lower() for k, w in WORDS.items()},
}
# errors of a record by their names, and groups whose errors are of the loss that the record names
OF_ERRORS = (
    "error", "errors", "permuted", "permuted mean", "permuted min", "stability", "mean", "low", "high", "law", "test", "train",
    "asymptote",
)  # fmt: skip
OF_THE_LOSS = ("expected rms", "dependence", "learning curve", "noise", "optimism", "splits", "distribution")
ALWAYS_SHARES = ("share", "bound", "disagreement", "power")
LARGEST_ID = 2**63 - 1  # the largest integer of both databases


def headline(kind: str, payload: Any) -> str:
    """Return a record's answer in a few words; empty if it has none of the known ones.

    Examples
    --------
    >>> headline("assessment", {"error": 0.0533, "interval": [0.007, 0.0997], "loss": "zero-one"})
    '5.3% (0.7% to 10.0%)'
    >>> headline("reproduction", {"agreeing": 118, "judged": 120, "checks": [{"passed": True}, {"passed": False}]})
    '118 of 120 cells agree, 1 of 2 checks failed'
    >>> headline("assessment", {"error": 3004.0, "measure": {"name": "rmse", "value": 54.8, "lower": 50.6, "upper": 59.4}})
    'RMSE 54.8 (50.6 to 59.4)'
    """
    if not isinstance(payload, dict):
        return ""
    if kind in WORDS:
        return nets_headline(kind, payload)
    found, sentence = answer_of(payload), payload.get("sentence")
    told = (
        found is not None and found.name in ("", "error") and ("loss" not in payload or payload.get("interval") is None)
    )
    if found is not None and not (told and isinstance(sentence, str)):
        around = (
            "" if found.low is None or found.high is None else f" ({found.say(found.low)} to {found.say(found.high)})"
        )
        return f"{'' if found.name in ('', 'error') else f'{found.name} '}{found.say(found.value)}{around}"
    if isinstance(payload.get("agreeing"), int) and isinstance(payload.get("judged"), int):
        return _outcome(payload)
    pairs = payload.get("pairs")
    if isinstance(pairs, list) and len(pairs) == 1 and isinstance(pairs[0], dict):
        return str(table_value(pairs[0].get("verdict") or ""))
    if isinstance(sentence, str) and sentence:
        return _first_part(sentence)
    winner = payload.get("winner")
    if isinstance(winner, dict) and "name" in winner:
        return f"{table_value(winner.get('best', 'smallest error'))}: {table_value(winner['name'])}"
    rows = payload.get("rows")
    return f"{len(rows)} rows" if isinstance(rows, list) else ""


def _outcome(payload: dict[str, Any]) -> str:
    """Return how many numbers of a reproduction agree, and how many of its checks fail."""
    checks = payload.get("checks")
    passed = [c.get("passed") for c in checks if isinstance(c, dict)] if isinstance(checks, list) else []
    failed = sum(one is False for one in passed)
    if not payload["judged"] and passed:
        return f"{len(passed) - failed} of {len(passed)} checks hold"
    text = f"{payload['agreeing']} of {payload['judged']} cells agree"
    return f"{text}, {failed} of {len(passed)} checks failed" if failed else text


def _first_part(sentence: str) -> str:
    """Return a sentence that fits a line of a list; a longer one up to where a part of it ends, never inside a bracket.

    Examples
    --------
    >>> _first_part("a.csv has the smallest error, 8.3%; it cannot be told from " + 20 * "a long name ")
    'a.csv has the smallest error, 8.3%'
    >>> _first_part("lda is expected to misclassify 22.7% of new cases (95% interval 8.9% to 44.4%; " + 9 * "long " + ")")
    'lda is expected to misclassify 22.7% of new cases'
    """
    if len(sentence) <= LONGEST_ANSWER:
        return sentence
    head, depth, ends, opened = sentence[:LONGEST_ANSWER], 0, [0], 0
    for k, letter in enumerate(head):
        if letter == "(":
            opened = opened if depth else k
            depth += 1
        elif letter == ")":
            depth = max(depth - 1, 0)
        elif not depth and head[k : k + 2] in ("; ", ". ", ": "):
            ends.append(k)
    end = opened if depth else ends[-1]
    return head[:end].rstrip() if end else f"{head.rsplit(' ', 1)[0]} …"


def latest(site: Site, kind: str | None, first: int, number: int) -> tuple[list[dict[str, Any]], bool]:
    """Return some kept records with their headlines, the newest first, and whether there are more."""
    found = site.source.ask(lambda store: store.records(kind, limit=first + number + 1))
    shown_here = found[first : first + number]
    for one in shown_here:
        if (one.id, one.created) not in site.headlines:
            # records never change, so their headlines are read once
            site.headlines[one.id, one.created] = headline(one.kind, one.payload or find_record(site, one.id).payload)
    rows = [
        {
            "id": k.id,
            "kind": KIND_WORDS.get(k.kind, k.kind),
            "name": k.name or "(no name)",
            "created": clock(k.created),
            "headline": site.headlines[k.id, k.created],
        }
        for k in shown_here
    ]
    return rows, len(found) > first + number


def list_page(site: Site, request: Request) -> Response:
    """Return the page of kept records."""
    kind = request.query_params.get("kind") or None
    text = request.query_params.get("page", "0")
    page = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    rows, more = latest(site, kind, page * PAGE, PAGE)
    kinds = sorted({k.kind for k in site.source.ask(lambda store: store.records(limit=1000))})
    # on a phone the first two columns are what one sees
    columns = ["name", "answer", "kind", "kept"]
    table = Table(
        columns, [[Link(r["name"], f"/kept/{r['id']}"), r["headline"], r["kind"], r["created"]] for r in rows]
    )

    def place(number: int) -> str:
        return "/kept?" + urlencode({**({"kind": kind} if kind else {}), "page": number})

    return site.page(
        "kept.html",
        title="Results",
        here="/kept",
        heading=f"Kept results: {KIND_WORDS.get(kind, kind)}" if kind else "Kept results",
        kinds=[(k, KIND_WORDS.get(k, k)) for k in kinds],
        chosen=kind,
        view=view(table, "records"),
        first=page * PAGE + 1,
        last=page * PAGE + len(rows),
        before=place(page - 1) if page else "",
        after=place(page + 1) if more else "",
    )


def find_record(site: Site, id: int) -> Any:
    """Return a kept record."""
    if id > LARGEST_ID:
        raise NotThere(f"There is no result of number {id}.")
    return site.source.ask(lambda store: store.record(id))


def record_page(site: Site, request: Request) -> Response:
    """Return the page of one kept record."""
    kept = find_record(site, request.path_params["id"])
    query = query_of(request)
    about = {
        "title": kept.name or "(no name)",
        "name": kept.name or "(no name)",
        "kind_word": WORDS.get(kept.kind, KIND_WORDS.get(kept.kind, kept.kind).capitalize()),
        "created": clock(kept.created),
        # the date follows it on the same line
        "answer": headline(kept.kind, kept.payload).removesuffix("."),
        "id": kept.id,
        "here": "/kept",
    }
    parts = nets_parts(site, kept, query)
    if parts is not None:
        return site.page("result.html", parts=parts, few=FEW_CHOICES, **about)
    record = record_of(kept.payload)
    shown = {word: _in_units(table, _loss_of(kept.payload)) for word, table in record.tables.items()}
    tables = [(word, view(fit_columns(table), f"t{k}", query)) for k, (word, table) in enumerate(shown.items())]
    facts = None if record.facts is None else view(_facts_with_percent(record.facts, kept.payload), "facts", query)
    groups = [
        (word, view(_group_with_percent(word, table, kept.payload), f"g{k}", query))
        for k, (word, table) in enumerate(record.groups.items())
    ]
    picture = picture_of(kept.payload)
    return site.page("record.html", groups=groups, picture=picture, record=record, facts=facts, tables=tables, **about)


def _in_units(table: Table, loss: str = "") -> Table:
    """Return a table whose errors stand as the sentence above it has them: shares of cases in per cent, squares by their root.

    `loss` is that of the record; the summaries of a distribution are of it, on the scale that each row names.
    """
    gaps = "difference" in table.columns

    def cells(row: Any) -> list[Any]:
        given = dict(zip(table.columns, row))
        if loss in RATES and given.get("scale") == "identity":
            numbers = map(number_of, row)
            return [v if n is None else TableCell(f"{100 * n:.1f}%", n) for v, n in zip(row, numbers)]
        named = row_in_units(given)
        new = [value if named[name] is given[name] else named[name] for name, value in zip(table.columns, row)]
        for k, name in enumerate(table.columns):
            number, unit = number_of(new[k]), unit_of_column(name, named, gaps)
            if unit and number is not None:
                # a standard error has no direction
                sign = "" if name == "std error" else "+"
                text = f"{100 * number + 0.0:{sign}.1f} points" if unit == "points" else f"{100 * number:.1f}%"
                new[k] = TableCell(text, number)
        return new

    return replace(table, rows=[cells(row) for row in table.rows])


def _group_with_percent(word: str, group: Table, payload: dict[str, Any]) -> Table:
    """Return a group of facts, its errors in per cent if they are shares of cases; means of squares are named as such."""
    measured = {value for name, value in group.rows if name in ("loss", "name", "measure name")}
    loss = payload.get("loss")
    if SQUARED in measured:
        called = [[name, "mean squared error" if value == SQUARED else value] for name, value in group.rows]
        return replace(group, rows=called)
    if loss == SQUARED and word in OF_THE_LOSS:
        return replace(group, caption="Errors are mean squared errors.")
    of_loss = loss in RATES and word in OF_THE_LOSS
    if not of_loss and not measured & RATES:
        return group
    given = _leaves(next((value for key, value in payload.items() if str(key).replace("_", " ") == word), {}))

    def shown(name: Any, value: Any) -> Any:
        share = str(name).removeprefix("measure ") in (*SHARES, *OF_ERRORS, "naive", "corrected")
        return _with_percent(given.get(name), value) if share or word == "expected rms" else value

    return replace(group, rows=[[name, shown(name, value)] for name, value in group.rows])


def _leaves(values: Any, above: str = "") -> dict[str, Any]:
    """Return the values of a group by the names that its table gives them."""
    found: dict[str, Any] = {}
    for key, value in values.items() if isinstance(values, dict) else ():
        name = f"{above} {str(key).replace('_', ' ')}".strip()
        found |= _leaves(value, name) if isinstance(value, dict) else {name: value}
    return found


def _with_percent(given: Any, text: Any) -> Any:
    """Return a share, or a list of shares, in per cent; anything else as the text it has."""

    def say(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(say, value))
        number = number_of(value)
        return value if number is None else percent_or_number(number, "zero-one")

    return text if given is None or isinstance(given, (str, bool, dict)) else table_value(say(given))


def _facts_with_percent(facts: Table, payload: Any) -> Table:
    """Return the facts as the sentence says them: shares of cases in per cent, and of squares the root."""
    if not isinstance(payload, dict):
        return facts
    loss = _loss_of(payload)
    as_errors = ("values",) if payload.get("scale") == "identity" else ()
    # what two classifiers disagree on is a share whatever the loss
    rate = loss in RATES or "share" in payload
    squares = payload.get("loss") == SQUARED
    given = _leaves(payload)

    def number(value: float) -> str:
        return f"{root(value):.4g}" if squares else percent_or_number(value, "zero-one")

    def shown(name: Any, value: Any) -> Any:
        one = given.get(name)
        if name == "interval" and (rate or squares) and isinstance(one, list) and len(one) == 2:
            return " to ".join(map(number, one)) if all(isinstance(v, float) for v in one) else value
        if name == "error" and squares and isinstance(one, float):
            return number(one)
        share = name in ALWAYS_SHARES or (rate and name in (*OF_ERRORS, *as_errors, "lower", "upper"))
        return _with_percent(one, value) if share and not isinstance(one, bool) else value

    called = {"error": "error (RMSE)"} if squares else {}
    return replace(facts, rows=[[called.get(str(name), name), shown(name, value)] for name, value in facts.rows])


def picture_of(payload: Any) -> PageFigure | None:
    """Return the numbers of an assessment or a comparison on one axis; None for other records."""
    if not isinstance(payload, dict):
        return None
    rows: list[tuple[str, list[Dot]]] = []
    loss = _loss_of(payload)
    rate, squares = loss in RATES, loss == SQUARED and "estimates" in payload

    def units(given: Any) -> float | None:
        number = number_of(given)
        return number if number is None else 100 * number if rate else root(number) if squares else number

    for name, one in _ranges(payload):
        value, low, high = map(units, one)
        if value is not None:
            rows.append((name, [Dot(0, value, low, high)]))
    if not 0 < len(rows) <= MOST_DRAWN:
        return None
    axis = "RMSE" if squares else "error" if "estimates" in payload else "difference of errors, a minus b"
    if rate:
        axis += ", per cent of cases" if "estimates" in payload else ", percentage points"
    words = "; ".join(f"{name} {marks[0].value:.4g}" for name, marks in rows)
    return PageFigure(
        "",
        dots(rows, [axis], axis, None if "estimates" in payload else 0.0),
        f"{axis[:1].upper()}{axis[1:]}: {words}",
        "Points are estimates, lines their intervals.",
    )


def _loss_of(payload: Any) -> str:
    """Return the one loss of everything that is shown; empty if there are several."""
    if not isinstance(payload, dict):
        return ""
    if isinstance(payload.get("loss"), str):
        return str(payload["loss"])
    pairs, estimates = payload.get("pairs"), payload.get("estimates")
    found = estimates.values() if isinstance(estimates, dict) else estimates if isinstance(estimates, list) else pairs
    losses = {str(one.get("loss", "")) for one in found or () if isinstance(one, dict)}
    return losses.pop() if len(losses) == 1 else ""


def _ranges(payload: dict[str, Any]) -> list[tuple[str, tuple[Any, Any, Any]]]:
    """Return names with value and ends of the interval, as assessments and comparisons write them."""
    estimates, pairs = payload.get("estimates"), payload.get("pairs")
    out: list[tuple[str, tuple[Any, Any, Any]]] = []
    if isinstance(estimates, dict):
        for name, one in estimates.items():
            entry = one if isinstance(one, dict) else {}
            given = entry.get("interval")
            ends = given if isinstance(given, dict) else {}
            out.append((str(name), (entry.get("value"), ends.get("low"), ends.get("high"))))
    elif isinstance(pairs, list):
        for one in pairs:
            entry = one if isinstance(one, dict) else {}
            name = f"{entry.get('a')} against {entry.get('b')}"
            out.append((name, (entry.get("difference"), entry.get("lower"), entry.get("upper"))))
    return out


def attachment(content: Any, name: str, ending: str, media: str) -> Response:
    """Return a download under a safe name."""
    headers = {"content-disposition": f'attachment; filename="{file_name(name, ending)}"'}
    # a lone surrogate of a damaged name must not stop the download
    pieces = (piece.encode("utf-8", "replace") for piece in content)
    return StreamingResponse(pieces, headers=headers, media_type=media)


def results(site: Site, request: Request) -> Response:
    """Return a kept record as JSON, or its first table as CSV."""
    kept = find_record(site, request.path_params["id"])
    name = f"{kept.kind} {kept.name} {kept.id}"
    if request.path_params["ending"] == "json":
        text = json.dumps(_writable(kept.payload), indent=2, ensure_ascii=False, allow_nan=False)
        return attachment(iter([text, "\n"]), name, "json", "application/json")
    table = first_table(kept)
    if table is None:
        raise NotThere("This record holds no table; it can be had as JSON.")
    return attachment(table_csv(table), name, "csv", "text/csv")


def first_table(kept: Any) -> Table | None:
    """Return the table that a kept record is downloaded and compared by; None if it has none."""
    own = nets_rows(kept.kind, kept.payload)
    return next(iter(record_of(kept.payload).tables.values()), None) if own is None else own


def _writable(value: Any) -> Any:
    """Return plain values; anything else is named, not written."""
    if isinstance(value, dict):
        return {str(k): _writable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_writable(v) for v in value]
    return plain(value) if isinstance(value, (str, int, float, bool, type(None))) else table_value(value)
