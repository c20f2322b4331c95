"""Coverage and width of the intervals, and size of the tests, on populations where the truth is known.

Run as `python -m studies.study_intervals [--datasets N] [--size-datasets N] [--parts size,coverage] [--runs FILE] [--jobs N]`: about
four hours on one core with the numbers of the documentation, which are written into docs/validation/intervals.md. Every data
set's intervals are appended to the file of runs, and a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed

import unseen
from studies.study_learners import LEARNERS, Logistic, Neighbours, OnColumns, Ridge
from unseen.core.losses import PredictionTable
from unseen.core.plan import Plan
from unseen.core.registry import build
from unseen.datasets.populations import SparseLogistic
from unseen.engine.run import execute
from unseen.request.prepare import model_of, plan_of
from unseen.significance.paired import from_estimate

HERE = Path(__file__).parent
__all__ = ["LEARNERS", "METHODS", "NULL_TESTS", "Logistic", "Neighbours", "Ridge", "coverage", "sizes"]

RESULTS = HERE / "study_intervals.json"
PAGE = HERE.parent / "docs" / "validation" / "intervals.md"
RUNS = HERE.parent / "build" / "study_intervals.jsonl"
QUICK = {"assume_finite": True, "skip_parameter_validation": True}
N, N_TRUTH = 100, 10_000
METHODS = {
    "corrected-t": None,
    "conservative-z": None,
    "nested-cv, 3 x 5": unseen.designs.Nested(5, 3),
    "nested-cv, 10 x 5": unseen.designs.Nested(5, 10),
    "cv-wald": None,
    "5x2cv": None,
    "out-of-bag": None,
    "subsampling": None,
    "range-t": None,
    "unit-bootstrap": None,
    "wilson": None,
    "clopper-pearson": None,
    "wald": None,
    "bca": None,
    "bootstrap-percentile": None,
}
# training sizes of what methods estimate: 90 rows if none is named; the model that others speak of is that on all rows, or that of the hold-out's training part
SIZES = {"nested-cv, 3 x 5": N, "nested-cv, 10 x 5": N, "5x2cv": 50, "out-of-bag": 63, "subsampling": 63}
OF_MODELS = {"range-t": N, "unit-bootstrap": N}
OF_MODELS |= dict.fromkeys(("wilson", "clopper-pearson", "wald", "bca", "bootstrap-percentile"), "part")
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


def risk(predict: Any, X: np.ndarray, chance: np.ndarray) -> float:
    """Return the error rate over fixed points, the label integrated out."""
    return float(np.mean(np.where(predict(X) == 1, 1 - chance, chance)))


def intervals_of(learner: str, k: int, seed: int, methods: Iterable[str]) -> dict[str, Any]:
    """Return the risks and the intervals of data set `k`: the truth at 90 and 100 rows, and each method's two ends."""
    with sklearn.config_context(**QUICK):
        return _intervals_of(learner, k, seed, methods)


def _intervals_of(learner: str, k: int, seed: int, methods: Iterable[str]) -> dict[str, Any]:
    population = SparseLogistic()
    X, chance = truth_points(seed)
    data = population.draw(N, np.random.default_rng([seed, k]))
    row: dict[str, Any] = {"learner": learner, "k": k}
    for size in sorted({90, N, *(SIZES[name] for name in methods if name in SIZES)}):
        row[f"risk {size}"] = risk(LEARNERS[learner]().fit(data.X[:size], data.y[:size]).predict, X, chance)
    nested, tables = None, {}
    for name in sorted(methods, key=list(METHODS).index, reverse=True):
        method = build(name.split(",")[0], "estimators")
        if name == "nested-cv, 3 x 5" and nested is not None:
            table = first_repeats(nested, 3)  # the same shuffles: nothing is fitted twice
        else:
            design = METHODS[name] or method.default_design(data)
            model = LEARNERS[learner]()
            if OF_MODELS.get(name) == "part" and hasattr(model, "random_state"):
                model.random_state = k  # of equal cuts the model that is judged takes the same ones
            if repr(design) not in tables:
                tables[repr(design)] = execute(model_of(model, data), data, plan_of(design, data, k), seed=k)
            table = tables[repr(design)]
            if OF_MODELS.get(name) == "part" and "risk part" not in row:
                (split,) = table.plan
                row["risk part"] = risk(model.fit(data.X[split.train], data.y[split.train]).predict, X, chance)
            nested = table if name == "nested-cv, 10 x 5" else nested
        found = method(table.losses()).interval
        row[name] = None if found is None else list(found)
    return row


