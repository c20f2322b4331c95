"""U029: preprocessing was fitted on all rows, outside the resampling loop; and what moving it inside changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.checks.registry import check
from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import FitError
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note

__all__ = ["PreprocessingTrace", "outside_notes", "trace_in_data", "trace_in_model"]

# in fewer rows such values come about by chance or by rounding
LEAST_ROWS = 10
# bounds time and memory
MOST_CELLS = 20_000_000
# far above the rounding of means of doubles, far below what chance gives
EXACT = 1e-7
# bounds the product of all pairs of columns
ROTATION_COLUMNS = 500


@dataclass(frozen=True)
class PreprocessingTrace:
    """A trace of preprocessing fitted on all rows.

    Parameters
    ----------
    finding : str
        What was seen, in words.
    inside : object or None
        A scikit-learn transformer that does the same inside the loop (scaling again what was scaled already gives exactly
        what scaling the raw data inside would have given), or the model with its frozen steps to be fitted; None if only the
        user can move it.
    """

    finding: str
    inside: Any = None


def trace_in_data(data: Data) -> PreprocessingTrace | None:
    """Return what the numbers themselves show: all columns have mean 0 and deviation 1, or reach from 0 to 1.

    Chance does not give such columns, so the finding is certain. Preprocessing that leaves no such trace, above all a
    selection of features, is not found.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.datasets import as_data
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(5, 2, (40, 3)), rng.integers(0, 2, 40)
    >>> trace_in_data(as_data(X, y)) is None
    True
    >>> trace_in_data(as_data((X - X.mean(0)) / X.std(0), y)).finding
    'all 3 columns have mean 0 and standard deviation 1 over all rows'
    """
    X = _numeric(data.X)
    if X is None or len(X) < LEAST_ROWS or X.size > MOST_CELLS:
        return None
    varied = X[:, [bool(np.any((column != column.min()) & (column != column.max()))) for column in X.T]]
    k = varied.shape[1]
    if k == 0:
        return None
    return _standardisation_trace(varied, k) or _range_trace(varied, k) or _rotation_trace(X)


def _numeric(X: Any) -> Floats | None:
    if X is None or hasattr(X, "tocsr"):
        return None
    if hasattr(X, "iloc"):
        X = X.select_dtypes("number").to_numpy()
    array = np.asarray(X)
    if array.dtype.kind not in "fiu" or array.size == 0:
        return None
    values = array.astype(float)
    return values if np.all(np.isfinite(values)) else None


def _columns(k: int) -> str:
    return "the one column that varies has" if k == 1 else f"all {k} columns have"


def _standardisation_trace(X: Floats, k: int) -> PreprocessingTrace | None:
    from sklearn.preprocessing import StandardScaler

    centred = np.all(np.abs(X.mean(axis=0)) < EXACT)
    if not centred or not any(np.allclose(X.std(axis=0, ddof=d), 1, rtol=0, atol=EXACT) for d in (0, 1)):
        return None
    return PreprocessingTrace(f"{_columns(k)} mean 0 and standard deviation 1 over all rows", StandardScaler())


def _range_trace(X: Floats, k: int) -> PreprocessingTrace | None:
    """Return a trace if two or more columns all touch both ends; one column from 0 to 1 may be a share."""
    from sklearn.preprocessing import MinMaxScaler

    low, high = X.min(axis=0), X.max(axis=0)
    for ends in ((0.0, 1.0), (-1.0, 1.0)):
        touched = k > 1 and np.all(np.abs(low - ends[0]) < EXACT) and np.all(np.abs(high - ends[1]) < EXACT)
        if touched and np.mean(np.round(X) != X) > 0.5:
            return PreprocessingTrace(
                f"{_columns(k)} extremes {ends[0]:g} and {ends[1]:g} over all rows", MinMaxScaler(ends)
            )
    return None


def _rotation_trace(X: Floats) -> PreprocessingTrace | None:
    """Return a trace if the columns look like principal scores: centred, uncorrelated, in falling order of variance."""
    n, k = X.shape
    if not 2 <= k < n or k > ROTATION_COLUMNS or np.any(np.abs(X.mean(axis=0)) > EXACT * (1 + X.std(axis=0))):
        return None
    spread = X.std(axis=0)
    if np.any(spread == 0) or np.any(np.diff(spread) > EXACT * spread[0]):
        return None
    scaled = X / spread
    off = scaled.T @ scaled / n - np.eye(k)
    if np.abs(off).max() > EXACT:
        return None
    return PreprocessingTrace(
        f"the {k} columns are uncorrelated over all rows, as principal scores fitted on all of them are"
    )


def trace_in_model(estimator: Any) -> PreprocessingTrace | None:
    """Return what the model itself shows: steps that were fitted before and are not fitted again.

    Examples
    --------
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> found = trace_in_model(make_pipeline(FrozenEstimator(StandardScaler().fit([[0.0], [1.0]])), DecisionTreeClassifier()))
    >>> found.finding
    "the step 'frozenestimator' was fitted before and stays as it is in every split"
    """
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list):
        return None
    frozen = [name for name, step in steps if _is_fitted_before(step)]
    if not frozen:
        return None
    word = "step" if len(frozen) == 1 else "steps"
    stays = "was fitted before and stays as it is" if len(frozen) == 1 else "were fitted before and stay as they are"
    finding = f"the {word} {', '.join(map(repr, frozen))} {stays} in every split"
    return PreprocessingTrace(finding, _with_all_steps_fitted(estimator))


def _is_fitted_before(step: Any) -> bool:
    return type(step).__name__ == "FrozenEstimator" or getattr(step, "prefit", False) is True


def _with_all_steps_fitted(pipeline: Any) -> Any:
    """Return the pipeline with its frozen steps made to be fitted in every split."""
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    steps = []
    for name, step in pipeline.steps:
        if type(step).__name__ == "FrozenEstimator":
            step = clone(step.estimator)
        elif getattr(step, "prefit", False) is True:
            step = type(step)(**{**step.get_params(deep=False), "prefit": False, "estimator": clone(step.estimator)})
        steps.append((name, step))
    return Pipeline(steps)


@check(
    "U029",
    "model",
    title="preprocessing outside the loop",
    sentence="All columns have mean 0 and standard deviation 1, or the same extremes, or are uncorrelated over all rows; or a step of "
    "the pipeline was fitted before. Not given if fitting it inside every split changes nothing.",
    advice="It has seen the rows that were to be unseen. Put it into a pipeline with the model.",
)
def outside_notes(
    estimator: Any, data: Data, table: LossTable, rerun: Callable[[Any], LossTable], method: Any, level: float
) -> tuple[Note, ...]:
    """Return U029 if preprocessing saw all rows, with what moving it inside does to the error on the same splits.

    Parameters
    ----------
    estimator : object
        The model as the user gave it.
    data, table : Data, LossTable
        The sample, and the losses of the headline.
    rerun : callable
        Takes an estimator and returns its losses on the same splits.
    method, level
        How the paired difference is estimated.
    """
    found = trace_in_model(estimator)
    inside = None if found is None else found.inside
    if found is None:
        found = trace_in_data(data)
        if found is None:
            return ()
        if found.inside is not None and isinstance(data.X, np.ndarray) and hasattr(estimator, "get_params"):
            from sklearn.pipeline import make_pipeline

            inside = make_pipeline(found.inside, estimator)
    if inside is None:
        return (note("U029", found.finding),)
    try:
        moved = rerun(inside)
    except FitError:
        return (note("U029", found.finding),)
    effect = _effect(method, table, moved, level)
    return (note("U029", f"{found.finding}; {effect}"),) if effect else ()


def _effect(method: Any, table: LossTable, moved: LossTable, level: float) -> str:
    """Say what moving it inside changes; empty if it changes nothing, as for a model that scales by itself."""
    before, after = float(table.contributions().mean()), float(moved.contributions().mean())
    if np.allclose(table.split_means(), moved.split_means(), rtol=0, atol=1e-12):
        return ""
    text = f"fitted inside every split instead, the error on the same splits is {after:.4g} and not {before:.4g}"
    if table.by_split:
        return text
    difference = method(moved.minus(table), level=level)
    if difference.interval is None:
        return text
    low, high = difference.interval
    return f"{text} (difference {difference.value:+.2g}, {100 * level:g}% interval {low:+.2g} to {high:+.2g})"
