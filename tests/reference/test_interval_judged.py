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


@pytest.mark.parametrize("name", ["interval_judge", "interval_judge_second", "interval_judge_third"])
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


def test_the_shipped_interval_on_the_third_list_is_the_beta_law_of_the_shipped_constants():
    """Where `combined` leads the ends are quantiles of the Beta distribution; elsewhere they are the stored ones."""
    from unseen.estimators.combined.predictive import predictive

    families = {"3nn": "neighbours", "cart": "tree", "gaussian-nb": "generative", "rbf-svm": "kernel"}
    families |= {"linear-svm": "linear", "logistic": "linear"}
    judged = held = 0
    for r in stored("interval_judge_third"):
        truth, low, high, left, n, c = (float(r[k]) for k in ("truth", "low", "high", "left", "n", "estimate"))
        if float(r["led"]):
            law = stats.beta(*predictive("combined", families.get(r["rule"], "any")).shapes(c, n))
            low, high = min(law.ppf(0.025), c), max(law.ppf(0.975), c)
            low = 0.0 if low < 0.5 / n else low
        middle = (low + high) / 2
        if np.sqrt(middle * (1 - middle) / left) < (high - low) / 8:
            judged, held = judged + 1, held + (low <= truth <= high)
    page = (ROOT / "docs" / "tables" / "interval_judge_third_shipped.md").read_text()
    cells = [c.strip() for c in re.search(r"\| all samples \|[^\n]*", page).group().strip("|").split("|")]
    assert int(cells[2]) == judged
    assert float(cells[3]) == pytest.approx(held / judged, abs=0.0005)


def test_no_family_is_in_two_lists_or_in_the_studies_before():
    from studies import combination_fresh, small_samples
    from studies.interval_families import FAMILIES, SECOND_MADE, THIRD_FAMILIES, THIRD_MADE, USED_FAMILIES

    before = {*small_samples.FAMILIES, *combination_fresh.FAMILIES, *USED_FAMILIES}
    assert not before & set(FAMILIES)
    assert not (before | set(FAMILIES)) & set(THIRD_FAMILIES)
    assert not set(SECOND_MADE) & set(THIRD_MADE)
    assert (len(FAMILIES), len(SECOND_MADE)) == (102, 10)
    assert (len(THIRD_FAMILIES), len(THIRD_MADE)) == (147, 10)
    second, third = ([one for several in f.values() for one in several] for f in (FAMILIES, THIRD_FAMILIES))
    for sets in (second, third):
        assert len({one.name for one in sets}) == len(sets)
    tables = [{one.file.lower().split("/")[-1].split(".")[0] for one in sets} for sets in (second, third)]
    assert not tables[0] & tables[1]


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
    ],
)
def test_made_populations_have_the_share_of_their_law(name, share):
    from studies.interval_families import MADE

    y = MADE[name][0](40_000, np.random.default_rng(5))[1]
    assert y.mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 40_000))
