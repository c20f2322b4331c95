"""Which location is plausible: physical limits, AICc, and distance from published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.kinetics.intervals import std_errors
from unseen.kinetics.location_fit import LocationFit, akaike_weights, location_class
from unseen.kinetics.mammillary import interval_identifiability
from unseen.kinetics.quantities import Derived
from unseen.kinetics.scheme import Scheme

__all__ = [
    "REFERENCES",
    "Judgement",
    "Reference",
    "hard_violations",
    "location_rows",
    "rank",
    "rank_locations",
    "soft_distance",
]


@dataclass(frozen=True)
class Reference:
    """A published mean and standard error of a flux, per kg fat-free mass and hour."""

    quantity: str
    mean: float
    std_error: float
    source: str


_INFUSION = "cited in Ghane (2022), section 4.4.3"
REFERENCES = (
    Reference("appearance_precursor", 99.1, 5.1, f"healthy adults, {_INFUSION}"),
    Reference("appearance_precursor", 87.9, 2.3, f"young adults, {_INFUSION}"),
    Reference("appearance_precursor", 93.5, 4.6, f"old adults, {_INFUSION}"),
    Reference("appearance_product", 65.6, 4.9, f"healthy adults, {_INFUSION}"),
    Reference("appearance_product", 53.8, 3.6, f"young adults, {_INFUSION}"),
    Reference("appearance_product", 63.7, 4.8, f"old adults, {_INFUSION}"),
    Reference("Fconv", 5.2, 0.7, f"healthy adults, {_INFUSION}"),
    Reference("Fconv", 8.0, 0.8, f"young adults, {_INFUSION}"),
    Reference("Fconv", 7.1, 0.6, f"old adults, {_INFUSION}"),
    Reference("Fconv", 11.1, 5.8, f"fasted, {_INFUSION}"),
    Reference("Fconv", 12.7, 7.7, f"fed, {_INFUSION}"),
    Reference("Fconv", 5.7, 1.5, f"pulse, non-compartmental, {_INFUSION}"),
)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One alternative's standing: physical limits broken, AICc above the best, summed squared z against references."""

    location: str
    violations: tuple[str, ...]
    aicc_difference: float
    distance: float | None
    rank: int


def hard_violations(
    values: Mapping[str, float],
    names: tuple[str, str],
    lower: tuple[float, float] | None = None,
    upper: tuple[float, float] | None = None,
) -> tuple[str, ...]:
    """Physical limits that an alternative breaks.

    Parameters
    ----------
    values : mapping
        Pools, rates and fluxes.
    names : tuple of str
        Names of the appearance of precursor and product, such as ``("U_Phe", "U_Tyr")``.
    lower, upper : tuple of float, optional
        Ends of the identifiable interval of total appearance of the precursor and of the product.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> hard_violations({"Q1": 1.0, "Fconv": 9.0, "U_Phe": 5.0, "U_Tyr": 1.0}, ("U_Phe", "U_Tyr"))
    ('Fconv 9 exceeds U_Phe 5',)
    """
    out = [f"{k} is negative ({v:.3g})" for k, v in values.items() if v < 0 and k != "kappa"]
    pre, pro = names
    if values["Fconv"] > values[pre] * (1 + 1e-9):
        out.append(f"Fconv {values['Fconv']:.4g} exceeds {pre} {values[pre]:.4g}")
    totals = (values[pre], values[pro] + values["Fconv"])
    for label, total, low, high in zip(names, totals, lower or (None, None), upper or (None, None)):
        if low is not None and total < low * (1 - 1e-6):
            out.append(f"total appearance behind {label} ({total:.4g}) is below the non-compartmental bound {low:.4g}")
        if high is not None and total > high * (1 + 1e-6):
            out.append(f"total appearance behind {label} ({total:.4g}) is above the upper bound {high:.4g}")
    return tuple(out)


