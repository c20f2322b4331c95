"""A method without retraining as a function of a trained model, its signature and docstring taken from the method."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

from unseen.core.data import Task
from unseen.core.errors import InputError
from unseen.core.registry import build, find
from unseen.core.rng import RandomState, root_seed, stream
from unseen.datasets.conversion import as_data
from unseen.estimators.combined.evidence import attach_expected_rms
from unseen.resubstitution._pretrained import as_pretrained

__all__ = ["apply", "method_function"]

WIDTH = 120  # of a docstring's lines, as everywhere in this package
AS_IN = re.compile(r"As in `([\w-]+)`[.;]\s*(.*)", re.DOTALL)
SHARED = {
    "fitted": ("object with predict, or function", "The trained model; it is never changed."),
    "X": ("array-like", "The sample it was trained on."),
    "y": ("array-like", "Its labels, or numbers."),
    "random_state": ("int, Generator or None", "Same seed, same numbers."),
    "sample_weight": ("array-like, optional", "Weight of each point."),
}
SAMPLE = """\
>>> import unseen
>>> from sklearn.linear_model import LogisticRegression
>>> X, y = unseen.datasets.load("gaussian-blocks").xy
>>> fitted = LogisticRegression().fit(X, y)
"""


def apply(
    method: str,
    fitted: Any,
    X: Any,
    y: Any,
    *,
    random_state: RandomState,
    sample_weight: Any = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """Return the estimate of a model that is trained already; its numbers are those of `unseen.estimate(..., fitted=True)`."""
    chosen = build(method, "resubstitution", options=options)
    task: Task | None = "classification" if hasattr(fitted, "classes_") else None
    data = as_data(X, y, sample_weight=sample_weight, task=task)
    if sample_weight is not None and not chosen.weighted:
        raise InputError(f"{method} has no weighted form; leave the weights out or choose another method.")
    model = as_pretrained(fitted)
    estimate = chosen(model, data, rng=stream(root_seed(random_state), "direct", method), level=0.95)
    return attach_expected_rms({method: estimate}, model.native, data, {method: chosen})[method]


def method_function(method: str, module: str, example: str) -> Callable[..., Any]:
    """Return the function of a method: options are keywords, the rest is the trained model and its sample.

    Parameters
    ----------
    method : str
        Id of a direct method of the group `resubstitution`.
    module : str
        `__name__` of the module that the function belongs to.
    example : str
        Last lines of the example: calls with `fitted`, `X` and `y`, and what they print.

    Examples
    --------
    >>> resub = method_function("resub", __name__, "")
    >>> str(inspect.signature(resub)).startswith("(fitted: ")
    True
    >>> list(inspect.signature(resub).parameters)
    ['fitted', 'X', 'y', 'random_state', 'sample_weight', 'loss']
    """

    def function(
        fitted: Any, X: Any, y: Any, *, random_state: RandomState = None, sample_weight: Any = None, **options: Any
    ) -> Any:
        return apply(method, fitted, X, y, random_state=random_state, sample_weight=sample_weight, options=options)

    cls = find(method, "resubstitution")
    function.__name__ = function.__qualname__ = method.replace("-", "_")
    function.__module__ = module
    function.__doc__ = _docstring(cls, example)
    function.__signature__ = _signature(cls, function)  # type: ignore[attr-defined]
    return function


def _signature(cls: type[Any], function: Callable[..., Any]) -> inspect.Signature:
    """Return the function's own parameters and one keyword for each option of the method."""
    own = [p for p in inspect.signature(function, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
    hints = get_type_hints(cls)
    options = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in fields(cls)
    ]
    return inspect.Signature([*own, *options], return_annotation=get_type_hints(cls.__call__)["return"])


def _docstring(cls: type[Any], example: str) -> str:
    sections = _sections(cls)
    entries = [f"{name} : {kind}\n{_indent(text)}" for name, (kind, text) in SHARED.items()]
    for f in fields(cls):
        kind, text = _option(cls, f.name)
        default = f"{kind}, default {f.default!r}" if kind else f"default {f.default!r}"
        entries.append(f"{f.name} : {default}\n{_indent(text)}")
    made = get_type_hints(cls.__call__)["return"].__name__
    refused = "" if cls.weighted else "\n\nWeights are refused: the method has no weighted form."
    parts = [
        sections[""] + refused,
        "Parameters\n----------\n" + "\n".join(entries),
        f"Returns\n-------\n{made}",
        f"References\n----------\n{sections['References']}",
        f"Examples\n--------\n{SAMPLE}{example}",
    ]
    return "\n\n".join(parts) + "\n"


def _sections(cls: type[Any]) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by title; the text before the first has none."""
    found = re.split(r"(?m)^(\w+)\n-+\n", inspect.cleandoc(vars(cls).get("__doc__") or ""))
    return {"": found[0].strip(), **{title: text.strip() for title, text in zip(found[1::2], found[2::2])}}


def _option(cls: type[Any], name: str) -> tuple[str, str]:
    """Return type and text of an option, as the class or the nearest of its bases documents it."""
    for base in cls.__mro__:
        entries = re.split(r"(?m)^(?=\S)", _sections(base).get("Parameters", ""))
        for entry in filter(None, entries):
            head, _, body = entry.partition("\n")
            names, _, kind = head.partition(" : ")
            if name not in [one.strip() for one in names.split(",")]:
                continue
            text = " ".join(inspect.cleandoc("\n" + body).split())
            other = AS_IN.fullmatch(text)
            if other is None:
                return kind, text
            kind, shared = _option(find(other.group(1), "resubstitution"), name)
            rest = other.group(2)
            return kind, f"{shared} {rest[:1].upper()}{rest[1:]}".strip()
    raise LookupError(f"{cls.__name__}: the option {name!r} is not documented")


def _indent(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
