"""Notes on data and runs: each fires where it must and keeps silent where it must not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import unseen
from unseen.checks.dependent_rows import lag_one_test
from unseen.checks.registry import data_notes, run_notes
from unseen.checks.target_leak import leak_suspects
from unseen.datasets.conversion import as_data


def codes(data) -> list[str]:
    return [n.code for n in data_notes(data)]


def text_of(data, code: str) -> str:
    return next(n.text for n in data_notes(data) if n.code == code)


def sample(n: int = 60, p: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), np.arange(n) % 2


class TestFewOfSomething:
    def test_small_class(self) -> None:
        X, _ = sample()
        assert "U001" in codes(as_data(X, ["rare"] * 9 + ["b"] * 51))
        assert "'rare' has 9" in text_of(as_data(X, ["rare"] * 9 + ["b"] * 51), "U001")
        assert "U001" not in codes(as_data(X, ["a"] * 10 + ["b"] * 50))
        assert "U001" not in codes(as_data(X, np.arange(60) + 0.5))

    def test_few_units(self) -> None:
        X, y = sample()
        assert "U009" in codes(as_data(X[:19], y[:19]))
        assert "U009" not in codes(as_data(X[:20], y[:20]))
        assert "19 groups" in text_of(as_data(X, y, groups=np.arange(60) % 19), "U009")
        assert "U009" not in codes(as_data(X, y, groups=np.arange(60) % 20))


class TestRepeats:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, lambda X: pd.DataFrame(X, columns=list("abc"))])
    def test_counted(self, kind) -> None:
        X, y = sample()
        assert "U002" not in codes(as_data(kind(X), y))
        X[10], X[20], X[31] = X[0], X[0], X[1]
        text = text_of(as_data(kind(X), y), "U002")
        assert text.startswith("the features of 5 of 60 rows")
        assert "another target" not in text  # rows 0, 10, 20 are of one class and 1, 31 of the other
        X[12] = X[1]
        assert "(3 of them have copies with another target)" in text_of(as_data(kind(X), y), "U002")

    def test_text_and_missing_values(self) -> None:
        X, y = sample()
        frame = pd.DataFrame(X, columns=list("abc")).assign(s=[f"s{k}" for k in range(60)])
        frame.loc[5, "a"] = np.nan
        frame.loc[7] = frame.loc[5]
        assert text_of(as_data(frame, y), "U002").startswith("the features of 2 of 60")

    def test_zeros_of_both_signs_and_places_of_sparse_values(self) -> None:
        X, y = sample()
        X[3], X[4] = [0.0, 1, 2], [-0.0, 1, 2]
        assert "U002" in codes(as_data(X, y))
        wide = np.zeros((40, 50))
        wide[np.arange(40), np.arange(40)] = 1.0
        assert "U002" not in codes(as_data(sp.csr_matrix(wide), np.arange(40) % 2))

    def test_copies_within_a_group_cannot_be_split(self) -> None:
        X, y = sample()
        X[1] = X[0]
        groups = np.arange(60) // 2
        assert "U002" not in codes(as_data(X, y, groups=groups))
        X[2] = X[0]
        assert "in another group" in text_of(as_data(X, y, groups=groups), "U002")

    def test_few_values_repeat_by_nature(self) -> None:
        rng = np.random.default_rng(0)
        bits = rng.integers(0, 2, (100, 4))
        assert not {"U002", "U036"} & set(codes(as_data(bits, rng.integers(0, 2, 100))))
        more = rng.integers(0, 2, (100, 10))
        more[1] = more[0]
        data = as_data(more, rng.integers(0, 2, 100))
        assert "to be expected" in text_of(data, "U036")
        assert "U002" not in codes(data)


class TestConstant:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, lambda X: pd.DataFrame(X, columns=["x0", "x1", "x2"])])
    def test_named(self, kind) -> None:
        X, y = sample()
        assert "U003" not in codes(as_data(kind(X), y))
        X[:, 1] = 7
        assert text_of(as_data(kind(X), y), "U003") == "1 of 3 features have the same value in every row: x1"

    def test_missing_is_a_value(self) -> None:
        X, y = sample()
        X[:, 1] = np.where(np.arange(60) < 30, np.nan, 7)
        X[:, 2] = np.nan
        assert "1 of 3 features" in text_of(as_data(X, y), "U003")


class TestLeaks:
    @pytest.mark.parametrize(
        "name", ["iris", "wine", "breast-cancer", "digits", "diabetes", "gaussian-blocks", "ar-linear"]
    )
    def test_honest_sets_are_not_suspected(self, name) -> None:
        assert "U005" not in codes(unseen.datasets.load(name))

    def test_two_well_separated_species_are_called_a_suspicion(self) -> None:
        iris = unseen.datasets.load("iris")
        two = np.flatnonzero(iris.y != "virginica")
        assert "a suspicion, not a proof" in text_of(as_data(iris.X[two], iris.y[two]), "U005")

    @pytest.mark.parametrize("noise", [0.0, 0.3])
    def test_copy_of_the_class(self, noise) -> None:
        X, y = sample(200)
        X[:, 2] = y + noise * np.random.default_rng(1).random(200)
        assert [s.name for s in leak_suspects(as_data(X, y))] == ["x2"]
        X[:40, 2] = X[:40, 0]
        assert leak_suspects(as_data(X, y)) == []

    def test_three_classes_and_imbalance(self) -> None:
        X, _ = sample(300)
        y = np.repeat([1, 0, 2], 100)
        X[:, 1] = y * 3 + X[:, 0] / 10
        assert [s.name for s in leak_suspects(as_data(X, y))] == ["x1"]
        rare = (np.arange(300) < 15).astype(int)
        X[:, 1] = rare
        assert [s.name for s in leak_suspects(as_data(X, rare))] == ["x1"]
        X[:5, 1] = 0  # a third of the rare class is missed: 98% right, but not a leak
        assert leak_suspects(as_data(X, rare)) == []

    def test_levels_gaps_and_names(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 200)
        frame = pd.DataFrame(
            {"noise": rng.standard_normal(200), "code": np.where(y == 1, "x", rng.choice(["u", "v"], 200))}
        )
        frame["late"] = np.where(y == 1, rng.standard_normal(200), np.nan)
        frame["name"] = [f"person {k}" for k in range(200)]
        assert [s.name for s in leak_suspects(as_data(frame, y))] == ["code", "late missing or not", "late"]

    def test_row_number_of_a_sorted_file(self) -> None:
        X, _ = sample(100)
        X[:, 0] = np.arange(100)
        assert [s.name for s in leak_suspects(as_data(X, (np.arange(100) >= 50).astype(int)))] == ["x0"]

    def test_chance_among_many_features(self) -> None:
        # 20 rows, 5 of a class, 5,000 noise features: some feature separates by chance with probability 2 * 5000 / C(20, 5) = 0.64.
        rng = np.random.default_rng(3)
        y = (np.arange(20) < 5).astype(int)
        assert leak_suspects(as_data(rng.standard_normal((20, 5000)), y)) == []

    def test_numbers(self) -> None:
        X, _ = sample(100)
        rng = np.random.default_rng(1)
        y = rng.standard_normal(100)
        X[:, 1] = 3 * y - 2 + 1e-3 * rng.standard_normal(100)
        X[:, 2] = np.exp(3 * y)
        assert [s.name for s in leak_suspects(as_data(X, y))] == ["x1", "x2"]
        X[:, 1] = y + 0.2 * rng.standard_normal(100)
        X[:, 2] = 0
        assert leak_suspects(as_data(X, y)) == []

    def test_large_and_sparse(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 30_000)
        X = rng.standard_normal((30_000, 5))
        X[:, 4] = y
        assert [s.name for s in leak_suspects(as_data(X, y))] == ["x4"]
        assert [s.name for s in leak_suspects(as_data(sp.csr_matrix(X[:500]), y[:500]))] == ["x4"]


class TestRuns:
    def test_perfect_separation(self) -> None:
        rng = np.random.default_rng(0)
        y = np.arange(60) % 2
        X = rng.standard_normal((60, 2)) + 20 * y[:, None]
        assert [n.code for n in run_notes(unseen.run("lda", X, y, random_state=0).losses())] == ["U004"]
        X[0] = X[1]
        assert "U004" not in [n.code for n in run_notes(unseen.run("lda", X, y, random_state=0))]

    def test_differences_are_not_judged(self) -> None:
        losses = unseen.run("lda", unseen.datasets.load("iris"), random_state=0).losses()
        assert run_notes(losses.minus(losses)) == ()

    @pytest.mark.parametrize("task", ["classification", "regression"])
    def test_rows_in_runs(self, task) -> None:
        rng = np.random.default_rng(0)
        n = 1000
        bad_day = np.repeat(rng.random(n // 10) < 0.3, 10)  # on bad days the target says little about the features
        X = rng.standard_normal((n, 2))
        spread = np.where(bad_day, 3.0, 0.1)
        signal = X[:, 0] + spread * rng.standard_normal(n)
        y = (signal > 0).astype(int) if task == "classification" else signal
        model = "logistic" if task == "classification" else "ols"
        found = run_notes(unseen.run(model, X, y, random_state=0).losses())
        assert [f.code for f in found] == ["U006"]
        assert "the order of the rows" in found[0].text
        shuffled = rng.permutation(n)
        assert run_notes(unseen.run(model, X[shuffled], y[shuffled], random_state=0).losses()) == ()
        by_time = unseen.run(model, X[shuffled], y[shuffled], time=shuffled, random_state=0, design="kfold").losses()
        assert [f.code for f in run_notes(by_time)] == ["U006"]

    @pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer", "digits"])
    def test_a_file_sorted_by_class_is_no_alarm(self, name) -> None:
        data = unseen.datasets.load(name)
        shuffled = np.random.default_rng(0).permutation(data.n)  # digits come writer by writer
        order = shuffled[np.argsort(data.codes[shuffled], kind="stable")]
        losses = unseen.run("naive-bayes", data.X[order], data.y[order], random_state=0).losses()
        assert losses.by_row()[: data.n // 3].mean() != losses.by_row()[-data.n // 3 :].mean()
        assert run_notes(losses) == ()

    def test_a_file_sorted_by_a_numeric_target_is_no_alarm(self) -> None:
        data = unseen.datasets.load("diabetes")
        order = np.argsort(data.y)
        assert run_notes(unseen.run("ols", data.X[order], data.y[order], random_state=0).losses()) == ()

    def test_groups_are_units(self) -> None:
        rng = np.random.default_rng(0)
        groups = np.repeat(np.arange(60), 5)
        effect = np.repeat(rng.standard_normal(60), 5)
        X = rng.standard_normal((300, 2))
        y = X[:, 0] + 2 * effect
        assert [n.code for n in run_notes(unseen.run("ols", X, y, random_state=0).losses())] == ["U006"]
        assert run_notes(unseen.run("ols", X, y, groups=groups, random_state=0).losses()) == ()


class TestLagOne:
    def test_by_hand(self) -> None:
        # 3, 1, 4, 2 less their mean: .5, -1.5, 1.5, -.5; products -.75, -2.25, -.75 sum to -3.75; squares sum to 5.
        correlation, _ = lag_one_test(np.array([3.0, 1, 4, 2]), np.zeros(4, int), np.random.default_rng(0))
        assert correlation == pytest.approx(-0.75)

    def test_all_permutations(self) -> None:
        # Of the 24 orders of four ranks, 1 2 3 4 and its mirror have the largest lag-one sum: p is 2 / 24.
        tries = [lag_one_test(np.arange(4.0), np.zeros(4, int), np.random.default_rng(s))[1] for s in range(60)]
        assert np.mean(tries) == pytest.approx(2 / 24, abs=0.012)

    @pytest.mark.parametrize("kind", ["uniform", "zero-one", "skewed", "two classes"])
    def test_false_alarms(self, kind) -> None:
        rng = np.random.default_rng(7)
        p_values = []
        for _ in range(600):
            strata = np.zeros(80, int) if kind != "two classes" else np.repeat([0, 1], 40)
            losses = {
                "uniform": rng.random(80),
                "zero-one": (rng.random(80) < 0.1).astype(float),
                "skewed": rng.standard_normal(80) ** 4,
                "two classes": (rng.random(80) < np.where(strata, 0.05, 0.5)).astype(float),
            }[kind]
            p_values.append(lag_one_test(losses, strata, rng)[1])
        p = np.array(p_values)
        # The number of p-values at or below 0.05 among 600 is at most binomial(600, 0.05): mean 30, sd 5.3.
        assert np.mean(p <= 0.05) <= (30 + 3.5 * 5.3) / 600
        assert np.mean(p <= 0.001) <= 4 / 600
        if kind in ("uniform", "skewed"):
            assert np.mean(p <= 0.05) >= (30 - 3.5 * 5.3) / 600

    def test_equal_losses(self) -> None:
        assert lag_one_test(np.ones(50), np.zeros(50, int), np.random.default_rng(0)) == (0.0, 1.0)


@pytest.mark.slow
def test_false_alarms_of_whole_runs() -> None:
    """Independent rows, sorted by class, models fitted for real: 400 runs at level 0.001."""
    alarms = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        y = np.sort(rng.integers(0, 2, 100))
        X = rng.standard_normal((100, 3)) + 0.5 * y[:, None] * rng.random()
        alarms += bool(run_notes(unseen.run("naive-bayes", X, y, random_state=seed).losses()))
    assert alarms <= 3
