"""Pictures of every report, every page of the dashboard and built pages of the docs at three widths, to be looked at.

`python tests/e2e/screens.py FOLDER [NAME...]` writes FOLDER/NAME-WIDTH.png; names are those of `report_samples.py`, `dashboard`, and `docs`
(which needs `make docs`).
"""

from __future__ import annotations

import importlib.util
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import unseen

HERE = Path(__file__).parent
WIDTHS = (390, 1200, 1600)
DOCS = HERE.parents[1] / "docs" / "_build" / "html"
PAGES = (
    "index",
    "guides/index",
    "guides/quickstart",
    "guides/comparing",
    "guides/everyday",
    "guides/gallery",
    "reference/index",
    "reference/command-line",
    "reference/methods",
    "validation/index",
    "validation/evaluation",
    "decisions/index",
    "decisions/guessing",
)
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


def dashboard_pages(samples: dict[str, Any], folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield the name and the address of every page of a dashboard, and what serves them."""
    dashboards = runpy.run_path(str(HERE / "test_dashboard_browser.py"))
    url = f"sqlite:///{folder / 'studies.db'}"
    for name, seed in (("small samples", 0), ("other samples", 1)):
        unseen.Study(name, store=url).run({**samples["SPEC"], "seed": seed}, n_jobs=1, progress=False)
    made = samples["makers"](folder)
    kept = [
        "assess-two",
        "assess-numbers",
        "compare",
        "measure-two",
        "predictions",
        "resub",
        "diagnose",
        "distribution",
    ]
    kept += ["disagree", "permutation-test", "kinetics-nca", "power", "reproduce"]
    kept += ["nets-rank", "nets-estimate", "nets-scores", "nets-bench"] if importlib.util.find_spec("torch") else []
    for name in kept:
        made[name]().keep(url, name)
    again = [made[name]().keep(url, f"{name} again") for name in kept[:2]]
    served = dashboards["Served"](url)
    study = f"/studies/{dashboards['key_of']('small samples')}"
    places = {"home": "/", "kept": "/kept", "study": study, "cells": f"{study}/cells", "failures": f"{study}/failures"}
    places |= {f"kept-{name}": f"/kept/{k + 1}" for k, name in enumerate(kept)}
    keys = [dashboards["key_of"](name) for name in ("small samples", "other samples")]
    places |= {
        "compare": f"/compare?item=kept.1&item=kept.{again[0]}&item=kept.2&item=study.{keys[0]}",
        "compare-classes": f"/compare?item=kept.1&item=kept.{again[0]}",
        "compare-numbers": f"/compare?item=kept.2&item=kept.{again[1]}",
        "compare-studies": "/compare?" + "&".join(f"item=study.{key}" for key in keys),
        "missing": "/missing",
    }
    for name, place in places.items():
        yield f"dashboard-{name}", served.base + place, served
    served.stop()


def addresses(folder: Path, only: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the address of everything there is to look at."""
    samples = runpy.run_path(str(HERE / "report_samples.py"))
    reports = [name for name in samples["makers"](folder) if not only or name in only]
    for name, path in samples["write_reports"](folder, reports) if reports else ():
        yield name, path.as_uri()
    if not only or "dashboard" in only:
        for name, place, _ in dashboard_pages(samples, folder):
            yield name, place
    if DOCS.is_dir() and (not only or "docs" in only):
        for page in PAGES:
            yield f"docs-{page.replace('/', '-')}", (DOCS / f"{page}.html").as_uri()


def main(target: Path, only: list[str]) -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    browser = runpy.run_path(str(HERE / "test_browser.py"))
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        started = playwright.chromium.launch(executable_path=program, args=list(browser["ARGUMENTS"]))
        for name, address in addresses(Path(folder), only):
            for width in WIDTHS:
                page = started.new_context(viewport={"width": width, "height": 900}).new_page()
                page.goto(address)
                page.wait_for_selector(".waiting", state="detached", timeout=60_000)
                page.evaluate(OPEN)
                page.wait_for_timeout(200)
                page.screenshot(path=target / f"{name}-{width}.png", full_page=True)
                page.context.close()
            print(name, flush=True)
        started.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
