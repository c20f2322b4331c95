"""Large and wide data: a million rows from a file, 20,000 columns, a budget that is kept, and cost against n as an exponent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import unseen
from benchmarks.bench_assess import first_round, same_measures
from benchmarks.bench_resubstitution import by_hand, same_as_by_hand
from benchmarks.timing import Agreement, Time, faster, row, same_numbers, same_value, time_of

MILLION = 1_000_000
GIGABYTES = 4.0  # that a million rows may take
MINUTES = 5.0  # of CPU that they may take from Parquet; from CSV two more
SIZES = (5_000, 20_000, 80_000)
# whole parts of 12,500 and 25,000 rows, in which neighbours are looked for: parts of another size cost otherwise
LARGE = (25_000, 50_000, 100_000)
BUDGETS = ((10_000, 10.0), (200_000, 20.0))  # rows and seconds
WITHOUT_RETRAINING = ("resub", "bolster", "posterior", "bolster-posterior")
ROUNDS = 2  # of the calls whose times give an exponent
SLACK = 1.2  # a budget is kept if the call takes at most this times as long


@dataclass(frozen=True)
class Process:
    """What a command took: its time, gigabytes at its largest, and the JSON that it printed."""

    took: Time
    gigabytes: float
    answer: dict[str, Any]


def _run(*arguments: str) -> Process:
    """Run `unseen` in a process of its own."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "unseen", *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"unseen {' '.join(arguments)} ended with {status}")
    took = Time(usage.ru_utime + usage.ru_stime, time.perf_counter() - begin)
    return Process(took, usage.ru_maxrss / 2**20, json.loads(text))


