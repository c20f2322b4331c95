"""How often the intervals of slices, of calibration, of decision curves and of importance hold, where the truth is known.

Run as `python -m studies.evaluation_intervals [--only TABLE] [--sets N]`; the tables are written into docs/validation/evaluation.md.
Most take a minute of one core, comparisons, which fit millions of models, half an hour; importance stops at 200 data sets.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from scipy.special import expit
from scipy.stats import beta, norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unseen
from unseen.core.losses import LossTable
from unseen.diagnosis.importance import permutation_importance
from unseen.evaluation.slice_columns import slice_rows
from unseen.evaluation.slices import Slices, slices_of_losses, table_slices
from unseen.request.request import open_request

__all__ = [
    "calibration_rows",
    "decision_rows",
    "importance_rows",
    "slice_rows_of_comparisons",
    "slice_rows_of_measures",
    "slice_rows_of_models",
    "slice_rows_of_predictions",
]

PAGE = Path(__file__).parents[1] / "docs" / "validation" / "evaluation.md"
SETS, FEWER = 400, 200  # data sets of each line, and of lines that take hundreds of fits each
COSTLY = frozenset({"importance"})
TEST = 30_000  # rows that tell the true error of a trained model to .003

Truth = dict[str, float]
Draw = Callable[[np.random.Generator], tuple[dict[str, Any], Truth]]


def _holds(s: Slices, truth: Truth) -> tuple[bool, bool]:
    """Say whether all slices, and all gaps, hold the truth."""
    slices = all(x.low is None or x.high is None or x.low <= truth[x.name] <= x.high for x in s.slices)
    gaps = all(g.low is None or g.high is None or g.low <= truth[g.a] - truth[g.b] <= g.high for g in s.gaps)
    return slices, gaps


def rates(n: int, share: list[float], error: list[float], sex: bool = False) -> Draw:
    """Draw errors of independent cases at sites with known error rates, perhaps sliced by sex too, which does not matter."""

    def draw(rng: np.random.Generator) -> tuple[dict[str, Any], Truth]:
        site = rng.choice(len(share), n, p=share)
        wrong = (rng.random(n) < np.array(error)[site]).astype(float)
        columns = {"site": site.astype(str)} | ({"sex": rng.choice(["f", "m"], n)} if sex else {})
        mean = float(np.dot(share, error))
        truth = {str(k): e for k, e in enumerate(error)} | {"f": mean, "m": mean}
        return {
            "values": wrong,
            "columns": columns,
            "units": np.arange(n),
            "loss": "zero-one",
            "span": (0.0, 1.0),
        }, truth

    return draw


def groups(n_groups: int, size: int, error: list[float], across: bool = False) -> Draw:
    """Draw errors that go together in groups (intraclass correlation .3), with a group at one site or across all."""

    def draw(rng: np.random.Generator) -> tuple[dict[str, Any], Truth]:
        group = np.repeat(np.arange(n_groups), size)
        site = (
            rng.integers(0, len(error), len(group))
            if across
            else np.repeat(rng.integers(0, len(error), n_groups), size)
        )
        chance, mean = np.repeat(rng.random(n_groups), size), np.array(error)[site]
        scale = 1 / 0.3 - 1
        wrong = (rng.random(len(group)) < beta.ppf(chance, mean * scale, (1 - mean) * scale)).astype(float)
        truth = {str(k): e for k, e in enumerate(error)}
        return {
            "values": wrong,
            "columns": {"site": site.astype(str)},
            "units": group,
            "loss": "zero-one",
            "span": (0.0, 1.0),
        }, truth

    return draw


def squares(n: int, share: list[float], sd: list[float], tail: int = 0) -> Draw:
    """Draw squared errors, normal or with the tails of Student's t."""

    def draw(rng: np.random.Generator) -> tuple[dict[str, Any], Truth]:
        site = rng.choice(len(share), n, p=share)
        z = rng.standard_t(tail, n) / np.sqrt(tail / (tail - 2)) if tail else rng.normal(size=n)
        values = np.square(z * np.array(sd)[site])
        truth = {str(k): s for k, s in enumerate(sd)}
        return {
            "values": values,
            "columns": {"site": site.astype(str)},
            "units": np.arange(n),
            "loss": "squared",
            "span": (0.0, np.inf),
        }, truth

    return draw


