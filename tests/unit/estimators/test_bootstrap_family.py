"""The bootstrap estimators against textbook loops over the same index sets."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError
from unseen.core.measure import Loss
from unseen.designs import Bootstrap
from unseen.estimators.b632plus import B632Plus, combine
from unseen.measures.regression import Squared


def noisy(n=60, seed=0, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + 1.5 * rng.standard_normal(n) > 0).astype(int)
    return X, y


def textbook(model, X, y, plan, loss):
    """Efron and Tibshirani (1997), sections 2 and 3, written out: training error, Err1, gamma, replicate means, optimism."""
    n = len(y)
    full = clone(model).fit(X, y).predict(X)
    inside = np.array([[loss(y[i], full[j]) for j in range(n)] for i in range(n)])
    total, times, replicates, optimism = np.zeros(n), np.zeros(n), [], []
    for split in plan:
        fitted = clone(model).fit(X[split.train], y[split.train])
        out = np.setdiff1d(np.arange(n), split.train)
        losses = loss(y, fitted.predict(X))
        total[out] += losses[out]
        times[out] += 1
        replicates.append(losses[out].mean())
        optimism.append(losses.mean() - losses[split.train].mean())
    seen = times > 0
    return {
        "train": np.diag(inside).mean(),
        "gamma": inside.mean(),
        "err1": np.mean(total[seen] / times[seen]),
        "zero": np.mean(replicates),
        "optimism": np.mean(optimism),
    }


def zero_one(y, f):
    return np.asarray(y != f, dtype=float)


def squared(y, f):
    return np.square(np.asarray(y, dtype=float) - f)


CASES = {
    "tree": (DecisionTreeClassifier(random_state=0), noisy(), zero_one),
    "1-nn": (KNeighborsClassifier(1), noisy(40, 1), zero_one),
    "bayes": (GaussianNB(), noisy(50, 2), zero_one),
    "least squares": (LinearRegression(), (noisy(30)[0], noisy(30)[0][:, 0] + noisy(30)[1]), squared),
}


@pytest.mark.parametrize("case", CASES)
def test_all_equal_the_textbook(case):
    model, (X, y), loss = CASES[case]
    table = unseen.run(model, X, y, design=Bootstrap(40), random_state=1, train=True, full=True)
    book = textbook(model, X, y, table.plan, loss)
    wanted = {
        "bootstrap-zero": book["zero"],
        "bootstrap-loo": book["err1"],
        "bootstrap-optimism": book["train"] + book["optimism"],
        "632": 0.368 * book["train"] + 0.632 * book["err1"],
    }
    capped = min(book["err1"], book["gamma"])
    ratio = np.clip((capped - book["train"]) / (book["gamma"] - book["train"]), 0, 1)
    weight = 0.632 / (1 - 0.368 * ratio)
    wanted["632plus"] = (1 - weight) * book["train"] + weight * capped
    for method, value in wanted.items():
        assert unseen.estimate(table, method=method).value == pytest.approx(value, abs=1e-12), method
    n = len(y)
    distinct = n * (1 - (1 - 1 / n) ** n)
    sizes = {m: unseen.estimate(table, method=m).target.n_train for m in wanted}
    assert sizes["bootstrap-zero"] == sizes["bootstrap-loo"] == pytest.approx(distinct, abs=0.05)
    assert sizes["632"] == sizes["632plus"] == sizes["bootstrap-optimism"] == n
    assert wanted["bootstrap-zero"] != pytest.approx(wanted["bootstrap-loo"], abs=1e-6)


def test_the_first_replicates_by_hand():
    """Three rows, y = 0, 0, 3, prediction = mean of the sample; two replicates with known draws."""

    class Mean:
        def fit(self, X, y):
            self.mean_ = float(np.mean(y))
            return self

        def predict(self, X):
            return np.full(len(X), self.mean_)

    X, y = np.zeros((3, 1)), np.array([0.0, 0.0, 3.0])
    pairs = [(np.array([0, 0, 2]), np.array([1])), (np.array([1, 1, 0]), np.array([2]))]
    table = unseen.run(
        Mean(),
        X,
        y,
        design=unseen.designs.Splits(pairs, kind="bootstrap"),
        train=True,
        full=True,
        random_state=0,
        task="regression",
    )
    # models 1 and 0; out-of-bag losses: row 1 by model "1" -> 1, row 2 by model "0" -> 9; row 0 never
    assert unseen.estimate(table, method="bootstrap-zero").value == pytest.approx(5.0)
    loo = unseen.estimate(table, method="bootstrap-loo")
    assert loo.value == pytest.approx(5.0)
    assert [n.code for n in loo.notes] == ["U012"]
    # original sample: (1 + 1 + 4)/3 = 2 and 9/3 = 3; bootstrap samples: (1 + 1 + 4)/3 = 2 and 0; optimism (0 + 3)/2
    # training error of the mean 1 of all rows: (1 + 1 + 4)/3 = 2
    assert unseen.estimate(table, method="bootstrap-optimism").value == pytest.approx(2 + 1.5)
    assert unseen.estimate(table, method="632").value == pytest.approx(0.368 * 2 + 0.632 * 5)
    # gamma: mean (y_i - 1)^2 = 2 = training error, hence no overfitting and Err1' = 2
    assert unseen.estimate(table, method="632plus").value == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("train", "outside", "chance", "wanted"),
    [
        (0.0, 0.5, 0.5, 0.5),  # full overfitting: w = 1
        (0.0, 0.7, 0.5, 0.5),  # capped at the no-information rate
        (0.2, 0.2, 0.5, 0.2),  # none: all three agree
        (0.3, 0.25, 0.5, 0.368 * 0.3 + 0.632 * 0.25),  # below the training error: R = 0
        (0.1, 0.3, 0.5, 0.1 + 0.2 * 0.632 / (1 - 0.368 * 0.5)),  # R = 1/2
        (0.5, 0.6, 0.4, 0.368 * 0.5 + 0.632 * 0.4),  # no-information rate below the training error
    ],
)
def test_combination_by_hand(train, outside, chance, wanted):
    assert combine(train, outside, chance) == pytest.approx(wanted, abs=1e-15)


def test_uncapped_variant_is_equation_32():
    """Equation 32: .632 estimate + (Err1' - S) .368 .632 R / (1 - .368 R), with Err1 itself in the .632 estimate."""
    train, outside, chance = 0.1, 0.7, 0.5
    equation = 0.368 * train + 0.632 * outside + (chance - train) * 0.368 * 0.632 / (1 - 0.368)
    assert combine(train, outside, chance, capped=False) == pytest.approx(equation)
    assert equation > chance > combine(train, outside, chance) - 1e-12
    assert combine(0.1, 0.3, 0.5, capped=False) == pytest.approx(combine(0.1, 0.3, 0.5))


def test_optimism_corrected_by_hand():
    X, y = noisy()
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    table = unseen.run(model, X, y, design=unseen.designs.KFold(6), train=True, full=True, random_state=0)
    gaps = []
    for split in table.plan:
        fitted = clone(model).fit(X[split.train], y[split.train])
        gaps.append(1 - fitted.score(X[split.test], y[split.test]) - 1 + fitted.score(X[split.train], y[split.train]))
    wanted = 1 - clone(model).fit(X, y).score(X, y) + np.mean(gaps)
    assert unseen.estimate(table, method="optimism-corrected").value == pytest.approx(wanted, abs=1e-12)


def test_rate_without_a_formula_goes_over_all_pairs(monkeypatch):
    class Bare(Loss):
        id: ClassVar[str] = "bare"

        def per_example(self, y, value, score=None):
            return Squared().per_example(y, value)

    rng = np.random.default_rng(0)
    y, f = rng.standard_normal(57), rng.standard_normal(57)
    monkeypatch.setattr("unseen.core.measure.PAIRS_AT_ONCE", 200)
    assert Bare().no_information(y, f) == pytest.approx(Squared().no_information(y, f), rel=1e-12)


def test_632plus_refuses_weights_and_differences_by_name():
    X, y = noisy()
    table = unseen.run(
        GaussianNB(), X, y, design=Bootstrap(5), train=True, full=True, random_state=0, sample_weight=np.ones(60)
    )
    with pytest.raises(InputError, match="632plus has no weighted form"):
        unseen.estimate(table, method="632plus")
    plain = unseen.run(GaussianNB(), X, y, design=Bootstrap(5), train=True, full=True, random_state=0).losses()
    with pytest.raises(InputError, match="632plus is not linear"):
        B632Plus()(plain.minus(plain))
    with pytest.raises(InputError, match="full=True"):
        B632Plus()(replace(plain, full=None))


def test_weighted_bootstrap_means_by_hand():
    X, y = noisy()
    weights = np.random.default_rng(0).uniform(0.5, 3, 60)
    model = DecisionTreeClassifier(random_state=0, max_depth=2)
    table = unseen.run(model, X, y, design=Bootstrap(15), train=True, full=True, random_state=0, sample_weight=weights)
    losses = table.losses()
    optimism = []
    for j, split in enumerate(table.plan):
        own = np.full(60, np.nan)
        own[losses.test.row[losses.test.split == j]] = losses.test.value[losses.test.split == j]
        own[losses.train.row[losses.train.split == j]] = losses.train.value[losses.train.split == j]
        optimism.append(np.average(own, weights=weights) - np.average(own[split.train], weights=weights[split.train]))
    full = np.average(losses.full.value, weights=weights[losses.full.row])
    value = unseen.estimate(table, method="bootstrap-optimism").value
    assert value == pytest.approx(full + np.mean(optimism), rel=1e-12)
