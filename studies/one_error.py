"""Does the bootstrap make a better interval for one error where `combined` does not lead? Samples of 400 from a population with a known truth.

    python -m studies.one_error    # writes docs/tables/one_error.md; about ten minutes of one core

Compared are `range-t` on 5 x 10 folds, `out-of-bag` on 200 bootstrap samples and `632plus-interval` on the same, for the error of the model trained on all rows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import sklearn

import unseen
from studies.combination_evidence import markdown
from studies.study_intervals import LEARNERS, QUICK, risk, truth_points
from unseen.core.registry import build
from unseen.datasets.populations import SparseLogistic
from unseen.engine.run import execute
from unseen.request.prepare import model_of, plan_of

PAGE = Path(__file__).parents[1] / "docs" / "tables" / "one_error.md"
N, SETS, SEED = 400, 200, 11
METHODS = {
    "range-t": unseen.designs.RepeatedKFold(10, 5),
    "out-of-bag": unseen.designs.Bootstrap(200),
    "632plus-interval": unseen.designs.Bootstrap(200),
}


def one(learner: str, k: int) -> dict[str, tuple[float, float, float]]:
    """Return the deviation from the true error and the two ends, by method."""
    data = SparseLogistic().draw(N, np.random.default_rng([SEED, k]))
    X, chance = truth_points(SEED)
    truth = risk(LEARNERS[learner]().fit(data.X, data.y).predict, X, chance)
    model, tables, out = model_of(LEARNERS[learner](), data), {}, {}
    for name, design in METHODS.items():
        if design not in tables:
            tables[design] = execute(model, data, plan_of(design, data, k), seed=k, train=True, full=True).losses()
        e = build(name, "estimators")(tables[design])
        out[name] = (e.value - truth, e.interval.low - truth, e.interval.high - truth)
    return out


def main() -> None:
    """Run all samples and write the table."""
    lines = []
    with sklearn.config_context(**QUICK):
        for learner in LEARNERS:
            rows = [one(learner, k) for k in range(SETS)]
            for name in METHODS:
                gap, low, high = np.array([row[name] for row in rows]).T
                held = np.mean((low <= 0) & (high >= 0))
                score = np.mean(high - low + 40 * np.maximum(low, 0) + 40 * np.maximum(-high, 0))
                cells = (gap.mean(), held, float(np.median(high - low)), score)
                lines.append([learner, name, f"{cells[0]:+.4f}", *(f"{v:.3f}" for v in cells[1:])])
            print(*lines[-len(METHODS) :], sep="\n", flush=True)
    head = ["learner", "method", "mean deviation", "coverage", "median width", "interval score"]
    PAGE.write_text(
        f"{SETS} samples of {N} rows, 95% intervals for the error of the trained model.\n\n{markdown(head, lines)}\n"
    )


if __name__ == "__main__":
    main()
