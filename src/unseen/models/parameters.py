"""Parameters of estimators; what depends on a class alone is looked up once, as signatures take longer to read than small samples."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

__all__ = ["all_parameters", "defaults_of", "is_plain_estimator", "own_parameters"]

CLASSES = 256  # whose signatures are remembered
PLAIN = (type(None), bool, int, float, str)  # values that every copy shares


@lru_cache(CLASSES)
def defaults_of(cls: Any) -> Mapping[str, Any]:
    """Return the parameters of a class with their defaults; raises what `inspect.signature` raises.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> defaults_of(Ridge)["alpha"]
    1.0
    """
    return MappingProxyType({name: p.default for name, p in inspect.signature(cls).parameters.items()})


@lru_cache(CLASSES)
def _names_of(cls: Any) -> tuple[str, ...] | None:
    """Return the names that scikit-learn's own `get_params` reads; None for a class with one of its own."""
    own = getattr(cls.get_params, "__module__", ""), getattr(cls.get_params, "__qualname__", "")
    names: Any = getattr(cls, "_get_param_names", None)
    plain = own == ("sklearn.base", "BaseEstimator.get_params")
    if not plain or getattr(names, "__qualname__", "") != "BaseEstimator._get_param_names":
        return None
    return tuple(names())


def own_parameters(model: Any) -> dict[str, Any]:
    """Return what `model.get_params(deep=False)` returns.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> own_parameters(Ridge(0.5)) == Ridge(0.5).get_params(deep=False)
    True
    """
    cls: Any = type(model)
    names = None if isinstance(model, type) else _names_of(cls)
    if names is None:
        given: dict[str, Any] = model.get_params(deep=False)
        return given
    return {name: getattr(model, name) for name in names}


def all_parameters(model: Any) -> dict[str, Any]:
    """Return what `model.get_params()` returns, those of estimators inside it included.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> all_parameters(make_pipeline(Ridge(0.5)))["ridge__alpha"]
    0.5
    """
    cls: Any = type(model)
    if not isinstance(model, type) and _names_of(cls) is not None:
        own = own_parameters(model)
        if all(isinstance(value, PLAIN) for value in own.values()):
            return own
    given: dict[str, Any] = model.get_params()
    return given


def is_plain_estimator(model: Any) -> bool:
    """Say whether this is an estimator of scikit-learn itself with plain values only, which can always be cloned.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingRegressor
    >>> from sklearn.linear_model import Ridge
    >>> is_plain_estimator(Ridge()), is_plain_estimator(BaggingRegressor(Ridge()))
    (True, False)
    """
    cls: Any = type(model)
    if not cls.__module__.startswith("sklearn.") or not hasattr(cls, "get_params") or _names_of(cls) is None:
        return False
    return all(type(value) in PLAIN for value in own_parameters(model).values())
