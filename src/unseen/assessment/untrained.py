"""Which methods speak of a model that is trained already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unseen.core.errors import UnknownName
from unseen.core.registry import find, known

__all__ = ["known_methods", "methods_for"]

KINDS = ("resubstitution", "estimators")


def methods_for(fitted: Any) -> list[str]:
    """Return the ids of the methods that take a trained model as it is.

    Parameters
    ----------
    fitted : fitted estimator, function of X, or model opened from a file
        A function or a model in a file only answers; methods that train copies of the model or read its coefficients need
        the estimator itself.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> [name in methods_for(LinearSVC()) for name in ("bolster", "calibrated-bolster", "kfold")]
    [True, True, False]
    >>> [name in methods_for(lambda X: X[:, 0] > 0) for name in ("bolster", "calibrated-bolster", "kfold")]
    [True, False, False]
    """
    itself = hasattr(getattr(fitted, "native", fitted), "fit")
    return [name for kind in KINDS for name, cls in known(kind).items() if _speaks_of(cls, itself)]


def _speaks_of(cls: type[Any], itself: bool) -> bool:
    every = [cls, *(find(name, *KINDS) for name in cls.parts)]
    return not any(one.kind == "table" or (one.whole_model and not itself) for one in every)


def known_methods(names: Sequence[str], fitted: Any) -> list[str]:
    """Return the names as they are, or refuse the first that no method has by naming those that take the model."""
    for name in names:
        try:
            find(name, *KINDS)
        except UnknownName:
            raise UnknownName("method", name, methods_for(fitted)) from None
    return list(names)
