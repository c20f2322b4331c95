"""Coverage and width of `range-t` for the error of this very model, on populations where that error is known.

Run as `python -m studies.range_t run [--sets N]` (about 12 CPU minutes with the numbers of the page) and `python -m
studies.range_t page`: the first writes every interval to `range_t.csv.gz`, both the tables of `docs/validation/range-t.md`. With `run --quick`
a few sets of every situation are drawn, and the tables are only printed.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy.special import ndtr, stdtrit
from sklearn.tree import DecisionTreeClassifier

from studies.study_learners import Neighbours
from unseen.core.data import Data
from unseen.core.losses import PredictionTable
from unseen.core.registry import build
from unseen.datasets import as_data
from unseen.designs.monte_carlo import MonteCarlo
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.engine.run import execute
from unseen.estimators.range_t import log_ends
from unseen.estimators.tails import are_heavy_tailed
from unseen.models.sklearn import as_model

HERE = Path(__file__).parent
ROWS = HERE / "range_t.csv.gz"
PAGE = HERE.parent / "docs" / "validation" / "range-t.md"
QUICK = {"assume_finite": True, "skip_parameter_validation": True}
N_TRUTH = 10_000  # points at which errors without a closed form are integrated: standard error .003 at most
QUICK_SETS = 8
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

    @cached_property
    def truth_points(self) -> tuple[np.ndarray, np.ndarray]:
        """Points of the population and the chance of the second class at each."""
        rng = np.random.default_rng(self.n)
        ones = rng.random(N_TRUTH) < self.share
        X = self.spread * rng.standard_normal((N_TRUTH, self.features)) + ones[:, None] * self.mean
        odds = np.log(self.share / (1 - self.share)) + (X - self.mean / 2) @ self.mean / self.spread**2
        return X, 1 / (1 + np.exp(-odds))

    def rates(self, rule: Discriminant) -> tuple[float, float]:
        """Return how often a linear rule calls the first and the second class the second, exactly."""
        size = self.spread * np.linalg.norm(rule.slope)
        return float(ndtr(rule.offset / size)), float(ndtr((rule.offset + rule.slope @ self.mean) / size))

    def error(self, rule: Any, loss: str) -> float:
        """Return the true loss of a fitted rule."""
        if loss in ("log-loss", "brier"):
            X, chance = self.truth_points
            odds = rule.score(X)
            if loss == "log-loss":
                return float(np.mean(chance * np.logaddexp(0, -odds) + (1 - chance) * np.logaddexp(0, odds)))
            own = 1 / (1 + np.exp(-odds))
            return float(np.mean(chance * (1 - own) ** 2 + (1 - chance) * own**2))
        if not isinstance(rule, Discriminant):
            X, chance = self.truth_points
            return float(np.mean(np.where(rule.predict(X) == 1, 1 - chance, chance)))
        alarm, hit = self.rates(rule)
        if loss == "auc":
            return 1 - float(ndtr(rule.slope @ self.mean / (np.sqrt(2) * self.spread * np.linalg.norm(rule.slope))))
        found, false = self.share * hit, (1 - self.share) * alarm
        return 1 - 2 * found / (found + false + self.share) if loss == "f1" else self.share - found + false


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

    @cached_property
    def noise(self) -> np.ndarray:
        """Points of the noise, for the mean absolute error of t noise."""
        return np.random.default_rng(self.n).standard_t(self.df, 10 * N_TRUTH)

    def error(self, rule: LeastSquares, loss: str) -> float:
        """Return the true loss of a fitted line."""
        variance = 1.0 if np.isinf(self.df) else self.df / (self.df - 2)
        miss = np.concatenate([rule.weights[:1], rule.weights[1:] - 1 / np.sqrt(self.features)])
        squared = variance + float(miss @ miss)
        if loss == "absolute" and np.isinf(self.df):
            return float(np.sqrt(2 / np.pi * squared))
        if loss == "absolute":
            gap = np.linalg.norm(miss) * np.random.default_rng(self.n).standard_normal(10 * N_TRUTH)
            return float(np.mean(np.abs(self.noise + gap)))
        return squared / (variance + 1) if loss == "r2" else squared


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A population, a rule, and the loss it is judged by."""

    population: Any
    rule: Callable[[], Any]
    loss: str = "zero-one"
    rounds: int | None = None  # of folds for range-t; by the size of the sample if not given

    @property
    def scores(self) -> bool:
        return self.loss in ("log-loss", "brier", "auc")


