"""U040: a few large losses of a regression decide the mean."""

from __future__ import annotations

from unseen.checks.registry import check
from unseen.core.losses import LossTable
from unseen.core.notes import Note
from unseen.estimators.tails import FEW_LIMIT, LARGEST, LEAST_UNITS, LIMIT, LIMIT_UNITS, heavy_tail_note

__all__ = ["heavy_tails"]


@check(
    "U040",
    "run",
    title="heavy tails",
    sentence="In a regression the mean of the squared losses of the units (rows, or groups) is more than "
    f"{LIMIT:g} times the square of their mean ({FEW_LIMIT:g} times from {LEAST_UNITS} to {LIMIT_UNITS} units); above {LIMIT_UNITS} units the limit grows with the "
    "cube root of their number, as the ratio of t errors with 3 degrees of freedom does. And the largest loss alone makes up more than "
    f"{LARGEST:.0%} of the sum of squared losses. `range-t` gives it too.",
    advice="A few large errors decide the mean, and no interval around it can be trusted. Use the absolute error "
    "(`measure=absolute`) or a trimmed one, whose intervals hold, and look at those rows.",
)
def heavy_tails(table: LossTable) -> tuple[Note, ...]:
    """Return U040 if a few large losses of a regression decide its mean.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> t = unseen.run("ols", X, X[:, 0] + rng.standard_t(1.5, size=100), design="repeated-kfold", random_state=0)
    >>> [n.code for n in heavy_tails(t.losses())]
    ['U040']
    """
    return heavy_tail_note(table)
