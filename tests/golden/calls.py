"""Named calls over all commands and public names, and the one form in which their results are stored.

A call is a function of a `Place`: an empty working folder in which the command line can be run. Only public names and the
command line are used, so that the calls outlive any move of modules.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

import unseen

LONG = 12
LEFT_OUT = ("seconds", "created", "updated", "version", "path", "folder", "written", "memory", "command", "minutes")
TORCH_REL = 1e-4
# a search ends where the rounding of the processor's own kernels lets it: up to 2e-7 was seen between two
SEARCH_REL = 1e-5


@dataclasses.dataclass(frozen=True)
class Call:
    """One call: what it does, whether it needs torch, and to how much its floats are compared."""

    name: str
    make: Callable[[Place], Any]
    torch: bool = False
    needs: tuple[str, ...] = ()
    searches: bool = False

    @property
    def rel(self) -> float:
        return TORCH_REL if self.torch else SEARCH_REL if self.searches else 1e-9


CALLS: dict[str, Call] = {}


def call(torch: bool = False, needs: tuple[str, ...] = (), searches: bool = False) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        CALLS[function.__name__] = Call(function.__name__, function, torch, needs, searches)
        return function

    return add


class Place:
    """An empty working folder, and the command line run in it and in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def cli(self, *words: Any, code: int = 0, seed: int | None = 1) -> Any:
        """Run `unseen WORDS --json --quiet --seed 1` and return what it prints."""
        from unseen.cli.app import main

        seeded = [] if seed is None else ["--seed", str(seed)]
        ended: Any = None
        given, out, err = sys.argv, io.StringIO(), io.StringIO()
        sys.argv = ["unseen", *map(str, words), "--json", "--quiet", *seeded]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
        except SystemExit as done:
            ended = done.code or 0
        finally:
            sys.argv = given
        assert ended == code, f"{words}: exit code {ended}: {err.getvalue()}"
        return json.loads(out.getvalue())

    def write(self, name: str, columns: Mapping[str, Any]) -> str:
        with (self.folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values()))
        return name