SITUATIONS = {
    "error 25%, n = 60, LDA": Situation(population=TwoNormals(n=60, distance=1.5), rule=Discriminant),
    "error 9%, n = 100, LDA": Situation(population=TwoNormals(n=100, distance=2.8), rule=Discriminant),
    "error 20%, n = 100, 5-NN": Situation(population=TwoNormals(n=100, distance=2.0), rule=Neighbours),
    "error 27%, n = 100, tree": Situation(population=TwoNormals(n=100, distance=2.0), rule=DecisionTreeClassifier),
    "error 3%, n = 200, LDA": Situation(population=TwoNormals(n=200, distance=3.8), rule=Discriminant),
    "error 16%, n = 1,000, LDA": Situation(population=TwoNormals(n=1000, distance=2.0), rule=Discriminant),
    "error 25%, 30 groups of 5, LDA": Situation(
        population=TwoNormals(n=150, distance=2.0, group_size=5, group_spread=1.0), rule=Discriminant
    ),
    "error 16%, n = 2,000 (two rounds), LDA": Situation(population=TwoNormals(n=2000, distance=2.0), rule=Discriminant),
    "error 16%, n = 12,000 (one round), LDA": Situation(
        population=TwoNormals(n=12_000, distance=2.0), rule=Discriminant, rounds=1
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
    "F1 of a weak rule, 20 positives of 200": Situation(
        population=TwoNormals(n=200, distance=1.5, share=0.1, exact_share=True), rule=Discriminant, loss="f1"
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
    truth = situation.population.error(fitted, situation.loss)
    model, made, out = as_model(situation.rule()), {}, {}
    for rival, (method, design) in RIVALS.items():
        usual = build(method, "estimators").default_design(data)
        own = usual if situation.rounds is None else RepeatedKFold(10, situation.rounds)
        chosen = design(data) if design else own
        if repr(chosen) not in made:
            plan = chosen.plan(data, np.random.default_rng([seed, k, len(made)]))
            made[repr(chosen)] = execute(model, data, plan, seed=k, scores=situation.scores)
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
            row |= {"std_error": e.std_error, "df": e.df}
            row["U040"] = int(any(n.code == "U040" for n in e.notes))
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


def logit_rows(rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Return coverage and width of the interval that is symmetric in the log odds, from the same values and errors."""
    low, high, truth = [], [], []
    for row in rows:
        value, se = float(row["range-t: value"]), float(row["std_error"])
        odds = np.log(value / (1 - value)) if 0 < value < 1 else 0.0
        reach = stdtrit(float(row["df"]), 0.975) * se / (value * (1 - value)) if se > 0 else np.inf
        low.append(1 / (1 + np.exp(reach - odds)) if np.isfinite(reach) else float(row["range-t: low"]))
        high.append(1 / (1 + np.exp(-reach - odds)) if np.isfinite(reach) else float(row["range-t: high"]))
        truth.append(float(row["truth"]))
    ends, true = np.array([low, high]), np.array(truth)
    return {
        "covered": float(np.mean((ends[0] <= true) & (true <= ends[1]))),
        "width": float(np.median(ends[1] - ends[0])),
    }


NOISES: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], np.ndarray], float]] = {
    "normal": (lambda rng, size: rng.standard_normal(size), 1.0),
    "Laplace": (lambda rng, size: rng.laplace(size=size), 2.0),
    "t5": (lambda rng, size: rng.standard_t(5, size), 5 / 3),
    "t3": (lambda rng, size: rng.standard_t(3, size), 3.0),
}


def tails(sets: int = 20_000, coverage_sets: int = 400, draws: int = 499, seed: int = 0) -> list[dict[str, Any]]:
    """Return, for squared errors of independent noise, how often U040 is given and what intervals of their mean cover.

    The intervals are the t on the log scale and the bootstrap-t, both over the units' losses.
    """
    out = []
    for n in (50, 100, 400):
        for name, (draw, mean) in NOISES.items():
            rng = np.random.default_rng([seed, n, list(NOISES).index(name)])
            losses = np.square(draw(rng, (sets * 100 // max(n, 100), n)))
            flagged = np.mean([are_heavy_tailed(row) for row in losses])
            hits = np.array([_covered(row, mean, draws, rng) for row in losses[:coverage_sets]])
            out.append(
                {
                    "n": n,
                    "noise": name,
                    "flagged": flagged,
                    "log t": hits[:, 0].mean(),
                    "bootstrap-t": hits[:, 1].mean(),
                }
            )
    return out


def _covered(losses: np.ndarray, mean: float, draws: int, rng: np.random.Generator) -> tuple[bool, bool]:
    """Say whether the t interval on the log scale and the bootstrap-t interval hold the true mean."""
    n, value = len(losses), losses.mean()
    se = losses.std(ddof=1) / np.sqrt(n)
    drawn = losses[rng.integers(0, n, (draws, n))]
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(n)
    low, high = np.quantile((means - value) / errors, [0.025, 0.975])
    plain = log_ends(value, se, float(stdtrit(n - 1, 0.975)))
    return bool(plain[0] <= mean <= plain[1]), bool(value - high * se <= mean <= value - low * se)


def run(sets: int, seed: int, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows of some situations."""
    rows: list[dict[str, Any]] = []
    with sklearn.config_context(**QUICK):
        for name in names:
            made = [row_of(name, k, seed) for k in range(sets)]
            shown = {rival: (round(s["covered"], 3), round(s["width"], 4)) for rival, s in summary(made).items()}
            print(name, shown, flush=True)
            rows += made
    return rows


def page_tables(rows: list[dict[str, Any]], found: list[dict[str, Any]]) -> dict[str, str]:
    """Return the tables of the page by their marker."""
    named: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        named.setdefault(row["situation"], []).append(row)
    head = ["situation", *(f"{rival}: covers, width" for rival in RIVALS), "bias / half-width", "U040", "data sets"]
    lines, sets = [head, ["---"] * len(head)], [["situation", "Wilson's form", "log odds"], ["---"] * 3]
    for name, some in named.items():
        got = summary(some)
        own = got["range-t"]
        cells = [f"{s['covered']:.3f}, {s['width']:.3g}" for s in got.values()]
        flagged = np.mean([int(row["U040"]) for row in some])
        lines.append([name, *cells, f"{2 * own['bias'] / own['width']:+.2f}", f"{flagged:.3f}", str(own["n"])])
        if name.startswith(("AUC", "F1")):
            other = logit_rows(some)
            sets.append([name, cells[-1], f"{other['covered']:.3f}, {other['width']:.3g}"])
    head = ["noise", "units", "U040 given", "t on the log scale covers", "bootstrap-t covers"]
    heavy = [head, ["---"] * len(head)]
    for one in found:
        shares = [f"{one['flagged']:.3f}", *(f"{one[k]:.2f}" for k in ("log t", "bootstrap-t"))]
        heavy.append([one["noise"], str(one["n"]), *shares])
    tables = {"range_t": lines, "range_t_sets": sets, "range_t_tails": heavy}
    return {k: "\n".join(f"| {' | '.join(line)} |" for line in table) for k, table in tables.items()}


def write(tables: dict[str, str], page: Path = PAGE) -> None:
    """Put the tables between the markers of the page."""
    text = page.read_text()
    for name, table in tables.items():
        start, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        head, rest = text.split(start)
        text = f"{head}{start}\n{table}\n{end}{rest.split(end)[1]}"
    page.write_text(text)


def stored_rows(path: Path = ROWS) -> list[dict[str, Any]]:
    """Return the rows of the study."""
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def store_rows(rows: list[dict[str, Any]], path: Path = ROWS) -> None:
    """Write rows with four digits; the file depends on them alone."""
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
        text = io.StringIO(newline="")
        out = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
        file.write(text.getvalue().encode())


def main() -> None:
    """Run the situations, or write the page from their rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["run", "page"])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument(
        "--quick", action="store_true", help="a few sets of every situation; prints the tables and stores nothing"
    )
    options = parser.parse_args()
    if options.quick:
        made = run(QUICK_SETS, 0, SITUATIONS)
        print("\n\n".join(page_tables(made, tails(100, 4, 49)).values()))
        return
    if options.part == "run":
        store_rows(run(options.sets, 0, SITUATIONS))
    tables = page_tables(stored_rows(), tails())
    print("\n\n".join(tables.values()))
    write(tables)


if __name__ == "__main__":
    main()
