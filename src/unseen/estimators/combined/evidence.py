"""The RMS that methods had against the true error on held-out data sets, found for a model and data like the user's."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from typing import Any

from unseen.core.columns import unpack_columns
from unseen.core.data import Data
from unseen.core.estimate import Estimate, ResubEstimate
from unseen.core.notes import merge_notes, note
from unseen.estimators.combined.situation import (
    STUDIED_UNITS,
    dimension_band,
    has_rare_class,
    rule_family,
    unlike_the_study,
)

__all__ = [
    "ANY",
    "RECIPES",
    "Evidence",
    "SetDeviations",
    "attach_expected_rms",
    "error_band",
    "evidence_for",
    "expected_rms",
    "has_studied_options",
    "leads",
    "level_of",
    "look_up",
    "reason_not_studied",
    "recipe_bound",
    "recipe_weights",
    "table_of",
]

ANY = "any"
FEW_SETS = 5  # an RMS over fewer data sets says more about these sets than about the situation
LARGEST_OF_ALL = 100  # units at which all data sets were studied; the large ones at 400 too
RECIPES = ("combined", "auto-resub")
# options that change how exactly a method is computed, not what it estimates
COMPUTING = frozenset({"n_mc", "sampler", "draws", "exact", "among", "loss"})


@dataclass(frozen=True)
class SetDeviations:
    """Deviation of a method from the true error in one situation and at one sample size.

    Parameters
    ----------
    pooled : float
        Root of the mean squared deviation over all samples; a single odd data set may rule it.
    typical, worst : float
        Median and largest RMS of a data set.
    """

    pooled: float
    typical: float
    worst: float


Table = dict[tuple[str, ...], dict[int, SetDeviations]]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """An expected RMS and where it comes from.

    Parameters
    ----------
    rms, worst : float
        Root mean squared deviation from the true error in a typical data set (the median), and in the worst.
    pooled : float
        The same over all samples of all data sets.
    situation : str
        The situation it was measured in, in words.
    """

    rms: float
    worst: float
    pooled: float
    situation: str


def error_band(error: float, recipe: str) -> str:
    """Return the band of an error rate as a recipe gives it: what can be seen, not the true error, which cannot.

    Examples
    --------
    >>> error_band(0.05, "combined"), error_band(0.3, "auto-resub")
    ('combined below 10%', 'auto-resub 10% or more')
    """
    return f"{recipe} {'below 10%' if error < 0.1 else '10% or more'}"


def level_of(method: str, value: float) -> str:
    """Return the band of the error that a method's evidence is looked up in: a recipe's own, "any" for single estimates.

    Single estimates may be biased, so their value does not say whether errors are rare. Another method's value does not count
    either: what to expect of a method would depend on what else was run.

    Examples
    --------
    >>> level_of("auto-resub", 0.3), level_of("resub", 0.0)
    ('auto-resub 10% or more', 'any')
    """
    return error_band(value, method) if method in RECIPES else ANY


def _rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a file beside this module; comments begin with #."""
    content = (resources.files("unseen.estimators.combined") / name).read_bytes()
    if name.endswith(".xz"):
        return unpack_columns(content)
    return list(csv.DictReader(line for line in content.decode().splitlines() if not line.startswith("#")))


@cache
def recipe_weights(recipe: str) -> dict[str, dict[str, float]]:
    """Return the weights of a recipe's parts by family of rules, "any" for all others.

    Examples
    --------
    >>> round(sum(recipe_weights("auto-resub")["any"].values()), 9)
    1.0
    """
    out: dict[str, dict[str, float]] = {}
    for row in _rows("weights.csv"):
        if row["recipe"] == recipe and row["method"] != "bound":
            out.setdefault(row["family"], {})[row["method"]] = float(row["weight"])
    return out


@cache
def recipe_bound(recipe: str) -> float:
    """Return how many spreads a part of a recipe may pull at most; infinity without a bound.

    Examples
    --------
    >>> recipe_bound("combined") > 0, recipe_bound("auto-resub")
    (True, inf)
    """
    found = [
        float(row["weight"]) for row in _rows("weights.csv") if (row["recipe"], row["method"]) == (recipe, "bound")
    ]
    return found[0] if found else math.inf


@cache
def _table() -> Table:
    return table_of(_rows("evidence.xz"))


def table_of(rows: Iterable[Mapping[str, str]]) -> Table:
    """Return rows of evidence as `look_up` takes them, without those from few data sets.

    Examples
    --------
    >>> situation = {"estimator": "mine", "family": "tree", "features": "any", "classes": "any", "error": "any"}
    >>> found = table_of([{**situation, "n": "40", "rms": "0.1", "typical": "0.08", "worst": "0.2", "sets": "9"}])
    >>> found["mine", "tree", "any", "any", "any"]
    {40: SetDeviations(pooled=0.1, typical=0.08, worst=0.2)}
    """
    out: Table = {}
    for row in rows:
        if int(row["sets"]) >= FEW_SETS:
            key = tuple(row[name] for name in ("estimator", "family", "features", "classes", "error"))
            figures = SetDeviations(*(float(row[name]) for name in ("rms", "typical", "worst")))
            out.setdefault(key, {})[int(row["n"])] = figures
    return out


def reason_not_studied(n: int) -> str:
    """Say why no study stands behind figures for a sample of n units; empty if one does.

    Examples
    --------
    >>> reason_not_studied(100_000)
    '100,000 units are outside the 20 to 400 that were studied'
    >>> reason_not_studied(200)
    ''
    """
    low, high = STUDIED_UNITS
    return "" if low <= n <= high else f"{n:,} units are outside the {low} to {high} that were studied"


