"""Packages whose public names load on first use; the stub beside each `__init__.py` is the one list of them."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unseen.core.errors import as_missing_extra

__all__ = ["attach", "stub_names"]

_IMPORT = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def stub_names(file: str) -> dict[str, str]:
    """Return the names in the stub beside an `__init__.py`, each with the module or package it is imported from.

    Examples
    --------
    >>> import unseen.designs
    >>> stub_names(unseen.designs.__file__)["KFold"]
    'unseen.designs.kfold'
    """
    text = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in _IMPORT.findall(text)}


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names stand in the stub beside it.

    Parameters
    ----------
    package, file : str
        `__name__` and `__file__` of the package. A line `from module import name as name` of the stub makes a name public; if
        the module is the package itself, the name is that of a subpackage.

    Examples
    --------
    >>> import unseen.designs
    >>> get, _, names = attach("unseen.designs", unseen.designs.__file__)
    >>> get("KFold").__name__, "KFold" in names
    ('KFold', True)
    """
    names = stub_names(file)

    def __getattr__(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = names[name]
        try:
            loaded = importlib.import_module(f"{package}.{name}" if module == package else module)
        except ModuleNotFoundError as error:
            raise as_missing_extra(error, f"{package}.{name}") from error
        value = loaded if module == package else getattr(loaded, name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__, lambda: sorted(names), sorted(names)