PREDICTIONS: dict[str, Draw] = {
    "error rates, 4 sites, n = 200": rates(200, [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.15]),
    "error rates, 8 equal sites, n = 400": rates(400, [1 / 8] * 8, [0.1] * 8),
    "rare errors (2 to 5%), 3 sites, n = 1,000": rates(1000, [0.6, 0.3, 0.1], [0.03, 0.05, 0.02]),
    "error rates by site and by sex, n = 300": rates(300, [0.4, 0.3, 0.3], [0.1, 0.2, 0.3], sex=True),
    "60 groups of 5, each at one of 3 sites": groups(60, 5, [0.1, 0.2, 0.3]),
    "60 groups of 5 across 3 sites": groups(60, 5, [0.2] * 3, across=True),
    "30 groups of 10, each at one of 3 sites": groups(30, 10, [0.2] * 3),
    "RMSE, 4 sites, n = 200": squares(200, [0.4, 0.3, 0.2, 0.1], [1.0, 1.0, 2.0, 3.0]),
    "RMSE, 6 equal sites, n = 600": squares(600, [1 / 6] * 6, [1.0] * 6),
    "RMSE, t tails (8 degrees), 4 equal sites, n = 400": squares(400, [0.25] * 4, [1.0] * 4, tail=8),
}


def slice_rows_of_predictions(sets: int) -> list[list[str]]:
    """Return one line per population of fixed predictions."""
    lines = []
    for name, draw in PREDICTIONS.items():
        slices = gaps = found = 0
        naive, corrected = [], []
        equal = True
        for k in range(sets):
            given, truth = draw(np.random.default_rng([7, k]))
            parts = slice_rows(given.pop("columns"))
            s = slices_of_losses(given.pop("values"), parts, seed=k, **given)
            a, b = _holds(s, truth)
            slices, gaps = slices + a, gaps + b
            found += s.tests[0].p is not None and s.tests[0].p < 0.05
            naive.append(s.worst.value - truth[s.worst.name])
            corrected.append(s.worst.corrected - truth[s.worst.name])
            equal = len({truth[x.name] for x in s.slices if x.column == s.slices[0].column}) == 1
        test = f"{found / sets:.3f} {'(equal)' if equal else '(unequal)'}"
        bias = f"{np.mean(naive):+.3f}, {np.mean(corrected):+.3f}"
        lines.append([name, f"{slices / sets:.3f}", f"{gaps / sets:.3f}", test, bias, str(sets)])
        print(lines[-1], flush=True)
    return lines


def _sample(rng: np.random.Generator, n: int, share: list[float] | None = None) -> tuple[Any, Any, Any]:
    site = rng.integers(0, 3, n) if share is None else rng.choice(3, n, p=share)
    X = rng.normal(size=(n, 4))
    y = (rng.random(n) < expit((X[:, 0] + X[:, 1]) * np.array([2, 1, 0.3])[site])).astype(int)
    return X, y, site


MODELS: dict[str, tuple[Any, int]] = {
    "LDA, n = 60": (LinearDiscriminantAnalysis(), 60),
    "LDA, n = 150": (LinearDiscriminantAnalysis(), 150),
    "tree of depth 3, n = 150": (DecisionTreeClassifier(max_depth=3, random_state=0), 150),
}


def slice_rows_of_models(sets: int) -> list[list[str]]:
    """Return one line per model: do slices of an assessment hold the errors of the model trained on all rows?"""
    lines = []
    X_test, y_test, site_test = _sample(np.random.default_rng(99), TEST)
    for name, (model, n) in MODELS.items():
        slices = gaps = 0
        for k in range(sets):
            X, y, site = _sample(np.random.default_rng([5, k]), n)
            table: LossTable = unseen.run(
                model, X, y, design=unseen.designs.RepeatedKFold(10, 5), random_state=k
            ).losses()
            wrong = model.fit(X, y).predict(X_test) != y_test
            truth = {str(j): float(wrong[site_test == j].mean()) for j in range(3)}
            parts = slice_rows({"site": site.astype(str)})
            a, b = _holds(table_slices(table, parts, level=0.95, seed=k), truth)
            slices, gaps = slices + a, gaps + b
        lines.append([name, f"{slices / sets:.3f}", f"{gaps / sets:.3f}", str(sets)])
        print(lines[-1], flush=True)
    return lines


