"""Optimism (test minus training error) and the training error: over splits, and over data sets of a population (Laur, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.losses import LossTable
from unseen.core.rng import RandomState, root_seed, stream, task_seed
from unseen.core.training import fit_rows
from unseen.datasets.populations import population as population_of
from unseen.request.prepare import model_of

__all__ = ["OptimismLink", "optimism_link", "optimism_over_sets"]


@dataclass(frozen=True)
class OptimismLink:
    """How optimism (test minus training error) goes with the training error over splits.

    A negative correlation means that a constant shift does not cure the bias of the training error (Laur, 2021).
    """

    train: Floats
    optimism: Floats

    @property
    def correlation(self) -> float:
        """Correlation over splits; NaN if either does not vary."""
        if np.ptp(self.train) == 0 or np.ptp(self.optimism) == 0:
            return float("nan")
        return float(np.corrcoef(self.train, self.optimism)[0, 1])

    @property
    def mean(self) -> float:
        """Mean optimism."""
        return float(self.optimism.mean())


def optimism_link(losses: LossTable) -> OptimismLink:
    """Return training errors and optimisms of the splits."""
    return OptimismLink(losses.train_errors(), losses.optimism())


def optimism_over_sets(
    model: Any, population: Any, n: int, *, sets: int = 200, random_state: RandomState = 0
) -> OptimismLink:
    """Train on many data sets and set true error minus training error beside the training error.

    Parameters
    ----------
    model : object with fit and predict, or name of a model
        What is trained.
    population : str or object with draw(n, rng) and true_error(predict, rng)
        Where data sets come from, and what knows the true error.
    n, sets : int
        Rows of a data set, and data sets.
    random_state : int, Generator or None
        Same seed, same numbers.

    Returns
    -------
    OptimismLink
        Training errors and optimisms; a negative correlation means that a constant shift does not cure the bias.

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu.

    Examples
    --------
    >>> import unseen
    >>> link = unseen.optimism_over_sets("lda", "gaussian-blocks", 40, sets=40)
    >>> link.mean > 0, link.correlation < 0
    (True, True)
    """
    source = population_of(population) if isinstance(population, str) else population
    if sets < 3:
        raise InputError(f"sets is {sets}; a correlation needs at least 3 data sets.")
    seed = root_seed(random_state)
    train, optimism = np.empty(sets), np.empty(sets)
    for k in range(sets):
        data = source.draw(n, stream(seed, "set", k))
        fitted = fit_rows(model_of(model, data), data, task_seed(seed, "fit", k))
        predicted = fitted.predict(data.X)
        wrong = predicted != data.y if data.classes is not None else np.square(predicted - data.y)
        train[k] = float(np.mean(wrong))
        optimism[k] = source.true_error(fitted.predict, stream(seed, "true", k)) - train[k]
    return OptimismLink(train, optimism)