@cache
def truth_points(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points on which risks are computed, and the chance of the second class at each."""
    population = SparseLogistic()
    X = np.random.default_rng(seed).standard_normal((N_TRUTH, population.n_features))
    return X, 1 / (1 + np.exp(-population.weight * X[:, : population.n_informative].sum(axis=1)))


def first_repeats(table: PredictionTable, count: int) -> PredictionTable:
    """Return the part of a table that a design with fewer repetitions would have given."""
    kept = tuple(s for s in table.plan if s.repeat < count)
    assert all(s.repeat < count for s in table.plan.splits[: len(kept)])
    plan = Plan(table.plan.design, kept, table.plan.units)
    return replace(table, plan=plan, test=table.test.where(table.test.split < len(kept)))


def covered(rows: list[dict[str, Any]], methods: Iterable[str]) -> dict[str, Any]:
    """Return, by method, coverage of what it estimates (`expected`) and of this model's risk, and widths.

    What it estimates is the expected risk at its own training size or, of a method about one model, that model's risk.
    """
    risks = {key: np.array([row[key] for row in rows]) for key in rows[0] if key.startswith("risk ")}
    model = risks[f"risk {N}"]
    expected = {size: float(risks[f"risk {size}"].mean()) for size in (90, N)}
    out = {}
    for name in methods:
        given = np.array([row[name] is not None for row in rows])  # a method may decline a data set
        low, high = np.array([row[name] for row in rows if row[name] is not None]).T
        own = risks[f"risk {OF_MODELS[name]}"] if name in OF_MODELS else risks[f"risk {SIZES.get(name, 90)}"].mean()
        own = np.broadcast_to(own, len(rows))[given]
        out[name] = {
            "expected": float(np.mean((low <= own) & (own <= high))),
            "risk": float(np.mean((low <= model[given]) & (model[given] <= high))),
            "width": float(np.median(high - low)),
            "n": int(given.sum()),
        }
    return {"expected_risk": expected[90], "expected_risk_100": expected[N], "methods": out}


def coverage(learner: str, n_datasets: int, seed: int = 0, methods: Iterable[str] = tuple(METHODS)) -> dict[str, Any]:
    """Return coverage and widths of some methods over fresh data sets."""
    return covered([intervals_of(learner, k, seed, methods) for k in range(n_datasets)], methods)


def resume_coverage(
    learners: list[str], methods: list[str], n_datasets: int, runs: Path, n_jobs: int = 1
) -> dict[str, Any]:
    """Return the coverage of every learner, taking from the file of runs what it has and appending what it lacks."""
    runs.parent.mkdir(exist_ok=True)
    have: dict[tuple[str, int], dict[str, Any]] = {}
    for line in runs.read_text().splitlines() if runs.exists() else ():
        row = json.loads(line)
        have.setdefault((row["learner"], row["k"]), {}).update(row)
    lacking = {
        (name, k): [method for method in methods if method not in have.setdefault((name, k), {})]
        for name in learners
        for k in range(n_datasets)
    }
    tasks = (delayed(intervals_of)(name, k, 0, some) for (name, k), some in lacking.items() if some)
    with runs.open("a") as file:
        for row in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks):
            have[row["learner"], row["k"]] |= row
            print(json.dumps(row), file=file, flush=True)
    return {name: covered([have[name, k] for k in range(n_datasets)], methods) for name in learners}


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
            test = build(test_id, "significance", "estimators")
            design = design or test.difference_design(data)
            if repr(design) not in tables:
                plan = plan_of(design, data, k)
                tables[repr(design)] = [execute(model_of(m, data), data, plan, seed=k).losses() for m in halves]
            a, b = tables[repr(design)]
            made = from_estimate(test, a.minus(b), 0.95) if test.kind == "table" else test(a, b)
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
                m["n"],
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
    parser.add_argument("--methods", default=";".join(METHODS), help="beginnings of methods, with ; between them")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--runs", type=Path, default=RUNS, help="intervals by data set, kept to go on from")
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"coverage": {}, "size": []}
    if "size" in options.parts:
        long = list(NULL_TESTS)[:1]
        others = [name for name in NULL_TESTS if name not in long]
        results["size"] = [sizes(long, options.size_datasets), sizes(others, options.other_datasets)]
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    if "coverage" in options.parts:
        methods = [name for name in METHODS if any(name.startswith(m) for m in options.methods.split(";"))]
        made = resume_coverage(options.learners.split(","), methods, options.datasets, options.runs, options.jobs)
        for learner, found in made.items():
            before = results["coverage"].get(learner, {"methods": {}})["methods"]
            kept = {name: (before | found["methods"])[name] for name in METHODS if name in before | found["methods"]}
            results["coverage"][learner] = found | {"methods": kept}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(tables_of(results))
    if PAGE.exists():
        write(results)


if __name__ == "__main__":
    main()