def soft_distance(
    values: Mapping[str, float],
    errors: Mapping[str, float],
    names: tuple[str, str],
    references: Sequence[Reference],
) -> float | None:
    """Sum of squared z of an alternative against published values; None without references.

    Parameters
    ----------
    values, errors : mapping
        Quantities and their standard errors; ``appearance_product`` is product breakdown plus conversion, its error that of
        two independent parts unless `errors` gives it.
    names : tuple of str
        Appearance of precursor and product.
    references : sequence of Reference

    Returns
    -------
    float or None

    Examples
    --------
    >>> ref = [Reference("Fconv", 5.0, 3.0, "")]
    >>> soft_distance({"U_Phe": 1, "U_Tyr": 1, "Fconv": 10.0}, {"U_Phe": 1, "U_Tyr": 1, "Fconv": 4.0}, ("U_Phe", "U_Tyr"), ref)
    1.0
    """
    if not references:
        return None
    pre, pro = names
    # the two parts share conversion with opposite signs, so a caller with their covariance gives the error of the sum
    apart = float(np.hypot(errors[pro], errors["Fconv"]))
    both = {
        **{k: (values[k], errors.get(k, 0.0)) for k in values},
        "appearance_precursor": (values[pre], errors[pre]),
        "appearance_product": (values[pro] + values["Fconv"], errors.get("appearance_product", apart)),
    }
    terms = [
        (both[r.quantity][0] - r.mean) ** 2 / (both[r.quantity][1] ** 2 + r.std_error**2)
        for r in references
        if r.quantity in both
    ]
    return float(np.sum(terms)) if terms else None


@dataclass(frozen=True)
class LocationCriteria:
    """What ranks one location: limits it breaks, AICc, distance from published values if there are any."""

    location: str
    violations: tuple[str, ...]
    aicc: float
    distance: float | None = None


def rank(found: Sequence[LocationCriteria]) -> tuple[Judgement, ...]:
    """Order locations by violations, then AICc difference, then distance.

    Parameters
    ----------
    found : sequence of LocationCriteria

    Returns
    -------
    tuple of Judgement
        Best first.

    Examples
    --------
    >>> a, b, c = LocationCriteria("a", ("x",), 1.0), LocationCriteria("b", (), 9.0), LocationCriteria("c", (), 5.0)
    >>> [j.location for j in rank([a, b, c])]
    ['c', 'b', 'a']
    """
    best = min(one.aicc for one in found)
    ordered = sorted(found, key=lambda one: (len(one.violations), one.aicc - best, one.distance or 0.0))
    return tuple(
        Judgement(
            location=one.location,
            violations=one.violations,
            aicc_difference=one.aicc - best,
            distance=one.distance,
            rank=k + 1,
        )
        for k, one in enumerate(ordered)
    )


def rank_locations(
    alternatives: Sequence[LocationFit], doses: tuple[float, float], scheme: Scheme, references: Sequence[Reference]
) -> tuple[Judgement, ...]:
    """Rank alternatives by physical limits, then AICc, then distance from published values.

    Parameters
    ----------
    alternatives : sequence of LocationFit
    doses : tuple of float
    scheme : Scheme
    references : sequence of Reference

    Returns
    -------
    tuple of Judgement
        Best first.
    """
    names = scheme.public("U_precursor"), scheme.public("U_product")
    found = []
    for one in alternatives:
        derived = Derived(model=one.model, doses=doses, scheme=scheme)
        values = derived(one.theta)
        errors = std_errors(one, derived, {"appearance_product": (names[1], "Fconv")})
        lower, upper = appearance_bounds(one, doses)
        bad = hard_violations(values, names, lower, upper)
        distance = soft_distance(values, errors, names, references)
        found.append(LocationCriteria(one.location, bad, one.aicc, distance))
    return rank(found)


def appearance_bounds(one: LocationFit, doses: tuple[float, float]) -> Any:
    """Bounds of the total appearance per hour of precursor and product, for two pools per substrate; else None."""
    if (one.model.n, one.model.m) != (2, 2):
        return None, None
    a, l, b, g, _ = one.model.unpack(one.theta)
    pre, pro = interval_identifiability(a, l, doses[0]).U, interval_identifiability(b, g, doses[1]).U
    return (60 * pre[0], 60 * pro[0]), (60 * pre[1], 60 * pro[1])


def location_rows(alternatives: Sequence[LocationFit], ranking: Sequence[Judgement]) -> list[dict[str, Any]]:
    """Criteria of every location, best AICc first.

    Parameters
    ----------
    alternatives : sequence of LocationFit
    ranking : sequence of Judgement

    Returns
    -------
    list of dict
    """
    weights = akaike_weights([a.aicc for a in alternatives])
    by_place = {j.location: j for j in ranking}
    rows = [
        {
            "location": a.location,
            "class": location_class(a.location),
            "chi2": a.chi2,
            "df": a.spare,
            "aicc": a.aicc,
            "weight": w,
            "runs_p": a.runs_p,
            "chi2_p": a.chi2_p,
            "rank": by_place[a.location].rank,
            "violations": "; ".join(by_place[a.location].violations),
            "distance": by_place[a.location].distance,
        }
        for a, w in zip(alternatives, weights)
    ]
    return sorted(rows, key=lambda r: r["aicc"])
