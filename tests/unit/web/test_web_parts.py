"""The parts pages are made of: pictures that can do nothing, tables of anything, pieces of downloads, memory."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unseen.show.page import is_name
from unseen.show.sections import Table
from unseen.study.summary_table import summary_table, with_error
from unseen.web._compare import compare_rows
from unseen.web._dots import Dot, dots, ticks
from unseen.web._download import PIECE, study_csv, study_json, table_csv
from unseen.web._memory import CostLimitedCache
from unseen.web._payload import fit_columns, record_of, table_value
from unseen.web._pictures import ELEMENTS, clean_svg
from unseen.web._records import (
    KIND_WORDS,
    LONGEST_ANSWER,
    _facts_with_percent,
    _group_with_percent,
    _in_units,
    headline,
)
from unseen.web._source import shown_url, without_password
from unseen.web._tables import view
from unseen.web._words import duration, file_name, key_of

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<g onclick="alert(1)"/>',
        '<a href="javascript:alert(1)"><path d="M0 0"/></a>',
        '<use xlink:href="https://evil.example/x.svg#a"/>',
        '<image href="https://evil.example/x.png"/>',
        '<image href="data:image/svg+xml;base64,PHN2Zz4="/>',
        '<foreignObject><iframe src="x"/></foreignObject>',
        "<style>* { background: url(https://evil.example) }</style>",
        '<path style="fill: url(https://evil.example/a#b)"/>',
        '<path fill="url(https://evil.example/a#b)"/>',
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<set attributeName="onload" to="alert(1)"/>',
    ],
)
def test_a_picture_can_only_be_seen(inside):
    text = clean_svg(SVG.format(inside))
    for word in ("script", "alert", "evil", "onclick", "iframe", "style", "<a", "svg+xml"):
        assert word not in text, text


def test_text_of_a_picture_stays_text():
    text = clean_svg(SVG.format("<text>&lt;script&gt; &amp; \" '</text><g>tail</g>"))
    assert "&lt;script&gt; &amp;" in text
    assert ElementTree.fromstring(text).find("text").text == "<script> & \" '"


def test_styles_become_attributes():
    text = clean_svg(
        SVG.format(
            '<g style="fill: none; stroke: var(--unseen-0, #2f6f9f); stroke-width: 0.8; behavior: url(x)">'
            "<text style=\"font: italic bold 10px 'DejaVu Sans', sans; text-anchor: middle\">a</text></g>"
            '<use xlink:href="#m1" clip-path="url(#p1)"/>'
        )
    )
    root = ElementTree.fromstring(text)
    group = root[0]
    assert group.attrib == {"fill": "none", "stroke": "var(--unseen-0, #2f6f9f)", "stroke-width": "0.8"}
    assert group[0].attrib == {
        "font-style": "italic",
        "font-weight": "bold",
        "font-size": "10",
        "text-anchor": "middle",
    }
    assert root[1].attrib == {"href": "#m1", "clip-path": "url(#p1)"}


@pytest.mark.slow
@pytest.mark.sample
def test_our_figures_lose_nothing_but_their_style():
    from sklearn.naive_bayes import GaussianNB

    import unseen
    from unseen.show import figures_for, svg

    X, y = unseen.datasets.load("iris").xy
    result = unseen.assess(GaussianNB(), X, y, random_state=0, effort="quick")
    drawn = 0
    for one in figures_for(result):
        numbers = one.info(result)
        if numbers is None:
            continue
        before, after = svg(one, numbers), clean_svg(svg(one, numbers))
        drawn += 1
        for tag in ELEMENTS:
            # an empty element may be written <g/> or <g></g>
            assert len(re.findall(f"<{tag}[ />]", before)) == len(re.findall(f"<{tag}[ />]", after)), (one.name, tag)
        strokes = re.findall(r"stroke: (var\([^)]*\)|currentColor|#\w+)", before)
        assert sorted(re.findall(r'stroke="([^"]*)"', after)) == sorted(
            [*strokes, *re.findall(r"stroke: (none)", before)]
        )
    assert drawn >= 3


@given(st.text(max_size=200))
def test_keys_and_file_names_are_safe_whatever_the_name(name):
    assert re.fullmatch(r"[a-z0-9-]{1,60}", key_of(name))
    assert re.fullmatch(r"[a-z0-9-]{1,40}\.csv", file_name(name, "csv"))


def test_different_names_have_different_keys():
    names = ["a b", "a-b", "A B", "a  b", "é", "e", "", "study", "<a>", "a" * 100, "a" * 101]
    assert len({key_of(n) for n in names}) == len(names)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)


@given(JSON)
def test_any_payload_becomes_tables_of_the_right_shape(payload):
    record = record_of(payload)
    for table in [*record.tables.values(), *record.groups.values(), *([record.facts] if record.facts else [])]:
        assert all(len(row) == len(table.columns) for row in table.rows)
        for row in table.rows:
            assert all(isinstance(v, (str, int, float, bool, type(None))) for v in row)
        assert "".join(table_csv(table)).count("\r\n") >= len(table.rows) + 1


def test_columns_come_in_the_order_readers_expect():
    table = record_of(
        {"cells": [{"z": 1.0, "verdict": "agrees", "table": "2.1", "published": 0.1, "ours": 0.2, "cell": "a"}]}
    )
    assert table.tables["cells"].columns == ["table", "cell", "published", "ours", "z", "verdict"]


def test_long_values_are_cut():
    assert len(table_value("x" * 10_000)) == 2000
    assert table_value(list(range(1000))).endswith("… (1000 in all)")


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.012345, 0.00041, "0.01235 (0.00041)"),
        (-1.5, 0.25, "-1.50 (0.25)"),
        (1234.5, 12.0, "1234 (12)"),
        (0.25, 1e-17, "0.25 (0)"),
        (0.0, 0.001, "0.0000 (0.0010)"),
    ],
)
def test_numbers_are_shown_to_two_digits_of_their_error(value, error, text):
    cell = with_error(value, error)
    assert cell.text == text
    assert cell.sort == value


def test_summary_columns():
    rows = [
        {"population": "p", "model": m, "n": 20, "method": "loo", "failed": 0, "rms": 0.1, "rms_error": None}
        for m in "ab"
    ]
    table, words = summary_table(rows)
    assert table.columns == ["model", "n", "method", "RMS"]
    assert words == ["In every cell: population p."]
    assert summary_table([]) == (None, [])


def test_empty_cells_come_last_either_way_on_pages_too():
    rows = [[k if k % 3 else None, f"r{k}"] for k in range(600)]
    table = Table(["a", "b"], rows)
    for order in ("up", "down"):
        pages = [view(table, "t", [("t.sort", "0"), ("t.order", order), ("t.page", str(p))]) for p in range(6)]
        values = [row[0] for page in pages for row in page.table.rows]
        filled = [v for v in values if v is not None]
        assert len(values) == 600
        assert values[: len(filled)] == sorted(filled, reverse=order == "down")


def test_links_of_a_table_keep_those_of_others():
    v = view(Table(["a"], [[k] for k in range(500)]), "t", [("u.page", "3"), ("t.page", "1"), ("kind", "a&b")])
    assert v.after == "?u.page=3&kind=a%26b&t.page=2#t"


def test_a_download_comes_in_pieces_and_holds_no_nan():
    n = 3 * PIECE + 1
    columns = {
        "cell": np.zeros(n, dtype=np.int64),
        "replication": np.arange(n),
        "estimate": np.full(n, np.nan),
        "truth": np.linspace(0, 1, n),
    }
    cells = [{"population": "=HYPERLINK()", "model": "-1", "n": 20, "method": "a,b\nc"}]
    pieces = list(study_csv(columns, cells))
    assert len(pieces) == 5
    assert "'=HYPERLINK()" in pieces[1]
    assert "'-1" in pieces[1]
    text = "".join(study_json({"study": "x", "nan": float("nan")}, columns, cells))
    assert len(list(study_json({}, columns, cells))) == 6
    content = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert len(content["results"]) == n
    assert content["results"][0]["estimate"] is None
    assert content["results"][-1]["truth"] == 1.0
    empty = {name: values[:0] for name, values in columns.items()}
    assert json.loads("".join(study_json({}, empty, cells)))["results"] == []


def test_costly_values_are_made_again_when_it_is_worth_it():
    import time

    memory, calls = CostLimitedCache(patience=5.0), []

    def make():
        calls.append(1)
        time.sleep(0.02)
        return len(calls)

    assert memory.get("a", 1, make) == 1
    assert memory.get("a", 1, make) == 1
    assert memory.get("a", 2, make) == 1, "too soon: making it takes a fifth of the time since"
    assert memory.get("a", 2, make, last=True) == 2, "the last state is never left out"
    time.sleep(0.15)
    assert memory.get("a", 3, make) == 3
    for k in range(200):
        memory.get(k, 0, lambda: 0)
    assert len(memory._values) <= memory.limit


def test_nobody_waits_for_the_value_of_another_reader():
    import threading

    memory = CostLimitedCache()
    memory.get("mine", 1, lambda: "old")
    begun, go = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go.wait(20)
        return "slow"

    thread = threading.Thread(target=lambda: memory.get("other", 1, slow))
    thread.start()
    assert begun.wait(20)
    assert memory.get("mine", 1, lambda: "new") == "old"
    assert memory.get("mine", 2, lambda: "new") == "old"
    go.set()
    thread.join(20)
    assert memory.get("mine", 2, lambda: "new", last=True) == "new"
    assert memory.get("other", 1, slow) == "slow"


def drawings(text):
    """The picture for a wide page and the one for a narrow page."""
    wide, narrow = ElementTree.fromstring(f"<both>{text}</both>")
    assert [one.get("class").split()[1] for one in (wide, narrow)] == ["wide", "narrow"]
    return {"wide": wide, "narrow": narrow}


@pytest.mark.parametrize("page", ["wide", "narrow"])
def test_a_picture_of_dots_is_to_scale(page):
    root = drawings(dots([("a", [Dot(0, 0.0, -1.0, 1.0)]), ("b", [Dot(0, 1.0)])], ["x"], "axis"))[page]
    first, second = (float(c.get("cx")) for c in root.iter("circle"))
    line = next(p.get("d") for p in root.iter("path") if p.get("stroke-width") == "2")
    left, right = (float(v) for v in re.fullmatch(r"M ([\d.]+) [\d.]+ H ([\d.]+)", line).groups())
    assert first == pytest.approx((left + right) / 2, abs=0.2)
    assert second == pytest.approx(right, abs=0.2)
    marks = {p.text: float(p.get("x")) for p in root.iter("text")}
    assert marks["0"] == pytest.approx(first, abs=0.2)


@example(0.0, 1.0, 5e-324)
@example(0.2, 1e-6, 0.2000001)
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
def test_ticks_can_be_told_apart_whatever_is_drawn(first, width, second):
    for values in ((first, second), (first, first + width), (first, first)):
        for root in drawings(dots([("row", [Dot(0, v) for v in values])], ["x"], "axis")).values():
            labels = [t.text for t in root.iter("text") if t.text not in ("row", "axis")]
            assert 1 <= len(labels) == len(set(labels)) <= 8


@given(st.floats(-1e6, 1e6), st.floats(1e-4, 1e6))
def test_ticks_lie_inside_and_are_few(low, share):
    width = share * max(abs(low), 1e-6)
    found = ticks(low, low + width)
    assert 1 <= len(found) <= 8
    assert all(low - 1e-9 * width <= t <= low + width * (1 + 1e-9) for t in found)


def test_one_value_alone_can_be_drawn():
    assert "<circle" in dots([("a", [Dot(0, 0.0)])], ["x"], "axis")
    assert "<circle" in dots([("a", [Dot(0, 0.3)])], ["x"], "axis")


@pytest.mark.parametrize(
    "url", ["postgresql://ann:top%20secret@lab/db", "postgresql://ann:top%20secret@[::1]:99999/db?password=top"]
)
def test_a_password_is_never_shown(url):
    assert "top" not in shown_url(url)
    assert "secret" not in without_password("cannot reach top secret or top%20secret", url).replace("out of", "")


def test_durations_never_lie_about_what_is_not_known():
    assert duration(float("nan")) == duration(float("inf")) == duration(-1) == "unknown"


@pytest.mark.parametrize(
    ("winner", "expected"),
    [
        ({"name": "svm", "best": "largest auc"}, "largest auc: svm"),
        ({"name": "svm"}, "smallest error: svm"),  # records of earlier versions
    ],
)
def test_the_headline_of_a_comparison_speaks_of_what_was_compared(winner, expected):
    from unseen.web._records import headline

    assert headline("comparison", {"winner": winner, "pairs": [{}, {}]}) == expected


def test_rows_are_named_by_what_tells_them_apart_and_shown_by_what_most_of_them_have():
    rows = [
        {"name": "loo", "measure": None, "value": 0.1, "weights_loo": 0.5},
        {"name": "632", "measure": "a long description", "value": 0.2, "weights_loo": None},
        {"name": "resub", "measure": None, "value": 0.3, "weights_loo": None},
    ]
    part = compare_rows([rows], ["one"], "assessment", "t", [])
    assert part.view.table.columns == ["name", "one"]
    assert [one["word"] for one in part.quantities] == ["value"]
    assert "None" not in part.picture
    # two rows of one name need the next column
    part = compare_rows([[*rows, {**rows[0], "measure": "another"}]], ["one"], "assessment", "t", [])
    assert part.view.table.columns == ["name", "measure", "one"]


def test_every_cell_of_a_comparison_has_its_own_unit():
    rates = [{"name": "loo", "loss": "zero-one", "value": 0.15}, {"name": "resub", "loss": "zero-one", "value": 0.1}]
    squares = [{"name": "loo", "loss": "rmse", "value": 54.75}, {"name": "gcv", "loss": "rmse", "value": 54.0}]
    part = compare_rows([rates, squares], ["one", "two"], "assessment", "t", [])
    assert [[getattr(c, "text", c) for c in row] for row in part.view.table.rows] == [
        ["loo", "15.0%", 54.75, None],
        ["resub", "10.0%", None, None],
        ["gcv", None, 54.0, None],
    ]
    assert part.view.table.columns[-1] == "difference"
    assert part.picture is None


def test_the_headline_of_a_reproduction_counts_the_failed_checks():
    checks = [{"check": str(k), "passed": k > 1} for k in range(10)]
    assert headline("reproduction", {"agreeing": 3, "judged": 3, "checks": checks}) == (
        "3 of 3 cells agree, 2 of 10 checks failed"
    )
    assert headline("reproduction", {"agreeing": 3, "judged": 3, "checks": checks[2:]}) == "3 of 3 cells agree"
    assert headline("reproduction", {"agreeing": 0, "judged": 0, "checks": checks}) == "8 of 10 checks hold"


def test_the_sentence_of_a_comparison_goes_before_its_winner():
    kept = {"sentence": "These data cannot tell a and b apart.", "winner": {"name": "a"}, "pairs": [{}, {}]}
    assert headline("comparison", kept) == kept["sentence"]


def test_an_answer_is_not_cut_inside_a_bracket():
    start = "linear discriminant analysis is expected to misclassify 22.7% of new cases"
    assert (
        headline("x", {"sentence": f"{start} (95% interval 8.9% to 44.4%; auto-resub, without retraining)."}) == start
    )
    assert headline("x", {"sentence": "a is best (by 3%; of 9); " + 40 * "more "}) == "a is best (by 3%; of 9)"
    assert headline("x", {"sentence": "(" + 40 * "word "}).endswith(" …")


def test_kept_records_have_a_sentence_that_answers():
    import unseen
    from unseen.core.distribution import ErrorDistribution
    from unseen.reproduction import Check, Reproduction

    values = np.array([1.0, 2.0, 4.0, 8.0])
    kept = ErrorDistribution(values, "squared").to_record()
    assert kept["sentence"] == "Over 4 splits half of the errors lie between 1 and 4 (median 3)."
    assert "errors (log1p)" in ErrorDistribution(values, "squared").log1p().sentence
    run = Reproduction(
        experiment="x",
        title="X",
        source="A paper",
        cells=(),
        checks=(Check("bias", 2.0, high=1.0),),
        replications=1,
        seed=0,
    )
    assert run.to_record()["sentence"] == run.sentence
    made = unseen.kinetics.simulate(subjects=3, random_state=0)
    study = unseen.kinetics.nca(made.ttr, made.doses)
    low, high = (f"{f(s.conversion for s in study.subjects):.4g}" for f in (min, max))
    assert study.to_record()["sentence"].startswith("3 subjects: Ra_Phe ")
    assert f"conversion {low} to {high} per hour" in study.to_record()["sentence"]
    one = unseen.kinetics.nca(made.ttr, {k: v[:1] for k, v in made.doses.items()})
    assert one.sentence == f"{one.subjects[0]}; 2 failed"


def test_facts_are_in_per_cent_where_the_sentence_is():
    def facts(payload):
        return dict(_facts_with_percent(record_of(payload).facts, payload).rows)

    resub = {"error": 0.2266, "interval": [0.0892, 0.4441], "estimates": [{"loss": "zero-one", "value": 0.2266}]}
    assert facts(resub) == {"error": "22.7%", "interval": "8.9% to 44.4%"}
    found = facts({"share": 0.2375, "bound": 0.2375, "lower": 0.1966, "upper": 0.2823, "level": 0.95})
    assert found == {"share": "23.8%", "bound": "23.8%", "lower": "19.7%", "upper": "28.2%", "level": "0.95"}
    assert facts({"power": 0.213, "disagreement": 0.2, "alpha": 0.05})["power"] == "21.3%"
    test = {"loss": "zero-one", "error": 0.175, "permuted": [0.0, 0.5625], "permuted_mean": 0.5005, "p": 0.01}
    assert facts(test) == {
        "loss": "zero-one",
        "error": "17.5%",
        "permuted": "0.0%, 56.2%",
        "permuted mean": "50.0%",
        "p": "0.01",
    }
    squares = {"loss": "squared", "error": 4.0, "interval": [1.0, 9.0], "permuted_mean": 16.0}
    assert facts(squares) == {"loss": "squared", "error (RMSE)": "2", "interval": "1 to 3", "permuted mean": "16"}


def test_a_kept_distribution_of_rates_is_in_per_cent_on_the_scale_of_the_errors():
    from unseen.core.distribution import ErrorDistribution

    kept = ErrorDistribution(np.array([0.1, 0.2, 0.3, 0.4]), "zero-one").to_record()
    record = record_of(kept)
    table = _in_units(record.tables["summaries"], "zero-one")
    shown = {row[table.columns.index("scale")]: row[table.columns.index("med")] for row in table.rows}
    assert shown["identity"].text == "25.0%"
    assert isinstance(shown["log1p"], float)
    assert dict(_facts_with_percent(record.facts, kept).rows)["values"] == "10.0%, 20.0%, 30.0%, 40.0%"


def test_groups_of_facts_have_the_unit_of_the_sentence():
    def group(word, payload):
        table = _group_with_percent(word, record_of(payload).groups[word], payload)
        return table.caption, dict(table.rows)

    rate = {
        "loss": "zero-one",
        "expected_rms": {"632": 0.0409},
        "learning_curve": {"test": [[0.1087], [0.2]], "level": 0.95},
    }
    assert group("expected rms", rate) == ("", {"632": "4.1%"})
    assert group("learning curve", rate) == ("", {"test": "10.9%, 20.0%", "level": "0.95"})
    assert group("dependence", {"loss": "zero-one", "dependence": {"error": 0.0447, "p": 0.025}})[1] == {
        "p": "0.025",
        "error": "4.5%",
    }
    squares = {"loss": "squared", "measure": {"name": "squared", "value": 3004.0}, "splits": {"a": [{"x": 1.0}]}}
    assert group("measure", squares)[1]["name"] == "mean squared error"
    assert group("splits", squares)[0] == "Errors are mean squared errors."


def test_names_ends_and_tests_stay_in_a_table_that_is_cut():
    numbers = {f"x{k}": 0.5 for k in range(12)}
    rows = [
        {**numbers, "coefficient": "age", "test": "t", "seconds": 0.0, "interval": {"low": low, "high": 1.0}}
        for low in (0.1, None, None)
    ]
    columns = fit_columns(record_of({"rows": rows}).tables["rows"]).columns
    assert columns[0] == "coefficient"
    assert {"test", "interval low", "interval high"} <= set(columns)
    assert "seconds" not in columns
    assert len(columns) == 10
    wide = Table([f"x{k}" for k in range(11)], [list(range(11))])
    assert fit_columns(wide).caption == "1 more column is in the downloads."


def test_what_holds_nothing_is_left_out():
    record = record_of({"n": 3, "left_out": {}, "rows": [], "deep": {"a": [], "b": None}})
    assert (record.rest, record.groups, record.tables) == ({}, {}, {})
    assert record.facts.rows == [["n", "3"]]


def test_a_standard_error_has_no_sign():
    pairs = [{"a": "x", "b": "y", "difference": 0.009, "std_error": 0.016, "loss": "zero-one"}]
    table = _in_units(record_of({"pairs": pairs}).tables["pairs"])
    shown = {name: getattr(value, "text", value) for name, value in zip(table.columns, table.rows[0])}
    assert (shown["difference"], shown["std error"]) == ("+0.9 points", "1.6 points")


def test_long_labels_of_dots_have_two_lines_and_lose_nothing():
    label = "the_model_of_last_year.csv against a_large_model.csv"
    text = dots([(label, [Dot(0, 0.1)]), ("short", [Dot(0, 0.2)])], ["a"], "difference")
    wide = text[: text.index("</svg>")]
    assert ">the_model_of_last_year.csv against</text>" in wide
    assert ">a_large_model.csv</text>" in wide
    assert "…" not in wide


def test_every_kept_result_has_an_answer_in_the_list():
    assert headline("predictionfiles", {"sentence": "new.csv is best.", "rows": []}) == "new.csv is best."
    cut = headline("measures", {"sentence": "word " * 60})
    assert cut.endswith("word …")
    assert len(cut) <= LONGEST_ANSWER + 2
    assert KIND_WORDS["predictionfiles"] == "predictions"


def test_short_names_are_not_broken_at_their_hyphen_and_long_ones_are():
    assert [is_name(v) for v in ("corrected-t", "bolster-posterior-accuracy", "no difference-shown", -1.5, "loo")] == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_seconds_have_two_digits_and_no_error():
    table, _ = summary_table([{"n": n, "seconds": 0.000154321, "seconds_error": 0.0000058} for n in (20, 40)])
    assert [row[1].text for row in table.rows] == ["0.00015", "0.00015"]
