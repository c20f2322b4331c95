"""Which test `compare` takes by itself, what it says first, and how many rows it asks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, t
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.comparison.choice import choose_by_design, choose_test
from unseen.core.comparison import Comparison, Comparisons, Winner, p_words, rows_needed
from unseen.core.estimate import Estimate, Interval, Target
from unseen.datasets import as_data

PLAIN = {"a": GaussianNB(), "b": DecisionTreeClassifier()}


def data_of(n=100, **columns):
    rng = np.random.default_rng(0)
    return as_data(rng.standard_normal((n, 2)), np.arange(n) % 2, **columns)


@pytest.mark.parametrize(
    ("models", "columns", "loss", "test", "why"),
    [
        (PLAIN, {}, "auto", "subsampling", "the default up to 2,000 rows"),
        (PLAIN, {"n": 2000}, "auto", "subsampling", "the default"),
        (PLAIN, {"n": 2001}, "auto", "corrected-t", "more than 2,000 rows"),
        (PLAIN, {"groups": np.arange(100) // 4}, "auto", "corrected-t", "rows come in groups"),
        (PLAIN, {"sample_weight": np.arange(1.0, 101)}, "auto", "corrected-t", "rows are weighted"),
        (PLAIN, {"time": np.arange(100)}, "auto", "corrected-t", "rows are ordered in time"),
        (PLAIN, {}, "log-loss", "subsampling", "the default"),
        (PLAIN, {}, "auc", "subsampling", "the default"),
        (PLAIN, {}, "f1", "subsampling", "the default"),
        (PLAIN, {}, "average-precision", "corrected-t", "average-precision is no mean of losses"),
        ({"a": LogisticRegressionCV(), "b": GaussianNB()}, {}, "auto", "corrected-t", "LogisticRegressionCV cross-validates"),
        ({"a": GaussianNB(), "b": make_pipeline(StandardScaler(), LogisticRegressionCV())}, {}, "auto", "corrected-t",
         "LogisticRegressionCV cross-validates"),
    ],
)  # fmt: skip
def test_the_default_goes_by_data_models_and_measure(models, columns, loss, test, why):
    chosen, reason = choose_test(models, data_of(**columns), loss)
    assert chosen == test
    assert reason.startswith(why)


def test_numbers_have_squared_errors_by_subsampling_and_r2_by_splits():
    data = as_data(np.zeros((50, 1)), np.linspace(0, 1, 50), task="regression")
    assert choose_test(PLAIN, data, "auto")[0] == "subsampling"
    assert choose_test(PLAIN, data, "r2")[0] == "corrected-t"


@pytest.mark.parametrize(
    ("design", "loss", "test"),
    [
        ("bootstrap", "auto", "out-of-bag"),
        ("monte-carlo", "auto", "corrected-t"),
        ("repeated-kfold", "auc", "corrected-t"),
        ("kfold", "auc", "delong"),
        ("holdout", "auc", "delong"),
        ("nested", "auto", "nested-cv"),
        ("5x2cv", "auto", "5x2cv"),
    ],
)
def test_tables_get_the_test_of_their_design(design, loss, test):
    assert choose_by_design(design, loss)[0] == test


def test_tables_of_bootstrap_samples_are_compared_out_of_bag():
    data = data_of(60)
    design = unseen.designs.Bootstrap(200)
    tables = [unseen.run(m, data, design=design, random_state=0) for m in (GaussianNB(), DummyClassifier())]
    c = unseen.compare(*tables)
    assert (c.test, c.reason) == ("out-of-bag", "it suits the design bootstrap")
    assert c.target == "the algorithms trained on about 38 distinct rows of 60"
    assert c.pairs[0].share_of_splits is None
    assert c.winner.naive == min(e.value for e in c.estimates.values())


def pair_of(a, b, gap, se, *, n=200, df=None, loss="zero-one", level=0.95):
    quantile = norm.ppf((1 + level) / 2) if df is None else t.ppf((1 + level) / 2, df)
    p = float(2 * (norm.sf(abs(gap / se)) if df is None else t.sf(abs(gap / se), df)))
    made = Estimate(
        value=gap, std_error=se, interval=Interval(gap - quantile * se, gap + quantile * se, level), df=df,
        method="subsampling", target=Target.ALGORITHM.at(126), loss=loss, n_units=n, n_fits=400,
    )  # fmt: skip
    return Comparison(
        a=a, b=b, estimate=made, statistic=gap / se, reference="normal", p=p, p_adjusted=p, share_of_splits=0.5,
        effect=None, level=level,
    )  # fmt: skip


def comparisons(*pairs, adjust="holm", **values):
    loss = pairs[0].estimate.loss
    alone = {
        k: replace(pairs[0].estimate, value=v, interval=Interval(v - 0.01, v + 0.01, 0.95)) for k, v in values.items()
    }
    best = min(values, key=values.get)
    winner = Winner(
        name=best, naive=values[best], corrected=values[best], interval=None, n_models=2, n_bootstrap=9, loss=loss
    )
    return Comparisons(pairs=pairs, estimates=alone, winner=winner, adjust=adjust)


def test_the_sentence_says_which_to_ship_and_by_how_much():
    c = comparisons(pair_of("logistic", "cart", -0.031, 0.014), logistic=0.1, cart=0.131)
    assert c.sentence == "Ship logistic: its error is 3.1 points lower (95% interval 0.4 to 5.8)."
    turned = comparisons(pair_of("cart", "logistic", 0.031, 0.014), cart=0.131, logistic=0.1)
    assert turned.sentence == c.sentence
    assert str(c).startswith(f"{c.sentence}\nTest: subsampling. Target: ")
    assert c.to_dict()["sentence"] == c.sentence
    area = comparisons(pair_of("a", "b", -0.03, 0.01, loss="1 - auc"), a=0.1, b=0.13)
    assert area.sentence == "Ship a: its AUC is 0.03 higher (95% interval 0.0104 to 0.0496)."
    assert area.model_sentences()[0] == "a: AUC 0.9 (95% interval 0.89 to 0.91)"


def test_numbers_are_told_in_units_people_think_in():
    """The difference is one of mean squared errors, which has no root; each model's own error has, and the sentence says both."""
    c = comparisons(pair_of("ridge", "cart", -2909.0, 500.0, loss="squared"), ridge=3221.0, cart=6130.0)
    low, high = 2909 - norm.ppf(0.975) * 500, 2909 + norm.ppf(0.975) * 500
    assert c.sentence == (
        f"Ship ridge: its RMSE is {3221**0.5:.4g} against {6130**0.5:.4g} (its mean squared error is 2909 lower, 95% interval "
        f"{low:.0f} to {high:.0f})."
    )
    third = (
        pair_of("ridge", "knn", -4000.0, 500.0, loss="squared"),
        pair_of("cart", "knn", -1091.0, 500.0, loss="squared"),
    )
    three = comparisons(*c.pairs, *third, ridge=3221.0, cart=6130.0, knn=7221.0)
    assert f"{3221**0.5:.4g} against {6130**0.5:.4g} of cart, the next best (its mean" in three.sentence
    assert [line.split(" (")[0] for line in c.model_sentences()] == [
        f"ridge: RMSE {3221**0.5:.4g}",
        f"cart: RMSE {6130**0.5:.4g}",
    ]
    assert str(c.winner).startswith(f"smallest error: ridge, {3221**0.5:.4g}; ")


