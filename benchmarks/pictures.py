"""Pictures of where the time goes: a flame graph of `assess`, and the ratios of RESULTS.md on one axis. `python -m benchmarks.pictures`."""

from __future__ import annotations

import html
import math
import os
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.timing import EMPTY, rows_of

HERE = Path(__file__).parent
FLAMES = HERE.parent / "docs" / "images" / "flames_assess.svg"
RATIOS = HERE / "ratios.svg"

INTERVAL = 0.002  # seconds between two looks at the stack
WIDTH, LINE = 1200, 17  # of a picture and of one frame of the stack
NARROW = 1.5  # frames of fewer units are not drawn
LETTER = 6.3  # width of a letter at size 11
# ours, scikit-learn and what is below it, all else
COLOURS = {"unseen": "#2f6f9f", "sklearn": "#c8553d", "": "#8b979f"}
CLOCK = "#f0c987"  # of the tick for the clock
FONT = 'font-family="Helvetica, Arial, sans-serif"'


@dataclass
class Frame:
    """A function on the stack: seconds in it and below, and what it called."""

    name: str
    seconds: float = 0.0
    below: dict[str, Frame] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Number of frames of the longest stack from here."""
        return 1 + max((f.depth for f in self.below.values()), default=0)


def watch(call: Callable[[], Any], interval: float = INTERVAL) -> dict[tuple[str, ...], float]:
    """Return the CPU seconds of each stack seen while a call runs in this thread; the caller's own frames are left out."""
    found: dict[tuple[str, ...], float] = defaultdict(float)
    thread, done = threading.get_ident(), threading.Event()
    outside = sys._getframe()

    def look() -> None:
        last = time.process_time()
        while not done.wait(interval):
            frame, stack = sys._current_frames().get(thread), []
            now = time.process_time()
            while frame is not None and frame is not outside:
                stack.append(name_of(frame.f_code.co_filename, frame.f_code.co_name))
                frame = frame.f_back
            if frame is not None and stack:
                found[tuple(reversed(stack[:-1]))] += now - last
            last = now

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        call()
    finally:
        done.set()
        watcher.join()
    return dict(found)


def name_of(path: str, function: str) -> str:
    """Return a function with its module, from the package on.

    Examples
    --------
    >>> name_of("/x/site-packages/sklearn/svm/_base.py", "fit")
    'sklearn.svm._base.fit'
    """
    parts = Path(path).with_suffix("").parts
    for package in ("unseen", "sklearn", "scipy", "numpy", "pandas", "joblib"):
        if package in parts:
            start = len(parts) - 1 - parts[::-1].index(package)
            return ".".join([*(p for p in parts[start:] if p != "__init__"), function])
    return f"{Path(path).stem}.{function}"


def tree_of(stacks: Mapping[tuple[str, ...], float]) -> Frame:
    """Return stacks joined from their roots."""
    root = Frame("all")
    for stack, seconds in stacks.items():
        at = root
        at.seconds += seconds
        for name in stack:
            at = at.below.setdefault(name, Frame(name))
            at.seconds += seconds
    return root


def draw_flames(root: Frame, title: str) -> str:
    """Return an SVG picture: width is CPU time, a function stands on the one that called it, and pointing at it names it."""
    boxes: list[str] = []
    scale = WIDTH / root.seconds
    height = (1 + _shown_depth(root, scale)) * LINE + 60

    def draw(frame: Frame, x: float, level: int) -> None:
        width = frame.seconds * scale
        if width < NARROW:
            return
        y = height - 10 - (level + 1) * LINE
        kind = frame.name.split(".", 1)[0]
        colour = COLOURS.get(kind, COLOURS[""])
        label = frame.name.rsplit(".", 2)[-2:] if kind in COLOURS else [frame.name]
        text = ".".join(label)
        text = text if len(text) * LETTER < width - 6 else text[: max(0, int((width - 6) / LETTER) - 1)]
        share = f"{html.escape(frame.name)}: {frame.seconds:.3g} s, {100 * frame.seconds / root.seconds:.1f}%"
        boxes.append(
            f'<g><title>{share}</title><rect x="{x:.1f}" y="{y}" width="{max(width - 0.6, 0.6):.1f}" height="{LINE - 1}" fill="{colour}"/>'
            + (
                f'<text x="{x + 3:.1f}" y="{y + 12}" font-size="11" fill="white">{html.escape(text)}</text>'
                if len(text) > 2
                else ""
            )
            + "</g>"
        )
        for one in sorted(frame.below.values(), key=lambda f: f.name):
            draw(one, x, level + 1)
            x += one.seconds * scale

    draw(root, 0.0, 0)
    legend = "blue: unseen; red: scikit-learn; grey: all else"
    head = (
        f'<text x="4" y="20" font-size="15" fill="#222">{html.escape(title)}</text><text x="4" y="38" font-size="12" fill="#444">'
        f"{root.seconds:.2f} s of CPU; {legend}</text>"
    )
    return _svg(height, head + "".join(boxes), title)


