"""Leave-out fits of linear models: one factorisation against refitting."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import LeaveOneOut

import unseen
from benchmarks.timing import alternating, row, same_numbers


def _splits(name: str, model, X, y, design, target: float) -> dict:
    plan = unseen.run(model, X, y, design=design, random_state=0, task="regression").plan

    def ours():
        table = unseen.run(model, X, y, design=design, random_state=0, task="regression")
        return table.losses().split_means()

    def peer():
        return [np.mean((clone(model).fit(X[s.train], y[s.train]).predict(X[s.test]) - y[s.test]) ** 2) for s in plan]

    own, other = alternating(ours, peer, 3)
    return row(
        name,
        own,
        other,
        against="scikit-learn, refitted",
        same=same_numbers(own.result, other.result, "errors of splits"),
        target=f"at least {target:g} times faster",
        met=other.cpu >= target * own.cpu,
    )


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    X, y = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((1000, 100))
    target = wide @ rng.standard_normal(100) + rng.standard_normal(1000)
    leave_out = unseen.designs.LeaveOut(0.25, 500)
    return [
        _splits("least squares, 500 leave-out splits, 442 x 10", LinearRegression(), X, y, leave_out, 2),
        _splits("ridge, 500 leave-out splits, 442 x 10", Ridge(1.0), X, y, leave_out, 2),
        _splits("least squares, 500 leave-out splits, 1000 x 100", LinearRegression(), wide, target, leave_out, 2),
        _splits("ridge, leave-one-out, 1000 x 100", Ridge(1.0), wide, target, LeaveOneOut(), 5),
    ]