def test_the_sentence_says_how_many_rows_would_tell():
    c = comparisons(pair_of("a", "b", -0.02, 0.015), a=0.1, b=0.12)
    needed = 200 * ((norm.ppf(0.975) + norm.ppf(0.8)) * 0.015 / 0.02) ** 2
    assert rows_needed(200, -0.02, 0.015, 0.05) == pytest.approx(needed, rel=1e-12)
    assert needed == pytest.approx(883, abs=1)
    assert c.sentence == "These data cannot tell them apart; about 880 rows would, if the difference is what it seems."
    by_t = 100 * ((t.ppf(0.975, 24) + norm.ppf(0.8)) * 0.015 / 0.02) ** 2
    assert rows_needed(100, 0.02, 0.015, 0.05, 24) == pytest.approx(by_t, rel=1e-12)
    groups = replace(c, unit="group")
    assert "about 880 groups would" in groups.sentence
    assert rows_needed(200, 0.0, 0.015, 0.05) == np.inf
    equal = comparisons(pair_of("a", "b", 0.0, 0.015), a=0.1, b=0.1)
    assert equal.sentence == "These data cannot tell them apart: the errors of a and b are equal on them."


def test_rows_needed_give_the_power_they_promise():
    """At n rows the standard error is s / sqrt(n): a test there finds the difference in 80% of samples."""
    rng = np.random.default_rng(0)
    s, gap = 0.6, 0.05
    n = round(rows_needed(100, gap, s / 10, 0.05))
    z = rng.normal(gap, s / np.sqrt(n), 100_000) / (s / np.sqrt(n))
    assert np.mean(np.abs(z) > norm.ppf(0.975)) == pytest.approx(0.8, abs=0.006)


