"""`unseen.distribution`: the distribution of a model's error over leave-out splits (Larsen & Hansen, 1995)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from unseen.assessment.run import run
from unseen.core.call import Call
from unseen.core.data import Data
from unseen.core.distribution import ErrorDistribution
from unseen.core.errors import InputError, NotApplicable
from unseen.core.losses import PredictionTable
from unseen.core.model import Model
from unseen.core.result import plain
from unseen.core.rng import RandomState, root_seed, stream
from unseen.designs.leave_out import LeaveOut
from unseen.estimators.fpe_distribution import FpeDistribution, FpeLaw
from unseen.models.exact.learner import is_sklearn, steps_of
from unseen.request.prepare import data_of, model_of, needs_scores

__all__ = ["DistributionWithLaw", "distribution"]


@dataclass(frozen=True, eq=False, kw_only=True)
class DistributionWithLaw(ErrorDistribution):
    """Errors of a least-squares model over splits, and the asymptotic law of its error when trained on all units.

    Parameters
    ----------
    law : FpeLaw
        sigma^2 (1 + chi2(p) / N) on the scale of the error itself; `plot` draws it beside the errors of the splits.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> d = unseen.distribution(LinearRegression(), X, y, n_splits=50, random_state=0)
    >>> d.law.p, d.law.mean < d.avr, d.law.std < d.std
    (11.0, True, True)
    """

    law: FpeLaw | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the errors, their summaries, and the law's mean, spread and fractiles."""
        return {**super().to_dict(), "law": None if self.law is None else plain(self.law.row())}


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
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
    duplicates: str = "auto",
) -> ErrorDistribution:
    """Return the distribution of a model's error over random splits that are all distinct.

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
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        As in `unseen.assess`.

    Returns
    -------
    ErrorDistribution
        For scikit-learn's LinearRegression and squared errors one that carries `law`, the asymptotic law of its error.

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
    call = Call.of(distribution, locals())
    if isinstance(model, PredictionTable):
        return replace(_of_table(model, loss), command=call.text())
    seed = root_seed(random_state)
    data = data_of(
        X,
        y,
        groups=groups,
        sample_weight=sample_weight,
        time=time,
        ids=ids,
        positive=positive,
        task=task,
        duplicates=duplicates,
    )
    table = run(
        model,
        data,
        duplicates=duplicates,
        design=LeaveOut(fraction, n_splits),
        random_state=seed,
        scores=needs_scores(loss),
        n_jobs=n_jobs,
        engine=engine,
        progress=progress,
    )
    made = replace(_of_table(table, loss), command=call.text(random_state=seed))
    law = _law(model_of(model, data), data, loss)
    return (
        made if law is None else DistributionWithLaw(**{f.name: getattr(made, f.name) for f in fields(made)}, law=law)
    )


def _of_table(table: PredictionTable, loss: str) -> ErrorDistribution:
    if len(table.plan) < 2:
        raise InputError(
            "one split has no distribution; make the table with a design of many splits, such as leave-out."
        )
    losses = table.losses(loss)
    n_test, n_train = table.plan.mean_sizes()
    return ErrorDistribution(
        losses.split_means(),
        losses.loss,
        scale="identity",
        plan=table.plan.fingerprint,
        n_train=n_train,
        n_test=n_test,
        model=table.model,
        splits=losses.completed,
        notes=table.notes,
    )


def _law(model: Model, data: Data, loss: str) -> FpeLaw | None:
    """Return the law of a least-squares fit on all rows; None for any other model or loss."""
    _, final = steps_of(getattr(model, "estimator", None))
    if loss not in ("auto", "squared") or data.weights is not None or not is_sklearn(final, "LinearRegression"):
        return None
    try:
        return FpeDistribution()(model, data, rng=stream(0, "law"))
    except NotApplicable:
        return None
