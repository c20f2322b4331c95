"""What else a fit gets with its rows: the keywords under which it takes their weights, and which are copies of one row."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["copies_key", "weight_key"]

_WRAPPED = ("estimator", "regressor", "base_estimator")


def weight_key(estimator: Any) -> str | None:
    """Return the keyword of `fit` that takes row weights, or None if there is none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import Pipeline
    >>> weight_key(Pipeline([("model", LogisticRegression())])), weight_key(KNeighborsClassifier())
    ('model__sample_weight', None)
    """
    if _routing():
        return _requested_name(estimator)
    if hasattr(estimator, "steps"):
        name, final = estimator.steps[-1]
        inner = weight_key(final) if hasattr(final, "fit") else None
        return None if inner is None else f"{name}__{inner}"
    named, open_ended = _parameters(estimator)
    if named:
        return "sample_weight"
    return _through(estimator) if open_ended else None


def copies_key(estimator: Any) -> str | None:
    """Return the keyword of `fit` that takes the row which each row is a copy of, itself or as the last step of a pipeline; None if there is none.

    Examples
    --------
    >>> from sklearn.pipeline import Pipeline
    >>> class Net:
    ...     def fit(self, X, y, copies=None): ...
    >>> copies_key(Net()), copies_key(Pipeline([("net", Net())]))
    ('copies', 'net__copies')
    """
    steps = getattr(estimator, "steps", None)
    if steps:
        inner = None if _routing() else copies_key(steps[-1][1])
        return None if inner is None else f"{steps[-1][0]}__{inner}"
    try:
        return "copies" if "copies" in inspect.signature(estimator.fit).parameters else None
    except (TypeError, ValueError, AttributeError):
        return None


def _parameters(estimator: Any) -> tuple[bool, bool]:
    """Say whether fit names sample_weight, and whether it takes any keyword."""
    try:
        parameters = inspect.signature(estimator.fit).parameters
    except (TypeError, ValueError, AttributeError):
        return False, False
    return "sample_weight" in parameters, any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _through(estimator: Any) -> str | None:
    """Return the key of what a meta-estimator wraps, where its fit hands keywords on."""
    for attribute in _WRAPPED:
        inner = getattr(estimator, attribute, None)
        if hasattr(inner, "fit") and not isinstance(inner, type):
            return weight_key(inner)
    members = getattr(estimator, "estimators", None)
    if isinstance(members, (list, tuple)) and members:
        models = [m[1] if isinstance(m, tuple) else m for m in members]
        keys = [weight_key(m) for m in models if hasattr(m, "fit")]
        return "sample_weight" if keys and all(k == "sample_weight" for k in keys) else None
    return None


def _routing() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


def _requested_name(estimator: Any) -> str | None:
    from sklearn.utils.metadata_routing import get_routing_for_object

    routing = get_routing_for_object(estimator)
    if hasattr(routing, "consumes") and routing.consumes("fit", ["sample_weight"]):
        return "sample_weight"
    return None