def _numbers(rng: np.random.Generator, n: int, slopes: tuple[float, ...] = (2, 1, 0.3)) -> tuple[Any, Any, Any]:
    site, X = rng.integers(0, 3, n), rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1]) * np.array(slopes)[site] + rng.normal(size=n), site


TREE, LINE = DecisionTreeClassifier(max_depth=3, random_state=0), LinearRegression()
STEPS = DecisionTreeRegressor(max_depth=3, random_state=0)
BOOSTING = GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0)
PAIRS: dict[str, tuple[Any, Any, Callable[[np.random.Generator, int], tuple[Any, Any, Any]], int]] = {
    "LDA and naive Bayes, n = 150": (LinearDiscriminantAnalysis(), GaussianNB(), _sample, 150),
    "LDA and a tree of depth 3, n = 150": (LinearDiscriminantAnalysis(), TREE, _sample, 150),
    "least squares and a tree of depth 3, n = 150": (LINE, STEPS, _numbers, 150),
    "5 neighbours and LDA, n = 150": (KNeighborsClassifier(5), LinearDiscriminantAnalysis(), _sample, 150),
    "RBF machine and logistic regression, n = 150": (SVC(), LogisticRegression(), _sample, 150),
    "LDA and a tree of depth 3, n = 60": (LinearDiscriminantAnalysis(), TREE, _sample, 60),
    "LDA and a full tree, slices of 70, 20 and 10%, n = 300": (
        LinearDiscriminantAnalysis(),
        DecisionTreeClassifier(random_state=0),
        partial(_sample, share=[0.7, 0.2, 0.1]),
        300,
    ),
    "ridge and 5 neighbours, numbers, n = 150": (Ridge(), KNeighborsRegressor(5), _numbers, 150),
    "least squares and a tree of depth 3, n = 300": (LINE, STEPS, _numbers, 300),
    "5 neighbours and a tree of depth 3, one slice without signal, n = 150": (
        KNeighborsRegressor(5),
        STEPS,
        partial(_numbers, slopes=(2, 1, 0)),
        150,
    ),
    "boosting and a tree of depth 3, n = 100": (BOOSTING, TREE, _sample, 100),
    # named before they were looked at, like the seeds of `FRESH_SETS`
    "quadratic discriminant and logistic regression, n = 120": (
        QuadraticDiscriminantAnalysis(),
        LogisticRegression(),
        _sample,
        120,
    ),
    "naive Bayes and a tree of depth 2, n = 200": (
        GaussianNB(),
        DecisionTreeClassifier(max_depth=2, random_state=0),
        _sample,
        200,
    ),
    "15 neighbours and a tree of depth 4, numbers, n = 200": (
        KNeighborsRegressor(15),
        DecisionTreeRegressor(max_depth=4, random_state=0),
        _numbers,
        200,
    ),
    "lasso and a tree of depth 2, one slice without signal, n = 120": (
        Lasso(0.1),
        DecisionTreeRegressor(max_depth=2, random_state=0),
        partial(_numbers, slopes=(2, 1, 0)),
        120,
    ),
}
# of the generators of data sets on which the form of the variance was not chosen
FRESH_SETS = 10
SETS_OF_FEW_SPLITS = 11
OF_FEW_SPLITS = (
    "LDA and naive Bayes, n = 150",
    "LDA and a tree of depth 3, n = 150",
    "5 neighbours and LDA, n = 150",
    "least squares and a tree of depth 3, n = 150",
    "ridge and 5 neighbours, numbers, n = 150",
)
# training sets behind the true difference of two algorithms, and fresh rows for each: .001 for error rates, .02 for squares
TRAININGS, FRESH = 1000, 3000


