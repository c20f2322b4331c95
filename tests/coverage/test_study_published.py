"""A study of the general kind, not the experiment's own code, against published numbers: CART in tables 2.1 and 2.2."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.reproduction import read_published

COLUMNS = {
    "resub": {"id": "resub"},
    "bolster": {"id": "bolster", "options": {"average": "class", "n_mc": 100}},
    "semi-bolster": {"id": "semi-bolster", "options": {"average": "class", "n_mc": 100}},
    "3nnpp": {"id": "posterior", "options": {"k": 3}},
    "bolster-3nnpp": {"id": "bolster-posterior", "options": {"k": 3, "n_mc": 100}},
    "bootstrap-zero": {"id": "bootstrap-zero", "design": "bootstrap", "design_options": {"n_splits": 50}},
}
REPLICATIONS, PUBLISHED_REPLICATIONS = 200, 200


@pytest.mark.slow
def test_cart_at_twenty_rows_as_published(tmp_path):
    spec = {
        "seed": 1,
        "replications": REPLICATIONS,
        "sizes": [20],
        "populations": ["gaussian-blocks"],
        "models": ["cart"],
        "methods": [{**how, "name": name} for name, how in COLUMNS.items()],
    }
    summary = unseen.Study("cart", tmp_path / "s.db").run(spec, n_jobs=2, progress=False).summary()
    rows = [r for r in read_published("ghane_synthetic") if (r["rule"], r["n"]) == ("cart", 20)]
    true = next(r["value"] for r in rows if r["table"] == "2.1")
    both = np.sqrt(1 + REPLICATIONS / PUBLISHED_REPLICATIONS)  # the published run has an error of the same size
    truth = summary["resub"].truth
    assert abs(truth.value - true) < 4 * both * truth.error
    z = []
    for row in rows:
        if row["table"] == "2.2 bias" and row["estimator"] in COLUMNS:
            d = summary[row["estimator"]].deviation
            z.append((d.bias - row["value"]) / np.hypot(both * d.bias_error, 0.001 / np.sqrt(12)))
    assert len(z) == len(COLUMNS)
    assert np.max(np.abs(z)) < 4
    assert np.sqrt(np.mean(np.square(z))) < 2