def mixed_table(n: int) -> pd.DataFrame:
    """Return 16 columns of numbers, three of them with gaps, four of categories, one of them with gaps, and two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 16))
    codes = [rng.integers(0, k, n) for k in (3, 5, 8, 12)]
    lean = X[:, :5] @ [1, 0.8, -0.6, 0.4, 0.3] + 0.5 * (codes[0] == 1) - 0.7 * (codes[1] == 2) + 0.2 * codes[2] / 8
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(16)])
    for j in (2, 7, 11):
        table.loc[rng.random(n) < 0.05, f"x{j}"] = np.nan
    for j, code in enumerate(codes):
        table[f"c{j}"] = np.array([f"level {k}" for k in range(12)], dtype=object)[code]
    table.loc[rng.random(n) < 0.03, "c1"] = None
    table["y"] = np.where(lean + rng.logistic(size=n) > 0, "yes", "no")
    return table


def _refitted(n: int = 20_000) -> Agreement:
    """Return the agreement of errors of folds of a smaller table with a pipeline of scikit-learn on the same splits."""
    table = mixed_table(n)
    made = unseen.assess("logistic", table, "y", random_state=1, rounds=1, progress=False)
    X, y = table.drop(columns="y"), table["y"].to_numpy()
    numbers, codes = [c for c in X if c.startswith("x")], [c for c in X if c.startswith("c")]
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers),
            ("categories", OneHotEncoder(handle_unknown="ignore"), codes),
        ]
    )
    splits = [(s.train, s.test) for s in first_round(made)]
    errors = 1 - cross_val_score(make_pipeline(columns, LogisticRegression(max_iter=1000)), X, y, cv=splits)
    found = made.tables["repeated-kfold"].split_means()[: len(splits)]
    return same_numbers(found, errors, f"errors of folds and scikit-learn's, n = {n:,},")


def _million() -> list[dict]:
    made: dict[str, Process] = {}
    with tempfile.TemporaryDirectory() as folder:
        table = mixed_table(MILLION)
        parquet, csv = Path(folder) / "big.parquet", Path(folder) / "big.csv"
        table.to_parquet(parquet)
        table.to_csv(csv, index=False)
        del table
        for path in (parquet, csv):
            words = ("--target", "y", "--model", "logistic", "--seed", "1", "--quiet", "--json")
            made[path.suffix[1:]] = _run("assess", str(path), *words)
    errors = [process.answer["error"] for process in made.values()]
    same = same_value("error from Parquet and from CSV", *errors).also(_refitted())
    return [
        row(
            f"assess, logistic, 1e6 x 20 with categories and gaps, {kind}",
            process.took,
            other=f"{process.gigabytes:.2f} GB",
            same=same,
            target=f"under {minutes:g} min and {GIGABYTES:g} GB",
            met=process.took.cpu < 60 * minutes and process.gigabytes < GIGABYTES,
        )
        for (kind, process), minutes in zip(made.items(), (MINUTES, MINUTES + 2))
    ]


def _wide() -> dict:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 20_000)), np.repeat([0, 1], 30)
    X[y == 1, :50] += 0.8
    model = make_pipeline(StandardScaler(), LogisticRegression())
    effort = {"splits": 0, "repeats": 1, "bootstrap": 0, "leave_out": 0, "curve": 0, "direct": 0}
    own = time_of(lambda: unseen.assess("logistic", X, y, random_state=0, effort=effort, progress=False), 1)
    splits = [(s.train, s.test) for s in first_round(own.result)]

    def folds() -> np.ndarray:
        model.fit(X, y)
        return 1 - cross_val_score(model, X, y, cv=splits)

    peer = time_of(folds, 1)
    whole = time_of(lambda: unseen.assess("logistic", X, y, random_state=0, progress=False), 1)
    found = own.result.tables["repeated-kfold"].split_means()
    fits = len(splits) + 1
    return row(
        "assess, logistic, 60 x 20,000, ten folds",
        own,
        peer,
        against=f"{fits} fits of scikit-learn",
        same=same_numbers(found, peer.result, "errors of folds"),
        target="at most 10 times",
        met=own.cpu <= 10 * peer.cpu,
        remark=f"default effort (225 fits, kernels) {whole.cpu:.3g} s, "
        f"{whole.cpu * fits / (225 * peer.cpu):.2g} times its fits",
    )


def _budget(n: int, seconds: float) -> dict:
    X, y = _sample(n)
    took = time_of(lambda: unseen.assess("logistic", X, y, random_state=0, budget=seconds, progress=False), 1)
    made = took.result
    told = next(note.text for note in made.notes if note.code == "U019")
    splits = [(s.train, s.test) for s in first_round(made)]
    errors = 1 - cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y, cv=splits)
    found = made.tables["repeated-kfold"].split_means()[: len(splits)]
    return row(
        f"assess, logistic, n = {n:,}, budget of {seconds:g} s",
        took,
        same=same_numbers(found, errors, "errors of folds and scikit-learn's"),
        target=f"at most {SLACK:g} times the budget on the clock",
        met=took.wall <= SLACK * seconds,
        remark=f"error {made.error:.4f}; {told}",
    )


def _exponent(
    name: str, call: Callable[[int], Callable[[], Any]], same: Callable[[], Agreement], sizes: tuple[int, ...] = SIZES
) -> dict:
    """Return the slopes of log time against log n, of the smallest times of rounds over all sizes in turn."""
    calls = [call(n) for n in sizes]
    times = [time_of(one, 1) for one in calls]
    for _ in range(ROUNDS - 1):
        times = [faster(before, time_of(one, 1)) for before, one in zip(times, calls)]
    cpu, wall = (float(np.polyfit(np.log(sizes), np.log(t), 1)[0]) for t in zip(*((t.cpu, t.wall) for t in times)))
    return row(
        f"{name}: exponent of n",
        times[-1],
        other=f"exponent of n {cpu:.3f} (CPU), {wall:.3f} (wall)",
        same=same(),
        target="at most 1.1",
        met=cpu <= 1.1,
        remark=", ".join(f"{n:,}: {t.cpu:.3g} s" for n, t in zip(sizes, times)),
    )


def _sample(n: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, 20, n_informative=10, n_redundant=0, flip_y=0.1, random_state=1)


def _scores(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return y, 1 / (1 + np.exp(-rng.normal(y, 1.0)))


def _prediction_files(n: int) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, n)
    return {
        name: pd.DataFrame({"id": np.arange(n), "truth": truth, "pred": truth ^ (rng.random(n) < wrong)})
        for name, wrong in (("a", 0.1), ("b", 0.12))
    }


def _scaling() -> list[dict]:
    model, other = make_pipeline(StandardScaler(), LogisticRegression()), RidgeClassifier()

    def assess(n: int) -> Callable[[], Any]:
        X, y = _sample(n)
        return lambda: unseen.assess(model, X, y, random_state=0, progress=False, rounds=1)

    def same_assess() -> Agreement:
        made, (X, y) = assess(SIZES[0])(), _sample(SIZES[0])
        splits = [(s.train, s.test) for s in first_round(made)]
        found = made.tables["repeated-kfold"].split_means()[: len(splits)]
        return same_numbers(found, 1 - cross_val_score(model, X, y, cv=splits), "errors of folds, n = 5,000,")

    def compare(n: int) -> Callable[[], Any]:
        X, y = _sample(n)
        return lambda: unseen.compare({"a": model, "b": other}, X, y, random_state=0, progress=False)

    def same_compare() -> Agreement:
        X, y = _sample(SIZES[0])
        found = compare(SIZES[0])().pairs[0].estimate.value
        plan = unseen.run(model, X, y, design=unseen.designs.MonteCarlo(0.3, 25), random_state=0).plan
        splits = [(s.train, s.test) for s in plan]
        errors = [1 - cross_val_score(one, X, y, cv=splits) for one in (model, other)]
        return same_value("n = 5,000: difference and scikit-learn's", found, float(np.mean(errors[0] - errors[1])))

    def measure(n: int) -> Callable[[], Any]:
        y, p = _scores(10 * n)
        return lambda: unseen.measure(y, p, random_state=0)

    def predictions(n: int) -> Callable[[], Any]:
        files = _prediction_files(10 * n)
        return lambda: unseen.predictions(files, truth="truth", pred="pred", id="id")

    def same_predictions() -> Agreement:
        joined = _prediction_files(10 * SIZES[0])["a"].merge(_prediction_files(10 * SIZES[0])["b"], on="id")
        wrong = [(joined[f"pred_{side}"] != joined["truth_x"]).mean() for side in ("x", "y")]
        pair = predictions(SIZES[0])().pairs[0].estimate
        return same_value("50,000 rows: difference and pandas'", pair.value, float(wrong[0] - wrong[1]))

    def resub(n: int) -> Callable[[], Any]:
        X, y = _sample(n)
        fitted = model.fit(X, y)
        return lambda: [
            unseen.estimate(fitted, X, y, method=method, fitted=True, random_state=0) for method in WITHOUT_RETRAINING
        ]

    def same_resub() -> Agreement:
        X, y = _sample(2_000)
        found, fitted = resub(2_000)(), model.fit(X, y)
        same = same_value("n = 2,000: resub and by hand", found[0].value, 1 - fitted.score(X, y))
        scaled, last = fitted[:-1].transform(X), fitted[-1]  # kernels stand behind the transformers
        for name, estimate in zip(WITHOUT_RETRAINING[1:], found[1:]):
            same = same.also(same_as_by_hand(estimate, by_hand(name.replace("-", "_"), last, scaled, y, 20)))
        return same

    return [
        _exponent("assess", assess, same_assess),
        _exponent("compare", compare, same_compare),
        _exponent("measure, 10 n cases", measure, lambda: same_measures(*_scores(50_000), measure(5_000)())),
        _exponent("predictions, two files of 10 n rows", predictions, same_predictions),
        _exponent("resub, bolster, posterior and bolster-posterior", resub, same_resub, LARGE),
    ]


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    return [*_million(), _wide(), *(_budget(n, seconds) for n, seconds in BUDGETS), *_scaling()]
