"""The situation of a model and its sample: the family of the rule, and how the data differ from those that were studied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

__all__ = [
    "FAMILIES",
    "STUDIED_UNITS",
    "Situation",
    "dimension_band",
    "has_rare_class",
    "rule_family",
    "share_of_equal_rows",
    "unlike_the_study",
]

FAMILIES = {
    "linear": (
        "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis", "Perceptron",
        "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier",
    ),
    "kernel": ("SVC", "NuSVC", "GaussianProcessClassifier"),
    "tree": ("DecisionTreeClassifier", "ExtraTreeClassifier"),
    "neighbours": ("KNeighborsClassifier", "RadiusNeighborsClassifier"),
    "generative": ("GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "QuadraticDiscriminantAnalysis"),
    # weights and expected RMS are those of any rule; only the interval has a scale of its own
    "boosting": (
        "AdaBoostClassifier", "CatBoostClassifier", "GradientBoostingClassifier", "HistGradientBoostingClassifier", "LGBMClassifier", "XGBClassifier",
    ),
}  # fmt: skip
STUDIED_UNITS = (20, 400)  # sizes of the samples that intervals and expected RMS rest on
STUDIED_FEWEST = 3  # rows that the study's samples had of every class
RARE_CLASS, MANY_EQUAL = 0.1, 0.1  # the study left out sets with a rarer class or more rows that repeat others


def rule_family(native: Any) -> str:
    """Return the family of a classifier by the name of its class: linear, kernel, tree, neighbours, generative, boosting or any.

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
    name = getattr(
        native, "kind_name", type(native).__name__
    )  # a model in another process has the name of its class here
    return next((family for family, names in FAMILIES.items() if name in names), "any")


def dimension_band(d: int) -> str:
    """Return the band of a number of features.

    Examples
    --------
    >>> dimension_band(4), dimension_band(30), dimension_band(200)
    ('up to 10', '11 to 30', 'above 30')
    """
    return "up to 10" if d <= 10 else ("11 to 30" if d <= 30 else "above 30")


def has_rare_class(data: Any) -> bool:
    """Say whether a sample has a class rarer than any in the study; recipes did worse than single estimators on such data.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> X = np.arange(40.0)[:, None]
    >>> [has_rare_class(as_data(X, np.arange(40) >= few)) for few in (36, 37)]
    [False, True]
    """
    return data.classes is not None and _rarest_share(data) < RARE_CLASS


def _rarest_share(data: Any) -> float:
    return float(np.bincount(data.codes, minlength=len(data.classes)).min() / data.n)


def share_of_equal_rows(data: Any) -> float:
    """Return the share of rows that repeat another one, features and class; zero if the features are no plain numbers.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> share_of_equal_rows(as_data(np.arange(40.0)[:, None] // 2, np.arange(40) % 4 > 1))
    0.5
    """
    if not isinstance(data.X, np.ndarray) or data.X.dtype.kind not in "fiub":
        return 0.0
    rows = np.column_stack([data.X, data.codes])
    content, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    distinct = {content[k : k + width] for k in range(0, len(content), width)}
    return (len(rows) - len(distinct)) / len(rows)


def unlike_the_study(data: Any) -> str:
    """Say in which way a sample differs from those the expected RMS was measured on; empty if it does not.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 37
    >>> unlike_the_study(as_data(X, y))
    'the rarest class has 7.5% of the rows (10% or more in the study)'
    >>> unlike_the_study(as_data(X // 2, np.arange(40) % 4 > 1))
    '50% of the rows repeat others (less than 10% in the study)'
    """
    for what, given in (
        ("come in groups", data.groups),
        ("have weights", data.weights),
        ("are ordered in time", data.order),
    ):
        if given is not None:
            return f"the rows {what} (independent rows of equal weight in the study)"
    if has_rare_class(data):
        return f"the rarest class has {100 * _rarest_share(data):.3g}% of the rows ({100 * RARE_CLASS:g}% or more in the study)"
    if (equal := share_of_equal_rows(data)) >= MANY_EQUAL:
        return f"{100 * equal:.3g}% of the rows repeat others (less than {100 * MANY_EQUAL:g}% in the study)"
    return ""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What the interval of a recipe depends on beside its value: the sample, and how its model is trained.

    Parameters
    ----------
    n_units : int
        Independent units.
    fewest : int
        Rows of the rarest class.
    n_classes : int
        Number of classes.
    resampling : str
        Why the model sets rows aside inside its fit; empty if it does not.

    Examples
    --------
    >>> from unseen.datasets import load
    >>> Situation.of(load("iris")).outside_the_study()
    ''
    """

    n_units: int
    fewest: int
    n_classes: int = 2
    resampling: str = ""

    @classmethod
    def of(cls, data: Any, resampling: str = "") -> Self:
        """Return the situation of a sample; `resampling` as `unseen.models.inner_resampling` finds it."""
        n_classes = len(data.classes)
        fewest = int(np.bincount(data.codes, minlength=n_classes).min())
        return cls(n_units=data.n_units, fewest=fewest, n_classes=n_classes, resampling=resampling)

    def outside_the_study(self) -> str:
        """Say why the interval was not measured for such a sample; empty if it was."""
        least, most = STUDIED_UNITS
        if self.fewest < STUDIED_FEWEST:
            return f"a class has {self.fewest} rows ({STUDIED_FEWEST} or more in the study)"
        if not least <= self.n_units <= most:
            return f"{self.n_units:,} units ({least} to {most} in the study)"
        return self.resampling
