"""The .632+ bootstrap against mlxtend: its cost, and its value where nothing can be learned."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import unseen
from benchmarks.timing import cpu_seconds, row


def _cost(point632) -> dict:
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0)
    design = unseen.designs.Bootstrap(200)
    own = cpu_seconds(lambda: unseen.estimate(tree, X, y, method="632plus", design=design, random_state=0), 3)
    peer = cpu_seconds(lambda: point632(tree, X, y, n_splits=200, method=".632+", random_seed=0), 1)
    reason = "mlxtend's no-information rate visits n^2 pairs in every replicate; ours needs class counts, once"
    return row(
        ".632+, B = 200, tree, breast-cancer", own, peer, "mlxtend", "at least 15 times less", peer >= 15 * own, reason
    )


def _no_signal(point632) -> dict:
    """Return the mean .632+ error of 1-NN on labels that do not depend on X: the truth is 0.5."""
    values, others = [], []
    for k in range(20):
        rng = np.random.default_rng(k)
        X, y = rng.standard_normal((50, 5)), rng.permutation(np.repeat([0, 1], 25))
        model = KNeighborsClassifier(1)
        values.append(unseen.estimate(model, X, y, method="632plus", random_state=k).value)
        others.append(1 - point632(model, X, y, n_splits=100, method=".632+", random_seed=k).mean())
    own, peer = float(np.mean(values)), float(np.mean(others))
    return {
        "benchmark": ".632+ of 1-NN, no signal (truth 0.5): mean value, not seconds",
        "ours (s)": own,
        "peer (s)": peer,
        "peer": "mlxtend",
        "peer / ours": peer / own,
        "target": "at most 0.5",
        "met": "yes" if max(values) <= 0.5 else "NO",
        "remark": "mlxtend neither restricts R to [0, 1] nor caps the bootstrap error at the no-information rate",
    }


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    from mlxtend.evaluate import bootstrap_point632_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_cost(bootstrap_point632_score), _no_signal(bootstrap_point632_score)]
