"""What the pages say is what the store holds, whatever it holds and whether it answers or not."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import time

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.store import Kept, Progress, open_store
from unseen.study.summary import summary_of
from unseen.web import dashboard
from unseen.web._words import key_of

HOSTILE = "<script>alert(1)</script> ../../etc/passwd \"' & $x$"


@pytest.fixture
def app(made):
    opened = dashboard(made.url)
    yield opened
    opened.close()


def study(name: str, part: str = "") -> str:
    return f"/studies/{key_of(name)}{part}"


def every_page(kept: dict[str, int]) -> list[str]:
    studies = [
        study(name, part)
        for name in ("whole", "half", HOSTILE, "fresh")
        for part in ("", "/live", "/failures", "/cells")
    ]
    both = "&".join(f"item=study.{key_of(name)}" for name in ("whole", HOSTILE))
    results = "&".join(f"item=kept.{number}" for number in kept.values())
    return [
        "/",
        "/kept",
        "/kept?kind=assessment",
        *(f"/kept/{number}" for number in kept.values()),
        *studies,
        "/compare",
        f"/compare?{both}",
        f"/compare?{results}",
        "/missing",
    ]


@pytest.fixture(scope="module")
def site(filled, ask, tmp_path_factory):
    """A dashboard whose store does not change, and the text of each of its pages."""
    path, kept = filled
    opened = dashboard(f"sqlite:///{shutil.copy(path, tmp_path_factory.mktemp('site') / 'studies.db')}")
    yield opened, {address: ask(opened, address).text for address in every_page(kept)}
    opened.close()


def test_no_page_holds_a_script_a_style_or_a_handler_of_the_content(site, read):
    for address, text in site[1].items():
        page = read(text)
        for tag, attrs in page.elements:
            assert tag not in ("style", "iframe", "object", "embed", "form", "base", "img"), address
            assert "style" not in attrs, f"{address}: a style attribute is blocked by the policy"
            assert not [name for name in attrs if name.startswith("on")], address
            for name in ("href", "src", "hx-get"):
                link = attrs.get(name) or "/"
                assert link.startswith(("/", "?", "#")), (address, link)
                assert not link.startswith("//")
        scripts = page.all("script")
        assert all(s["src"].startswith("/static/") for s in scripts)
        assert len(scripts) in (0, 3)


def test_a_hostile_name_is_shown_as_it_is_written(app, ask, read):
    assert HOSTILE in "".join(read(ask(app, "/").text).texts)
    page = ask(app, study(HOSTILE)).text
    assert HOSTILE in "".join(read(page).texts)
    assert "<script>alert" not in page


def test_pages_are_well_built(site, read):
    for address, text in site[1].items():
        page = read(text)
        ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
        assert len(ids) == len(set(ids)), address
        for _, attrs in page.elements:
            if "aria-labelledby" in attrs:
                assert attrs["aria-labelledby"] in ids
            if (attrs.get("href") or "").startswith("#"):
                assert attrs["href"][1:] in ids
        for bar in page.all("progress"):
            assert bar["aria-label"].startswith("Progress of ")
            assert 0 <= float(bar["value"]) <= float(bar["max"])
        if "/live" not in address:
            assert len(page.all("h1")) == 1
            assert page.all("html") == [{"lang": "en"}]
            assert page.all("a")[0] == {"class": "skip", "href": "#main"}


def test_every_link_of_every_page_leads_somewhere(site, ask, read):
    app, pages = site
    links = {
        a["href"].partition("#")[0] for text in pages.values() for a in read(text).all("a") if a["href"].startswith("/")
    }
    assert len(links) > 30
    # a study without results has no summary to download
    wrong = [link for link in links if ask(app, link).status != 200]
    assert wrong == [study("fresh", "/summary.csv")]


def test_progress_is_told_in_numbers_and_words(app, ask, read):
    text = "".join(read(ask(app, "/").text).texts)
    assert "4 studies, 0 running" in text
    assert "35 of 36 tasks" in text
    assert "1 failed" in text
    assert "18 of 36 tasks" in text
    bars = {b["aria-label"]: (b["value"], b["max"]) for b in read(ask(app, "/").text).all("progress")}
    assert bars["Progress of whole"] == ("36", "36")
    assert bars["Progress of half"] == ("18", "36")
    assert bars["Progress of fresh"] == ("0", "36")


def test_a_share_is_never_rounded_up_to_all_of_it(ask):
    one = Progress(
        name="almost",
        kind="study",
        state="running",
        total=1000,
        done=999,
        failed=0,
        claimed=1,
        seconds=5.0,
        created="",
        updated="",
        eta_seconds=90.0,
    )
    text = ask(dashboard(Fake([one])), "/").text
    assert "99%" in text
    assert "100%" not in text
    assert "1.5 min left" in text


def test_the_summary_is_that_of_the_study(app, ask, made):
    rows = summary_of(made.store, "whole").rows()
    page = ask(app, study("whole")).text
    found = [row for row in rows if row["method"] == "resub" and row["n"] == 40]
    # two digits of the Monte-Carlo error, as many places in the number
    assert f"{100 * found[0]['bias']:+.2f} ({100 * found[0]['bias_error']:.2f})" in page
    assert "bias (points)" in page
    assert f"{100 * found[0]['rms']:.2f}% ({100 * found[0]['rms_error']:.2f})" in page
    table = list(csv.DictReader(io.StringIO(ask(app, study("whole", "/summary.csv")).text)))
    assert [float(t["rms"]) for t in table] == [row["rms"] for row in rows]
    assert "In every cell: population blocks, model lda" in page


def test_figures_are_part_of_the_live_page_and_need_no_style(app, ask, read):
    page = ask(app, study("whole", "/live"), headers=[("hx-request", "true")]).text
    assert not page.lstrip().startswith("<!DOCTYPE")
    parts = read(page)
    assert len(parts.all("svg")) >= 2
    assert "Deviation from the true error" in "".join(parts.texts)
    assert all("style" not in attrs for _, attrs in parts.elements)
    boxes = [d for d in parts.all("div") if d.get("role") == "img"]
    assert all(box["aria-label"] for box in boxes)
    assert parts.all("div")[0]["data-stamp"] == "36partial"


def test_failed_tasks_are_shown_with_their_reasons(app, ask, read):
    text = "".join(read(ask(app, study("whole")).text).texts)
    assert "1 task failed and is left out of the numbers above." in text
    assert "FitError: <b>one class</b> only" in text
    assert "blocks, lda, n = 20, resub" in "".join(read(ask(app, study("whole", "/failures")).text).texts)
    assert "No task of this study has failed." in ask(app, study("half", "/failures")).text


def test_the_folder_of_a_spec_stays_private(app, ask):
    for part in ("", "/results.json"):
        assert "secret" not in ask(app, study("whole", part)).text


def test_downloads_hold_every_result(app, ask, made):
    columns = made.store.columns("whole")
    answer = ask(app, study("whole", "/results.csv"))
    assert answer["content-disposition"] == 'attachment; filename="whole.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert np.array_equal([float(r["estimate"]) for r in rows], columns["estimate"])
    assert {r["method"] for r in rows} == {"resub", "loo", "cv10"}
    content = json.loads(ask(app, study("whole", "/results.json")).text)
    assert [r["truth"] for r in content["results"]] == columns["truth"].tolist()
    assert content["results"][0]["p_value"] is None
    assert content["done"] == 35
    assert len(content["cells"]) == 6


def test_a_download_of_a_hostile_name_has_a_safe_one(app, ask):
    answer = ask(app, study(HOSTILE, "/results.csv"))
    assert answer["content-disposition"] == 'attachment; filename="script-alert-1-script-etc-passwd-x.csv"'


def test_records_are_shown_with_their_numbers(app, ask, read, made):
    page = ask(app, f"/kept/{made.kept['assessment']}").text
    text = "".join(read(page).texts)
    assert "lda is expected to misclassify 5.3% of new cases." in text
    assert "corrected-t" in text
    assert "rows are copies" in text
    assert "<svg" in page
    listed = "".join(read(ask(app, "/kept").text).texts)
    assert "5.3% (0.7% to 10.0%)" in listed
    assert "450 of 450 cells agree" in listed
    assert "x is better" in listed
    nets = "".join(read(ask(app, f"/kept/{made.kept['nets']}").text).texts)
    assert "path-norm" in nets
    assert "0.5" in nets


def test_results_of_one_kind(app, ask):
    text = ask(app, "/kept?kind=nets-rank").text
    assert "path-norm" not in text
    assert 'href="/kept/5"' in text
    assert 'href="/kept/1"' not in text
    assert "Nothing of this kind" in ask(app, "/kept?kind=none").text


def test_downloads_of_records(app, ask, made):
    rows = list(csv.DictReader(io.StringIO(ask(app, f"/kept/{made.kept['reproduction']}/results.csv").text)))
    assert len(rows) == 450
    assert float(rows[3]["ours"]) == pytest.approx(0.1003)
    content = json.loads(ask(app, f"/kept/{made.kept['nets']}/results.json").text)
    assert content["rows"][1] == {"measure": HOSTILE, "tau": -0.25}
    odd = ask(app, f"/kept/{made.kept['odd']}/results.csv").text
    assert odd.splitlines() == ["'=cmd", "'=1+1"]


def test_long_tables_come_in_pages(app, ask, read, made):
    address = f"/kept/{made.kept['reproduction']}"

    def numbers(query: str) -> list[str]:
        texts = read(ask(app, address + query).text).texts
        return [t for t in texts if t.startswith("n=")]

    assert numbers("") == [f"n={k}" for k in range(100)]
    assert numbers("?t0.page=4") == [f"n={k}" for k in range(400, 450)]
    assert numbers("?t0.page=999") == numbers("?t0.page=4")
    assert numbers("?t0.sort=3&t0.order=down")[:2] == ["n=449", "n=448"]
    assert numbers("?t0.page=-1") == numbers("?t0.page=%C2%B2") == numbers("")
    page = ask(app, address + "?t0.sort=3&t0.order=down&t0.page=1").text
    assert 'aria-sort="descending"' in page
    assert "Rows 101 to 200 of 450" in page


def test_a_comparison_puts_the_same_cells_side_by_side(app, ask, read, made):
    rows = {name: summary_of(made.store, name).rows() for name in ("whole", "half")}
    address = "/compare?" + "&".join(f"item=study.{key_of(n)}" for n in rows)
    page = ask(app, address + "&f0-rows.show=bias").text
    cell = [{(r["n"], r["method"]): r for r in found}[20, "cv10"] for found in rows.values()]
    text = "".join(read(page).texts)
    for one in cell:
        assert f"{100 * one['bias']:+.2f} (" in text
    assert f"{100 * (cell[1]['bias'] - cell[0]['bias']):+.1f}" in text
    assert "Studies: bias (points)" in text
    assert "difference (points)" in text
    assert "Studies: RMS" in ask(app, address).text
    assert "Studies: RMS" in ask(app, address + "&f0-rows.show=nonsense").text


def test_errors_of_assessments_side_by_side(app, ask, read, made):
    page = ask(app, f"/compare?item=kept.{made.kept['assessment']}&item=kept.{made.kept['other']}").text
    assert "5.3%" in page
    assert "8.0%" in page
    assert "0.0533" not in "".join(read(page).texts)
    assert "different" not in page
    assert page.count("<circle") >= 2
    odd = ask(app, f"/compare?item=kept.{made.kept['assessment']}&item=kept.{made.kept['odd']}")
    assert odd.status == 200


def test_compared_assessments_have_the_numbers_of_their_headlines(tmp_path, ask, read):
    import unseen

    url = f"sqlite:///{tmp_path / 'kept.db'}"
    X, y = unseen.datasets.load("breast-cancer").xy
    numbers = unseen.datasets.load("diabetes").xy
    made = [
        *(unseen.assess(name, X[:90], y[:90], measure="auc", quick=True, random_state=0) for name in ("lda", "cart")),
        *(unseen.assess(name, *numbers, quick=True, random_state=0) for name in ("ridge", "cart")),
    ]
    for k, one in enumerate(made):
        one.keep(url, f"number {k}")
    app = dashboard(url)
    for pair, words, measure in (((1, 2), "AUC", "auc"), ((3, 4), "RMSE", "rmse")):
        text = "".join(read(ask(app, "/compare?" + "&".join(f"item=kept.{k}" for k in pair)).text).texts)
        assert f"{words} and its interval" in text
        for k in pair:
            known = made[k - 1].to_dict()["measures"][measure]
            for key in ("value", "lower", "upper"):
                assert f"{known[key]:.4g}" in text
            assert f"{made[k - 1].error:.4g}" not in text  # one less the area, the mean of squares
    mixed = "".join(read(ask(app, "/compare?item=kept.1&item=kept.3").text).texts)
    assert "do not measure the same thing" in mixed
    assert "RMSE" in mixed
    app.close()


def test_compared_studies_of_rates_and_of_numbers_keep_their_units():
    from unseen.web._compare import compare_rows

    rows = [
        {"population": "p", "method": "loo", "rms": 0.1, "rms_error": 0.01, "bias": 0.02, "loss": "zero-one"},
        {"population": "q", "method": "loo", "rms": 2.5, "rms_error": 0.1, "bias": -0.5, "loss": "squared"},
    ]
    both = compare_rows([rows, rows], ["one", "two"], "study", "t", [])
    assert [[getattr(c, "text", c) for c in row] for row in both.view.table.rows] == [
        ["p", "10.0% (1.0)", "10.0% (1.0)", "+0.0"],
        ["q", "2.50 (0.10)", "2.50 (0.10)", 0.0],
    ]
    assert both.picture is None
    alone = compare_rows([rows[:1], rows[:1]], ["one", "two"], "study", "t", [("t.show", "bias")])
    assert "bias, percentage points" in alone.picture
    assert alone.view.table.columns[-1] == "difference (points)"


def test_at_most_eight_are_compared(app, ask, read, made):
    items = "&".join(f"item=kept.{made.kept['nets']}" for _ in range(30))
    assert ask(app, f"/compare?{items}").status == 200
    assert len([a for a in read(ask(app, f"/compare?{items}").text).all("a") if a.get("aria-label")]) == 1


class Fake:
    """A store in memory that may hold what a real one refuses."""

    def __init__(self, studies=(), kept=(), trouble=None):
        self._studies, self._kept, self.trouble = list(studies), list(kept), trouble
        self.asked = 0

    def _ask(self, value):
        self.asked += 1
        if self.trouble is not None:
            raise self.trouble
        return value

    def studies(self):
        return self._ask(self._studies)

    def progress(self, name):
        return self._ask(next(p for p in self._studies if p.name == name))

    def spec(self, name):
        return {"replications": 2, "seed": 0}

    def cells(self, name):
        return [{"population": "p", "model": "m", "n": 20, "method": f"m{k}"} for k in range(3)]

    def failures(self, name):
        return []

    def extras(self, name, cell=None):
        return []

    def columns(self, name):
        raise AssertionError("a running study of a million tasks must not be read row by row")

    def moments(self, name):
        cell = np.arange(3)
        full = np.full(3, 400_000)
        ones = np.ones(3)
        return {
            "cell": cell,
            "n": full,
            "n_pairs": full,
            "deviation": 0.125 * ones,
            "deviation_variance": 4.0 * ones,
            "deviation2": 0.25 * ones,
            "deviation4": 0.5 * ones,
            "truth": 0.2 * ones,
            "seconds": 800_000.0 * ones,
        }

    def records(self, kind=None, limit=200):
        return self._ask([k for k in self._kept if kind in (None, k.kind)][:limit])

    def record(self, id):
        for one in self._kept:
            if one.id == id:
                return one
        raise InputError("no such result")


def test_a_running_study_of_a_million_tasks_is_summed_up_by_the_database(ask, read):
    one = Progress(
        name="big",
        kind="study",
        state="running",
        total=2_000_000,
        done=1_200_000,
        failed=0,
        claimed=50,
        seconds=1e6,
        created="",
        updated="",
        eta_seconds=3600.0,
    )
    page = ask(dashboard(Fake([one])), study("big", "/live"))
    assert page.status == 200
    text = "".join(read(page.text).texts)
    assert "1,200,000 results are in" in text
    assert "+12.50 (0.32)" in text  # sqrt(4 / 400,000), in points
    assert "50.00% (0.10)" in text  # an RMS of sqrt(0.25), its error sqrt((0.5 - 0.25**2) / 400,000) / (2 * 0.5)


def test_tasks_that_are_no_estimates_are_counted_not_summed_up(ask, read, tmp_path):
    from unseen.store import TaskResult, TaskRow

    url = f"sqlite:///{tmp_path / 'parts.db'}"
    with open_store(url) as store:
        cell = {"population": "letters", "model": "both", "n": 300, "method": "raw", "kind": "chunk"}
        store.add_study(
            "parts",
            "reproduction",
            {"seed": 0, "experiment": "x"},
            [cell],
            [TaskRow(f"{k}", 0, k, k) for k in range(4)],
        )
        rows = store.claim("parts", "me", 3, 60)
        store.finish("parts", "me", [TaskResult(r.id, estimate=0.5, seconds=2.0, extra="[]") for r in rows])
        store.release("parts", "me")
    app = dashboard(url)
    for part in ("", "/live"):
        text = "".join(read(ask(app, study("parts", part)).text).texts)
        assert "parts of a larger experiment" in text
    assert ask(app, study("parts", "/summary.csv")).status == 404
    assert ask(app, f"/compare?item=study.{key_of('parts')}").status == 200
    assert ask(app, study("parts", "/results.csv")).text.count("\r\n") == 4
    app.close()


def test_a_reproduction_that_runs_as_a_study_has_its_figures(ask, read, tmp_path):
    import unseen.reproduction

    url = f"sqlite:///{tmp_path / 'again.db'}"
    unseen.reproduction.reproduce(
        "ghane-synthetic",
        replications=3,
        random_state=0,
        n_jobs=1,
        progress=False,
        store=url,
        sizes=(20,),
        rules=("3nn",),
    )
    app = dashboard(url)
    (name,) = (p.name for p in app.site.source.ask(lambda s: s.studies()))
    page = read(ask(app, study(name, "/live")).text)
    assert page.all("svg")
    assert "bolster" in "".join(page.texts)
    record = "".join(read(ask(app, "/kept/1").text).texts)
    assert "published" in record
    assert "0.329" in record
    app.close()


def test_a_study_that_was_removed_is_not_found(ask, made):
    app = dashboard(made.url)
    assert ask(app, study("half")).status == 200
    made.store.remove("half")
    assert ask(app, study("half")).status == ask(app, study("half", "/live")).status == 404
    assert ask(app, f"/compare?item=study.{key_of('half')}").status == 404
    app.close()


def test_the_database_and_the_summary_agree(made):
    from unseen.web._summary import moments_table

    table, _ = moments_table(made.store.moments("whole"), made.store.cells("whole"))
    place = {name: k for k, name in enumerate(table.columns)}
    found = {(row[place["n"]], row[place["method"]]): row for row in table.rows}
    rows = summary_of(made.store, "whole").rows()
    assert len(found) == len(rows) == 6
    for row in rows:
        mine = found[row["n"], row["method"]]
        for column, name in (("bias (points)", "bias"), ("RMS", "rms"), ("true error", "truth")):
            value = getattr(mine[place[column]], "sort", mine[place[column]])
            assert value == pytest.approx(row[name], rel=1e-9), name
        error = float(mine[place["bias (points)"]].text.partition("(")[2].rstrip(")"))
        assert error == pytest.approx(100 * row["bias_error"], rel=0.05)  # two digits are shown


class Pickled:
    """What a hostile writer would hope to see opened."""

    opened = False

    def __reduce__(self):
        return (setattr, (Pickled, "opened", True))

    def __str__(self):
        raise AssertionError("an object of the store was written out")

    __repr__ = __str__


def test_bytes_and_objects_of_a_record_are_named_not_shown(ask, read):
    import pickle

    payload = {
        "model": pickle.dumps(Pickled()),
        "rows": [{"a": pickle.dumps(Pickled()), "b": Pickled()}],
        "x": Pickled(),
        "deep": {"y": {"z": [Pickled()]}},
    }
    app = dashboard(
        Fake(
            kept=[
                Kept(id=1, kind="model", name="m", created="", payload=payload),
                Kept(id=2, kind="assessment", name="n", created="", payload=payload),
            ]
        )
    )
    text = "".join(read(ask(app, "/kept/1").text).texts)
    assert "bytes, not shown)" in text
    assert "(an object of class Pickled, not shown)" in text
    for address in (
        "/",
        "/kept",
        "/kept/2",
        "/compare?item=kept.1&item=kept.2",
        "/kept/1/results.json",
        "/kept/1/results.csv",
    ):
        assert ask(app, address).status == 200, address
    assert not Pickled.opened


@pytest.mark.parametrize(
    "payload",
    [
        {},
        [],
        None,
        "text",
        3,
        {"error": None},
        {"pairs": []},
        {"estimates": {}},
        {"rows": [1, 2]},
        {"columns": ["a"], "rows": [["x", "y"], []]},
        {"error": "no number", "interval": [1]},
        {"estimates": {"a": 1}, "interval": "x"},
        {"rows": [{"a": float("nan")}]},
        {"winner": {"name": "w"}},
    ],
)
def test_any_payload_makes_a_page(ask, payload):
    app = dashboard(Fake(kept=[Kept(id=1, kind="assessment", name="a", created="not a time", payload=payload)]))
    for address in ("/", "/kept", "/kept/1", "/kept/1/results.json", "/compare?item=kept.1"):
        assert ask(app, address).status == 200, address


def test_an_empty_store(ask, tmp_path):
    open_store(f"sqlite:///{tmp_path / 'empty.db'}").close()
    app = dashboard(str(tmp_path / "empty.db"))
    assert "There is no study in this store yet." in ask(app, "/").text
    assert ask(app, "/kept").status == ask(app, "/compare").status == 200
    app.close()


def test_a_store_that_is_not_there_is_told_at_once(tmp_path):
    with pytest.raises(InputError, match="there is no store at"):
        dashboard(f"sqlite:///{tmp_path / 'none.db'}")


def test_a_store_that_goes_and_comes_back(ask, made, tmp_path):
    app = dashboard(made.url)
    path = tmp_path / "studies.db"
    made.store.close()
    os.rename(path, tmp_path / "away.db")
    answer = ask(app, "/")
    assert answer.status == 503
    assert answer["retry-after"] == "5"
    assert "studies.db" in answer.text
    assert str(tmp_path) not in answer.text
    assert ask(app, study("whole")).status == 503
    os.rename(tmp_path / "away.db", path)
    assert ask(app, "/").status == 200
    app.close()


def test_a_store_that_was_replaced_is_read_anew(ask, made, tmp_path):
    app = dashboard(made.url)
    assert "whole" in ask(app, "/").text
    made.store.close()
    for old in tmp_path.glob("studies.db*"):
        old.unlink()
    open_store(made.url).close()
    assert "No study yet" in ask(app, "/").text
    assert ask(app, study("whole")).status == 404
    app.close()


def test_a_locked_store_is_told_within_seconds(ask, made, tmp_path):
    made.store.close()
    holder = sqlite3.connect(tmp_path / "studies.db", isolation_level=None)
    # a write-ahead log lets readers in whatever a writer does; other tools may have left another mode
    holder.execute("PRAGMA journal_mode = DELETE")
    app = dashboard(made.url)
    assert ask(app, "/").status == 200
    holder.execute("BEGIN EXCLUSIVE")
    start = time.monotonic()
    answer = ask(app, "/")
    assert answer.status == 503
    assert "locked" in answer.text
    assert time.monotonic() - start < 10
    holder.execute("ROLLBACK")
    holder.close()
    assert ask(app, "/").status == 200
    app.close()


def test_a_damaged_store_is_told(ask, made, tmp_path):
    app = dashboard(made.url)
    made.store.close()
    for old in tmp_path.glob("studies.db*"):
        old.unlink()
    (tmp_path / "studies.db").write_bytes(b"this is no database at all, only text that is long enough" * 100)
    answer = ask(app, "/")
    assert answer.status == 503
    assert "not an SQLite database" in answer.text
    app.close()


@pytest.mark.parametrize(
    "trouble", [OSError("disk on fire"), sqlite3.OperationalError("disk I/O error at /secret/place")]
)
def test_troubles_of_the_driver_are_not_repeated_to_the_reader(ask, trouble):
    answer = ask(dashboard(Fake(trouble=trouble)), "/")
    assert answer.status == 503
    assert "secret" not in answer.text
    assert "fire" not in answer.text
    assert "The store does not answer" in answer.text


def test_a_mistake_of_ours_is_logged(ask, caplog):
    # Starlette sends the page and raises the error again for the server's log
    with pytest.raises(ZeroDivisionError):
        ask(dashboard(Fake(trouble=ZeroDivisionError("1/0"))), "/")
    assert "could not make a page" in caplog.text


def test_a_store_on_a_server_hides_its_password(ask, postgres):
    url = postgres.new_database()
    open_store(url).close()
    secret = url.replace("unseen@", "unseen:s3cr%21t@")
    app = dashboard(secret)
    page = ask(app, "/").text
    assert "postgresql://unseen@127.0.0.1" in page
    for word in ("s3cr", "s3cr!t"):
        assert word not in page
    app.close()


def test_a_server_that_stops_and_starts(ask, restartable_postgres):
    url = restartable_postgres.new_database()
    with open_store(url) as store:
        store.keep("assessment", "mine", {"error": 0.1})
    app = dashboard(url.replace("unseen@", "unseen:s3cr%21t@"))
    assert ask(app, "/kept/1").status == 200
    restartable_postgres.stop()
    for _ in range(3):
        answer = ask(app, "/")
        assert answer.status == 503
        assert "s3cr" not in answer.text
    restartable_postgres.start()
    found = [ask(app, "/kept/1").status for _ in range(3)]
    assert found[-1] == 200
    app.close()


def test_a_hundred_studies_are_listed_quickly(ask, tmp_path):
    from statistics import median

    url = f"sqlite:///{tmp_path / 'many.db'}"
    with open_store(url) as store:
        from unseen.store import TaskRow

        for k in range(100):
            tasks = [TaskRow(f"{k:016d}{r:016d}", 0, r, r) for r in range(20)]
            store.add_study(f"study {k}", "study", {"seed": 0, "replications": 20}, [{"n": 20}], tasks)
    app = dashboard(url)
    assert ask(app, "/").text.count("<progress") == 100
    times = []
    for _ in range(15):
        start = time.thread_time_ns(), time.process_time()
        ask(app, "/")
        times.append(time.process_time() - start[1])
    # CPU time, because the machine of a test may be busy with others
    assert median(times) < 0.05
    app.close()


def test_costly_parts_are_made_once_for_all_readers(ask):
    one = Progress(
        name="big",
        kind="study",
        state="running",
        total=2_000_000,
        done=1_200_000,
        failed=0,
        claimed=50,
        seconds=1e6,
        created="",
        updated="",
        eta_seconds=3600.0,
    )
    store = Fake([one])
    calls = []
    moments = store.moments
    store.moments = lambda name: calls.append(name) or moments(name)
    app = dashboard(store)
    for _ in range(5):
        ask(app, study("big", "/live"))
    assert len(calls) == 1


def test_every_kept_result_has_an_answer_and_its_page_says_it_alike(tmp_path, ask, read):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    import unseen

    url = f"sqlite:///{tmp_path / 'kept.db'}"
    X, y = unseen.datasets.load("iris").xy
    two = y != "setosa"
    found = unseen.assess("lda", X[two], y[two], quick=True, random_state=0)
    numbers = unseen.assess("ridge", *unseen.datasets.load("diabetes").xy, quick=True, random_state=0)
    resub = unseen.resubstitute(LinearDiscriminantAnalysis().fit(X[two], y[two]), X[two], y[two], random_state=0)
    power = unseen.power(n=300, difference=0.03, disagreement=0.2)
    for name, one in (("classes", found), ("numbers", numbers), ("resub", resub), ("power", power)):
        one.keep(url, name)
    app = dashboard(url)
    listed = "".join(read(ask(app, "/kept").text).texts)
    low, high = (f"{100 * end:.1f}%" for end in found.interval)
    assert f"{100 * found.error:.1f}% ({low} to {high})" in listed
    rmse = numbers.to_dict()["measures"]["rmse"]
    assert f"RMSE {rmse['value']:.4g} ({rmse['lower']:.4g} to {rmse['upper']:.4g})" in listed
    assert f"is expected to misclassify {100 * resub.headline.value:.1f}% of new cases" in listed
    assert str(power).split(" (two")[0] in listed
    heads = re.findall(r'<th scope="col"[^>]*>([^<]*)', ask(app, "/kept").text)
    assert heads[:2] == ["name", "answer"]  # what a phone shows without scrolling
    texts = read(ask(app, "/kept/1").text).texts
    assert f"{low} to {high}" in texts  # the facts
    assert f"{found.error:.4g}" not in texts
    assert "error, per cent of cases" in ask(app, "/kept/1").text
    texts = read(ask(app, "/kept/2").text).texts
    root = f"{np.sqrt(numbers.error):.4g}"
    assert root in texts
    assert f"{np.sqrt(numbers.interval.low):.4g} to {np.sqrt(numbers.interval.high):.4g}" in texts
    assert f"range-t {root}" in ask(app, "/kept/2").text  # the words of the picture
