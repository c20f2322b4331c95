"""Tests of a pair of tables: definitions, invariances, ties, groups and refusals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score

import unseen
from unseen.core.errors import DesignError, InputError, NotApplicable, UnknownName
from unseen.core.plan import Split
from unseen.core.registry import classes_in
from unseen.designs.holdout import Holdout
from unseen.designs.kfold import KFold
from unseen.estimators.corrected_t import CorrectedT
from unseen.significance.adjust import adjust_p, benjamini_hochberg, holm
from unseen.significance.bayesian_t import BayesianT, posterior
from unseen.significance.combined_f import CombinedF, combined_f
from unseen.significance.delong import DeLong, delong
from unseen.significance.friedman import Friedman, exact_p, friedman
from unseen.significance.mcnemar import McNemar, mcnemar_p
from unseen.significance.permutation import Permutation, sign_flip_p
from unseen.significance.wilcoxon import Wilcoxon, signed_rank
from unseen.significance.winner import errors_of_choices

PAIRED = [cls for cls in classes_in("significance").values() if cls.kind == "test"]


class OneColumn(ClassifierMixin, BaseEstimator):
    """Scores a case by one of its numbers, so that areas are known without any fitting."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, self.column]

    def predict(self, X):
        return self.classes_[(X[:, self.column] > 0.5).astype(int)]


def held_out(loss_table, losses, *, rate=False, **columns):
    n = len(losses)
    return loss_table([(np.arange(n, n + 20), np.arange(n))], [losses], "holdout", rate=rate, n=n + 20, **columns)


def test_every_test_is_registered_with_what_it_needs():
    assert {"mcnemar", "permutation", "combined-f", "wilcoxon", "friedman", "delong", "bayesian-t"} <= set(
        classes_in("significance")
    )
    for cls in PAIRED:
        assert "test" in cls.needs
        assert cls.designs
        assert "References" in cls.__doc__


@pytest.mark.parametrize("cls", PAIRED, ids=lambda c: c.id)
def test_a_model_does_not_differ_from_itself_and_names_may_be_swapped(cls):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] + 0.7 * rng.standard_normal(60) > 0).astype(int)
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    data = unseen.datasets.as_data(X, y)
    design = cls().default_design(data)
    options = {"design": design, "random_state": 0, "scores": True}
    a = unseen.run(LogisticRegression(), data, **options).losses()
    b = unseen.run(DecisionTreeClassifier(max_depth=2), data, **options).losses()
    itself = cls()(a, a)
    assert itself.difference == 0
    assert itself.share_of_splits == (None if design.id == "holdout" else 0.5)
    assert itself.p in (None, 1.0)
    one, other = cls()(a, b), cls()(b, a)
    assert other.difference == pytest.approx(-one.difference, abs=1e-12)
    assert other.p == pytest.approx(one.p, abs=1e-12) if one.p is not None else other.p is None
    turned = one.swap()
    assert turned.difference == pytest.approx(other.difference, abs=1e-12)
    if one.interval is not None:
        assert tuple(turned.interval) == pytest.approx(tuple(other.interval), abs=1e-12)
    foreign = unseen.run(LogisticRegression(), data, design="learning-curve", random_state=0).losses()
    with pytest.raises(DesignError, match=f"{cls.id} is not valid for the design 'learning-curve'"):
        cls()(foreign, foreign)
    elsewhere = unseen.run(LogisticRegression(), data, **{**options, "random_state": 1}).losses()
    with pytest.raises(InputError, match="different splits"):
        cls()(a, elsewhere)


def test_mcnemar_counts_the_right_cells(loss_table):
    a = held_out(loss_table, np.array([1, 1, 1, 1, 1, 0, 0, 0, 1, 0]), rate=True)
    b = held_out(loss_table, np.array([0, 0, 0, 0, 0, 1, 0, 0, 1, 0]), rate=True)
    c = McNemar()(a, b)
    assert c.statistic == 1.0
    assert c.reference == "binomial(6, 1/2)"
    assert c.p == pytest.approx(2 * (1 + 6) / 64)
    assert c.difference == pytest.approx(0.4)
    assert McNemar("mid-p")(a, b).p == pytest.approx(2 * (1 + 6) / 64 - 6 / 64)


