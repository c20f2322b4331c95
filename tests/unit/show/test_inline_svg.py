"""Figures as inline SVG: small, safe, the same every time, at home on light and dark pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest

from unseen.show import Figure, figures_for, info, responsive_svg, svg
from unseen.show.style import DARK, PALETTE, label, legend_below

NASTY = [
    "<script>alert(1)</script>",
    'a "quoted" & b',
    "$x_1$ costs $",
    "--> ]]> <!--",
    'id="x" #000000 style="#000000"',
    "\\$ \\alpha",
    "\x00\x1b\n",
    "日本語",
    "\u202egnp.exe",
    "half \ud800 a pair",
]


@dataclass(frozen=True)
class Words:
    texts: tuple[str, ...]


def draw_words(numbers, ax):
    for k, text in enumerate(numbers.texts):
        ax.text(0.1, k / len(numbers.texts), label(text, 60))


WORDS = Figure(name="words", record=Words, info=lambda r: r, draw=draw_words, title="Words")


def drawn(a):
    return {f.name: svg(f, numbers) for f in figures_for(a) if (numbers := f.info(a)) is not None}


@pytest.fixture(scope="module")
def pictures(classified, regressed):
    return {f"{k}-{name}": text for k, a in enumerate((classified, regressed)) for name, text in drawn(a).items()}


def test_every_figure_is_there_and_small(pictures):
    assert {name.split("-", 1)[1] for name in pictures} >= {
        "estimates",
        "distribution",
        "optimism",
        "learning-curve",
        "confusion",
        "residuals",
        "hardest",
    }
    assert {name: len(text) for name, text in pictures.items() if len(text) > 100_000} == {}


def test_nothing_is_fixed_to_black_or_white(pictures):
    for name, text in pictures.items():
        assert "#000000" not in text, name
        # what has a white face is drawn without opacity: page and axes
        for style in re.findall(r'style="([^"]*#ffffff[^"]*)"', text):
            assert "opacity: 0" in style, (name, style)


def test_every_colour_follows_the_page(pictures):
    for name, text in pictures.items():
        bare = re.sub(r"var\(--unseen-\d, #[0-9a-f]{6}\)", "", text)
        assert set(re.findall(r"#[0-9a-f]{6}", bare)) <= {"#ffffff"}, name


def test_the_tree_is_well_formed_and_makes_no_request(pictures):
    for name, text in pictures.items():
        root = ElementTree.fromstring(text)
        for element in root.iter():
            for key, value in element.attrib.items():
                if key.endswith("href"):
                    assert value.startswith("#"), (name, value)
            assert not element.tag.endswith(("script", "image", "foreignObject")), name


def test_ids_are_unique_across_figures_and_references_resolve(pictures):
    every = [i for text in pictures.values() for i in re.findall(r'\bid="([^"]*)"', text)]
    assert len(every) == len(set(every))
    for text in pictures.values():
        wanted = re.findall(r'(?:href="#|url\(#)([^")]*)', text)
        assert set(wanted) <= set(re.findall(r'\bid="([^"]*)"', text))


@pytest.mark.slow
@pytest.mark.sample
def test_the_same_numbers_give_the_same_bytes(classified):
    assert drawn(classified) == drawn(classified)


def draw_long_names(numbers, ax):
    for k in range(3):
        ax.plot([0, 1], [k, k], label=f"a legend of many words, number {k} of three")
    ax.set_yticks(range(3), numbers.texts)
    ax.set_xlabel("the share of cases that were misclassified by the model")
    legend_below(ax)


def test_a_narrow_page_has_a_drawing_of_its_own_with_text_of_the_same_size():
    one = Figure(name="long", record=Words, info=lambda r: r, draw=draw_long_names, title="Long", size=(7.0, 3.0))
    numbers = Words(tuple(f"a rather long name of row {k}" for k in range(3)))
    wide, narrow = ElementTree.fromstring(f"<both>{responsive_svg(one, numbers)}</both>")
    assert [root.get("class") for root in (wide, narrow)] == ["wide", "narrow"]
    assert [float(root.get("viewBox").split()[2]) for root in (wide, narrow)] == [7 * 72, 4.5 * 72]

    def words(root):
        return " ".join("".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("}text")).split()

    ticks = re.compile(r"[\d.]+")
    assert sorted(w for w in words(wide) if not ticks.fullmatch(w)) == sorted(
        w for w in words(narrow) if not ticks.fullmatch(w)
    )
    sizes = [set(re.findall(r"font-size: ([\d.]+)px", ElementTree.tostring(root).decode())) for root in (wide, narrow)]
    assert sizes[0] == sizes[1] == {"10"}
    assert responsive_svg(WORDS, Words(("a",))).count("<svg") == 2
    small = Figure(name="s", record=Words, info=lambda r: r, draw=draw_words, title="S", size=(4.0, 1.0))
    assert responsive_svg(small, Words(("a",))).count("<svg") == 1


@dataclass(frozen=True)
class Band:
    x: np.ndarray
    low: np.ndarray
    high: np.ndarray


def draw_band(numbers, ax):
    ax.set_axis_off()
    ax.fill_between(numbers.x, numbers.low, numbers.high)
    ax.plot(numbers.x[::40], numbers.low[::40], "o")


BAND = Figure(name="band", record=Band, info=lambda r: r, draw=draw_band, title="Band", size=(6.0, 3.0))


def corners(path):
    """Points of a path, by its own rules: steps from a point, or places."""
    kinds = re.findall(r"([MLl])([^MLlz]*)", path)
    out = []
    for kind, text in kinds:
        for step in np.array(re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text), float).reshape(-1, 2):
            out.append(step + out[-1] if kind == "l" else step)
    return np.array(out)


def distance_to_lines(points, path):
    """Distance of each point to the nearest piece of a path."""
    start, along = path[:-1], np.diff(path, axis=0)
    share = np.clip(((points[:, None] - start) * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-12), 0, 1)
    return np.sqrt(((points[:, None] - start - share[..., None] * along) ** 2).sum(-1)).min(axis=1)


def test_lines_keep_the_points_that_show_and_no_others(monkeypatch):
    """Every point left out lies within a tenth of a pixel of what is drawn; ends and corners are drawn to the digit."""
    from unseen.show import inline_svg

    x = np.linspace(0, 9, 300)
    numbers = Band(x, np.where(x > 5, np.cos(x), 0.3), 2 + np.cos(x))
    short = svg(BAND, numbers)
    with monkeypatch.context() as patch:
        patch.setattr(inline_svg, "_steps", lambda path: path)
        whole = svg(BAND, numbers)
    old, new = (max((corners(d) for d in re.findall(r' d="([^"]*)"', text)), key=len) for text in (whole, short))
    assert len(old) > 600
    assert len(new) < 150
    assert distance_to_lines(old, new).max() < 0.06
    assert distance_to_lines(new, old).max() < 1e-9
    np.testing.assert_allclose(new[[0, -1]], old[[0, -1]], atol=1e-9)
    jump = old[np.abs(np.diff(old, axis=0)).max(axis=1).argmax()]
    assert np.abs(new - jump).sum(axis=1).min() < 1e-9
    assert len(short) < 0.4 * len(whole)


def test_marks_of_one_look_name_it_once(monkeypatch):
    text = svg(BAND, Band(np.arange(100.0), np.zeros(100), np.ones(100)))
    marks = re.findall(r"<use [^>]*>", text)
    assert len(marks) == 3
    assert not any("style" in mark for mark in marks)
    (style,) = set(re.findall(r'<g style="([^"]*)"><use ', text))
    assert "stroke: var(--unseen-" in style or "stroke: #" in style


def test_words_of_the_user_are_shown_as_they_are():
    text = svg(WORDS, Words(tuple(NASTY)))
    root = ElementTree.fromstring(text)
    shown = ["".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("}text")]
    for word in NASTY[:6]:
        assert word in shown
    assert "日本語" in shown
    assert "gnp.exe" in shown
    assert "half   a pair" in shown
    assert "<script" not in text


def test_drawing_on_given_axes_works_and_returns_them(classified):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(2, 3)
    for ax, name in zip(axes.flat, ("estimates", "distribution", "optimism", "learning-curve", "confusion", "hardest")):
        assert classified.plot(name, ax=ax) is ax
        assert ax.figure.legends == [], "a legend belongs to its axes, which may have neighbours"
    assert classified.plot().figure.get_size_inches()[0] == pytest.approx(info(classified, "estimates").size[0]) == 9.3
    plt.close("all")


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("colours", "page"), [(PALETTE, "#ffffff"), (DARK, "#1c2226")])
def test_lines_and_points_stand_out_from_the_page(colours, page):
    for colour in colours:
        high, low = sorted((luminance(colour), luminance(page)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3, colour


def test_labels_are_one_short_line():
    assert label("a\nb\tc") == "a b c"
    assert len(label("x" * 300)) == 28
    assert label("costs 5$ to 7$") == r"costs 5\$ to 7\$"


@pytest.mark.parametrize(("colours", "page", "ink"), [(PALETTE, "#ffffff", "#1c2429"), (DARK, "#1c2226", "#e6eaec")])
def test_numbers_in_the_darkest_cells_of_a_confusion_matrix_can_be_read(colours, page, ink):
    for colour in colours[:2]:
        mixed = [round((int(colour[k : k + 2], 16) + int(page[k : k + 2], 16)) / 2) for k in (1, 3, 5)]
        cell = luminance("#" + "".join(f"{v:02x}" for v in mixed))
        high, low = sorted((cell, luminance(ink)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, colour
