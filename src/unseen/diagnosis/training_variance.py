"""`unseen.training_variance`: how much of an error's spread comes from training itself (Hutton, 1992)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed, task_seed
from unseen.designs.leave_out import LeaveOut
from unseen.designs.splits import as_design
from unseen.engine.run import execute
from unseen.request.prepare import data_of, model_of, plan_of

__all__ = ["TrainingVariance", "components_of", "training_variance"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingVariance(Result):
    """Variance of the test error over data (splits), over random starts (seeds), over settings, and what is left.

    Parameters
    ----------
    data, seeds, settings, rest : float
        Variance components; `settings` is that of the settings' true means, `rest` is the interaction of the others.
    errors : ndarray of shape (settings, seeds, splits)
        Test errors.
    names : tuple of str
        The settings in words.
    """

    data: float
    seeds: float
    settings: float
    rest: float
    errors: Floats
    names: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per component with its share."""
        parts = {
            "data (splits)": self.data,
            "random starts (seeds)": self.seeds,
            "settings": self.settings,
            "rest": self.rest,
        }
        total = sum(max(v, 0.0) for v in parts.values())
        return [
            {"source": k, "variance": v, "share": max(v, 0.0) / total if total > 0 else None} for k, v in parts.items()
        ]

    def __str__(self) -> str:
        shares = (f"{r['source']} {r['variance']:.3g} ({100 * (r['share'] or 0):.0f}%)" for r in self.rows())
        return "variance of the test error: " + ", ".join(shares)


def components_of(errors: Floats) -> tuple[float, float, float, float]:
    """Return the components of errors (settings, seeds, splits): data, seeds, settings, rest, by the analysis of variance.

    Within a setting seeds and splits are crossed, with one error each; components are averaged over settings. That of the
    settings is the variance of their means less what seeds, splits and chance add to it (three-way analysis of variance).
    Estimates are unbiased and may come out below 0 if the truth is near it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> made = rng.normal(0, 2, (1, 1, 400)) + rng.normal(0, 1, (1, 400, 1)) + rng.normal(0, 0.5, (1, 400, 400))
    >>> [round(c, 1) for c in components_of(made)][3]
    0.3
    """
    _, n_seeds, n_splits = errors.shape
    by_split, by_seed = errors.mean(axis=1, keepdims=True), errors.mean(axis=2, keepdims=True)
    grand = errors.mean(axis=(1, 2), keepdims=True)
    left = np.square(errors - by_split - by_seed + grand).sum(axis=(1, 2))
    rest = left / max((n_seeds - 1) * (n_splits - 1), 1)
    data = by_split[:, 0].var(axis=1, ddof=1) - rest / n_seeds
    seeds = by_seed[:, :, 0].var(axis=1, ddof=1) - rest / n_splits if n_seeds > 1 else np.zeros(len(errors))
    return float(data.mean()), float(seeds.mean()), _of_settings(errors), float(rest.mean())


def _of_settings(errors: Floats) -> float:
    """Return the component of settings, crossed with seeds and splits: their means vary by chance too."""
    if len(errors) < 2:
        return 0.0
    by_seed, by_split = errors.mean(axis=2), errors.mean(axis=1)
    chance = _interaction(by_split) / by_split.shape[1] + _interaction(by_seed) / by_seed.shape[1]
    left = errors - errors.mean(axis=0) - by_seed[:, :, None] - by_split[:, None, :]
    left += (
        by_seed.mean(axis=0)[:, None] + by_split.mean(axis=0) + errors.mean(axis=(1, 2))[:, None, None] - errors.mean()
    )
    free = np.prod([max(size - 1, 1) for size in errors.shape])
    counted_twice = float(np.square(left).sum() / free) / (by_seed.shape[1] * by_split.shape[1])
    result: float = float(errors.mean(axis=(1, 2)).var(ddof=1)) - chance + counted_twice
    return result


def _interaction(table: Floats) -> float:
    """Return the mean square of what rows and columns of a table do not explain."""
    left = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    return float(np.square(left).sum() / max((table.shape[0] - 1) * (table.shape[1] - 1), 1))


def training_variance(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    settings: Mapping[str, Sequence[Any]] | None = None,
    n_seeds: int = 5,
    design: Any = None,
    loss: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
) -> TrainingVariance:
    """Split the variance of the test error into that of the data and that of training: starts, learning rate, momentum.

    Parameters
    ----------
    model : object with fit and predict
        Its `random_state` is what the seeds vary, whatever it was set to.
    X, y : array-like
        Sample.
    settings : mapping of parameter to values, optional
        Parameters to vary too, such as {"learning_rate_init": (0.01, 0.1), "momentum": (0.0, 0.7)}; all combinations are run.
    n_seeds : int
        Random starts on every split.
    design : optional
        Splits; 20 that leave out a quarter by default.
    loss, random_state, n_jobs
        As in `unseen.run`.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.

    Returns
    -------
    TrainingVariance

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299 (effects of learning rate, momentum and initial weights on resampled errors).

    Examples
    --------
    >>> import unseen
    >>> from sklearn.tree import ExtraTreeClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> v = unseen.training_variance(ExtraTreeClassifier(), X, y, n_seeds=4)
    >>> v.errors.shape
    (1, 4, 20)
    """
    from sklearn.base import clone

    if n_seeds < 2:
        raise InputError(f"n_seeds is {n_seeds}; a variance over starts needs at least 2.")
    data = data_of(X, y, groups=groups, sample_weight=sample_weight, time=time, ids=ids, positive=positive, task=task)
    seed = root_seed(random_state)
    plan = plan_of(LeaveOut(0.25, 20) if design is None else as_design(design), data, seed)
    keys = list(settings or {})
    combinations = [dict(zip(keys, values)) for values in product(*((settings or {}).values()))]
    errors = []
    for combination in combinations:
        free = _without_random_state(model)
        one = model_of(clone(free).set_params(**combination) if combination else free, data)
        runs = [
            execute(one, data, plan, seed=task_seed(seed, "start", k), n_jobs=n_jobs).losses(loss)
            for k in range(n_seeds)
        ]
        if any(len(run.completed) < len(plan) for run in runs):
            raise InputError("a fit failed, and every start is needed on every split; mend the model or its settings.")
        errors.append([run.split_means() for run in runs])
    names = tuple(", ".join(f"{k}={v}" for k, v in c.items()) or "as given" for c in combinations)
    table = np.array(errors)
    of_data, of_seeds, of_settings, rest = components_of(table)
    return TrainingVariance(data=of_data, seeds=of_seeds, settings=of_settings, rest=rest, errors=table, names=names)


def _without_random_state(model: Any) -> Any:
    """Return the model with every fixed random state taken off, which would give each start the same weights."""
    if isinstance(model, str) or not hasattr(model, "get_params"):
        return model
    from sklearn.base import clone

    fixed = [k for k, v in model.get_params().items() if k.split("__")[-1] == "random_state" and v is not None]
    return clone(model).set_params(**dict.fromkeys(fixed)) if fixed else model