def test_mcnemar_refuses_groups_weights_and_other_losses(loss_table):
    errors = np.array([1, 0, 1, 0])
    grouped = held_out(loss_table, errors, rate=True, groups=np.arange(24) // 2)
    with pytest.raises(NotApplicable, match="with groups use permutation"):
        McNemar()(grouped, grouped)
    weighted = held_out(loss_table, errors, rate=True, weights=np.ones(24))
    with pytest.raises(InputError, match="mcnemar has no weighted form"):
        McNemar()(weighted, weighted)
    with pytest.raises(NotApplicable, match="use permutation"):
        McNemar()(held_out(loss_table, np.arange(4.0)), held_out(loss_table, np.arange(4.0)))
    with pytest.raises(InputError, match="variant is 'asymptotic'"):
        McNemar("asymptotic")


def test_mid_p_lies_between_and_large_counts_do_not_overflow():
    for b, c in product((0, 3, 9, 40), repeat=2):
        assert mcnemar_p(b, c, "mid-p") <= mcnemar_p(b, c)
    assert 0 < mcnemar_p(900, 1100, "mid-p") < mcnemar_p(900, 1100) < 1e-4


def test_permutation_counts_ties_by_full_enumeration():
    values = np.array([1.0, 1.0, -2.0, 3.0, 0.0, 2.0])
    sums = [abs(np.dot(signs, values)) for signs in product((-1, 1), repeat=6)]
    expected = np.mean(np.array(sums) >= abs(values.sum()) - 1e-12)
    assert sign_flip_p(values, 99, np.random.default_rng(0))[0] == pytest.approx(expected)


def test_permutation_of_a_rate_is_mcnemar():
    rng = np.random.default_rng(1)
    values = rng.choice([-1.0, 0.0, 1.0], 200, p=[0.1, 0.7, 0.2])
    p, reference = sign_flip_p(values, 99, rng)
    assert p == pytest.approx(mcnemar_p(int((values > 0).sum()), int((values < 0).sum())))
    assert reference.startswith("binomial")


def test_permutation_is_never_zero_and_close_to_the_normal_limit():
    rng = np.random.default_rng(2)
    assert sign_flip_p(rng.normal(5, 1, 50), 999, rng)[0] == 1 / 1000
    values = rng.normal(0.15, 1, 300)
    p, _ = sign_flip_p(values, 20_000, rng)
    z = values.sum() / np.sqrt(np.square(values).sum())
    assert p == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.01)


def test_permutation_flips_groups_as_a_whole(loss_table):
    """Five groups can be flipped in 32 ways: no p-value below 2/32, however many rows there are."""
    rng = np.random.default_rng(3)
    groups = np.concatenate([np.repeat(np.arange(5), 20), np.arange(100, 120)])
    a = held_out(loss_table, 3 + rng.random(100), groups=groups)
    b = held_out(loss_table, rng.random(100), groups=groups)
    assert Permutation()(a, b).p == 2 / 32


def test_combined_f_without_spread_is_no_evidence(loss_table):
    assert combined_f(np.zeros((5, 2))) == (0.0, 1.0)
    splits = [Split(np.array([0, 1]), np.array([2, 3]), repeat=r, fold=k) for r in range(5) for k in range(2)]
    a = loss_table(splits, [np.full(2, 0.5)] * 10, "5x2cv")
    b = loss_table(splits, [np.full(2, 0.25)] * 10, "5x2cv")
    c = CombinedF()(a, b)
    assert np.isnan(c.p)
    assert c.verdict.startswith("no verdict")
    assert "U010" in [n.code for n in c.notes]


def test_wilcoxon_by_enumeration_with_ties_and_zeros():
    values = np.array([1.0, -1, 2, 2, -3, 0, 4, 4, 5, 0])
    for zeros in ("drop", "pratt"):
        kept = values if zeros == "pratt" else values[values != 0]
        ranks = stats.rankdata(np.abs(kept))[kept != 0]
        plus = ranks[kept[kept != 0] > 0].sum()
        sums = np.array([ranks[np.array(s) > 0].sum() for s in product((-1, 1), repeat=len(ranks))])
        expected = min(1.0, 2 * min((sums <= plus).mean(), (sums >= plus).mean()))
        assert signed_rank(values, zeros)[1] == pytest.approx(expected, abs=1e-12)
    assert signed_rank(np.zeros(5)) == (0.0, 1.0, "no differences")
    with pytest.raises(InputError, match="zeros is 'split'"):
        Wilcoxon("split")


