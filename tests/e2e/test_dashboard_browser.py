"""The dashboard in a real browser while a study runs: it moves, is silent, asks nobody else, can be read and used by keyboard."""

from __future__ import annotations

import re
import runpy
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

import unseen
from unseen.store import open_store
from unseen.web import dashboard
from unseen.web._words import key_of

report = runpy.run_path(str(Path(__file__).with_name("test_browser.py")))
CONTRASTS, ARGUMENTS, Visit, HOSTILE = (report[k] for k in ("CONTRASTS", "ARGUMENTS", "Visit", "HOSTILE"))
NAME = HOSTILE.format("a study")
SPEC = {
    "replications": 4000,
    "sizes": [12, 24],
    "populations": ["gaussian-blocks"],
    "models": ["lda"],
    "methods": ["resub", "loo"],
    "n_test": 200,
    "seed": 3,
}
DRIVER = """
import json, sys, unseen
unseen.Study(sys.argv[1], store=sys.argv[2]).run(json.loads(sys.argv[3]), n_jobs=1, progress=False)
"""
# every control and region has a name, every picture is described, ids are unique, headings go down by one
FAULTS = """() => {
  const name = (e) => (e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby")
    && document.getElementById(e.getAttribute("aria-labelledby"))?.textContent) || e.textContent || "").trim();
  const faults = [];
  const shown = (e) => e.getClientRects().length > 0;
  for (const e of document.querySelectorAll("a, button, summary, [role=img], [role=region], progress, nav, section"))
    if (!name(e)) faults.push("no name: " + e.outerHTML.slice(0, 80));
  for (const e of document.querySelectorAll("progress")) if (!e.getAttribute("aria-label")) faults.push("progress without label");
  for (const e of document.querySelectorAll("[aria-labelledby]"))
    if (!document.getElementById(e.getAttribute("aria-labelledby"))) faults.push("label is gone: " + e.id);
  for (const e of document.querySelectorAll("th")) if (!e.hasAttribute("scope")) faults.push("th without scope");
  const places = [...document.querySelectorAll("nav, section, [role=region]")].map((e) => e.tagName + name(e));
  for (const place of places) if (places.indexOf(place) !== places.lastIndexOf(place)) faults.push("two places of one name: " + place);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push("id twice: " + id);
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(shown).map((h) => +h.tagName[1]);
  levels.forEach((level, k) => { if (k ? level - levels[k - 1] > 1 : level !== 1) faults.push("heading " + k + " of level " + level); });
  if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
  for (const e of document.querySelectorAll(".scroll"))
    if (e.scrollWidth > e.clientWidth + 1 && e.tabIndex !== 0) faults.push("scrolls, but not by keyboard: " + e.id);
  for (const e of document.querySelectorAll("main a, main button, main summary, nav a")) {
    const box = e.getBoundingClientRect();
    if (shown(e) && box.height < 16) faults.push("too low to hit: " + e.outerHTML.slice(0, 80));
  }
  return faults;
}"""


class Address(str):
    """What a visit opens."""

    def as_uri(self) -> str:
        return str(self)


@pytest.fixture(scope="module")
def started(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def store_url(tmp_path_factory):
    """A store with a finished study, one that has failed tasks, and kept results with hostile names."""
    url = f"sqlite:///{tmp_path_factory.mktemp('dashboard') / 'studies.db'}"
    small = {**SPEC, "replications": 12, "models": ["lda", "knn:3"], "methods": ["resub", "loo", "corrected-t"]}
    unseen.Study("finished", store=url).run(small, n_jobs=1, progress=False)
    with open_store(url, max_attempts=1) as store:
        numbers = {
            "error": 0.05,
            "interval": [0.01, 0.09],
            "level": 0.95,
            "loss": "zero-one",
            "model": "lda",
            "target": "t",
            "n": 9,
            "sentence": NAME,
            "estimates": {NAME: {"value": 0.05, "interval": {"low": 0.01, "high": 0.09}}},
        }
        store.keep("assessment", NAME, numbers)
        store.keep("assessment", "plain", numbers)
        store.keep(
            "reproduction", "long", {"cells": [{"cell": f"c{k}", "ours": k / 7, "remark": NAME} for k in range(400)]}
        )
    return url


class Served:
    """A live server that can be stopped and started at the same address."""

    def __init__(self, url: str) -> None:
        self.url, self.port = url, 0
        self.start()

    def start(self) -> None:
        import uvicorn

        from unseen.web._server import bind

        self.app = dashboard(self.url)
        listening = bind("127.0.0.1", self.port)
        self.port = listening.getsockname()[1]
        settings = {"log_level": "warning", "lifespan": "off", "ws": "none", "timeout_graceful_shutdown": 3}
        self.server = uvicorn.Server(uvicorn.Config(self.app, **settings))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.02)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.app.stop()
        self.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()
        self.app.close()


