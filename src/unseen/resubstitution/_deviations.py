"""Deviations of error estimators from the true error over many samples, as box plots show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.result import Result
from unseen.core.summary import summarize

__all__ = ["Deviations", "deviations"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Deviations(Result):
    """Estimate minus true error, by group of replications and by estimator.

    Parameters
    ----------
    title : str
        What was estimated.
    groups : tuple of str
        Names of the groups, such as sample sizes.
    estimators : tuple of str
        Names of the estimators.
    values : tuple of tuple of ndarray
        For each group, the deviations of each estimator.
    loss : str
        What the errors are means of; shares are drawn in per cent.

    Examples
    --------
    >>> d = deviations({"n = 20": {"resub": [0.1, 0.2], "bolster": [0.25, 0.35]}}, {"n = 20": [0.3, 0.3]})
    >>> [(r["estimator"], round(r["bias"], 3)) for r in d.rows()]
    [('resub', -0.15), ('bolster', 0.0)]
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    title: str
    groups: tuple[str, ...]
    estimators: tuple[str, ...]
    values: tuple[tuple[Floats, ...], ...]
    loss: str = "zero-one"

    def rows(self) -> list[dict[str, Any]]:
        """Return bias, deviation variance and RMS of each estimator in each group."""
        return [
            {"group": group, **summarize(values, np.zeros(len(values)), name).to_dict()}
            for group, row in zip(self.groups, self.values)
            for name, values in zip(self.estimators, row)
        ]

    def __str__(self) -> str:
        lines = [self.title] if self.title else []
        lines += [
            f"  {r['group']}  {r['estimator']}: bias {r['bias']:+.4f}, variance {r['variance']:.5f}, rms {r['rms']:.4f}"
            for r in self.rows()
        ]
        return "\n".join(lines)


def deviations(
    estimates: Mapping[str, Mapping[str, npt.ArrayLike]], truth: Mapping[str, npt.ArrayLike], title: str = ""
) -> Deviations:
    """Return the deviations of estimates from the true errors of the same replications.

    Parameters
    ----------
    estimates : mapping of str to mapping of str to array-like
        Group to estimator to one value per replication; every group has the same estimators.
    truth : mapping of str to array-like
        Group to the true error of each replication.
    title : str
        Heading of the figure.

    Examples
    --------
    >>> d = deviations({"3NN": {"resub": [0.1, 0.2]}}, {"3NN": [0.3, 0.3]})
    >>> d.values[0][0].round(2).tolist()
    [-0.2, -0.1]
    """
    if not estimates or set(estimates) != set(truth):
        raise InputError(f"estimates has the groups {sorted(estimates)}, truth {sorted(truth)}; they must be the same.")
    names = tuple(next(iter(estimates.values())))
    rows = []
    for group, columns in estimates.items():
        if tuple(columns) != names:
            raise InputError(
                f"group {group!r} has the estimators {', '.join(columns)}; the first has {', '.join(names)}."
            )
        true = np.asarray(truth[group], dtype=float)
        rows.append(tuple(_difference(columns[name], true, f"{group}, {name}") for name in names))
    return Deviations(title=title, groups=tuple(estimates), estimators=names, values=tuple(rows))


def _difference(values: npt.ArrayLike, true: Floats, where: str) -> Floats:
    found = np.asarray(values, dtype=float)
    if found.shape != true.shape or found.ndim != 1 or len(found) < 2:
        raise InputError(f"{where}: {found.shape} estimates and {true.shape} true errors; give pairs, at least two.")
    if not np.isfinite(found - true).all():
        raise InputError(f"{where}: a value is not finite.")
    return found - true