def _true_differences(a: Any, b: Any, draw: Any, n: int) -> Truth:
    """Return the difference of two algorithms' mean losses at each site, over many training sets of n rows."""
    rng = np.random.default_rng(4)
    total = np.zeros(3)
    for _ in range(TRAININGS):
        X, y, _site = draw(rng, n)
        X_test, y_test, site = draw(rng, FRESH)
        off = [m.fit(X, y).predict(X_test) - y_test for m in (a, b)]
        loss = [np.square(v) if y.dtype == float else (v != 0).astype(float) for v in off]
        total += np.array([(loss[0] - loss[1])[site == j].mean() for j in range(3)])
    return {str(j): float(v) for j, v in enumerate(total / TRAININGS)}


def _slice_row_of_pair(name: str, sets: int, generator: int, test: str | None = None) -> list[str]:
    """Return one line: do slices of `compare` hold the difference of the algorithms at the size trained on?"""
    a, b, draw, n = PAIRS[name]
    truth: Truth | None = None
    slices = gaps = 0
    for k in range(sets):
        X, y, site = draw(np.random.default_rng([generator, k]), n)
        c = unseen.compare({"a": a, "b": b}, X, y, by={"site": site.astype(str)}, test=test, random_state=k)
        truth = truth or _true_differences(a, b, draw, round(c.pairs[0].estimate.target.n_train or n))
        one, two = _holds(c.slices[0], truth)
        slices, gaps = slices + one, gaps + two
    print(name, slices / sets, gaps / sets, flush=True)
    return [name, f"{slices / sets:.3f}", f"{gaps / sets:.3f}", str(sets)]


def slice_rows_of_comparisons(sets: int) -> list[list[str]]:
    """Return one line per pair of algorithms, compared as they are by default."""
    return [_slice_row_of_pair(name, sets, FRESH_SETS) for name in PAIRS]


def slice_rows_of_few_splits(sets: int) -> list[list[str]]:
    """Return one line for each of some pairs, compared by the 25 splits of the corrected t."""
    return [_slice_row_of_pair(name, sets, SETS_OF_FEW_SPLITS, "corrected-t") for name in OF_FEW_SPLITS]


SITES = np.array([1.5, 1.0, 0.5])  # distance of the classes' scores at each site


def slice_rows_of_measures(sets: int) -> list[list[str]]:
    """Return one line per measure of whole sets, and per difference of two files, in three slices of 300 cases."""
    n, half = 300, norm.cdf(SITES / 2)
    truths = {
        "auc": norm.cdf(SITES / np.sqrt(2)),
        "sensitivity": half,
        "balanced-accuracy": half,
        "f1": half,  # as many hits of each class as false alarms of the other: precision is sensitivity
        "difference of two files": norm.cdf(-SITES / 2) - 0.3,
    }
    held = {name: np.zeros(2) for name in truths}
    for k in range(sets):
        rng = np.random.default_rng([19, k])
        site, y = rng.integers(0, 3, n), rng.integers(0, 2, n)
        score = rng.normal((y - 0.5) * SITES[site])
        names = [name for name in truths if " " not in name]
        found = unseen.measure(y, score, measures=names, by={"site": site.astype(str)}, random_state=k).slices
        rows = pd.DataFrame({"y": y, "yhat": (score > 0).astype(int), "site": site.astype(str)})
        other = rows.assign(yhat=np.where(rng.random(n) < 0.3, 1 - y, y))
        files = unseen.predictions({"a": rows, "b": other}, truth="y", pred="yhat", by="site", random_state=k)
        found = {**found, "difference of two files": files.slices[-1]}
        for name, values in truths.items():
            held[name] += _holds(found[name], {str(j): float(v) for j, v in enumerate(values)})
    lines = [[name, *(f"{v / sets:.3f}" for v in counts), str(sets)] for name, counts in held.items()]
    print(*lines, sep="\n", flush=True)
    return lines


def _net_benefit(threshold: Any, stretch: float) -> Any:
    """Return the true net benefit of probabilities expit(stretch * x) where x is standard normal and expit(x) is right."""
    x = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    right, called = expit(x), expit(stretch * x)[:, None] >= threshold
    odds = threshold / (1 - threshold)
    return (called * (right[:, None] - (1 - right[:, None]) * odds)).mean(axis=0)


