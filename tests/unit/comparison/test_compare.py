"""`unseen.compare` and `unseen.rank`: what they take, what they give, what they refuse."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import DesignError, InputError, KindError, UnknownName
from unseen.core.registry import classes_in

DEFAULT = unseen.designs.MonteCarlo(0.3, 25)
COLUMNS = [
    "a",
    "b",
    "difference",
    "std_error",
    "lower",
    "upper",
    "p",
    "p_adjusted",
    "share_of_splits",
    "rope",
    "verdict",
]


@pytest.fixture(scope="module")
def sample():
    return unseen.datasets.load("breast-cancer").xy


@pytest.fixture(scope="module")
def models():
    return {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1), "dummy": DummyClassifier()}


@pytest.fixture(scope="module")
def three(models, sample):
    return unseen.compare(models, *sample, test="corrected-t", random_state=0)


class Counting:
    """Counts its fits, on the class."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.label = y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


class CountingToo(Counting):
    fits = 0


def test_pairs_columns_and_lookup_in_both_orders(three):
    assert list(three.frame().columns) == COLUMNS
    assert [(p.a, p.b) for p in three] == [("bayes", "stump"), ("bayes", "dummy"), ("stump", "dummy")]
    one, turned = three["stump", "dummy"], three["dummy", "stump"]
    assert turned.difference == -one.difference
    assert turned.statistic == -one.statistic
    assert (turned.interval.low, turned.interval.high) == (-one.interval.high, -one.interval.low)
    assert (turned.p, turned.p_adjusted) == (one.p, one.p_adjusted)
    assert turned.share_of_splits == 1 - one.share_of_splits
    assert turned.verdict == one.verdict == "stump has the smaller error"
    assert turned.swap() == one


def test_lookup_refuses_unknown_names_and_itself(three):
    with pytest.raises(UnknownName, match="did you mean 'stump'"):
        three["stumps", "bayes"]
    with pytest.raises(InputError, match="cannot be compared with itself"):
        three["bayes", "bayes"]
    with pytest.raises(InputError, match="names of two models"):
        three["bayes"]


def test_numbers_are_those_of_the_tables_differences(three, models, sample):
    tables = {k: unseen.run(m, *sample, design=DEFAULT, random_state=0).losses() for k, m in models.items()}
    gap = tables["bayes"].split_means() - tables["stump"].split_means()
    pair = three["bayes", "stump"]
    assert pair.difference == pytest.approx(gap.mean(), abs=1e-14)
    assert pair.std_error == pytest.approx(gap.std(ddof=1) * np.sqrt(1 / 25 + 171 / 398), rel=1e-12)
    assert pair.share_of_splits == np.mean(gap < 0) + np.mean(gap == 0) / 2
    assert three.estimates["bayes"].value == pytest.approx(tables["bayes"].split_means().mean(), abs=1e-14)


def test_each_model_is_fitted_once_per_split(sample):
    Counting.fits = CountingToo.fits = 0
    unseen.compare([Counting(), CountingToo(), GaussianNB()], *sample, random_state=0)
    assert (Counting.fits, CountingToo.fits) == (200, 200)
    unseen.compare([Counting(), CountingToo()], *sample, test="corrected-t", random_state=0)
    assert (Counting.fits, CountingToo.fits) == (225, 225)


def test_tables_are_used_as_they_are(models, sample, tmp_path):
    runs = {name: unseen.run(m, *sample, design=DEFAULT, random_state=0) for name, m in models.items()}
    saved = {name: unseen.load(t.save(tmp_path / f"{name}.npz")) for name, t in runs.items()}
    fitted, read = unseen.compare(models, *sample, design=DEFAULT, random_state=0), unseen.compare(saved)
    assert [p.to_dict() for p in read] == [p.to_dict() for p in fitted]
    pair = unseen.compare(runs["bayes"], runs["stump"]).pairs[0]
    assert (pair.a, pair.b) == ("Gaussian naive Bayes", "decision tree (max_depth=1)")
    other = unseen.run(models["bayes"], *sample, design=DEFAULT, random_state=1)
    with pytest.raises(InputError, match="different splits"):
        unseen.compare(runs["bayes"], other)
    with pytest.raises(InputError, match="leave X and y out"):
        unseen.compare([runs["bayes"], runs["stump"]], *sample)
    with pytest.raises(KindError, match="cannot be mixed"):
        unseen.compare([runs["bayes"], GaussianNB()], *sample)
    with pytest.raises(DesignError, match="5x2cv is not valid for the design 'monte-carlo'"):
        unseen.compare(runs["bayes"], runs["stump"], test="5x2cv")


