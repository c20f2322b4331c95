"""What an estimator's deviation from the true error was on held-out data sets, looked up for a situation like the user's."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Any

from unseen.core.situation import dimension_band, rule_family

__all__ = [
    "ANY",
    "RECIPES",
    "Evidence",
    "as_studied",
    "error_band",
    "expected",
    "in_situation",
    "leads",
    "level_of",
    "looked_up",
    "recipe_bound",
    "recipe_weights",
    "table_of",
]

ANY = "any"
FEW_SETS = 5
LARGEST_OF_ALL = 100  # units at which all data sets were studied; the large ones at 400 too
RECIPES = ("combined", "auto-resub")
# options that change how exactly a method is computed, not what it estimates
COMPUTING = frozenset({"n_mc", "sampler", "draws", "exact", "among", "loss"})


Table = dict[tuple[str, ...], dict[int, float]]


@dataclass(frozen=True)
class Evidence:
    """An expected RMS and where it comes from.

    Parameters
    ----------
    rms : float
        Root mean squared deviation from the true error.
    situation : str
        The situation it was measured in, in words.
    extrapolated : bool
        Whether the sample is smaller or larger than any that was tried.
    """

    rms: float
    situation: str
    extrapolated: bool


def error_band(error: float, recipe: str) -> str:
    """Return the band of an error rate as a recipe gives it: what can be seen, not the true error, which cannot.

    Examples
    --------
    >>> error_band(0.05, "combined"), error_band(0.3, "auto-resub")
    ('combined below 10%', 'auto-resub 10% or more')
    """
    return f"{recipe} {'below 10%' if error < 0.1 else '10% or more'}"


def level_of(values: Mapping[str, Any]) -> str:
    """Return the band of the error by the first recipe among estimates, "any" where there is none; single ones may be biased.

    Examples
    --------
    >>> level_of({"resub": None})
    'any'
    """
    return next((error_band(values[recipe].value, recipe) for recipe in RECIPES if recipe in values), ANY)


def _rows(name: str) -> list[dict[str, str]]:
    file = resources.files("unseen.core") / f"{name}.csv"
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


@cache
def recipe_weights(recipe: str) -> dict[str, dict[str, float]]:
    """Return the weights of a recipe's parts by family of rules, "any" for all others.

    Examples
    --------
    >>> round(sum(recipe_weights("auto-resub")["any"].values()), 9)
    1.0
    """
    out: dict[str, dict[str, float]] = {}
    for row in _rows("weights"):
        if row["recipe"] == recipe and row["method"] != "bound":
            out.setdefault(row["family"], {})[row["method"]] = float(row["weight"])
    return out


@cache
def recipe_bound(recipe: str) -> float:
    """Return how many spreads a part of a recipe may pull at most; infinity where there is no bound.

    Examples
    --------
    >>> recipe_bound("combined") > 0, recipe_bound("auto-resub")
    (True, inf)
    """
    found = [float(row["weight"]) for row in _rows("weights") if (row["recipe"], row["method"]) == (recipe, "bound")]
    return found[0] if found else math.inf


@cache
def _table() -> Table:
    return table_of(_rows("evidence"))


def table_of(rows: Iterable[Mapping[str, str]]) -> Table:
    """Return rows of evidence as `looked_up` takes them; those with few data sets behind them are left out.

    Examples
    --------
    >>> situation = {"estimator": "mine", "family": "tree", "features": "any", "classes": "any", "error": "any"}
    >>> table_of([{**situation, "n": "40", "rms": "0.1", "sets": "9"}])
    {('mine', 'tree', 'any', 'any', 'any'): {40: 0.1}}
    """
    out: Table = {}
    for row in rows:
        if int(row["sets"]) >= FEW_SETS:
            key = tuple(row[name] for name in ("estimator", "family", "features", "classes", "error"))
            out.setdefault(key, {})[int(row["n"])] = float(row["rms"])
    return out


def expected(estimator: str, family: str, n: int, d: int, classes: int, level: str = ANY) -> Evidence | None:
    """Return the RMS to expect, from the narrowest situation that was measured at every sample size.

    The logarithm of the RMS is interpolated in the logarithm of n; beyond the measured sizes it goes on with the slope
    between the nearest two, though never falls faster than 1/sqrt(n): where bias dominates, more data help little.
    `level` is an `error_band`, or "any" where no recipe was made.

    Examples
    --------
    >>> level = error_band(0.2, "combined")
    >>> small, large = (expected("combined", "linear", n, 8, 2, level).rms for n in (20, 100))
    >>> large < small
    True
    """
    return looked_up(_table(), estimator, family, n, d, classes, level)


def looked_up(
    table: Table, estimator: str, family: str, n: int, d: int, classes: int, level: str = ANY
) -> Evidence | None:
    """Return `expected` by a table: RMS by sample size of each (estimator, family, features, classes, level).

    Examples
    --------
    >>> looked_up({("mine", "any", "any", "any", "any"): {20: 0.1, 80: 0.05}}, "mine", "tree", 20, 5, 2).rms
    0.1
    """
    everything = table.get((estimator, ANY, ANY, ANY, ANY))
    if everything is None:
        return None
    needed = {size for size in everything if size <= LARGEST_OF_ALL}
    band, many = dimension_band(d), "2" if classes == 2 else "3 or more"
    for key in (
        (family, band, many, level),
        (family, ANY, many, level),
        (family, ANY, ANY, level),
        (ANY, ANY, ANY, level),
        (ANY, ANY, ANY, ANY),
    ):
        found = table.get((estimator, *key), {})
        if found.keys() >= needed:
            return Evidence(_at(found, n), _words(*key), not min(needed) <= n <= max(needed))
    return None


def in_situation(method: str, loss: str, level: str, native: Any, data: Any) -> Evidence | None:
    """Return the RMS to expect of an estimate for such a model and such data; None where it was not measured.

    `level` as in `expected`.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from unseen.datasets import load
    >>> found = in_situation("bolster", "zero-one", "any", LinearSVC(), load("gaussian-blocks"))
    >>> 0 < found.rms < 0.2, found.situation, found.extrapolated
    (True, 'linear rules, up to 10 features, 2 classes', True)
    """
    if loss != "zero-one" or data.classes is None:
        return None
    return expected(method, rule_family(native), data.n_units, data.n_features, len(data.classes), level)


def as_studied(method: Any) -> bool:
    """Tell whether a method has the options it was studied with; how its integrals are computed does not matter.

    Examples
    --------
    >>> from unseen.core.registry import build
    >>> [as_studied(build("bolster", "resubstitution", options=o)) for o in ({"n_mc": 50}, {"average": "class"})]
    [True, False]
    """
    kind: Any = type(method)
    pairs = ((getattr(method, name), default) for name, default in _usual_options(kind))
    return all(given is usual or (isinstance(given, (str, int, float)) and given == usual) for given, usual in pairs)


@cache
def _usual_options(cls: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((f.name, getattr(cls(), f.name)) for f in fields(cls) if f.name not in COMPUTING)


@cache
def leads(recipe: str, n: int) -> bool:
    """Tell whether a recipe had a smaller RMS on held-out data sets than every single estimator, for samples of n units.

    Between the sizes that were studied the RMS of each is interpolated.

    Examples
    --------
    >>> leads("combined", 60), leads("auto-resub", 60)
    (True, False)
    """
    overall = {key[0]: sizes for key, sizes in _table().items() if set(key[1:]) == {ANY}}
    singles = [sizes for name, sizes in overall.items() if name not in RECIPES]
    return recipe in overall and all(_at(overall[recipe], n) < _at(one, n) for one in singles)


def _words(family: str, features: str, classes: str, level: str) -> str:
    words = ["all rules tried" if family == "any" else f"{family} rules"]
    words += [f"{value} {name}" for value, name in ((features, "features"), (classes, "classes")) if value != "any"]
    return ", ".join([*words, *([] if level == ANY else [level])])


def _at(found: dict[int, float], n: int) -> float:
    sizes = sorted(found)
    if len(sizes) == 1:
        return found[sizes[0]] * math.sqrt(sizes[0] / max(n, 1))
    k = min(max(sum(size <= n for size in sizes) - 1, 0), len(sizes) - 2)
    low, high = sizes[k], sizes[k + 1]
    slope = math.log(found[high] / found[low]) / math.log(high / low)
    if not low <= n <= high:
        slope = min(max(slope, -0.5), 0.0)
    base = high if n > high else low
    return found[base] * math.exp(slope * math.log(max(n, 1) / base))