def calibration_rows(sets: int) -> list[list[str]]:
    """Return one line per stretch of the logits, at 200 cases."""
    lines = []
    n = 200
    x = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    for stretch in (1.0, 1.5):
        held = dict.fromkeys(("slope", "intercept", "ece", "band"), 0)
        rejected = 0
        plain, debiased = [], []
        for k in range(sets):
            rng = np.random.default_rng([11, k])
            logit = rng.normal(size=n)
            y = (rng.random(n) < expit(logit)).astype(int)
            p = expit(stretch * logit)
            fit = unseen.measure(y, p, measures=["accuracy"], random_state=k).calibration().fit
            held["slope"] += 1 / stretch in fit.slope.interval
            held["intercept"] += 0.0 in fit.intercept.interval  # symmetric: right on average
            at = np.searchsorted(np.quantile(p, np.linspace(0, 1, 11)[1:-1]), expit(stretch * x))
            true_ece = sum(abs((expit(x) - expit(stretch * x))[at == j].sum()) for j in range(10)) / len(x)
            held["ece"] += true_ece in fit.ece.interval
            plain.append(fit.raw_ece - true_ece)
            debiased.append(fit.ece.value - true_ece)
            right = expit(np.log(fit.curve.predicted / (1 - fit.curve.predicted)) / stretch)
            held["band"] += bool(np.all((fit.curve.low <= right) & (right <= fit.curve.high)))
            rejected += fit.spiegelhalter.p < 0.05
        cells = [f"{held[name] / sets:.3f}" for name in held]
        bias = f"{np.mean(plain):+.3f}, {np.mean(debiased):+.3f}"
        lines.append([f"n = {n:,}, slope {1 / stretch:.2f}", *cells, bias, f"{rejected / sets:.3f}", str(sets)])
        print(lines[-1], flush=True)
    return lines


def decision_rows(sets: int) -> list[list[str]]:
    """Return one line per sample size and stretch: does the band hold the net benefit at all thresholds from 20 to 80%?"""
    lines = []
    cuts = np.arange(20, 81, 5) / 100
    for n in (200, 1000):
        for stretch in (1.0, 1.5):
            truth, held = _net_benefit(cuts, stretch), 0
            for k in range(sets):
                rng = np.random.default_rng([11, k])
                logit = rng.normal(size=n)
                y = (rng.random(n) < expit(logit)).astype(int)
                curve = unseen.measure(y, expit(stretch * logit), measures=["accuracy"]).decision_curve(cuts)
                held += bool(np.all((curve.low <= truth) & (truth <= curve.high)))
            lines.append([f"n = {n:,}, slope {1 / stretch:.2f}", f"{held / sets:.3f}", str(sets)])
            print(lines[-1], flush=True)
    return lines


