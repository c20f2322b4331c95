"""Finds method files: a class that registers itself is known to the CLI, the reports, the docs and the contract tests."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import pkgutil
from collections.abc import Mapping
from typing import Any, TypeVar

from unseen.core.errors import InputError, UnknownName, UnseenError

__all__ = ["KINDS", "build", "describe", "find", "known", "module_name", "options_of", "register"]

KINDS = (
    "designs",
    "measures",
    "estimators",
    "resubstitution",
    "comparisons",
    "shortcuts",
    "learners",
    "reproduce",
)
NOUNS = {"designs": "design", "measures": "measure", "comparisons": "test", "reproduce": "experiment"}

_classes: dict[str, dict[str, type[Any]]] = {kind: {} for kind in KINDS}
_loaded: set[str] = set()
T = TypeVar("T", bound=type[Any])


def _kind_of(cls: type[Any]) -> str:
    parts = cls.__module__.split(".")
    kind = parts[1] if parts[0] == "unseen" and len(parts) > 1 else getattr(cls, "kind", "")
    if kind not in KINDS:
        raise UnseenError(
            f"{cls.__qualname__} registers from outside unseen: give it a class attribute `kind`, one of {', '.join(KINDS)}."
        )
    return str(kind)


def register(cls: T) -> T:
    """Class decorator: make a method, design or measure known under its `id`.

    The kind is the folder of the module (`unseen.estimators...`), or the class attribute `kind` for plug-ins.
    """
    kind = _kind_of(cls)
    table = _classes[kind]
    other = table.get(cls.id)
    if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise UnseenError(f"two {kind} are called {cls.id!r}: {other.__module__} and {cls.__module__}.")
    table[cls.id] = cls
    return cls


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


def _load(kind: str) -> None:
    if kind in _loaded:
        return
    package = importlib.import_module(f"unseen.{kind}")
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{package.__name__}.{module.name}")
    for point in importlib.metadata.entry_points(group=f"unseen.{kind}"):
        cls = point.load()
        if not hasattr(cls, "kind"):
            cls.kind = kind
        register(cls)
    _loaded.add(kind)


def known(kind: str) -> dict[str, type[Any]]:
    """Return every registered class of a kind by id, in alphabetical order.

    Examples
    --------
    >>> "corrected-t" in known("estimators")
    True
    """
    _load(kind)
    return dict(sorted(_classes[kind].items()))


def find(method_id: str, *kinds: str) -> type[Any]:
    """Return the class registered under an id in the first of `kinds` that has it."""
    for kind in kinds:
        if method_id not in _classes[kind]:
            _try_import(kind, method_id)
        if method_id in _classes[kind]:
            return _classes[kind][method_id]
    names = [name for kind in kinds for name in known(kind)]
    for kind in kinds:
        if method_id in _classes[kind]:
            return _classes[kind][method_id]
    raise UnknownName(NOUNS.get(kinds[0], "method"), method_id, names)


def _try_import(kind: str, method_id: object) -> None:
    if not isinstance(method_id, str) or not method_id.replace("-", "").isalnum():
        return
    name = f"unseen.{kind}.{module_name(method_id)}"
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise


def options_of(cls: type[Any]) -> dict[str, Any]:
    """Return the option names of a registered class with their defaults (dataclass fields)."""
    if not dataclasses.is_dataclass(cls):
        return {}
    result = {}
    for f in dataclasses.fields(cls):
        factory = f.default_factory
        result[f.name] = f.default if factory is dataclasses.MISSING else factory()
    return result


def build(method_id: str, *kinds: str, options: Mapping[str, Any] | None = None) -> Any:
    """Make the object registered under an id, its options set from `options`.

    Examples
    --------
    >>> build("leave-out", "designs", options={"fraction": 0.5}).fraction
    0.5
    """
    cls = find(method_id, *kinds)
    given = dict(options or {})
    allowed = options_of(cls)
    for name in given:
        if name not in allowed:
            raise UnknownName(f"option of {method_id!r}", name, allowed, "" if allowed else "It has no options.")
    try:
        return cls(**given)
    except UnseenError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{method_id}: {error}") from error


def describe(cls: type[Any]) -> str:
    """Return the first line of a class's docstring, or of its module's."""
    text = cls.__doc__ or importlib.import_module(cls.__module__).__doc__ or ""
    return text.strip().split("\n", 1)[0]
