"""Make the pictures of the documentation from what the software shows today; with --check, say which ones are stale.

    python docs/make_images.py            # makes those that are stale; needs chromium for pages
    python docs/make_images.py --all      # makes all
    python docs/make_images.py --check    # part of `make docs`: ends with 1 if a picture shows something else than the software

What a picture shows (the words and numbers of a page, its style sheet; the words, lines and points of a figure) is kept in
`images/shown.json`. The check makes it again without a browser and compares words exactly and numbers to two parts in a hundred, so
that another machine's last digits do not count.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import html
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
IMAGES = HERE / "images"
SHOWN = IMAGES / "shown.json"
NEAR = 0.02  # of a number: what machines may differ by, far below what a reader would see
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


@dataclasses.dataclass(frozen=True)
class Picture:
    """One picture: what it shows, and how it is made."""

    shown: list[str | float]
    draw: Callable[[Path], None]


# ---- what a page, a figure or a terminal shows ----


def words_of(text: str) -> list[str | float]:
    """Return the words of a text, numbers as numbers; how long a run took is left out."""
    text = re.sub(r"took [\d.]+\s\w+", "took", text)
    parts = re.findall(r"\d+(?:[.,]\d+)*|[^\W\d]+|[^\w\s]", text)
    return [float(p.replace(",", "")) if p[0].isdigit() and p.count(".") < 2 else p for p in parts]


def page_text(page: str) -> str:
    """Return what a reader sees of HTML."""
    page = re.sub(r"(?s)<(style|script|svg|template).*?</\1>", " ", page)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def style_of(*sheets: str) -> str:
    """Return the fingerprint of style sheets."""
    return "style " + hashlib.sha256("".join(sheets).encode()).hexdigest()[:16]


def shown_by_figure(figure: Any) -> list[str | float]:
    """Return the words of a figure, and number, middle and spread of the points of its lines and marks."""
    from matplotlib.text import Text

    found: list[str | float] = []
    for axes in figure.axes:
        for line in axes.lines:
            found += _summary(line.get_xdata(orig=True)) + _summary(line.get_ydata(orig=True))
        for marks in axes.collections:
            offsets = marks.get_offsets()
            found += _summary(offsets[:, 0]) + _summary(offsets[:, 1]) if len(offsets) else []
        found += [axes.get_xlabel(), axes.get_ylabel()]
    texts = [t.get_text() for t in figure.findobj(Text) if t.get_visible() and t.get_text()]
    legends = [t.get_text() for axes in figure.axes if (legend := axes.get_legend()) for t in legend.get_texts()]
    # a legend's numbers may differ by a digit, its words not
    units = {re.sub(r"\d[\d.,]*", "#", text) for text in legends}
    return found + sorted(text for text in texts if not re.search(r"\d", text)) + sorted(t for t in units if "#" in t)


def _summary(values: Any) -> list[str | float]:
    import numpy as np

    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return [str(v) for v in values]
    numbers = numbers[np.isfinite(numbers)]
    return [float(len(numbers)), *(float(f"{v:.4g}") for v in (numbers.mean(), numbers.std()))] if len(numbers) else []


def differs(old: list[str | float] | None, new: list[str | float]) -> str | None:
    """Return the first thing that a picture shows otherwise than the software; None if it is up to date."""
    if old is None:
        return "no picture yet"
    size = max((abs(v) for v in [*old, *new] if isinstance(v, float)), default=1.0)
    for a, b in zip(old, new):
        if isinstance(a, str) or isinstance(b, str):
            if a != b:
                return f"{a!r} in the picture, {b!r} now"
        elif not math.isclose(a, b, rel_tol=NEAR, abs_tol=1e-9 * size):
            return f"{a:g} in the picture, {b:g} now"
    return None if len(old) == len(new) else f"{len(old)} words and numbers in the picture, {len(new)} now"


# ---- pages, in chromium ----


@contextmanager
def browser_page(width: int, scale: float) -> Iterator[Any]:
    """Yield a page of chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no chromium is installed; the pictures of pages cannot be made here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield browser.new_page(
            viewport={"width": width, "height": 900}, device_scale_factor=scale, color_scheme="light"
        )
        browser.close()


