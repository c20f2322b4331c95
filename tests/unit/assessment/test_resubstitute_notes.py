"""What `unseen.resubstitute` says beside its numbers: notes in words, and a warning where no study stands behind an RMS."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import unseen

X = np.random.default_rng(0).standard_normal((40, 2))


@pytest.mark.parametrize("rare", [1, 3])
def test_samples_unlike_the_study_have_no_expected_rms_and_one_line_says_why(rare):
    """With one point of a class the recipe is left out, and its note with it."""
    y = (np.arange(40) < rare).astype(int)
    found = unseen.resubstitute(KNeighborsClassifier(3).fit(X, y), X, y, random_state=0)
    assert ("auto-resub" in found.left_out) == (rare == 1)
    assert all(e.expected_rms is None for e in found.estimates)
    why = f"the rarest class has {100 * rare / 40:.3g}% of the rows (10% or more in the study)"
    assert str(found).count(f"No expected RMS: {why}.") == 1


def test_notes_are_printed_once_and_in_words():
    y = np.arange(40) % 2
    found = unseen.resubstitute(KNeighborsClassifier(3).fit(X, y), X, y, random_state=0)
    assert all(n.code != "U030" for e in found.estimates for n in e.notes)
    lines = str(found).splitlines()
    for e in found.estimates:
        for n in e.notes:
            assert lines.count(f"{n}.") == 1