@pytest.mark.slow
@pytest.mark.sample
def test_two_models_lists_names_and_data(sample):
    data = unseen.datasets.as_data(*sample)
    one = unseen.compare(GaussianNB(), KNeighborsClassifier(), data, random_state=0)
    two = unseen.compare([GaussianNB(), KNeighborsClassifier()], *sample, random_state=0)
    assert one.pairs == two.pairs
    alike = unseen.compare(make_pipeline(StandardScaler(), GaussianNB()), GaussianNB(), data, random_state=0)
    assert list(alike.estimates) == ["GaussianNB", "GaussianNB 2"]
    named = unseen.compare("naive-bayes", "cart", data, random_state=0)
    assert list(named.estimates) == ["naive-bayes", "cart"]


def test_same_seed_same_numbers_and_json_is_plain(three, models, sample):
    again = unseen.compare(models, *sample, test="corrected-t", random_state=0)
    assert [p.rows() for p in again] == [p.rows() for p in three]
    assert again.winner == three.winner
    assert json.loads(json.dumps(three.to_dict(), allow_nan=False))["winner"]["name"] == "bayes"
    assert three.seed == 0


def test_holm_is_applied_over_the_pairs(three):
    raw = sorted((p.p, p.p_adjusted) for p in three)
    assert raw[0][1] == pytest.approx(3 * raw[0][0])
    assert raw[-1][1] >= raw[-1][0]
    plain = unseen.compare(
        {"a": GaussianNB(), "b": DummyClassifier()}, *unseen.datasets.load("iris").xy, random_state=0
    )
    assert plain.pairs[0].p == plain.pairs[0].p_adjusted


def test_selection_is_flagged_with_the_corrected_error(three, sample):
    # both numbers print as 5.7%: nothing is said of a difference that the digits do not show
    assert three.winner.corrected - three.winner.naive < 0.0005
    assert three.remarks == ()
    two = unseen.compare(GaussianNB(), DummyClassifier(), *sample, random_state=0)
    assert two.remarks == ()
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 12)), rng.integers(0, 2, 60)

    class OneColumn(Counting):
        def __init__(self, k=0):
            self.k = k

        def fit(self, X, y):
            self.sign = 1 if np.mean((X[:, self.k] > 0) == y) > 0.5 else -1
            return self

        def predict(self, X):
            return (self.sign * X[:, self.k] > 0).astype(int)

    many = unseen.compare({f"x{k}": OneColumn(k) for k in range(12)}, X, y, test="cv-wald", random_state=0)
    assert many.winner.naive < 0.42
    assert many.winner.corrected > many.winner.naive + 0.03
    (remark,) = many.remarks
    seen, expected = (f"{100 * v:.1f}%" for v in (many.winner.naive, many.winner.corrected))
    assert remark.code == "U024"
    assert f"its error of {seen} looks smaller than it is: expect {expected} of a model chosen like this" in str(remark)


@pytest.mark.slow
@pytest.mark.sample
def test_region_of_practical_equivalence(sample):
    same = unseen.compare(GaussianNB(), GaussianNB(priors=None), *sample, rope=0.02, random_state=0).pairs[0]
    assert same.p == 1.0
    assert same.notes[-1].code == "U010"
    assert same.verdict == "no difference shown"
    far = unseen.compare(GaussianNB(), DummyClassifier(), *sample, rope=0.02, random_state=0).pairs[0]
    assert far.rope.decision == "a better"
    assert far.verdict == "GaussianNB is better by more than the region"
    assert far.swap().rope.decision == "b better"
    wide = unseen.compare(GaussianNB(), DecisionTreeClassifier(max_depth=3), *sample, rope=0.2, random_state=0).pairs[0]
    assert wide.verdict == "practically equivalent"
    bayes = unseen.compare(GaussianNB(), DummyClassifier(), *sample, test="bayesian-t", rope=0.3, random_state=0).pairs[
        0
    ]
    assert (bayes.rope.low, bayes.rope.high) == (-0.3, 0.3)
    assert bayes.p is None
    assert sum(bayes.rope.posterior) == pytest.approx(1)


