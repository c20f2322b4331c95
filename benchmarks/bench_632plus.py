"""The .632+ bootstrap against mlxtend: its cost, and its value where nothing can be learned."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import unseen
from benchmarks.timing import Agreement, largest_difference, row, same_numbers, time_of

SAMPLES = 20  # bootstrap samples of mlxtend on which the out-of-bag errors are compared one by one


def _cost(point632) -> dict:
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0)
    design = unseen.designs.Bootstrap(200)
    own = time_of(lambda: unseen.estimate(tree, X, y, method="632plus", design=design, random_state=0), 3)
    peer = time_of(lambda: 1 - point632(tree, X, y, n_splits=200, method=".632+", random_seed=0), 1)
    return row(
        ".632+, B = 200, tree, breast-cancer",
        own,
        peer,
        against="mlxtend",
        same=same_bootstrap(tree, X, y, own.result.value),
        target="at least 15 times less",
        met=peer.cpu >= 15 * own.cpu,
        remark="mlxtend's no-information rate visits n^2 pairs in every replicate; ours needs class counts, once; "
        f"errors {own.result.value:.4f} and {peer.result.mean():.4f}, as mlxtend averages over samples and bounds nothing",
    )


def same_bootstrap(model, X, y, value: float) -> Agreement:
    """Return the agreement of errors on mlxtend's bootstrap samples, and of the .632+ error of 200 with the paper's formula.

    mlxtend's own .632+ is another number: a mean over samples, with training errors of the fits to them and no bounds.
    """
    from mlxtend.evaluate import BootstrapOutOfBag, bootstrap_point632_score

    samples = list(BootstrapOutOfBag(SAMPLES, random_seed=0).split(X))
    out = 1 - bootstrap_point632_score(model, X, y, n_splits=SAMPLES, method="oob", random_seed=0)
    own = unseen.run(model, X, y, cv=samples, random_state=0).losses().split_means()
    paper = largest_difference([value], [_formula(model, X, y, 200, 0)], 1e-12, ".632+ and the paper's formula")
    return same_numbers(own, out, "out-of-bag errors on mlxtend's samples").also(paper)


def _formula(model, X, y, samples: int, seed: int) -> float:
    """Return the .632+ error of scikit-learn's fits on our samples (Efron & Tibshirani, 1997, eq. 29 to 32)."""
    plan = unseen.run(model, X, y, design=unseen.designs.Bootstrap(samples), random_state=seed).plan
    wrong, times = np.zeros(len(y)), np.zeros(len(y))
    for s in plan:
        wrong[s.test] += clone(model).fit(X[s.train], y[s.train]).predict(X[s.test]) != y[s.test]
        times[s.test] += 1
    assigned = clone(model).fit(X, y).predict(X)
    training, left_out = float(np.mean(assigned != y)), float(np.mean((wrong / np.maximum(times, 1))[times > 0]))
    classes = np.unique(y)
    chance = sum(np.mean(y == c) * (1 - np.mean(assigned == c)) for c in classes)
    capped = min(left_out, chance)
    overfit = (capped - training) / (chance - training) if capped > training and chance > training else 0.0
    weight = 0.632 / (1 - 0.368 * overfit)
    return (1 - weight) * training + weight * capped


def _no_signal(point632) -> dict:
    """Return the mean .632+ error of 1-NN on labels that do not depend on X: the truth is 0.5."""
    model, sets = KNeighborsClassifier(1), []
    for k in range(20):
        rng = np.random.default_rng(k)
        sets.append((rng.standard_normal((50, 5)), rng.permutation(np.repeat([0, 1], 25))))
    own = time_of(
        lambda: [unseen.estimate(model, *s, method="632plus", random_state=k).value for k, s in enumerate(sets)], 1
    )
    peer = time_of(
        lambda: [
            1 - point632(model, *s, n_splits=100, method=".632+", random_seed=k).mean() for k, s in enumerate(sets)
        ],
        1,
    )
    paper = [_formula(model, *s, 100, k) for k, s in enumerate(sets)]
    return row(
        ".632+ of 1-NN, 20 samples without signal (truth 0.5)",
        own,
        peer,
        against="mlxtend",
        other=f"mean .632+ error {np.mean(own.result):.3f}, mlxtend {np.mean(peer.result):.3f}",
        same=largest_difference(own.result, paper, 1e-12, "the paper's formula on scikit-learn's fits"),
        target="at most 0.5 in every sample",
        met=max(own.result) <= 0.5,
        remark="mlxtend neither restricts R to [0, 1] nor caps the bootstrap error at the no-information rate",
    )


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    from mlxtend.evaluate import bootstrap_point632_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_cost(bootstrap_point632_score), _no_signal(bootstrap_point632_score)]
