"""Large and wide data: a million rows from a file, 20,000 columns, a budget that is kept, and cost against n as an exponent."""

from __future__ import annotations

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
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unseen
from benchmarks.timing import cpu_seconds, row

MILLION = 1_000_000
GIGABYTES = 4.0  # that a million rows may take
MINUTES = 5.0  # of CPU that they may take from Parquet; from CSV two more
SIZES = (5_000, 20_000, 80_000)
# whole parts of 12,500 and 25,000 rows, in which neighbours are looked for: parts of another size cost otherwise
LARGE = (25_000, 50_000, 100_000)
BUDGETS = ((10_000, 10.0), (200_000, 20.0))  # rows and seconds
SLACK = 1.2  # a budget is kept if the call takes at most this times as long


@dataclass(frozen=True)
class Process:
    """What a command took: CPU seconds, seconds, gigabytes at its largest, and what it printed."""

    cpu: float
    wall: float
    gigabytes: float
    text: str


def _run(*arguments: str) -> Process:
    """Run `unseen` in a process of its own."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "unseen", *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"unseen {' '.join(arguments)} ended with {status}")
    return Process(
        usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, usage.ru_maxrss / 2**20, " ".join(text.split())
    )


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


def _million() -> list[dict]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        table = mixed_table(MILLION)
        parquet, csv = Path(folder) / "big.parquet", Path(folder) / "big.csv"
        table.to_parquet(parquet)
        table.to_csv(csv, index=False)
        del table
        for path, minutes in ((parquet, MINUTES), (csv, MINUTES + 2)):
            made = _run("assess", str(path), "--target", "y", "--model", "logistic", "--seed", "1", "--quiet")
            rows.append(
                row(
                    f"assess, logistic, 1e6 x 20 with categories and gaps, {path.suffix[1:]}",
                    made.cpu,
                    float("nan"),
                    "none",
                    f"under {minutes:g} min and {GIGABYTES:g} GB",
                    made.cpu < 60 * minutes and made.gigabytes < GIGABYTES,
                    f"{made.gigabytes:.2f} GB; wall {made.wall:.0f} s",
                )
            )
    return rows


def _wide() -> dict:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 20_000)), np.repeat([0, 1], 30)
    X[y == 1, :50] += 0.8
    fit = make_pipeline(StandardScaler(), LogisticRegression())
    peer = cpu_seconds(lambda: fit.fit(X, y).predict(X), 3)
    effort = {"splits": 0, "repeats": 1, "bootstrap": 0, "leave_out": 0, "curve": 0, "direct": 0}
    fits = 11
    own = cpu_seconds(lambda: unseen.assess("logistic", X, y, random_state=0, effort=effort, progress=False), 1)
    whole = cpu_seconds(lambda: unseen.assess("logistic", X, y, random_state=0, progress=False), 1)
    return row(
        f"assess, logistic, 60 x 20,000, ten folds: CPU over that of {fits} fits",
        own,
        fits * peer,
        f"{fits} fits of scikit-learn",
        "at most 10 times",
        own <= 10 * fits * peer,
        f"one fit {peer:.3g} s; default effort (225 fits, kernels) {whole:.3g} s, {whole / (225 * peer):.2g} times its fits",
    )


def _budget(n: int, seconds: float) -> dict:
    X, y = make_classification(n, 20, n_informative=10, n_redundant=0, flip_y=0.1, random_state=1)
    begin = time.perf_counter()
    made = unseen.assess("logistic", X, y, random_state=0, budget=seconds, progress=False)
    wall = time.perf_counter() - begin
    told = next(note.text for note in made.notes if note.code == "U019")
    return row(
        f"assess, logistic, n = {n:,}, budget of {seconds:g} s: wall, not CPU",
        wall,
        seconds,
        "the budget",
        f"at most {SLACK:g} times",
        wall <= SLACK * seconds,
        f"error {made.error:.4f}; {told}",
    )


def _exponent(name: str, call: Callable[[int], Callable[[], Any]], sizes: tuple[int, ...] = SIZES) -> dict:
    """Return the slope of log CPU against log n."""
    seconds = [cpu_seconds(call(n), 2) for n in sizes]
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    told = ", ".join(f"{n:,}: {s:.3g} s" for n, s in zip(sizes, seconds))
    return row(f"{name}: exponent of n, not seconds", slope, float("nan"), "none", "at most 1.1", slope <= 1.1, told)


def _sample(n: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, 20, n_informative=10, n_redundant=0, flip_y=0.1, random_state=1)


def _scaling() -> list[dict]:
    model, other = make_pipeline(StandardScaler(), LogisticRegression()), RidgeClassifier()

    def assess(n: int) -> Callable[[], Any]:
        X, y = _sample(n)
        return lambda: unseen.assess(model, X, y, random_state=0, progress=False, rounds=1)

    def compare(n: int) -> Callable[[], Any]:
        X, y = _sample(n)
        return lambda: unseen.compare({"a": model, "b": other}, X, y, random_state=0, progress=False)

    def measure(n: int) -> Callable[[], Any]:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 10 * n)
        p = 1 / (1 + np.exp(-rng.normal(y, 1.0)))
        return lambda: unseen.measure(y, p, random_state=0)

    def predictions(n: int) -> Callable[[], Any]:
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 2, 10 * n)
        files = {
            name: pd.DataFrame({"id": np.arange(10 * n), "truth": truth, "pred": truth ^ (rng.random(10 * n) < wrong)})
            for name, wrong in (("a", 0.1), ("b", 0.12))
        }
        return lambda: unseen.predictions(files, truth="truth", pred="pred", id="id")

    def resub(n: int) -> Callable[[], Any]:
        X, y = _sample(n)
        fitted = model.fit(X, y)
        return lambda: [
            unseen.estimate(fitted, X, y, method=method, fitted=True, random_state=0)
            for method in ("resub", "bolster", "posterior", "bolster-posterior")
        ]

    return [
        _exponent("assess", assess),
        _exponent("compare", compare),
        _exponent("measure, 10 n cases", measure),
        _exponent("predictions, two files of 10 n rows", predictions),
        _exponent("resub, bolster, posterior and bolster-posterior", resub, LARGE),
    ]


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    return [*_million(), _wide(), *(_budget(n, seconds) for n, seconds in BUDGETS), *_scaling()]