def expected_rms(estimator: str, family: str, n: int, d: int, classes: int, level: str = ANY) -> Evidence | None:
    """Return the RMS to expect, from the narrowest situation that was measured at every sample size up to n.

    The logarithm of the RMS is interpolated in the logarithm of n. Beyond the measured sizes there is none.
    `level` is an `error_band`, or "any" without a recipe.

    Examples
    --------
    >>> level = error_band(0.2, "combined")
    >>> small, large = (expected_rms("combined", "linear", n, 8, 2, level).rms for n in (20, 100))
    >>> large < small, expected_rms("combined", "linear", 100_000, 8, 2, level)
    (True, None)
    """
    return look_up(_table(), estimator, family, n, d, classes, level)


def look_up(
    table: Table, estimator: str, family: str, n: int, d: int, classes: int, level: str = ANY
) -> Evidence | None:
    """Return `expected_rms` from another table: figures by sample size of each (estimator, family, features, classes, level).

    Examples
    --------
    >>> small, large = SetDeviations(0.2, 0.1, 0.4), SetDeviations(0.1, 0.05, 0.2)
    >>> found = look_up({("mine", "any", "any", "any", "any"): {20: small, 80: large}}, "mine", "tree", 20, 5, 2)
    >>> found.rms, found.worst
    (0.1, 0.4)
    """
    everything = table.get((estimator, ANY, ANY, ANY, ANY))
    if everything is None:
        return None
    low, high = min(everything), max(everything)
    if not low <= n <= high:
        return None
    # every data set was studied at the small sizes, so that a situation seen at one of them only is one of few sets
    needed = {size for size in everything if size <= LARGEST_OF_ALL or n > LARGEST_OF_ALL}
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
            typical, worst, pooled = (
                _at({size: getattr(one, figure) for size, one in found.items()}, n)
                for figure in ("typical", "worst", "pooled")
            )
            return Evidence(rms=typical, worst=worst, pooled=pooled, situation=_words(*key))
    return None


def evidence_for(estimate: Estimate, native: Any, data: Any) -> Evidence | None:
    """Return the RMS that the method of an estimate had for models and data like these; None if it was not measured on such.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.svm import LinearSVC
    >>> data = unseen.datasets.load("gaussian-blocks").take(range(60))
    >>> model = LinearSVC().fit(*data.xy)
    >>> found = evidence_for(unseen.resubstitution.bolster(model, *data.xy), model, data)
    >>> 0 < found.rms < found.worst, found.situation
    (True, 'linear rules, up to 10 features, 2 classes')
    """
    if estimate.loss != "zero-one" or data.classes is None:
        return None
    level = level_of(estimate.method, estimate.value)
    return expected_rms(estimate.method, rule_family(native), data.n_units, data.n_features, len(data.classes), level)


def attach_expected_rms(
    estimates: Mapping[str, Estimate], native: Any, data: Data, methods: Mapping[str, Any] | None = None
) -> dict[str, Estimate]:
    """Attach to each estimate the RMS its method had on similar data.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        Estimates for one model by method id; what else is among them changes nothing for any of them.
    native : object
        The trained model.
    data : Data
        The sample.
    methods : mapping of str to method, optional
        Methods by id, if they may have other options than the usual ones; the RMS of those was not measured.

    Returns
    -------
    dict of str to Estimate
        The same estimates; those whose RMS was measured on such data carry `expected_rms`, `worst_rms` and `situation`.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.svm import LinearSVC
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> a = unseen.assess(LinearSVC(), X, y, random_state=0, effort="splits=5,bootstrap=20")
    >>> 0 < a.estimates["632plus"].expected_rms < 0.2
    True
    """
    unstudied: str | None = None
    out = dict(estimates)
    for name, estimate in estimates.items():
        direct = isinstance(estimate, ResubEstimate)
        if direct and methods is not None and not has_studied_options(methods[name]):
            continue
        found = evidence_for(estimate, native, data)
        if found is None:
            continue
        if unstudied is None:
            unstudied = unlike_the_study(data)
        if not unstudied:
            out[name] = replace(estimate, expected_rms=found.rms, worst_rms=found.worst, situation=found.situation)
        elif estimate.method == "auto-resub" and has_rare_class(data):
            # sets with so rare a class were left out of the fit of its interval
            notes = merge_notes(estimate.notes, (note("U030", unstudied),))
            out[name] = replace(estimate, interval=None, notes=notes)
    return out


def has_studied_options(method: Any) -> bool:
    """Say whether a method has the options it was studied with; how its integrals are computed does not matter.

    Examples
    --------
    >>> from unseen.core.registry import build
    >>> [has_studied_options(build("bolster", "resubstitution", options=o)) for o in ({"n_mc": 50}, {"average": "class"})]
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
    """Say whether a recipe had a smaller RMS on held-out data sets than every single estimator, for samples of n units.

    Between the sizes that were studied the RMS of each is interpolated.

    Examples
    --------
    >>> leads("combined", 60), leads("auto-resub", 60)
    (True, False)
    """
    overall = {key[0]: sizes for key, sizes in _table().items() if set(key[1:]) == {ANY}}
    pooled = {name: {size: one.pooled for size, one in sizes.items()} for name, sizes in overall.items()}
    singles = [sizes for name, sizes in pooled.items() if name not in RECIPES]
    return recipe in pooled and all(_at(pooled[recipe], n) < _at(one, n) for one in singles)


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
