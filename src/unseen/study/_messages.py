"""What pydantic found wrong with a spec, as sentences: key path, what was given, what is allowed."""

from __future__ import annotations

from typing import Any, get_args

from unseen.core.errors import nearest

__all__ = ["path_of", "sentences"]

MOST = 5


def path_of(location: tuple[Any, ...]) -> str:
    """Return a key path as one would write it.

    Examples
    --------
    >>> path_of(("methods", 1, "options"))
    'methods[1].options'
    """
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text or "the spec"


def sentences(error: Any, model: type[Any]) -> list[str]:
    """Return one sentence per mistake, the first five."""
    found = error.errors(include_url=False)
    texts = [_sentence(one, model) for one in found[:MOST]]
    return [*texts, f"and {len(found) - MOST} more mistakes"] if len(found) > MOST else texts


def _sentence(one: dict[str, Any], model: type[Any]) -> str:
    place, kind, given = path_of(one["loc"]), one["type"], one["input"]
    if kind == "extra_forbidden":
        return _unknown_key(one["loc"], place, model)
    if kind == "missing":
        return f"{place}: this key is needed and was not given"
    if kind == "value_error":
        return str(one["ctx"]["error"])
    return f"{place}: {_shown(given)} was given; {_needed(kind, one.get('ctx', {}), one['msg'])}"


def _unknown_key(location: tuple[Any, ...], place: str, model: type[Any]) -> str:
    known = _keys_at(location[:-1], model)
    close = nearest(str(location[-1]), known, 1)
    advice = f"did you mean {close[0]!r}?" if close else f"known keys here: {', '.join(known)}"
    return f"{place}: unknown key; {advice}"


def _keys_at(location: tuple[Any, ...], model: type[Any]) -> list[str]:
    """Return the keys of the table at a place in the spec."""
    here: Any = model
    for part in location:
        if isinstance(part, str) and part in getattr(here, "model_fields", {}):
            kind = here.model_fields[part].annotation
            here = next((a for a in get_args(kind) if hasattr(a, "model_fields")), kind)
    return [name for name in getattr(here, "model_fields", {}) if name != "folder"]


def _needed(kind: str, limits: dict[str, Any], message: str) -> str:
    if kind.startswith("int"):
        return "a whole number is needed"
    if kind.startswith("float"):
        return "a number is needed"
    if kind.startswith("bool"):
        return "true or false is needed"
    if kind.startswith("string"):
        return "text in quotation marks is needed"
    if kind == "list_type":
        return "a list is needed"
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return "a table of keys is needed"
    if kind == "too_short":
        return "at least one entry is needed"
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    told = [f"{words[k]} {limits[k]:g}" for k in words if k in limits]
    return f"it must be {' and '.join(told)}" if told else message[:1].lower() + message[1:]


def _shown(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