def _line(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.normal(size=(n, 4))
    return X, X @ np.array([2.0, 1.0, 0.5, 0.0]) + rng.normal(size=n)


def _correlated(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.normal(size=(n, 4))
    X[:, :2] = np.sqrt(0.8) * rng.normal(size=(n, 1)) + np.sqrt(0.2) * X[:, :2]
    return X, X @ np.array([1.0, 0.5, 1.0, 0.0]) + rng.normal(size=n)


def _logits(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.normal(size=(n, 4))
    return X, (rng.random(n) < expit(X @ np.array([2.0, 1.0, 0.5, 0.0]))).astype(int)


def _steps(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] > 0) * (3.0 + 2.0 * (X[:, 1] > 0.5)) + rng.normal(size=n)


IMPORTANCE: dict[str, tuple[Any, Callable[[np.random.Generator, int], tuple[Any, Any]], int]] = {
    "least squares, coefficients 2, 1, .5, 0; n = 50": (LinearRegression(), _line, 50),
    "least squares, coefficients 2, 1, .5, 0; n = 100": (LinearRegression(), _line, 100),
    "least squares, coefficients 2, 1, .5, 0; n = 300": (LinearRegression(), _line, 300),
    "least squares, columns correlated .8; n = 100": (LinearRegression(), _correlated, 100),
    "LDA, logistic labels; n = 100": (LinearDiscriminantAnalysis(), _logits, 100),
    "tree of depth 3, logistic labels; n = 100": (DecisionTreeClassifier(max_depth=3, random_state=0), _logits, 100),
    "tree of depth 3, steps, two null columns; n = 100": (
        DecisionTreeRegressor(max_depth=3, random_state=0),
        _steps,
        100,
    ),
}


def _true_importance(fitted: Any, X: Any, y: Any, squared: bool) -> Any:
    """Return by how much the loss of a fitted model grows on many fresh rows if each takes a column's value from another."""

    def error(Z: Any) -> float:
        gap = fitted.predict(Z)
        return float(np.square(y - gap).mean() if squared else (y != gap).mean())

    plain, grown = error(X), []
    for j in range(X.shape[1]):
        moved = X.copy()
        moved[:, j] = np.roll(X[:, j], 1)
        grown.append(error(moved) - plain)
    return np.array(grown)


def importance_rows(sets: int) -> list[list[str]]:
    """Return one line per population: do the limits of all columns hold the importance to the model trained on all rows?"""
    lines = []
    for name, (model, draw, n) in IMPORTANCE.items():
        together, each = 0, np.zeros(4)
        numbers = draw in (_line, _correlated, _steps)
        for k in range(sets):
            X, y = draw(np.random.default_rng([13, k]), n)
            data = unseen.datasets.as_data(X, y, task="regression" if numbers else "classification")
            with open_request(model, data, random_state=k) as request:
                found, _ = permutation_importance(request, 2)
            assert found is not None
            place = [found.names.index(column) for column in data.names]
            fresh = draw(np.random.default_rng([17, k]), TEST)
            truth = _true_importance(model.fit(X, y), *fresh, squared=numbers)
            holds = (found.low[place] <= truth) & (truth <= found.high[place])
            together += bool(holds.all())
            each += holds
        lines.append([name, f"{together / sets:.3f}", ", ".join(f"{v / sets:.3f}" for v in each), str(sets)])
        print(lines[-1], flush=True)
    return lines


def _table(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *lines))


HEADS = {
    "slices": [
        "situation",
        "all slices hold",
        "all gaps hold",
        "test below .05",
        "worst slice: bias, corrected",
        "data sets",
    ],
    "slices_of_models": ["model", "all slices hold", "all gaps hold", "data sets"],
    "slices_of_comparisons": ["algorithms", "all slices hold", "all gaps hold", "data sets"],
    "slices_of_few_splits": ["algorithms", "all slices hold", "all gaps hold", "data sets"],
    "slices_of_measures": ["measure", "all slices hold", "all gaps hold", "data sets"],
    "calibration": [
        "situation",
        "slope",
        "intercept",
        "calibration error",
        "band of the curve",
        "bias of the error: plain, debiased",
        "Spiegelhalter below .05",
        "data sets",
    ],
    "decision": ["situation", "the whole curve holds", "data sets"],
    "importance": ["situation", "all columns hold", "each column", "data sets"],
}
PARTS = {
    "slices": slice_rows_of_predictions,
    "slices_of_models": slice_rows_of_models,
    "slices_of_comparisons": slice_rows_of_comparisons,
    "slices_of_few_splits": slice_rows_of_few_splits,
    "slices_of_measures": slice_rows_of_measures,
    "calibration": calibration_rows,
    "decision": decision_rows,
    "importance": importance_rows,
}


def main() -> None:
    """Run the parts and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sets", type=int, help=f"data sets of each line; {SETS} by default, {FEWER} where most models are fitted"
    )
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    for name, part in PARTS.items():
        if options.only in (None, name):
            sets = options.sets or (FEWER if name in COSTLY else SETS)
            # thousands of small fits of rows made here: scikit-learn's checks of them would take a third of the time
            with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
                made = _table(HEADS[name], part(sets))
            text = PAGE.read_text()
            start, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
            before, rest = text.split(start)
            PAGE.write_text(f"{before}{start}\n{made}\n{end}{rest.split(end)[1]}")


if __name__ == "__main__":
    main()
