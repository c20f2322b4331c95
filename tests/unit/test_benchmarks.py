"""Every benchmark times CPU and wall, says by how much the numbers agree, and misses its target if they do not."""

from __future__ import annotations

import ast
import importlib
import math
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "benchmarks").glob("bench_*.py"))


@pytest.fixture
def timing(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    return importlib.import_module("benchmarks.timing")


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_clock_counts_waiting_and_the_processor_does_not(timing):
    waited = timing.time_of(lambda: time.sleep(0.2), 2)
    assert waited.cpu < 0.1 < 0.2 <= waited.wall
    worked = timing.time_of(lambda: spin(0.1) or 7, 2)
    assert worked.cpu >= 0.1
    assert worked.result == 7
    assert worked.times(10).cpu == pytest.approx(10 * worked.cpu)


def test_child_processes_count(timing):
    code = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    took = timing.time_of(lambda: subprocess.run([sys.executable, "-c", code], check=True), 1)
    assert took.cpu >= 0.3


def test_children_that_live_on_count_if_asked(timing):
    pytest.importorskip("psutil")
    code = (
        "import sys, time\nsys.stdin.readline()\nend = time.process_time() + 0.3\n"
        "while time.process_time() < end: pass\nprint(1, flush=True)\nsys.stdin.readline()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as child:

        def ask():
            child.stdin.write("go\n")
            child.stdin.flush()
            child.stdout.readline()

        took = timing.time_of(ask, 1, workers=True)
        child.stdin.write("end\n")
        child.stdin.flush()
    assert took.cpu >= 0.25


def test_each_clock_keeps_its_smallest_run(timing):
    best = timing.faster(timing.Time(1.0, 3.0, "a"), timing.Time(2.0, 2.0, "b"))
    assert (best.cpu, best.wall, best.result) == (1.0, 2.0, "b")
    calls = []
    timing.alternating(lambda: calls.append("ours"), lambda: calls.append("peer"), 3)
    assert calls == ["ours", "peer"] * 3


def made(timing, same, **more):
    given = {"against": "peer", "target": "at most 2 times", "met": True, **more}
    return timing.row("a job", timing.Time(0.5, 1.0), timing.Time(2.0, 3.0), same=same, **given)


def test_a_row_has_all_columns_and_ratios_of_both_clocks(timing):
    row = made(timing, timing.same_value("error", 0.25, 0.25))
    assert tuple(row) == timing.COLUMNS
    assert row["CPU ratio"] == 4
    assert row["wall ratio"] == 3
    assert row["met"] == "yes"
    assert tuple(timing.not_measured("no R")) == timing.COLUMNS


def test_a_target_is_missed_if_the_numbers_disagree(timing):
    for same in (
        timing.same_value("error", 0.25, 0.26),
        timing.same_numbers([1.0, 2.0], [1.0, 2.1], "errors"),
        timing.same_numbers([1.0], [1.0, 2.0], "errors"),
        timing.same_numbers([], [], "errors"),
        timing.same_numbers([math.nan], [math.nan], "errors"),
        timing.largest_difference([1.0], [1.1], 0.05),
        timing.largest_difference([math.nan], [1.0], 0.05),
        timing.within_noise(0.5, 0.6, 0.01),
        timing.within_noise(0.5, 0.6, 0.0),
        timing.within_noise(math.nan, 0.6, 0.1),
        timing.same_value("error", 1, 1).also(timing.same_value("error", 1, 2)),
    ):
        assert not same.holds, same
        assert made(timing, same)["met"] == "NO"
    assert made(timing, timing.within_noise(0.5, 0.52, 0.01))["met"] == "yes"
    assert made(timing, timing.NO_NUMBERS, met=False)["met"] == "NO"


def test_what_is_not_known_is_a_dash(timing):
    alone = timing.row("a job", timing.Time(0.5, 1.0), same=timing.NO_NUMBERS, target="under 1 s", met=True)
    one_clock = timing.row(
        "b job", timing.Time(0.5, 1.0), timing.Time(math.nan, 2.0), same=timing.NO_NUMBERS, target="", met=True
    )
    text = timing.markdown([alone, one_clock, timing.not_measured("no R")])
    assert not re.search(r"\bnan\b|\bnone\b|\| +\|", text, re.IGNORECASE)
    cells = timing.rows_of(text)
    assert [c["peer CPU (s)"] for c in cells] == [timing.EMPTY] * 3
    assert cells[1]["wall ratio"] == "2"
    assert cells[1]["CPU ratio"] == timing.EMPTY


def test_the_cheapest_benchmark_prints_whole_rows(timing, monkeypatch):
    bench = importlib.import_module("benchmarks.bench_startup")
    times = bench.child_times
    monkeypatch.setattr(bench, "child_times", lambda ours, peer: times(ours, peer, 1))
    rows = bench.run()
    assert all(tuple(row) == timing.COLUMNS for row in rows)
    assert [row["same numbers"] for row in rows] == ["no numbers"] * 2
    assert not re.search(r"\bnan\b|\bnone\b", timing.markdown(rows), re.IGNORECASE)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_every_row_says_whether_the_numbers_agree(path):
    """Rows are made by `row` alone, which asks for the agreement; none is a dictionary written by hand."""
    tree = ast.parse(path.read_text())
    rows = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "row"]
    assert rows
    for call in rows:
        given = {k.arg for k in call.keywords}
        assert {"same", "target", "met"} <= given, f"{path.name}:{call.lineno}"
        assert bool(len(call.args) > 2) == ("against" in given), f"{path.name}:{call.lineno}: a peer and its name"
    written = [
        n.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.Dict) and any(isinstance(k, ast.Constant) and k.value == "benchmark" for k in n.keys)
    ]
    assert not written


def test_recorded_results_have_the_columns_and_no_missing_number(timing):
    text = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    rows = timing.rows_of(text)
    assert len(rows) > 80
    assert all(tuple(row) == timing.COLUMNS for row in rows)
    assert not any(re.fullmatch(r"nan|none|", cell, re.IGNORECASE) for row in rows for cell in row.values())


def test_the_picture_has_a_bar_and_a_tick_for_each_row_with_a_peer(timing):
    pictures = importlib.import_module("benchmarks.pictures")
    rows = [
        made(timing, timing.same_value("error", 1, 1)),
        made(timing, timing.same_value("error", 1, 2)),
        made(timing, timing.NO_NUMBERS, other="3 MiB"),
        timing.row("alone", timing.Time(1.0, 1.0), same=timing.NO_NUMBERS, target="under 2 s", met=True),
    ]
    found = pictures.ratios_of(timing.markdown(rows))
    assert [(r.cpu, r.wall, r.met) for r in found] == [(4.0, 3.0, True), (4.0, 3.0, False)]
    picture = pictures.draw_ratios(found)
    assert picture.count("on the clock 3") == 2
    assert pictures.COLOURS["sklearn"] in picture
