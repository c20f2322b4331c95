"""The Nadeau-Bengio study at a size that shows what has to hold: sizes, lemma 1, propositions 1 and 2, J and M."""

from __future__ import annotations

import pytest

from unseen.reproduction import reproduce


@pytest.mark.slow
def test_synthetic_sizes_and_variance_ratios():
    r = reproduce("nadeau-bengio", replications=500, letter="", random_state=7)
    assert [str(c) for c in r.checks if not c.passed] == []


@pytest.mark.slow
@pytest.mark.sample
def test_letter_sizes_at_reduced_replication(shared):
    path = str(shared / "data" / "uci" / "letter.csv.gz")
    r = reproduce("nadeau-bengio", replications=120, letter=path, synthetic_sets=50, variance_sets=200, random_state=3)
    letter = {(row["target"], row["statistic"]): row["size"] for row in r.sizes if row["problem"] == "letter"}
    limit = 0.1 + 3 * (0.09 / 120) ** 0.5
    for target in ("error", "difference"):
        assert letter[target, "resampled-t n2=n/2"] > 0.3
        for name in ("corrected-t n2=n/2", "corrected-t n2=n/10", "conservative-z n2=n/2", "conservative-z n2=n/10"):
            assert letter[target, name] <= limit
