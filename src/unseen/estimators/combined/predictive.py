"""What the true error was in situations like this one: a Beta distribution around the value of a recipe."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources

import numpy as np
from scipy import special

from unseen.core.arrays import Floats
from unseen.core.errors import UnknownName
from unseen.core.estimate import Interval, check_level

__all__ = ["MANY", "MANY_CLASSES", "Predictive", "predictive"]

HALF_AN_ERROR = 0.5  # fewer errors than that among n cases cannot be told from none, and models without errors exist
MANY, MANY_CLASSES = 5, "many classes"  # samples of fewer classes are covered alike; these were not by the same scale
EVEN = 0.25  # rate at which `slope` changes nothing; errors of small samples are mostly near it


@dataclass(frozen=True, kw_only=True)
class Predictive:
    """Distribution of the true error T of a model, given the value c of a recipe on n units.

    T | c is Beta(e c + prior centre, e (1 - c) + prior (1 - centre)), with an equivalent sample of
    e = scale size n / (1 + floor n) ((n c + 1)/(n + 2)/.25)^slope units. It grows with n up to size/floor: data sets
    differ by more than their samples do. The constants are fitted by `studies/interval_fit.py`.

    Parameters
    ----------
    size : float
        Equivalent units per unit, in a small sample.
    floor : float
        How soon more units stop helping.
    prior, centre : float
        Weight in units, and place, of what errors usually are.
    slope : float
        How the equivalent sample changes with the rate of errors.
    scale : float
        Factor by which the equivalent sample is reduced, so that the interval covers families of data sets that were left out.

    Examples
    --------
    >>> plain = Predictive(size=1, floor=0, prior=2, centre=0.5, slope=0, scale=1)
    >>> [round(end, 3) for end in plain.interval(0.2, 40, 0.95)]
    [0.106, 0.349]
    """

    size: float
    floor: float
    prior: float
    centre: float
    slope: float
    scale: float = 1.0

    def shapes(self, value: float | Floats, n: float | Floats) -> tuple[Floats, Floats]:
        """Return the two parameters of the Beta distribution."""
        value, n = np.asarray(value, float), np.asarray(n, float)
        rate = (n * value + 1) / (n + 2)
        units = self.scale * self.size * n / (1 + self.floor * n) * (rate / EVEN) ** self.slope
        return units * value + self.prior * self.centre, units * (1 - value) + self.prior * (1 - self.centre)

    def quantiles(self, value: float | Floats, n: float | Floats, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the quantiles that leave out equal parts, moved to the value if it is not between them."""
        a, b = self.shapes(value, n)
        tail = (1 - level) / 2
        low, high = special.betaincinv(a, b, tail), special.betaincinv(a, b, 1 - tail)
        return np.minimum(low, value), np.maximum(high, value)

    def ends(self, value: float | Floats, n: float | Floats, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of one or many values: the quantiles; a lower one below half an error in n cases is 0."""
        low, high = self.quantiles(value, n, level)
        return np.where(low < HALF_AN_ERROR / np.asarray(n), 0.0, low), high

    def interval(self, value: float, n: float, level: float = 0.95) -> Interval:
        """Return the interval that holds the true error with probability `level`; it contains `value`."""
        check_level(level)
        low, high = self.ends(value, n, level)
        return Interval(float(low), float(high), level)


@cache
def predictive(recipe: str, family: str = "auto", n_classes: int = 2) -> Predictive:
    """Return the distribution that was fitted for a recipe.

    Parameters
    ----------
    recipe : str
        Id of the recipe, such as "auto-resub".
    family : str
        Family of the rule; the scale is its own if the recipe has one for it.
    n_classes : int
        Number of classes; the scale is smaller from five on if the recipe was fitted for that.

    Examples
    --------
    >>> [round(end, 2) for end in predictive("auto-resub").interval(0.12, 60)]
    [0.04, 0.31]
    """
    text = (resources.files("unseen.estimators.combined") / "interval.csv").read_text()
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    found = {row["name"]: float(row["value"]) for row in rows if row["recipe"] == recipe}
    if not found:
        raise UnknownName("recipe with an interval", recipe, tuple(dict.fromkeys(row["recipe"] for row in rows)))
    crowd = found.get(MANY_CLASSES, 1.0) if n_classes >= MANY else 1.0
    own = found | {"scale": crowd * found.get(f"scale {family}", found["scale"])}
    return Predictive(**{one.name: own[one.name] for one in fields(Predictive)})