def fewer_colours(target: Path) -> None:
    """Save a picture with a palette: a page has few colours, and the file stays small without a visible loss."""
    from PIL import Image

    Image.open(target).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(target, optimize=True)


def report(folder: Path, *command: str) -> Picture:
    """Return the picture of a report's title and first section."""
    path = folder / f"{command[0]}.html"
    quiet = [sys.executable, "-m", "unseen", *command, "--quiet", "--report", str(path)]
    subprocess.run(quiet, check=True, stdout=subprocess.DEVNULL)
    page = path.read_text(encoding="utf-8")
    # from the title to the end of the first section
    top = re.search(r"(?s)<h1.*?</section>", page).group()
    sheets = re.findall(r"(?s)<style[^>]*>(.*?)</style>", page)

    def draw(target: Path) -> None:
        with browser_page(960, 2) as visit:
            visit.goto(path.as_uri())
            visit.add_style_tag(content="nav { display: none } main { padding-top: 1rem }")
            end = visit.evaluate("document.querySelector('section').getBoundingClientRect().bottom + scrollY + 16")
            visit.set_viewport_size({"width": 960, "height": int(end)})
            visit.screenshot(path=str(target))
        fewer_colours(target)

    return Picture([style_of(*sheets), *words_of(page_text(top))], draw)


