"""Sizes, powers and variance ratios of the simulations, and whether they are what the publication says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.reproduction.nadeau_bengio.statistics import Raw, Statistic, statistics
from unseen.reproduction.nadeau_bengio.variance import TARGETS, VarianceRun, ordering
from unseen.reproduction.record import Cell, Check

__all__ = [
    "MOST_J",
    "MOST_M",
    "NOMINAL",
    "J",
    "M",
    "SimulatedProblem",
    "cells",
    "setting_checks",
    "settings_of",
    "size_checks",
    "variance_checks",
]

NOMINAL = 0.1  # size of the published tests
J, M = 15, 10  # published splits and halvings
MOST_J, MOST_M = 25, 20  # most of them in the publication's study of how many are needed
GRID = np.linspace(-4.0, 4.0, 41)  # hypotheses of the power curves, in spreads of the estimate around the truth
FAR = 2.5  # spreads between truth and hypothesis at which powers of several J and M are compared


@dataclass(frozen=True)
class SimulatedProblem:
    """Many data sets of one problem, and the expected values of both targets by training size."""

    name: str
    n: int
    raw: Raw
    expected: Mapping[int, Floats]

    @staticmethod
    def from_raw(name: str, n: int, raw: Raw, equal: bool = False) -> SimulatedProblem:
        """Take the expectations from the means over all data sets; a difference known to be 0 is 0."""
        known = {n // 2: raw.wide.mean(axis=(0, 2)), n - n // 10: raw.natural.mean(axis=(0, 2))}
        if equal:
            known = {size: mean * np.array([1.0, 0.0]) for size, mean in known.items()}
        return SimulatedProblem(name, n, raw, known)

    def statistics(self, n_splits: int = J, n_halvings: int = M) -> dict[str, Statistic]:
        """Return every statistic by name, from some of the splits and halvings."""
        return statistics(self.raw, self.n, n_splits, n_halvings)

    def sizes(self) -> list[dict[str, Any]]:
        """Return the share of true hypotheses rejected at 10%, per statistic and target."""
        rows = []
        for name, one in self.statistics().items():
            shares = _rejections(one, self.expected[one.n_train]).mean(axis=0)
            error = np.sqrt(NOMINAL * (1 - NOMINAL) / len(one.value))
            rows += [
                {
                    "problem": self.name,
                    "target": target,
                    "statistic": name,
                    "size": float(share),
                    "mc_error": float(error),
                }
                for target, share in zip(TARGETS, shares)
            ]
        return rows

    def power(self) -> dict[str, Floats]:
        """Return shares of rejections of hypotheses away from the truth, (2, grid), by statistic."""
        every = self.statistics()
        unit = every["corrected-t n2=n/10"].value.std(axis=0, ddof=1)
        out: dict[str, Floats] = {"offsets": unit[:, None] * GRID}
        for name, one in every.items():
            truth = self.expected[one.n_train]
            out[name] = np.stack([_rejections(one, truth + unit * step).mean(axis=0) for step in GRID], axis=1)
        return out


def _rejections(one: Statistic, hypothesis: Floats) -> Any:
    from scipy.special import ndtri, stdtrit

    critical = ndtri(1 - NOMINAL / 2) if np.isinf(one.df) else stdtrit(one.df, 1 - NOMINAL / 2)
    return np.abs(one.value - hypothesis) > critical * one.std_error


def settings_of(problem: SimulatedProblem) -> list[dict[str, Any]]:
    """Return size, and power 2.5 spreads away, of the two good tests for several J and M."""
    rows = []
    unit = problem.statistics()["corrected-t n2=n/10"].value.std(axis=0, ddof=1)
    for splits in (5, J, MOST_J):
        for halvings in (5, M, MOST_M):
            every = problem.statistics(splits, halvings)
            for name in ("corrected-t n2=n/10", "conservative-z n2=n/10"):
                truth = problem.expected[every[name].n_train]
                size, power = (_rejections(every[name], truth + unit * step).mean(axis=0)[1] for step in (0.0, FAR))
                rows.append({"J": splits, "M": halvings, "statistic": name, "size": float(size), "power": float(power)})
    return rows


def cells(sizes: Sequence[dict[str, Any]], variance: Sequence[dict[str, Any]]) -> list[Cell]:
    """Return sizes and variance ratios as cells of the reproduction."""
    out = [
        Cell(
            "size at 10%",
            f"{r['problem']} {r['target']}, {r['statistic']}",
            published=None,
            ours=r["size"],
            mc_error=r["mc_error"],
        )
        for r in sizes
    ]
    for r in variance:
        name = f"{r['target']}, {r['statistic']} {r['setting']}"
        out.append(
            Cell(
                "variance ratio, lemma 1 | measured",
                name,
                published=r["predicted"],
                ours=r["measured"],
                mc_error=None,
                remark="see checks",
            )
        )
    return out


def size_checks(sizes: Sequence[dict[str, Any]]) -> list[Check]:
    """Check that tests keep or miss their size as the publication says."""
    checks = []
    for r in sizes:
        kind, name = r["statistic"].split()[0], f"size, {r['problem']} {r['target']}, {r['statistic']}"
        if kind in ("corrected-t", "conservative-z"):
            checks.append(Check(name, r["size"], high=NOMINAL + 3 * r["mc_error"]))
        elif r["statistic"] == "resampled-t n2=n/2":
            checks.append(Check(name, r["size"], low=2 * NOMINAL))
        elif kind == "t-test" and r["problem"] == "letter":
            checks.append(Check(name, r["size"], low=NOMINAL))
    return checks


def variance_checks(variance: Sequence[dict[str, Any]], runs: dict[str, VarianceRun]) -> list[Check]:
    """Check lemma 1 and propositions 1 and 2 on the measured variances."""
    gap = max(abs(r["measured"] / r["predicted"] - 1) for r in variance)
    by_splits = [
        np.mean(np.square(runs["n2=n/10"].means[:, :, :j].mean(axis=2) - runs["n2=n/10"].expected)) for j in (1, 5, J)
    ]
    wide, narrow = (np.mean(np.square(runs[s].means.mean(axis=2) - runs[s].expected)) for s in ("n2=n/2", "n2=n/10"))
    return [
        Check("lemma 1, largest relative gap of variance ratios", float(gap), high=0.1),
        Check(
            "proposition 1: most violated inequality, in Monte-Carlo errors",
            min(map(ordering, runs.values())),
            low=-3.0,
        ),
        Check("proposition 2: variance with 15 splits over that with 5", float(by_splits[2] / by_splits[1]), high=1.0),
        Check("proposition 2: variance with 5 splits over that with 1", float(by_splits[1] / by_splits[0]), high=1.0),
        Check("proposition 2: variance with n2 = n/2 over that with n/10", float(wide / narrow), high=1.0),
    ]


def setting_checks(settings: Sequence[dict[str, Any]], raw: Raw) -> list[Check]:
    """Check what the publication says about the numbers of splits and halvings."""

    def at(name: str, splits: int, halvings: int, what: str) -> float:
        result: float = next(r[what] for r in settings if (r["J"], r["M"], r["statistic"]) == (splits, halvings, name))
        return result

    z, t = "conservative-z n2=n/10", "corrected-t n2=n/10"
    squares = np.square(raw.halves[:, 1])
    together = np.corrcoef(squares, rowvar=False)
    r = float(together[~np.eye(len(together), dtype=bool)].mean())
    early, late = (at(t, more, M, "power") - at(t, less, M, "power") for less, more in ((5, J), (J, MOST_J)))
    ratio = late / early if early > 0 else float("nan")
    return [
        Check("power gained by corrected-t from J = 15 to 25 over that from 5 to 15", ratio, high=0.5),
        Check(
            "size of conservative-z, M = 5 minus M = 10",
            at(z, J, 5, "size") - at(z, J, M, "size"),
            low=-0.01,
            high=0.05,
        ),
        Check(
            "size of conservative-z, M = 20 minus M = 10",
            at(z, J, MOST_M, "size") - at(z, J, M, "size"),
            low=-0.03,
            high=0.03,
        ),
        Check("mean correlation of squared half differences", r, low=-0.05, high=0.15),
    ]