def test_constant_difference_has_no_p_value(loss_table):
    pairs = [(np.arange(3, 20), np.arange(3)) for _ in range(5)]
    a, b = (loss_table(pairs, [np.full(3, v)] * 5, "monte-carlo", model=m) for v, m in ((0.5, "a"), (0.2, "b")))
    c = unseen.compare(a.source[0], b.source[0], loss="absolute").pairs[0]
    assert np.isnan(c.p)
    assert c.interval is None
    assert c.verdict == "no verdict: the difference has no spread"
    assert c.to_dict()["p"] is None


def test_a_loss_that_is_not_finite_is_refused(loss_table):
    pairs = [(np.arange(3, 20), np.arange(3)) for _ in range(5)]
    a = loss_table(pairs, [np.array([0.1, np.nan, 0.2])] * 5, "monte-carlo")
    with pytest.raises(InputError, match="not a finite number"):
        unseen.compare(a.source[0], a.source[0])


def test_groups_are_the_units():
    rng = np.random.default_rng(1)
    X, groups = rng.standard_normal((80, 3)), np.repeat(np.arange(20), 4)
    y = (X[:, 0] > 0).astype(int)
    c = unseen.compare(GaussianNB(), DummyClassifier(), X, y, groups=groups, random_state=0)
    assert c.pairs[0].estimate.n_units == 20
    assert str(c.pairs[0].estimate.target) == "the algorithm trained on 14 groups (56 rows)"


def test_failed_fits_of_one_model_are_left_out_of_both(sample):
    class Sometimes(GaussianNB):
        def fit(self, X, y):
            if X[:, 0].mean() > 14.2:
                raise RuntimeError("no luck")
            return super().fit(X, y)

    X, y = sample
    order = np.random.default_rng(0).permutation(len(y))
    design = unseen.designs.MonteCarlo(0.5, 12)
    c = unseen.compare(Sometimes(), GaussianNB(), X[order], y[order], design=design, random_state=3)
    codes = [n.code for n in c.notes]
    assert "U008" in codes
    assert c.pairs[0].difference == 0.0


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"test": "corected-t"}, UnknownName, "did you mean 'corrected-t'"),
        ({"test": "wilson"}, InputError, "wilson is no test of a difference"),
        ({"test": "kfold"}, InputError, "kfold gives no standard error"),
        ({"test": "friedman"}, InputError, "unseen.rank"),
        ({"test": "resub"}, UnknownName, "unknown test"),
        ({"adjust": "bonferroni"}, UnknownName, "adjustment"),
        ({"rope": -1}, InputError, "rope is -1"),
        ({"level": 95}, InputError, "level is 95"),
        ({"variant": "exact"}, UnknownName, "option of 'subsampling'"),
    ],
)
def test_misuse_is_refused(sample, kwargs, error, message):
    with pytest.raises(error, match=message):
        unseen.compare(GaussianNB(), DummyClassifier(), *sample, random_state=0, **kwargs)


def test_an_unknown_test_is_answered_with_those_that_compare_takes(sample):
    with pytest.raises(UnknownName) as caught:
        unseen.compare(GaussianNB(), DummyClassifier(), *sample, test="xyzzy")
    named = str(caught.value).partition("known: ")[2].rstrip(".").split(", ")
    X, y = sample[0][:90], sample[1][:90]
    for name in named:
        c = unseen.compare(GaussianNB(), DummyClassifier(), X, y, test=name, time=np.arange(90), random_state=0)
        assert (c.pairs[0].p is None) == (name == "bayesian-t"), name
    others = {*classes_in("significance"), *classes_in("estimators")} - set(named)
    assert {"friedman", "wilson", "kfold"} < others
    for name in others:  # nothing is fitted first
        with pytest.raises(InputError, match=r"no test|unseen\.rank"):
            unseen.compare("no model", "none either", X, y, test=name)


