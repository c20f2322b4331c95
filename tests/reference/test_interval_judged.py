"""What the page says about the judged families follows from the stored rows, counted here by hand."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]


def stored(name):
    with gzip.open(ROOT / "studies" / f"{name}.csv.gz", "rt", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "name",
    [
        "interval_judge",
        "interval_judge_second",
        "interval_judge_third",
        "interval_judge_fourth",
        "interval_judge_fifth",
    ],
)
def test_the_first_line_of_the_table_is_the_count_of_the_rows(name):
    rows = stored(name)
    truth, low, high, left = (np.array([float(r[c]) for r in rows]) for c in ("truth", "low", "high", "left"))
    middle, width = (low + high) / 2, high - low
    judged = np.sqrt(middle * (1 - middle) / left) < width / 8  # a quarter of the half-width
    held = np.mean([a <= t <= b for t, a, b in zip(truth[judged], low[judged], high[judged])])
    line = re.search(r"\| all samples \|[^\n]*", (ROOT / "docs" / "tables" / f"{name}.md").read_text()).group()
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert int(cells[2]) == judged.sum()
    assert float(cells[3]) == pytest.approx(held, abs=0.0005)
    rivals = np.mean(
        [float(r["rival_low"]) <= float(r["truth"]) <= float(r["rival_high"]) for r in np.array(rows)[judged]]
    )
    assert float(cells[5]) == pytest.approx(rivals, abs=0.0005)


def test_the_ends_of_the_fifth_list_are_the_beta_law_of_the_shipped_constants():
    """Where `combined` leads the ends are quantiles of the Beta distribution, so that what was judged is what is shipped."""
    from unseen.estimators.combined.predictive import predictive

    families = {"3nn": "neighbours", "cart": "tree", "gaussian-nb": "generative", "rbf-svm": "kernel"}
    families |= {"linear-svm": "linear", "logistic": "linear", "boosting": "boosting"}
    led = [r for r in stored("interval_judge_fifth") if float(r["led"])]
    assert len(led) > 1000
    same = []
    for r in led:
        low, high, n, c = (float(r[k]) for k in ("low", "high", "n", "estimate"))
        law = stats.beta(*predictive("combined", families.get(r["rule"], "any"), int(float(r["classes"]))).shapes(c, n))
        below, above = min(law.ppf(0.025), c), max(law.ppf(0.975), c)
        below = 0.0 if below < 0.5 / n else below
        same.append(abs(high - above) < 2e-5 and abs(low - below) < 2e-5)
        # copies of rows that are kept together are fewer units, and their interval is wider
        assert same[-1] or high - low > above - below
    assert np.mean(same) > 0.9


def test_no_family_is_in_two_lists_or_in_the_studies_before():
    from studies import combination_fresh, small_samples
    from studies.interval_families import (
        FAMILIES,
        FIFTH_FAMILIES,
        FIFTH_MADE,
        FOURTH_FAMILIES,
        FOURTH_MADE,
        SECOND_MADE,
        THIRD_FAMILIES,
        THIRD_MADE,
        USED_FAMILIES,
    )

    before = {*small_samples.FAMILIES, *combination_fresh.FAMILIES, *USED_FAMILIES}
    assert not before & set(FAMILIES)
    assert not (before | set(FAMILIES)) & set(THIRD_FAMILIES)
    assert not (before | set(FAMILIES) | set(THIRD_FAMILIES)) & set(FOURTH_FAMILIES)
    assert not (before | set(FAMILIES) | set(THIRD_FAMILIES) | set(FOURTH_FAMILIES)) & set(FIFTH_FAMILIES)
    assert len({*SECOND_MADE, *THIRD_MADE, *FOURTH_MADE, *FIFTH_MADE}) == 41
    assert (len(FAMILIES), len(SECOND_MADE)) == (102, 10)
    assert (len(THIRD_FAMILIES), len(THIRD_MADE)) == (147, 10)
    assert (len(FOURTH_FAMILIES), len(FOURTH_MADE)) == (268, 10)
    assert (len(FIFTH_FAMILIES), len(FIFTH_MADE)) == (140, 11)
    lists = (FAMILIES, THIRD_FAMILIES, FOURTH_FAMILIES, FIFTH_FAMILIES)
    every = [[one for several in families.values() for one in several] for families in lists]
    for sets in every:
        assert len({one.name for one in sets}) == len(sets)
    tables = [{one.file.lower().split("/")[-1].split(".")[0] for one in sets} for sets in every]
    assert not tables[0] & tables[1]
    assert (tables[0] | tables[1]) & tables[2] == {"pbc"}  # of a clinic in one, of places in England in the other
    # choices of trains and mosquitoes, insured in Belgium and in France, earthquakes of one bay and of the world
    assert (tables[0] | tables[1] | tables[2]) & tables[3] == {"train", "insurance", "quake"}


def test_no_table_of_the_fifth_list_is_read_by_two_families():
    from studies.interval_families import FIFTH_FAMILIES

    files = [{one.file for one in several} for several in FIFTH_FAMILIES.values()]
    assert sum(map(len, files)) == len(set.union(*files))


@pytest.mark.parametrize(
    ("name", "share"),
    [
        # the corner .4 x .4 x .25 of the unit cube, and the rate at which a class is drawn
        ("made/corner", 0.04),
        ("made/bursts", 0.06),
        ("made/counts", 0.4),
        # 1/3 + 2/3 * 1/3 * 2/3 of the rows follow the rule, 3% of the labels are wrong
        ("made/rules", 0.97 * 13 / 27 + 0.03 * 14 / 27),
        ("made/moons", 0.5),
        ("made/outbreak", 0.05),
        ("made/faults", 0.08),
        ("made/slabs", 0.35),
        ("made/spirals", 0.5),
        # half of the rows have the column of their region: .5 x .8 + .5 x .15
        ("made/strata", 0.475),
        ("made/screening", 0.03),
        ("made/phrases", 0.5),
        ("made/ripples", 0.5),
        ("made/parity", 0.5),
        ("made/queues", 0.04),
        ("made/clumps", 0.5),
        ("made/memories", 0.5),
        # half of the rows lie above the line, three quarters of these are reported
        ("made/reports", 0.375),
    ],
)
def test_made_populations_have_the_share_of_their_law(name, share):
    from studies.interval_families import MADE

    y = MADE[name][0](40_000, np.random.default_rng(5))[1]
    assert y.mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 40_000))


def test_each_round_of_the_fourth_list_has_as_many_samples_of_every_size():
    from studies.interval_families import Cell
    from studies.interval_judge import FOURTH, RARE_TURNS, SLOW, _round

    every = [Cell(f"a{i}", "two", n) for n, number in ((20, 7), (100, 5), (1000, 2)) for i in range(number)]
    for seed in range(3):
        drawn = [every[i] for i in _round(every, np.random.default_rng(seed))]
        for n in (20, 100, 1000):
            number = [drawn.count(cell) for cell in every if cell.n == n]
            assert sum(number) == 7
            assert max(number) - min(number) <= 1
    assert FOURTH.turns == RARE_TURNS
    assert {name: RARE_TURNS.count(name) for name in set(RARE_TURNS)} == {
        name: 1 if name in SLOW else 7 for name in set(RARE_TURNS)
    }


def test_forests_get_one_sample_in_eight_of_the_fifth_list():
    from studies.interval_judge import EVERY_RULE, FIFTH, FOREST_TURNS, SLOW, STEP

    number = {name: FIFTH.turns.count(name) for name in EVERY_RULE}
    assert FIFTH.turns == FOREST_TURNS
    assert sum(number.values()) == len(FOREST_TURNS)
    assert number == {name: {"forest": 11, "boosting": 2}.get(name, 12) for name in EVERY_RULE}
    assert 1 / 9 < number["forest"] / len(FOREST_TURNS) < 1 / 7
    assert set(SLOW) < set(number)
    # a cell meets every turn once before it meets one again
    assert len({STEP * k % len(FOREST_TURNS) for k in range(len(FOREST_TURNS))}) == len(FOREST_TURNS)


def test_the_classes_of_the_made_populations_of_the_fourth_and_fifth_list_have_the_shares_of_their_law():
    from studies.interval_families import MADE

    dice = [3, 7, 11, 9, 6]  # of 36 sums: below 4, 4 and 5, 6 and 7, 8 and 9, from 10
    shares = {
        "made/islands": (0.25, 0.2, 0.15, 0.1, 0.1, 0.1, 0.1),
        "made/grid": [0.95 * k / 36 + 0.01 for k in dice],
        "made/spikes": (0.5, 0.25, 0.18, 0.07),
        "made/chains": (1 / 3,) * 3,
        "made/grades": np.diff([0, *stats.norm.cdf([-1.645, -0.842, 0.0, 0.674, 1.282]), 1]),
        "made/branches": (0.125,) * 8,
        "made/funnels": (0.5, 0.3, 0.2),
        "made/baskets": (0.6, 0.34, 0.06),
    }
    for name, expected in shares.items():
        y = MADE[name][0](40_000, np.random.default_rng(5))[1]
        expected = np.asarray(expected)
        found = np.bincount(y, minlength=len(expected)) / len(y)
        assert np.all(np.abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / len(y)))


def test_hinges_are_right_side_up():
    """The label is 1 far more often where both hinges are large than where they are 0."""
    from studies.interval_families import MADE

    X, y = MADE["made/hinges"][0](40_000, np.random.default_rng(5))
    flat, steep = (X[:, 0] < 0) & (X[:, 1] < 0.2), (X[:, 0] > 0.8) & (X[:, 1] > 0.9)
    assert y[flat].mean() == pytest.approx(1 / (1 + np.exp(2)), abs=0.02)  # score -2
    assert y[steep].mean() > 0.98
