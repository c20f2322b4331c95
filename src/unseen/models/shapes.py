"""Examples of more than two dimensions: which models read them in their shape, and which as flat rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["in_shape", "reads_shapes"]


def reads_shapes(model: Any) -> bool:
    """Say whether a model reads images and the like in their own shape rather than as flat rows.

    Flat rows go to scikit-learn's estimators. Examples in their shape go to an estimator whose tags say `three_d_array`, to nets
    in skorch's manner (a parameter `module`), to objects without `get_params` and to functions, which know what they were
    written for. The first step decides for a pipeline, and what is searched for a search. An attribute `reads_shapes` decides
    before all of this.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> reads_shapes(DecisionTreeClassifier()), reads_shapes(lambda images: images.mean(axis=(1, 2, 3)) > 0)
    (False, True)
    """
    declared = getattr(model, "reads_shapes", None)
    if isinstance(declared, bool):
        return declared
    if not hasattr(model, "get_params"):
        return True
    steps = getattr(model, "steps", None)
    if steps:
        return reads_shapes(next((s for _, s in steps if hasattr(s, "fit")), steps[-1][1]))
    searched = getattr(model, "estimator", None)
    if searched is not None and hasattr(model, "refit"):
        return reads_shapes(searched)
    if hasattr(model, "module"):
        return True
    try:
        return bool(model.__sklearn_tags__().input_tags.three_d_array)
    except (AttributeError, NotImplementedError, TypeError):
        return False


def in_shape(X: Any, shape: Sequence[int]) -> Any:
    """Return flat rows as examples of a shape; with an empty shape, X as it is.

    Examples
    --------
    >>> import numpy as np
    >>> in_shape(np.zeros((5, 16)), (1, 4, 4)).shape
    (5, 1, 4, 4)
    """
    return X.reshape(len(X), *shape) if shape else X
