"""Every report and every page of the dashboard on a phone, a small and a large screen: nothing is cut at the right."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parent
report = runpy.run_path(str(HERE / "test_browser.py"))
samples = runpy.run_path(str(HERE / "report_samples.py"))
ARGUMENTS, Visit = report["ARGUMENTS"], report["Visit"]
WIDTHS = (390, 1200, 1600)
PHONE = 390
SECONDS = 2.0  # within which the figures of a study are there
# sums that take longer than a test should
SLOW = {"kinetics-groups", "kinetics-subject", "diagnose"}

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
    assert path.stat().st_size < 1_500_000
    for width in WIDTHS:
        with Visit(started, path, width) as visit:
            assert look(visit, width) == [], f"{name} at {width} px"
