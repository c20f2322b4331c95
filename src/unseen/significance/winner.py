"""What the winner of several models is really worth: bootstrap bias-corrected cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.comparison import Winner
from unseen.core.estimate import Interval
from unseen.core.losses import LossTable, SetLossTable
from unseen.core.method import bound_without_spread
from unseen.significance.paired import outer

__all__ = ["errors_of_choices", "winner_of"]

N_BOOTSTRAP = 1000  # draws: 25 lie beyond each end of a 95% interval
CELLS_AT_ONCE = 2_000_000  # 16 MB of counts at a time


def errors_of_choices(totals: Floats, weights: Floats, n_bootstrap: int, rng: np.random.Generator) -> Floats:
    """Return, per bootstrap sample, errors on the units left out: of the model best on those drawn, and of the overall best.

    Parameters
    ----------
    totals : ndarray of shape (units, models)
        Sum of (weighted) losses of each unit.
    weights : ndarray of shape (units,)
        Sum of weights of each unit.
    n_bootstrap, rng
        Number of samples and the generator.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coins = rng.integers(0, 2, (100, 30)).astype(float)
    >>> naive = coins.mean(axis=0).min()
    >>> chosen, best = errors_of_choices(coins, np.ones(100), 200, rng).mean(axis=0)
    >>> bool(naive < 0.45 < naive + chosen - best)
    True
    """
    n = len(weights)
    overall = int(np.argmin(totals.sum(axis=0)))
    step = max(1, CELLS_AT_ONCE // n)
    out = []
    for start in range(0, n_bootstrap, step):
        size = min(step, n_bootstrap - start)
        drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        count = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        best = np.argmin(count @ totals, axis=1)
        left = (count == 0).astype(float)
        weight = left @ weights
        errors = left @ totals / np.where(weight > 0, weight, np.nan)[:, None]
        out.append(np.column_stack([errors[np.arange(size), best], errors[:, overall]])[weight > 0])
    return np.concatenate(out)


SetError = Callable[[LossTable, Floats], float]


def winner_of(
    tables: Mapping[str, LossTable],
    level: float,
    rng: np.random.Generator,
    set_error: SetError | None = None,
    loss: str | None = None,
) -> Winner:
    """Return the model with the smallest error and the error to expect of a model chosen like that.

    `set_error(table, multiplicity of each unit)` is given by tests whose error is no mean of losses, and `loss` names what
    it returns.
    """
    loss = next(iter(tables.values())).loss if loss is None else loss
    if set_error is None and any(table.by_split for table in tables.values()):
        set_error = _set_error
    if set_error is not None:
        errors, draws = _by_sets(list(tables.values()), set_error, rng)
        return _winner(tables, errors, draws, level, loss)
    sums = [_unit_sums(table) for table in tables.values()]
    tested = np.all([weight > 0 for _, weight in sums], axis=0)
    # models may have failed on different splits: scale every unit to its own mean loss
    weights = np.mean([weight for _, weight in sums], axis=0)[tested]
    totals = np.stack([total[tested] / weight[tested] for total, weight in sums], axis=1) * weights[:, None]
    errors = totals.sum(axis=0) / weights.sum()
    return _winner(tables, errors, errors_of_choices(totals, weights, N_BOOTSTRAP, rng), level, loss)


def _set_error(table: LossTable, multiplicity: Floats) -> float:
    assert isinstance(table, SetLossTable)
    return table.set_error(multiplicity)


def _winner(tables: Mapping[str, LossTable], errors: Floats, draws: Floats, level: float, loss: str) -> Winner:
    best = int(np.argmin(errors))
    name = list(tables)[best]
    # the overall best serves as control variate: its mean over the draws is its naive error
    corrected = errors[best] + float(np.mean(draws[:, 0] - draws[:, 1]))
    if np.ptp(draws[:, 0]) <= 1e-12:  # no error in any draw, as a rule, is no proof that there are none
        known = tables[name].loss == loss
        interval = bound_without_spread(tables[name], float(errors[best]), level)[0] if known else None
    else:
        ends = np.quantile(draws[:, 0], [(1 - level) / 2, (1 + level) / 2])
        interval = Interval(float(ends[0]), float(ends[1]), level)
    return Winner(
        name=name,
        naive=float(errors[best]),
        corrected=float(corrected),
        interval=interval,
        n_models=len(tables),
        n_bootstrap=len(draws),
        loss=loss,
    )


def _by_sets(tables: list[LossTable], set_error: SetError, rng: np.random.Generator) -> tuple[Floats, Floats]:
    n = tables[0].data.n_units
    tested = np.unique(tables[0].data.units[tables[0].test.row])
    errors = np.array([set_error(table, np.ones(n)) for table in tables])
    overall = tables[int(np.argmin(errors))]
    draws = []
    for _ in range(N_BOOTSTRAP // 4):
        count = np.bincount(rng.choice(tested, len(tested)), minlength=n).astype(float)
        inside = np.array([set_error(table, count) for table in tables])
        left = (count == 0).astype(float)
        outside = (set_error(tables[int(np.argmin(inside))], left), set_error(overall, left))
        if np.all(np.isfinite([*outside, *inside])):
            draws.append(outside)
    return errors, np.array(draws)


def _unit_sums(table: LossTable) -> tuple[Floats, Floats]:
    keep = outer(table.plan)[table.test.split]
    rows, values = table.test.row[keep], table.test.value[keep]
    units, weight = table.data.units[rows], table.row_weights(rows)
    size = table.data.n_units
    sums = np.bincount(units, weight * values, size), np.bincount(units, weight, size)
    return np.asarray(sums[0], dtype=float), np.asarray(sums[1], dtype=float)