def test_wilcoxon_exact_and_normal_agree_at_the_border():
    rng = np.random.default_rng(4)
    values = rng.normal(0.2, 1, 101)
    assert signed_rank(values)[1] == pytest.approx(signed_rank(values[:-1])[1], abs=0.05)


def area_by_definition(positive, score):
    x, y = score[positive], score[~positive]
    wins = (x[:, None] > y[None]) + 0.5 * (x[:, None] == y[None])
    return wins.mean(), wins.mean(axis=1), wins.mean(axis=0)


def test_delong_equals_its_definition():
    rng = np.random.default_rng(5)
    positive = rng.random(40) < 0.4
    scores = [np.round(positive + rng.normal(0, 1, 40), 1) for _ in range(2)]
    areas, covariance = delong(positive, *scores)
    parts = [area_by_definition(positive, s) for s in scores]
    assert areas == pytest.approx([p[0] for p in parts], abs=1e-12)
    m, n = positive.sum(), (~positive).sum()
    expected = np.cov([p[1] for p in parts]) / m + np.cov([p[2] for p in parts]) / n
    assert covariance == pytest.approx(expected, abs=1e-12)


def test_delong_with_groups_of_copies_counts_groups():
    rng = np.random.default_rng(6)
    positive = np.arange(30) < 15
    score = positive + rng.normal(0, 1, 30)
    once = delong(positive, score, units=np.arange(30))[1][0, 0]
    copies = delong(np.tile(positive, 4), np.tile(score, 4), units=np.tile(np.arange(30), 4))[1][0, 0]
    naive = delong(np.tile(positive, 4), np.tile(score, 4))[1][0, 0]
    assert copies == pytest.approx(once, rel=0.08)
    assert naive < 0.3 * once


def test_delong_needs_scores_and_two_classes():
    from sklearn.naive_bayes import GaussianNB

    X, y = unseen.datasets.load("iris").xy
    t = unseen.run(GaussianNB(), X, y, design="holdout", random_state=0, scores=True).losses()
    with pytest.raises(NotApplicable, match="two classes"):
        DeLong()(t, t)
    X, y = unseen.datasets.load("breast-cancer").xy
    t = unseen.run(GaussianNB(), X, y, design="holdout", random_state=0).losses()
    with pytest.raises(InputError, match=r"run\(\.\.\., scores=True\)"):
        DeLong()(t, t)


def test_delong_refuses_scores_that_are_no_numbers():
    from sklearn.naive_bayes import GaussianNB

    class Odd(GaussianNB):
        def predict_proba(self, X):
            out = super().predict_proba(X)
            out[3] = np.nan
            return out

    X, y = unseen.datasets.load("breast-cancer").xy
    with pytest.raises(InputError, match="delong: a score is not a finite number"):
        unseen.compare(Odd(), GaussianNB(), X, y, test="delong", random_state=0)


def test_one_split_is_too_few_for_a_spread():
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB

    X, y = unseen.datasets.load("iris").xy
    one = unseen.designs.MonteCarlo(0.3, 1)
    for test in ("corrected-t", "bayesian-t"):
        with pytest.raises(InputError, match=f"{test} needs at least 2 completed splits"):
            unseen.compare(GaussianNB(), DummyClassifier(), X, y, test=test, design=one, random_state=0)


def test_delong_speaks_of_the_positive_class():
    """Swapping the positive class of a two-class score leaves the area as it is."""
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    X, y = unseen.datasets.load("breast-cancer").xy
    models = [SVC(), DecisionTreeClassifier(max_depth=2)]
    one, other = (
        unseen.compare(models, X, y, test="delong", random_state=0, positive=label).pairs[0] for label in np.unique(y)
    )
    assert one.difference == pytest.approx(other.difference, abs=1e-12)
    assert 0.5 < 1 - unseen.compare(models, X, y, test="delong", random_state=0).estimates["SVC"].value <= 1


