"""Coded remarks on statistical weakness; they travel with a result and are shown in every report."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CODES", "Note", "NoteKind", "merge_notes", "note"]


@dataclass(frozen=True)
class NoteKind:
    """What a code means and what to do about it."""

    title: str
    advice: str


CODES: dict[str, NoteKind] = {
    "U001": NoteKind(
        "class with few members",
        "Collect more of that class, merge classes, or read per-class figures with care.",
    ),
    "U002": NoteKind(
        "duplicate rows",
        "Copies on both sides of a split make the error look too small; remove them or give `groups`.",
    ),
    "U003": NoteKind("constant features", "They carry no information; drop them."),
    "U004": NoteKind("perfect separation", "No error was seen in any split; check for a leak before believing it."),
    "U005": NoteKind(
        "possible target leak",
        "One feature alone predicts the target almost perfectly; ask when it became known.",
    ),
    "U006": NoteKind(
        "dependent rows",
        "Losses of neighbouring rows are correlated; give `time` or `groups`, or read the interval as too narrow.",
    ),
    "U007": NoteKind("interval clipped", "The interval reached the end of the loss's range and was cut there."),
    "U008": NoteKind("failed fits", "Some fits failed and were left out; the reasons are listed in the report."),
    "U009": NoteKind("few units", "With so few units the interval rests on its assumptions more than on the data."),
    "U010": NoteKind(
        "zero variance",
        "All splits gave the same value; a spread of zero says nothing about the error's uncertainty.",
    ),
    "U011": NoteKind(
        "splits redrawn",
        "Splits whose training part lacked a class were drawn again, so the splits are not quite simple random.",
    ),
    "U012": NoteKind("units never tested", "Some units were in no test part; means over units leave them out."),
    "U013": NoteKind("liberal method", "This method understates the uncertainty; it is offered for comparison only."),
    "U014": NoteKind("vacuous bound", "The bound is above the largest possible loss and says nothing."),
    "U015": NoteKind(
        "large test share",
        "The corrected t interval covers too little when the test part is large; use about 10%.",
    ),
    "U016": NoteKind("assumption", "The number rests on a model of the data that was assumed, not checked."),
    "U017": NoteKind("weights", "Rows are weighted; every mean of losses is a weighted mean."),
    "U018": NoteKind("interrupted", "The run was stopped before its end; what was finished is shown."),
    "U019": NoteKind("budget", "The number of splits was chosen from one timed fit to keep within the time budget."),
    "U020": NoteKind("classes dropped", "A class is so small that some training parts would lack it."),
    "U021": NoteKind("rows left out", "Rows without a usable target were left out."),
    "U022": NoteKind("extrapolation", "The figure extends beyond the sizes that were observed."),
    "U023": NoteKind("plug-in", "A quantity that the method takes as known was estimated from the same data."),
    "U024": NoteKind("selection", "The winner was chosen on the same data; its own error estimate is too optimistic."),
    "U025": NoteKind("unmatched rows", "Some rows had no partner and were left out."),
    "U026": NoteKind("method chosen", "The method was chosen by rule; name one with `method=` to fix the choice."),
    "U027": NoteKind(
        "printed form",
        "This is the formula as printed, which cannot give its own published table; see the method's page.",
    ),
    "U028": NoteKind(
        "measure undefined",
        "The measure does not exist on some test parts, often because a class is missing; use larger test parts.",
    ),
    "U029": NoteKind(
        "preprocessing outside the loop",
        "It has seen the rows that were to be unseen; put it into a pipeline with the model.",
    ),
    "U030": NoteKind(
        "unlike the study",
        "Expect more than the expected RMS: it was measured on data sets without this. Read the headline with its interval.",
    ),
    "K001": NoteKind("samples removed", "Look at the removed points in the figure; give outliers=None to keep them."),
    "K002": NoteKind("negative ratios", "Baseline correction may be too strong; such samples are kept."),
    "K003": NoteKind(
        "doubtful unit", "Check whether the ratios are per cent or fractions, and times minutes or hours."
    ),
    "K004": NoteKind(
        "analytes left out", "Give a scheme that names them, or ignore this if they belong to another study."
    ),
    "K005": NoteKind(
        "poor fit",
        "The residuals are larger or more ordered than the error model allows; try another location or order.",
    ),
    "K006": NoteKind(
        "locations alike",
        "These places of conversion fit equally well; read their fluxes as alternatives, not as a choice made.",
    ),
    "K007": NoteKind(
        "weakly determined",
        "The data hardly fix this quantity; sample earlier, later or more often, or read its interval only.",
    ),
    "K008": NoteKind(
        "implausible flux", "A pool, rate or flux breaks a physical limit under this alternative; prefer another one."
    ),
    "K009": NoteKind(
        "printed convention",
        "The dissertation's formulas count conversion twice; use convention='mass_balance' for real work.",
    ),
    "K010": NoteKind("subjects failed", "These subjects could not be fitted; their reasons are in the table."),
    "N001": NoteKind(
        "sets without order",
        "With these hyper-parameters fixed all gaps tie, so that no measure can be scored; they are left out.",
    ),
    "N002": NoteKind(
        "few networks", "On small grids a random measure scores well above 0; read the score beside its noise floor."
    ),
    "N003": NoteKind(
        "gaps alike", "The gaps hardly differ from their sampling error; use more test data or a wider grid."
    ),
    "N004": NoteKind(
        "values left out",
        "Networks failed there; the whole value of the hyper-parameter is left out so that the grid stays complete.",
    ),
    "N005": NoteKind("zoo unfinished", "Call `Zoo.train` again with the same folder to go on where it stopped."),
    "N006": NoteKind(
        "poorly trained network",
        "It does not fit its own training data, so measures of its gap mean little; train it further or leave it out.",
    ),
    "N020": NoteKind(
        "chains disagree", "Samples of the posterior have not settled: use more burn-in, more steps or a smaller step."
    ),
    "N022": NoteKind(
        "copies trained by default",
        "Copies of the net were trained with the defaults of fit_many; give training= as the net itself was trained.",
    ),
    "N023": NoteKind(
        "outputs and labels at odds",
        "Fewer training rows are right than by naming the largest class; give classes= (--classes) in the order of the outputs.",
    ),
    "N021": NoteKind("memory was short", "Batches were halved until they fitted; the numbers are the same."),
    "N007": NoteKind("measure left out", "The measure does not apply to some networks; the reason is given."),
}


@dataclass(frozen=True)
class Note:
    """One coded remark.

    Examples
    --------
    >>> str(note("U008", "3 of 25 fits failed"))
    'U008 failed fits: 3 of 25 fits failed'
    """

    code: str
    text: str

    @property
    def title(self) -> str:
        """Short name of the code."""
        return CODES[self.code].title

    @property
    def advice(self) -> str:
        """What to do about it."""
        return CODES[self.code].advice

    def __str__(self) -> str:
        return f"{self.code} {self.title}: {self.text}"

    def to_dict(self) -> dict[str, str]:
        """Return code, title, text and advice."""
        return {"code": self.code, "title": self.title, "text": self.text, "advice": self.advice}


def note(code: str, text: str) -> Note:
    """Make a note, refusing codes that are not documented."""
    if code not in CODES:
        raise KeyError(f"note code {code!r} is not in unseen.core.notes.CODES")
    return Note(code, text)


def merge_notes(*groups: tuple[Note, ...]) -> tuple[Note, ...]:
    """Join groups of notes, each note once, in order of first appearance."""
    return tuple(dict.fromkeys(n for group in groups for n in group))
