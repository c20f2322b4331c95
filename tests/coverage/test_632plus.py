"""The .632+ bootstrap where there is nothing to learn: 1-NN, 25 + 25 labels independent of five features.

The true error is one half and the training error nought. The .632 estimate is far too small there; mlxtend 0.25.0,
which neither clips the relative overfitting rate nor caps the bootstrap error, gives 0.577 and its .632 gives 0.391 on such data
(shared/spec/peers.md, section 3.2; a textbook version: .632 = 0.322, .632+ = 0.479).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import unseen
from unseen.designs import Bootstrap


class OneNearest:
    """1-NN in a few lines of numpy, because 6,000 fits of it are needed."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        return self

    def predict(self, X):
        return self.y_[cdist(X, self.X_, "sqeuclidean").argmin(axis=1)]


@pytest.fixture(scope="module")
def estimates():
    values = []
    for k in range(60):
        rng = np.random.default_rng([632, k])
        X, y = rng.standard_normal((50, 5)), rng.permutation(np.repeat([0, 1], 25))
        table = unseen.run(OneNearest(), X, y, design=Bootstrap(100), full=True, random_state=k)
        values.append(
            [unseen.estimate(table, method=m).value for m in ("632plus", "632", "bootstrap-loo", "bootstrap-zero")]
        )
    return np.array(values).T


def test_no_signal_gives_no_less_than_chance_nearly(estimates):
    plus = estimates[0]
    assert 0.46 <= plus.mean() <= 0.49
    assert plus.max() <= 0.5


def test_632_is_fooled_by_memorising(estimates):
    """Training error 0 makes it .632 of the bootstrap error."""
    _, plain, loo, _ = estimates
    assert plain == pytest.approx(0.632 * loo)
    assert plain.mean() == pytest.approx(0.322, abs=0.012)


def test_uncapped_variant_can_exceed_chance(estimates):
    """Where the bootstrap error is above one half, equation 32 exceeds it; the capped form stays at one half."""
    plus, _, loo, _ = estimates
    over = loo > 0.5
    assert 10 < over.sum() < 50
    assert np.all(plus[over] == 0.5)


def test_the_note_on_perfect_fits_says_what_the_study_of_one_error_found():
    from unseen.estimators.b632plus_interval import PERFECT_FIT

    table = Path(__file__).resolve().parents[2] / "docs" / "tables" / "one_error.md"
    (line,) = (line for line in table.read_text().splitlines() if line.startswith("| tree | 632plus-interval |"))
    covered = float(line.split("|")[4])
    assert f"{covered:.2f} for a fully grown tree" in PERFECT_FIT.replace(" .", " 0.")
