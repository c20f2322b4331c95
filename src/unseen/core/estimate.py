"""Results: an estimate, its interval, and what it is an estimate of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.notes import Note
from unseen.core.result import Result
from unseen.core.scale import as_measure, measure_name

__all__ = [
    "CalibratedEstimate",
    "Estimate",
    "Interval",
    "ResubEstimate",
    "SmoothedEstimate",
    "Target",
    "check_level",
    "count_of",
    "scale_sentence",
]


@dataclass(frozen=True)
class Target:
    """What a number is the error of: one fitted model, or an algorithm at a training size.

    Examples
    --------
    >>> str(Target.ALGORITHM.at(72))
    'the algorithm trained on 72 units'
    >>> str(Target.ALGORITHM.at(45, unit="patient", rows=219.6))
    'the algorithm trained on 45 patients (220 rows)'
    >>> Target.ALGORITHM.at(72).kind == Target.ALGORITHM.kind
    True
    """

    kind: str
    n_train: float | None = None
    # words for the training size, which two equal targets may say in two ways
    unit: str = field(default="unit", compare=False)
    rows: float | None = field(default=None, compare=False)

    MODEL: ClassVar[Target]
    ALGORITHM: ClassVar[Target]

    def at(self, n_train: float, *, unit: str = "unit", rows: float | None = None) -> Target:
        """Return the same kind of target at a training size: so many units, and rows in them if a unit may hold several."""
        return replace(self, n_train=float(n_train), unit=unit, rows=rows)

    def at_share(self, data: Data, n_train: float | None = None) -> Target:
        """Return the same kind of target at so many units of the data, by default all, in the words of these data."""
        size = data.n_units if n_train is None else n_train
        rows = size * data.n / data.n_units if data.grouped else None
        return self.at(size, unit=data.unit, rows=rows)

    def like(self, other: Target, n_train: float) -> Target:
        """Return the same kind of target at a training size, in the words of another target.

        Examples
        --------
        >>> str(Target.MODEL.like(Target.ALGORITHM.at(45, unit="patient", rows=220), 50))
        'this model trained on 50 patients (244 rows)'
        """
        rows = None if other.rows is None or not other.n_train else other.rows * n_train / other.n_train
        return self.at(n_train, unit=other.unit, rows=rows)

    def to_dict(self) -> dict[str, Any]:
        """Return kind and training size; if a unit may hold several rows, also what a unit is and the number of rows."""
        words = {} if self.rows is None else {"unit": self.unit, "rows": round(self.rows)}
        return {"kind": self.kind, "n_train": self.n_train, **words}

    def __str__(self) -> str:
        words = {"model": "this model", "algorithm": "the algorithm"}[self.kind]
        if self.n_train is None:
            return words
        return f"{words} trained on {self.size}"

    @property
    def size(self) -> str:
        """The training size in words; empty if it is not known."""
        if self.n_train is None:
            return ""
        text = count_of(self.n_train, self.unit)
        return text if self.rows is None else f"{text} ({count_of(self.rows, 'row')})"


def count_of(number: float, word: str) -> str:
    """Return a whole number with its word, in the plural unless it is one.

    Examples
    --------
    >>> count_of(1058.4, "row"), count_of(1, "group")
    ('1058 rows', '1 group')
    """
    whole = f"{number:.0f}"
    return f"{whole} {word}" if whole == "1" or word.endswith("s") else f"{whole} {word}s"


Target.MODEL = Target("model")
Target.ALGORITHM = Target("algorithm")


@dataclass(frozen=True, init=False, eq=False)
class Interval(tuple[float, float]):
    """A confidence interval: a tuple of its two ends that also has `low`, `high` and `level`; `in` asks whether a value lies inside.

    Examples
    --------
    >>> interval = Interval(0.1, 0.3, 0.95)
    >>> low, high = interval
    >>> interval[0], interval.high, interval.level, len(interval)
    (0.1, 0.3, 0.95, 2)
    >>> 0.2 in interval, round(high - low, 2), interval == (0.1, 0.3)
    (True, 0.2, True)
    """

    low: float
    high: float
    level: float

    def __new__(cls, low: float, high: float, level: float) -> Self:
        """Make the tuple; its ends are also attributes."""
        made = super().__new__(cls, (low, high))
        for name, value in (("low", low), ("high", high), ("level", level)):
            object.__setattr__(made, name, value)
        return made

    def __getnewargs__(self) -> tuple[float, float, float]:
        """Return what a copy is made from."""
        return self.low, self.high, self.level

    def __eq__(self, other: object) -> bool:
        """Say whether the ends are the same, and the level too if the other is an interval."""
        return (
            tuple(self) == other if not isinstance(other, Interval) else self.__getnewargs__() == other.__getnewargs__()
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __contains__(self, value: object) -> bool:
        return bool(self.low <= value <= self.high)  # type: ignore[operator]

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.high - self.low

    def clip(self, low: float, high: float) -> Interval:
        """Return the part inside [low, high]."""
        return Interval(float(np.clip(self.low, low, high)), float(np.clip(self.high, low, high)), self.level)

    def __str__(self) -> str:
        return f"[{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True, kw_only=True)
class Estimate(Result):
    """One number with its uncertainty and its origin.

    Parameters
    ----------
    value : float
        The estimate.
    std_error : float or None
        Sampling standard error; None if none is known.
    interval : Interval or None
        Confidence interval; None if no valid one exists.
    df : float or None
        Degrees of freedom of the reference distribution.
    method : str
        Id of the method.
    target : Target
        What it is the error of.
    loss : str
        Id of the loss or measure.
    n_units, n_fits : int
        Independent units used, and models fitted.
    seconds : float
        Time of the fits; never compared.
    notes : tuple of Note
        Statistical weaknesses.
    expected_rms : float or None
        Root mean squared deviation from the true error that the method had on a typical data set of those like this one (the
        median); not a standard error of this estimate. None if it was not measured, or not with these options.
    worst_rms : float or None
        The same on the data set where the method did worst.
    situation : str
        The models and data that figure was measured on, in words.
    command : str
        Call that made it, if it is known.

    Examples
    --------
    >>> e = Estimate(
    ...     value=0.2, std_error=0.05, interval=Interval(0.1, 0.3, 0.95), df=24, method="corrected-t",
    ...     target=Target.ALGORITHM.at(90), loss="zero-one", n_units=100, n_fits=25,
    ... )
    >>> print(e)
    corrected-t: zero-one 0.2, 95% interval [0.1, 0.3], std error 0.05 (the algorithm trained on 90 units; 100 units, 25 fits)
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    value: float
    std_error: float | None
    interval: Interval | None
    df: float | None
    method: str
    target: Target
    loss: str
    n_units: int
    n_fits: int
    seconds: float = field(default=0.0, compare=False)
    notes: tuple[Note, ...] = ()
    expected_rms: float | None = field(default=None, metadata={"shown": False})
    worst_rms: float | None = field(default=None, metadata={"shown": False})
    situation: str = field(default="", metadata={"shown": False})
    command: str = field(default="", compare=False, metadata={"shown": False})

    @property
    def level(self) -> float | None:
        """Confidence level of the interval."""
        return None if self.interval is None else self.interval.level

    def __str__(self) -> str:
        text = f"{self.method}: {self.loss} {self.value:.4g}"
        if self.interval is not None:
            text += f", {100 * self.interval.level:g}% interval {self.interval}"
        if self.std_error is not None:
            text += f", std error {self.std_error:.3g}"
        return f"{text} ({self.target}; {count_of(self.n_units, self.target.unit)}, {self.n_fits} fit{'s' * (self.n_fits != 1)})"

    def on_scale(self) -> Self:
        """Return the estimate on the scale that was asked for: one computed as 1 - auc is shown as auc, its interval turned.

        Examples
        --------
        >>> e = Estimate(
        ...     value=0.25, std_error=None, interval=Interval(0.125, 0.5, 0.95), df=None, method="kfold",
        ...     target=Target.ALGORITHM.at(90), loss="1 - auc", n_units=100, n_fits=10,
        ... )
        >>> e.on_scale().loss, e.on_scale().value, str(e.on_scale().interval)
        ('auc', 0.75, '[0.5, 0.875]')
        """
        name, value = as_measure(self.loss, self.value)
        if name == self.loss:
            return self
        interval = self.interval
        if interval is not None:
            low, high = (as_measure(self.loss, end)[1] for end in (interval.high, interval.low))
            interval = Interval(low, high, interval.level)
        return replace(self, loss=name, value=value, interval=interval)

    def row(self) -> dict[str, Any]:
        """Return the columns every interval function of this package shares."""
        low, high = (None, None) if self.interval is None else self.interval
        return {
            "term": self.loss,
            "estimate": self.value,
            "std_error": self.std_error,
            "lower": low,
            "upper": high,
            "level": self.level,
            "method": self.method,
            "target": str(self.target),
            "n": self.n_units,
            "fits": self.n_fits,
            "seconds": self.seconds,
            "note": " ".join(n.code for n in self.notes),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of `frame()`."""
        return [self.row()]


@dataclass(frozen=True, kw_only=True)
class ResubEstimate(Estimate):
    """An estimate made without retraining, with each unit's share in it.

    Parameters
    ----------
    mc_error : float or None
        Error of the computation alone: of integrals by Monte Carlo, and of stand-ins that a note names; never a sampling error.
    contributions : ndarray or None
        Error attributed to each training point; their weighted mean is the value.
    balanced : float or None
        The same with every class counting alike, whatever the method's own average; None if a method does not give it.
    """

    mc_error: float | None = None
    contributions: Floats | None = None
    expected_rms: float | None = None
    worst_rms: float | None = None
    situation: str = ""
    balanced: float | None = None

    def row(self) -> dict[str, Any]:
        """Return the shared columns, `mc_error` and, if they are known, `expected_rms` and `worst_rms`."""
        known = {"expected_rms": self.expected_rms, "worst_rms": self.worst_rms}
        rms = {} if self.expected_rms is None else known
        return {**super().row(), "mc_error": self.mc_error, **rms}


def check_level(level: float) -> float:
    """Return `level`, or refuse one outside (0, 1)."""
    if not isinstance(level, (int, float, np.floating)) or not 0 < level < 1:
        raise InputError(f"level is {level!r}; a confidence level lies strictly between 0 and 1, such as 0.95.")
    return float(level)


@dataclass(frozen=True, kw_only=True)
class SmoothedEstimate(ResubEstimate):
    """An error integrated under a smoothed empirical measure.

    Parameters
    ----------
    space : str
        Where distances and kernels live: "input", or "after" the transformers of a pipeline.
    measure : str
        The measure, in words.
    integration : str
        "exact", or how points were drawn.
    bandwidth : ndarray or None
        Size of the kernels of each class.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(LogisticRegression(max_iter=5000), X, y, method="bolster", random_state=0)
    >>> e.space, e.integration, e.mc_error
    ('input', 'exact', 0.0)
    """

    space: str = "input"
    measure: str = ""
    integration: str = "exact"
    bandwidth: Floats | None = None

    def row(self) -> dict[str, Any]:
        """Return the shared columns, `mc_error`, `space` and `integration`."""
        return {**super().row(), "space": self.space, "integration": self.integration}


@dataclass(frozen=True, kw_only=True)
class CalibratedEstimate(SmoothedEstimate):
    """A bolstered estimate whose kernels were scaled to remove an estimated bias.

    Parameters
    ----------
    kappa : float
        Factor on the kernels' standard deviations that was chosen.
    curve : ndarray of shape (evaluations, 3)
        Each kappa tried, in increasing order, the mean estimated bias, and the standard deviation of single repetitions.
    deviations : ndarray of shape (evaluations, r)
        Estimated minus observed error of each repetition behind the curve.
    uncalibrated : float
        The estimate with kappa = 1.
    calibration_error : float
        Standard error of the estimate over other random splits of the same sample, by the jackknife over the repetitions;
        NaN with one repetition. `mc_error` is that of the integrals, those of the search for kappa among them.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(KNeighborsClassifier(3), X, y, method="calibrated-bolster", random_state=0)
    >>> e.kappa in e.curve[:, 0], e.deviations.shape[1]
    (True, 5)
    """

    kappa: float = 1.0
    curve: Floats | None = None
    deviations: Floats | None = None
    uncalibrated: float = float("nan")
    calibration_error: float = float("nan")

    def row(self) -> dict[str, Any]:
        """Return the columns of a smoothed estimate, `kappa` and `calibration_error`."""
        return {**super().row(), "kappa": self.kappa, "calibration_error": self.calibration_error}


def scale_sentence(estimates: Mapping[str, Estimate]) -> str:
    """Say how the errors relate to the score that was asked for, and give the scores; empty for a plain loss."""
    shown = {name: e.on_scale() for name, e in estimates.items()}
    loss, term = next(iter(estimates.values())).loss, next(iter(shown.values())).loss
    if loss == term:
        return ""
    each, called = ", ".join(f"{name} {e.value:.4g}" for name, e in shown.items()), measure_name(term)
    return f"Errors are {loss}: a difference below zero means that a has the larger {called}. The {called} of each: {each}."
