"""The report in a real browser: silent, readable in light and dark, on wide and narrow screens, usable by keyboard."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import unseen

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAPER = 688  # px: A4 less the margins
HOSTILE = "<script>alert('{}')</script> \"&\" $x_1$ " + "w" * 60

# WCAG 2.1 contrast of every text node's colour with the nearest opaque background behind it
CONTRASTS = """() => {
  const parse = (text) => {
    const part = text.match(/[\\d.]+/g).map(Number);
    const scale = text.startsWith("color(srgb") ? 255 : 1;
    return {rgb: part.slice(0, 3).map((v) => v * scale), alpha: part.length > 3 ? part[3] : 1};
  };
  const luminance = (rgb) => rgb.map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.alpha > 0.99) return colour.rgb;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.data.trim();
    const element = walk.currentNode.parentElement;
    if (!text || ["SCRIPT", "STYLE", "style", "title"].includes(element.tagName)) continue;
    const picture = element.closest("svg");
    if (picture && getComputedStyle(picture).display === "none") continue;  // for pages of another width
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    const pair = [luminance(ink.rgb), luminance(behind(element))].sort((a, b) => b - a);
    found.push({text: text.slice(0, 40), tag: element.tagName, ratio: (pair[0] + 0.05) / (pair[1] + 0.05),
                size: element instanceof SVGElement
                  ? parseFloat(style.fontSize) * Math.hypot(element.getScreenCTM().a, element.getScreenCTM().b) : parseFloat(style.fontSize)});
  }
  return found;
}"""


def sample() -> tuple[np.ndarray, np.ndarray]:
    code = np.arange(90) % 3
    return np.random.default_rng(5).normal(size=(90, 3)) + 1.5 * np.eye(3)[code], code


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    X, code = sample()
    folder = tmp_path_factory.mktemp("reports")
    effort = "splits=5,repeats=1,bootstrap=20,leave_out=20,curve=2"
    plain = unseen.assess(GaussianNB(), X, np.array(["red", "green", "blue"])[code], random_state=0, effort=effort)
    labels = np.array([HOSTILE.format(f"label {k}") for k in range(3)])[code]
    ids = [HOSTILE.format(f"id {k}") for k in range(90)]
    hostile = unseen.assess(
        GaussianNB(), X, labels, random_state=0, effort=effort, ids=ids, command=HOSTILE.format("command")
    )
    numbers = unseen.assess("ridge", *unseen.datasets.load("diabetes").xy, random_state=0, effort=effort)
    two = unseen.assess("logistic", X, np.where(code == 0, "yes", "no"), random_state=0, effort=effort)
    # a frame, a note and every curve of two classes
    told = np.column_stack([X, X[:, 0]]), np.where(code == 0, "yes", "no")
    told[0][:, -1] = (code == 0) + 1e-3 * X[:, 1]
    warned = unseen.assess("logistic", *told, random_state=0, effort=effort)
    made = {"plain": plain, "hostile": hostile, "regression": numbers, "two": two, "warned": warned}
    made["estimate"] = plain.headline
    return {name: Path(result.report(folder / f"{name}.html")) for name, result in made.items()}


@pytest.fixture(scope="module")
def started(chromium: str):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield opened
        opened.close()


class Visit:
    """A page with everything it asked for and complained of."""

    def __init__(self, started, path: Path, width: int = 1200, scheme: str = "light", media: str = "screen"):
        self.context = started.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.emulate_media(media=media)
        self.page.goto(path.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.context.close()


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["plain", "hostile", "regression", "estimate"])
def test_the_report_is_silent_fits_and_can_be_read(started, reports, name, scheme, width):
    with Visit(started, reports[name], width, scheme) as visit:
        assert visit.requests == [reports[name].as_uri()]
        assert visit.complaints == []
        wide = visit.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"the page scrolls sideways by {wide} px"
        texts = visit.page.evaluate(CONTRASTS)
        assert len(texts) > 20
        assert {t["tag"] for t in texts} >= {"H1", "A", "P", "FIGCAPTION", "text"}
        assert [t for t in texts if t["ratio"] < 4.5] == []
        assert [t for t in texts if t["size"] < 9.5] == []


def test_dark_and_light_really_differ(started, reports):
    colours = []
    for scheme in ("light", "dark"):
        with Visit(started, reports["plain"], scheme=scheme) as visit:
            colours.append(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))
            marks = visit.page.evaluate(
                "[...document.querySelectorAll('svg path')].map(p => getComputedStyle(p).stroke)"
            )
            assert "rgb(0, 0, 0)" not in marks
    assert colours[0] != colours[1]


def test_structure(started, reports):
    with Visit(started, reports["plain"]) as visit:
        levels = visit.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(b - a <= 1 for a, b in pairwise(levels))
        unnamed = (
            "[...document.querySelectorAll('figure')].filter(f => !f.querySelector('[role=img][aria-label]')).length"
        )
        assert visit.page.evaluate(unnamed) == 0
        assert visit.page.evaluate("document.querySelectorAll('svg').length") >= 6
        assert visit.page.evaluate("document.documentElement.lang") == "en"
        broken = (
            "[...document.querySelectorAll('a')].filter(a => !document.querySelector(a.getAttribute('href'))).length"
        )
        assert visit.page.evaluate(broken) == 0


def test_a_table_is_sorted_by_keyboard(started, reports):
    column = "() => [...document.querySelectorAll('#estimates tbody tr')].map(r => +r.cells[1].dataset.sort)"
    with Visit(started, reports["plain"]) as visit:
        page = visit.page
        before = page.evaluate(column)
        assert before != sorted(before)
        page.evaluate("document.querySelector('#estimates details').open = true")
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "error":
                break
        assert page.evaluate("document.activeElement.closest('section').id") == "estimates"
        head = "document.activeElement.closest('th').getAttribute('aria-sort')"
        page.keyboard.press("Enter")
        assert page.evaluate(column) == sorted(before)
        assert page.evaluate(head) == "ascending"
        page.keyboard.press("Space")
        assert page.evaluate(column) == sorted(before, reverse=True)
        assert page.evaluate(head) == "descending"
        assert page.evaluate("document.querySelectorAll('[aria-sort=ascending]').length") == 0


def test_empty_cells_come_last_whichever_way_a_column_is_sorted(started, reports):
    cells = "() => [...document.querySelectorAll('#estimates tbody tr')].map(r => r.cells[2].dataset.sort)"
    with Visit(started, reports["plain"]) as visit:
        visit.page.click("#estimates summary")
        for _ in range(2):
            visit.page.click("#estimates th:nth-child(3) button")
            values = visit.page.evaluate(cells)
            filled = sum(v != "" for v in values)
            assert 0 < filled < len(values)
            assert all(v != "" for v in values[:filled])


def test_without_script_the_report_is_complete(started, reports):
    context = started.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["plain"].as_uri())
    assert page.locator("#estimates tbody tr").count() > 5
    assert page.locator("th button").count() == 0
    context.close()


@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_print_is_dark_on_white_whatever_the_screen_and_nothing_is_cut_off(started, reports, name):
    with Visit(started, reports[name], PAPER, "dark", "print") as visit:
        body = visit.page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
        assert body[0] == "rgb(255, 255, 255)"
        assert [t for t in visit.page.evaluate(CONTRASTS) if t["ratio"] < 4.5] == []
        assert visit.page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
        cut = "[...document.querySelectorAll('.scroll, pre')].filter(s => s.scrollWidth > s.clientWidth + 1).length"
        assert visit.page.evaluate(cut) == 0, "paper cannot be scrolled"
        pdf = visit.page.pdf(format="A4")
        assert pdf.startswith(b"%PDF")


@pytest.mark.parametrize("name", ["plain", "regression", "two", "warned"])
def test_a_report_prints_on_two_sheets_with_its_details_folded(started, reports, name):
    with Visit(started, reports[name], media="print") as visit:
        assert visit.page.locator("details").count() >= 5
        assert visit.page.locator("details[open]").count() == 0
        pdf = visit.page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page[^s]", pdf)) == 2
        visit.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert len(re.findall(rb"/Type\s*/Page[^s]", visit.page.pdf(format="A4"))) > 3, "what is open is printed"


def test_a_link_opens_what_is_folded(started, reports):
    with Visit(started, reports["plain"]) as visit:
        visit.page.click("nav a[href='#estimates']")
        visit.page.wait_for_selector("#estimates details[open]")
        assert visit.page.locator("details[open]").count() == 1
        assert visit.page.is_visible("#estimates table")


def test_the_notebook_view_does_not_touch_the_page_around_it(started, tmp_path):
    X, code = sample()
    result = unseen.assess(GaussianNB(), X, code, random_state=0, effort="quick")
    outside = "<p id='mine'>mine</p><table><tr><th>a</th><td>b</td></tr></table><pre>code</pre><figure><figcaption>c</figcaption></figure>"
    looks = """() => [...document.querySelectorAll('#mine, #mine ~ table, #mine ~ table td, #mine ~ pre, #mine ~ figure')].map(
        e => { const s = getComputedStyle(e); return [s.color, s.font, s.margin, s.padding, s.border, s.textAlign].join() })"""
    seen = []
    for inner in ("", result._repr_html_()):
        path = tmp_path / "notebook.html"
        path.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{outside}<div>{inner}</div>", encoding="utf-8")
        with Visit(started, path) as visit:
            seen.append(visit.page.evaluate(looks))
            assert visit.complaints == []
    assert len(seen[0]) >= 4
    assert seen[0] == seen[1]


def test_the_readme_picture_is_there_and_small():
    root = Path(__file__).resolve().parents[2]
    name = "docs/images/report.png"
    assert f"({name})" in (root / "README.md").read_text(encoding="utf-8")
    picture = (root / name).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 300_000
