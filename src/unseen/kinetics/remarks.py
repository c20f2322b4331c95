"""Coded remarks on a fit: what was removed, what fits badly, what cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unseen.core.notes import Note, note
from unseen.kinetics.identify import identifiability
from unseen.kinetics.joint import Curves
from unseen.kinetics.location import LocationFit, location_class
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.record import KineticFit
from unseen.kinetics.table import Removal, Subject

__all__ = ["fit_notes", "settled"]

_ALIKE = 2.0
_POOR = 0.01
_MUCH_WORSE = 10.0


def settled(one: KineticFit, wanted: str) -> KineticFit:
    """The fit with the study's location as its own, and notes where that location fits badly or breaks a limit."""
    if all(a.location != wanted for a in one.alternatives):
        wanted = one.location
    best = min(one.alternatives, key=lambda a: a.aicc)
    notes = list(one.notes)
    behind = one.at(wanted).aicc - best.aicc
    if behind > _MUCH_WORSE and location_class(wanted) != location_class(best.location):
        text = f"conversion {wanted} fits this subject worse than {best.location} (AICc {behind:.0f} higher)"
        notes.append(note("K005", f"subject {one.subject}: {text}"))
    if one.convention == "mass_balance":
        judged = next(j for j in one.plausibility() if j.location == wanted)
        notes += [note("K008", f"subject {one.subject}, conversion {wanted}: {v}") for v in judged.violations]
    return replace(one, location=wanted, notes=tuple(notes))


def fit_notes(
    subject: Subject,
    removed: Sequence[Removal],
    alternatives: Sequence[LocationFit],
    best: LocationFit,
    error: ErrorModel,
    curves: Curves,
    convention: str,
) -> list[Note]:
    """Remarks on one subject's fit, whatever the location used in the end."""
    name = f"subject {subject.name}"
    out = []
    outliers = [r for r in removed if r.reason.startswith("outlier")]
    if outliers:
        text = ", ".join(f"{r.analyte} at {r.time:g} min" for r in outliers)
        out.append(note("K001", f"{name}: {text}"))
    if error.known and best.chi2_p < _POOR:
        text = f"chi2 {best.chi2:.1f} on {best.spare} df at its best location {best.location}"
        out.append(note("K005", f"{name}: {text}"))
    if best.runs_p < _POOR:
        out.append(note("K005", f"{name}: signs of the residuals come in long runs (p = {best.runs_p:.3g})"))
    near = [a.location for a in alternatives if a is not best and a.aicc - best.aicc < _ALIKE]
    if near:
        same = all(location_class(p) == location_class(best.location) for p in near)
        alike = f"{', '.join(near)} fits as well as {best.location}"
        what = "the two mixed locations cannot be told apart" if same else alike
        out.append(note("K006", f"{name}: {what}"))
    out += [note(n.code, f"{name}: {n.text}") for n in identifiability(best, curves).notes]
    if convention == "printed":
        out.append(note("K009", f"{name}: fluxes by the formulas of the dissertation"))
    return out
