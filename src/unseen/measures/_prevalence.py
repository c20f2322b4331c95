"""Predictive values at a prevalence other than the sample's."""

from __future__ import annotations

from dataclasses import dataclass

from unseen.core.errors import InputError

__all__ = ["PredictiveValue", "predictive_value"]


@dataclass(frozen=True)
class PredictiveValue:
    """Chances that a call is right: `positive` and `negative`; `odds_against` a positive call being right."""

    positive: float
    negative: float
    odds_against: float


def predictive_value(*, sensitivity: float, specificity: float, prevalence: float) -> PredictiveValue:
    """Return how often positive and negative calls are right where a share `prevalence` of the cases is positive.

    Parameters
    ----------
    sensitivity, specificity : float
        Shares of the positive and of the negative cases that are called right.
    prevalence : float
        Share of positive cases where the calls are made.

    Returns
    -------
    PredictiveValue
        NaN where such a call is never made.

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
