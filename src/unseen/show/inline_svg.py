"""Figures as inline SVG that follows the page: its text colour, its light or dark palette, its font."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from unseen.core.arrays import Ints
from unseen.show.style import DARK, PALETTE, PHONE_INCHES, SETTINGS, fit_axis_names

__all__ = ["PALETTE_CSS", "responsive_svg", "svg"]

# names beside an axis that are longer stand on several lines in a narrow picture, whose rows are then higher by this share for each
LONGEST_NAME, HIGHER = 20, 0.3
_PARTS = re.compile(r"[^\s/_-]+[\s/_-]*|[\s/_-]+")

# characters of a picture of thousands of dots, which a phone scrolls instead
HEAVY = 80_000

# a page that defines these variables recolours its figures; without them the fallback stands on light and dark
PALETTE_CSS = {
    "light": "; ".join(f"--unseen-{k}: {colour}" for k, colour in enumerate(PALETTE)),
    "dark": "; ".join(f"--unseen-{k}: {colour}" for k, colour in enumerate(DARK)),
}
_VARIABLE = {colour: f"var(--unseen-{k}, {colour})" for k, colour in enumerate(PALETTE)}
_COLOUR = re.compile("|".join(["#000000", *map(re.escape, PALETTE)]))
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_ID = re.compile(r'(\bid="|href="#|url\(#)([^")]+)')
# lines alone, without curves
_LINES = re.compile(r'\bd="([MLz\d.\s-]+)"')
_MARKS = re.compile(r'(?:<use [^>]*style="[^"]*"/>){2,}')
_STYLE = re.compile(r' style="([^"]*)"')
# hundredths of a point, a tenth of a pixel: whatever lies nearer to the line through its neighbours does not show
UNSEEN_BEND = 5
# a shape of fewer points keeps them all
FEW_POINTS = 20
# the page has a font of its own; a text that is turned by nothing is not turned
_LESS = (
    (re.compile(r"font-family: [^;\"]*(; )?"), ""),
    (re.compile(r"(font: [^;\"']*)'[^;\"]*"), r"\1sans-serif"),
    (re.compile(r' transform="rotate\(-0 [^"]*\)"'), ""),
)


def svg(one: Any, numbers: Any, *, narrow: bool = False) -> str:
    """Return a figure as inline SVG, deterministic, without a date, its ids unique on a page of several figures.

    Parameters
    ----------
    one : Figure
        What to draw with.
    numbers : object
        The record its `info` returned.
    narrow : bool
        Whether it is for a phone: no wider than that, with text of the usual size.
    """
    width, height = getattr(numbers, "size", one.size)
    if narrow and width > PHONE_INCHES:
        return _draw_narrow(one, numbers, "")
    return _draw_at(one, numbers, float(width), height, "")


def responsive_svg(one: Any, numbers: Any) -> str:
    """Return a figure for pages of any width: as `svg` does, and behind it the same figure as narrow as a phone.

    The style of a page shows the one that fits; `svg` alone is returned if it fits a phone by itself, or is so heavy that
    a page should not hold it twice.

    Parameters
    ----------
    one : Figure
        What to draw with.
    numbers : object
        The record its `info` returned.
    """
    width, height = getattr(numbers, "size", one.size)
    if width <= PHONE_INCHES:
        return svg(one, numbers)
    wide = _draw_at(one, numbers, float(width), height, "wide")
    if len(wide) > HEAVY:
        return wide.replace('class="wide" ', "", 1)
    return wide + _draw_narrow(one, numbers, "narrow")


def _draw_narrow(one: Any, numbers: Any, word: str) -> str:
    _, height = getattr(numbers, "narrow_size", getattr(numbers, "size", one.size))
    return _draw_at(one, numbers, PHONE_INCHES, height, word, narrow=True)


def _draw_at(one: Any, numbers: Any, width: float, height: float, word: str, *, narrow: bool = False) -> str:
    import matplotlib
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": one.name}), warnings.catch_warnings():
        # the browser has fonts for scripts that the layout font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        # fonts of browsers are up to a tenth wider than the one the layout is made with
        layout = ConstrainedLayoutEngine(w_pad=6 / 72) if narrow else ConstrainedLayoutEngine()
        canvas = Canvas(figsize=(width, height), layout=layout)
        one.draw(numbers, canvas.add_subplot())
        wrapped = [_wrap_names(ax) for ax in canvas.axes] if narrow else []
        for ax in canvas.axes if narrow else ():
            fit_axis_names(ax)
        if (most := max(wrapped, default=1)) > 1:
            canvas.set_figheight((1 + HIGHER * (most - 1)) * height)
        canvas.patch.set_alpha(0.0)
        for ax in canvas.axes:
            ax.patch.set_alpha(0.0)
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _for_page(out.getvalue(), one.name, width, word)


def _wrap_names(ax: Any) -> int:
    """Break long names beside an axis into lines; return how many lines the longest takes."""
    from matplotlib.ticker import FixedLocator

    if not isinstance(ax.yaxis.get_major_locator(), FixedLocator):
        return 1
    names = [text.get_text() for text in ax.get_yticklabels()]
    lines = [break_name(name) if "\n" not in name else name for name in names]
    if lines == names:
        return 1
    ax.set_yticks(ax.get_yticks(), lines)
    return max(text.count("\n") for text in lines) + 1


def break_name(name: str) -> str:
    """Return a long name on several lines, broken at spaces, hyphens, slashes and underscores before anywhere else.

    Examples
    --------
    >>> break_name("the_model_of_last_year.csv − a_large_model.csv").splitlines()
    ['the_model_of_last_', 'year.csv − a_large_', 'model.csv']
    """
    lines = [""]
    for part in _PARTS.findall(name):
        if lines[-1] and len(lines[-1] + part.rstrip()) > LONGEST_NAME:
            lines.append("")
        rest = part
        while len(rest.rstrip()) > LONGEST_NAME:
            lines[-1:] = [rest[:LONGEST_NAME], ""]
            rest = rest[LONGEST_NAME:]
        lines[-1] += rest
    return "\n".join(line.rstrip() for line in lines)


def _for_page(text: str, name: str, width: float, word: str) -> str:
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.S)
    prefix = f"p{hashlib.sha256(f'{name} {text}'.encode('utf-8', 'replace')).hexdigest()[:8]}-"
    names: dict[str, str] = {}
    # only tags are changed, so that nothing a user's label says can be mistaken for markup
    text = re.sub(r"<[^>]*>", lambda tag: _tag(tag.group(), prefix, names), text)
    text = re.sub(r">\s+<", "><", text).replace("<g/>", "")
    text = _MARKS.sub(_style_once, text)
    # about 14 px text at full width, never below 10 px: a narrow page scrolls inside the figure
    style = f'style="--unseen-inches: {width:g}; width: 100%; height: auto; min-width: {72 * width:.0f}px; max-width: {112 * width:.0f}px" fill="currentColor" aria-hidden="true" focusable="false"'
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
    named = f'class="{word}" ' if word else ""
    return text.replace("<svg ", f"<svg {named}{style} ", 1)


def _tag(tag: str, prefix: str, names: dict[str, str]) -> str:
    """Return a tag for a page: its ids made unique, its colours the page's, and nothing that does not change the picture."""
    tag = " ".join(tag.split())
    for pattern, less in _LESS:
        tag = pattern.sub(less, tag)
    if tag.startswith("<g "):  # nothing refers to a group
        tag = re.sub(r' id="[^"]*"', "", tag)
    tag = _ID.sub(lambda m: m[1] + names.setdefault(m[2], f"{prefix}{len(names)}"), tag)
    tag = _COLOUR.sub(lambda m: _VARIABLE.get(m.group(), "currentColor"), tag)
    tag = _NUMBER.sub(lambda m: f"{round(float(m.group()), 2):g}", tag)
    return _LINES.sub(lambda m: f'd="{_steps(m[1])}"', tag)


