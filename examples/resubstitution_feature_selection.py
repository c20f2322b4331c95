"""Forward selection of features scored by bolstering and by 10-fold cross-validation: time, ties, and the true error.

A score that ties between candidates leaves the choice to their order. Errors counted on n test points take n + 1 values;
a bolstered error is a sum of real numbers and hardly ever ties.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_score

from unseen import resubstitution
from unseen.datasets.populations import GaussianBlocks

FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def bolstered(X: np.ndarray, y: np.ndarray) -> float:
    return resubstitution.bolster(LinearDiscriminantAnalysis().fit(X, y), X, y).value


def cross_validated(X: np.ndarray, y: np.ndarray) -> float:
    return 1 - float(cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=FOLDS).mean())


def forward(
    score: Callable[[np.ndarray, np.ndarray], float], X: np.ndarray, y: np.ndarray, size: int
) -> tuple[list[int], int]:
    """Return the features chosen one by one, and in how many rounds the best score was shared."""
    chosen: list[int] = []
    ties = 0
    for _ in range(size):
        rest = [k for k in range(X.shape[1]) if k not in chosen]
        scores = np.array([score(X[:, [*chosen, k]], y) for k in rest])
        ties += int(np.isclose(scores, scores.min(), atol=1e-12).sum() > 1)
        chosen.append(rest[int(scores.argmin())])
    return chosen, ties


def main(repeats: int = 6, n: int = 40, size: int = 4) -> None:
    population = GaussianBlocks(n_informative=6, n_noise=14, delta=0.5)
    print(f"{'score':16} {'seconds':>8} {'tied rounds':>12} {'informative':>12} {'true error':>11}")
    for name, score in (("bolster", bolstered), ("10-fold CV", cross_validated)):
        seconds, ties, hits, errors = 0.0, 0, 0, []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            X, y = population.draw(n, rng).xy
            start = time.process_time()
            chosen, tied = forward(score, X, y, size)
            seconds += time.process_time() - start
            ties += tied
            hits += sum(k < population.n_informative for k in chosen)
            model = LinearDiscriminantAnalysis().fit(X[:, chosen], y)
            fresh, truth = population.draw(5000, rng).xy
            errors.append(np.mean(model.predict(fresh[:, chosen]) != truth))
        rounds = repeats * size
        print(f"{name:16} {seconds:8.2f} {ties:5d} of {rounds:3d} {hits:5d} of {rounds:3d} {np.mean(errors):11.3f}")


if __name__ == "__main__":
    main()
