"""Resubstitution: the error of the trained model on its own training points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, ResubEstimate
from unseen.core.model import Fitted
from unseen.core.registry import find, register
from unseen.core.training import fit_once
from unseen.resubstitution._checked_predictions import checked_predictions
from unseen.resubstitution._decision_regions import check_model
from unseen.resubstitution._smoothed import ResubMethod

__all__ = ["Resub"]


@register
@dataclass(frozen=True)
class Resub(ResubMethod):
    """Mean loss on the training points: mass 1/n on each; too small for anything that can memorise.

    Parameters
    ----------
    loss : str
        Loss; "auto" takes the task's default.

    References
    ----------
    Smith, C. A. B. (1947). Some examples of discrimination. Annals of Eugenics 13, 272-282.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(KNeighborsClassifier(1), X, y, method="resub", random_state=0).value
    0.0
    """

    loss: str = "auto"
    id: ClassVar[str] = "resub"
    weighted: ClassVar[bool] = True

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> Estimate:
        """Return the training error, with each point's loss as its contribution."""
        training = fit_once(model, data, rng)
        fitted = training.fitted
        check_model(training.fitted, data)
        measure = _loss(self.loss, data)
        score = _probabilities(measure.id, fitted, data) if measure.needs_score else None
        losses = measure.per_example(data.target, checked_predictions(fitted.predict, data.X, data.n, data), score)
        value = float(np.average(losses, weights=data.weights))
        return ResubEstimate(
            value=value,
            std_error=None,
            interval=None,
            df=None,
            method=self.id,
            target=self.target.at_share(data),
            loss=measure.id,
            n_units=data.n_units,
            n_fits=training.n_fits,
            seconds=training.seconds,
            mc_error=0.0,
            contributions=losses,
        )


def _loss(name: str, data: Data) -> Any:
    """Return the loss of an id, refusing one of another task or of whole sets."""
    if name == "auto":
        name = "zero-one" if data.task == "classification" else "squared"
    measure = find(name, "measures")()
    if measure.task not in (data.task, "any"):
        raise InputError(f"{measure.id} is a loss for {measure.task}, and the task is {data.task}.")
    if measure.kind == "set":
        raise NotApplicable(
            f"resub is a mean over the training points, and {measure.id} exists for whole sets only; use a loss of single points."
        )
    return measure


def _probabilities(loss: str, fitted: Fitted, data: Data) -> Floats:
    """Return a column of probabilities for each class of the data."""
    scores = fitted.scores(data.X)
    assert data.classes is not None
    if scores is None or scores[1] != "probability":
        raise InputError(f"{loss} needs class probabilities, and {type(fitted.native).__name__} has no predict_proba.")
    if scores[0].shape != (data.n, len(data.classes)):
        raise InputError(
            f"the model gives probabilities of shape {scores[0].shape}; {data.n} points and {len(data.classes)} classes need one each."
        )
    return scores[0]