def terminal(*command: str) -> Picture:
    """Return the picture of a command and what it prints, as text in SVG."""
    import shlex

    from rich.console import Console
    from rich.text import Text

    run = subprocess.run(
        [sys.executable, "-m", "unseen", *command, "--quiet"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
    )
    title = f"unseen {shlex.join(command)}"

    def draw(target: Path) -> None:
        console = Console(record=True, width=84, file=io.StringIO())
        console.print(Text(f"$ {title}", style="bold"))
        console.print(Text(run.stdout.rstrip()))
        svg = console.export_svg(title="", unique_id="terminal")
        target.write_text(re.sub(r"(?s)@font-face \{.*?\}\s*", "", svg))  # fonts of this machine, none from elsewhere

    return Picture(words_of(f"{title} {run.stdout}"), draw)


def figure(make: Callable[[], Any], dpi: int = 100) -> Picture:
    """Return the picture of a figure."""
    made = make()
    drawn = getattr(made, "figure", made)
    return Picture(shown_by_figure(drawn), lambda target: drawn.savefig(target, dpi=dpi))


def augmentations() -> Any:
    """Draw a photograph under random combinations of augmentations, with penalties; needs torch."""
    import torch
    from sklearn.datasets import load_sample_image

    from unseen.nets import augmentation_sheet

    photo = torch.tensor(load_sample_image("flower.jpg")[40:424, 100:484]).permute(2, 0, 1)[None] / 255
    small = torch.nn.functional.avg_pool2d(photo, 6)
    sheet = augmentation_sheet(small.expand(2, -1, -1, -1), "all", columns=6, random_state=0)
    return dataclasses.replace(sheet, row_labels=("", "")).plot()


STUDY = {
    "replications": 60,
    "sizes": [20, 40, 80],
    "populations": ["gaussian-blocks"],
    "models": ["lda"],
    "seed": 0,
    "n_test": 1000,
    "methods": ["resub", "bolster", "loo", "kfold", "632plus", "corrected-t"],
}


def dashboard(folder: Path) -> Picture:
    """Return the picture of a study on the dashboard."""
    import unseen

    store = f"sqlite:///{folder / 'studies.db'}"
    unseen.Study("Small samples from Gaussian blocks", store=store).run(STUDY, n_jobs=1)

    def open_study(page: Any) -> None:
        page.click("#studies h3 a")
        page.wait_for_selector("#live svg")

    return _of_dashboard(store, r'<h3[^>]*>\s*<a[^>]*href="([^"]+)"', 1190, open_study)


MEASURES = (
    "always-generalize",
    "pal-score",
    "par-search",
    "multi-augment",
    "dbi-mixup",
    "pac-bayes-magnitude",
    "vpm",
    "weighted-augment",
    "bolster",
    "path-norm",
    "alpha",
    "holdout80",
    "epochs",
    "random-order",
)


def bench_page(folder: Path) -> Picture:
    """Return the picture of a bench on the dashboard, of some measures on the zoo cifar-vgg; needs torch."""
    from unseen.nets import bench_of
    from unseen.nets.ranking.bench import read_rows

    zoo = HERE.parent / "studies" / "zoo"
    rows = [row for row in read_rows(zoo / "measures_cifar-vgg.csv") if row.measure in MEASURES]
    store = f"sqlite:///{folder / 'benches.db'}"
    bench_of(zoo / "networks_cifar-vgg.csv", rows).keep(store, "Measures of small VGG nets on CIFAR-10")

    def open_bench(page: Any) -> None:
        page.click("#results ul a")
        page.wait_for_selector("#scatter svg")

    return _of_dashboard(store, r'(?s)id="results".*?<li>.*?href="([^"]+)"', 2390, open_bench)


@contextmanager
def served(store: str) -> Iterator[str]:
    """Yield the address of a dashboard of a store."""
    command = [sys.executable, "-m", "unseen", "serve", "--store", store, "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield process.stderr.readline().split(" at ")[1].split(" ")[0]
    finally:
        process.terminate()
        process.wait()


def _of_dashboard(store: str, link: str, height: int, open_page: Callable[[Any], None]) -> Picture:
    """Return the picture of the page of the dashboard that a link of its first page leads to."""

    def fetch(address: str) -> str:
        with urllib.request.urlopen(address) as answer:
            return answer.read().decode()

    with served(store) as address:
        base = address.rstrip("/")
        page = fetch(base + re.search(link, fetch(address)).group(1))
        sheets = [fetch(base + s) for s in re.findall(r'rel="stylesheet" href="([^"]+)"', page)]
    # counts, times and dates differ from run to run: the words are compared
    words = [w for w in words_of(page_text(page)) if isinstance(w, str) and len(w) > 2]

    def draw(target: Path) -> None:
        with served(store) as address, browser_page(1180, 1.5) as visit:
            visit.goto(address)
            open_page(visit)
            visit.set_viewport_size({"width": 1180, "height": height})
            visit.screenshot(path=str(target))
        fewer_colours(target)

    return Picture([style_of(*sheets), *words], draw)


# ---- all of them ----

DEMO = ("assess", "breast-cancer", "--model", "rbf-svm", "--n", "80", "--seed", "0")
THREE = (
    "compare",
    "breast-cancer",
    "--model",
    "rbf-svm",
    "--model",
    "cart",
    "--model",
    "lda",
    "--n",
    "120",
    "--seed",
    "0",
)


def pictures(folder: Path) -> dict[str, Callable[[], Picture]]:
    """Return how each picture is made, by its path below images/."""
    from gallery import FIGURES

    found: dict[str, Callable[[], Picture]] = {
        "report.png": partial(report, folder, *DEMO),
        "compare.png": partial(report, folder, *THREE),
        "terminal.svg": partial(terminal, *DEMO),
        "dashboard.png": partial(dashboard, folder),
        "dashboard_nets.png": partial(bench_page, folder),
        "augmentations.png": partial(figure, augmentations, 90),
    }
    return found | {f"gallery/{entry[0].__name__}.png": partial(figure, entry[0], 80) for entry in FIGURES}


def main() -> int:
    """Make or check the pictures named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="make nothing; end with 1 if a picture is stale")
    parser.add_argument("--all", action="store_true", help="make those too that are up to date")
    parser.add_argument("names", nargs="*", help="such as report.png or gallery/roc.png")
    asked = parser.parse_args()
    kept = json.loads(SHOWN.read_text()) if SHOWN.exists() else {}
    stale = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make in pictures(Path(folder)).items():
            if asked.names and name not in asked.names:
                continue
            picture, target = make(), IMAGES / name
            why = differs(kept.get(name) if target.exists() else None, picture.shown)
            if why:
                print(f"docs/images/{name}: {why}", file=sys.stderr)
                stale += 1
            if not asked.check and (why or asked.all):
                target.parent.mkdir(parents=True, exist_ok=True)
                picture.draw(target)
                kept[name] = picture.shown
                lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in sorted(kept.items())]
                SHOWN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    if asked.check and stale:
        print(f"{stale} stale; run: python docs/make_images.py", file=sys.stderr)
    return 1 if asked.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
