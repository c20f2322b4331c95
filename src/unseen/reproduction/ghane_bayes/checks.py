"""Bias, variance and RMS of the Bayesian estimates, and what the dissertation concludes from its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping

from unseen.core.arrays import Floats
from unseen.core.summary import Summary, summarize
from unseen.reproduction.record import Cell, Check

__all__ = ["CLASSIFIERS", "NAMES", "QUANTITIES", "Runs", "Summaries", "cells_of", "checks_of", "summaries_of"]

# columns of a classifier's true error and of its three estimates
CLASSIFIERS = {
    "predictive": ("true_error", "resub", "bayesian", "bayesian_bolster"),
    "net": ("net_true_error", "net_resub", "net_bayesian", "net_bayesian_bolster"),
}
NAMES = ("resub", "bayesian", "bayesian-bolster")
QUANTITIES = ("bias", "variance", "rms")
# by width and size: columns of all repetitions
Runs = Mapping[tuple[int, int], Mapping[str, Floats]]
# by width, size and estimator
Summaries = Mapping[tuple[int, int, str], Summary]


def summaries_of(runs: Runs, columns: tuple[str, ...]) -> dict[tuple[int, int, str], Summary]:
    """Return bias, variance and RMS by width, size and estimator."""
    return {
        (*key, name): summarize(run[column], run[columns[0]], name)
        for key, run in runs.items()
        for name, column in zip(NAMES, columns[1:])
    }


def cells_of(figure: str, runs: Runs, truth: str, summaries: Summaries) -> tuple[Cell, ...]:
    """Return the mean true errors, then every quantity of every estimator."""
    return (*(_true_error(figure, key, run[truth]) for key, run in runs.items()), *_estimates(figure, summaries))


def _label(width: int, n: int) -> str:
    return f"W={width} n={n}" if width else f"n={n}"


def _true_error(figure: str, key: tuple[int, int], values: Floats) -> Cell:
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return Cell(f"{figure} true error", _label(*key), published=None, ours=float(values.mean()), mc_error=error)


def _estimates(figure: str, summaries: Summaries) -> list[Cell]:
    return [
        Cell(
            f"{figure} {q}",
            f"{_label(w, n)} {name}",
            published=None,
            ours=getattr(s, q),
            mc_error=getattr(s, f"{q}_error"),
        )
        for q in QUANTITIES
        for (w, n, name), s in summaries.items()
    ]


def checks_of(found: Summaries) -> tuple[Check, ...]:
    """Check what the text concludes.

    The Bayesian estimate always has less bias than resubstitution. With wider nets resubstitution has more bias, and the
    Bayesian estimate less variance.
    """
    cells = list(dict.fromkeys((w, n) for w, n, _ in found))
    out = []
    for w, n in cells:
        less = abs(found[w, n, "resub"].bias) - abs(found[w, n, "bayesian"].bias)
        out.append(Check(f"{_label(w, n)}: |bias| of resub less that of bayesian", less, low=0.0))
    widths = sorted({w for w, _ in cells})
    narrow, wide = widths[0], widths[-1]
    for n in sorted({n for _, n in cells}):
        if narrow == wide or not {(narrow, n), (wide, n)} <= set(cells):
            continue
        grown = abs(found[wide, n, "resub"].bias) - abs(found[narrow, n, "resub"].bias)
        fallen = found[narrow, n, "bayesian"].variance - found[wide, n, "bayesian"].variance
        out += [
            Check(f"n={n}: |bias| of resub at W={wide} less that at W={narrow}", grown, low=0.0),
            Check(f"n={n}: variance of bayesian at W={narrow} less that at W={wide}", fallen, low=0.0),
        ]
    return tuple(out)
