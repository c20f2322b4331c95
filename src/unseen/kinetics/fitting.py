"""Fits every subject of a tracer study: outliers, order, locations, and coded notes on each fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypedDict

import numpy as np

from unseen.core.errors import InputError, UnknownName
from unseen.core.notes import Note, note
from unseen.engine.events import reporter_for
from unseen.engine.threads import worker_count
from unseen.kinetics.balance import ALTERNATIVES
from unseen.kinetics.identifiability import identifiability
from unseen.kinetics.joint import SampledCurves
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.kinetics.kinetic_study import KineticStudy
from unseen.kinetics.location_fit import LocationFit, fit_location, fit_locations, location_class
from unseen.kinetics.locations import LOCATIONS, locations_for
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.noncompartmental import nca_of
from unseen.kinetics.outliers import RULES, rough_sigma, screen
from unseen.kinetics.quantities import CONVENTIONS
from unseen.kinetics.scheme import PHE_TYR, Scheme, scheme_of
from unseen.kinetics.table import Removal, Subject, read_study

__all__ = ["FitKeywords", "FitOptions", "fit", "fit_subject"]

MOST_TERMS = 3  # exponentials per substrate; more cannot be determined from the usual 12 samples
LARGEST_LOG_ERROR = 0.5  # of a parameter's logarithm; above it the parameter is within two standard errors of zero
ALIKE = 2.0  # AICc difference below which two models fit alike (Burnham and Anderson)
MUCH_WORSE = 10.0  # AICc difference above which a model has essentially no support (Burnham and Anderson)
POOR_FIT = 0.01  # p-value of a misfit that is worth a note: by chance in one subject of a hundred


class FitKeywords(TypedDict, total=False):
    """The keywords of :func:`fit`, for functions that pass them on."""

    scheme: Scheme | str
    unit: str
    time_unit: str
    error: str
    cv: float | None
    floor: float | None
    order: tuple[int, int] | str
    location: str | None
    locations: Sequence[str] | None
    convention: str
    outliers: str | None
    drop_early: Mapping[str, float] | None
    n_jobs: int | None
    progress: Any


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Checked options of a fit, the same for every subject; see :func:`fit`."""

    scheme: Scheme
    error: ErrorModel
    order: tuple[int, int] | str
    locations: tuple[str, ...]
    convention: str
    outliers: str | None


