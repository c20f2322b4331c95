"""Coverage and width of the intervals, and size of the tests, on populations where the truth is known.

Run as `python -m benchmarks.study_intervals [--datasets N] [--size-datasets N] [--parts size,coverage]`: about 15 CPU
minutes on one core with the numbers of the documentation, which are written into docs/comparing.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.paired import from_estimate
from unseen.core.registry import build
from unseen.datasets.populations import SparseLogistic
from unseen.engine.run import execute
from unseen.verbs.prepare import model_of, plan_of

HERE = Path(__file__).parent
RESULTS = HERE / "study_intervals.json"
PAGE = HERE.parent / "docs" / "comparing.md"
N, N_TRUTH = 100, 10_000
METHODS = {
    "corrected-t": None,
    "conservative-z": None,
    "nested-cv, 3 x 5": unseen.designs.Nested(5, 3),
    "nested-cv, 10 x 5": unseen.designs.Nested(5, 10),
    "cv-wald": None,
}
NULL_TESTS = {
    "corrected-t, 25 x 70/30 (the default)": ("corrected-t", None),
    "corrected-t, 25 x 90/10": ("corrected-t", unseen.designs.MonteCarlo(0.1, 25)),
    "resampled-t, 25 x 90/10": ("resampled-t", unseen.designs.MonteCarlo(0.1, 25)),
    "corrected-t, 30 x 70/30": ("corrected-t", unseen.designs.MonteCarlo(0.3, 30)),
    "resampled-t, 30 x 70/30": ("resampled-t", unseen.designs.MonteCarlo(0.3, 30)),
    "cv-wald": ("cv-wald", None),
    "5x2cv": ("5x2cv", None),
    "combined-f": ("combined-f", None),
    "mcnemar": ("mcnemar", None),
    "permutation": ("permutation", None),
}


class Linear:
    """Shared by the linear rules: the sign of an affine score."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (self.weights[0] + X @ self.weights[1:] > 0).astype(int)


class Logistic(Linear):
    """Logistic regression with scikit-learn's default penalty, by Newton's method."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Logistic:
        Z = np.column_stack([np.ones(len(X)), X])
        penalty = np.diag([0.0] + [1.0] * X.shape[1])
        w = np.zeros(Z.shape[1])
        for _ in range(30):
            p = 1 / (1 + np.exp(-Z @ w))
            step = np.linalg.solve((Z * (p * (1 - p))[:, None]).T @ Z + penalty, Z.T @ (p - y) + penalty @ w)
            w = w - step
            if np.abs(step).max() < 1e-10:
                break
        self.weights = w
        return self


class Ridge(Linear):
    """Ridge regression on -1 and +1, penalty 1, as scikit-learn's RidgeClassifier."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Ridge:
        centre, target = X.mean(axis=0), 2.0 * y - 1
        Xc = X - centre
        slope = np.linalg.solve(Xc.T @ Xc + np.eye(X.shape[1]), Xc.T @ (target - target.mean()))
        self.weights = np.concatenate([[target.mean() - centre @ slope], slope])
        return self


class Neighbours:
    """Majority of the five nearest neighbours."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Neighbours:
        self.X, self.y = X, y
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        gaps = np.square(self.X).sum(axis=1) - 2 * X @ self.X.T
        return (self.y[np.argpartition(gaps, 4, axis=1)[:, :5]].sum(axis=1) > 2).astype(int)


LEARNERS = {"tree": DecisionTreeClassifier, "logistic": Logistic, "kNN": Neighbours, "ridge": Ridge}


class OnColumns:
    """A depth-3 tree that sees some columns only."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = list(columns)

    def fit(self, X: np.ndarray, y: np.ndarray) -> OnColumns:
        self.tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:, self.columns], y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.tree.predict(X[:, self.columns])


def risk(predict: Any, X: np.ndarray, chance: np.ndarray) -> float:
    """Return the error rate over fixed points, the label integrated out."""
    return float(np.mean(np.where(predict(X) == 1, 1 - chance, chance)))


