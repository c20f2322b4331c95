"""Coverage as a study measures it, against the closed form of the risk that it has to estimate itself."""

from __future__ import annotations

import numpy as np
import pytest

import unseen

P, SIGMA2, N = 4, 2.0, 20


@pytest.mark.slow
def test_coverage_against_the_expected_risk_is_that_against_the_closed_form(tmp_path):
    """Least squares on Gaussian inputs: the risk after n1 rows is sigma^2 (1 + p / (n1 - p - 1)) exactly."""
    spec = {
        "replications": 1500,
        "sizes": [N],
        "models": ["ols:fit_intercept=False"],
        "methods": ["cv-wald", "corrected-t"],
        "populations": [{"id": "ar-linear", "options": {"n_inputs": P, "noise_variance": SIGMA2}}],
    }
    study = unseen.Study("ols", tmp_path / "s.db").run(spec, n_jobs=2, progress=False)
    columns, summary = study.columns(), study.summary()
    for k, method in enumerate(("cv-wald", "corrected-t")):
        found = summary[method]
        n1 = int(found.target.split()[-2])
        risk = SIGMA2 * (1 + P / (n1 - P - 1))
        mine = columns["cell"] == k
        exact = np.mean((columns["lower"][mine] <= risk) & (risk <= columns["upper"][mine]))
        assert abs(found.coverage.value - exact) < 2 * found.coverage.error
        assert abs(found.target_bias.value) < 4 * found.target_bias.error
        # against the moving truth of each sample the same intervals would be judged otherwise
        truth = columns["truth"][mine]
        assert abs(truth.mean() - SIGMA2 * (1 + P / (N - P - 1))) < 4 * found.truth.error
