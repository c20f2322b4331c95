"""Scores as losses and back: inside this package higher is worse, and a score is turned once on its way out."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from unseen.core.arrays import Floats

__all__ = ["MEASURE_NAMES", "advantage", "as_loss", "as_measure", "gap_words", "measure_name"]

RATES = frozenset({"zero-one", "1 - accuracy"})  # differences of these are said in points of a hundred
MEASURE_NAMES = {
    "zero-one": "share of cases misclassified",
    "squared": "squared error",
    "absolute": "absolute error",
    "rmse": "RMSE",
    "brier": "Brier score",
    "auc": "AUC",
    "partial-auc": "partial AUC",
    "f1": "F1",
    "mcc": "Matthews correlation",
    "pov": "squared correlation",
    "pineda-p": "Pineda's P",
    "d-prime": "d′",
    "r2": "R²",
    "rms": "RMSE",
}

Value = TypeVar("Value", float, Floats)


def as_loss(measure: Any) -> tuple[str, float, float]:
    """Return the name of a measure's loss, and offset and sign with which loss = offset + sign * value.

    Examples
    --------
    >>> from unseen.measures.areas import Auc
    >>> as_loss(Auc())
    ('1 - auc', 1.0, -1.0)
    """
    if measure.direction == "lower":
        return measure.id, 0.0, 1.0
    high = float(measure.range[1])
    return (f"{high:g} - {measure.id}", high, -1.0) if np.isfinite(high) else (f"-{measure.id}", 0.0, -1.0)


def as_measure(loss: str, value: Value) -> tuple[str, Value]:
    """Return what a loss is shown as: the name and value of the score it was made from, else itself.

    Examples
    --------
    >>> as_measure("1 - auc", 0.25), as_measure("-utility", 2.0), as_measure("zero-one", 0.1)
    (('auc', 0.75), ('utility', -2.0), ('zero-one', 0.1))
    >>> as_measure("5 - stars", 1.5)
    ('stars', 3.5)
    """
    top, dash, name = loss.partition(" - ")
    if dash and _is_number(top):
        return name, float(top) - value
    if loss.startswith("-"):
        return loss[1:], 0.0 - value
    return loss, value


def measure_name(loss: str) -> str:
    """Return what a loss or measure is called in a sentence.

    Examples
    --------
    >>> measure_name("zero-one"), measure_name("balanced-accuracy"), measure_name("auc")
    ('share of cases misclassified', 'balanced accuracy', 'AUC')
    >>> measure_name("1 - auc"), measure_name("-d-prime")
    ('1 − AUC', '− d′')
    """
    top, dash, score = loss.partition(" - ")
    if dash:
        return f"{top} − {measure_name(score)}"
    if loss.startswith("-"):
        return f"− {measure_name(loss[1:])}"
    return MEASURE_NAMES.get(loss, loss.replace("-", " "))


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def advantage(loss: str, *, most: bool = False) -> str:
    """Return what the better model has, in words: a smaller error, or a larger score if the loss was made from one.

    Examples
    --------
    >>> advantage("zero-one"), advantage("1 - auc", most=True), advantage("-d-prime")
    ('smaller error', 'largest AUC', 'larger d′')
    """
    name = as_measure(loss, 0.0)[0]
    size, what = ("small", "error") if name == loss else ("large", measure_name(name))
    return f"{size.removesuffix('e')}{'est' if most else 'er'} {what}"


def gap_words(gap: float, loss: str, *, bare: bool = False) -> str:
    """Return a difference as people say it: points of a hundred for a rate, else three digits, large numbers written out.

    Examples
    --------
    >>> gap_words(0.0312, "zero-one"), gap_words(0.0312, "zero-one", bare=True), gap_words(0.0312, "1 - auc")
    ('3.1 points', '3.1', '0.0312')
    >>> gap_words(2908.7, "squared")
    '2909'
    """
    if loss not in RATES:
        return f"{gap:.0f}" if 1e3 <= abs(gap) < 1e7 else f"{gap + 0.0:.3g}"
    return f"{100 * gap + 0.0:.1f}{'' if bare else ' points'}"
