"""A call of a public function as it is typed again, with everything that changes its numbers."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np

from unseen.core.data import Data

__all__ = ["Call"]

# these say how a call runs and what is shown of it, and change no number
RUNNING = frozenset({"n_jobs", "engine", "progress", "command"})
# what the rows are stands before how they are used
ROLES = ("groups", "sample_weight", "time", "ids", "positive", "task", "duplicates", "missing_target")
LONGEST = 300  # characters of a value that is typed out; a longer one goes by the name of its argument


@dataclass(frozen=True)
class Call:
    """What a public function was called with, in words that Python reads.

    Texts, numbers and lists of them are typed out, and so are objects that say what they are made of, such as a splitter of
    scikit-learn's. Everything else (arrays, frames, models) goes by the name of its argument. Arguments at their defaults are left out,
    and so are those that say how a call runs.

    Parameters
    ----------
    function : str
        Name of the function.
    places : tuple of str
        What stands before the keywords.
    given : mapping of str to str
        Keywords that differ from their defaults.
    imports : tuple of str
        Lines that the values need.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.model_selection import GroupKFold
    >>> given = {"model": "lda", "X": [[0.5]] * 200, "y": "ill", "groups": "ward", "cv": GroupKFold(5), "n_jobs": 2}
    >>> print(Call.of(unseen.assess, given).text(random_state=3))
    from sklearn.model_selection import GroupKFold
    unseen.assess('lda', X, 'ill', groups='ward', random_state=3, cv=GroupKFold(n_splits=5, random_state=None, shuffle=False))
    """

    function: str
    places: tuple[str, ...]
    given: Mapping[str, str]
    imports: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, function: Callable[..., Any], given: Mapping[str, Any], places: Mapping[str, Any] | None = None
    ) -> Call:
        """Return a call for what a function was given, such as its `locals()` at its first line.

        Parameters
        ----------
        function : callable
            The public function.
        given : mapping of str to object
            Its arguments by name; other names are left out, and missing ones are at their defaults.
        places : mapping of str to object, optional
            What stands before the keywords, by the names to use for it, instead of the arguments without a default place; a name
            that begins with a star stands for several.
        """
        values: dict[str, Any] = {}
        first: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in given or name in RUNNING:
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                values |= given[name]
            elif parameter.kind is parameter.KEYWORD_ONLY:
                values |= {} if _is_default(given[name], parameter.default) else {name: given[name]}
            else:
                first[name] = given[name]
        texts = [text for name, value in (first if places is None else places).items() for text in _place(name, value)]
        words = {name: _in_words(name, value) for name, value in values.items()}
        return cls(
            function=f"unseen.{function.__name__}",
            places=tuple(texts),
            given={name: text for name, (text, _) in words.items()},
            imports=tuple(dict.fromkeys(line for _, lines in words.values() for line in lines)),
        )

    def text(self, **settled: Any) -> str:
        """Return the call, with what came out only as it ran in place of what was asked for; None leaves an argument out.

        Examples
        --------
        >>> Call("unseen.measure", ("y_true", "y_score"), {"level": "0.9"}).text(random_state=7)
        'unseen.measure(y_true, y_score, random_state=7, level=0.9)'
        """
        found = dict(self.given)
        for name, value in settled.items():
            found.pop(name, None)
            if value is not None:
                found[name] = _in_words(name, value)[0]
        order = [name for name in (*ROLES, "random_state", *found) if name in found]
        keywords = [f"{name}={found[name]}" for name in dict.fromkeys(order)]
        return "\n".join([*self.imports, f"{self.function}({', '.join([*self.places, *keywords])})"])


def _is_default(value: Any, default: Any) -> bool:
    """Say whether an argument is at its default; arrays and frames, which have no plain answer, never are."""
    return value is default or (isinstance(value, (str, bool, int, float)) and value == default)


def _place(name: str, value: Any) -> Iterator[str]:
    """Yield the text of what stands before the keywords: typed out if it is plain, a sample as `data`, else by its name."""
    if value is None:
        return
    if isinstance(value, Data):
        yield "data"
    elif isinstance(value, PathLike):
        yield repr(fspath(value))
    elif name.startswith("*"):
        texts = [_literal(fspath(one) if isinstance(one, PathLike) else one) for one in value]
        yield from [text for text in texts if text] if all(texts) else [name]
    else:
        yield _literal(value) or name


def _in_words(name: str, value: Any) -> tuple[str, list[str]]:
    """Return a value as it is typed, and the lines of import that it needs; its name if it cannot be typed."""
    if text := _literal(value):
        return text, []
    if isinstance(value, Mapping) and value and all(isinstance(key, str) and key.isidentifier() for key in value):
        parts = {key: _in_words(key, one) for key, one in value.items()}
        return _joined("{" + ", ".join(f"{key!r}: {text}" for key, (text, _) in parts.items()) + "}", name, parts)
    if isinstance(value, (list, tuple)) and any(map(callable, value)):
        many = {str(k): _in_words("", one) for k, one in enumerate(value)}
        if all(text for text, _ in many.values()):
            return _joined(f"[{', '.join(text for text, _ in many.values())}]", name, many)
        return name, []
    if inspect.isroutine(value):
        return _import_of(value, str(value.__name__)) or (name, [])
    return _object(value) or (name, [])


def _joined(text: str, name: str, parts: Mapping[str, tuple[str, list[str]]]) -> tuple[str, list[str]]:
    if len(text) > LONGEST:
        return name, []
    return text, [line for _, lines in parts.values() for line in lines]


def _literal(value: Any) -> str:
    """Return a text, a number or a collection of them as Python reads it; empty for everything else, and for long ones."""
    if isinstance(value, np.generic):
        return _literal(value.item())
    if value is None or isinstance(value, (str, bool, int, float)):
        text = repr(value)
    elif isinstance(value, (list, tuple)):
        parts = [_literal(one) for one in value[:LONGEST]]
        if not all(parts) or len(value) > LONGEST:
            return ""
        inside = ", ".join(parts)
        text = f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(parts) == 1)})"
    elif isinstance(value, dict):
        pairs = [(_literal(key), _literal(one)) for key, one in value.items()]
        if not all(key and one for key, one in pairs):
            return ""
        text = "{" + ", ".join(f"{key}: {one}" for key, one in pairs) + "}"
    else:
        return ""
    return text if len(text) <= LONGEST and _reads_back(text) else ""


def _reads_back(text: str) -> bool:
    """Say whether a text is a literal; that of an infinite number is none."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _object(value: Any) -> tuple[str, list[str]] | None:
    """Return an object that says what it is made of, such as `KFold(n_splits=5)`; None if Python could not read it."""
    if hasattr(value, "__len__"):  # arrays and frames, whose text takes long and shows a part
        return None
    text = " ".join(repr(value).split())
    try:
        made = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    plain = isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and not made.args
    if not isinstance(made, ast.Call) or not plain or getattr(made.func, "id", "") != type(value).__name__:
        return None
    if len(text) > LONGEST or not all(k.arg and _reads_back(ast.unparse(k.value)) for k in made.keywords):
        return None
    return _import_of(type(value), text)


def _import_of(thing: Any, text: str) -> tuple[str, list[str]] | None:
    """Return a text that begins with the name of a class or function, and how it is imported; None if it has no public place."""
    name, parts = str(thing.__name__), str(thing.__module__).split(".")
    if parts == ["__main__"]:
        return text, []
    for k in range(1, len(parts) + 1):
        module = ".".join(parts[:k])
        if getattr(sys.modules.get(module), name, None) is thing:
            own = parts[0] == "unseen"
            return (f"{module}.{text}", []) if own else (text, [f"from {module} import {name}"])
    return None
