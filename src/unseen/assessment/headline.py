"""Which estimate leads: the one that came nearest to this model's error on data sets like the sample, with an interval that holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.data import Data
from unseen.core.errors import UnknownName
from unseen.core.plan import Plan
from unseen.estimators.combined.evidence import leads
from unseen.estimators.combined.situation import Situation
from unseen.models.inner_resampling import resamples_inside

__all__ = ["TARGETS", "Lead", "choose_lead", "choose_lead_of_splits", "situation_of"]

TARGETS = ("model", "algorithm")
NEARLY_ALL = 0.89  # ten folds of units that do not divide by ten; what is lost to the model trained on all is small beside its interval


@dataclass(frozen=True, kw_only=True)
class Lead:
    """The method of the headline, and why it leads.

    Parameters
    ----------
    method : str
        "combined", "range-t", "corrected-t" or "time-ordered".
    reason : str
        Why, in words that follow the name of the method.
    """

    method: str
    reason: str


def situation_of(model: Any, data: Data) -> Situation | None:
    """Return what the interval of a recipe depends on; None without classes."""
    return None if data.classes is None else Situation.of(data, resamples_inside(model, data.n))


def choose_lead(model: Any, data: Data, loss: Any, target: str = "model") -> Lead:
    """Return the method whose estimate is the headline; data, loss and model decide, never the clock or the errors seen.

    Parameters
    ----------
    model : Model
        What is trained.
    data : Data
        The sample.
    loss : str or measure
        As in `unseen.assess`.
    target : {"model", "algorithm"}
        This model, trained on all rows, or the algorithm at the training size of random splits.

    Examples
    --------
    >>> import unseen
    >>> iris = unseen.datasets.load("iris")
    >>> choose_lead("lda", iris, "auto").method, choose_lead("lda", iris, "log-loss").method
    ('combined', 'range-t')
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    if data.order is not None:
        return Lead(method="time-ordered", reason="rows ordered in time are predicted from earlier ones only")
    if target == "algorithm":
        return Lead(method="corrected-t", reason="it is about the algorithm, over random splits")
    if reason := _reason_not_combined(model, data, loss):
        return Lead(method="range-t", reason=reason)
    return Lead(method="combined", reason="it came nearest to the true error on data sets that were left out")


def choose_lead_of_splits(plan: Plan, target: str = "model") -> Lead:
    """Return the method for splits that the user gave, and what its number is the error of.

    Examples
    --------
    >>> import unseen
    >>> iris = unseen.datasets.load("iris")
    >>> for folds in (10, 5):
    ...     plan = unseen.run("lda", iris, cv=folds, random_state=0).plan
    ...     print(choose_lead_of_splits(plan).method)
    range-t
    corrected-t
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    if plan.design == "time-ordered":
        return Lead(method="time-ordered", reason="the given splits predict rows from earlier ones")
    if plan.design == "holdout":
        return Lead(method="auto", reason="the given split holds out one part")
    share = plan.mean_sizes()[1] / plan.n_units
    if plan.design in ("repeated-kfold", "leave-out", "monte-carlo"):
        if target == "model" and share >= NEARLY_ALL:
            return Lead(method="range-t", reason="the given splits train on nearly all rows")
        why = (
            "it is about the algorithm"
            if target == "algorithm"
            else f"the given splits train on {share:.0%} of the units"
        )
        return Lead(method="corrected-t", reason=f"{why}, so this is the error at that training size")
    if plan.design in ("kfold", "splits"):
        return Lead(method="kfold", reason="the given splits have no form for which an interval is known")
    return Lead(method="auto", reason=f"it suits the design {plan.design}")


def _reason_not_combined(model: Any, data: Data, loss: Any) -> str:
    situation = situation_of(model, data)
    if situation is None or loss not in ("auto", "zero-one"):
        return "combined is made for error rates only"
    if data.groups is not None:
        return "combined was studied on independent rows only"
    if data.weights is not None:
        return "combined has no weighted form"
    if not leads("combined", data.n_units):
        return f"with {data.n_units} units combined was no nearer than repeated cross-validation"
    if outside := situation.outside_the_study():
        return f"combined was not studied there: {outside}"
    return ""
