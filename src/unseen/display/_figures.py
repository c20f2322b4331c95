"""Registry of figures: each draws one kind of result from an info record of plain arrays."""

from __future__ import annotations

import importlib
import io
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from unseen.core.errors import InputError, UnknownName

__all__ = ["Figure", "draw", "figure", "figures_for", "info", "svg"]

PALETTE = ("#2f6f9f", "#c8553d", "#5b8c5a", "#8a6fae", "#b88a2d", "#5f6b73")


@dataclass(frozen=True)
class Figure:
    """A way to draw one class of result.

    Parameters
    ----------
    name : str
        Name used by `result.plot(name)`.
    record : type
        Class of result it draws.
    info : callable
        Function of the result that returns a record of arrays, or None where there is nothing to draw.
    draw : callable
        Function of (info, ax) that draws on matplotlib axes.
    title, caption : str
        Heading and one sentence of reading help for reports.
    size : tuple of float
        Inches.
    order : int
        Place in the report; the lowest is what `plot()` draws by default.
    """

    name: str
    record: type
    info: Callable[[Any], Any]
    draw: Callable[[Any, Any], None]
    title: str
    caption: str = ""
    size: tuple[float, float] = (7.0, 4.0)
    order: int = 50


_figures: dict[str, Figure] = {}


def figure(one: Figure) -> Figure:
    """Register a figure."""
    _figures[one.name] = one
    return one


@cache
def _load() -> None:
    package = importlib.import_module("unseen.display")
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"unseen.display.{module.name}")


def figures_for(result: Any) -> list[Figure]:
    """Return the figures registered for a result's class, in report order."""
    _load()
    return sorted((f for f in _figures.values() if isinstance(result, f.record)), key=lambda f: (f.order, f.name))


def _chosen(result: Any, name: str | None) -> Figure:
    found = figures_for(result)
    if not found:
        raise InputError(f"there is no figure for a {type(result).__name__}.")
    if name is None:
        return next((f for f in found if f.info(result) is not None), found[0])
    for one in found:
        if one.name == name:
            return one
    raise UnknownName(f"figure of {type(result).__name__}", name, [f.name for f in found])


def info(result: Any, name: str | None = None) -> Any:
    """Return the numbers behind a figure.

    Examples
    --------
    >>> import unseen, unseen.display
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> a = unseen.assess(GaussianNB(), X, y, random_state=0, effort="quick")
    >>> unseen.display.info(a, "estimates").labels[0]
    'corrected-t'
    """
    return _chosen(result, name).info(result)


def draw(result: Any, name: str | None = None, ax: Any = None) -> Any:
    """Draw a figure of a result and return its axes."""
    one = _chosen(result, name)
    numbers = one.info(result)
    if numbers is None:
        raise InputError(f"this {type(result).__name__} has nothing to draw for {one.name!r}.")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=one.size, layout="constrained")
    one.draw(numbers, ax)
    return ax


def svg(one: Figure, numbers: Any) -> str:
    """Return a figure as inline SVG that follows the page's text colour, deterministic and without a date."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    settings = {"svg.fonttype": "none", "svg.hashsalt": one.name, "font.size": 10, "font.family": "sans-serif"}
    with matplotlib.rc_context(settings):
        canvas = Canvas(figsize=one.size, layout="constrained")
        one.draw(numbers, canvas.add_subplot())
        canvas.patch.set_alpha(0.0)
        for ax in canvas.axes:
            ax.patch.set_alpha(0.0)
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    # ids must be unique within a page that holds several figures
    text = re.sub(r'(id="|href="#|url\(#)', lambda m: f"{m.group(1)}{one.name}-", text)
    return text.replace("#000000", "currentColor")
