"""Several numbers predicted per case: every measure of each output, and the errors over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate
from unseen.core.registry import find, known
from unseen.evaluation.measure_input import Judged, judged
from unseen.evaluation.measure_intervals import Bootstrap
from unseen.evaluation.measure_one import of_set

__all__ = ["has_several_outputs", "measures_of_outputs"]

OVER_ALL = ("rms", "absolute", "squared")


def has_several_outputs(y_true: Any) -> bool:
    """Say whether the truth has a column per output.

    Examples
    --------
    >>> has_several_outputs([[1.0, 2.0], [3.0, 4.0]]), has_several_outputs([1.0, 2.0])
    (True, False)
    """
    shape = np.shape(y_true)
    return len(shape) == 2 and shape[1] > 1


def measures_of_outputs(
    y_true: Any, y_score: Any, measures: Any, groups: Any, weight: Any, n_bootstrap: int, seed: int, level: float
) -> tuple[list[Estimate | None], Judged]:
    """Return the estimates, named "pov[a]" by output, and all outputs as one set whose units are the cases.

    Errors over all outputs are means over cases and outputs (Hutton, 1992, equations for E_rms and E_abs); a measure that
    compares with guessing the mean, such as POV, exists per output only, because outputs have means of their own. A case's
    outputs are resampled together.
    """
    names = _names(y_true)
    truth, said = np.asarray(y_true), np.asarray(y_score)
    if truth.shape != said.shape:
        raise InputError(f"y_true has shape {truth.shape} and y_score {said.shape}; give one prediction per output.")
    columns = [
        judged(truth[:, k], said[:, k], None, None, None, groups, weight, "regression") for k in range(len(names))
    ]
    whole, wanted = _stacked(columns, names), _wanted(measures)
    boot = Bootstrap(judged=whole, n_draws=n_bootstrap, seed=seed, level=level)
    found = [of_set(whole, boot, one) for one in wanted if one.id in OVER_ALL]
    for name, j in zip(names, columns):
        draws = Bootstrap(judged=j, n_draws=n_bootstrap, seed=seed, level=level)
        found += [of_set(j, draws, one, f"{one.id}[{name}]") for one in wanted]
    return found, whole


def _wanted(measures: Any) -> list[Any]:
    if measures is None:
        return [cls() for cls in known("measures").values() if cls.task == "regression"]
    asked = [measures] if isinstance(measures, str) else measures
    made = [find(one, "measures")() if isinstance(one, str) else one for one in asked]
    unfit = [one.id for one in made if one.task != "regression"]
    if unfit:
        raise NotApplicable(f"{', '.join(unfit)}: no measure of numbers, and several outputs are measured as numbers.")
    return made


def _names(y_true: Any) -> list[str]:
    columns = getattr(y_true, "columns", None)
    return [str(c) for c in columns] if columns is not None else [str(k) for k in range(np.shape(y_true)[1])]


def _stacked(columns: list[Judged], names: list[str]) -> Judged:
    def joined(parts: list[Array]) -> Array:
        return np.column_stack(parts).reshape(-1)

    first = columns[0]
    y, value = joined([c.y for c in columns]), joined([c.value for c in columns])
    weight: Floats = np.repeat(first.weight, len(columns))
    units = np.repeat(first.units, len(columns))
    return Judged(
        task="regression",
        y=y,
        value=value,
        score=None,
        probability=False,
        classes=None,
        positive=1,
        units=units,
        weight=weight,
        outputs=tuple(names),
    )
