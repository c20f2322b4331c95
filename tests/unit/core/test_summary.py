from __future__ import annotations

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.core.summary import summarize


def test_bias_variance_and_rms_by_hand():
    s = summarize([0.3, 0.1, 0.4], [0.2, 0.2, 0.2])
    # deviations .1, -.1, .2
    assert s.bias == pytest.approx(0.2 / 3)
    assert s.variance == pytest.approx(((0.1 - 0.2 / 3) ** 2 + (-0.1 - 0.2 / 3) ** 2 + (0.2 - 0.2 / 3) ** 2) / 2)
    assert s.rms == pytest.approx(np.sqrt((0.01 + 0.01 + 0.04) / 3))
    assert s.bias_error == pytest.approx(np.sqrt(s.variance / 3))


def test_bias_is_estimate_minus_truth():
    assert summarize([0.1, 0.1], [0.2, 0.3]).bias == pytest.approx(-0.15)


@pytest.mark.parametrize(("mean", "sd"), [(0.05, 0.1), (0.0, 0.1), (-0.2, 0.05)])
def test_monte_carlo_errors_match_the_spread_of_repeated_runs(mean, sd):
    rng = np.random.default_rng(1)
    runs = [summarize(rng.normal(mean, sd, 200), np.zeros(200)) for _ in range(1500)]
    for name, truth in (("bias", mean), ("variance", sd**2), ("rms", np.hypot(mean, sd))):
        values = np.array([getattr(r, name) for r in runs])
        stated = np.sqrt(np.mean([getattr(r, f"{name}_error") ** 2 for r in runs]))
        assert values.mean() == pytest.approx(truth, abs=4 * values.std() / np.sqrt(1500) + 0.001 * sd)
        assert stated == pytest.approx(values.std(), rel=0.08)


def test_fixed_strata_do_not_count_as_noise():
    rng = np.random.default_rng(2)
    strata = np.repeat(np.arange(20), 10)
    level = rng.normal(0, 1, 20)[strata]
    runs = [summarize(level + rng.normal(0, 0.1, 200), np.zeros(200), strata=strata) for _ in range(500)]
    biases = np.array([r.bias for r in runs])
    assert np.mean([r.bias_error for r in runs]) == pytest.approx(biases.std(), rel=0.1)
    assert summarize(level + rng.normal(0, 0.1, 200), np.zeros(200)).bias_error > 5 * biases.std()


def test_singleton_strata_borrow_the_spread_of_the_others():
    s = summarize([0.0, 0.2, 5.0], [0.0, 0.0, 0.0], strata=["a", "a", "b"])
    assert s.bias_error == pytest.approx(np.sqrt(3 * 0.02) / 3)


def test_what_cannot_be_summarized_is_refused():
    with pytest.raises(InputError, match="at least 2"):
        summarize([0.1], [0.2])
    with pytest.raises(InputError, match="1 of 2"):
        summarize([0.1, np.nan], [0.2, 0.2])


def test_text_and_table():
    a = summarize([0.1, 0.2], [0.2, 0.2], estimator="resub")
    b = summarize([0.2, 0.2], [0.2, 0.2], estimator="kfold")
    assert "resub: bias -0.0500" in str(a)
    assert b.rows()[0]["rms"] == 0.0