def test_posterior_is_students_distribution():
    t = stats.t(9, loc=0.02, scale=0.01)
    expected = (t.cdf(-0.01), t.cdf(0.01) - t.cdf(-0.01), t.sf(0.01))
    assert posterior(0.02, 0.01, 9, (-0.01, 0.01)) == pytest.approx(expected, abs=1e-12)
    assert posterior(0.0, 0.0, 9, (-0.01, 0.01)) == (0.0, 1.0, 0.0)


def test_bayesian_interval_is_the_corrected_t_interval(loss_table):
    """The posterior under a flat prior is the corrected t's distribution turned round."""
    rng = np.random.default_rng(7)
    pairs = [(np.arange(10, 100), np.arange(10)) for _ in range(25)]
    a = loss_table(pairs, [np.full(10, v) for v in 1 + rng.random(25)], "monte-carlo")
    b = loss_table(pairs, [np.full(10, v) for v in 1 + rng.random(25)], "monte-carlo")
    bayes = BayesianT(rope=0.05)(a, b)
    e = CorrectedT()(a.minus(b))
    assert tuple(bayes.interval) == pytest.approx(tuple(e.interval), abs=1e-12)
    assert sum(bayes.rope.posterior) == pytest.approx(1.0)
    for bad in ({"rope": -0.1}, {"rope": (0.1, 0.2)}, {"test_fraction": 1.0}):
        with pytest.raises(InputError):
            BayesianT(**bad)


