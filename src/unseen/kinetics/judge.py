"""Ranks fitted alternatives, and the table of their criteria."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unseen.kinetics.intervals import std_errors
from unseen.kinetics.location import LocationFit, akaike_weights, location_class
from unseen.kinetics.mammillary import interval_identifiability
from unseen.kinetics.plausible import Judgement, Reference, hard_violations, rank, soft_distance
from unseen.kinetics.quantities import Derived
from unseen.kinetics.scheme import Scheme

__all__ = ["judge", "location_rows"]


def judge(
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
        lower, upper = _ends(one, doses)
        bad = hard_violations(values, names, lower, upper)
        found.append((one.location, bad, one.aicc, soft_distance(values, errors, names, references)))
    return rank(found)


def _ends(one: LocationFit, doses: tuple[float, float]):
    """Ends of the interval of total appearance per hour, for two pools per substrate."""
    if (one.model.n, one.model.m) != (2, 2):
        return None, None
    a, l, b, g, _ = one.model.unpack(one.theta)
    pre, pro = interval_identifiability(a, l, doses[0]).U, interval_identifiability(b, g, doses[1]).U
    return (60 * pre[0], 60 * pro[0]), (60 * pre[1], 60 * pro[1])


def location_rows(alternatives: Sequence[LocationFit], judged: Sequence[Judgement]) -> list[dict[str, Any]]:
    """Criteria of every location, best AICc first.

    Parameters
    ----------
    alternatives : sequence of LocationFit
    judged : sequence of Judgement

    Returns
    -------
    list of dict
    """
    weights = akaike_weights([a.aicc for a in alternatives])
    by_place = {j.location: j for j in judged}
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
