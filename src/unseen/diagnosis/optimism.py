"""`unseen.optimism_over_sets`: how optimism goes with the training error over data sets of a population (Laur, 2021)."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.core.rng import RandomState, root_seed, stream, task_seed
from unseen.datasets.populations import population as population_of
from unseen.diagnosis.units import OptimismLink
from unseen.request.prepare import model_of

__all__ = ["optimism_over_sets"]


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
        fitted = model_of(model, data).fit(data, task_seed(seed, "fit", k))
        said = fitted.predict(data.X)
        wrong = said != data.y if data.classes is not None else np.square(said - data.y)
        train[k] = float(np.mean(wrong))
        optimism[k] = source.true_error(fitted.predict, stream(seed, "true", k)) - train[k]
    return OptimismLink(train, optimism)