@pytest.fixture(scope="module")
def base(store_url):
    """Address of a live server."""
    served = Served(store_url)
    yield served.base
    served.stop()


def pages(base: str) -> dict[str, str]:
    study = f"{base}/studies/{key_of('finished')}"
    return {
        "list": f"{base}/",
        "results": f"{base}/kept",
        "record": f"{base}/kept/1",
        "long record": f"{base}/kept/3",
        "study": study,
        "failures": f"{study}/failures",
        "cells": f"{study}/cells",
        "no such page": f"{base}/missing",
        "compare": f"{base}/compare?item=kept.1&item=kept.2",
        "compare studies": f"{base}/compare?item=study.{key_of('finished')}",
    }


def settled(visit) -> None:
    visit.page.wait_for_selector(".waiting", state="detached", timeout=60_000)


def tab_to(page, text):
    """Move the focus by the tabulator to the element with this text."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == text:
            return
    pytest.fail(f"no tabulator leads to {text!r}")


def assert_sorts_by_keyboard(page, table):
    """Sort by the column whose heading has the focus, up and down."""
    column = f"() => [...document.querySelectorAll('{table} tbody tr')].map((r) => +r.cells[document.activeElement.closest('th').cellIndex].dataset.sort)"
    page.keyboard.press("Enter")
    assert page.evaluate(column) == sorted(page.evaluate(column))
    page.keyboard.press("Space")
    assert page.evaluate(column) == sorted(page.evaluate(column), reverse=True)


def assert_own(visit, base: str, allowed=()) -> None:
    assert visit.requests
    assert [r for r in visit.requests if not r.startswith((base + "/", "data:"))] == []
    assert [c for c in visit.complaints if not any(word in c for word in allowed)] == []


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")])
def test_pages_are_silent_fit_and_can_be_read(started, base, width, scheme):
    for name, address in pages(base).items():
        with Visit(started, Address(address), width, scheme) as visit:
            settled(visit)
            # the browser itself complains of a page that is not found
            assert_own(visit, base, ("404",) if name == "no such page" else ())
            wide = visit.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, f"{name} scrolls sideways by {wide} px"
            visit.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            texts = visit.page.evaluate(CONTRASTS)
            assert [t for t in texts if t["ratio"] < 4.5] == [], name
            assert [t for t in texts if t["size"] < 9.5] == [], name
            assert visit.page.evaluate(FAULTS) == [], name


@pytest.mark.slow
@pytest.mark.sample
def test_progress_moves_while_a_study_runs(started, base, store_url):
    """The same page is watched from before the study is there until it was stopped."""
    import json

    key = key_of(NAME)
    with Visit(started, Address(f"{base}/")) as visit:
        page = visit.page
        assert page.locator(f"[data-study='{key}']").count() == 0
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, NAME, store_url, json.dumps(SPEC)], stderr=subprocess.PIPE
        )
        try:
            bar = f"[data-study='{key}'] progress"
            page.wait_for_selector(bar, timeout=90_000)
            value = f"() => document.querySelector(`{bar}`).value"
            seen = [page.evaluate(value)]
            limit = time.monotonic() + 90
            while len(seen) < 4 and time.monotonic() < limit:
                page.wait_for_timeout(200)
                now = page.evaluate(value)
                if now != seen[-1]:
                    seen.append(now)
            assert len(seen) == 4, "the bar did not move"
            assert seen == sorted(seen)
            assert page.inner_text(f"[data-study='{key}'] [data-part=state]") == "running"
            assert re.fullmatch(r"[\d,]+ of 16,000 tasks", page.inner_text(f"[data-study='{key}'] [data-part=done]"))
            assert HOSTILE.format("a study") in page.inner_text("#studies")
            _watch_one(started, base, key)
        finally:
            driver.send_signal(signal.SIGINT)
            driver.communicate(timeout=60)
        page.wait_for_function(
            f"() => document.querySelector(`[data-study='{key}']`).dataset.state !== 'running'", timeout=90_000
        )
        assert page.inner_text(f"[data-study='{key}'] [data-part=state]") == "partial"
        assert page.evaluate("document.querySelector('#announce').textContent").startswith("Progress of")
        assert_own(visit, base)


def _watch_one(started, base, key) -> None:
    """The page of the study itself: figures and summary follow the results, and the order of a table stays."""
    with Visit(started, Address(f"{base}/studies/{key}")) as visit:
        page = visit.page
        page.wait_for_selector("#live svg", timeout=90_000)
        page.wait_for_selector("#summary-rows th button", timeout=60_000)
        page.click("#summary-rows th:nth-child(2) button")
        page.click("#summary-rows th:nth-child(2) button")
        order = "() => [...document.querySelectorAll('#summary-rows tbody tr')].map((r) => r.cells[1].textContent)"
        assert page.evaluate(order) == sorted(page.evaluate(order), reverse=True)
        page.evaluate("document.querySelector('#summary-rows').scrollLeft = 60")
        place = page.evaluate("document.querySelector('#summary-rows').scrollLeft")
        stamp = page.get_attribute("#live", "data-stamp")
        page.wait_for_function(
            "(old) => document.querySelector('#live').dataset.stamp !== old", arg=stamp, timeout=90_000
        )
        page.wait_for_selector("#summary-rows th[aria-sort=descending]", timeout=10_000)
        assert page.evaluate(order) == sorted(page.evaluate(order), reverse=True)
        assert page.evaluate("document.activeElement.id") == "sort-summary-rows-1", "the focus was lost"
        assert page.evaluate("document.querySelector('#summary-rows').scrollLeft") == place
        assert_own(visit, base)


def test_keyboard_alone_is_enough(started, base):
    with Visit(started, Address(f"{base}/")) as visit:
        page = visit.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        tab_to(page, "finished")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("Enter")
        page.wait_for_url("**/studies/finished-*")
        settled(visit)
        tab_to(page, "bias (points)")
        assert_sorts_by_keyboard(page, "#summary-rows")
        assert_own(visit, base)


def test_long_tables_are_sorted_and_paged_by_links(started, base):
    with Visit(started, Address(f"{base}/kept/3")) as visit:
        page = visit.page
        page.click("#t0 th:nth-child(2) a")
        page.click("#t0 th:nth-child(2) a")
        assert page.inner_text("#t0 tbody tr:first-child td") == "c399"
        page.click("nav.pages a[rel=next]")
        assert page.inner_text("#t0 tbody tr:first-child td") == "c299"
        assert_own(visit, base)


@pytest.mark.slow
@pytest.mark.sample
def test_without_script_all_is_there(started, base):
    context = started.new_context(java_script_enabled=False)
    page = context.new_page()
    for name, address in pages(base).items():
        page.goto(address)
        assert page.locator("h1").count() == 1, name
        assert page.locator("th button").count() == 0
    page.goto(pages(base)["study"])
    page.click("#figures a")
    assert page.locator("#figures svg").count() >= 2
    context.close()


def test_files_come_as_downloads_with_safe_names(started, base):
    with Visit(started, Address(f"{base}/studies/{key_of('finished')}")) as visit:
        for word, name in (
            ("Results as CSV", "finished.csv"),
            ("as JSON", "finished.json"),
            ("Summary as CSV", "finished-summary.csv"),
        ):
            with visit.page.expect_download() as waiting:
                visit.page.get_by_role("link", name=word, exact=True).click()
            assert waiting.value.suggested_filename == name
            assert Path(waiting.value.path()).stat().st_size > 500


@pytest.mark.slow
@pytest.mark.sample
def test_print_is_dark_on_white_and_whole(started, base):
    for name in ("study", "compare", "record"):
        with Visit(started, Address(pages(base)[name]), report["PAPER"], "dark", "print") as visit:
            settled(visit)
            assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            assert [t for t in visit.page.evaluate(CONTRASTS) if t["ratio"] < 4.5] == [], name
            cut = (
                "[...document.querySelectorAll('figure .scroll')].filter(s => s.scrollWidth > s.clientWidth + 1).length"
            )
            assert visit.page.evaluate(cut) == 0, "paper cannot be scrolled"
            assert visit.page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.sample
def test_a_connection_that_breaks_is_told_and_taken_up_again(started, store_url):
    served = Served(store_url)
    with Visit(started, Address(f"{served.base}/")) as visit:
        page = visit.page
        page.wait_for_selector("[data-study]")
        page.wait_for_timeout(1000)
        assert page.evaluate("document.querySelector('#trouble').hidden")
        served.stop()
        page.wait_for_selector("#trouble:not([hidden])", timeout=30_000)
        assert "connection" in page.inner_text("#trouble")
        served.start()
        page.wait_for_function("() => document.querySelector('#trouble').hidden", timeout=30_000)
        served.stop()


@pytest.mark.slow
@pytest.mark.sample
def test_a_store_that_goes_away_is_told_on_the_open_page(started, base, store_url):
    path = Path(store_url.removeprefix("sqlite:///"))
    with Visit(started, Address(f"{base}/")) as visit:
        visit.page.wait_for_timeout(1500)
        away = path.with_name("away.db")
        path.rename(away)
        try:
            visit.page.wait_for_selector("#trouble:not([hidden])", timeout=20_000)
            assert "studies.db" in visit.page.inner_text("#trouble")
            with Visit(started, Address(f"{base}/kept")) as other:
                assert "The store cannot be read" in other.page.inner_text("h1")
        finally:
            away.rename(path)
        visit.page.wait_for_function("() => document.querySelector('#trouble').hidden", timeout=20_000)
