"""Figures as inline SVG that follows the page: its text colour, its light or dark palette, its font."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from typing import Any

from unseen.show.style import DARK, PALETTE, SETTINGS

__all__ = ["PALETTE_CSS", "svg"]

# a page that defines these variables recolours its figures; without them the fallback stands on light and dark
PALETTE_CSS = {
    "light": "; ".join(f"--unseen-{k}: {colour}" for k, colour in enumerate(PALETTE)),
    "dark": "; ".join(f"--unseen-{k}: {colour}" for k, colour in enumerate(DARK)),
}
_VARIABLE = {colour: f"var(--unseen-{k}, {colour})" for k, colour in enumerate(PALETTE)}
_COLOUR = re.compile("|".join(["#000000", *map(re.escape, PALETTE)]))
_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def svg(one: Any, numbers: Any) -> str:
    """Return a figure as inline SVG, deterministic, without a date, its ids unique on a page of several figures.

    Parameters
    ----------
    one : Figure
        What to draw with.
    numbers : object
        The record its `info` returned.
    """
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    width, height = getattr(numbers, "size", one.size)
    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": one.name}), warnings.catch_warnings():
        # the browser has fonts for scripts that the layout font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        canvas = Canvas(figsize=(width, height), layout="constrained")
        one.draw(numbers, canvas.add_subplot())
        canvas.patch.set_alpha(0.0)
        for ax in canvas.axes:
            ax.patch.set_alpha(0.0)
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _for_page(out.getvalue(), one.name, float(width))


def _for_page(text: str, name: str, width: float) -> str:
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.S)
    prefix = (
        f"{re.sub('[^a-z0-9]+', '-', name.lower())}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}-"
    )
    # only tags are changed, so that nothing a user's label says can be mistaken for markup
    text = re.sub(r"<[^>]*>", lambda tag: _tag(tag.group(), prefix), text)
    # about 14 px text at full width, never below 10 px: a narrow page scrolls inside the figure
    style = f'style="--unseen-inches: {width:g}; width: 100%; height: auto; min-width: {72 * width:.0f}px; max-width: {112 * width:.0f}px" fill="currentColor" aria-hidden="true" focusable="false"'
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
    return text.replace("<svg ", f"<svg {style} ", 1)


def _tag(tag: str, prefix: str) -> str:
    tag = re.sub(r'(\bid="|href="#|url\(#)', lambda m: m.group(1) + prefix, tag)
    tag = _COLOUR.sub(lambda m: _VARIABLE.get(m.group(), "currentColor"), tag)
    return _NUMBER.sub(lambda m: f"{float(m.group()):.2f}", tag)
