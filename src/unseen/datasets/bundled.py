"""Data sets that come with the package or with scikit-learn, by name."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import UnknownName
from unseen.datasets.conversion import as_data

__all__ = ["describe", "load", "names", "summary"]

_SKLEARN = {
    "iris": ("load_iris", "150 flowers, 4 measurements, 3 species (Fisher, 1936)"),
    "wine": ("load_wine", "178 wines, 13 chemical measurements, 3 cultivars"),
    "breast-cancer": (
        "load_breast_cancer",
        "569 tumours, 30 measurements, malignant or benign (Wisconsin diagnostic)",
    ),
    "digits": ("load_digits", "1,797 handwritten digits of 8 x 8 pixels, 10 classes"),
    "diabetes": ("load_diabetes", "442 patients, 10 measurements, disease progression (regression)"),
}
_POPULATIONS = {
    "gaussian-blocks": "two Gaussian classes, 6 informative and 4 noise features (Ghane, 2.2.4.1); 200 rows drawn with seed 0",
    "ar-linear": "linear regression on 10 autoregressive inputs (Larsen & Hansen, 1995); 200 rows drawn with seed 0",
}


def names() -> list[str]:
    """Return the names `load` knows.

    Examples
    --------
    >>> "iris" in names()
    True
    """
    return [*_SKLEARN, *_POPULATIONS]


def describe() -> dict[str, str]:
    """Return a line about each data set."""
    return {**{name: text for name, (_, text) in _SKLEARN.items()}, **_POPULATIONS}


def summary() -> list[dict[str, Any]]:
    """Return one dict per data set: name, rows, features, task, number of classes, description.

    Examples
    --------
    >>> summary()[0]["name"], summary()[0]["rows"]
    ('iris', 150)
    """
    rows = []
    for name, text in describe().items():
        data = load(name)
        classes = None if data.classes is None else len(data.classes)
        sizes = {"name": name, "rows": data.n, "features": data.n_features}
        rows.append({**sizes, "task": data.task, "classes": classes, "description": text})
    return rows


@cache
def load(name: str) -> Data:
    """Return a bundled data set.

    Parameters
    ----------
    name : str
        One of `names()`.

    Examples
    --------
    >>> load("breast-cancer").n
    569
    """
    if name in _SKLEARN:
        return _from_sklearn(name)
    if name in _POPULATIONS:
        from unseen.datasets.populations import population

        result: Data = population(name).draw(200, np.random.default_rng(0))
        return result
    raise UnknownName("data set", name, names(), "A path to a file works too.")


def _from_sklearn(name: str) -> Data:
    import sklearn.datasets

    bunch: Any = getattr(sklearn.datasets, _SKLEARN[name][0])()
    regression = not hasattr(bunch, "target_names")
    y = bunch.target if regression else np.asarray(bunch.target_names).astype(str)[bunch.target]
    data = as_data(bunch.data, y, target_name="target", task="regression" if regression else "classification")
    return replace(data, names=tuple(map(str, bunch.feature_names)))
