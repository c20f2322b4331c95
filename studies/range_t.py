"""Coverage and width of `range-t` for the error of this very model, on populations where that error is known.

Run as `python -m studies.range_t run [--sets N]` (about 12 CPU minutes with the numbers of the page) and `python -m
studies.range_t page`: the first writes every interval to `range_t.csv.gz`, the second the tables of `docs/validation/range-t.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy.special import ndtr
from sklearn.tree import DecisionTreeClassifier

from studies.study_learners import Neighbours
from unseen.core.data import Data
from unseen.core.losses import PredictionTable
from unseen.core.registry import build
from unseen.datasets import as_data
from unseen.designs.monte_carlo import MonteCarlo
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.engine.run import execute
from unseen.models.sklearn import as_model

HERE = Path(__file__).parent
ROWS = HERE / "range_t.csv.gz"
PAGE = HERE.parent / "docs" / "validation" / "range-t.md"
QUICK = {"assume_finite": True, "skip_parameter_validation": True}
N_TRUTH = 10_000  # points at which errors without a closed form are integrated: standard error .003 at most
RIVALS = {
    "corrected-t, 25 x 90/10": ("corrected-t", lambda data: MonteCarlo(0.1, 25)),
    "corrected-t, 5 x 10-fold": ("corrected-t", lambda data: RepeatedKFold(10, 5)),
    "range-t": ("range-t", None),
}


class Discriminant:
    """Linear discriminant with one covariance matrix, as scikit-learn's; scores are posterior probabilities."""

    classes_ = np.array([0, 1])

    def fit(self, X: np.ndarray, y: np.ndarray) -> Discriminant:
        ones = y == 1
        share, means = ones.mean(), np.array([X[~ones].mean(axis=0), X[ones].mean(axis=0)])
        within = X - means[ones.astype(int)]
        self.slope = np.linalg.solve(within.T @ within / (len(X) - 2), means[1] - means[0])
        self.offset = np.log(share / (1 - share)) - self.slope @ means.mean(axis=0)
        return self

    def score(self, X: np.ndarray) -> np.ndarray:
        return self.offset + X @ self.slope

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (self.score(X) > 0).astype(int)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        chance = 1 / (1 + np.exp(-self.score(X)))
        return np.column_stack([1 - chance, chance])


class LeastSquares:
    """Linear regression with an intercept."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> LeastSquares:
        self.weights = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.weights[0] + X @ self.weights[1:]


@dataclass(frozen=True, kw_only=True)
class TwoNormals:
    """Two normal classes at a distance along the diagonal; rows of one group share a normal shift of every feature."""

    n: int
    distance: float
    features: int = 5
    share: float = 0.5
    exact_share: bool = False
    group_size: int = 1
    group_spread: float = 0.0

    @property
    def mean(self) -> np.ndarray:
        return np.full(self.features, self.distance / np.sqrt(self.features))

    @property
    def spread(self) -> float:
        return float(np.sqrt(1 + self.group_spread**2))

    def draw(self, rng: np.random.Generator) -> Data:
        while True:
            y = (rng.random(self.n) < self.share).astype(int)
            if self.exact_share:
                y = rng.permutation((np.arange(self.n) < round(self.share * self.n)).astype(int))
            if min(y.sum(), self.n - y.sum()) >= 3:
                break
        X = rng.standard_normal((self.n, self.features)) + y[:, None] * self.mean
        if self.group_size == 1:
            return as_data(X, y, task="classification")
        groups = np.arange(self.n) // self.group_size
        X += self.group_spread * rng.standard_normal((groups.max() + 1, self.features))[groups]
        return as_data(X, y, groups=groups, task="classification")

    def truth_points(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return points of the population and the chance of the second class at each."""
        ones = rng.random(N_TRUTH) < self.share
        X = self.spread * rng.standard_normal((N_TRUTH, self.features)) + ones[:, None] * self.mean
        odds = np.log(self.share / (1 - self.share)) + (X - self.mean / 2) @ self.mean / self.spread**2
        return X, 1 / (1 + np.exp(-odds))

    def rates(self, rule: Discriminant) -> tuple[float, float]:
        """Return how often a linear rule calls the first and the second class the second, exactly."""
        size = self.spread * np.linalg.norm(rule.slope)
        return float(ndtr(rule.offset / size)), float(ndtr((rule.offset + rule.slope @ self.mean) / size))

    def errors(self, rule: Any, rng: np.random.Generator) -> dict[str, float]:
        """Return the true losses of a fitted rule by id."""
        if not isinstance(rule, Discriminant):
            X, chance = self.truth_points(rng)
            return {"zero-one": float(np.mean(np.where(rule.predict(X) == 1, 1 - chance, chance)))}
        alarm, hit = self.rates(rule)
        X, chance = self.truth_points(rng)
        odds = rule.score(X)
        log_loss = chance * np.logaddexp(0, -odds) + (1 - chance) * np.logaddexp(0, odds)
        found, false = self.share * hit, (1 - self.share) * alarm
        apart = rule.slope @ self.mean / (np.sqrt(2) * self.spread * np.linalg.norm(rule.slope))
        return {
            "zero-one": self.share * (1 - hit) + (1 - self.share) * alarm,
            "log-loss": float(log_loss.mean()),
            "brier": float(
                2 * np.mean(chance * (1 - 1 / (1 + np.exp(-odds))) ** 2 + (1 - chance) / (1 + np.exp(-odds)) ** 2)
            ),
            "1 - auc": 1 - float(ndtr(apart)),
            "1 - f1": 1 - 2 * found / (found + false + self.share),
        }