def fit(
    ttr: Any,
    doses: Any,
    *,
    scheme: Scheme | str = PHE_TYR,
    unit: str = "fraction",
    time_unit: str = "min",
    error: str = "combined",
    cv: float | None = None,
    floor: float | None = None,
    order: tuple[int, int] | str = (2, 2),
    location: str | None = None,
    locations: Sequence[str] | None = None,
    convention: str = "mass_balance",
    outliers: str | None = "deleted",
    drop_early: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> KineticStudy:
    """Fit the hybrid compartmental model to every subject of a study, at every location of the conversion.

    Parameters
    ----------
    ttr : path, data frame or mapping
        Columns subject, time, analyte, ttr, and optionally sd and exclude.
    doses : path, data frame or mapping
        Columns subject, dose_precursor, dose_product, in the unit wanted for pools; further columns are covariates.
    scheme : Scheme or str
        Which analyte is which; ``PHE_TYR`` by default.
    unit : {"fraction", "percent"}
        Unit of ttr and sd. Ratios above 1 given as fractions are refused, never rescaled silently.
    time_unit : {"min", "h"}
        Unit of time; rates are per minute and fluxes per hour whatever it is.
    error : {"combined", "sd", "proportional", "constant", "dissertation"}
        Error model; ``"combined"`` is cv and floor, estimated unless given, with one further factor per analyte.
    cv, floor : float, optional
        Parts of the combined model if they are known.
    order : tuple of int or "auto"
        Exponentials of the precursor and of the product; ``"auto"`` takes the best AICc of 1 to 3 each.
    location : str, optional
        Location used for rates, pools and fluxes; the best by AICc summed over subjects by default.
    locations : sequence of str, optional
        Locations to fit; all that exist by default.
    convention : {"mass_balance", "printed"}
        Tracee formulas; ``"printed"`` repeats the dissertation's, which count conversion twice.
    outliers : {"deleted", "prediction", "confidence"} or None
        Rule by which samples are removed before the fit.
    drop_early : mapping, optional
        ``{analyte: minutes}``: leave out early samples of an analyte whose tracer may not be mixed yet.
    n_jobs : int, optional
        Processes to fit subjects with.
    progress : bool, optional
        Progress bar on stderr; by default if that is a terminal.

    Returns
    -------
    KineticStudy
        One :class:`KineticFit` per subject, the failures, and group means.

    References
    ----------
    Ghane, P. (2022), Generalized Resubstitution for Classification Error Estimation, dissertation, Texas A&M University,
    chapter 4 (hybrid compartmental models).

    Examples
    --------
    >>> import unseen
    >>> study = unseen.kinetics.simulate(subjects=1, noise=0.02, between=0.0, random_state=1)
    >>> one = unseen.kinetics.fit(study.ttr, study.doses)["s1"]
    >>> one.location, bool(abs(one.rates["k02"] / 0.026 - 1) < 0.15)
    ('EC-EC', True)
    """
    chosen, model = scheme_of(scheme), ErrorModel(error, cv, floor)
    _check_choices(location, locations, convention, outliers, order)
    subjects, failures = read_study(
        ttr, doses, chosen, unit=unit, time_unit=time_unit, drop_early=drop_early, need_sd=error == "sd"
    )
    options = FitOptions(
        scheme=chosen,
        error=model,
        order=order,
        locations=tuple(locations or LOCATIONS),
        convention=convention,
        outliers=outliers,
    )
    fits: list[KineticFit] = []
    for subject, outcome in zip(subjects, _fit_subjects(subjects, options, n_jobs, progress)):
        if isinstance(outcome, str):
            failures[subject.name] = outcome
        else:
            fits.append(outcome)
    if not fits:
        raise InputError("no subject could be fitted. " + " ".join(failures.values()))
    # the printed formulas exist for three alternatives, all of the EC-EC curve
    common = location or ("EC-EC" if convention == "printed" else _common_location(fits))
    return KineticStudy(tuple(use_location(f, common) for f in fits), failures, common, chosen)


def _check_choices(
    location: str | None, locations: Sequence[str] | None, convention: str, outliers: str | None, order: Any
) -> None:
    for name in [*(locations or ()), *([location] if location else [])]:
        if name not in LOCATIONS:
            raise UnknownName("location", name, LOCATIONS)
    if location and locations and location not in locations:
        raise InputError(f"location is {location!r}, which is not among the locations to fit: {', '.join(locations)}.")
    if convention not in CONVENTIONS:
        raise UnknownName("convention", convention, CONVENTIONS)
    if convention == "printed" and location is not None and location not in ALTERNATIVES:
        raise UnknownName("location in the printed convention", location, ALTERNATIVES)
    if outliers is not None and outliers not in RULES:
        raise UnknownName("outlier rule", outliers, RULES, "Give None to keep every sample.")
    if order == "auto":
        return
    good = (
        isinstance(order, (tuple, list))
        and len(order) == 2
        and all(isinstance(k, int) and 1 <= k <= MOST_TERMS for k in order)
    )
    if not good:
        raise InputError(f"order is {order!r}; give two whole numbers from 1 to {MOST_TERMS}, or 'auto'.")
    if convention == "printed" and tuple(order) != (2, 2):
        raise InputError("convention='printed' is defined for order=(2, 2) only.")


def _fit_subjects(
    subjects: list[Subject], options: FitOptions, n_jobs: int | None, progress: Any
) -> list[KineticFit | str]:
    """Fit the subjects one after the other or in processes; the order, and every number, is the same."""
    reporter = reporter_for(progress)
    reporter.expect(len(subjects), "kinetics")
    done: list[KineticFit | str] = []
    try:
        for outcome in _outcomes(subjects, options, n_jobs):
            done.append(outcome)
            reporter.advance(1)
    finally:
        reporter.close()
    return done


def _outcomes(subjects: list[Subject], options: FitOptions, n_jobs: int | None) -> Iterable[KineticFit | str]:
    if n_jobs in (None, 1) or len(subjects) < 2:
        return (_outcome(s, options) for s in subjects)
    from joblib import Parallel, delayed

    result: Iterable[KineticFit | str] = Parallel(n_jobs=worker_count(n_jobs), return_as="generator")(
        delayed(_outcome)(s, options) for s in subjects
    )
    return result


def _outcome(subject: Subject, options: FitOptions) -> KineticFit | str:
    """Return the fit of a subject, or the reason why there is none."""
    try:
        return fit_subject(subject, options)
    except (InputError, np.linalg.LinAlgError, ValueError) as error:
        return str(error) if str(error).startswith("subject") else f"subject {subject.name}: {error}"


def fit_subject(subject: Subject, options: FitOptions) -> KineticFit:
    """Fit one checked subject.

    Parameters
    ----------
    subject : Subject
    options : FitOptions

    Returns
    -------
    KineticFit
    """
    scheme, error, order, convention = options.scheme, options.error, options.order, options.convention
    fixed = (2, 2) if order == "auto" else (int(order[0]), int(order[1]))
    curves, removed = subject.curves, list(subject.removed)
    if options.outliers is not None:
        found = screen(curves, error, options.outliers, fixed)
        for o in found:
            analyte = scheme.analytes[int(curves.which[o.index])]
            time, value = float(curves.time[o.index]), float(curves.value[o.index])
            removed.append(
                Removal(
                    analyte=analyte,
                    time=time,
                    ttr=value,
                    reason=f"outlier ({options.outliers})",
                    row=int(subject.rows[o.index]),
                    statistic=o.statistic,
                    limit=o.limit,
                )
            )
        curves = curves.take(np.setdiff1d(np.arange(curves.value.size), [o.index for o in found]))
    if order == "auto":
        fixed = _best_order(curves, error)
    _check_size(subject.name, curves, fixed, scheme)
    places = tuple(p for p in options.locations if p in locations_for(*fixed))
    if convention == "printed" and "EC-EC" not in places:
        places = ("EC-EC", *places)
    if not places:
        raise InputError(f"subject {subject.name}: none of {', '.join(options.locations)} exists for order {fixed}.")
    alternatives = fit_locations(curves, error, places, fixed, rough_sigma(curves, error, fixed))
    best = min(alternatives, key=lambda a: a.aicc)
    try:
        areas = nca_of(replace(subject, curves=curves), scheme)
    except InputError:
        areas = None
    notes = (*subject.notes, *_fit_notes(subject, removed, alternatives, best, error, curves, convention))
    return KineticFit(
        subject=subject.name,
        scheme=scheme,
        doses=subject.doses,
        curves=curves,
        removed=tuple(removed),
        error=error,
        alternatives=alternatives,
        location=best.location,
        convention=convention,
        nca=areas,
        covariates=subject.covariates,
        notes=notes,
    )


def _check_size(name: str, curves: SampledCurves, order: tuple[int, int], scheme: Scheme) -> None:
    for code in (0, 1):
        count, need = int(np.sum(curves.which == code)), 2 * order[code]
        if count < need:
            raise InputError(
                f"subject {name}: {count} samples of {scheme.analytes[code]} for {order[code]} exponentials; {need} are needed."
            )


def _best_order(curves: SampledCurves, error: ErrorModel) -> tuple[int, int]:
    """Orders with the smallest AICc of the joint EC-EC fit, refusing those with a term within two errors of zero."""
    rough = rough_sigma(curves, error, (2, 2))
    base = fit_locations(curves, error, ("EC-EC", "IC-IC"), (2, 2), rough)
    reference = min(base, key=lambda a: a.aicc)
    place, weights = reference.location, reference.weights(curves)
    counts = [int(np.sum(curves.which == code)) for code in (0, 1)]
    found: list[LocationFit] = []
    distinct: list[LocationFit] = []
    for n, m in product(range(1, MOST_TERMS + 1), repeat=2):
        if 2 * n >= counts[0] or 2 * m >= counts[1] or place not in locations_for(n, m):
            continue
        one = fit_location(curves, error, place, (n, m), like=weights)
        found.append(one)
        if (n, m) == (1, 1) or np.sqrt(np.diag(one.covariance))[:-1].max() <= LARGEST_LOG_ERROR:
            distinct.append(one)
    best = min(distinct or found or base, key=lambda a: a.aicc)
    return best.model.n, best.model.m


def _common_location(fits: list[KineticFit]) -> str:
    """Location with the smallest AICc summed over the subjects that have it."""
    shared = [p for p in LOCATIONS if all(any(a.location == p for a in f.alternatives) for f in fits)]
    if not shared:
        return "EC-EC"
    return min(shared, key=lambda p: sum(f.at(p).aicc for f in fits))


def use_location(one: KineticFit, wanted: str) -> KineticFit:
    """Return the fit at the study's location, with notes if that location fits badly or breaks a limit."""
    if all(a.location != wanted for a in one.alternatives):
        wanted = one.location
    best = min(one.alternatives, key=lambda a: a.aicc)
    notes = list(one.notes)
    behind = one.at(wanted).aicc - best.aicc
    if behind > MUCH_WORSE and location_class(wanted) != location_class(best.location):
        text = f"conversion {wanted} fits this subject worse than {best.location} (AICc {behind:.0f} higher)"
        notes.append(note("K005", f"subject {one.subject}: {text}"))
    if one.convention == "mass_balance":
        plausible = next(j for j in one.plausibility() if j.location == wanted)
        notes += [note("K008", f"subject {one.subject}, conversion {wanted}: {v}") for v in plausible.violations]
    return replace(one, location=wanted, notes=tuple(notes))


def _fit_notes(
    subject: Subject,
    removed: Sequence[Removal],
    alternatives: Sequence[LocationFit],
    best: LocationFit,
    error: ErrorModel,
    curves: SampledCurves,
    convention: str,
) -> list[Note]:
    """Notes on one subject's fit that do not depend on the study's location."""
    name = f"subject {subject.name}"
    out = []
    outliers = [r for r in removed if r.reason.startswith("outlier")]
    if outliers:
        text = ", ".join(f"{r.analyte} at {r.time:g} min" for r in outliers)
        out.append(note("K001", f"{name}: {text}"))
    if error.known and best.chi2_p < POOR_FIT:
        text = f"chi2 {best.chi2:.1f} on {best.spare} df at its best location {best.location}"
        out.append(note("K005", f"{name}: {text}"))
    if best.runs_p < POOR_FIT:
        out.append(note("K005", f"{name}: signs of the residuals come in long runs (p = {best.runs_p:.3g})"))
    near = [a.location for a in alternatives if a is not best and a.aicc - best.aicc < ALIKE]
    if near:
        same = all(location_class(p) == location_class(best.location) for p in near)
        alike = f"{', '.join(near)} fits as well as {best.location}"
        what = "the two mixed locations cannot be distinguished" if same else alike
        out.append(note("K006", f"{name}: {what}"))
    out += [note(n.code, f"{name}: {n.text}") for n in identifiability(best, curves).notes]
    if convention == "printed":
        out.append(note("K009", f"{name}: fluxes by the formulas of the dissertation"))
    return out
