"""Heavy tails of losses, by the second moment of the units' losses: the kurtosis, if these are squared errors."""

from __future__ import annotations

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note

__all__ = ["are_heavy_tailed", "heavy_tail_note", "second_moment_ratio", "tail_limit"]

LEAST_UNITS = 30  # with fewer, one normal error in twenty would raise the alarm
# squared normal errors have 3 in the long run, and more than this in 3% of samples of 100; with t3 noise 89% have more
LIMIT = 4.0
FEW_LIMIT = 4.2  # of fewer units: they vary more, and normal errors of 50 stay below it in 97% of samples
LIMIT_UNITS = 100  # up to so many units the limit stands as it is
GROWTH = 1 / 3  # the ratio of squared t3 errors grows like n^(1/3); that of errors with a finite fourth moment does not
# one loss makes up this share of the second moment, however large the sample, if that moment is infinite; a mixture of two normal
# noises has a large ratio too, but in 1,000 units no such loss in 96% of samples
LARGEST = 0.2


def second_moment_ratio(losses: Floats) -> float:
    """Return mean(L^2) / mean(L)^2: how unequal losses are; the kurtosis about zero if they are squared errors.

    Examples
    --------
    >>> second_moment_ratio(np.array([1.0, 1.0, 1.0, 1.0])), second_moment_ratio(np.array([0.0, 0.0, 0.0, 1.0]))
    (1.0, 4.0)
    """
    mean = float(losses.mean())
    return float(np.mean(np.square(losses / mean))) if mean > 0 else 1.0


def tail_limit(n_units: int) -> float:
    """Return the ratio above which losses of so many units count as heavy-tailed.

    Examples
    --------
    >>> tail_limit(50), tail_limit(100), round(tail_limit(800), 6)
    (4.2, 4.0, 8.0)
    """
    return FEW_LIMIT if n_units < LIMIT_UNITS else float(LIMIT * (n_units / LIMIT_UNITS) ** GROWTH)


def are_heavy_tailed(losses: Floats) -> bool:
    """Say whether losses of units have a large second moment that rests on the largest of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> are_heavy_tailed(rng.standard_normal(200) ** 2), are_heavy_tailed(rng.standard_cauchy(200) ** 2)
    (False, True)
    """
    if len(losses) < LEAST_UNITS or second_moment_ratio(losses) <= tail_limit(len(losses)):
        return False
    return bool(losses.max() ** 2 > LARGEST * np.sum(np.square(losses)))


def heavy_tail_note(table: LossTable) -> tuple[Note, ...]:
    """Return U040 if a few large losses of a regression decide its mean, so that no interval can be trusted.

    Examples
    --------
    >>> import unseen
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> for y in (X[:, 0] + rng.normal(size=100), X[:, 0] + rng.standard_t(1.5, size=100)):
    ...     t = unseen.run("ols", X, y, design="repeated-kfold", random_state=0)
    ...     print([n.code for loss in ("squared", "absolute") for n in heavy_tail_note(t.losses(loss))])
    []
    ['U040']
    """
    unbounded = table.range[0] == 0 and np.isinf(table.range[1])
    if table.data.task != "regression" or table.is_difference or table.by_split or not unbounded:
        return ()
    losses = table.by_unit()
    losses = losses[np.isfinite(losses)]
    if not are_heavy_tailed(losses):
        return ()
    count = int(np.ceil(len(losses) / 20))
    share = np.sort(losses)[-count:].sum() / losses.sum()
    what = "groups" if table.data.groups is not None else "rows"
    other = "The trimmed error (trimmed-absolute)" if table.loss == "absolute" else "The absolute error"
    text = (
        f"the {count} largest of {len(losses)} {what} make up {share:.0%} of the {table.loss.removesuffix('-loss')} loss; 95% intervals of such means "
        f"covered .73 to .81, by a bootstrap-t .82 to .87. {other} does not rest on a few {what}"
    )
    return (note("U040", text),)
