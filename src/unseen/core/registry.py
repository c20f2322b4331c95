"""Methods, designs and measures by id, in the groups they register in."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping
from typing import Any, TypeVar

from unseen.core.discovery import Registry
from unseen.core.errors import InputError, UnknownName, UnseenError
from unseen.core.kinds import DirectMethod, PairedTest, RankTest, Recipe, TableMethod
from unseen.core.measure import Loss, SetMeasure
from unseen.core.plan import Design

__all__ = [
    "GROUPS",
    "build",
    "classes_in",
    "declare",
    "describe",
    "find",
    "make",
    "options_of",
    "register",
]

C = TypeVar("C", bound=type[Any])


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


def classes_in(group: str) -> dict[str, type[Any]]:
    """Return every registered class of a group by id, in alphabetical order.

    Examples
    --------
    >>> "corrected-t" in classes_in("estimators")
    True
    """
    return GROUPS[group].all()


def find(method_id: str, *groups: str) -> type[Any]:
    """Return the class registered under an id, or under another name it declares, in the first of `groups` that has it.

    Examples
    --------
    >>> find("roc_auc", "measures").id
    'auc'
    """
    for group in groups:
        found = GROUPS[group].get(method_id)
        if found is not None:
            return found
    names = [name for group in groups for name in classes_in(group)]  # plug-ins are loaded now
    for group in groups:
        for name, cls in classes_in(group).items():
            if method_id == name or method_id in getattr(cls, "aliases", ()):
                return cls
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
