"""Synthetic tracer studies with known rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen.core.arrays import Array
from unseen.core.errors import InputError, UnknownName
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed, stream
from unseen.kinetics.joint import DOSED, FORMED, PRECURSOR, JointModel
from unseen.kinetics.locations import LOCATIONS
from unseen.kinetics.scheme import PHE_TYR, Scheme, scheme_of

__all__ = ["TABLE_4_1", "TIMES", "SimulatedStudy", "rates_to_curve", "simulate"]

TABLE_4_1 = {"k21": 0.131, "k12": 0.027, "k02": 0.026, "k43": 0.127, "k34": 0.023, "k04": 0.020, "kappa": 0.033}
# minutes; dense while the curves bend
TIMES = (5.0, 10, 15, 20, 25, 30, 40, 50, 60, 75, 90, 120)
MOST_SUBJECTS = 100_000  # tables of 3.6 million samples
LARGEST_SD = 10.0  # on the scale of logarithms and of shares; beyond it nothing of the curve is left
# typical pools and doses, in one unit of amount
_SIZES = {"Q1": 12.0, "Q3": 19.0}
_DOSES = (3.6, 2.85)


@dataclass(frozen=True, kw_only=True)
class SimulatedStudy(Result):
    """Tables of a made-up study and the truth behind them.

    Attributes
    ----------
    ttr, doses : dict
        Columns, ready for :func:`unseen.kinetics.fit`; ``frame()`` gives the first as a data frame.
    truth : tuple of dict
        True rates and pools of each subject.
    location : str
    noise, floor : float
    planted : tuple
        Subject, analyte and minute of every gross error.

    Examples
    --------
    >>> made = simulate(subjects=1, gross_errors=1, random_state=0)
    >>> len(made.planted), sorted(made.frame().columns)
    (1, ['analyte', 'subject', 'time', 'ttr'])
    """

    ttr: Mapping[str, list[Any]]
    doses: Mapping[str, list[Any]]
    truth: tuple[Mapping[str, Any], ...]
    location: str
    noise: float
    floor: float
    planted: tuple[tuple[str, str, float], ...] = field(default=())

    def rows(self) -> list[dict[str, Any]]:
        """The samples, one row each."""
        return [dict(zip(self.ttr, values)) for values in zip(*self.ttr.values())]

    def __str__(self) -> str:
        count = len(self.truth)
        return (
            f"{count} simulated subject{'s' if count != 1 else ''}, {len(self.ttr['ttr'])} samples, conversion {self.location}, "
            f"noise {100 * self.noise:g}% and floor {self.floor:g}"
        )


def rates_to_curve(k_out: float, k_back: float, k_loss: float, start: float) -> tuple[Array, Array]:
    """Amplitudes and rates of the sampled pool with loss from the unsampled one.

    Parameters
    ----------
    k_out, k_back, k_loss : float
        Rates to, from and out of the unsampled pool.
    start : float
        Value at time zero, dose over pool.

    Returns
    -------
    amplitudes, rates : ndarray
        Fast term first.

    Examples
    --------
    >>> a, l = rates_to_curve(0.131, 0.027, 0.026, 0.3)
    >>> l.round(4).tolist()
    [0.1631, 0.0209]
    """
    total, product = k_out + k_back + k_loss, k_out * k_loss
    root = np.sqrt(total**2 - 4 * product)
    l = np.array([(total + root) / 2, 2 * product / (total + root)])
    a1 = start * (k_out - l[1]) / (l[0] - l[1])
    return np.array([a1, start - a1]), l


def simulate(
    subjects: int = 12,
    *,
    noise: float = 0.03,
    floor: float = 2e-4,
    location: str = "EC-EC",
    between: float = 0.3,
    times: ArrayLike = TIMES,
    rates: Mapping[str, float] | None = None,
    early_mixing: Mapping[float, float] | None = None,
    gross_errors: int = 0,
    groups: Mapping[str, Mapping[str, float]] | None = None,
    scheme: Scheme | str = PHE_TYR,
    random_state: RandomState = None,
) -> SimulatedStudy:
    """Make a pulse study of two substrates with known rates, pools and conversion.

    Parameters
    ----------
    subjects : int
        Number of subjects, named s1, s2, ...
    noise, floor : float
        Relative and constant part of the standard deviation of a sample.
    location : str
        Where conversion takes place.
    between : float
        Standard deviation of the logarithm of every rate and pool between subjects.
    times : array_like
        Sampling times in minutes.
    rates : mapping, optional
        Typical rates and pools (k21, k12, k02, k43, k34, k04, kappa, Q1, Q3); table 4.1 with Q1 = 12 and Q3 = 19 by
        default.
    early_mixing : mapping, optional
        ``{minute: factor}`` on the dosed product's early samples, for tracer that is not yet mixed.
    gross_errors : int
        Errors of six standard deviations planted in inner samples of each subject.
    groups : mapping, optional
        ``{group: {rate: factor}}``: subjects are dealt to the groups in turn, with their typical rates multiplied.
    scheme : Scheme or str
    random_state : int or Generator, optional

    Returns
    -------
    SimulatedStudy

    Examples
    --------
    >>> study = simulate(subjects=3, random_state=0)
    >>> len(study.ttr["ttr"]), study.doses["subject"]
    (108, ['s1', 's2', 's3'])
    """
    if not 1 <= subjects <= MOST_SUBJECTS:
        raise InputError(f"subjects is {subjects}; give 1 to {MOST_SUBJECTS:,}.")
    for name, sd in (("noise", noise), ("floor", floor), ("between", between)):
        if not 0 <= sd <= LARGEST_SD:
            raise InputError(f"{name} is {sd}; it is a standard deviation, from 0 to {LARGEST_SD:g}.")
    inner = np.size(times) - 4
    if not 0 <= gross_errors <= max(inner, 0):
        raise InputError(f"gross_errors is {gross_errors}; a subject has {max(inner, 0)} inner samples for them.")
    if location not in LOCATIONS:
        raise UnknownName("location", location, LOCATIONS)
    typical = {**TABLE_4_1, **_SIZES, **(rates or {})}
    chosen, seed = scheme_of(scheme), root_seed(random_state)
    t = np.asarray(times, float)
    maker = _Maker(
        scheme=chosen,
        model=JointModel(2, 2, location),
        times=t,
        noise=noise,
        floor=floor,
        early=dict(early_mixing or {}),
        gross=gross_errors,
    )
    names = list(groups) if groups else []
    samples: list[tuple[Any, ...]] = []
    doses: dict[str, list[Any]] = {"subject": [], "dose_precursor": [], "dose_product": []}
    truth, planted = [], []
    for i in range(subjects):
        rng, name = stream(seed, "subject", i), f"s{i + 1}"
        group = names[i % len(names)] if names else None
        factors = groups[group] if groups and group is not None else {}
        own = {k: v * factors.get(k, 1.0) * float(np.exp(between * rng.standard_normal())) for k, v in typical.items()}
        rows, bad = maker.subject(name, own, rng)
        samples += rows
        planted += bad
        for column, value in zip(doses, (name, *_DOSES)):
            doses[column].append(value)
        if group is not None:
            doses.setdefault("group", []).append(group)
        truth.append({"subject": name, **own, **({"group": group} if group else {})})
    columns = dict(zip(("subject", "time", "analyte", "ttr"), map(list, zip(*samples))))
    return SimulatedStudy(
        ttr=columns,
        doses=doses,
        truth=tuple(truth),
        location=location,
        noise=noise,
        floor=floor,
        planted=tuple(planted),
    )


@dataclass(frozen=True, kw_only=True)
class _Maker:
    scheme: Scheme
    model: JointModel
    times: Array
    noise: float
    floor: float
    early: dict[float, float]
    gross: int

    def subject(self, name: str, own: Mapping[str, float], rng: np.random.Generator) -> Any:
        a, l = rates_to_curve(own["k21"], own["k12"], own["k02"], _DOSES[0] / own["Q1"])
        b, g = rates_to_curve(own["k43"], own["k34"], own["k04"], _DOSES[1] / own["Q3"])
        theta = self.model.pack(a, l, b, g, own["kappa"])
        rows, planted = [], []
        for code in (PRECURSOR, DOSED, FORMED):
            f = self.model.predict(theta, self.times, np.full(self.times.size, code))
            sd = np.sqrt((self.noise * f) ** 2 + self.floor**2)
            y = f + sd * rng.standard_normal(f.size)
            if code == DOSED:
                y *= np.array([self.early.get(t, 1.0) for t in self.times])
            analyte = self.scheme.analytes[code]
            for at in rng.choice(np.arange(2, f.size - 2), self.gross if code == PRECURSOR else 0, replace=False):
                y[at] += 6 * sd[at] * rng.choice([-1, 1])
                planted.append((name, analyte, float(self.times[at])))
            rows += [(name, float(t), analyte, float(v)) for t, v in zip(self.times, y)]
        return rows, planted
