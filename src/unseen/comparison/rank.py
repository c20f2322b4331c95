"""`unseen.rank`: models ranked over many data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unseen.core.comparison import Comparisons
from unseen.core.errors import InputError, KindError
from unseen.core.registry import build
from unseen.significance.ranking import Ranking

__all__ = ["rank"]


def rank(errors: Any, names: Sequence[str] | None = None, *, posthoc: str = "nemenyi", level: float = 0.95) -> Ranking:
    """Rank models over many independent data sets: Friedman's test, then all pairs.

    Parameters
    ----------
    errors : DataFrame, mapping, 2-D array or list of Comparisons
        One row per data set and one column per model (a DataFrame or array), a mapping of model to errors, or what
        `unseen.compare` returned for each data set. Errors: lower is better. Rows must be data sets, not folds.
    names : sequence of str, optional
        Models, if `errors` is an array.
    posthoc : {"nemenyi", "holm"}
        How all pairs are tested.
    level : float
        Confidence level.

    Returns
    -------
    Ranking

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning
    Research 7, 1-30.

    Examples
    --------
    >>> import unseen
    >>> r = unseen.rank({"a": [0.1, 0.2, 0.1, 0.3], "b": [0.2, 0.3, 0.2, 0.4], "c": [0.3, 0.4, 0.3, 0.5]})
    >>> r.mean_ranks.tolist(), round(r.p, 4)
    ([1.0, 2.0, 3.0], 0.0046)
    """
    matrix, columns = _table(errors, names)
    result: Ranking = build("friedman", "significance", options={"posthoc": posthoc})(matrix, columns, level=level)
    return result


def _table(errors: Any, names: Sequence[str] | None) -> tuple[Any, list[str]]:
    if hasattr(errors, "columns") and hasattr(errors, "to_numpy"):
        return errors.to_numpy(), [str(c) for c in errors.columns]
    if isinstance(errors, Mapping):
        lengths = {len(np.atleast_1d(v)) for v in errors.values()}
        if len(lengths) != 1:
            raise InputError(f"every model needs an error on every data set; there are {sorted(lengths)}.")
        return np.stack([np.asarray(v, dtype=float) for v in errors.values()], axis=1), [str(k) for k in errors]
    if isinstance(errors, (list, tuple)) and errors and all(isinstance(c, Comparisons) for c in errors):
        columns = list(errors[0].estimates)
        if any(set(c.estimates) != set(columns) for c in errors):
            raise InputError("the comparisons hold different models; every model is needed on every data set.")
        return np.array([[c.estimates[name].value for name in columns] for c in errors]), columns
    matrix = np.asarray(errors)
    if matrix.ndim != 2:
        raise KindError("errors must be a frame, a mapping of model to errors, a 2-D array or a list of Comparisons.")
    return matrix, list(names) if names is not None else [f"model {k + 1}" for k in range(matrix.shape[1])]
