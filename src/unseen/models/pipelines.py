"""All splits at once for a pipeline whose last step can do so: transformers are fitted split by split, nothing leaks."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.plan import Split
from unseen.models.shapes import in_shape, reads_shapes

__all__ = ["piped_hook"]

MOST_NUMBERS = 1 << 27  # transformed tables of all splits together, 1 GiB in float64

Hook = Callable[..., Any]


def piped_hook(estimator: Any, fresh: Callable[[int], Any]) -> Hook | None:
    """Return a `fit_many` hook for a pipeline whose last step takes `tables` and `progress` in its own, else None.

    Parameters
    ----------
    estimator : object
        What is trained.
    fresh : function of int
        Gives an unfitted clone with the seeds of a fit.
    """
    steps = getattr(estimator, "steps", None)
    if not steps or len(steps) < 2:
        return None
    together = getattr(steps[-1][1], "fit_many", None)
    if not callable(together) or not {"tables", "progress"} <= set(inspect.signature(together).parameters):
        return None

    def hook(data: Data, splits: Sequence[Split], seeds: Sequence[int], progress: bool = False) -> Any:
        if len(splits) < 2:
            return None
        state = np.random.get_state()  # noqa: NPY002
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = _tables(data, splits, seeds, fresh)
        except Exception:  # fitted one by one, the split that fails gives the reason
            return None
        finally:
            np.random.set_state(state)  # noqa: NPY002
        return None if made is None else together(data, splits, made[1], tables=made[0], progress=progress)

    return hook


def _tables(
    data: Data, splits: Sequence[Split], seeds: Sequence[int], fresh: Callable[[int], Any]
) -> tuple[list[tuple[Any, Any]], list[int]] | None:
    """Return, for each split, its training rows as the last step learns them and all rows as it predicts them; and its seeds."""
    tables, own, total = [], [], 0
    for split, seed in zip(splits, seeds):
        np.random.seed(seed)  # noqa: NPY002  as in a fit of one split
        pipeline = fresh(seed)
        shape = data.sample_shape if data.sample_shape and reads_shapes(pipeline) else ()
        train, front = data.take(split.train), pipeline[:-1]
        learnt = front.fit_transform(in_shape(train.X, shape), train.y)
        tables.append((learnt, front.transform(in_shape(data.X, shape))))
        own.append(getattr(pipeline.steps[-1][1], "random_state", seed))
        total += sum(int(np.prod(t.shape)) for t in tables[-1])
        if total > MOST_NUMBERS:
            return None
    return tables, own
