"""Rates of right and wrong calls of one class: sensitivity, specificity, their complements, predictive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.errors import InputError
from unseen.core.registry import register
from unseen.measures.confusion import ClassRate

__all__ = [
    "FalseAlarmRate",
    "MissRate",
    "NegativePredictiveValue",
    "PositivePredictiveValue",
    "PredictiveValue",
    "Sensitivity",
    "Specificity",
    "predictive_value",
]

FAMILY = (
    "sensitivity",
    "specificity",
    "miss-rate",
    "false-alarm-rate",
    "positive-predictive-value",
    "negative-predictive-value",
)


@register
@dataclass(frozen=True)
class Sensitivity(ClassRate):
    """Share of the positive cases that are called positive (recall, true positive ratio).

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> import numpy as np
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(Sensitivity().of_set(y, calls), 4)
    0.6667
    """

    id: ClassVar[str] = "sensitivity"
    aliases: ClassVar[tuple[str, ...]] = (
        "recall",
        "recall_score",
        "tpr",
    )
    direction: ClassVar[str] = "higher"
    part: ClassVar[str] = "hits"
    whole: ClassVar[tuple[str, str]] = ("hits", "misses")  # NaN if no case is positive


@register
@dataclass(frozen=True)
class Specificity(ClassRate):
    """Share of the negative cases that are called negative (true negative ratio).

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> import numpy as np
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(Specificity().of_set(y, calls), 4)
    0.5
    """

    id: ClassVar[str] = "specificity"
    aliases: ClassVar[tuple[str, ...]] = ("tnr",)
    direction: ClassVar[str] = "higher"
    part: ClassVar[str] = "rejections"
    whole: ClassVar[tuple[str, str]] = ("rejections", "alarms")  # NaN if no case is negative


@register
@dataclass(frozen=True)
class MissRate(ClassRate):
    """Share of the positive cases that are called negative; 1 - sensitivity.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> import numpy as np
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(MissRate().of_set(y, calls), 4)
    0.3333
    """

    id: ClassVar[str] = "miss-rate"
    aliases: ClassVar[tuple[str, ...]] = ("fnr",)
    part: ClassVar[str] = "misses"
    whole: ClassVar[tuple[str, str]] = ("hits", "misses")  # NaN if no case is positive


@register
@dataclass(frozen=True)
class FalseAlarmRate(ClassRate):
    """Share of the negative cases that are called positive; 1 - specificity.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> import numpy as np
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(FalseAlarmRate().of_set(y, calls), 4)
    0.5
    """

    id: ClassVar[str] = "false-alarm-rate"
    aliases: ClassVar[tuple[str, ...]] = ("fpr",)
    part: ClassVar[str] = "alarms"
    whole: ClassVar[tuple[str, str]] = ("rejections", "alarms")  # NaN if no case is negative


@register
@dataclass(frozen=True)
class PositivePredictiveValue(ClassRate):
    """Share of the positive calls that are right (precision, selectivity), at the prevalence of these data.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> import numpy as np
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(PositivePredictiveValue().of_set(y, calls), 4)
    0.6667
    """

    id: ClassVar[str] = "positive-predictive-value"
    aliases: ClassVar[tuple[str, ...]] = (
        "precision",
        "precision_score",
        "ppv",
    )
    direction: ClassVar[str] = "higher"
    part: ClassVar[str] = "hits"
    whole: ClassVar[tuple[str, str]] = ("hits", "alarms")  # NaN if nothing is called positive


@register
@dataclass(frozen=True)
class NegativePredictiveValue(ClassRate):
    """Share of the negative calls that are right, at the prevalence of these data.

    References
    ----------
    Altman, D. G. and Bland, J. M. (1994). Diagnostic tests 2: predictive values. BMJ 309, 102.

    Examples
    --------
    >>> import numpy as np
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(NegativePredictiveValue().of_set(y, calls), 4)
    0.5
    """

    id: ClassVar[str] = "negative-predictive-value"
    aliases: ClassVar[tuple[str, ...]] = ("npv",)
    direction: ClassVar[str] = "higher"
    part: ClassVar[str] = "rejections"
    whole: ClassVar[tuple[str, str]] = ("rejections", "misses")  # NaN if nothing is called negative


@dataclass(frozen=True)
class PredictiveValue:
    """Chances that a call is right: `positive` and `negative`; `odds_against` a positive call being right."""

    positive: float
    negative: float
    odds_against: float


def predictive_value(*, sensitivity: float, specificity: float, prevalence: float) -> PredictiveValue:
    """Return how often positive and negative calls are right if a share `prevalence` of the cases is positive.

    Parameters
    ----------
    sensitivity, specificity : float
        Shares of the positive and of the negative cases that are called right.
    prevalence : float
        Share of positive cases where the calls are made.

    Returns
    -------
    PredictiveValue
        NaN if such a call is never made.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299 (one case in a hundred, 95% right on both kinds: five to one against).

    Examples
    --------
    >>> v = predictive_value(sensitivity=0.95, specificity=0.95, prevalence=0.01)
    >>> round(v.positive, 3), round(v.odds_against, 2)
    (0.161, 5.21)
    """
    given = {"sensitivity": sensitivity, "specificity": specificity, "prevalence": prevalence}
    for name, value in given.items():
        if not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise InputError(f"{name} is {value!r}; a share lies between 0 and 1.")
    hits, misses = prevalence * sensitivity, prevalence * (1 - sensitivity)
    alarms, rejections = (1 - prevalence) * (1 - specificity), (1 - prevalence) * specificity
    nothing = float("nan")
    against = alarms / hits if hits > 0 else (float("inf") if alarms > 0 else nothing)
    return PredictiveValue(
        hits / (hits + alarms) if hits + alarms > 0 else nothing,
        rejections / (rejections + misses) if rejections + misses > 0 else nothing,
        against,
    )
