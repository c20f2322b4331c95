"""Small samples from real sets and populations, with a true error: what estimators are judged on.

Features of a real set are standardised over the whole set, which is then the population: n rows are drawn from it without
replacement, the rest gives the true error of the trained rule. Of expression sets the 200 features with the largest variance
are kept (no label is looked at).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.datasets.conversion import as_data
from unseen.datasets.populations import population
from unseen.models.sklearn import FittedEstimator

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
LARGEST_TEST = 2000
KEPT_FEATURES = 200

# sets that share rows or a source are one family: weights are never fitted on one of them and judged on another
FAMILIES: dict[str, tuple[str, ...]] = {
    "abalone": ("fd121/abalone",),
    "australian": ("uci/australian",),
    "bank": ("fd121/bank",),
    "breast-cancer": ("fd121/breast-cancer",),
    "wdbc": ("fd121/breast-cancer-wisc-diag",),
    "chess": ("fd121/chess-krvkp",),
    "contrac": ("fd121/contrac",),
    "cylinder-bands": ("fd121/cylinder-bands",),
    "energy": ("fd121/energy-y1",),
    "german-credit": ("fd121/statlog-german-credit",),
    "haberman": ("fd121/haberman-survival",),
    "heart": ("fd121/heart-hungarian", "fd121/statlog-heart"),
    "hill-valley": ("uci/hill-valley-noise",),
    "ilpd": ("fd121/ilpd-indian-liver",),
    "ionosphere": ("uci/ionosphere",),
    "magic": ("fd121/magic",),
    "musk": ("fd121/musk-1",),
    "oocytes": ("fd121/oocytes_merluccius_nucleus_4d", "fd121/oocytes_trisopterus_nucleus_2f"),
    "pima": ("uci/pima",),
    "ringnorm": ("fd121/ringnorm",),
    "seeds": ("fd121/seeds",),
    "sonar": ("uci/sonar",),
    "spambase": ("fd121/spambase",),
    "spectf": ("uci/spectf",),
    "splice": ("fd121/molec-biol-splice",),
    "tic-tac-toe": ("fd121/tic-tac-toe",),
    "twonorm": ("fd121/twonorm",),
    "vehicle": ("uci/vehicle",),
    "vertebral": ("fd121/vertebral-column-2clases",),
    "waveform": ("fd121/waveform", "fd121/waveform-noise"),
    "alon": ("genomics/alon",),
    "golub": ("genomics/golub",),
    "gordon": ("genomics/gordon",),
    "gravier": ("genomics/gravier",),
    "nki": ("genomics/nki272", "genomics/nki70"),
    "shipp": ("genomics/shipp",),
    "singh": ("genomics/singh",),
    "gaussian-blocks": ("population/gaussian-blocks",),
    "sparse-logistic": ("population/sparse-logistic",),
}
FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names}
RULES = ("linear-svm", "rbf-svm", "cart", "3nn", "gaussian-nb")
FURTHER_RULES = ("forest", "boosting", "logistic")  # of the study of the interval, which people use most


def rule(name: str) -> Any:
    """Return an unfitted classifier."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    return {
        "linear-svm": lambda: LinearSVC(C=1),
        "rbf-svm": lambda: SVC(C=1, gamma="scale"),
        "cart": lambda: DecisionTreeClassifier(min_samples_split=5),
        "3nn": lambda: KNeighborsClassifier(3),
        "gaussian-nb": lambda: GaussianNB(),
        "forest": lambda: RandomForestClassifier(50),
        "boosting": lambda: GradientBoostingClassifier(n_estimators=50),
        "logistic": lambda: LogisticRegression(),
    }[name]()


@dataclass(frozen=True)
class Drawn:
    """A sample and what its true error is measured on."""

    sample: Data
    X_test: Any
    y_test: Any


@cache
def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised features and labels of a shared set."""
    import pandas as pd

    frame = pd.read_csv(SHARED / f"{name}.csv.gz")
    X, y = frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy().astype(int)
    X = X[:, X.std(axis=0) > 0]
    if name.startswith("genomics/") and X.shape[1] > KEPT_FEATURES:
        X = X[:, np.sort(np.argsort(-X.var(axis=0), kind="stable")[:KEPT_FEATURES])]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def draw(name: str, n: int, rng: np.random.Generator) -> Drawn | None:
    """Return a simple random sample with three rows of each class at least, or None where too few rows would be left."""
    if name.startswith("population/"):
        source = population(name.split("/")[1])
        sample, fresh = source.draw(n, rng), source.draw(5000, rng)
        return Drawn(sample, fresh.X, fresh.y)
    X, y = table(name)
    if len(y) < 1.5 * n:
        return None
    classes = np.unique(y)
    for _ in range(1000):
        order = rng.permutation(len(y))
        chosen = order[:n]
        if min(np.sum(y[chosen] == c) for c in classes) >= 3:
            rest = order[n : n + LARGEST_TEST]
            return Drawn(as_data(X[chosen], y[chosen], task="classification"), X[rest], y[rest])
    return None


@dataclass(frozen=True)
class Rule:
    """A rule as the engine takes it; nearest neighbours and naive Bayes answer for all splits at once."""

    name: str

    def fit(self, data: Data, seed: int) -> FittedEstimator:
        """Return the trained classifier."""
        made = rule(self.name)
        if "random_state" in made.__dict__:
            made.random_state = seed
        return FittedEstimator(made.fit(data.X, data.y), data.classes)

    def fit_many(self, data: Data, splits: Sequence[Any], seeds: Sequence[int]) -> list[tuple[Any, None]] | None:
        """Return each split's labels for all rows, or None where the rule has no quick way."""
        if self.name == "3nn":
            distance = ((data.X[:, None, :] - data.X[None, :, :]) ** 2).sum(axis=2)
            return [(data.classes[_votes(distance[:, s.train], data.codes[s.train])], None) for s in splits]
        if self.name == "gaussian-nb":
            return [(data.classes[_bayes(data.X, s.train, data.codes)], None) for s in splits]
        return None


def _votes(distance: np.ndarray, codes: np.ndarray) -> np.ndarray:
    near = codes[np.argsort(distance, axis=1, kind="stable")[:, :3]]
    return np.stack([(near == c).sum(axis=1) for c in range(codes.max() + 1)], axis=1).argmax(axis=1)


def _bayes(X: np.ndarray, train: np.ndarray, codes: np.ndarray) -> np.ndarray:
    smoothing = 1e-9 * X[train].var(axis=0).max()
    scores = []
    for c in range(codes.max() + 1):
        own = X[train[codes[train] == c]]
        if not len(own):
            scores.append(np.full(len(X), -np.inf))
            continue
        mean, var = own.mean(axis=0), own.var(axis=0) + smoothing
        fit = -0.5 * (np.log(2 * np.pi * var).sum() + ((X - mean) ** 2 / var).sum(axis=1))
        scores.append(np.log(len(own) / len(train)) + fit)
    return np.stack(scores, axis=1).argmax(axis=1)