def _shown_depth(frame: Frame, scale: float) -> int:
    wide = [f for f in frame.below.values() if f.seconds * scale >= NARROW]
    return 1 + max((_shown_depth(f, scale) for f in wide), default=0)


def _svg(height: float, body: str, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" {FONT} role="img">'
        f'<title>{html.escape(title)}</title><rect width="100%" height="100%" fill="white"/>{body}</svg>\n'
    )


@dataclass(frozen=True)
class Ratio:
    """A row of RESULTS.md: what was measured, and how many times our CPU and wall time the peer's are."""

    name: str
    peer: str
    cpu: float
    wall: float
    met: bool


def ratios_of(text: str) -> list[Ratio]:
    """Return the rows of benchmark tables that have a peer, both ratios, and no other quantity than seconds.

    Examples
    --------
    >>> head = "| benchmark | peer | CPU ratio | wall ratio | other quantity | met |"
    >>> rows = ["| LDA | sklearn | 20 | 19 | – | yes |", "| memory | few | 2 | 2 | 3 MiB | yes |"]
    >>> ratios_of(chr(10).join([head, "|---|---|---|---|---|---|", *rows]))
    [Ratio(name='LDA', peer='sklearn', cpu=20.0, wall=19.0, met=True)]
    """
    found = []
    for cells in rows_of(text):
        if cells.get("other quantity") != EMPTY:
            continue
        try:
            cpu, wall = float(cells["CPU ratio"]), float(cells["wall ratio"])
        except ValueError:
            continue
        if min(cpu, wall) > 0:
            found.append(Ratio(cells["benchmark"], cells["peer"], cpu, wall, cells["met"] == "yes"))
    return found


def draw_ratios(rows: Sequence[Ratio]) -> str:
    """Return an SVG picture: a bar per row on a logarithmic axis, a tick for the clock; what falls short is red."""
    left, right, top = 560, WIDTH - 70, 64
    ratios = [ratio for r in rows for ratio in (r.cpu, r.wall)]
    first, last = math.floor(math.log10(min([0.1, *ratios]))), math.ceil(math.log10(max([10.0, *ratios])))
    height = top + 16 * len(rows) + 20

    def at(value: float) -> float:
        return left + (math.log10(value) - first) / (last - first) * (right - left)

    body = ['<text x="4" y="20" font-size="15" fill="#222">How many times our time the peer takes</text>']
    body.append(
        '<text x="4" y="38" font-size="12" fill="#444">bar: CPU; light tick: on the clock; '
        "right of 1: unseen is faster; red: short of its target</text>"
    )
    for power in range(first, last + 1):
        x = at(10.0**power)
        body.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 6}" y2="{height - 14}" stroke="#{"444" if power == 0 else "ddd"}"/>'
            f'<text x="{x:.1f}" y="{top - 10}" font-size="11" text-anchor="middle" fill="#444">{10.0**power:g}</text>'
        )
    for k, r in enumerate(rows):
        y = top + 16 * k
        a, b = sorted((at(1.0), at(r.cpu)))
        end = max(b, at(r.wall), at(1.0))
        name = f"{r.name} ({r.peer})"
        name = name if len(name) <= 92 else f"{name[:91]}…"
        body.append(
            f'<text x="{left - 8}" y="{y + 11}" font-size="11" text-anchor="end" fill="#222">{html.escape(name)}</text>'
            f'<rect x="{a:.1f}" y="{y + 2}" width="{max(b - a, 1):.1f}" height="11" fill="{COLOURS["unseen" if r.met else "sklearn"]}"/>'
            f'<rect x="{at(r.wall) - 1:.1f}" y="{y + 1}" width="2.4" height="13" fill="{CLOCK}" stroke="#555" '
            f'stroke-width="0.4"><title>on the clock {r.wall:.3g}</title></rect>'
            f'<text x="{end + 5:.1f}" y="{y + 11}" font-size="11" fill="#444">{r.cpu:{",.0f" if r.cpu >= 1000 else ".3g"}}</text>'
        )
    return _svg(height, "".join(body), "Ratios of CPU and wall time")


def write_ratios(results: Path = HERE / "RESULTS.md") -> None:
    """Draw the ratios of the results that are written."""
    rows = ratios_of(results.read_text())
    RATIOS.write_text(draw_ratios(rows))


def write_flames() -> None:
    """Draw the default assessment of logistic regression on 10,000 rows."""
    import unseen
    from benchmarks.bench_large import mixed_table

    table = mixed_table(10_000)

    def call() -> None:
        unseen.assess("logistic", table, "y", random_state=0, progress=False)

    call()  # imports and the proof of shortcuts are not part of a run
    root = tree_of(watch(call))
    while len(root.below) == 1:  # the call itself
        (root,) = root.below.values()
        if root.name.endswith("assess._assess"):
            break
    title = "unseen.assess, logistic regression, 10,000 rows of 16 numbers and 4 categories with gaps"
    FLAMES.write_text(draw_flames(root, title))


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    if not re.search("flames", " ".join(sys.argv[1:])):
        write_ratios()
    if not re.search("ratios", " ".join(sys.argv[1:])):
        write_flames()
