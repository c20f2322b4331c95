"""The error of a regression in units that people think in: RMSE, MAE and R2 from one table, nothing fitted again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, Interval
from unseen.core.losses import PredictionTable
from unseen.core.registry import build

__all__ = ["RegressionErrors", "regression_errors", "root_of"]

WORDS = {"rms": "RMSE", "absolute": "MAE", "r2": "R2"}


@dataclass(frozen=True)
class RegressionErrors:
    """RMSE, MAE and R2 of one model on the same test predictions.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        By the ids "rms", "absolute" and "r2", each on its own scale, with the interval it has. R2 is left out if the method
        works with losses of single cases only, or if no test part has two different targets.
    """

    estimates: Mapping[str, Estimate]

    def sentence(self) -> str:
        """Return all of them in words.

        Examples
        --------
        >>> import unseen
        >>> t = unseen.run("ols", unseen.datasets.load("diabetes"), design="repeated-kfold", random_state=0)
        >>> regression_errors(t).sentence()
        'RMSE 54.9 (95% interval 51.6 to 58.4), MAE 44.4 (41.5 to 47.5), R2 0.49 (0.42 to 0.55)'
        """
        parts: list[str] = []
        for name, e in self.estimates.items():
            text = f"{WORDS[name]} {_number(e.value, name)}"
            if e.interval is not None:
                level = "" if parts else f"{100 * e.interval.level:g}% interval "
                text += f" ({level}{_number(e.interval.low, name)} to {_number(e.interval.high, name)})"
            parts.append(text)
        return ", ".join(parts)


def _number(value: float, name: str) -> str:
    """Return a number with three digits, large ones written out, R2 with two decimals."""
    if name == "r2":
        return f"{value:.2f}"
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:#.3g}".removesuffix(".")


def root_of(squared: Estimate) -> Estimate:
    """Return the root mean squared error from an estimate of the mean squared error: square roots of value and ends.

    Examples
    --------
    >>> from unseen.core.estimate import Target
    >>> e = Estimate(
    ...     value=4.0, std_error=0.4, interval=Interval(2.25, 6.25, 0.95), df=49, method="range-t",
    ...     target=Target.MODEL.at(100), loss="squared", n_units=100, n_fits=50,
    ... )
    >>> print(root_of(e))
    range-t: rms 2, 95% interval [1.5, 2.5], std error 0.1 (this model trained on 100 units; 100 units, 50 fits)
    """
    if squared.loss != "squared":
        raise InputError(f"the root is taken of a squared loss; given: {squared.loss}.")
    value = float(np.sqrt(squared.value))
    se = squared.std_error
    if se is not None:
        se = se / (2 * value) if value > 0 else 0.0  # the delta method
    interval = squared.interval
    if interval is not None:
        interval = Interval(float(np.sqrt(interval.low)), float(np.sqrt(interval.high)), interval.level)
    return replace(squared, loss="rms", value=value, std_error=se, interval=interval)


def regression_errors(
    table: PredictionTable, *, method: str | Any = "range-t", level: float = 0.95
) -> RegressionErrors:
    """Return RMSE, MAE and R2 of a regression with intervals, from the predictions of one run.

    Parameters
    ----------
    table : PredictionTable
        Predictions of a run; they are used as they are.
    method : str or method
        Method for tables whose design it accepts.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    RegressionErrors
        The interval of the RMSE has the square roots of the ends for the squared error; those of MAE and R2 are their own.

    Examples
    --------
    >>> import unseen
    >>> t = unseen.run("ols", unseen.datasets.load("diabetes"), design="repeated-kfold", random_state=0)
    >>> found = regression_errors(t).estimates
    >>> squared = unseen.estimate(t, method="range-t").value
    >>> bool(np.isclose(found["rms"].value ** 2, squared)), list(found)
    (True, ['rms', 'absolute', 'r2'])
    """
    if table.data.task != "regression":
        raise InputError(f"RMSE, MAE and R2 are errors of a regression, and this is a {table.data.task} table.")
    chosen = build(method, "estimators") if isinstance(method, str) else method
    estimates = {
        "rms": root_of(chosen(table.losses("squared"), level=level)),
        "absolute": chosen(table.losses("absolute"), level=level),
    }
    with suppress(InputError):  # the method needs the loss of each unit, or no test part has an R2
        estimates["r2"] = chosen(table.losses("r2"), level=level).on_scale()
    return RegressionErrors(estimates)
