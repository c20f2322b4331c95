"""What an estimator's deviation from the true error was on held-out data sets, looked up for a situation like the user's."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["FAMILIES", "Evidence", "dimension_band", "error_band", "expected", "recipe_weights", "rule_family"]

FAMILIES = {
    "linear": (
        "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis", "Perceptron",
        "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier",
    ),
    "kernel": ("SVC", "NuSVC", "GaussianProcessClassifier"),
    "tree": ("DecisionTreeClassifier", "ExtraTreeClassifier"),
    "neighbours": ("KNeighborsClassifier", "RadiusNeighborsClassifier"),
    "generative": ("GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "QuadraticDiscriminantAnalysis"),
}  # fmt: skip
FEW_SETS = 5


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


def rule_family(native: Any) -> str:
    """Return the family of a classifier by the name of its class: linear, kernel, tree, neighbours, generative or any.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> rule_family(SVC()), rule_family(SVC(kernel="linear")), rule_family(object())
    ('kernel', 'linear', 'any')
    """
    while True:
        if hasattr(native, "best_estimator_"):
            native = native.best_estimator_
        elif hasattr(native, "steps"):
            native = native.steps[-1][1]
        else:
            break
    if getattr(native, "kernel", None) == "linear":
        return "linear"
    name = getattr(native, "kind_name", type(native).__name__)  # a model in another process tells its class
    return next((family for family, names in FAMILIES.items() if name in names), "any")


def dimension_band(d: int) -> str:
    """Return the band of a number of features.

    Examples
    --------
    >>> dimension_band(4), dimension_band(30), dimension_band(200)
    ('up to 10', '11 to 30', 'above 30')
    """
    return "up to 10" if d <= 10 else ("11 to 30" if d <= 30 else "above 30")


def error_band(error: float) -> str:
    """Return the band of an error rate; deviations are smaller where errors are rare.

    Examples
    --------
    >>> error_band(0.05), error_band(0.3)
    ('below 15%', '15% or more')
    """
    return "below 15%" if error < 0.15 else "15% or more"


def _rows(name: str) -> list[dict[str, str]]:
    file = resources.files("unseen.core") / f"{name}.csv"
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


@cache
def recipe_weights(recipe: str) -> dict[str, dict[str, float]]:
    """Return the weights of a recipe's parts by family of rules, "any" for all others.

    Examples
    --------
    >>> round(sum(recipe_weights("combined")["any"].values()), 9)
    1.0
    """
    out: dict[str, dict[str, float]] = {}
    for row in _rows("weights"):
        if row["recipe"] == recipe:
            out.setdefault(row["family"], {})[row["method"]] = float(row["weight"])
    return out


@cache
def _table() -> dict[tuple[str, ...], dict[int, float]]:
    """RMS by sample size for each (estimator, family, features, classes, error) that enough data sets stand behind."""
    out: dict[tuple[str, ...], dict[int, float]] = {}
    for row in _rows("evidence"):
        if int(row["sets"]) >= FEW_SETS:
            key = tuple(row[name] for name in ("estimator", "family", "features", "classes", "error"))
            out.setdefault(key, {})[int(row["n"])] = float(row["rms"])
    return out


def expected(estimator: str, family: str, n: int, d: int, classes: int, error: float) -> Evidence | None:
    """Return the RMS to expect, from the narrowest situation that was measured at every sample size.

    The logarithm of the RMS is interpolated in the logarithm of n; beyond the measured sizes it goes on with the slope
    between the nearest two, though never falls faster than 1/sqrt(n): where bias dominates, more data help little.

    Examples
    --------
    >>> small, large = (expected("combined", "linear", n, 8, 2, 0.2).rms for n in (20, 100))
    >>> large < small
    True
    """
    table = _table()
    everything = table.get((estimator, "any", "any", "any", "any"))
    if everything is None:
        return None
    band, many, level = dimension_band(d), "2" if classes == 2 else "3 or more", error_band(error)
    for key in (
        (family, band, many, level),
        (family, "any", many, level),
        (family, "any", "any", level),
        ("any", "any", "any", level),
        ("any", "any", "any", "any"),
    ):
        found = table.get((estimator, *key), {})
        if found.keys() >= everything.keys():
            return Evidence(_at(found, n), _words(*key), not min(found) <= n <= max(found))
    return None


def _words(family: str, features: str, classes: str, error: str) -> str:
    words = ["all rules tried" if family == "any" else f"{family} rules"]
    words += [f"{value} {name}" for value, name in ((features, "features"), (classes, "classes")) if value != "any"]
    return ", ".join([*words, *([] if error == "any" else [f"errors {error}"])])


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