def _style_once(marks: re.Match[str]) -> str:
    """Return marks that look alike as a group with one style; opacity alone is not the same for a group as for each."""
    styles = set(_STYLE.findall(marks.group()))
    if len(styles) > 1 or any(re.search(r"(^|\s)opacity", style) for style in styles):
        return marks.group()
    return f'<g style="{styles.pop()}">{_STYLE.sub("", marks.group())}</g>'


def _steps(path: str) -> str:
    """Return lines as steps from point to point, without the points that do not show."""
    words = []
    for part, closed in re.findall(r"M([^Mz]*)(z?)", path):
        points = np.round(100 * np.array(part.replace("L", " ").split(), dtype=float)).astype(int).reshape(-1, 2)
        points = points[_visible(points)] if len(points) > FEW_POINTS else points
        steps = np.diff(points, axis=0).ravel()
        words.append(f"M{_number_list(points[0])}" + (f"l{_number_list(steps)}" if len(steps) else "") + closed)
    return "".join(words)


def _number_list(hundredths: Sequence[int] | Ints) -> str:
    """Return numbers as short as a path allows: no zero before the point, and no space before a sign."""
    text = " ".join(f"{value / 100:g}" for value in hundredths)
    return re.sub(r"(?<!\d)0\.", ".", text).replace(" -", "-")


def _visible(points: Ints) -> Ints:
    """Return the points without which a line would be seen to bend elsewhere (Douglas & Peucker, 1973)."""
    kept, open_ends = {0, len(points) - 1}, [(0, len(points) - 1)]
    while open_ends:
        first, last = open_ends.pop()
        if last - first < 2:
            continue
        along = points[last] - points[first]
        from_first = points[first + 1 : last] - points[first]
        share = np.clip(from_first @ along / max(along @ along, 1), 0, 1)
        distance = np.hypot(*(from_first - share[:, None] * along).T)
        furthest = first + 1 + int(distance.argmax())
        if distance.max() > UNSEEN_BEND:
            kept.add(furthest)
            open_ends += [(first, furthest), (furthest, last)]
    return np.array(sorted(kept))
