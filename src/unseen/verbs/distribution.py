"""`unseen.distribution`: the distribution of a model's error over leave-out splits (Larsen & Hansen, 1995)."""

from __future__ import annotations

from typing import Any

from unseen.core.distribution import ErrorDistribution
from unseen.core.errors import InputError
from unseen.core.registry import find
from unseen.core.rng import RandomState
from unseen.core.table import PredictionTable
from unseen.designs.leave_out import LeaveOut
from unseen.verbs.run import run

__all__ = ["distribution"]


def distribution(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    fraction: float = 0.25,
    n_splits: int = 500,
    loss: str = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    **columns: Any,
) -> ErrorDistribution:
    """Estimate the distribution of a model's error over training sets, from random splits that are all distinct.

    Two models compared on the same data with the same `random_state` share their splits: `a.compare(b)`.

    Parameters
    ----------
    model : object with fit and predict, name of a model, or PredictionTable
        A table is used as it is: nothing is refitted.
    X, y : array-like
        Sample; not needed with a table.
    fraction : float
        Share of the units left out; `unseen.optimal_fraction` says which is best for one hold-out.
    n_splits : int
        Number of splits J.
    loss : str
        Id of a loss; "auto" is zero-one for classes and squared error for numbers.
    random_state : int, Generator or None
        Same seed, same splits.
    n_jobs, engine, progress
        As in `unseen.run`.
    **columns
        groups, sample_weight, time, positive, task: see `unseen.datasets.as_data`.

    Returns
    -------
    ErrorDistribution

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> d = unseen.distribution(LinearRegression(), X, y, n_splits=100, random_state=0)
    >>> len(d.values), d.fractile(0.05) < d.med < d.fractile(0.95)
    (100, True)
    """
    if isinstance(model, PredictionTable):
        return _of_table(model, loss)
    table = run(
        model, X, y, design=LeaveOut(fraction, n_splits), random_state=random_state, train=False,
        scores=loss != "auto" and bool(find(loss, "measures").needs_score), n_jobs=n_jobs, engine=engine,
        progress=progress, **columns,
    )  # fmt: skip
    return _of_table(table, loss)


def _of_table(table: PredictionTable, loss: str) -> ErrorDistribution:
    if len(table.plan) < 2:
        raise InputError(
            "one split has no distribution; make the table with a design of many splits, such as leave-out."
        )
    losses = table.losses(loss)
    n_test, n_train = table.plan.mean_sizes()
    return ErrorDistribution(
        losses.split_means(), losses.loss, "identity", table.plan.fingerprint, n_train, n_test, table.model,
        losses.completed, table.notes,
    )  # fmt: skip