@dataclass(frozen=True, kw_only=True)
class LinearNumbers:
    """A number that is linear in normal features, with normal noise, or with noise of Student's t."""

    n: int
    features: int = 5
    df: float = np.inf

    def draw(self, rng: np.random.Generator) -> Data:
        X = rng.standard_normal((self.n, self.features))
        noise = rng.standard_normal(self.n) if np.isinf(self.df) else rng.standard_t(self.df, self.n)
        return as_data(X, X.sum(axis=1) / np.sqrt(self.features) + noise, task="regression")

    def errors(self, rule: LeastSquares, rng: np.random.Generator) -> dict[str, float]:
        """Return the true losses of a fitted line; that of t noise by the absolute error only on drawn points."""
        variance = 1.0 if np.isinf(self.df) else self.df / (self.df - 2)
        miss = np.concatenate([rule.weights[:1], rule.weights[1:] - 1 / np.sqrt(self.features)])
        squared = variance + float(miss @ miss)
        if np.isinf(self.df):
            absolute = float(np.sqrt(2 / np.pi * squared))
        else:
            gap = np.linalg.norm(miss) * rng.standard_normal(10 * N_TRUTH)
            absolute = float(np.mean(np.abs(rng.standard_t(self.df, 10 * N_TRUTH) + gap)))
        return {"squared": squared, "absolute": absolute, "1 - r2": squared / (variance + 1)}


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A population, a rule, and the loss it is judged by."""

    population: Any
    rule: Callable[[], Any]
    loss: str = "zero-one"

    @property
    def scores(self) -> bool:
        return self.loss in ("log-loss", "brier", "auc")

    @property
    def truth(self) -> str:
        return {"auc": "1 - auc", "f1": "1 - f1", "r2": "1 - r2"}.get(self.loss, self.loss)


SITUATIONS = {
    "error 25%, n = 60, LDA": Situation(population=TwoNormals(n=60, distance=1.5), rule=Discriminant),
    "error 9%, n = 100, LDA": Situation(population=TwoNormals(n=100, distance=2.8), rule=Discriminant),
    "error 20%, n = 100, 5-NN": Situation(population=TwoNormals(n=100, distance=2.0), rule=Neighbours),
    "error 25%, n = 100, tree": Situation(population=TwoNormals(n=100, distance=2.0), rule=DecisionTreeClassifier),
    "error 3%, n = 200, LDA": Situation(population=TwoNormals(n=200, distance=3.8), rule=Discriminant),
    "error 20%, n = 1,000, 5-NN": Situation(population=TwoNormals(n=1000, distance=2.0), rule=Neighbours),
    "error 25%, 30 groups of 5, LDA": Situation(
        population=TwoNormals(n=150, distance=2.0, group_size=5, group_spread=1.0), rule=Discriminant
    ),
    "error 16%, n = 2,000 (two rounds), LDA": Situation(population=TwoNormals(n=2000, distance=2.0), rule=Discriminant),
    "error 16%, n = 12,000 (one round), LDA": Situation(
        population=TwoNormals(n=12_000, distance=2.0), rule=Discriminant
    ),
    "squared error, n = 60": Situation(population=LinearNumbers(n=60), rule=LeastSquares, loss="squared"),
    "squared error, n = 200": Situation(population=LinearNumbers(n=200), rule=LeastSquares, loss="squared"),
    "absolute error, n = 100": Situation(population=LinearNumbers(n=100), rule=LeastSquares, loss="absolute"),
    "R2, n = 100": Situation(population=LinearNumbers(n=100), rule=LeastSquares, loss="r2"),
    "log-loss, n = 100, LDA": Situation(population=TwoNormals(n=100, distance=2.0), rule=Discriminant, loss="log-loss"),
    "Brier, n = 100, LDA": Situation(population=TwoNormals(n=100, distance=2.0), rule=Discriminant, loss="brier"),
    "AUC, 20 positives of 200": Situation(
        population=TwoNormals(n=200, distance=1.5, share=0.1, exact_share=True), rule=Discriminant, loss="auc"
    ),
    "AUC, 20 positives of 40": Situation(
        population=TwoNormals(n=40, distance=1.5, exact_share=True), rule=Discriminant, loss="auc"
    ),
    "AUC near 1, 20 positives of 200": Situation(
        population=TwoNormals(n=200, distance=3.5, share=0.1, exact_share=True), rule=Discriminant, loss="auc"
    ),
    "F1, 20 positives of 200": Situation(
        population=TwoNormals(n=200, distance=2.5, share=0.1, exact_share=True), rule=Discriminant, loss="f1"
    ),
    "F1, 20 positives of 40": Situation(
        population=TwoNormals(n=40, distance=1.5, exact_share=True), rule=Discriminant, loss="f1"
    ),
    "squared error, t3 noise, n = 100": Situation(
        population=LinearNumbers(n=100, df=3), rule=LeastSquares, loss="squared"
    ),
    "absolute error, t3 noise, n = 100": Situation(
        population=LinearNumbers(n=100, df=3), rule=LeastSquares, loss="absolute"
    ),
}


def tables_of(situation: Situation, k: int, seed: int) -> tuple[float, dict[str, PredictionTable]]:
    """Return the true error of the model trained on all rows of data set `k`, and the tables of every rival."""
    name = next(name for name, one in SITUATIONS.items() if one is situation)
    rng = np.random.default_rng([seed, list(SITUATIONS).index(name), k])
    data = situation.population.draw(rng)
    fitted = situation.rule().fit(data.X, data.y)
    truth = situation.population.errors(fitted, np.random.default_rng([seed, k]))[situation.truth]
    model, made, out = as_model(situation.rule()), {}, {}
    for rival, (method, design) in RIVALS.items():
        chosen = design(data) if design else build(method, "estimators").default_design(data)
        if repr(chosen) not in made:
            plan = chosen.plan(data, np.random.default_rng([seed, k, len(made)]))
            made[repr(chosen)] = execute(model, data, plan, seed=k, train=False, scores=situation.scores)
        out[rival] = made[repr(chosen)]
    return truth, out


def row_of(name: str, k: int, seed: int = 0) -> dict[str, Any]:
    """Return truth, values and intervals of one data set."""
    situation = SITUATIONS[name]
    truth, tables = tables_of(situation, k, seed)
    row: dict[str, Any] = {"situation": name, "set": k, "truth": truth}
    for rival, (method, _) in RIVALS.items():
        e = build(method, "estimators")(tables[rival].losses(situation.loss))
        low, high = (np.nan, np.nan) if e.interval is None else e.interval
        row |= {f"{rival}: value": e.value, f"{rival}: low": low, f"{rival}: high": high}
        if rival == "range-t":
            row["U035"] = int(any(n.code == "U035" for n in e.notes))
    return row


def summary(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return coverage of this model's error, median width and bias of each rival."""
    rows = list(rows)
    truth = np.array([float(row["truth"]) for row in rows])
    out = {}
    for rival in RIVALS:
        value, low, high = (np.array([float(row[f"{rival}: {k}"]) for row in rows]) for k in ("value", "low", "high"))
        out[rival] = {
            "covered": float(np.mean((low <= truth) & (truth <= high))),
            "above": float(np.mean(truth > high)),
            "below": float(np.mean(truth < low)),
            "width": float(np.nanmedian(high - low)),
            "bias": float(np.mean(value - truth)),
            "n": len(rows),
        }
    return out


def run(sets: int, seed: int, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows of some situations."""
    rows = []
    with sklearn.config_context(**QUICK):
        for name in names:
            large = SITUATIONS[name].population.n >= 2000
            rows += [row_of(name, k, seed) for k in range(sets // 4 if large else sets)]
            print(
                name,
                {r: (round(s["covered"], 3), round(s["width"], 4)) for r, s in summary(rows[-sets:]).items()},
                flush=True,
            )
    return rows
