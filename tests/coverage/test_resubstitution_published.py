"""Bias of the family against Ghane (2022), table 2.2, a few cells; the whole table is `unseen reproduce ghane-synthetic`."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from unseen import resubstitution as R
from unseen.datasets.populations import GaussianBlocks

pytestmark = pytest.mark.slow

RULES = {
    "linear-svm": (lambda: LinearSVC(C=1), "class"),
    "rbf-svm": (lambda: SVC(C=1, gamma="scale"), "class"),
    "cart": (lambda: DecisionTreeClassifier(min_samples_split=5), "class"),
    "3nn": (lambda: KNeighborsClassifier(3), "class"),
    "7nn": (lambda: KNeighborsClassifier(7), "points"),
}
CELLS = [("linear-svm", 40), ("linear-svm", 100), ("rbf-svm", 60), ("cart", 40), ("3nn", 60), ("7nn", 40)]
PUBLISHED_RUNS, RUNS = 200, 150


def published(shared):
    with open(shared / "published" / "ghane_synthetic.csv", newline="") as file:
        return {(r["table"], r["rule"], int(r["n"]), r["estimator"]): r["value"] for r in csv.DictReader(file)}


def deviations(rule, n):
    """Estimated minus true error of each estimator, over independent samples."""
    make, average = RULES[rule]
    population, out = GaussianBlocks(), []
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, n])
        X, y = population.draw(n, rng).xy
        model = make().set_params(**({"random_state": seed} if rule == "cart" else {})).fit(X, y)
        true = population.true_error(model.predict, rng)
        estimates = [
            R.resub(model, X, y),
            R.bolster(model, X, y, average=average, random_state=seed),
            R.semi_bolster(model, X, y, average="class", random_state=seed),
            R.posterior(model, X, y),
            R.bolster_posterior(model, X, y, random_state=seed),
        ]
        out.append([e.value - true for e in estimates])
    return np.array(out)


@pytest.mark.sample
def test_bias_of_table_2_2(shared):
    table = published(shared)
    names = ("resub", "bolster", "semi-bolster", "3nnpp", "bolster-3nnpp")
    z = []
    for rule, n in CELLS:
        found = deviations(rule, n)
        for k, name in enumerate(names):
            expected = float(table["2.2 bias", rule, n, name])
            spread = found[:, k].var(ddof=1)
            # both runs have Monte-Carlo errors, and the printed value is rounded to three places
            error = np.sqrt(spread / RUNS + spread / PUBLISHED_RUNS + 0.001**2 / 12)
            z.append((rule, n, name, (found[:, k].mean() - expected) / error))
    values = np.array([v[-1] for v in z])
    assert np.abs(values).max() < 4, sorted(z, key=lambda v: -abs(v[-1]))[:4]
    assert np.sqrt((values**2).mean()) < 1.8, z
