"""Disagreement: identities, exact intervals against enumeration, the round trip through a file, and refusals."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unseen
from unseen.core.errors import InputError
from unseen.evaluation.disagree import (
    LabelCounts,
    binomial_interval,
    file_interval,
    hypergeometric_interval,
    population_interval,
)


def scene(n=400, classes=("u", "v"), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    first = np.where(rng.random(n) < 0.9, y, rng.choice(classes, n))
    second = np.where(rng.random(n) < 0.75, y, rng.choice(classes, n))
    ids = [f"p{k}" for k in range(n)]
    a = pd.DataFrame({"id": ids, "pred": first})
    b = pd.DataFrame({"id": ids, "pred": second}).sample(frac=1, random_state=2)
    return y, first, second, a, b, dict(zip(ids, y))


def test_share_bound_and_identity_when_all_disagreements_are_labelled():
    y, first, second, a, b, truth = scene()
    d = unseen.disagree(a, b, names=("a", "b"))
    assert d.share == np.mean(first != second)
    r = d.with_labels(truth)
    real = np.mean(first == y) - np.mean(second == y)
    assert r.difference == pytest.approx(real)
    assert tuple(r.interval) == pytest.approx((real, real))
    assert abs(real) <= d.share


def test_more_classes_count_points_that_both_get_wrong():
    y, first, second, a, b, truth = scene(classes=("u", "v", "w"))
    r = unseen.disagree(a, b).with_labels(truth)
    both = np.sum((first != second) & (first != y) & (second != y))
    assert (r.both_wrong, r.two_classes) == (both, False)
    assert r.difference == pytest.approx(np.mean(first == y) - np.mean(second == y))
    assert r.difference in r.interval


def test_the_sample_is_random_distinct_and_repeatable():
    *_, a, b, _ = scene()
    d = unseen.disagree(a, b, budget=20, random_state=5)
    again = unseen.disagree(a, b, budget=20, random_state=5)
    other = unseen.disagree(a, b, budget=20, random_state=6)
    assert d.request == again.request != other.request
    assert len({key for key, _, _ in d.request}) == 20
    assert all(x != z for _, x, z in d.request)
    assert d.saved == 380


def test_every_disagreement_is_equally_likely_to_be_asked_for():
    first, second = ["u"] * 12, ["v"] * 6 + ["u"] * 6
    counts = np.zeros(6)
    for seed in range(600):
        for key, _, _ in unseen.disagree(first, second, budget=2, random_state=seed).request:
            counts[key - 1] += 1
    assert stats.chisquare(counts).pvalue > 1e-4


def test_round_trip_through_the_file(tmp_path):
    *_, a, b, truth = scene()
    a.to_csv(tmp_path / "a.csv", index=False)
    b.to_csv(tmp_path / "b.csv", index=False)
    d = unseen.disagree(tmp_path / "a.csv", tmp_path / "b.csv", budget=40)
    path = d.write(tmp_path / "to_label.csv")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["label"] == "" for row in rows)
    for row in rows:
        row["label"] = truth[row["id"]]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    r = unseen.disagree(labelled=path)
    memory = d.with_labels(truth)
    assert (r.first, r.second) == ("a.csv", "b.csv")
    assert (r.difference, tuple(r.interval), tuple(r.population)) == (
        memory.difference,
        tuple(memory.interval),
        tuple(memory.population),
    )
    assert r.labels == 40
    assert r.saved == 360
    assert r.equivalent_sample == pytest.approx(40 / d.share)


@pytest.mark.parametrize(("hits", "sample", "size"), [(0, 5, 30), (3, 8, 30), (8, 8, 30), (4, 10, 11)])
def test_hypergeometric_interval_inverts_the_two_tails(hits, sample, size):
    low, high = hypergeometric_interval(hits, sample, size, 0.9)
    for marked in range(size + 1):
        upper, lower = (
            stats.hypergeom.sf(hits - 1, size, marked, sample),
            stats.hypergeom.cdf(hits, size, marked, sample),
        )
        assert (low <= marked <= high) == (upper > 0.05 and lower > 0.05)


def test_binomial_interval_is_scipys_exact_one():
    for hits, n in ((0, 9), (4, 9), (9, 9)):
        ends = stats.binomtest(hits, n).proportion_ci(0.9, method="exact")
        assert binomial_interval(hits, n, 0.9) == pytest.approx((ends.low, ends.high))


@pytest.mark.parametrize("two", [True, False])
def test_coverage_on_the_file_is_exact_by_enumeration(two):
    """Every possible sample of a small file: the interval misses with at most the stated chance."""
    n, differ, labels, level = 60, 24, 9, 0.9
    worst = 0.0
    for plus in range(0, differ + 1, 3):
        for minus in [differ - plus] if two else range(0, differ - plus + 1, 4):
            missed = 0.0
            for x in range(labels + 1):
                for z in [labels - x] if two else range(labels - x + 1):
                    chance = stats.multivariate_hypergeom.pmf(
                        [x, z, labels - x - z], [plus, minus, differ - plus - minus], labels
                    )
                    if chance > 0 and (plus - minus) / n not in file_interval(
                        LabelCounts(first=x, second=z, labels=labels, differ=differ, n=n, two_classes=two), level
                    ):
                        missed += chance
            worst = max(worst, missed)
    assert worst <= 1 - level + 1e-9


def test_population_interval_holds_the_estimate_and_widens_for_p():
    counts = LabelCounts(first=30, second=10, labels=40, differ=200, n=1000, two_classes=True)
    value = 0.2 * 0.5
    inside, outside = file_interval(counts, 0.95), population_interval(counts, 0.95)
    assert value in inside
    assert value in outside
    assert outside.width > inside.width


def test_no_disagreement_leaves_only_p():
    d = unseen.disagree(["u"] * 50, ["u"] * 50)
    assert (d.share, d.request) == (0.0, ())
    assert d.interval.high == pytest.approx(1 - 0.025 ** (1 / 50))
    none = LabelCounts(first=0, second=0, labels=0, differ=0, n=50, two_classes=True)
    assert population_interval(none, 0.95).high < 0.15


def test_partial_labels_and_third_labels_are_noted():
    *_, a, b, truth = scene()
    d = unseen.disagree(a, b, budget=40)
    some = dict(list({k: truth[k] for k, _, _ in d.request}.items())[:10])
    r = d.with_labels(some)
    assert r.labels == 10
    assert [n.code for n in r.notes] == ["U016", "U009"]
    odd = d.with_labels({k: "neither" for k, _, _ in d.request})
    assert not odd.two_classes
    assert odd.both_wrong == 40
    assert odd.difference == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: unseen.disagree(["u"], None), "two classifiers"),
        (lambda: unseen.disagree(["u"], ["v"], labelled="x.csv"), "not both"),
        (lambda: unseen.disagree(["u", "v"], ["v"]), "different numbers of rows"),
        (lambda: unseen.disagree(["u", None], ["v", "v"]), "missing"),
        (lambda: unseen.disagree(["u"], ["v"], budget=0), "budget"),
        (lambda: unseen.disagree(["u"], ["v"], level=2), "level"),
        (lambda: unseen.disagree(list(np.linspace(0, 1, 99)), list(np.linspace(0, 1, 99))), "numbers with many values"),
        (lambda: unseen.disagree(labelled=pd.DataFrame({"id": [1]})), "lacks"),
        (lambda: unseen.disagree(["u"], ["v"]).with_labels({}), "empty"),
        (lambda: unseen.disagree(pd.DataFrame({"x": [1], "z": [2]}), pd.DataFrame({"x": [1], "z": [2]})), "Name it"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_a_changed_request_is_refused():
    d = unseen.disagree(["u"] * 9, ["v"] * 9)
    frame = pd.DataFrame(d.request_rows()).assign(label="u")
    assert unseen.disagree(labelled=frame).difference == 1.0
    for changed, words in (
        (frame.assign(second="u"), "was changed"),
        (frame.assign(n_points=range(9)), "differs between rows"),
        (frame.assign(n_points="many"), "whole number"),
        (pd.concat([frame, frame]), "several rows"),
    ):
        with pytest.raises(InputError, match=words):
            unseen.disagree(labelled=changed)


def test_text_says_shares_in_per_cent_and_differences_in_points():
    found = unseen.disagree(["a"] * 8 + ["b"] * 2, ["a"] * 9 + ["c"], names=("old", "new"), budget=2)
    assert "disagree on 2 of 10 points (20.0%;" in str(found)
    assert "at most 20.0 percentage points" in str(found)
    told = found.with_labels({key: "a" for key, *_ in found.request})
    assert "accuracy of old minus new: -10.0 percentage points" in str(
        told
    )  # the first is wrong on one point more of ten