def run_call(name: str) -> Any:
    """Run one call in a folder of its own and return its reduced result."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="golden-") as above:
        folder = Path(above) / "here"  # so that nothing lies beside it
        folder.mkdir()
        os.chdir(folder)
        try:
            return reduced(CALLS[name].make(Place(folder)))
        finally:
            os.chdir(before)


# the form in which results are stored


def reduced(value: Any) -> Any:
    """Return plain values: numbers, keys and short words kept; prose, timings and places left out; long arrays cut."""
    return _cut(_plain(value))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return "<text>" if " " in value or "\n" in value or "/" in value or "\\" in value else value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Enum):
        return _plain(value.value)
    if type(value).__module__.partition(".")[0] == "torch":
        return _plain(value.detach().cpu().numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if hasattr(value, "to_dict") and not isinstance(value, type):
        return _plain(value.to_dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    if isinstance(value, Mapping):
        kept = {str(k): v for k, v in value.items() if not any(word in str(k) for word in LEFT_OUT)}
        return {k: _plain(v) for k, v in kept.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value if not _timing(v)]
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(v) for v in value)
    return f"<{type(value).__name__}>"


def _timing(row: Any) -> bool:
    """Whether a row of a table is about time."""
    return isinstance(row, Mapping) and any("seconds" in str(v) for k, v in row.items() if k in ("table", "measure"))


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _cut(v) for k, v in value.items()}
    if not isinstance(value, list):
        return value
    shape, flat = _flat(value)
    if flat is not None and len(flat) > LONG:
        numbers = [v for v in flat if isinstance(v, (int, float))]
        whole = all(isinstance(v, int) for v in numbers)
        total = sum(numbers) if whole else math.fsum(numbers)
        squares = sum(v * v * (k + 1) for k, v in enumerate(numbers)) if whole else None
        # the second sum tells order, too
        ordered = squares if whole else math.fsum(v * (1 + k % 7) for k, v in enumerate(numbers))
        return {"shape": shape, "first": flat[:5], "last": flat[-5:], "sum": total, "ordered_sum": ordered}
    return [_cut(v) for v in value]


def _flat(value: list[Any]) -> tuple[list[int], list[Any] | None]:
    """Return shape and elements of a full array of numbers, or None for anything else."""
    if all(v is None or isinstance(v, (bool, int, float)) or v in ("nan", "inf", "-inf") for v in value):
        return [len(value)], value
    if value and all(isinstance(v, list) for v in value):
        parts = [_flat(v) for v in value]
        if all(flat is not None and shape == parts[0][0] for shape, flat in parts):
            return [len(value), *parts[0][0]], [one for _, flat in parts for one in flat or ()]
    return [], None


# data


def patients(place: Place, n: int = 72) -> str:
    """Write a table with two classes, groups, weights, names, a category, and missing values."""
    rng = np.random.default_rng(11)
    sick = np.arange(n) % 3 == 0
    age = np.round(rng.normal(50, 10, n) + 8 * sick, 2)
    dose = np.round(rng.gamma(2.0, 1.5, n) + 1.2 * sick, 3).astype(object)
    dose[::17] = ""
    kind = np.where(rng.random(n) < 0.4 + 0.3 * sick, "b", "a")
    return place.write(
        "patients.csv",
        {
            "name": [f"p{k}" for k in range(n)],
            "age": age,
            "dose": dose,
            "kind": kind,
            "clinic": [f"c{k % 12}" for k in range(n)],
            "w": np.round(rng.uniform(0.5, 2, n), 3),
            "outcome": np.where(sick, "sick", "well"),
        },
    )


def numbers(place: Place, n: int = 60) -> str:
    """Write a table with a number to predict and a day."""
    rng = np.random.default_rng(12)
    x = np.round(rng.normal(size=(n, 3)), 4)
    y = np.round(x @ [1.0, -0.5, 0.0] + np.cumsum(rng.normal(size=n)) / 5 + rng.normal(size=n) / 3, 4)
    return place.write(
        "numbers.csv", {"day": range(n), "a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "site": np.arange(n) // 6, "y": y}
    )


def predicted(place: Place, n: int = 90) -> tuple[str, str, str]:
    """Write predictions of three models for the same items, with probabilities."""
    rng = np.random.default_rng(13)
    y = np.where(rng.random(n) < 0.4, "yes", "no")
    names = []
    for name, spread in (("a", 1.0), ("b", 1.6), ("c", 3.0)):
        p = np.round(1 / (1 + np.exp(-(np.where(y == "yes", 1.2, -1.2) + rng.normal(size=n) * spread))), 4)
        names.append(
            place.write(
                f"{name}.csv",
                {
                    "item": range(n),
                    "truth": y,
                    "p": p,
                    "guess": np.where(p > 0.5, "yes", "no"),
                    "topic": np.arange(n) // 5,
                    "w": np.round(rng.uniform(0.5, 1.5, n), 2),
                },
            )
        )
    return names[0], names[1], names[2]


def small(name: str = "iris", step: int = 3) -> tuple[Any, Any]:
    """Every third row of a bundled set."""
    X, y = unseen.datasets.load(name).xy
    return np.asarray(X)[::step], np.asarray(y)[::step]


def clouds(n: int = 48, d: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(14)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + 0.9 * y[:, None], y


def tracer(place: Place, *more: Any, subjects: int = 2) -> tuple[str, ...]:
    place.cli("kinetics", "simulate", "--out", "ttr.csv", "--subjects", subjects, *more)
    return "ttr.csv", "--doses", "doses.csv"


# listings


@call()
def datasets(place):
    return place.cli("datasets")


@call()
def models(place):
    return place.cli("models")


@call()
def methods(place):
    return [{k: row[k] for k in ("id", "kind", "target", "fits", "designs")} for row in place.cli("methods")["methods"]]


# assess and compare


@call()
def assess_iris_quick(place):
    return place.cli("assess", "iris", "--model", "lda", "--quick")


@call()
def assess_groups_weights(place):
    return place.cli(
        "assess",
        patients(place),
        "-t",
        "outcome",
        "-m",
        "logistic",
        "--groups",
        "clinic",
        "--weights",
        "w",
        "--id",
        "name",
        "--positive",
        "sick",
        "--effort",
        "splits=10,repeats=1,bootstrap=10,leave_out=20,curve=1",
        "--level",
        "0.9",
    )


@call()
def assess_auc(place):
    return place.cli(
        "assess",
        patients(place),
        "-t",
        "outcome",
        "-m",
        "naive-bayes",
        "--drop",
        "name",
        "--drop",
        "clinic",
        "--positive",
        "sick",
        "--measure",
        "auc",
        "--effort",
        "splits=10,repeats=1,bootstrap=5,leave_out=10,curve=1",
    )


@call()
def assess_time_ordered(place):
    return place.cli("assess", numbers(place), "-t", "y", "-m", "ols", "--time", "day", "--measure", "absolute")


@call()
def assess_costs_threshold(place):
    place.write("costs.csv", {"": ["sick", "well"], "sick": [0, 1], "well": [5, 0]})
    return place.cli(
        "assess",
        patients(place),
        "-t",
        "outcome",
        "-m",
        "naive-bayes",
        "--drop",
        "name",
        "--drop",
        "dose",
        "--drop",
        "kind",
        "--drop",
        "clinic",
        "--positive",
        "sick",
        "--costs",
        "costs.csv",
        "--choose-threshold",
        "--quick",
    )


@call()
def assess_fail_if(place):
    return place.cli("assess", "wine", "--n", "60", "-m", "dummy", "--quick", "--fail-if", "0.1", code=1)


@call()
def assess_python_regression(place):
    X, y = small("diabetes", 5)
    effort = {"splits": 10, "repeats": 1, "bootstrap": 10, "leave_out": 20, "curve": 1}
    return unseen.assess("ridge", X, y, measure="r2", random_state=2, effort=effort)


@call()
def compare_corrected_t(place):
    words = ("-m", "lda", "-m", "cart", "-m", "knn:3", "--rope", "0.02")
    return place.cli("compare", "iris", "--n", "90", *words)


@call()
def compare_delong_auc(place):
    return place.cli("compare", "breast-cancer", "--n", "120", "-m", "lda", "-m", "naive-bayes", "--measure", "auc")


@call()
def compare_every_test(place):
    X, y = clouds(60)
    found = {}
    for test in (
        "corrected-t",
        "bayesian-t",
        "combined-f",
        "5x2cv",
        "mcnemar",
        "permutation",
        "wilcoxon",
        "conservative-z",
        "nested-cv",
        "delong",
        "resampled-t",
        "632plus-interval",
        "wald",
    ):
        try:
            found[test] = unseen.compare({"lda": "lda", "nb": "naive-bayes"}, X, y, test=test, random_state=3).to_dict()
        except unseen.UnseenError as error:
            found[test] = type(error).__name__
    return found


@call()
def compare_groups_regression(place):
    return place.cli(
        "compare",
        numbers(place),
        "-t",
        "y",
        "-m",
        "ols",
        "-m",
        "cart",
        "--groups",
        "site",
        "--adjust",
        "none",
        "--level",
        "0.8",
    )


# every method, design, measure and model


@call()
def estimate_every_method(place):
    X, y = clouds(48)
    found = {}
    for method in (
        "5x2cv",
        "632",
        "632plus",
        "auto",
        "bca",
        "bootstrap-loo",
        "bootstrap-optimism",
        "bootstrap-percentile",
        "bootstrap-zero",
        "clopper-pearson",
        "combined",
        "conservative-z",
        "corrected-t",
        "cv-wald",
        "holdout",
        "kfold",
        "leave-out",
        "loo",
        "monte-carlo",
        "nested-cv",
        "optimism-corrected",
        "repeated-kfold",
        "resampled-t",
        "t-test",
        "vc-bound",
        "wald",
        "wilson",
        "auto-resub",
        "bayesian",
        "bolster",
        "bolster-posterior",
        "bolster-posterior-accuracy",
        "bolster-posterior-product",
        "calibrated-bolster",
        "calibrated-naive-bayes-bolster",
        "naive-bayes-bolster",
        "posterior",
        "resub",
        "semi-bolster",
    ):
        try:
            found[method] = unseen.estimate("lda", X, y, method=method, random_state=4).to_dict()
        except unseen.UnseenError as error:
            found[method] = type(error).__name__
    return found


@call()
def estimate_regression_methods(place):
    X, y = small("diabetes", 9)
    found = {}
    for method in ("fpe", "fpe-distribution", "gcv", "gpe", "nic", "corrected-t", "kfold", "loo", "632plus"):
        found[method] = unseen.estimate("ols", X, y, method=method, random_state=5).to_dict()
    return found


@call()
def estimate_slow_methods(place):
    from sklearn.naive_bayes import GaussianNB

    X, y = clouds(20)
    table = unseen.run(GaussianNB(), X, y, design=unseen.designs.Bootstrap(200), random_state=1, full=True)
    order = np.arange(20)
    return {
        "out-of-bag": unseen.estimate(table, method="out-of-bag"),
        "632plus-interval": unseen.estimate(table, method="632plus-interval"),
        "leave-p-out": unseen.estimate(
            GaussianNB(), X[:12], y[:12], method="leave-p-out", random_state=0, design=unseen.designs.LeavePOut(2)
        ),
        "time-ordered": unseen.estimate(GaussianNB(), X, y, method="time-ordered", time=order, random_state=0),
    }


@call()
def run_every_design(place):
    from sklearn.naive_bayes import GaussianNB

    X, y = clouds(40)
    d = unseen.designs
    groups = np.arange(40) // 4
    made = {
        "bootstrap": d.Bootstrap(5),
        "5x2cv": d.Cv5x2(),
        "holdout": d.Holdout(0.3),
        "kfold": d.KFold(4),
        "loo": d.LeaveOneOut(),
        "leave-out": d.LeaveOut(0.25, 6),
        "leave-p-out": d.LeavePOut(1),
        "monte-carlo": d.MonteCarlo(),
        "nested": d.Nested(),
        "repeated": d.RepeatedKFold(),
        "halves": d.SplitHalves(),
        "id": "kfold",
        "number": 3,
    }
    found = {}
    for name, design in made.items():
        table = unseen.run(GaussianNB(), X, y, design=design, random_state=6)
        losses = table.losses("zero-one")
        found[name] = {
            "means": losses.split_means(),
            "first": table.plan.splits[0].train,
            "fingerprint": table.plan.fingerprint,
            "sizes": [[len(s.train), len(s.test)] for s in table.plan.splits],
        }
    grouped = unseen.run(GaussianNB(), X, y, design=d.KFold(5), groups=groups, random_state=6)
    found["groups"] = [s.test for s in grouped.plan.splits]
    timed = unseen.run(GaussianNB(), X, y, design=d.TimeOrdered(), time=np.arange(40), random_state=6)
    found["time"] = [s.test for s in timed.plan.splits]
    return found


@call()
def every_measure_of_a_table(place):
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB

    X, y = clouds(48)
    classes = unseen.run(GaussianNB(), X, y, design=unseen.designs.MonteCarlo(), random_state=7, scores=True)
    values = unseen.run(LinearRegression(), X[:, :2], X[:, 2], design=unseen.designs.MonteCarlo(), random_state=7)
    found = {}
    for name in (
        "zero-one",
        "accuracy",
        "auc",
        "average-precision",
        "balanced-accuracy",
        "brier",
        "d-prime",
        "f1",
        "false-alarm-rate",
        "log-loss",
        "mcc",
        "miss-rate",
        "negative-predictive-value",
        "positive-predictive-value",
        "partial-auc",
        "sensitivity",
        "specificity",
        "corner-distance",
        "absolute",
        "squared",
        "r2",
        "rms",
        "pov",
        "pineda-p",
        "quantile",
        "normalised-absolute",
        "normalised-squared",
        "trimmed-absolute",
        "trimmed-squared",
        unseen.measures.Cost([[0, 1], [3, 0]]),
    ):
        for kind, table in (("classes", classes), ("numbers", values)):
            key = f"{name if isinstance(name, str) else 'cost'}-{kind}"
            try:
                found[key] = unseen.estimate(table, method="corrected-t", loss=name).to_dict()
            except unseen.UnseenError as error:
                found[key] = type(error).__name__
    return found


@call()
def every_model(place):
    X, y = small("iris", 5)
    Z, t = small("diabetes", 12)
    found = {}
    names = (
        "linear-svm",
        "rbf-svm",
        "cart",
        "knn:3",
        "lda",
        "qda",
        "naive-bayes",
        "logistic",
        "boosting",
        "ridge",
        "dummy",
    )
    for name in names:
        found[name] = unseen.estimate(name, X, y, method="kfold", design=3, random_state=8).value
    for name in ("linear-svm", "rbf-svm", "cart", "knn", "ols", "ridge", "dummy"):
        found[f"{name}-regression"] = unseen.estimate(name, Z, t, method="kfold", design=3, random_state=8).value
    return found


@call()
def forest_and_mlp(place):
    X, y = small("iris", 5)
    forest = unseen.estimate("random-forest:n_estimators=5", X, y, method="holdout", random_state=8)
    net = unseen.estimate("mlp", X, y, method="holdout", random_state=8)
    return forest, net.value


@call()
def own_learners(place):
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPRegressor

    X, y = clouds(60, 4)
    t = X[:, 0] - X[:, 2] + 0.1 * X[:, 1] ** 2
    quit_ahead = unseen.QuitWhenAhead(
        MLPRegressor(hidden_layer_sizes=(5,), learning_rate_init=0.05), epochs=15, random_state=0
    )
    return {
        "elimination": unseen.BackwardElimination(random_state=0).fit(X, t).get_support(indices=True),
        "principal": unseen.PrincipalScores(random_state=0).fit_transform(X),
        "z": unseen.ZScore().fit_transform(X),
        "threshold": vars(unseen.UtilityThreshold(GaussianNB(), costs=[[0, 1], [5, 0]], random_state=0).fit(X, y))[
            "threshold_"
        ],
        "quit": quit_ahead.fit(X, t).monitored_error_,
        "monitored": unseen.monitor(
            MLPRegressor(hidden_layer_sizes=(4,), random_state=0), X[:40], t[:40], X[40:], t[40:], epochs=10
        ),
        "own": unseen.estimate(LogisticRegression(), X, y, method="corrected-t", random_state=1),
    }


# diagnosis


@call()
def diagnose_classes(place):
    return place.cli("diagnose", "iris", "--n", "45", "-m", "lda", "--rank-with", "naive-bayes,knn:3", "--quick")


@call()
def diagnose_numbers(place):
    words = (
        "-t",
        "y",
        "-m",
        "ols",
        "--groups",
        "site",
        "--coefficients",
        "bootstrap",
        "--noise",
        "features",
        "--quick",
    )
    return place.cli("diagnose", numbers(place), *words)


@call()
def diagnose_parts(place):
    from sklearn.feature_selection import SelectKBest
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import ExtraTreeClassifier

    X, y = clouds(40, 12)
    return {
        "leak": unseen.preprocessing_leak(SelectKBest(k=2), GaussianNB(), X, y, random_state=0),
        "training": unseen.training_variance(
            ExtraTreeClassifier(),
            X,
            y,
            n_seeds=3,
            settings={"max_depth": (2, 4)},
            design=unseen.designs.LeaveOut(0.25, 5),
        ),
        "components": unseen.variance_components("lda", "gaussian-blocks", 20, k=4, sets=12),
        "jackknife": unseen.jackknife(np.var, X[:, 0]),
        "optimism": unseen.optimism_over_sets("lda", "gaussian-blocks", 30, sets=8),
    }


@call()
def planning(place):
    fractions = {}
    for n, p, kurtosis in ((100, 5, 3.0), (20, 10, 3.0), (200, 12, 5.0)):
        gamma = unseen.optimal_fraction(n, p, kurtosis)
        fractions[f"{n}-{p}"] = [float(gamma), gamma.root, gamma.exact, gamma.beta]
    return {
        "fractions": fractions,
        "rate": place.cli("plan-test-size", "--half-width", "0.02", "--error", "0.1"),
        "exact": place.cli("plan-test-size", "--half-width", "0.05", "--error", "0.2", "--interval", "clopper-pearson"),
        "clusters": place.cli(
            "plan-test-size", "--half-width", "0.1", "--sd", "1.5", "--cluster-size", "4", "--icc", "0.2"
        ),
        "difference": place.cli(
            "plan-test-size", "--half-width", "0.03", "--disagreement", "0.1", "--difference", "0.02"
        ),
        "power": place.cli("power", "--n", "300", "--difference", "0.03", "--disagreement", "0.1"),
        "size": place.cli("power", "--difference", "0.04", "--disagreement", "0.12", "--power", "0.8"),
        "found": place.cli("power", "--n", "200", "--sd", "0.7", "--power", "0.9", "--sides", "1", "--alpha", "0.01"),
    }


@call()
def rank_over_sets(place):
    rng = np.random.default_rng(2)
    errors = {name: 0.1 * k + rng.random(9) for k, name in enumerate("abcd")}
    return unseen.rank(errors), unseen.rank(errors, posthoc="holm", level=0.9)


# distributions, predictions, disagreement, measures


@call()
def distribution_one(place):
    return place.cli("distribution", "iris", "--n", "60", "-m", "lda", "--splits", "30")


@call()
def distribution_two(place):
    words = ("-t", "y", "-m", "ols", "-m", "ridge", "--groups", "site", "--fraction", "0.4", "--splits", "20", "--log")
    return place.cli("distribution", numbers(place), *words)


@call()
def predictions_labels(place):
    a, b, c = predicted(place)
    return place.cli("predictions", a, b, c, "--truth", "truth", "--pred", "guess", "--id", "item")


@call()
def predictions_measures(place):
    a, b, _ = predicted(place)
    shared = ("predictions", a, b, "--truth", "truth", "--prob", "p", "--positive", "yes")
    return {
        "auc": place.cli(*shared, "--measure", "auc"),
        "brier": place.cli(*shared, "--measure", "brier", "--cluster", "topic", "--adjust", "none"),
        "f1": place.cli(
            "predictions", a, "--truth", "truth", "--pred", "guess", "--positive", "yes", "--measure", "f1"
        ),
        "score": place.cli("predictions", a, b, "--score", "p", "--id", "item"),
    }


@call()
def disagree_round_trip(place):
    a, b, _ = predicted(place)
    asked = place.cli("disagree", a, b, "--pred", "guess", "--id", "item", "--budget", "10", "--out", "label.csv")
    with open("label.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for k, row in enumerate(rows):
        row["label"] = "yes" if k % 3 else "no"
    place.write("filled.csv", {name: [row[name] for row in rows] for name in rows[0]})
    return asked, rows, place.cli("disagree", "--labelled", "filled.csv")


@call()
def measure_two_classes(place):
    a, *_ = predicted(place)
    return place.cli(
        "measure",
        a,
        "--truth",
        "truth",
        "--score",
        "p",
        "--positive",
        "yes",
        "--cluster",
        "topic",
        "--prevalence",
        "0.1",
    )


@call()
def measure_costs_weights(place):
    a, *_ = predicted(place)
    place.write("costs.csv", {"": ["no", "yes"], "no": [0, 4], "yes": [1, 0]})
    return place.cli(
        "measure",
        a,
        "--truth",
        "truth",
        "--score",
        "p",
        "--positive",
        "yes",
        "--costs",
        "costs.csv",
        "--weights",
        "w",
        "--threshold",
        "0.3",
    )


@call()
def measure_python(place):
    X, y = clouds(50)
    return {
        "numbers": unseen.measure(X[:, 0], X[:, 0] + 0.3 * X[:, 1], n_bootstrap=100, random_state=0),
        "three": unseen.measure(
            np.arange(50) % 3,
            (np.arange(50) + (X[:, 1] > 1)) % 3,
            task="classification",
            n_bootstrap=100,
            random_state=0,
        ),
        "auc": unseen.measure(
            y, X[:, 0], measures=["auc", "average-precision"], n_bootstrap=100, random_state=0, positive=1
        ),
    }


# without retraining


@call(needs=("skops",), searches=True)
def resub_file(place):
    import skops.io
    from sklearn.linear_model import LogisticRegression

    X, y = small("iris", 2)
    skops.io.dump(LogisticRegression(C=0.1).fit(X, y), "model.skops")
    place.write("iris.csv", {**{f"x{k}": X[:, k] for k in range(4)}, "kind": y})
    one = ("resub", "model.skops", "iris.csv", "-t", "kind")
    return place.cli(*one), place.cli(*one, "-m", "posterior", "-o", "k=3")


@call(searches=True)
def resubstitution_functions(place):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.tree import DecisionTreeClassifier

    X, y = clouds(40)
    r = unseen.resubstitution
    names = ("resub", "bolster", "semi_bolster", "naive_bayes_bolster", "calibrated_bolster", "calibrated_naive_bayes_bolster",
             "posterior", "bolster_posterior", "bolster_posterior_product", "bolster_posterior_accuracy", "bayesian")  # fmt: skip
    found = {}
    for model in (LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=3, random_state=0)):
        model.fit(X, y)
        for name in names:
            found[f"{type(model).__name__}-{name}"] = getattr(r, name)(model, X, y, random_state=1).to_dict()
    seen = r.view(model, X, y, resolution=8, random_state=0)
    score = r.scorer("bolster")(model, X, y)
    return found, seen, score, r.deviations({"g": {"a": [0.1, 0.2, 0.4]}}, {"g": [0.15, 0.2, 0.3]})


@call()
def resubstitute_neighbours(place):
    X, y = small("iris", 4)
    return unseen.resubstitute(_knn(X, y), X, y, random_state=1)


def _knn(X, y):
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(3).fit(X, y)


# kinetics


@call()
def kinetics_simulate(place):
    return place.cli(
        "kinetics",
        "simulate",
        "--out",
        "ttr.csv",
        "--subjects",
        4,
        "--gross-errors",
        1,
        "--effect",
        "k02=1.5",
        "--location",
        "IC-IC",
    )


@call(searches=True)
def kinetics_fit(place):
    return place.cli("kinetics", "fit", *tracer(place))


@call(searches=True)
def kinetics_fit_options(place):
    words = ("--location", "IC-EC", "--error", "proportional", "--outliers", "none", "--drop-early", "Tyr-4=10")
    return place.cli("kinetics", "fit", *tracer(place, subjects=1), *words)


@call()
def kinetics_nca(place):
    return place.cli("kinetics", "nca", *tracer(place, subjects=3))


@call(searches=True)
def kinetics_compare_groups(place):
    where = tracer(place, "--effect", "k02=3", "--between", "0.1", subjects=6)
    words = ("--group", "group", "--location", "EC-EC", "--permutations", 19)
    return place.cli("kinetics", "compare-groups", *where, *words)


@call(searches=True)
def kinetics_functions(place):
    k = unseen.kinetics
    t = np.array([0.5, 1, 2, 3, 4, 6, 8, 12])
    y = 3 * np.exp(-0.9 * t) + np.exp(-0.1 * t) + 0.01 * np.sin(7 * t)
    table = {"k21": 0.131, "k12": 0.027, "k02": 0.026, "k43": 0.127, "k34": 0.023, "k04": 0.02, "kappa": 0.033}
    one = k.CompartmentModel(("1",), {"k": ("1", None)}, (k.Bolus("1", 10.0),), {"y": k.Output("1", "V")})
    made = k.simulate(subjects=1, noise=0.02, between=0.0, random_state=1)
    fitted = k.fit(made.ttr, made.doses, locations=["EC-EC"])["s1"]
    return {
        "curve": k.fit_curve(t, y),
        "identifiability": k.interval_identifiability([0.2, 0.1], [0.16, 0.02], dose=3.6),
        "tracee": k.tracee([0.2, 0.1], [0.16, 0.02], [0.1, 0.05], [0.15, 0.017], 0.033, (3.6, 2.85), "EC-EC"),
        "printed": k.printed_tracee(table, 12, 19, "IC-IC"),
        "product": k.product_curve(t, [1.0], [0.1], [1.0], [0.2]),
        "mean": k.group_mean([1.0, 2.0, 3.5], [0.1, 0.1, 0.2], "k"),
        "system": k.fit_system(one, {"y": (t, 2 * np.exp(-0.3 * t) + 0.01 * np.cos(t))}),
        "conventional": k.fit_conventional(fitted, "4.2a"),
    }


# nets


def blobs() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.standard_normal((40, 3)).astype(np.float32) + y[:, None].astype(np.float32), y


def linear_net(size: float = 1.0) -> Any:
    """A net with weights set by hand."""
    import torch

    net = unseen.nets.make_mlp(n_features=3, n_classes=2, depth=0)
    with torch.no_grad():
        for name, values in net.named_parameters():
            fixed = torch.linspace(-1, 1.3, values.numel()).reshape(values.shape)
            values.copy_(size * fixed if name.endswith("weight") else 0 * fixed)
    return net


def networks(place: Place) -> tuple[str, str]:
    """Write tables of twelve networks in two seeds, and of measures of them."""
    rng = np.random.default_rng(3)
    cells = [(a, b, c) for a in (1, 2, 3) for b in (8, 16) for c in (0.0, 0.5)]
    nets, rows = [], []
    for seed in (0, 1):
        for k, (a, b, c) in enumerate(cells):
            gap = 0.1 + 0.03 * a + 0.01 * (b == 16) + 0.004 * (c > 0) + 0.01 * rng.random()
            nets.append(
                {
                    "zoo": "made-up",
                    "name": f"n{k}",
                    "seed": seed,
                    "train_accuracy": 1.0,
                    "test_accuracy": 1 - gap,
                    "gap": gap,
                    "depth": a,
                    "width": b,
                    "dropout": c,
                }
            )
            for name, value in (("knows", 4 * gap + 0.02 * rng.random()), ("noise", rng.random())):
                rows.append(
                    {
                        "zoo": "made-up",
                        "seed": seed,
                        "net": f"n{k}",
                        "measure": name,
                        "value": value,
                        "std_error": 0.1,
                        "draws": 1,
                        "seconds": 0.5,
                        "reason": "",
                    }
                )
    place.write("networks.csv", {key: [net[key] for net in nets] for key in nets[0]})
    place.write("values.csv", {key: [row[key] for row in rows] for key in rows[0]})
    known = {name: [row["value"] for row in rows if row["measure"] == name] for name in ("knows", "noise")}
    place.write("table.csv", {**{key: [net[key] for net in nets] for key in nets[0]}, **known})
    return "networks.csv", "values.csv"


@call(torch=True)
def nets_bench_tables(place):
    nets, values = networks(place)
    return place.cli("nets", "bench", "--networks", nets, "--values", values, "--permutations", "19")


@call()
def nets_cmi(place):
    networks(place)
    words = ("--measure", "knows,noise", "--grid", "depth,width,dropout", "--permutations", "19", "--sizes", "0,1,2")
    return place.cli("nets", "cmi", "table.csv", *words, "--seed-column", "seed")


@call(torch=True)
def nets_scores(place):
    rng = np.random.default_rng(5)
    cells = [(a, b, c) for a in (1, 2) for b in (8, 16) for c in (0.0, 0.5)]
    grid = {name: [cell[k] for cell in cells] for k, name in enumerate(("depth", "width", "dropout"))}
    gap, value = rng.random(8), rng.random(8)
    n = unseen.nets
    return {
        "tau": n.kendall_tau(gap, value),
        "granulated": n.granulated_tau(gap, value, grid),
        "robust": n.robust_error(gap, value, grid),
        "cmi": n.cmi(gap, value, grid, sizes=(0, 1, 2)),
        "scores": n.score_measures(gap, {"one": value, "two": gap**2}, grid, n_permutations=19),
    }


@call(torch=True)
def nets_estimate_commands(place):
    import torch

    Path("golden_own_net.py").write_text(
        "from torch import nn\n\ndef make():\n    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))\n"
    )
    X, y = blobs()
    np.savez("train.npz", X=X, y=y)
    sys.path.insert(0, str(place.folder))
    try:
        import golden_own_net

        torch.manual_seed(0)
        torch.save(golden_own_net.make().state_dict(), "net.pt")
        base = (
            "nets",
            "estimate",
            "--module",
            "golden_own_net:make",
            "--weights",
            "net.pt",
            "--data",
            "train.npz",
            "--device",
            "cpu",
        )
        return {
            "bolster": place.cli(*base, "--method", "bolster", "--n-mc", 20),
            "default": place.cli(*base, "--n-mc", 20),
            "posterior": place.cli(*base, "--method", "posterior", "-o", "posterior=knn", "-o", "k=5"),
            "calibrated": place.cli(
                *base, "--method", "calibrated-bolster", "--repeats", 2, "--n-mc", 5, "--train", "epochs=3"
            ),
            "sampled": place.cli(
                *base, "--method", "bayesian", "--sampler", "sgld", "--sample", "n_samples=4", "--sample", "burn_in=10"
            ),
        }
    finally:
        sys.path.remove(str(place.folder))
        sys.modules.pop("golden_own_net", None)


@call(torch=True)
def nets_estimate_python(place):
    X, y = blobs()
    net = linear_net()
    made = {}
    for method in (
        "resub",
        "bolster",
        "naive-bayes-bolster",
        "semi-bolster",
        "posterior",
        "bolster-posterior",
        "bolster-posterior-product",
        "bolster-posterior-accuracy",
    ):
        try:
            made[method] = unseen.nets.estimate(
                net, X, y, method=method, n_mc=20, device="cpu", random_state=1
            ).to_dict()
        except unseen.UnseenError as error:
            made[method] = type(error).__name__
    return made


@call(torch=True)
def nets_posterior(place):
    X, y = blobs()
    found = {}
    for sampler in ("sghmc", "sgld", "laplace"):
        made = unseen.nets.posterior(
            linear_net(), X, y, sampler, n_samples=4, burn_in=10, thin=2, n_chains=2, device="cpu", random_state=0
        )
        found[sampler] = made.probabilities(X)
    return found


@call(torch=True)
def nets_monitor(place):
    X, y = blobs()
    net = linear_net()
    Path("runs").mkdir()
    watch = unseen.nets.Monitor(net, X[:20], y[:20], X[20:], y[20:], path="runs/first.jsonl")
    watch()
    import torch

    with torch.no_grad():
        for values in net.parameters():
            values.mul_(0.5)
    watch()
    rows = place.cli("nets", "monitor", "runs")
    return [{k: v for k, v in row.items() if k != "state"} for row in rows]


@call(torch=True)
def nets_rank_command(place):
    X, y = blobs()
    np.savez("train.npz", X=X, y=y)
    from safetensors.torch import save_file

    told = {}
    for name, size in (("steep", 4.0), ("flat", 0.5), ("plain", 1.0)):
        save_file(linear_net(size).state_dict(), f"{name}.safetensors")
        told[name] = {"weights": f"{name}.safetensors", "make": "make_mlp", "options": {"depth": 0}}
    Path("manifest.json").write_text(json.dumps({"networks": told}))
    words = ("--measures", "inverse-margin,path-norm,frobenius-sum", "--accuracy", "0.5", "--device", "cpu")
    return place.cli("nets", "rank", ".", "--data", "train.npz", *words)


@call(torch=True)
def nets_every_measure(place):
    n = unseen.nets
    nets = {"a": n.sample_net("conv", epochs=12), "b": n.sample_net("conv", seed=1, epochs=12)}
    # the random order hangs on the last bits of the weights, and so on the number of threads
    left = ("bayesian", "par-search", "holdout80", "random-order")
    ids = [name for name in n.known_measures() if name not in left]
    ranked = n.rank(nets, measures=ids, device="cpu", random_state=0, accuracy=0.3, images=False)
    return {"known": sorted(n.known_measures()), "ranked": ranked}


@call(torch=True)
def nets_zoo_bench(place):
    n = unseen.nets
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 6)) + 0.6 * y[:, None]
    axes = {"width": (4, 8), "depth": (1, 2), "weight_decay": (0.0, 0.03)}
    grid = n.ZooGrid("toy", n.make_mlp, axes, epochs=20, accuracy=0.1)
    zoo = n.Zoo.train(grid, (X[:40], y[:40], X[40:], y[40:]), store="zoo", seeds=1, copies=False, device="cpu")
    return {"zoo": zoo.rows(), "bench": n.bench(zoo, ["path-norm", "inverse-margin"], n_permutations=9)}


@call(torch=True)
def nets_training(place):
    n = unseen.nets
    X, y = blobs()
    fits = n.fit_many(
        n.make_mlp, X, y, [np.arange(30), np.arange(10, 40)], seeds=0, epochs=5, lr=[0.05, 0.1], device="cpu"
    )
    one = n.Classifier(epochs=5, random_state=0, device="cpu").fit(X, y)
    import torch

    images = torch.linspace(0, 1, 2 * 64).reshape(2, 1, 8, 8)
    factors = n.draw_factors(2, torch.Generator().manual_seed(0))
    sheet = n.augmentation_sheet(images, "all")
    return {
        "logits": fits.logits(X),
        "probabilities": one.predict_proba(X),
        "augmented": n.augment(images, factors),
        "penalties": sheet.penalties,
    }


# studies


STUDY = """
name = "golden"
seed = 3
replications = 4
sizes = [16, 24]
n_test = 300

