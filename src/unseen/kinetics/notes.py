"""Codes of the notes on tracer kinetics: what each means and what to do about it."""

from __future__ import annotations

from unseen.core.notes import NoteKind, declare_notes

__all__: list[str] = []

declare_notes(
    NoteKind("K001", "samples removed", "Look at the removed points in the figure. Give outliers=None to keep them."),
    NoteKind("K002", "negative ratios", "The baseline correction may be too strong. Such samples are kept."),
    NoteKind(
        "K003", "doubtful unit", "Check whether the ratios are per cent or fractions, and the times minutes or hours."
    ),
    NoteKind(
        "K004", "analytes left out", "Give a scheme that names them. Ignore this if they belong to another study."
    ),
    NoteKind(
        "K005",
        "poor fit",
        "The residuals are larger or more ordered than the error model allows. Try another location or order.",
    ),
    NoteKind(
        "K006",
        "locations alike",
        "These places of conversion fit equally well. Read their fluxes as alternatives; the data do not choose.",
    ),
    NoteKind(
        "K007",
        "weakly determined",
        "The data hardly determine this quantity. Sample earlier, later or more often, or read its interval only.",
    ),
    NoteKind(
        "K008",
        "implausible flux",
        "A pool, rate or flux breaks a physical limit under this alternative. Prefer another.",
    ),
    NoteKind(
        "K009",
        "printed convention",
        "The dissertation's formulas count conversion twice. Use convention='mass_balance' for real work.",
    ),
    NoteKind("K010", "subjects failed", "These subjects could not be fitted. The table gives the reasons."),
)
