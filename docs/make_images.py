"""Make the pictures of the documentation from the reports that the commands in it write; needs chromium."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COMMAND = ("assess", "breast-cancer", "--model", "rbf-svm", "--n", "80", "--seed", "0", "--quiet")
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


def picture(report: Path, target: Path) -> None:
    """Take a picture of a report's title and first section."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no chromium is installed; the pictures are left as they are")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 960, "height": 900}, device_scale_factor=2, color_scheme="light")
        page.goto(report.as_uri())
        page.add_style_tag(content="nav { display: none } main { padding-top: 1rem }")
        end = page.evaluate("document.querySelector('#headline').getBoundingClientRect().bottom + scrollY + 16")
        page.set_viewport_size({"width": 960, "height": int(end)})
        page.screenshot(path=str(target))
        browser.close()
    # a report has few colours: a palette keeps the file small without a visible loss
    Image.open(target).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(target, optimize=True)


def augmentations(target: Path) -> None:
    """Draw a photograph under random combinations of augmentations, with penalties; needs torch."""
    import torch
    from sklearn.datasets import load_sample_image

    from unseen.nets import augmentation_sheet

    photo = torch.tensor(load_sample_image("flower.jpg")[40:424, 100:484]).permute(2, 0, 1)[None] / 255
    small = torch.nn.functional.avg_pool2d(photo, 6)
    sheet = augmentation_sheet(small.expand(2, -1, -1, -1), "all", columns=6, random_state=0)
    sheet = dataclasses.replace(sheet, row_labels=("", ""))
    sheet.plot().figure.savefig(target, dpi=90)


STUDY = {
    "replications": 60,
    "sizes": [20, 40, 80],
    "populations": ["gaussian-blocks"],
    "models": ["lda"],
    "seed": 0,
    "n_test": 1000,
    "methods": ["resub", "bolster", "loo", "kfold", "632plus", "corrected-t"],
}


def dashboard(target: Path, folder: Path) -> None:
    """Take a picture of a study on the dashboard."""
    import unseen

    store = f"sqlite:///{folder / 'studies.db'}"
    unseen.Study("Small samples from Gaussian blocks", store=store).run(STUDY, n_jobs=2)

    def open_study(page: Any) -> None:
        page.click("#studies h3 a")
        page.wait_for_selector("#live svg")

    _of_dashboard(store, target, 1190, open_study)


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


def bench_page(target: Path, folder: Path) -> None:
    """Take a picture of a bench on the dashboard, of some measures on the zoo cifar-vgg; needs torch."""
    from unseen.nets import bench_of
    from unseen.nets.ranking.bench import read_rows

    zoo = HERE.parent / "studies" / "zoo"
    rows = [row for row in read_rows(zoo / "measures_cifar-vgg.csv") if row.measure in MEASURES]
    store = f"sqlite:///{folder / 'benches.db'}"
    bench_of(zoo / "networks_cifar-vgg.csv", rows).keep(store, "Measures of small VGG nets on CIFAR-10")

    def open_bench(page: Any) -> None:
        page.click("#results ul a")
        page.wait_for_selector("#scatter svg")

    _of_dashboard(store, target, 2390, open_bench)


def _of_dashboard(store: str, target: Path, height: int, open_page: Callable[[Any], None]) -> None:
    """Take a picture of a page of the dashboard."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "unseen", "serve", "--store", store, "--port", "0"]
    served = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = served.stderr.readline().split(" at ")[1].split(" ")[0]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
            page = browser.new_page(
                viewport={"width": 1180, "height": 900}, device_scale_factor=1.5, color_scheme="light"
            )
            page.goto(address)
            open_page(page)
            page.set_viewport_size({"width": 1180, "height": height})
            page.screenshot(path=str(target))
            browser.close()
    finally:
        served.terminate()
    Image.open(target).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> None:
    augmentations(HERE / "images" / "augmentations.png")
    target = HERE / "images" / "report.png"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        subprocess.run([sys.executable, "-m", "unseen", *COMMAND, "--report", str(report)], check=True)
        picture(report, target)
        dashboard(HERE / "images" / "dashboard.png", Path(folder))
        bench_page(HERE / "images" / "dashboard_nets.png", Path(folder))
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
