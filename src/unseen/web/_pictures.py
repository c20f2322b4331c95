"""Figures inside a page whose policy forbids styles: only drawing elements and attributes pass, styles become attributes."""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

__all__ = ["clean_svg"]

ELEMENTS = frozenset(
    [
        "svg",
        "g",
        "defs",
        "path",
        "use",
        "rect",
        "circle",
        "ellipse",
        "line",
        "polyline",
        "polygon",
        "text",
        "tspan",
        "clipPath",
        "pattern",
        "image",
        "linearGradient",
        "stop",
        "symbol",
    ]
)
ATTRIBUTES = frozenset(
    [
        "id",
        "d",
        "x",
        "y",
        "x1",
        "y1",
        "x2",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "dx",
        "dy",
        "width",
        "height",
        "points",
        "transform",
        "viewBox",
        "preserveAspectRatio",
        "href",
        "offset",
        "clip-path",
        "clipPathUnits",
        "patternUnits",
        "patternTransform",
        "gradientUnits",
        "gradientTransform",
        "xml:space",
    ]
)
# what a style may say; the same words are attributes of SVG
STYLES = frozenset(
    [
        "fill",
        "fill-opacity",
        "fill-rule",
        "stroke",
        "stroke-width",
        "stroke-opacity",
        "stroke-dasharray",
        "stroke-dashoffset",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "opacity",
        "text-anchor",
        "font-size",
        "font-weight",
        "font-style",
        "dominant-baseline",
        "stop-color",
        "stop-opacity",
        "clip-path",
        "visibility",
        "display",
    ]
)
# which of the two pictures of a pair it is
WIDTHS = ("wide", "narrow")
VALUE = re.compile(r"[\w\s#%.,()\-+]*")
HREF = re.compile(r"#[\w.\-]+|data:image/png;base64,[A-Za-z0-9+/=\s]+")
FONT = re.compile(r"(?:(?P<style>italic|oblique)\s+)?(?:(?P<weight>bold|\d{3})\s+)?(?P<size>[\d.]+)px")


def clean_svg(text: str) -> str:
    """Return an SVG picture as markup that a page with `style-src 'self'` shows whole, and that can do nothing but be seen.

    Parameters
    ----------
    text : str
        SVG as `unseen.show` makes it; one picture, or the same for a wide and a narrow page.

    Examples
    --------
    >>> clean_svg('<svg viewBox="0 0 9 9" onload="x()"><style>*{}</style><path d="M 0 0" style="stroke: #123; x: url(y)"/></svg>')
    '<svg class="inches-7" ... viewBox="0 0 9 9"><path d="M 0 0" stroke="#123"></path></svg>'
    """
    parts: list[str] = []
    for root in ElementTree.fromstring(f"<pictures>{text}</pictures>"):
        found = re.search(r"--unseen-inches:\s*([\d.]+)", root.get("style", ""))
        inches = min(max(round(float(found.group(1))) if found else 7, 3), 14)
        names = f"inches-{inches}" + "".join(f" {word}" for word in WIDTHS if word == root.get("class"))
        _write(root, parts, f' class="{names}" fill="currentColor" aria-hidden="true" focusable="false"')
    return "".join(parts)


def _local(name: str) -> str:
    space, _, local = name.rpartition("}")
    return f"xml:{local}" if space.endswith("XML/1998/namespace") else local


def _write(element: ElementTree.Element, parts: list[str], given: str = "") -> None:
    tag = _local(element.tag) if isinstance(element.tag, str) else ""
    if tag not in ELEMENTS:
        return
    attributes = _attributes(element, is_root=bool(given))
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    parts.append(f"<{tag}{given}{written}>")
    parts.append(escape((element.text or "").strip("\n"), quote=False))
    for child in element:
        _write(child, parts)
        parts.append(escape((child.tail or "").strip(), quote=False))
    parts.append(f"</{tag}>")


def _attributes(element: ElementTree.Element, is_root: bool) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, value in element.attrib.items():
        local = _local(name)
        if local == "href":
            if HREF.fullmatch(value):
                attributes["href"] = value
        elif (local in ATTRIBUTES and not (is_root and local in ("width", "height"))) or (
            local in STYLES and VALUE.fullmatch(value) and not is_root
        ):
            attributes[local] = value
    if not is_root:
        attributes.update(_declarations(element.get("style", "")))
    return attributes


def _declarations(style: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for part in style.split(";"):
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if name == "font":
            found = FONT.match(value)
            sizes = found.groupdict() if found else {}
            attributes.update({f"font-{k}": v for k, v in sizes.items() if v})
        elif name in STYLES and VALUE.fullmatch(value):
            attributes[name] = value
    return attributes