[[populations]]
id = "gaussian-blocks"

[[populations]]
data = "iris"

[[models]]
model = "knn:3"

[[models]]
model = "lda"

[[methods]]
id = "resub"

[[methods]]
id = "clopper-pearson"

[[methods]]
id = "kfold"
design_options = { n_folds = 3 }
design = "kfold"

[[comparisons]]
model_a = "knn:3"
model_b = "lda"
test = "mcnemar"
"""


@call(needs=("sqlalchemy", "pydantic"))
def study_commands(place):
    Path("golden.toml").write_text(STUDY)
    where = ("--store", "studies.db")
    place.cli("study", "run", "golden.toml", *where, seed=None)
    place.cli("study", "export", "golden", "--to", "tasks.csv", *where)
    with open("tasks.csv", newline="", encoding="utf-8") as file:
        tasks = list(csv.DictReader(file))
    numbers = [
        {k: v for k, v in row.items() if k in ("n", "method", "estimate", "truth", "lower", "upper")} for row in tasks
    ]
    return {
        "status": place.cli("study", "status", "golden", *where),
        "list": place.cli("study", "list", *where),
        "summary": place.cli("study", "summary", "golden", *where),
        "header": [k for k in tasks[0] if "seconds" not in k],
        "tasks": [[_number(v) for v in row.values()] for row in numbers[::7]],
        "cancel": place.cli("study", "cancel", "golden", *where),
        "resume": sorted(place.cli("study", "resume", "golden", *where)),
        "remove": place.cli("study", "remove", "golden", "--yes", *where),
    }


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


@call(needs=("sqlalchemy", "pydantic"))
def study_template(place):
    place.cli("study", "new", "mine.toml")
    words = ("--store", "studies.db", "--replications", 2, "--name", "short")
    return place.cli("study", "run", "mine.toml", *words, seed=9)


# kept results and reproductions


@call(needs=("sqlalchemy",))
def kept_kinds(place):
    """The words under which results are kept."""
    X, y = clouds(30)
    a, *_ = predicted(place)
    k = unseen.kinetics
    made = k.simulate(subjects=1, random_state=1)
    fitted = _knn(X, y)
    results = [
        unseen.assess("lda", X, y, effort="quick", random_state=0),
        unseen.compare({"a": "lda", "b": "dummy"}, X, y, random_state=0),
        unseen.estimate("lda", X, y, method="kfold", random_state=0),
        unseen.distribution("lda", X, y, n_splits=5, random_state=0),
        unseen.rank({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.5]}),
        unseen.measure(y, X[:, 0], n_bootstrap=100, positive=1),
        unseen.predictions(a, truth="truth", pred="guess"),
        unseen.power(100, 0.1, disagreement=0.2),
        unseen.plan_test_size(0.05),
        unseen.resubstitute(fitted, X, y, methods=["resub"], random_state=0),
        unseen.resubstitution.bolster(fitted, X, y, random_state=0),
        k.fit(made.ttr, made.doses, locations=["EC-EC"]),
        k.fit(made.ttr, made.doses, locations=["EC-EC"])["s1"],
        k.nca(made.ttr, made.doses),
        made,
    ]
    for one in results:
        one.keep("kept.db", type(one).__name__)
    from unseen.store import open_store

    with open_store("kept.db", read_only=True) as store:
        return [[one.name, one.kind, sorted(store.record(one.id).payload)] for one in reversed(store.records())]


@call(torch=True, needs=("sqlalchemy",))
def kept_kinds_nets(place):
    nets, values = networks(place)
    n = unseen.nets
    X, y = blobs()
    rng = np.random.default_rng(5)
    cells = [(a, b, c) for a in (1, 2) for b in (8, 16) for c in (0.0, 0.5)]
    grid = {name: [cell[k] for cell in cells] for k, name in enumerate(("depth", "width", "dropout"))}
    scores = n.score_measures(rng.random(8), {"one": rng.random(8)}, grid, n_permutations=9)
    results = [
        n.rank({"a": linear_net(), "b": linear_net(2.0)}, X, y, measures=["path-norm"], device="cpu", accuracy=0.3),
        n.bench_of(nets, values, n_permutations=9),
        scores,
        scores.scores["one"],
        n.estimate(linear_net(), X, y, method="bolster", n_mc=5, device="cpu"),
    ]
    for one in results:
        one.keep("kept.db", type(one).__name__)
    place.cli("nets", "bench", "--networks", nets, "--values", values, "--permutations", "9", "--store", "kept.db")
    from unseen.store import open_store

    with open_store("kept.db", read_only=True) as store:
        return [[one.kind, sorted(store.record(one.id).payload)] for one in reversed(store.records())]


@call(needs=("sqlalchemy",))
def kept_kinds_commands(place):
    where = ("--store", "kept.db")
    place.cli("assess", "iris", "--n", "45", "-m", "lda", "--quick", *where)
    place.cli("compare", "iris", "--n", "45", "-m", "lda", "-m", "cart", *where)
    place.cli("reproduce", "larsen-hansen", "-r", 4, "--option", "n_splits=10", *where)
    from unseen.store import open_store

    with open_store("kept.db", read_only=True) as store:
        return [[one.kind, sorted(store.record(one.id).payload)] for one in reversed(store.records())]


@call()
def reproduce_list(place):
    return [{k: row[k] for k in ("experiment", "extra", "options")} for row in place.cli("reproduce", "--list")]


@call()
def reproduce_synthetic(place):
    words = ("-r", 3, "--sizes", "20", "--rules", "3nn,cart", "--bootstrap", "5", "--jobs", "1")
    return place.cli("reproduce", "ghane-synthetic", *words)


@call()
def reproduce_small(place):
    return {
        "larsen-hansen": place.cli("reproduce", "larsen-hansen", "-r", 5, "--option", "n_splits=10"),
        "ghane-hcm": place.cli("reproduce", "ghane-hcm", "-r", 2),
        "hutton": place.cli("reproduce", "hutton-overtraining", "-r", 3, "--option", "epochs=30"),
        "seeds": place.cli(
            "reproduce", "larsen-hansen", "-r", 3, "--option", "n_splits=10", "--seeds", "0-1", seed=None
        ),
    }


@call()
def reproduce_pgdl(place):
    return place.cli("reproduce", "pgdl-scores", "-r", 5)


@call()
def reproduce_nadeau_bengio(place):
    words = ("-r", 2, "--synthetic-sets", "20", "--variance-sets", "20", "--jobs", "1")
    return place.cli("reproduce", "nadeau-bengio", *words, seed=0)