@pytest.mark.parametrize("name", ["wilsn", "k-fold", "friedmann"])
def test_what_compare_would_refuse_is_not_suggested(sample, name):
    with pytest.raises(UnknownName, match="unknown test") as caught:
        unseen.compare(GaussianNB(), DummyClassifier(), *sample, test=name)
    assert not {"'wilson'", "'kfold'", "'friedman'"} & set(str(caught.value).replace("?", " ").split())


def test_too_few_or_too_many_subjects(sample):
    X, y = sample
    for subjects in ((), (GaussianNB(),), ({"a": GaussianNB()}, X, y)):
        with pytest.raises(InputError, match="at least two models"):
            unseen.compare(*subjects)
    with pytest.raises(InputError, match="three or more in a dict or a list"):
        unseen.compare(GaussianNB(), DummyClassifier(), KNeighborsClassifier(), X, y)
    with pytest.raises(InputError, match="X and y are needed"):
        unseen.compare(GaussianNB(), DummyClassifier())


def test_rank_takes_frames_mappings_arrays_and_comparisons(three, models):
    import pandas as pd

    errors = {"a": [0.1, 0.2, 0.15, 0.3], "b": [0.2, 0.3, 0.2, 0.4], "c": [0.3, 0.25, 0.3, 0.5]}
    r = unseen.rank(errors)
    assert r.to_dict() == unseen.rank(pd.DataFrame(errors)).to_dict()
    assert unseen.rank(np.column_stack(list(errors.values())), list("abc")).to_dict() == r.to_dict()
    assert [n.code for n in r.notes] == ["U009"]
    assert r.frame().model.tolist() == ["a", "b", "c"]
    both = unseen.rank([three, unseen.compare(models, *unseen.datasets.load("iris").xy, random_state=0)])
    assert both.n_datasets == 2
    with pytest.raises(InputError, match="every model needs an error"):
        unseen.rank({"a": [0.1], "b": [0.1, 0.2]})
    with pytest.raises(KindError, match="frame"):
        unseen.rank([0.1, 0.2])


def test_a_spread_of_rounding_errors_is_no_spread(loss_table):
    """Ten splits that agree but for the last bit must not give a tiny p-value."""
    pairs = [(np.arange(3, 20), np.arange(3)) for _ in range(10)]
    a = loss_table(pairs, [np.full(3, 0.1 + 0.2 if k % 2 else 0.3) for k in range(10)], "monte-carlo")
    b = loss_table(pairs, [np.full(3, 0.1)] * 10, "monte-carlo")
    c = unseen.compare(a.source[0], b.source[0], loss="absolute").pairs[0]
    assert np.isnan(c.p)
    assert c.std_error == 0.0
    bayes = unseen.compare(a.source[0], b.source[0], loss="absolute", test="bayesian-t", rope=0.05).pairs[0]
    assert bayes.rope.posterior == (0.0, 0.0, 1.0)
    assert "U010" in [n.code for n in bayes.notes]


class Fixed:
    """Decides by one column as it is."""

    def __init__(self, column):
        self.column = column

    def fit(self, X, y):
        return self

    def predict(self, X):
        return (X[:, self.column] > 0).astype(int)


def test_a_region_does_not_undo_the_adjustment_for_many_pairs():
    """Six models of equal error, 15 pairs: a tiny region found one of them better in .47 of data sets."""
    found = 0
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        y = np.repeat([0, 1], 50)
        X = rng.normal(size=(100, 6)) + 0.6 * (2 * y[:, None] - 1)
        models = {str(j): Fixed(j) for j in range(6)}
        found += any(p.decided for p in unseen.compare(models, X, y, test="wald", rope=0.001, random_state=seed))
    assert found <= 12  # .09 of 60 with the normal reference of wald; 12 or fewer have a chance of .996 then


