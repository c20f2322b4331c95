"""Packages whose public names load on first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from unseen.core.errors import as_missing_extra

__all__ = ["attach"]


def attach(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package whose names live in other modules.

    Parameters
    ----------
    package : str
        `__name__` of the package.
    names : mapping of str to str
        Public name to the module that holds it; an empty module means a subpackage of that name.

    Examples
    --------
    >>> get, _, names = attach("unseen.core", {"Estimate": "unseen.core.estimate"})
    >>> get("Estimate").__name__, names
    ('Estimate', ['Estimate'])
    """

    def __getattr__(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = names[name]
        try:
            loaded = importlib.import_module(module or f"{package}.{name}")
        except ModuleNotFoundError as error:
            raise as_missing_extra(error, f"{package}.{name}") from error
        value = getattr(loaded, name) if module else loaded
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__, lambda: sorted(names), sorted(names)
