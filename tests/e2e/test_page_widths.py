"""Every report and every page of the dashboard on a phone, a small and a large screen: nothing is cut at the right."""

from __future__ import annotations

import importlib.util
import runpy
import time
from pathlib import Path

import pytest

import unseen

HERE = Path(__file__).parent
report = runpy.run_path(str(HERE / "test_browser.py"))
samples = runpy.run_path(str(HERE / "report_samples.py"))
ARGUMENTS, Visit = report["ARGUMENTS"], report["Visit"]


class Address(str):
    """What a visit opens."""

    def as_uri(self) -> str:
        return str(self)


WIDTHS = (390, 1200, 1600)
PHONE = 390
SECONDS = 2.0  # within which the figures of a study are there
# sums that take longer than a test should
SLOW = {
    "kinetics",
    "kinetics-groups",
    "kinetics-subject",
    "diagnose",
    "study",
    "nets-rank",
    "assess-classes",
    "assess-slices",
}

# What a reader cannot see: beyond the window outside a box that scrolls, or text of a figure beyond its picture.
CUT = """() => {
  const faults = [];
  const page = document.documentElement.scrollWidth - innerWidth;
  if (page > 0) faults.push("the page scrolls sideways by " + page + " px");
  const shown = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
  const box = (e) => {
    for (let p = e.parentElement; p; p = p.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(p).overflowX)) return p;
  };
  for (const e of document.querySelectorAll("h1, h2, h3, p, li, pre, svg, table, caption, figcaption, nav a")) {
    if (!shown(e)) continue;
    const right = e.getBoundingClientRect().right;
    const scrolled = box(e);
    if (scrolled) {
      const told = scrolled.scrollWidth <= scrolled.clientWidth + 1 || scrolled.hasAttribute("data-wide");
      if (!told) faults.push("scrolls and does not say so: " + (e.textContent || e.outerHTML).trim().slice(0, 60));
      if (scrolled.getBoundingClientRect().right > innerWidth + 1) faults.push("the box of a table is cut");
    } else if (right > innerWidth + 1) faults.push(e.tagName + " is cut: " + e.textContent.trim().slice(0, 60));
  }
  for (const text of document.querySelectorAll("svg text")) {
    if (!shown(text)) continue;
    const inner = text.getBoundingClientRect();
    const outer = text.ownerSVGElement.getBoundingClientRect();
    const over = Math.max(inner.right - outer.right, outer.left - inner.left, inner.bottom - outer.bottom, outer.top - inner.top);
    if (over > 2) faults.push("text beyond its picture by " + over.toFixed(0) + " px: " + text.textContent);
  }
  return faults;
}"""
# Figures and tables whose right end one has to scroll to.
SCROLLED = """() => [...document.querySelectorAll(".scroll")]
  .filter((b) => b.scrollWidth > b.clientWidth + 1)
  .map((b) => (b.querySelector("svg") ? "figure " : "table ") + (b.getAttribute("aria-label") || b.id) + ": " + (b.scrollWidth - b.clientWidth) + " px")"""
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


@pytest.fixture(scope="module")
def started(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield opened
        opened.close()


def look(visit, width: int) -> list[str]:
    """Open what is folded and return what cannot be seen: on a phone only tables may have to be scrolled."""
    visit.page.evaluate(OPEN)
    visit.page.wait_for_timeout(100)
    scrolled = visit.page.evaluate(SCROLLED)
    if width == PHONE:
        scrolled = [one for one in scrolled if one.startswith("figure")]
    return visit.page.evaluate(CUT) + scrolled


def kinds() -> list:
    names = samples["makers"](Path())
    sample = [pytest.mark.sample]
    return [pytest.param(name, marks=[] if name in SLOW else sample) for name in names]


@pytest.mark.slow
@pytest.mark.parametrize("name", kinds())
def test_nothing_of_a_report_is_cut(started, tmp_path, name):
    if name.startswith("nets"):
        pytest.importorskip("torch", reason="networks need torch")
    ((_, path),) = samples["write_reports"](tmp_path, [name])
    assert path.stat().st_size < 1_000_000
    for width in WIDTHS:
        with Visit(started, path, width) as visit:
            assert look(visit, width) == [], f"{name} at {width} px"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Address of a dashboard over a finished study and a result of every kind that has a page of its own."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    dashboards = runpy.run_path(str(HERE / "test_dashboard_browser.py"))
    folder = tmp_path_factory.mktemp("widths")
    url = f"sqlite:///{folder / 'studies.db'}"
    unseen.Study("small samples", store=url).run(samples["SPEC"], n_jobs=1, progress=False)
    made = samples["makers"](folder)
    names = ["assess-two", "compare", "measure-two"]
    names += ["nets-rank", "nets-estimate", "nets-scores"] if importlib.util.find_spec("torch") else []
    for name in names:
        made[name]().keep(url, name)
    served = dashboards["Served"](url)
    served.kept = len(names)
    served.study = f"/studies/{dashboards['key_of']('small samples')}"
    yield served
    served.stop()


def places(base) -> list[str]:
    kept = [f"/kept/{k + 1}" for k in range(base.kept)]
    study = [base.study, f"{base.study}/cells", f"{base.study}/failures", f"{base.study}/live"]
    both = f"/compare?item=kept.1&item=kept.1&item=study.{base.study.rpartition('/')[2]}"
    return ["/", "/kept", *study, *kept, both, "/missing"]


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_of_the_dashboard_is_cut(started, base, width):
    found = {}
    for place in places(base):
        with Visit(started, Address(base.base + place), width) as visit:
            visit.page.wait_for_selector(".waiting", state="detached", timeout=60_000)
            # a page that is asked for without a script does not know how narrow the window is
            if not (place.endswith("/live") and width == PHONE):
                found[place] = look(visit, width)
    assert {place: faults for place, faults in found.items() if faults} == {}


@pytest.mark.slow
@pytest.mark.sample
def test_the_first_page_shows_what_a_study_found(started, base):
    with Visit(started, Address(base.base + "/"), 1200) as visit:
        visit.page.wait_for_selector("#studies figure svg", timeout=60_000)
        assert "nearest the truth" in visit.page.inner_text("#studies .lead")
        assert "small samples" in visit.page.inner_text("#studies h3")
        visit.page.click("#studies figcaption a")
        visit.page.wait_for_selector("#live figure svg", timeout=60_000)
        assert "nearest the truth" in visit.page.inner_text("#live .lead")


@pytest.mark.slow
@pytest.mark.parametrize("width", [PHONE, 1200])
def test_the_figures_of_a_study_cost_less_than_two_seconds(started, base, width):
    """Seconds of the processor, because the clock also counts what else the machine does."""
    fresh = type(base)(base.url)
    try:
        with Visit(started, Address(f"{fresh.base}/missing"), width) as visit:  # a server that has answered once
            before = time.process_time()
            visit.page.goto(fresh.base + base.study)
            visit.page.wait_for_selector("#live figure svg", timeout=60_000)
            assert time.process_time() - before < SECONDS
            assert visit.page.locator("#live figure svg").count() >= 4
    finally:
        fresh.stop()
