"""The page's figure of `combined` on fresh sets follows from the stored rows and the shipped weights, by code of its own."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from unseen.estimators.combined.evidence import error_band, expected_rms, recipe_weights

ROOT = Path(__file__).resolve().parents[2]
FAMILY = {"linear-svm": "linear", "rbf-svm": "kernel", "cart": "tree", "3nn": "neighbours", "gaussian-nb": "generative"}


def _mean_rms(value) -> float:
    rows = _rows()
    cells: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        cells.setdefault((row["set"], row["rule"]), []).append((value(row) - float(row["truth"])) ** 2)
    assert len(cells) == 150
    assert {len(squares) for squares in cells.values()} == {10}
    return float(np.mean([np.sqrt(np.mean(squares)) for squares in cells.values()]))


def _stated(recipe: str) -> list[str]:
    page = (ROOT / "docs" / "tables" / "combination_fresh.md").read_text()
    return [cell.strip() for cell in re.search(rf"^\| {recipe} \|(.*)\|$", page, re.M).group(1).split("|")]


def _moved(row, weights) -> float:
    start = float(row["632plus"])
    q = (40 * start + 1) / 42
    spread = np.sqrt(q * (1 - q) / 40)
    value = start + weights["level"] * spread
    for part, weight in weights.items():
        if part != "level":
            gap = float(row[part.replace("-balanced", "-class")]) - start
            value += weight * np.sign(gap) * min(abs(gap), 1.5 * spread)
    return min(max(value, 0.0), 1.0)


def _rows():
    with gzip.open(ROOT / "studies" / "combination_fresh.csv.gz", "rt", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("recipe", ["combined", "auto-resub"])
def test_the_stated_figures_follow_from_the_rows(recipe):
    def own(row):
        weights = recipe_weights(recipe)[FAMILY[row["rule"]]]
        return (
            _moved(row, weights) if recipe == "combined" else sum(w * float(row[part]) for part, w in weights.items())
        )

    rms, rival, rival_rms, gain = _stated(recipe)
    ours, theirs = _mean_rms(own), _mean_rms(lambda row: float(row[rival]))
    assert ours == pytest.approx(float(rms), abs=6e-5)
    assert theirs == pytest.approx(float(rival_rms), abs=6e-5)
    assert 100 * (1 - ours / theirs) == pytest.approx(float(gain.split("%")[0]), abs=0.06)


def test_no_single_estimator_is_nearer_on_the_fresh_sets():
    singles = (
        "632",
        "632plus",
        "kfold",
        "bootstrap-zero",
        "bootstrap-loo",
        "posterior",
        "semi-bolster",
        "bayesian",
        "bolster",
    )
    best = float(_stated("combined")[0])
    assert all(_mean_rms(lambda row, one=one: float(row[one])) > best for one in singles)


@pytest.mark.skipif(not (ROOT.parent / "shared" / "data").exists(), reason="the shared data sets are not here")
@pytest.mark.slow
@pytest.mark.sample
def test_what_is_promised_holds_on_fresh_sets_like_the_study_where_errors_are_rare_and_where_not():
    """By hand: squared deviations less the binomial variance of the true error, against the row of the evidence for all rules."""
    from studies.combination_fresh import kind_of
    from studies.small_samples import table

    size = {name: len(table(name)[1]) for name in {r["set"] for r in _rows()} if kind_of(name) == "like the study"}
    assert len(size) == 12
    squares: dict[bool, list[float]] = {True: [], False: []}
    by_set: dict[bool, dict[str, list[float]]] = {True: {}, False: {}}
    for row in (r for r in _rows() if r["set"] in size):
        value, truth = _moved(row, recipe_weights("combined")[FAMILY[row["rule"]]]), float(row["truth"])
        left = min(size[row["set"]] - 40, 2000)  # no more than 2,000 rows give the true error
        squares[value < 0.1].append((value - truth) ** 2 - truth * (1 - truth) / (left - 1))
        by_set[value < 0.1].setdefault(row["set"], []).append(squares[value < 0.1][-1])
    found = {rare: np.sqrt(np.mean(own)) for rare, own in squares.items()}
    said = {
        rare: expected_rms("combined", "none", 40, 5, 2, error_band(0.0 if rare else 1.0, "combined")) for rare in found
    }
    assert said[True].pooled < 0.7 * said[False].pooled
    for rare, rms in found.items():
        assert 0.8 < rms / said[rare].pooled < 1.25
    for rare, sets in by_set.items():
        each = sorted((np.mean(own), len(own)) for own in sets.values())
        reached = np.cumsum([count for _, count in each]) / len(squares[rare])
        typical = np.sqrt(each[int(np.sum(reached < 0.5))][0])
        assert 0.7 < typical / said[rare].rms < 1.4