def test_of_three_models_the_nearest_rival_decides_the_sentence():
    far = (pair_of("a", "b", -0.10, 0.01), pair_of("a", "c", -0.05, 0.01), pair_of("b", "c", 0.05, 0.01))
    best = comparisons(*far, a=0.1, b=0.2, c=0.15)
    assert (
        best.sentence
        == "Ship a: its error is 5.0 points lower than that of c, the next best (95% interval 3.0 to 7.0)."
    )
    near = (pair_of("a", "b", -0.10, 0.01), pair_of("a", "c", -0.01, 0.01), pair_of("b", "c", 0.09, 0.01))
    open_ = comparisons(*near, a=0.1, b=0.2, c=0.11)
    needed = rows_needed(200, -0.01, 0.01, 0.05 / 3)
    assert open_.sentence == (
        f"These data cannot tell a and c apart; about {round(needed / 100) * 100:,} rows would tell a from c, if the difference is "
        "what it seems."
    )
    assert needed > 200


def test_large_numbers_of_rows_are_written_alike():
    c = unseen.compare(GaussianNB(), DummyClassifier(), data_of(2001), random_state=0, progress=False)
    assert c.target == "the algorithms trained on 1,400 of 2,001 rows"


def test_models_stand_with_their_own_error_and_interval():
    c = comparisons(pair_of("a", "b", -0.02, 0.015), a=0.1, b=0.12)
    assert c.model_sentences() == [
        "a: error 10.0% (95% interval 9.0% to 11.0%)",
        "b: error 12.0% (95% interval 11.0% to 13.0%)",
    ]


def test_no_p_is_zero_or_one():
    assert [p_words(p) for p in (1.0, 0.995, 0.99, 0.0312, 0.0009, 0.0)] == [
        "p > 0.99", "p > 0.99", "p = 0.99", "p = 0.031", "p < 0.001", "p < 0.001",
    ]  # fmt: skip
    same = unseen.compare(GaussianNB(), GaussianNB(), data_of(60), random_state=0)
    assert same.pairs[0].p == 1.0
    assert "p 1" not in str(same)
    assert "p > 0.99" in str(same)


def test_the_bayesian_test_carries_the_note_on_small_test_parts():
    data = data_of(60)
    small = unseen.compare(GaussianNB(), DummyClassifier(), data, test="bayesian-t", random_state=0)
    assert any("test 30%" in n.text for n in small.notes if n.code == "U016")
    design = unseen.designs.MonteCarlo(0.3, 25)
    large = unseen.compare(GaussianNB(), DummyClassifier(), data, test="bayesian-t", design=design, random_state=0)
    assert "U016" not in [n.code for n in large.notes]


def test_the_winner_says_a_number_once_if_its_choice_costs_nothing():
    winner = Winner(
        name="lda",
        naive=0.1,
        corrected=0.1,
        interval=Interval(0.05, 0.2, 0.95),
        n_models=3,
        n_bootstrap=9,
        loss="zero-one",
    )
    assert str(winner) == (
        "smallest error: lda, 10.0%; correcting for the choice among 3 models leaves these digits as they are"
    )
    assert str(replace(winner, corrected=0.10001)) == str(winner)
    assert str(replace(winner, corrected=0.11)) == (
        "smallest error: lda, 10.0%; corrected for the choice among 3 models 11.0% (95% interval 5.0% to 20.0%)"
    )
    assert str(replace(winner, interval=None)).count("10.0%") == 1
