"""What every registered class owes its readers: a file by its name, a docstring with an example, a source, its notes."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from unseen.core.discovery import module_name
from unseen.core.notes import Note, known_notes
from unseen.core.registry import options_of

__all__ = ["check_described", "check_notes", "check_record", "check_sourced"]


def check_described(cls: type[Any]) -> None:
    """Demand the file name of the id (of this package's own files), an Examples section and a module docstring.

    A file of several methods of one shape has a name of its own and lists their ids in `FAMILY`, all of them and no others.
    """
    module = importlib.import_module(cls.__module__)
    if cls.__module__.startswith("unseen."):
        _check_file(cls, module)
    text = cls.__doc__ or ""
    assert ">>>" in text and "Examples" in text, f"{cls.id}: the docstring has no Examples section with code"
    first = (module.__doc__ or "").strip().splitlines()
    assert first, f"{cls.id}: its module has no docstring"
    assert cls.__name__ in getattr(module, "__all__", ()), f"{cls.id}: {cls.__name__} is not in its module's __all__"


def _check_file(cls: type[Any], module: ModuleType) -> None:
    stem, family = module.__name__.rsplit(".", 1)[-1], getattr(module, "FAMILY", None)
    if family is None:
        own = module_name(cls.id)
        assert stem == own, f"{cls.id} lives in {stem}.py; its file is {own}.py, or {stem}.py lists it in FAMILY"
        return
    classes: list[Any] = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
    there = [c.id for c in classes if getattr(c, "group", "") and getattr(c, "id", "")]
    assert cls.id in family, f"{cls.id} is not in the FAMILY of {stem}.py"
    assert len(there) > 1 and sorted(family) == sorted(there), f"FAMILY of {stem}.py is {family}; it holds {there}"


def check_sourced(cls: type[Any]) -> None:
    """Demand a paper: a References section, or a year in the first line of the module."""
    first = (importlib.import_module(cls.__module__).__doc__ or "").strip().splitlines()[0]
    named = "References" in (cls.__doc__ or "") or any(c.isdigit() for c in first)
    assert named, f"{cls.id}: neither a References section nor a paper in the module's first line"


def check_record(cls: type[Any]) -> None:
    """Demand a frozen dataclass whose options all have defaults."""
    name: str = cls.id
    assert dataclasses.is_dataclass(cls), f"{name} is not a dataclass"
    assert vars(cls)["__dataclass_params__"].frozen, f"{name} is not frozen"
    missing = [option for option, default in options_of(cls).items() if default is dataclasses.MISSING]
    assert not missing, f"{name}: options {missing} have no default"


def check_notes(method: Any, given: Iterable[Note], passed_on: Iterable[Note] = ()) -> None:
    """Demand that a method declares the codes of the notes it gives, except those passed on from its table or parts."""
    declared = method.note_codes | method.shared_note_codes
    meaningless = sorted(declared - set(known_notes()))
    assert not meaningless, f"{method.id} declares note codes without a meaning: {meaningless}"
    undeclared = sorted({n.code for n in set(given) - set(passed_on)} - declared)
    assert not undeclared, f"{method.id} gives undeclared notes: {undeclared}; add them to note_codes"
