"""Finds what files register: a method, a figure or a command is one file, and nothing else has to name it."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import importlib.util
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from unseen.core.errors import InputError, UnknownName, UnseenError
from unseen.core.kinds import DirectMethod, PairedTest, RankTest, Recipe, TableMethod
from unseen.core.measure import Loss, SetMeasure
from unseen.core.plan import Design

__all__ = [
    "GROUPS",
    "Registry",
    "build",
    "declare",
    "describe",
    "find",
    "import_all",
    "known",
    "make",
    "module_name",
    "options_of",
    "register",
]

T = TypeVar("T")
C = TypeVar("C", bound=type[Any])


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


# base classes by kind; a design has no kind, its group says what it is
_BASES: dict[str, type[Any]] = {
    **{base.kind: base for base in (TableMethod, DirectMethod, Recipe, PairedTest, RankTest, Loss, SetMeasure)},
    "designs": Design,
}
# kinds that may register in a group; groups that are not here take any class
_KINDS = {
    "estimators": ("table", "direct", "recipe"),
    "resubstitution": ("direct", "recipe"),
    "significance": ("test", "ranking"),
    "measures": ("loss", "set"),
    "designs": ("designs",),
}


def declare(cls: type[Any]) -> None:
    """Give a class that inherits none of the base classes the usual values of what it does not declare itself.

    Its `group` and, for methods and measures, its `kind` say which base class that is; a class without them is refused.
    """
    group = getattr(cls, "group", None)
    if group not in GROUPS:
        raise UnseenError(
            f"{cls.__qualname__} does not say what it is: inherit a base class such as unseen.core.kinds.TableMethod, or give "
            f"it the class attributes `group`, one of {', '.join(GROUPS)}, and `kind`."
        )
    if group not in _KINDS:
        return
    kind = group if group == "designs" else getattr(cls, "kind", "")
    if kind not in _KINDS[group]:
        raise UnseenError(
            f"{cls.__qualname__} is of the group {group!r} and of the kind {kind!r}: give it a class attribute `kind`, one of "
            f"{', '.join(_KINDS[group])}."
        )
    base = _BASES[kind]
    if issubclass(cls, base):
        return
    for source in base.__mro__[:-1]:
        for name, value in vars(source).items():
            if not (name.startswith("__") or hasattr(cls, name)):
                setattr(cls, name, value)


# by group: the package whose files register, and what one of them is called in messages
GROUPS: dict[str, Registry[type[Any]]] = {
    group: Registry(package, noun, f"unseen.{group}", declare)
    for group, package, noun in (
        ("designs", "unseen.designs", "design"),
        ("measures", "unseen.measures", "measure"),
        ("estimators", "unseen.estimators", "method"),
        ("resubstitution", "unseen.resubstitution.methods", "method"),
        ("significance", "unseen.significance", "test"),
        ("exact", "unseen.models.exact", "shortcut"),
        ("reproduction", "unseen.reproduction", "experiment"),
    )
}


def register(cls: C) -> C:
    """Class decorator: make a method, design or measure known under its `id`, in the group its base class declares.

    A class from outside may do without the base classes of `unseen.core.kinds`, `unseen.core.measure` and `unseen.core.plan`
    if it declares `group` and `kind` itself.
    """
    declare(cls)
    GROUPS[cls.group].add(cls.id, cls)
    return cls


def known(group: str) -> dict[str, type[Any]]:
    """Return every registered class of a group by id, in alphabetical order.

    Examples
    --------
    >>> "corrected-t" in known("estimators")
    True
    """
    return GROUPS[group].all()


def find(method_id: str, *groups: str) -> type[Any]:
    """Return the class registered under an id in the first of `groups` that has it."""
    for group in groups:
        found = GROUPS[group].get(method_id)
        if found is not None:
            return found
    names = [name for group in groups for name in known(group)]  # plug-ins are loaded now
    for group in groups:
        if method_id in names and method_id in known(group):
            return known(group)[method_id]
    raise UnknownName(GROUPS[groups[0]].noun, method_id, names)


def options_of(cls: type[Any]) -> dict[str, Any]:
    """Return the option names of a registered class with their defaults (dataclass fields)."""
    if not dataclasses.is_dataclass(cls):
        return {}
    result = {}
    for f in dataclasses.fields(cls):
        factory = f.default_factory
        result[f.name] = f.default if factory is dataclasses.MISSING else factory()
    return result


def make(cls: type[Any], options: Mapping[str, Any] | None = None) -> Any:
    """Make an object of a registered class, its options set from `options`; unknown ones are refused by name.

    Examples
    --------
    >>> make(find("leave-out", "designs"), {"fraction": 0.5}).fraction
    0.5
    """
    given = dict(options or {})
    allowed = options_of(cls)
    for name in given:
        if name not in allowed:
            raise UnknownName(f"option of {cls.id!r}", name, allowed, "" if allowed else "It has no options.")
    try:
        return cls(**given)
    except UnseenError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{cls.id}: {error}") from error


def build(method_id: str, *groups: str, options: Mapping[str, Any] | None = None) -> Any:
    """Make the object registered under an id, its options set from `options`.

    Examples
    --------
    >>> build("leave-out", "designs", options={"fraction": 0.5}).fraction
    0.5
    """
    return make(find(method_id, *groups), options)


def describe(cls: type[Any]) -> str:
    """Return the first line of a class's docstring, or of its module's."""
    text = cls.__doc__ or importlib.import_module(cls.__module__).__doc__ or ""
    return text.strip().split("\n", 1)[0]
