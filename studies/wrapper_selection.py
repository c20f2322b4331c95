"""Wrapper feature selection: ties, time and the error reached, by the estimator that scores the candidates.

Forward selection of 4 of 10 features on the Gaussian population (6 informative), n = 40; the 10-fold column is the score most
people use. `python -m studies.wrapper_selection` writes docs/tables/wrapper.md.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

from studies.small_samples import rule
from unseen.core.rng import stream
from unseen.datasets.populations import GaussianBlocks
from unseen.resubstitution import scorer

TABLE = Path(__file__).parents[1] / "docs" / "tables" / "wrapper.md"
N, KEPT, REPLICATIONS = 40, 4, 25
DIRECT = ("resub", "bolster", "semi-bolster", "posterior", "bolster-posterior")
RULES = ("linear-svm", "3nn")
Score = Callable[[str, Any, Any], float]


def by_folds(name: str, X: Any, y: Any) -> float:
    """Return the accuracy of shuffled 10-fold cross-validation, the same folds for every candidate."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    return float(np.mean(cross_val_predict(rule(name), X, y, cv=folds) == y))


def by(method: str) -> Score:
    """Return the score by a method without retraining."""
    score = scorer(method)
    return lambda name, X, y: score(rule(name).fit(X, y), X, y)


def select(name: str, X: Any, y: Any, score: Score) -> tuple[list[int], int]:
    """Return the features kept by forward selection, and the steps at which the best candidate was not alone."""
    kept: list[int] = []
    ties = 0
    while len(kept) < KEPT:
        rest = [k for k in range(X.shape[1]) if k not in kept]
        values = np.array([score(name, X[:, [*kept, k]], y) for k in rest])
        ties += int(np.sum(values >= values.max() - 1e-12) > 1)
        kept.append(rest[int(np.argmax(values))])
    return kept, ties


def study() -> list[list[str]]:
    """Return one row per rule and score."""
    population, scores = GaussianBlocks(), {**{m: by(m) for m in DIRECT}, "10-fold": by_folds}
    rows = []
    for name in RULES:
        found: dict[str, list[tuple[float, float, float, float]]] = {m: [] for m in scores}
        for k in range(REPLICATIONS):
            sample, fresh = population.draw(N, stream(7, name, k)), population.draw(5000, stream(7, name, k, "test"))
            for method, score in scores.items():
                start = time.process_time()
                kept, ties = select(name, sample.X, sample.y, score)
                seconds = time.process_time() - start
                model = rule(name).fit(sample.X[:, kept], sample.y)
                error = np.mean(model.predict(fresh.X[:, kept]) != fresh.y)
                found[method].append((ties / KEPT, seconds, float(error), float(np.sum(np.array(kept) < 6))))
        slow = np.mean([row[1] for row in found["10-fold"]])
        for method, values in found.items():
            ties, seconds, error, informative = np.mean(values, axis=0)
            spread = np.std([v[2] for v in values], ddof=1) / np.sqrt(len(values))
            rows.append(
                [
                    name,
                    method,
                    f"{100 * ties:.0f}%",
                    f"{1000 * seconds:.0f}",
                    f"{slow / seconds:.1f}",
                    f"{error:.3f} ({spread:.3f})",
                    f"{informative:.2f}",
                ]
            )
    return rows


def main() -> None:
    """Run and write the table."""
    quick = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with threadpool_limits(1), quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = study()
    head = [
        "rule",
        "score",
        "steps with a tie",
        "CPU ms",
        "times cheaper than 10-fold",
        "true error reached",
        "informative of 4",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "---:|" * (len(head) - 2)]
    text = "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
