"""The noise floor, its percentile, its p-value and the interval over seeds, each from its definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unseen.core.rng import root_seed, stream
from unseen.nets import cmi, score_measures

A, B, C = (np.array(column) for column in zip(*itertools.product(range(2), repeat=3)))
TWICE = {"a": [*A, *A], "b": [*B, *B], "c": [*C, *C]}
SEEDS = np.repeat([0, 1], 8)
NOISE = np.array([0.1, -0.1, 0.2, 0.1, -0.2, 0.3, 0.05, -0.3])


def two_seeds() -> tuple[np.ndarray, np.ndarray]:
    """In the first seed a and b decide the gap, so that no order is left where both are fixed; in the second they do not."""
    gap = np.concatenate([A + 0.5 * B, A + 0.5 * B + NOISE])
    return gap, np.random.default_rng(0).normal(size=16)


def test_a_permuted_measure_scores_on_the_floor_what_it_scores_by_itself() -> None:
    gap, measure = two_seeds()
    score = cmi(gap, measure, TWICE, seeds=SEEDS, n_bootstrap=2)
    assert np.isnan(score.by_set["a", "b"])
    floor = score.noise_floor(60, random_state=3)
    rng = stream(root_seed(3), "cmi", "permutations")
    permuted = np.hstack([rng.permuted(np.tile(measure[s == SEEDS], (60, 1)), axis=1) for s in (0, 1)])
    alone = [cmi(gap, row, TWICE, seeds=SEEDS, n_bootstrap=2).value for row in permuted]
    assert len(set(np.round(alone, 9))) > 10
    assert floor.scores == pytest.approx(np.array(alone), abs=1e-12)


def test_one_permutation_in_twenty_exceeds_the_floor_and_the_measure_counts_among_them() -> None:
    grid = dict(zip("abcde", zip(*itertools.product(range(2), repeat=5))))
    rng = np.random.default_rng(1)
    gap = rng.normal(size=32)
    score = cmi(gap, 0.3 * gap + rng.normal(size=32), grid)
    floor = score.noise_floor(400)
    assert 0.045 <= np.mean(floor.scores > floor.quantile) <= 0.05
    assert floor.mean == pytest.approx(sum(floor.scores) / 400)
    assert floor.p_value == pytest.approx((1 + sum(s >= score.value for s in floor.scores)) / 401)


def test_a_constant_measure_ties_with_all_its_permutations() -> None:
    grid = {"a": A, "b": B, "c": C}
    assert cmi(A + 0.5 * B + 0.1 * C, np.ones(8), grid).noise_floor(19).p_value == 1.0


def jumbled(**changed: float) -> np.ndarray:
    """Values for the eight cells that order some of the gaps wrongly, single cells changed: c0=, c7=."""
    values = (A + 0.5 * B + 0.25 * C)[[0, 4, 3, 2, 1, 5, 6, 7]]
    for cell, value in changed.items():
        values[int(cell[1:])] = value
    return values


@pytest.mark.parametrize(
    ("first", "second", "level"),
    [({}, {"c7": 0.1}, 0.7), ({"c0": 3.0, "c7": 0.1}, {}, 0.95)],
    ids=["one cell differs", "two cells differ"],
)
def test_the_interval_over_two_seeds_spans_the_tables_they_can_make(
    first: dict[str, float], second: dict[str, float], level: float
) -> None:
    # cells draw their seed on their own, so that all mixtures of the seeds' tables arise, each with equal chances; a replication
    # is the mean of two of them, hence a probability of 1/4 (1/16) for the extremes, more than the tails beyond the level;
    # two seeds show half of their variance, hence the root of 2
    gap = A + 0.5 * B + 0.25 * C
    cells = set(first) | set(second)
    choices = [{**first} if k else {**second} for k in (0, 1)]
    mixtures = [
        {c: choices[k][c] for c, k in zip(cells, picks) if c in choices[k]}
        for picks in itertools.product((0, 1), repeat=len(cells))
    ]
    values = [cmi(gap, jumbled(**mixed), {"a": A, "b": B, "c": C}).value for mixed in mixtures]
    measure = np.concatenate([jumbled(**first), jumbled(**second)])
    found = cmi(np.tile(gap, 2), measure, TWICE, seeds=SEEDS, level=level, n_bootstrap=150).interval
    assert found is not None
    assert found.high - found.low == pytest.approx(np.sqrt(2) * (max(values) - min(values)), abs=1e-9)


@pytest.mark.parametrize(("axes", "few"), [(5, True), (6, False)])
def test_networks_are_few_by_the_grid_of_one_seed(axes: int, few: bool) -> None:
    # 48 networks are needed in a grid; two seeds of 32 are 64 networks, but no grid holds as many
    cells = list(itertools.product(range(2), repeat=axes))
    grid = {f"h{k}": [cell[k] for cell in cells] * 2 for k in range(axes)}
    gap = np.arange(2.0 * len(cells))
    score = cmi(gap, gap, grid, seeds=np.repeat([0, 1], len(cells)), n_bootstrap=2)
    assert ("N002" in {n.code for n in score.notes}) is few


@pytest.mark.parametrize(("deviation", "flat"), [(0.0195, True), (0.0205, False)])
def test_gaps_hardly_differ_below_a_standard_deviation_of_a_fiftieth(deviation: float, flat: bool) -> None:
    gap = A + 0.5 * B + 0.25 * C
    gap = deviation * (gap - gap.mean()) / np.sqrt(np.mean((gap - gap.mean()) ** 2))
    assert ("N003" in {n.code for n in cmi(gap, gap, {"a": A, "b": B, "c": C}).notes}) is flat


def test_the_score_of_a_set_is_the_mean_over_seeds() -> None:
    gap = np.tile(A + 0.5 * B + 0.25 * C, 2)
    measure = np.concatenate([gap[:8], jumbled(c7=0.1)])
    both = cmi(gap, measure, TWICE, seeds=SEEDS, n_bootstrap=2)
    parts = [cmi(gap[:8], measure[s == SEEDS], {"a": A, "b": B, "c": C}).by_set for s in (0, 1)]
    for held, value in both.by_set.items():
        assert value == pytest.approx((parts[0][held] + parts[1][held]) / 2)
    assert min(parts[1].values()) < 0.9


def test_the_order_in_which_networks_are_listed_does_not_move_the_interval() -> None:
    gap, measure = two_seeds()
    one = cmi(gap, measure, TWICE, seeds=SEEDS, n_bootstrap=40).interval
    # seeds and values are numbered by first appearance, so that the first network stays where it is
    listed = np.concatenate([[0], 1 + np.random.default_rng(2).permutation(15)])
    moved = {name: [column[k] for k in listed] for name, column in TWICE.items()}
    other = cmi(gap[listed], measure[listed], moved, seeds=SEEDS[listed], n_bootstrap=40).interval
    assert (other.low, other.high) == pytest.approx((one.low, one.high))


@pytest.mark.parametrize("self_pairs", [True, False])
def test_a_table_of_measures_holds_what_each_scores_by_itself(self_pairs: bool) -> None:
    grid = {"a": A, "b": B, "c": C}
    gap = A + 0.5 * B + 0.25 * C
    columns = {"worse": jumbled(c7=0.1), "better": jumbled()}
    found = score_measures(gap, columns, grid, self_pairs=self_pairs, n_permutations=40, random_state=4)
    assert found.best_first() == ["better", "worse"]
    for row, (name, values) in zip(found.rows(), columns.items(), strict=True):
        score = cmi(gap, values, grid, self_pairs=self_pairs)
        floor = score.noise_floor(40, random_state=4)
        assert (row["measure"], row["networks"], row["lower"]) == (name, 8, None)
        assert row["least with fixed"] == " ".join(score.binding)
        assert (row["cmi"], row["floor"]) == pytest.approx((100 * score.value, 100 * floor.quantile))
        assert row["p"] == pytest.approx(floor.p_value)
    assert floor.p_value != score.noise_floor(40, random_state=5).p_value
    assert floor.quantile != pytest.approx(floor.mean)


def test_the_best_of_many_measures_is_judged_by_the_best_of_as_many_without_information() -> None:
    """Of ten random measures the best has a p-value up to .1 in half of the cases; the adjusted one in one of ten."""
    grid = {name: list(values) for name, values in zip("abc", zip(*itertools.product(range(3), range(2), range(2))))}
    rng = np.random.default_rng(8)
    single, adjusted = [], []
    for _ in range(60):
        gap, columns = rng.random(12), {str(k): rng.random(12) for k in range(10)}
        found = score_measures(gap, columns, grid, n_permutations=99)
        best = found.best_first()[0]
        single.append(found.floors[best].p_value)
        adjusted.append(found.adjusted[best])
        assert all(found.adjusted[name] >= floor.p_value for name, floor in found.floors.items())
    assert np.mean(np.array(single) <= 0.1) > 0.4
    assert np.mean(np.array(adjusted) <= 0.1) <= 0.1 + 2.5 * np.sqrt(0.1 * 0.9 / 60)
    assert np.mean(np.array(adjusted) <= 0.5) >= 0.5 - 2.5 * np.sqrt(0.25 / 60)


def test_one_measure_needs_no_adjustment_and_equal_measures_share_one() -> None:
    grid = {name: list(values) for name, values in zip("abc", zip(*itertools.product(range(3), range(2), range(2))))}
    rng = np.random.default_rng(1)
    gap, column = rng.random(12), rng.random(12)
    alone = score_measures(gap, {"m": column}, grid, n_permutations=99)
    assert alone.adjusted == {"m": alone.floors["m"].p_value}
    twice = score_measures(gap, {"m": column, "again": 2 * column}, grid, n_permutations=99)
    assert twice.adjusted == {"m": alone.adjusted["m"], "again": alone.adjusted["m"]}  # permuted alike
    assert "adjusted for 2 measures" in str(twice)