@pytest.mark.slow
@pytest.mark.sample
def test_a_pair_alone_is_decided_by_its_interval_and_several_by_adjusted_ones(three, models, sample):
    for rope in (0.001, 0.02, 0.05, 0.3):
        for a, b in (("bayes", "stump"), ("bayes", "dummy")):
            pair = unseen.compare({a: models[a], b: models[b]}, *sample, rope=rope, random_state=0).pairs[0]
            low, high = pair.interval
            inside = "equivalent" if -rope <= low and high <= rope else "undecided"
            assert pair.rope.decision == ("a better" if high < -rope else "b better" if low > rope else inside)
    # an interval at the level that Bonferroni leaves each of three pairs decides at least as often as none
    several = unseen.compare(models, *sample, rope=0.02, random_state=0)
    strict = unseen.compare(models, *sample, rope=0.02, random_state=0, level=1 - 0.05 / 3, adjust="none")
    plain = unseen.compare(models, *sample, rope=0.02, random_state=0, adjust="none")
    for one, tight, loose in zip(several, strict, plain):
        assert one.rope.decision in (tight.rope.decision, loose.rope.decision)
        if tight.rope.decision != "undecided":
            assert one.rope.decision == tight.rope.decision


def test_ranks_do_not_pass_for_means(loss_table):
    """19 units a little better and one far worse: signed ranks favour a, the mean loss favours b."""
    first, second = np.append(np.full(19, 1.0), 101.0), np.append(np.full(19, 2.0), 1.0)
    a, b = (
        loss_table([(np.arange(20, 40), np.arange(20))], [v], "holdout", n=40, model=name)
        for v, name in ((first, "a"), (second, "b"))
    )
    c = unseen.compare({"a": a.source[0], "b": b.source[0]}, loss="absolute", test="wilcoxon")
    pair = c.pairs[0]
    assert pair.difference > 0
    assert pair.better == "b"
    assert pair.p < 0.01
    assert pair.decided == "a"
    assert pair.verdict == "a has the smaller losses by signed ranks"
    assert "larger mean loss" in pair.notes[-1].text
    assert c["b", "a"].decided == "a"


def test_a_winner_without_an_error_is_bounded_not_certain():
    from scipy.stats import beta

    y = np.repeat([0, 1], 20)
    X = np.tile((2.0 * y - 1)[:, None], (1, 3))
    c = unseen.compare({str(j): Fixed(j) for j in range(3)}, X, y, test="cv-wald", random_state=0)
    assert (c.winner.naive, c.winner.corrected, c.winner.interval.low) == (0, 0, 0)
    assert c.winner.interval.high == pytest.approx(beta.ppf(0.975, 1, 40))
    numbers = unseen.compare("ols", "ridge", np.zeros((30, 1)), np.zeros(30), test="cv-wald", task="regression")
    assert numbers.winner.interval is None


def test_the_interval_of_a_winner_covers_its_error_where_errors_are_rare():
    """Three equal models, 2% errors, 40 units: [0, 0] in half of the data sets covered .52 of them."""
    from unseen.significance.winner import winner_of

    covered = 0
    for seed in range(120):
        rng = np.random.default_rng([6, seed])
        y = np.zeros(60, dtype=int)
        y[0] = 1
        X = np.where(rng.random((60, 3)) < 0.02, 1.0, -1.0) * np.where(y == 0, 1, -1)[:, None]
        tables = {
            str(j): unseen.run(Fixed(j), X, y, design=[(np.arange(20), np.arange(20, 60))], random_state=seed).losses()
            for j in range(3)
        }
        covered += 0.02 in winner_of(tables, 0.95, rng).interval
    assert covered >= 108  # .95 of 120 less 2.5 standard errors


def test_an_alarm_changes_the_answer():
    """A column that gives the class away: no difference on such data means anything."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([rng.standard_normal((60, 2)), y + 0.01 * rng.standard_normal(60)])
    models = {"stump": DecisionTreeClassifier(max_depth=1), "nb": GaussianNB()}
    design = unseen.designs.MonteCarlo(0.3, 5)
    leaky, sound = (unseen.compare(models, X[:, :d], y, design=design, random_state=0) for d in (3, 2))
    assert leaky.sentence.startswith("Do not trust this number: one column alone gives the class away: x2")
    assert leaky.sentence.endswith(leaky.answer)
    assert (leaky.to_dict()["trust"], sound.to_dict()["trust"]) == (False, True)
    assert sound.sentence == sound.answer
