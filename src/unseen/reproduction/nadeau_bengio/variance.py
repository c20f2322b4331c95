"""Ratios of variances: those that lemma 1 of Nadeau and Bengio predicts, and those that are measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.rng import stream
from unseen.reproduction.nadeau_bengio.problems import Regressions
from unseen.reproduction.nadeau_bengio.statistics import moments, targets_of

__all__ = ["SETTINGS", "TARGETS", "VarianceRun", "join", "ordering", "ratios", "variance_run"]

# shares of the rows that are trained on and tested
SETTINGS = {"n2=n/2": (0.5, 0.5), "n2=n/10": (0.5, 0.1), "n1=9n/10": (0.9, 0.1)}
TARGETS = ("error", "difference")


@dataclass(frozen=True, kw_only=True)
class VarianceRun:
    """Sums over data sets for one setting: moments, split errors (data sets, 2, J) and the one-split variance."""

    n_train: int
    n_test: int
    expected: Floats
    products: Floats
    means: Floats
    one_split: Floats


def variance_run(problem: Regressions, sets: Iterable[int], n_splits: int, seed: int) -> dict[str, VarianceRun]:
    """Run J splits of every setting on each data set."""
    parts: dict[str, list[tuple[Floats, Floats, Floats]]] = {name: [] for name in SETTINGS}
    for k in sets:
        rng = stream(seed, "nadeau-bengio", "variance", k)
        losses = problem.losses(rng)
        orders = rng.permuted(np.tile(np.arange(problem.n), (n_splits, 1)), axis=1)
        for name, (train, test) in SETTINGS.items():
            n1, n2 = round(train * problem.n), round(test * problem.n)
            one = targets_of(losses(orders[:, :n1], orders[:, n1 : n1 + n2]))
            m = moments(one, problem.expectation(n1))
            own = one[:, 0].var(axis=-1, ddof=1) / n2
            parts[name].append((np.stack([m.loss, m.within, m.between]), one.mean(axis=-1), own))
    return {name: _stack(problem, name, found) for name, found in parts.items()}


def _stack(problem: Regressions, name: str, parts: list[tuple[Floats, Floats, Floats]]) -> VarianceRun:
    n1, n2 = (round(share * problem.n) for share in SETTINGS[name])
    products, means, own = (np.stack(column) for column in zip(*parts))
    return VarianceRun(
        n_train=n1, n_test=n2, expected=problem.expectation(n1), products=products, means=means, one_split=own
    )


def join(parts: Sequence[VarianceRun]) -> VarianceRun:
    """Join runs of one setting on different data sets."""
    return replace(
        parts[0],
        products=np.concatenate([part.products for part in parts]),
        means=np.concatenate([part.means for part in parts]),
        one_split=np.concatenate([part.one_split for part in parts]),
    )


def ratios(run: VarianceRun) -> list[dict[str, Any]]:
    """Return, per target and statistic, Var[estimate] / E[its variance estimate]: by lemma 1, and as measured.

    The components s0, s3 and s2 come from the first half of the data sets, the measured ratio from the second.
    """
    cut = len(run.means) // 2
    rows = []
    for k, target in enumerate(TARGETS):
        s0, s3, s2 = run.products[:cut, :, k].mean(axis=0)
        s1 = s3 + (s0 - s3) / run.n_test
        means, own = run.means[cut:, k], run.one_split[cut:, k]
        J = means.shape[1]
        rho = s2 / s1
        off = run.n_test / run.n_train
        spread = means.var(axis=1, ddof=1).mean()
        total = np.mean(np.square(means.mean(axis=1) - run.expected[k]))
        first = np.mean(np.square(means[:, 0] - run.expected[k]))
        predicted = {
            "t-test": (s0 + (run.n_test - 1) * s3) / (s0 - s3),
            "resampled-t": 1 + J * rho / (1 - rho),
            "corrected-t": (rho + (1 - rho) / J) / ((1 - rho) * (1 / J + off)),
        }
        measured = {
            "t-test": first / own.mean(),
            "resampled-t": total / (spread / J),
            "corrected-t": total / (spread * (1 / J + off)),
        }
        parts = {"s0": float(s0), "s1": float(s1), "s2": float(s2), "s3": float(s3), "variance": float(total)}
        rows += [
            {"target": target, "statistic": name, "predicted": float(value), "measured": float(measured[name]), **parts}
            for name, value in predicted.items()
        ]
    return rows


def ordering(run: VarianceRun) -> float:
    """Return the smallest of s2, s3, s1 - s2, s0 - s1 and s1 - s3 in Monte-Carlo errors; proposition 1 has none below 0."""
    s0, s3, s2 = (run.products[:, k] for k in range(3))
    s1 = s3 + (s0 - s3) / run.n_test
    gaps = np.concatenate([s2, s3, s1 - s2, s0 - s1, s1 - s3], axis=1)
    return float(np.min(gaps.mean(axis=0) / (gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps)))))