@pytest.mark.parametrize(("k", "n"), [(2, 4), (3, 3), (3, 4), (4, 3)])
def test_friedman_with_few_data_sets_is_exact(k, n):
    """All (k!)^n tables of ranks: no level is exceeded; chi-square had .125 at (2, 4), F .19 at (3, 3), both nominal .05."""
    from itertools import permutations

    rows = list(permutations(range(1, k + 1)))
    tables = [np.array([rows[0], *rest], dtype=float) for rest in product(rows, repeat=n - 1)]
    found = np.array([Friedman()(t, [str(j) for j in range(k)]).p for t in tables[:: max(1, len(tables) // 60)]])
    every = np.array([np.square(t.sum(axis=0)).sum() for t in tables])
    wanted = np.array([np.mean(every >= v) for v in every])[:: max(1, len(tables) // 60)]
    assert found == pytest.approx(wanted)
    ties = np.array([[1.0, 2.5, 2.5], [1.5, 1.5, 3.0], [1.0, 2.0, 3.0]])
    dealt = [set(permutations(row)) for row in ties]
    sums = np.array([np.square(np.sum(t, axis=0)).sum() for t in product(*dealt)])
    assert exact_p(ties) == pytest.approx(np.mean(sums >= np.square(ties.sum(axis=0)).sum()))


def test_agreement_of_all_data_sets_is_no_certainty():
    alike = Friedman()(np.tile(np.arange(7.0), (3, 1)), list("abcdefg"))
    assert alike.f_statistic == np.inf
    assert alike.f_p == pytest.approx(5040.0**-2)  # exact, although there are too many orders to go through
    two = Friedman()(np.array([[0.1, 0.2]] * 4), ["a", "b"])
    assert two.p == two.f_p == two.pairwise[0, 1] == 0.125  # the sign test
    assert two.critical_difference is None
    assert two.groups() == [("a", "b")]
    assert "those of pairs" in two.notes[0].text


def test_friedman_f_form_and_holm_pairs():
    ranks = np.array([[1.0, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    got, _, f, f_p = friedman(ranks)
    assert got == pytest.approx(stats.friedmanchisquare(*ranks.T).statistic)
    assert f == pytest.approx(3 * got / (4 * 2 - got))
    assert f_p == pytest.approx(stats.f.sf(f, 2, 6))
    errors = np.random.default_rng(8).random((20, 3)) + np.array([0.0, 0.5, 0.6])
    result = Friedman("holm")(errors, list("abc"))
    unit = np.sqrt(3 * 4 / (6 * 20))
    raw = [
        2 * stats.norm.sf(abs(result.mean_ranks[i] - result.mean_ranks[j]) / unit) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    assert [result.pairwise[i, j] for i, j in ((0, 1), (0, 2), (1, 2))] == pytest.approx(holm(raw))
    assert result.critical_difference is None


def test_nemenyi_critical_difference_is_demsars():
    """Demsar (2006), table 5(a): q.05 = 2.569 for four classifiers; section 3.2.2: CD = 1.25 for 14 data sets."""
    errors = np.random.default_rng(9).random((14, 4))
    result = Friedman()(errors, list("abcd"))
    assert result.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=2e-3)
    assert result.critical_difference == pytest.approx(1.25, abs=0.01)


@pytest.mark.parametrize(
    ("errors", "names", "message"),
    [
        ([[0.1, 0.2]], ["a", "b"], "at least 2 models and 2 data sets"),
        ([[0.1, np.nan], [0.1, 0.2]], ["a", "b"], "missing or infinite"),
        ([[0.1, 0.2], [0.1, 0.2]], ["a", "a"], "names must differ"),
        ([[0.1, 0.2], [0.1, 0.2]], ["a"], "1 columns"),
    ],
)
def test_friedman_refuses(errors, names, message):
    with pytest.raises(InputError, match=message):
        Friedman()(np.array(errors), names)


def test_equal_models_over_data_sets_do_not_differ():
    result = Friedman()(np.full((12, 3), 0.2), list("abc"))
    assert (result.statistic, result.p) == (0.0, 1.0)
    assert result.groups() == [("a", "b", "c")]


def test_adjustments_keep_order_and_bounds():
    p = np.random.default_rng(10).random(30) ** 3
    for method in (holm, benjamini_hochberg):
        q = method(p)
        assert np.all(q >= p)
        assert np.all(q <= 1)
        assert np.all(np.diff(q[np.argsort(p)]) >= 0)
    assert np.all(benjamini_hochberg(p) <= holm(p) + 1e-15)
    assert adjust_p([0.02, float("nan"), None, 0.01])[0] == pytest.approx(0.02)
    assert adjust_p([0.02, 0.01], "none") == [0.02, 0.01]
    with pytest.raises(UnknownName, match="bonferroni"):
        adjust_p([0.1], "bonferroni")


def test_holm_keeps_the_family_wise_error():
    """Ten true nulls: at least one Holm-adjusted p below .05 in about 5% of families."""
    rng = np.random.default_rng(11)
    hits = np.mean([holm(rng.random(10)).min() < 0.05 for _ in range(20_000)])
    assert hits == pytest.approx(1 - (1 - 0.005) ** 10, abs=0.006)


def test_bias_corrected_error_of_the_best_of_many_coins():
    """Thirty models that guess: the best looks better than one half, the corrected error does not."""
    rng = np.random.default_rng(12)
    naive, corrected = [], []
    for _ in range(60):
        coins = rng.integers(0, 2, (80, 30)).astype(float)
        naive.append(coins.mean(axis=0).min())
        chosen, best = errors_of_choices(coins, np.ones(80), 60, rng).mean(axis=0)
        corrected.append(naive[-1] + chosen - best)
    assert np.mean(naive) < 0.41
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(("design", "parts"), [(Holdout(0.5), 1), (KFold(4), 4)])
def test_delong_counts_the_parts_on_which_the_area_is_larger(design, parts):
    rng = np.random.default_rng(3)
    y = rng.permutation(np.repeat([0, 1], 60))
    X = np.column_stack([y + 1.5 * rng.standard_normal(120), y + 1.5 * rng.standard_normal(120)])
    tables = [unseen.run(OneColumn(k), X, y, design=design, scores=True, random_state=0) for k in (0, 1)]
    pair = unseen.compare(*tables, test="delong").pairs[0]
    split, row = tables[0].test.split, tables[0].test.row
    areas = [[roc_auc_score(y[row[split == j]], X[row[split == j], k]) for k in (0, 1)] for j in np.unique(split)]
    assert len(areas) == parts
    assert pair.share_of_splits == (None if parts == 1 else np.mean([a > b for a, b in areas]))
    assert pair.effect is None


def test_delong_on_parts_of_one_case_has_no_share_of_splits():
    rng = np.random.default_rng(3)
    y = rng.permutation(np.repeat([0, 1], 20))
    X = np.column_stack([y + rng.standard_normal(40), rng.standard_normal(40)])
    tables = [unseen.run(OneColumn(k), X, y, design="loo", scores=True, random_state=0) for k in (0, 1)]
    assert unseen.compare(*tables, test="delong").pairs[0].share_of_splits is None