def coverage(learner: str, n_datasets: int, seed: int = 0, methods: dict[str, Any] = METHODS) -> dict[str, Any]:
    """Return, by method, coverage of the expected risk at its own training size and of this model's risk, and widths."""
    population, rng = SparseLogistic(), np.random.default_rng(seed)
    X = rng.standard_normal((N_TRUTH, population.n_features))
    chance = 1 / (1 + np.exp(-population.weight * X[:, : population.n_informative].sum(axis=1)))
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    risks: dict[int, list[float]] = {90: [], N: []}
    for k in range(n_datasets):
        data = population.draw(N, np.random.default_rng([seed, k]))
        for size, values in risks.items():
            values.append(risk(LEARNERS[learner]().fit(data.X[:size], data.y[:size]).predict, X, chance))
        for name, design in methods.items():
            method = build(name.split(",")[0], "estimators")
            plan = plan_of(design or method.default_design(data), data, k)
            table = execute(model_of(LEARNERS[learner](), data), data, plan, seed=k, train=False).losses()
            low, high = method(table).interval
            found[name].append((low, high))
    out = {}
    for name, intervals in found.items():
        low, high = np.array(intervals).T
        own, model = np.mean(risks[N if name.startswith("nested-cv") else 90]), np.array(risks[N])
        out[name] = {
            "expected": float(np.mean((low <= own) & (own <= high))),
            "risk": float(np.mean((low <= model) & (model <= high))),
            "width": float(np.median(high - low)),
        }
    return {"n_datasets": n_datasets, "expected_risk": float(np.mean(risks[90])), "methods": out}


def sizes(tests: list[str], n_datasets: int, seed: int = 0) -> dict[str, Any]:
    """Return how often each test rejects at .05 and .10 where two trees see exchangeable halves of the features."""
    population = SparseLogistic(n_features=10, n_informative=4)
    halves = (OnColumns((0, 1, 4, 5, 6)), OnColumns((2, 3, 7, 8, 9)))
    p: dict[str, list[float]] = {name: [] for name in tests}
    for k in range(n_datasets):
        data = population.draw(N, np.random.default_rng([seed, 1, k]))
        tables: dict[str, Any] = {}
        for name in tests:
            test_id, design = NULL_TESTS[name]
            test = build(test_id, "comparisons", "estimators")
            design = design or getattr(test, "difference_design", test.default_design)(data)
            if repr(design) not in tables:
                plan = plan_of(design, data, k)
                tables[repr(design)] = [
                    execute(model_of(m, data), data, plan, seed=k, train=False).losses() for m in halves
                ]
            a, b = tables[repr(design)]
            made = from_estimate(test, a.minus(b), 0.95) if hasattr(test, "linear") else test(a, b)
            p[name].append(1.0 if made.p is None or np.isnan(made.p) else made.p)
    rates = {name: {str(a): float(np.mean(np.array(v) <= a)) for a in (0.05, 0.10)} for name, v in p.items()}
    return {"n_datasets": n_datasets, "tests": rates}


def tables_of(results: dict[str, Any]) -> str:
    """Return both tables as Markdown."""
    lines = ["| learner | method | covers the expected risk | covers this model's risk | median width | data sets |"]
    lines.append("|---|---|---|---|---|---|")
    for learner, r in results["coverage"].items():
        for name, m in r["methods"].items():
            cells = [
                learner,
                name,
                *(f"{m[k]:.3f}" for k in ("expected", "risk", "width")),
                m.get("n", r["n_datasets"]),
            ]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| test | rejects at .05 | rejects at .10 | data sets |", "|---|---|---|---|"]
    for part in results["size"]:
        for name, rates in part["tests"].items():
            lines.append(f"| {name} | {rates['0.05']:.3f} | {rates['0.1']:.3f} | {part['n_datasets']} |")
    return "\n".join(lines)


def write(results: dict[str, Any], page: Path = PAGE) -> None:
    """Put the tables between the markers of the documentation page."""
    text = page.read_text()
    start, end = "<!-- study_intervals: begin -->", "<!-- study_intervals: end -->"
    head, rest = text.split(start)
    page.write_text(f"{head}{start}\n{tables_of(results)}\n{end}{rest.split(end)[1]}")


def main() -> None:
    """Run what is asked for, keep every finished part, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--size-datasets", type=int, default=2000)
    parser.add_argument("--other-datasets", type=int, default=400)
    parser.add_argument("--parts", default="size,coverage", help="size, coverage, both, or none: only write the page")
    parser.add_argument("--learners", default=",".join(LEARNERS))
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"coverage": {}, "size": []}
    if "size" in options.parts:
        long = list(NULL_TESTS)[:1]
        others = [name for name in NULL_TESTS if name not in long]
        results["size"] = [sizes(long, options.size_datasets), sizes(others, options.other_datasets)]
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    if "coverage" in options.parts:
        for learner in options.learners.split(","):
            results["coverage"][learner] = coverage(learner, options.datasets)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(tables_of(results))
    if PAGE.exists():
        write(results)


if __name__ == "__main__":
    main()
