"""Models by name, with parameters: `cart`, `knn:3`, `rbf-svm:C=10,gamma=0.1`, `package.module:factory`."""

from __future__ import annotations

import ast
import importlib
import os
import re
import sys
from typing import Any

from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName, nearest
from unseen.models.catalogue import CATALOGUE, Entry
from unseen.models.preparation import prepare

__all__ = ["describe", "named_model", "names"]

# a name is a word and a few numbers; more is a mistake, and not worth parsing
MAX_TEXT = 1000
_FACTORY = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")
_WORD = re.compile(r"[A-Za-z][\w.-]*")
_CONSTANTS = {"true": True, "false": False, "none": None}


def names() -> list[str]:
    """Return the names `named_model` knows.

    Examples
    --------
    >>> "rbf-svm" in names()
    True
    """
    return list(CATALOGUE)


def describe() -> list[dict[str, Any]]:
    """Return a line about each named model: tasks, scikit-learn classes, settings that differ from its defaults."""
    rows = []
    for entry in CATALOGUE.values():
        classes = [path.split(":")[1] for path in (entry.classifier, entry.regressor) if path]
        settings = {k: v for k, v in entry.settings.items() if v is not None}
        rows.append(
            {
                "name": entry.name,
                "tasks": list(entry.tasks),
                "description": entry.description,
                "learner": classes,
                "settings": settings,
                "scaled": entry.scaled,
            }
        )
    return rows


def named_model(text: str, data: Data) -> Any:
    """Return a scikit-learn estimator for a name, ready for this kind of data.

    Parameters
    ----------
    text : str
        A name (`unseen models` lists them), with parameters of the learner after a colon: `knn:3`,
        `rbf-svm:C=10,gamma=0.1`, `mlp:hidden_layer_sizes=(20,20)`; values are plain Python literals or words, never
        evaluated. Or `package.module:factory`, a function of your own code that returns an estimator; it gets the
        features as they are.
    data : Data
        Decides between classifier and regressor, and which preparation the features need: see
        `unseen.models.preparation.prepare`.

    Returns
    -------
    scikit-learn estimator
        Not fitted.

    Examples
    --------
    >>> import unseen
    >>> named_model("knn:3", unseen.datasets.load("iris")).steps[-1][1]
    KNeighborsClassifier(n_neighbors=3)
    >>> named_model("cart:max_depth=2", unseen.datasets.load("iris"))
    DecisionTreeClassifier(max_depth=2, min_samples_split=5)
    """
    if len(text) > MAX_TEXT:
        raise InputError(f"the name of the model has {len(text)} characters; at most {MAX_TEXT} are read.")
    name, _, rest = text.strip().partition(":")
    name = name.strip()
    if name not in CATALOGUE:
        return _from_factory(text.strip(), name)
    entry = CATALOGUE[name]
    if data.task not in entry.tasks:
        fitting = ", ".join(r.name for r in CATALOGUE.values() if data.task in r.tasks)
        raise InputError(f"{name} does {entry.tasks[0]}, and the target asks for {data.task}; use one of: {fitting}.")
    if ":" in text and not rest.strip():
        raise InputError(f"nothing follows the colon in {text!r}; write {name}:parameter=value, or {name} alone.")
    learner = _with_settings(entry, entry.learner(data.task), _parameters(rest, entry))
    return prepare(learner, entry, data)


def _with_settings(entry: Entry, learner: Any, settings: dict[str, Any]) -> Any:
    allowed = learner.get_params(deep=False)
    for key in settings:
        if key not in allowed:
            raise UnknownName(f"parameter of {entry.name!r}", key, allowed)
    if entry.name == "dummy" and "strategy" not in settings:
        settings = {"strategy": "most_frequent" if "Classifier" in type(learner).__name__ else "mean"} | settings
    learner.set_params(**settings)
    try:
        learner._validate_params()
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{entry.name}: {reason}") from error
    return learner


def _parameters(text: str, entry: Entry) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for part in _parts(text, entry.name):
        key, equals, value = part.partition("=")
        key, value = key.strip(), value.strip()
        if not equals and entry.first and not settings:
            key, value = entry.first, key
        elif not equals or not key or not value:
            raise InputError(
                f"{part.strip()!r} in {entry.name}:{text} is not parameter=value; write for example {_example(entry)}."
            )
        if key in settings:
            raise InputError(f"the parameter {key!r} of {entry.name} was given twice.")
        settings[key] = _value(value, key, entry.name)
    return settings


def _example(entry: Entry) -> str:
    return f"{entry.name}:3" if entry.first else "'rbf-svm:C=10,gamma=0.1'"


def _parts(text: str, name: str) -> list[str]:
    """Split at the commas that stand outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for k, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    if depth != 0 or quote:
        raise InputError(f"brackets or quotation marks do not match in {name}:{text}.")
    return [*parts, text[start:]] if text.strip() else []


def _value(text: str, key: str, name: str) -> Any:
    """Return a number, text, tuple or other literal; a bare word is text."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if _WORD.fullmatch(text):
            return text
        raise InputError(
            f"the value {text!r} of {key!r} of {name} is neither a number, a word, nor a list of them; it is not evaluated as code."
        ) from None


def _from_factory(text: str, name: str) -> Any:
    match = _FACTORY.fullmatch(text)
    if not match:
        raise UnknownName("model", name, CATALOGUE, "Your own is given as package.module:factory.")
    module, attribute = match.groups()
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # worker processes need it too, so it stays
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise InputError(f"importing {module!r} for the model {text!r} failed: {error}.") from error
        close = nearest(name, CATALOGUE)
        hint = f" Or did you mean the model {close[0]!r}?" if close else ""
        raise InputError(
            f"there is no module {module!r} for the model {text!r}; it must be importable from here ({os.getcwd()}).{hint}"
        ) from error
    except Exception as error:  # a user's module may raise anything
        raise InputError(
            f"importing {module!r} for the model {text!r} failed: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(found, attribute):
        raise UnknownName(f"factory in {module!r}", attribute, [n for n in vars(found) if not n.startswith("_")])
    return _call(getattr(found, attribute), text)


def _call(factory: Any, text: str) -> Any:
    model = factory
    if not (hasattr(factory, "fit") and not isinstance(factory, type)):
        if not callable(factory):
            raise InputError(f"{text!r} is a {type(factory).__name__}; it must be a function that returns a model.")
        try:
            model = factory()
        except Exception as error:  # a user's factory may raise anything
            raise InputError(f"calling {text!r} without arguments failed: {type(error).__name__}: {error}") from error
    if not (callable(getattr(model, "fit", None)) and callable(getattr(model, "predict", None))):
        raise InputError(f"{text!r} returned a {type(model).__name__} without fit and predict; it must return a model.")
    return model
