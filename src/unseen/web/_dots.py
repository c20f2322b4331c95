"""A picture of numbers with their ranges on one axis, for the comparison of studies and results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup

from unseen.show.style import PALETTE

__all__ = ["Dot", "dots", "number_of", "ticks"]

# pixels: the margin, the height of a row, its letters, and the height of a line where a label takes two
RIGHT, ROW, FONT, LINE = 20, 22, 13, 15


@dataclass(frozen=True)
class _Space:
    """How wide a picture is in pixels, how long its labels may be and how many ticks its axis has room for."""

    word: str
    width: int
    letters: int
    ticks: int


SPACES = (_Space("wide", 640, 34, 6), _Space("narrow", 400, 24, 3))


@dataclass(frozen=True)
class Dot:
    """A number of one series, with its range if it has one."""

    series: int
    value: float
    low: float | None = None
    high: float | None = None


def number_of(value: Any) -> float | None:
    """Return a finite number, also from a table cell that is sorted by one; None for everything else."""
    value = getattr(value, "sort", value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers that divide a range.

    Examples
    --------
    >>> ticks(0.0, 0.23), ticks(-1.2, 1.0)
    ([0.0, 0.05, 0.1, 0.15, 0.2], [-1.0, -0.5, 0.0, 0.5, 1.0])
    >>> ticks(1.0, 37.0, most=3)
    [10.0, 20.0, 30.0]
    """
    rough = (high - low) / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(m * size for m in (1, 2, 5, 10) if m * size >= rough)
    if math.floor(high / step) - math.ceil(low / step) < 1:  # one tick shows no scale
        step /= 2.5 if math.isclose(step / size, 5) else 2
    return [float(f"{k * step:.12g}") for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _range(rows: Sequence[tuple[str, Sequence[Dot]]], mark: float | None) -> tuple[float, float]:
    values = [v for _, marks in rows for m in marks for v in (m.value, m.low, m.high) if v is not None]
    values += [] if mark is None else [mark]
    low, high = min(values), max(values)
    # six digits are written: a narrower range would have several ticks of one name
    narrow = high - low <= max(1e-4 * max(abs(low), abs(high)), 1e-290)
    space = (0.1 * max(abs(low), abs(high)) or 1.0) if narrow else 0.04 * (high - low)
    return low - space, high + space


def _shape(series: int, x: float, y: float, colour: str) -> str:
    """Return a mark; shapes differ as well as colours."""
    if series % 3 == 1:
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"></rect>'
    if series % 3 == 2:
        return f'<path d="M {x:.1f} {y - 5.5:.1f} l 5 9 h -10 z" fill="{colour}"></path>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"></circle>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{FONT}" text-anchor="{anchor}">{escape(text)}</text>'


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _lines(text: str, letters: int) -> list[str]:
    """Return a label in one or two lines, broken between words."""
    if len(text) <= letters:
        return [text]
    words = text.split(" ")
    first = max((k for k in range(1, len(words)) if len(" ".join(words[:k])) <= letters), default=1)
    return [_short(part, letters) for part in (" ".join(words[:first]), " ".join(words[first:])) if part]


def dots(
    rows: Sequence[tuple[str, Sequence[Dot]]], series: Sequence[str], axis: str, mark: float | None = None
) -> Markup:
    """Return rows of marks on one axis; several series have their own colour and shape, and a legend.

    It is drawn twice, for a wide and a narrow page; the style of the page shows the one that fits.

    Parameters
    ----------
    rows : sequence of (label, dots)
        From top to bottom.
    series : sequence of str
        What the series are called; one name draws no legend.
    axis : str
        What the axis shows.
    mark : float, optional
        A value to draw a line at, such as no difference.

    Examples
    --------
    >>> "<script>" in dots([("<script>", [Dot(0, 0.2, 0.1, 0.3)])], ["mine"], "error")
    False
    """
    return Markup("".join(_drawing(rows, series, axis, mark, space) for space in SPACES))


def _drawing(
    rows: Sequence[tuple[str, Sequence[Dot]]], series: Sequence[str], axis: str, mark: float | None, space: _Space
) -> str:
    low, high = _range(rows, mark)
    labels = [_lines(label, space.letters) for label, _ in rows]
    left = 24 + 7 * max(len(line) for lines in labels for line in lines)
    legend = len(series) if len(series) > 1 else 0
    top = 10 + 20 * legend
    lane = max(ROW + LINE * (max(map(len, labels)) - 1), 9 * len(series) + 14)
    bottom = top + lane * len(rows)

    def at(value: float) -> float:
        return left + (space.width - left - RIGHT) * (value - low) / (high - low)

    parts = [
        f'<svg class="inches-7 {space.word}" viewBox="0 0 {space.width} {bottom + 42}" fill="currentColor" aria-hidden="true" focusable="false">'
    ]
    for tick in ticks(low, high, space.ticks):
        parts.append(f'<path d="M {at(tick):.1f} {top} V {bottom}" stroke="currentColor" stroke-opacity="0.15"></path>')
        parts.append(_text(at(tick), bottom + 16, f"{tick:g}", "middle"))
    parts.append(f'<path d="M {left} {bottom} H {space.width - RIGHT}" stroke="currentColor"></path>')
    parts.append(_text(space.width - RIGHT, bottom + 36, axis, "end"))
    if mark is not None:
        parts.append(
            f'<path d="M {at(mark):.1f} {top} V {bottom}" stroke="currentColor" stroke-dasharray="3 3"></path>'
        )
    for k, name in enumerate(series[:legend]):
        parts.append(_shape(k, left + 6, 8 + 20 * k, f"var(--unseen-{k % len(PALETTE)})"))
        parts.append(_text(left + 18, 12 + 20 * k, _short(name, space.letters + 10)))
    for number, (lines, (_, marks)) in enumerate(zip(labels, rows)):
        middle = top + lane * (number + 0.5)
        for k, line in enumerate(lines):
            parts.append(_text(left - 10, middle + 4 + LINE * (k - (len(lines) - 1) / 2), line, "end"))
        for one in marks:
            y = middle + 9 * (one.series - (len(series) - 1) / 2)
            colour = f"var(--unseen-{one.series % len(PALETTE)})"
            if one.low is not None and one.high is not None:
                line = f"M {at(one.low):.1f} {y:.1f} H {at(one.high):.1f}"
                parts.append(f'<path d="{line}" stroke="{colour}" stroke-width="2"></path>')
            parts.append(_shape(one.series, at(one.value), y, colour))
    return "".join([*parts, "</svg>"])
