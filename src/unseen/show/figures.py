"""Registry of figures: each draws one kind of result from an info record of plain arrays."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unseen.core.discovery import import_all
from unseen.core.errors import InputError, UnknownName
from unseen.show.inline_svg import svg
from unseen.show.style import PALETTE

__all__ = ["PALETTE", "Figure", "draw", "figure", "figures_for", "info", "load_owners", "size_of", "svg"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A way to draw one class of result.

    Parameters
    ----------
    name : str
        Name used by `result.plot(name)`.
    record : type
        Class of result it draws.
    info : callable
        Function of the result that returns a record of arrays, or None if there is nothing to draw; an attribute
        `summary` of the record says in words what the picture shows, for those who cannot see it, and an attribute `caption`
        takes precedence if the content decides it.
    draw : callable
        Function of (info, ax) that draws on matplotlib axes.
    title, caption : str
        Heading and one sentence of reading help for reports.
    size : tuple of float
        Inches; an attribute `size` of the info record takes precedence if the content decides it.
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


_figures: dict[tuple[type, str], Figure] = {}
_loaded_owners: set[str] = set()


def figure(one: Figure) -> Figure:
    """Register a figure under its name for its class of result."""
    _figures[one.record, one.name] = one
    return one


def load_owners(record: type) -> None:
    """Import the figures and sections of whatever shows a class of result: its owner, and the owners of its bases."""
    owners = dict.fromkeys(vars(cls)["shown_by"] for cls in record.__mro__ if vars(cls).get("shown_by"))
    for owner in owners.keys() - _loaded_owners:
        for part in ("figures", "sections"):
            if importlib.util.find_spec(f"{owner}.{part}") is not None:
                import_all(f"{owner}.{part}")
        _loaded_owners.add(owner)


def figures_for(result: Any) -> list[Figure]:
    """Return the figures registered for a result's class, in report order."""
    load_owners(type(result))
    return sorted((f for f in _figures.values() if isinstance(result, f.record)), key=lambda f: (f.order, f.name))


def size_of(one: Figure, numbers: Any) -> tuple[float, float]:
    """Return the inches of a figure with these numbers."""
    width, height = getattr(numbers, "size", one.size)
    return float(width), float(height)


def _find_figure(result: Any, name: str | None) -> Figure:
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
    >>> import unseen, unseen.show
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> a = unseen.assess(GaussianNB(), X, y, random_state=0, effort="quick")
    >>> unseen.show.info(a, "estimates").labels[:2]
    ('combined', 'guessing')
    """
    return _find_figure(result, name).info(result)


def draw(result: Any, name: str | None = None, ax: Any = None) -> Any:
    """Draw a figure of a result and return its axes."""
    one = _find_figure(result, name)
    numbers = one.info(result)
    if numbers is None:
        raise InputError(f"this {type(result).__name__} has nothing to draw for {one.name!r}.")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size_of(one, numbers), layout="constrained")
    one.draw(numbers, ax)
    return ax
