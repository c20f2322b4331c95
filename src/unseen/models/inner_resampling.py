"""Models that set rows aside inside their own fit: a search, early stopping, calibration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unseen.models.weights import copies_key

__all__ = ["resamples_inside"]

AUTOMATIC_STOP = 10_000  # rows above which scikit-learn's early_stopping="auto" stops early
DEPTH = 8  # a pipeline in a search in a vote needs four; deeper is a cycle


def resamples_inside(model: Any, n_rows: int = 0, *, scores: bool = False) -> str:
    """Return why a model sets rows aside while it is trained; empty if it does not.

    A bootstrap sample holds copies of rows. If a model splits its training rows, copies of one row stand on both sides, and what it
    chooses there looks better than it is: bootstrap estimates do not suit it.

    Parameters
    ----------
    model : object
        An estimator, a pipeline, or one of this package's models; what it wraps is looked at too.
    n_rows : int
        Rows it will be trained on; `early_stopping="auto"` stops early above 10,000.
    scores : bool
        Whether its scores count and not only its labels: support vector machines with `probability=True` split rows for these alone.

    Returns
    -------
    str
        Such as "GridSearchCV cross-validates inside its fit".

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier()
    >>> resamples_inside(tree)
    ''
    >>> resamples_inside(make_pipeline(GridSearchCV(tree, {"max_depth": [1, 2]})))
    'GridSearchCV cross-validates inside its fit'
    """
    inside = getattr(model, "estimator", model) if hasattr(model, "unset_seeds") else model
    for part in _parts(inside, DEPTH):
        if reason := _reason(part, n_rows, scores):
            return f"{type(part).__name__} {reason}"
    return ""


def _parts(value: Any, depth: int) -> Iterator[Any]:
    """Yield every object with parameters in a model, the outermost first."""
    if depth == 0 or value is None or isinstance(value, (str, bytes, int, float, type)):
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _parts(item, depth - 1)
        return
    if hasattr(value, "get_params") or hasattr(value, "fit") or type(value).__name__ == "EarlyStopping":
        yield value
        for item in _parameters(value).values():
            yield from _parts(item, depth - 1)


def _parameters(part: Any) -> dict[str, Any]:
    """Return the parameters of an estimator, or the attributes of an object that has none."""
    try:
        return dict(part.get_params(deep=False))
    except Exception:  # other people's get_params raise what they like, and a class has no self
        return dict(getattr(part, "__dict__", {}))


def _reason(part: Any, n_rows: int, scores: bool) -> str:
    given = _parameters(part)
    if type(part).__name__ == "EarlyStopping":  # a callback of skorch or lightning
        return "stops early by rows that it sets aside"
    folds = given.get("cv", "prefit")
    if type(part).__name__.endswith("CV") or not (isinstance(folds, str) and folds == "prefit"):
        return "cross-validates inside its fit"
    if copies_key(part) is not None:  # it is handed which rows are copies, and keeps them together
        return ""
    early = given.get("early_stopping")
    if early is True or (early == "auto" and n_rows > AUTOMATIC_STOP):
        return "stops early by rows that it sets aside"
    rounds = ("n_iter_no_change", "early_stopping_rounds", "early_stopping_round")
    if early is None and any(given.get(name) is not None for name in rounds):
        return "stops early by rows that it sets aside"
    if {"fraction", "patience", "epochs"} <= set(given):  # unseen.models.quit_when_ahead
        return "stops early by rows that it sets aside"
    if scores and given.get("probability") is True and "kernel" in given:
        return "calibrates its probabilities by cross-validation inside its fit"
    return ""
