"""Non-compartmental analysis: rates of appearance and conversion from areas alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unseen.core.arrays import Array
from unseen.core.errors import InputError
from unseen.core.notes import Note, note
from unseen.core.result import Result
from unseen.kinetics.curve import CurveModel, curve_runner
from unseen.kinetics.joint import DOSED, FORMED, PRECURSOR
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.outliers import rough_sigma
from unseen.kinetics.scheme import PHE_TYR, Scheme, scheme_of
from unseen.kinetics.table import Subject, read_study

__all__ = ["Appearance", "Area", "NcaStudy", "nca", "nca_of", "terminal_slope", "trapezoid_area"]

_MUCH = 0.25  # extrapolated share; an area of which more is extrapolated is commonly called unreliable
SHORTEST = 1e-100  # a tail of no length, in whatever unit of time: a slope over it is no number


@dataclass(frozen=True, kw_only=True)
class Area:
    """Area from zero to infinity and how much of it was not observed.

    Attributes
    ----------
    total : float
    observed : float
        Between the first and the last sample.
    back : float
        From zero to the first sample.
    tail : float
        After the last sample: its value divided by the terminal rate.
    terminal_rate : float
    points : int
        Samples on which the terminal rate rests.
    """

    total: float
    observed: float
    back: float
    tail: float
    terminal_rate: float
    points: int

    @property
    def extrapolated(self) -> float:
        """Share of the area that was extrapolated."""
        return (self.back + self.tail) / self.total


def terminal_slope(t: Array, y: Array) -> tuple[float, int]:
    """Terminal rate by log-linear regression on the last points, as many as give the best adjusted R squared.

    Parameters
    ----------
    t, y : ndarray
        Samples after the largest one.

    Returns
    -------
    rate : float
        NaN if the tail does not fall.
    points : int

    Examples
    --------
    >>> t = np.array([10., 20, 30, 40])
    >>> rate, points = terminal_slope(t, np.exp(-0.05 * t))
    >>> round(rate, 6), points
    (0.05, 4)
    """
    keep = y > 0
    t, y = t[keep], np.log(y[keep])
    best = (np.nan, 0)
    if t.size and np.ptp(t) < SHORTEST:
        return best
    best_fit = -np.inf
    for count in range(3, t.size + 1):
        x, z = t[-count:], y[-count:]
        slope, intercept = np.polyfit(x, z, 1)
        total = np.sum((z - z.mean()) ** 2)
        error = np.sum((z - slope * x - intercept) ** 2)
        adjusted = 1 - (error / total if total > 0 else 1.0) * (count - 1) / (count - 2)
        # ties go to the longer tail
        if slope < 0 and adjusted >= best_fit - 1e-4:
            best, best_fit = (float(-slope), count), max(adjusted, best_fit)
    return best


def trapezoid_area(time: ArrayLike, value: ArrayLike, starts_at_zero: bool = False) -> Area:
    """Area by the linear-up log-down trapezoid, extended to time zero and to infinity.

    Parameters
    ----------
    time, value : array_like
        Samples in order of time.
    starts_at_zero : bool
        Whether the curve is zero at time zero (a formed product); otherwise the first two samples are extended
        back log-linearly (a bolus).

    Returns
    -------
    Area

    References
    ----------
    Gabrielsson, J. and Weiner, D. (2012), Methods in Molecular Biology 929, 377-389.

    Examples
    --------
    >>> t = np.array([1., 2, 4, 8])
    >>> round(trapezoid_area(t, np.exp(-0.5 * t)).total, 6)      # exact for one exponential: 1 / 0.5
    2.0
    """
    t, y = np.asarray(time, float), np.asarray(value, float)
    order = np.argsort(t)
    t, y = t[order], y[order]
    if t.size < 3:
        raise InputError(f"{t.size} samples are too few for an area; 3 are needed.")
    observed = _pieces(t, y)
    if starts_at_zero:
        back = float(t[0] * y[0] / 2)
    else:
        first = _intercept(t, y)
        back = _piece(0.0, t[0], first, y[0])
    peak = int(np.argmax(y))
    rate, points = terminal_slope(t[peak:] if starts_at_zero else t, y[peak:] if starts_at_zero else y)
    if not np.isfinite(rate):
        raise InputError("the last three positive samples do not fall, so the area after the last sample is unknown.")
    tail = float(max(y[-1], 0.0) / rate)
    return Area(
        total=observed + back + tail, observed=observed, back=back, tail=tail, terminal_rate=rate, points=points
    )


def _intercept(t: Array, y: Array) -> float:
    """Value at time zero from the first two samples, log-linear if they fall, else the first."""
    if y[0] > y[1] > 0:
        slope = np.log(y[1] / y[0]) / (t[1] - t[0])
        return float(y[0] * np.exp(-slope * t[0]))
    return float(y[0])


def _piece(t0: float, t1: float, y0: float, y1: float) -> float:
    if y0 > y1 > 0:
        return float((y0 - y1) * (t1 - t0) / np.log(y0 / y1))
    return float((y0 + y1) * (t1 - t0) / 2)


def _pieces(t: Array, y: Array) -> float:
    return float(sum(_piece(*pair) for pair in zip(t[:-1], t[1:], y[:-1], y[1:])))


@dataclass(frozen=True, kw_only=True)
class Appearance(Result):
    """Non-compartmental result of one subject; fluxes per hour, areas in minutes.

    Attributes
    ----------
    subject : str
    scheme : Scheme
    areas : dict
        Trapezoid area of each analyte.
    fitted_areas : dict
        Area under the fitted exponentials of the two dosed analytes.
    ra_precursor, ra_product : float
        Dose over trapezoid area.
    conversion : float
        ``ra_product * area_formed / area_precursor``.
    ra_precursor_fitted, ra_product_fitted : float
        The same with fitted areas.
    notes : tuple of Note
    """

    subject: str
    scheme: Scheme
    areas: Mapping[str, Area]
    fitted_areas: Mapping[str, float]
    ra_precursor: float
    ra_product: float
    conversion: float
    ra_precursor_fitted: float
    ra_product_fitted: float
    notes: tuple[Note, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row."""
        first, second = self.scheme.substrates
        shares = {f"extrapolated_{name}": area.extrapolated for name, area in self.areas.items()}
        return [
            {
                "subject": self.subject,
                f"Ra_{first}": self.ra_precursor,
                f"Ra_{second}": self.ra_product,
                "conversion": self.conversion,
                f"Ra_{first}_fitted": self.ra_precursor_fitted,
                f"Ra_{second}_fitted": self.ra_product_fitted,
                **shares,
            }
        ]

    def __str__(self) -> str:
        first, second = self.scheme.substrates
        return (
            f"{self.subject}: Ra_{first} {self.ra_precursor:.4g}, Ra_{second} {self.ra_product:.4g} (lower bounds of appearance), "
            f"conversion {self.conversion:.4g} (EC to EC; other places give more) per hour, non-compartmental"
        )


