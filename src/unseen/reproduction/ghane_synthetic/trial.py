"""One replication of the synthetic experiment: train a rule, estimate its error eight ways, and compute the true error."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.plan import Plan, Split
from unseen.core.registry import build, find
from unseen.core.rng import stream, task_seed
from unseen.datasets import GaussianBlocks
from unseen.designs import Bootstrap, KFold, Splits
from unseen.engine.run import execute
from unseen.engine.threads import limited_threads
from unseen.models import FittedEstimator

__all__ = ["N_TEST", "Rule", "replications", "rule_of"]

# table 2.2 was made with the plain average over points for these rules, with equal class weights for the others
PLAIN_AVERAGE = ("5nn", "7nn")
N_TEST = 5000  # points of the published test set
N_POINTS = 100  # points of each kernel, as published


def rule_of(name: str) -> Any:
    """Return the classifier a rule's name stands for, with the settings that reproduce table 2.1."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    if name == "linear-svm":
        return LinearSVC(C=1)
    if name == "rbf-svm":
        return SVC(C=1, gamma="scale")
    if name == "cart":
        return DecisionTreeClassifier(min_samples_split=5)
    return KNeighborsClassifier(int(name.removesuffix("nn")))


@dataclass(frozen=True)
class Rule:
    """A rule as the engine takes it; nearest neighbours answer for all splits from one table of distances."""

    name: str

    def fit(self, data: Data, seed: int) -> FittedEstimator:
        """Return the trained classifier."""
        classifier = rule_of(self.name)
        if "random_state" in classifier.get_params():
            classifier.set_params(random_state=seed)
        return FittedEstimator(classifier.fit(data.X, data.y), data.classes)

    def fit_many(self, data: Data, splits: Sequence[Split], seeds: Sequence[int]) -> list[tuple[Array, None]] | None:
        """Return each split's labels for all rows; the numbers of neighbours are odd, so two classes cannot tie."""
        if not self.name.endswith("nn"):
            return None
        k = int(self.name.removesuffix("nn"))
        distances = ((data.X[:, None, :] - data.X[None, :, :]) ** 2).sum(axis=2)
        answers = []
        for split in splits:
            order = np.argsort(distances[:, split.train], axis=1, kind="stable")[:, :k]
            second = data.codes[split.train][order].mean(axis=1) > 0.5
            answers.append((np.asarray(data.classes)[second.astype(np.int64)], None))
        return answers


def replications(rule: str, n: int, numbers: range, seed: int, n_bootstrap: int) -> list[dict[str, float]]:
    """Return one dict per replication: true error, every estimate, and the milliseconds each estimate took."""
    import sklearn

    quick = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with limited_threads(1), quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_replication(rule, n, task_seed(seed, rule, n, k), n_bootstrap) for k in numbers]


def _replication(rule: str, n: int, seed: int, n_bootstrap: int) -> dict[str, float]:
    population = GaussianBlocks()
    sample = population.draw(n, stream(seed, "sample"))
    data = sample.take(np.argsort(sample.y, kind="stable"))
    model = Rule(rule)
    fitted = model.fit(data, task_seed(seed, "fit"))
    out = {"true-error": population.true_error(fitted.predict, stream(seed, "test"), N_TEST)}
    for column, estimate in _direct(rule):
        start = time.perf_counter()
        out[column] = estimate(fitted, data, rng=stream(seed, column), level=0.95).value
        out[f"ms {column}"] = 1000 * (time.perf_counter() - start)
    for column, plan, method in _plans(data, seed, n_bootstrap):
        start = time.perf_counter()
        table = execute(model, data, plan, seed=seed, n_jobs=1)
        out[column] = method(table.losses("zero-one")).value
        out[f"ms {column}"] = 1000 * (time.perf_counter() - start)
    return out


def _direct(rule: str) -> Iterator[tuple[str, Any]]:
    average = "points" if rule in PLAIN_AVERAGE else "class"
    points = {"n_mc": N_POINTS}
    yield "resub", build("resub", "resubstitution")
    yield "bolster", build("bolster", "resubstitution", options={"average": average, **points})
    yield "semi-bolster", build("semi-bolster", "resubstitution", options={"average": "class", **points})
    yield "3nnpp", build("posterior", "resubstitution", options={"k": 3})
    yield "bolster-3nnpp", build("bolster-posterior", "resubstitution", options={"k": 3, **points})


def _plans(data: Data, seed: int, n_bootstrap: int) -> Iterator[tuple[str, Plan, Any]]:
    folds = np.array_split(np.arange(data.n), 10)
    pairs = [(np.setdiff1d(np.arange(data.n), fold), fold) for fold in folds]
    kfold = find("kfold", "estimators")()
    yield "cv10", Splits(pairs, kind="kfold").plan(data, stream(seed, "sorted")), kfold
    yield "cv10-shuffled", KFold(10).plan(data, stream(seed, "shuffled")), kfold
    bootstrap = Bootstrap(n_bootstrap).plan(data, stream(seed, "bootstrap"))
    yield "bootstrap-zero", bootstrap, find("bootstrap-zero", "estimators")()
