"""Finds what files register: a method, a figure or a command is one file, and nothing else has to name it."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pkgutil
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from unseen.core.errors import UnseenError

__all__ = ["Registry", "import_all", "module_name"]

T = TypeVar("T")


def import_all(package: str) -> None:
    """Import a module, and every module directly inside it if it is a package; names with an underscore are left out."""
    loaded = importlib.import_module(package)
    for module in pkgutil.iter_modules(getattr(loaded, "__path__", ())):
        if not module.name.startswith("_"):
            importlib.import_module(f"{package}.{module.name}")


def module_name(method_id: str) -> str:
    """Return the file name that belongs to an id: a letter first, underscores for hyphens.

    Examples
    --------
    >>> module_name("corrected-t"), module_name("632plus"), module_name("5x2cv")
    ('corrected_t', 'b632plus', 'cv5x2')
    """
    if method_id == "5x2cv":
        return "cv5x2"
    name = method_id.replace("-", "_")
    return f"b{name}" if name[0].isdigit() else name


class Registry(Generic[T]):
    """Things by name, registered by the files of one package and by plug-ins.

    Parameters
    ----------
    package : str
        Package whose modules register.
    noun : str
        What one of them is called in messages.
    group : str, optional
        Entry-point group of plug-ins; none by default.
    check : callable, optional
        Called with each thing before it is added; raises if something is missing.

    Examples
    --------
    >>> designs = Registry("unseen.designs", "design")
    >>> designs.add("halves", object).__name__
    'object'
    >>> designs.get("halves").__name__
    'object'
    """

    def __init__(
        self, package: str, noun: str, group: str | None = None, check: Callable[[T], None] | None = None
    ) -> None:
        self.package, self.noun, self.group, self.check = package, noun, group, check
        self._things: dict[str, T] = {}
        self._loaded = False

    def add(self, name: str, thing: T) -> T:
        """Make a thing known under a name; two different things may not share one."""
        if self.check is not None:
            self.check(thing)
        other = self._things.get(name)
        if other is not None and _place(other) != _place(thing):
            raise UnseenError(f"two {self.noun}s are called {name!r}: {_place(other)[0]} and {_place(thing)[0]}.")
        self._things[name] = thing
        return thing

    def remove(self, name: str) -> None:
        """Forget a thing, as a test of a plug-in does when it ends."""
        del self._things[name]

    def all(self) -> dict[str, T]:
        """Return everything by name, in alphabetical order."""
        if not self._loaded:
            import_all(self.package)
            for point in importlib.metadata.entry_points(group=self.group) if self.group else ():
                thing = point.load()
                self.add(thing.id, thing)
            self._loaded = True
        return dict(sorted(self._things.items()))

    def get(self, name: str) -> T | None:
        """Return the thing of a name, importing no more than its own file if that is enough; None if there is none."""
        if name not in self._things and isinstance(name, str) and name.replace("-", "").isalnum():
            module = f"{self.package}.{module_name(name)}"
            if importlib.util.find_spec(module) is not None:
                importlib.import_module(module)
        return self._things.get(name)


def _place(thing: Any) -> tuple[str, str]:
    return getattr(thing, "__module__", ""), getattr(thing, "__qualname__", repr(thing))