@dataclass(frozen=True)
class NcaStudy(Result):
    """Non-compartmental results of all subjects, and the reason for each that failed.

    Examples
    --------
    >>> import unseen
    >>> made = unseen.kinetics.simulate(subjects=2, random_state=0)
    >>> study = unseen.kinetics.nca(made.ttr, {k: v[:1] for k, v in made.doses.items()})
    >>> list(study.frame()["subject"]), list(study.failures)
    (['s1', 's2'], ['s2'])
    """

    shown_by: ClassVar[str] = "unseen.kinetics"

    subjects: tuple[Appearance, ...]
    failures: Mapping[str, str]

    title = "Non-compartmental analysis"

    def __getitem__(self, subject: str) -> Appearance:
        for one in self.subjects:
            if one.subject == str(subject):
                return one
        raise InputError(self.failures.get(str(subject), f"there is no subject {subject!r}."))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes of all subjects."""
        failed = tuple(note("K010", f"{k}: {v}") for k, v in self.failures.items())
        return tuple(n for s in self.subjects for n in s.notes) + failed

    def rows(self) -> list[dict[str, Any]]:
        """One row per subject; failures carry their reason."""
        rows = [row | {"failure": None} for s in self.subjects for row in s.rows()]
        return rows + [{"subject": k, "failure": v} for k, v in self.failures.items()]

    @property
    def sentence(self) -> str:
        """Appearance and conversion of one subject, or their ranges over all, in words."""
        failed = f"; {len(self.failures)} failed" if self.failures else ""
        if len(self.subjects) < 2:
            return f"{self.subjects[0]}{failed}" if self.subjects else f"no subject was analysed{failed}"
        first, second = self.subjects[0].scheme.substrates
        of = {
            f"Ra_{first}": [s.ra_precursor for s in self.subjects],
            f"Ra_{second}": [s.ra_product for s in self.subjects],
            "conversion": [s.conversion for s in self.subjects],
        }
        spans = ", ".join(f"{name} {min(v):.4g} to {max(v):.4g}" for name, v in of.items())
        return f"{len(self.subjects)} subjects: {spans} per hour, non-compartmental{failed}"

    def __str__(self) -> str:
        lines = [str(s) for s in self.subjects] + [f"{k}: failed: {v}" for k, v in self.failures.items()]
        return "\n".join(lines)


def nca_of(subject: Subject, scheme: Scheme) -> Appearance:
    """Non-compartmental analysis of one checked subject.

    Parameters
    ----------
    subject : Subject
    scheme : Scheme

    Returns
    -------
    Appearance
    """
    curves = subject.curves
    areas: dict[str, Area] = {}
    for code, analyte in enumerate(scheme.analytes):
        t, y, _ = curves.of(code)
        try:
            areas[analyte] = trapezoid_area(t, y, starts_at_zero=code == FORMED)
        except InputError as error:
            raise InputError(f"subject {subject.name}, {analyte}: {error}") from error
    fitted = {}
    sigma = rough_sigma(curves, ErrorModel("combined"), (2, 2))
    for code in (PRECURSOR, DOSED):
        rows = np.flatnonzero(curves.which == code)
        model = CurveModel(2)
        a, l = model.unpack(curve_runner(model, curves.take(rows))(sigma[rows], None).theta)
        fitted[scheme.analytes[code]] = float(np.sum(a / l))
    pre, pro, formed = (areas[a].total for a in scheme.analytes)
    dose_pre, dose_pro = subject.doses
    ra_product = 60 * dose_pro / pro
    far = [f"{n} {100 * a.extrapolated:.0f}%" for n, a in areas.items() if a.extrapolated > _MUCH]
    notes = (note("U022", f"subject {subject.name}: extrapolated part of the area: {', '.join(far)}"),) if far else ()
    return Appearance(
        subject=subject.name,
        scheme=scheme,
        areas=areas,
        fitted_areas=fitted,
        ra_precursor=60 * dose_pre / pre,
        ra_product=ra_product,
        conversion=ra_product * formed / pre,
        ra_precursor_fitted=60 * dose_pre / fitted[scheme.precursor],
        ra_product_fitted=60 * dose_pro / fitted[scheme.product],
        notes=notes,
    )


def nca(
    ttr: Any,
    doses: Any,
    *,
    scheme: Scheme | str = PHE_TYR,
    unit: str = "fraction",
    time_unit: str = "min",
    drop_early: Mapping[str, float] | None = None,
) -> NcaStudy:
    """Non-compartmental rates of appearance and conversion of every subject.

    Parameters
    ----------
    ttr, doses : table
        As in :func:`unseen.kinetics.fit`.
    scheme : Scheme or str
    unit : {"fraction", "percent"}
    time_unit : {"min", "h"}
    drop_early : mapping, optional
        ``{analyte: minutes}`` to leave out.

    Returns
    -------
    NcaStudy

    Notes
    -----
    Loss from the unsampled pool is not seen by this analysis: it gives the lower end of the interval of appearance. Conversion is that between the
    sampled pools, no bound of it: trapezoids between the usual 12 samples make it about 5% too large. Elsewhere in the body it would be larger.

    Examples
    --------
    >>> import unseen
    >>> study = unseen.kinetics.simulate(subjects=2, noise=0.0, floor=0.0, between=0.0, random_state=0)
    >>> result = unseen.kinetics.nca(study.ttr, study.doses)
    >>> bool(abs(result["s1"].conversion / 5.64 - 1) < 0.1)
    True
    """
    chosen = scheme_of(scheme)
    subjects, failures = read_study(ttr, doses, chosen, unit=unit, time_unit=time_unit, drop_early=drop_early)
    done = []
    for subject in subjects:
        try:
            done.append(nca_of(subject, chosen))
        except InputError as error:
            failures[subject.name] = str(error)
    if not done:
        raise InputError("no subject could be analysed. " + " ".join(failures.values()))
    return NcaStudy(tuple(done), failures)
