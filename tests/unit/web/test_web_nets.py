"""Pages of kept rankings, benches and scores of nets: everything of the report is there, nothing of the user's is run."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.core.estimate import Interval, Target
from unseen.core.notes import note
from unseen.nets.augmentation.sheet import AugmentationSheet
from unseen.nets.estimates.records import NetEstimate
from unseen.nets.measures.value import MeasureValue
from unseen.nets.ranking.bench_record import Bench, BenchLine
from unseen.nets.ranking.measure_scores import score_measures
from unseen.nets.ranking.ranking_record import NetRanking
from unseen.nets.sections import error_interval
from unseen.store import open_store
from unseen.web import dashboard
from unseen.web._nets import nets_headline

HOSTILE = "<script>alert(1)</script> \"' & $x$ {{7*7}}"
GRID = {"depth": [1, 1, 1, 1, 2, 2, 2, 2], HOSTILE: ["a", "a", "b", "b"] * 2, "dropout": [0, 1] * 4}
GAP = np.array([0.10, 0.12, 0.15, 0.19, 0.21, 0.26, 0.3, 0.33])


def sheet() -> AugmentationSheet:
    images = np.random.default_rng(0).random((2, 3, 6, 6, 3))
    labels = ((HOSTILE, "flip", "Sobel"), ("as it is", "flip", "Sobel"))
    return AugmentationSheet(
        category="all",
        row_labels=("image 1", HOSTILE),
        labels=labels,
        penalties=np.array([[9.0, 6.0, 4.25], [9.0, 5.0, 0.5]]),
        images=images,
    )


def ranking() -> NetRanking:
    values = {
        m: tuple(
            MeasureValue(
                measure=m, value=v, std_error=0.1, draws=5, seconds=0.2, used=("0", HOSTILE), skipped={"1": "too small"}
            )
            for v in (0.1, 0.2, 0.3)
        )
        for m in ("path-norm", HOSTILE)
    }
    probability = np.array([[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]])
    notes = (note("N006", f"training accuracy below 0.95: {HOSTILE} (0.800)"),)
    return NetRanking(
        names=(HOSTILE, "b", "c"),
        score=(0.0, 0.5, 1.0),
        probability=probability,
        values=values,
        agreement={("path-norm", HOSTILE): 1.0},
        accuracy=(1.0, 0.8, 1.0),
        notes=notes,
        sheets=(sheet(),),
    )


def bench() -> Bench:
    lines = tuple(
        BenchLine(
            measure=name,
            control=control,
            cmi=score,
            cmi_low=score - 1,
            cmi_high=score + 1,
            cmi_honest=score,
            p_value=0.01,
            tau=0.5,
            granulated_tau=0.4,
            robust_error=0.3,
            worst="depth 1 to 2",
            seconds=0.1,
            std_error=0.0,
        )
        for name, control, score in ((HOSTILE, False, 40.0), ("epochs", True, 12.0), ("flat", False, 1.0))
    )
    values = {HOSTILE: GAP**2, "epochs": np.arange(8.0), "flat": np.ones(8)}
    return Bench(
        zoo=HOSTILE,
        lines=lines,
        noise_floor=5.0,
        gap=GAP,
        values=values,
        axes=GRID,
        seeds=np.zeros(8, int),
        left_out={"alpha": HOSTILE},
        notes=(),
        sheets=(sheet(),),
    )


def estimate() -> NetEstimate:
    shares = np.array([0.5, 0.0, 0.1])
    return NetEstimate(
        value=0.2,
        std_error=None,
        interval=None,
        df=None,
        method="bolster",
        target=Target.MODEL.at(3),
        loss="zero-one",
        n_units=3,
        n_fits=0,
        seconds=0.1,
        notes=(),
        mc_error=0.01,
        contributions=shares,
        space=HOSTILE,
        measure=HOSTILE,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('nets') / 'nets.db'}"
    scores = score_measures(GAP, {HOSTILE: GAP, "flat": np.ones(8)}, GRID, n_permutations=9)
    for result in (ranking(), bench(), scores, estimate(), sheet(), scores.scores["flat"]):
        result.keep(url, f"{HOSTILE} {result.kept_as}")
    app = dashboard(url)
    yield app
    app.close()


def sections(page: str) -> list[str]:
    return re.findall(r'<section id="([\w-]+)"', page)


@pytest.mark.parametrize(
    ("number", "ids", "figures"),
    [
        (1, ["answer", "table", "augmentations"], 2),
        (2, ["answer", "table", "scatter", "augmentations"], 3),
        (3, ["answer", "table", "scatter", "sets"], 3),
        (4, ["headline", "measure", "hardest", "numbers"], 1),
        (5, ["result", "augmentations"], 1),
        (6, ["result", "sets"], 1),
    ],
)
def test_the_page_has_every_section_and_figure(ask, site, read, number, ids, figures):
    answer = ask(site, f"/kept/{number}")
    assert answer.status == 200
    assert sections(answer.text) == ids
    page = read(answer.text)
    pictures = [one for one in page.all("svg") if "narrow" not in one["class"].split()]
    assert len(pictures) == figures
    assert [f["aria-label"] for f in page.all("div") if f.get("role") == "img"] != []
    # only the page's own scripts, and no handler or address of the user's
    assert {s.get("src", "").partition("?")[0] for s in page.all("script")} == {
        f"/static/{n}" for n in ("htmx.min.js", "tables.js", "live.js")
    }
    assert not [a for _, attrs in page.elements for a in attrs if a.startswith("on")]
    assert HOSTILE in "".join(page.texts)
    assert answer["content-security-policy"].startswith("default-src 'none'")


def test_every_number_of_the_bench_is_in_its_table(ask, site):
    text = ask(site, "/kept/2").text
    table = text[text.index('id="table-1"') : text.index('id="table-2"')]
    assert re.findall(r'data-sort="(40.0|12.0|1.0)"', table)[::2] == ["40.0", "12.0", "1.0"]
    assert 'class="sortable"' in table
    assert "<small>control</small>" in table
    assert "one in twenty measures without information passes 5.0" in text


def test_penalties_and_images_are_on_the_sheet(ask, site):
    text = ask(site, "/kept/1").text
    part = text[text.index('id="augmentations"') :]
    assert all(f">{p}<" in part for p in ("9.00", "6.00", "4.25", "0.50"))
    assert part.count('href="data:image/png;base64,') >= 1
    assert "style=" not in part


def test_the_scatter_shows_the_measure_that_is_asked_for(ask, site):
    from urllib.parse import quote

    first = ask(site, "/kept/2").text
    chosen = re.findall(r'<a href="([^"]*)" aria-current="true">', first)
    assert chosen == [f"?scatter={quote(HOSTILE, safe='').replace('%20', '+')}#scatter"]
    other = ask(site, "/kept/2?scatter=epochs").text
    assert '<h2 id="scatter-title">Gap against epochs</h2>' in other
    assert "Kendall&#39;s tau with epochs 0.50" in other
    for odd in ("nothing", "%00", "x" * 3000, "<script>"):
        assert "Gap against the best measure" in ask(site, f"/kept/2?scatter={odd}").text
    assert "Gap against flat" in ask(site, "/kept/3?scatter=flat").text


def test_lists_name_the_answer_and_the_kind(ask, site):
    text = ask(site, "/kept").text
    assert "first of 3 (probability 0.75)" in text
    assert "40.0 of 100, noise floor 5.0" in text
    assert "20.0%" in text
    only = ask(site, "/kept?kind=nets-bench").text
    assert "40.0 of 100" in only
    assert "probability 0.75" not in only
    assert "Latest results" in ask(site, "/").text


def test_an_estimate_outside_its_interval_is_shown_with_the_digits_that_make_it_so():
    found = replace(estimate(), value=0.0, interval=Interval(0.0004656, 0.2271, 0.95))
    text = " ".join(b.text for b in error_interval(found).blocks)
    assert "The estimate itself, 0%, lies below the lower end, 0.0466%: trust the interval." in text
    assert nets_headline("nets-estimate", found.to_record()) == "0.0% (0.0% to 22.7%)"
    inside = replace(found, value=0.1)
    assert "itself" not in " ".join(b.text for b in error_interval(inside).blocks)


def test_the_scores_of_a_bench_at_zero_are_drawn_whole():
    made = bench()
    assert made.title.startswith("Measures of generalization on the zoo ")
    points = [line for line in made.plot("scores").lines if len(line.get_xdata()) == 1]
    assert points
    assert not any(line.get_clip_on() for line in points)


def test_downloads_hold_the_record_and_its_table(ask, site):
    rows = list(csv.DictReader(io.StringIO(ask(site, "/kept/2/results.csv").text)))
    assert [float(row["cmi"]) for row in rows] == [40.0, 12.0, 1.0]
    held = json.loads(ask(site, "/kept/1/results.json").text)
    assert held["names"] == [HOSTILE, "b", "c"]
    assert held["sheets"][0]["images"]["shape"] == [2, 3, 6, 6, 3]


def test_two_benches_are_compared_by_their_score(ask, site):
    text = ask(site, "/compare?item=kept.2&item=kept.3").text
    assert "Bench of measures: cmi" in text
    assert "Scores of measures: cmi" in text
    ranks = ask(site, "/compare?item=kept.1").text
    assert "Ranking of networks: score" in ranks


def test_figures_are_drawn_once(ask, site, monkeypatch):
    ask(site, "/kept/2")
    monkeypatch.setattr("unseen.web._nets.build", lambda found: pytest.fail("drawn again"))
    monkeypatch.setattr("unseen.web._nets.responsive_svg", lambda *a: pytest.fail("drawn again"))
    assert ask(site, "/kept/2").status == 200


def places(value, path=()):
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*path, key)
            yield from places(value[key], (*path, key))


RECORDS = {r.kept_as: r.to_record() for r in (ranking(), bench(), estimate(), sheet())}
ODD = [None, True, -1, 0, 1e308, "", "x", HOSTILE, [], [[]], {}, {"a": 1}, [None], "A" * 50, 10**30, "\ud800"]


@pytest.mark.slow
@pytest.mark.sample
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_a_record_changed_at_will_still_has_a_page(ask, tmp_path_factory, data):
    """Whatever a payload holds, the page is made of it, or shows it as plain values."""
    kind = data.draw(st.sampled_from(sorted(RECORDS)))
    payload = copy.deepcopy(RECORDS[kind])
    for _ in range(data.draw(st.integers(1, 3))):
        known = list(places(payload))
        if not known:
            break
        *above, last = data.draw(st.sampled_from(known))
        inner = payload
        for key in above:
            inner = inner[key]
        inner[last] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    url = f"sqlite:///{tmp_path_factory.mktemp('odd') / 'odd.db'}"
    with open_store(url) as store:
        number = store.keep(kind, "odd", payload)
    app = dashboard(url)
    try:
        for address in (
            "/",
            "/kept",
            f"/kept/{number}",
            f"/compare?item=kept.{number}",
            f"/kept/{number}/results.json",
        ):
            answer = ask(app, address)
            assert answer.status == 200, (address, payload)
            assert b"<script>alert" not in answer.body or address.endswith("json")
        assert ask(app, f"/kept/{number}/results.csv").status in (200, 404)
    finally:
        app.close()


def test_a_record_that_promises_more_than_it_holds_is_shown_as_values(ask, made, caplog):
    app = dashboard(made.url)
    text = ask(app, f"/kept/{made.kept['nets']}").text
    assert 'id="part-t0"' in text
    assert "path-norm" in text
    assert "Ranking of networks" in text
    app.close()


def test_a_record_that_cannot_be_drawn_is_shown_as_values(ask, site, monkeypatch, tmp_path, caplog):
    url = f"sqlite:///{tmp_path / 'b.db'}"
    bench().keep(url, "b")
    monkeypatch.setattr("unseen.web._nets.build", lambda found: 1 / 0)
    app = dashboard(url)
    text = ask(app, "/kept/1").text
    assert "Lines" in text
    assert "could not be made" in caplog.text
    app.close()


def test_a_store_on_a_server_shows_the_same_page(ask, site, postgres):
    url = postgres.new_database()
    for result in (ranking(), bench()):
        result.keep(url, f"{HOSTILE} {result.kept_as}")
    app = dashboard(url)
    for number in (1, 2):
        mine, theirs = (ask(one, f"/kept/{number}").text for one in (app, site))
        cut = lambda text: text[text.index("<section") : text.index("<footer")]  # noqa: E731
        assert cut(mine) == cut(theirs)
    assert "40.0 of 100" in ask(app, "/kept?kind=nets-bench").text
    app.close()
