"""Copies of rows: found, told from recurring rows, and kept on one side of every split."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.core.errors import InputError, UnseenError
from unseen.datasets.conversion import as_data, part_of
from unseen.datasets.copies import (
    _features,
    _near_pairs,
    _near_pairs_of_sparse,
    _sparse_row_hashes,
    find_copies,
    with_copies,
)
from unseen.diagnosis.diagnose import DiagnosisEffort


def sample(n: int = 60, p: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), np.arange(n) % 2


def copied(n: int = 60, share: float = 0.1, seed: int = 0):
    """A sample with a share of its rows once more, at the end; the copies get the other label."""
    X, y = sample(n, seed=seed)
    k = int(share * n)
    return np.vstack([X, X[:k]]), np.r_[y, 1 - y[:k]]


def near_pairs_by_hand(X) -> int:
    X = np.asarray(X)
    return sum(int((X[i] != X[j]).sum() == 1) for i in range(len(X)) for j in range(i))


def integers(seed: int, n: int = 40, p: int = 4, values: int = 4):
    return np.random.default_rng(seed).integers(0, values, (n, p))


class TestNearPairs:
    @pytest.mark.parametrize("seed", range(5))
    def test_dense_counts_are_those_of_all_pairs(self, seed) -> None:
        X = integers(seed)
        equal = sum(bool(np.array_equal(X[i], X[j])) for i in range(40) for j in range(i))
        # counting stops at as many as are equal, so the equal ones are given as too many to stop
        found = _near_pairs(list(_features(X)), 1e9) + 4 * (1e9 - equal)
        assert found == pytest.approx(near_pairs_by_hand(X), abs=1e-3)

    @pytest.mark.parametrize("seed", range(5))
    def test_sparse_counts_are_those_of_all_pairs(self, seed) -> None:
        X = integers(seed, values=3) * (np.random.default_rng(seed).random((40, 4)) < 0.6)
        matrix = sp.csr_matrix(X.astype(float))
        assert _near_pairs_of_sparse(matrix, _sparse_row_hashes(matrix)) == near_pairs_by_hand(X)


class TestChance:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, lambda X: pd.DataFrame(X, columns=list("abc"))])
    def test_continuous_rows_do_not_recur(self, kind) -> None:
        X, _ = copied()
        found = find_copies(kind(X))
        assert (found.rows, found.by_chance) == (12, False)
        assert find_copies(kind(X[:60])).rows == 0

    @pytest.mark.parametrize("seed", range(5))
    def test_categories_recur(self, seed) -> None:
        rng = np.random.default_rng(seed)
        assert find_copies(rng.integers(0, 2, (200, 8))).by_chance
        assert find_copies(rng.integers(0, 5, (200, 4))).by_chance

    def test_the_balance_of_equal_and_near_pairs_decides(self) -> None:
        # rows 0 and 1 are equal; row 2 differs from both in one column: two near pairs against one equal pair
        X = np.arange(50.0).reshape(10, 5)
        X[1] = X[0]
        X[2] = X[0] + [0, 0, 0, 0, 70]
        assert find_copies(X).by_chance
        X[2] = X[0] + [0, 0, 0, 70, 70]
        assert not find_copies(X).by_chance
        X[3] = X[2] + [0, 0, 0, 0, 90]  # one pair of each kind
        assert find_copies(X).by_chance

    @pytest.mark.parametrize(("pairs", "by_chance"), [(4, True), (5, False)])
    def test_a_few_equal_pairs_may_be_luck(self, pairs, by_chance) -> None:
        # 2^-4 > .05 > 2^-5, and independent columns of so few values have many equal pairs: two columns, 21 values each
        X = np.array([(k, (k * 8) % 21) for k in range(21)])
        assert find_copies(np.vstack([X, X[:pairs]])).by_chance is by_chance

    def test_one_pair_of_many_columns_is_enough(self) -> None:
        X, _ = sample(30, 3)
        assert not find_copies(np.vstack([X, X[:1]])).by_chance

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
    def test_few_columns_that_are_mostly_no_recur(self, kind) -> None:
        # 400 rows of two columns of yes and no: equal pairs are many times those with one difference, as chance has it
        rng = np.random.default_rng(0)
        alone = np.zeros((400, 2))
        alone[:12, 0], alone[12:20, 1] = 1, 1  # never on together
        assert find_copies(kind(alone)).by_chance
        assert find_copies(kind((rng.random((400, 2)) < 0.04).astype(float))).by_chance
        assert find_copies(kind((rng.random((400, 4)) < 0.02).astype(float))).by_chance

    def test_copies_beside_columns_that_are_mostly_no(self) -> None:
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.random((100, 3)) < 0.05, rng.normal(size=(100, 2))]).astype(float)
        assert not find_copies(np.vstack([X, X[:8]])).by_chance

    def test_small_samples_of_a_set_that_recurs(self) -> None:
        X = unseen.datasets.load("iris").X
        rng = np.random.default_rng(0)
        found = [find_copies(X[rng.choice(150, 30, replace=False)]) for _ in range(300)]
        recurring = [one for one in found if one.rows]
        assert len(recurring) > 10
        assert sum(not one.by_chance for one in recurring) <= 0.1 * len(recurring)

    def test_indicators_of_one_category_are_one_feature(self) -> None:
        # two colours of five values each: a change of one colour changes two indicators
        rng = np.random.default_rng(0)
        two = rng.integers(0, 5, (120, 2))
        X = np.hstack([np.eye(5)[two[:, 0]], np.eye(5)[two[:, 1]]])
        assert find_copies(X).by_chance

    def test_twin_columns_of_few_values_are_one_feature(self) -> None:
        rng = np.random.default_rng(0)
        X = rng.integers(0, 3, (100, 4))
        assert find_copies(np.hstack([X, 10 - 2 * X])).by_chance

    def test_constant_and_single_columns_show_no_copies(self) -> None:
        assert find_copies(np.ones((10, 2))).by_chance
        assert find_copies(np.r_[np.arange(9.0), 0.0][:, None]).by_chance

    @pytest.mark.parametrize("name", ["iris", "digits", "wine", "breast-cancer", "diabetes"])
    def test_bundled_sets_keep_their_rows(self, name) -> None:
        data = unseen.datasets.load(name)
        assert with_copies(data) is data


class TestTogether:
    @pytest.mark.parametrize(
        "design", ["kfold", "monte-carlo", "repeated-kfold", "bootstrap", "leave-out", "holdout", "loo", "nested"]
    )
    def test_no_design_parts_copies(self, design) -> None:
        X, y = copied()
        table = unseen.run("dummy", X, y, design=design, random_state=0)
        assert table.data.n_units == 60
        for split in table.plan:
            assert not set(split.train % 60) & set(split.test % 60)
            held = set(split.test)
            assert all((row + 60 in held) for row in held if row < 6)

    def test_apart_and_auto_differ_only_if_there_are_copies(self) -> None:
        X, y = sample()
        runs = [unseen.run("lda", X, y, random_state=0, duplicates=d) for d in ("auto", "together", "apart")]
        assert len({r.plan.fingerprint for r in runs}) == 1
        X, y = copied()
        auto, together, apart = (
            unseen.run("lda", X, y, random_state=0, duplicates=d) for d in ("auto", "together", "apart")
        )
        assert auto.plan.fingerprint == together.plan.fingerprint != apart.plan.fingerprint
        assert apart.data.n_units == 66

    def test_memory_gains_nothing_from_copies(self) -> None:
        # labels are random: one nearest neighbour knows copies by heart, and half of the others
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((200, 3)), rng.integers(0, 2, 200)
        X, y = np.vstack([X, X]), np.r_[y, y]
        error = {d: unseen.estimate("knn:1", X, y, duplicates=d, random_state=0).value for d in ("auto", "apart")}
        assert error["apart"] < 0.15
        assert abs(error["auto"] - 0.5) < 0.1

    def test_strata_are_kept(self) -> None:
        X, y = copied(200)
        y = (np.arange(220) % 200 < 20).astype(int)  # a tenth is rare, copies with their originals
        table = unseen.run("dummy", X, y, random_state=0)
        units = [np.unique(table.data.units[s.test]) for s in table.plan]
        first = np.array([y[np.flatnonzero(table.data.units == u)[0]] for u in range(200)])
        assert [first[u].sum() for u in units] == [2] * 10

    def test_groups_and_time_are_left_as_they_are(self) -> None:
        X, y = copied()
        groups = np.arange(66) // 3
        data = as_data(X, y, groups=groups)
        assert with_copies(data) is data
        assert with_copies(as_data(X, y, time=np.arange(66))).joined is None
        joined = with_copies(data, "together")
        # rows 60 to 65 (groups 20 and 21) repeat rows 0 to 5 (groups 0 and 1)
        assert joined.n_units == 20
        assert joined.units[0] == joined.units[60] == joined.units[62] != joined.units[3]
        assert np.array_equal(joined.groups, groups)

    def test_too_few_units_stay_apart(self) -> None:
        X = np.repeat(np.random.default_rng(0).standard_normal((3, 2)), 10, axis=0)
        y = np.repeat([0, 1, 1], 10)  # class 0 is one distinct row
        data = as_data(X, y)
        assert with_copies(data).joined is None
        assert with_copies(data, "together").n_units == 3
        with pytest.raises(InputError, match="leaves one unit"):
            with_copies(as_data(X, y, groups=np.arange(30) % 10), "together")

    def test_unknown_choice(self) -> None:
        X, y = sample()
        with pytest.raises(UnseenError, match="together"):
            unseen.run("lda", X, y, duplicates="never")

    def test_every_question_lets_the_user_decide(self) -> None:
        X, y = copied()
        together, apart = (
            unseen.distribution("lda", X, y, n_splits=10, random_state=0, duplicates=d) for d in ("auto", "apart")
        )
        assert (together.n_train + together.n_test, apart.n_train + apart.n_test) == (60, 66)
        trained = GaussianNB().fit(X, y)
        found = [unseen.resubstitute(trained, X, y, methods=["resub"], duplicates=d) for d in ("auto", "apart")]
        assert [e.headline.n_units for e in found] == [60, 66]
        effort = DiagnosisEffort(splits=10, sizes=3, repeats=2, noise=2, permutations=9, bootstrap=50)
        made = [
            unseen.diagnose("lda", X, y, effort=effort, random_state=0, duplicates=d) for d in ("together", "apart")
        ]
        assert [d.data.n_units for d in made] == [60, 66]
        for ask in (unseen.distribution, unseen.diagnose):
            with pytest.raises(UnseenError, match="together"):
                ask("lda", X, y, duplicates="never")

    def test_parts_and_files(self, tmp_path) -> None:
        X, y = copied()
        data = with_copies(as_data(X, y))
        assert data.take(np.array([0, 60, 1])).n_units == 2
        assert part_of(data, np.arange(30)).joined is None
        table = unseen.run("lda", data, random_state=0)
        again = unseen.load(table.save(tmp_path / "run.npz"))
        assert again.data.n_units == 60
        assert again.losses().by_unit() == pytest.approx(table.losses().by_unit(), nan_ok=True)

    def test_given_splits_that_part_copies_are_an_alarm(self) -> None:
        X, y = copied()
        parted = unseen.run("lda", X, y, design=[(np.arange(60), np.arange(60, 66))]).plan.notes
        assert [n.code for n in parted if n.alarm] == ["U002"]
        assert (
            unseen.run("lda", X, y, design=[(np.arange(6, 60), np.r_[np.arange(6), np.arange(60, 66)])]).plan.notes
            == ()
        )


class TestNotes:
    def test_codes(self) -> None:
        from unseen.checks.registry import data_notes

        X, y = copied()
        data = as_data(X, y)
        found = {d: {n.code: n for n in data_notes(with_copies(data, d))} for d in ("auto", "apart")}
        assert "U035" in found["auto"]
        assert "U002" not in found["auto"]
        assert "U002" in found["apart"]
        assert "U035" not in found["apart"]
        assert found["apart"]["U002"].alarm
        assert not found["auto"]["U035"].alarm
        assert "the features of 12 of 66 rows" in found["auto"]["U035"].text
        assert "60 distinct rows" in found["auto"]["U035"].text
        assert "(12 of them have copies with another target)" in found["auto"]["U035"].text


@pytest.mark.parametrize("lost", [0, 1, 2, 5])
def test_a_column_without_repeats_shows_that_there_are_no_copies(lost):
    """Missing values equal each other, and so do 0 and -0: neither makes rows differ."""
    X = np.random.default_rng(0).standard_normal((80, 2))
    X[60 : 60 + lost] = np.nan
    assert find_copies(X).rows == (lost if lost > 1 else 0)
    X = np.random.default_rng(0).standard_normal((80, 2))
    X[60], X[70] = 0.0, -0.0
    assert find_copies(X).rows == 2
    X[70, 1] = 1.0
    assert find_copies(X).rows == 0
    whole = np.arange(160).reshape(80, 2)
    assert find_copies(whole).rows == 0
    assert find_copies(np.vstack([whole, whole[79:]])).rows == 2
    assert find_copies(np.column_stack([np.zeros(80), whole[:, 0]])).rows == 0
