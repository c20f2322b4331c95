"""Coded notes on statistical weakness: they travel with a result and stand in every report.

The letter of a code names its owner, which declares what the code means: U for data, runs and methods, K for kinetics, N for
nets. A check declares its own code in its file in `unseen.checks`; the codes that methods give stand in the table below.
"""

from __future__ import annotations

from dataclasses import dataclass

from unseen.core.discovery import Registry

__all__ = ["CODES", "Note", "NoteKind", "declare_notes", "kind_of", "known_notes", "merge_notes", "note"]


@dataclass(frozen=True)
class NoteKind:
    """What a code means and what to do about it.

    Parameters
    ----------
    code : str
        Letter of the owner and three digits.
    title : str
        Short name, which stands before the text of the note.
    advice : str
        What to do about it.
    alarm : bool
        The result cannot be trusted as long as the note stands; see `unseen.core.trust`.

    Examples
    --------
    >>> kind_of("U014").title, kind_of("U014").alarm
    ('vacuous bound', False)
    """

    code: str
    title: str
    advice: str
    alarm: bool = False


# by letter: the module or package whose files declare its codes, imported when a code is looked up
CODES: dict[str, Registry[NoteKind]] = {
    letter: Registry(owner, "note")
    for letter, owner in (("U", "unseen.checks"), ("K", "unseen.kinetics.notes"), ("N", "unseen.nets.notes"))
}


def declare_notes(*kinds: NoteKind) -> None:
    """Declare what codes mean; two different meanings of one code are refused."""
    for kind in kinds:
        CODES[kind.code[0]].add(kind.code, kind)


def known_notes(letters: str = "".join(CODES)) -> dict[str, NoteKind]:
    """Return what every code means, or only the codes of some letters, in the order of the codes.

    Examples
    --------
    >>> known_notes()["U005"].title
    'possible target leak'
    """
    return dict(sorted(item for letter in letters for item in CODES[letter].all().items()))


def kind_of(code: str) -> NoteKind:
    """Return what a code means; only its owner is imported.

    Examples
    --------
    >>> kind_of("K010").title
    'subjects failed'
    """
    registry = CODES.get(code[:1])
    kind = None if registry is None else registry.all().get(code)
    if kind is None:
        raise KeyError(f"note code {code!r} is not declared; see unseen.core.notes.declare_notes")
    return kind


@dataclass(frozen=True)
class Note:
    """One coded note.

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
        return kind_of(self.code).title

    @property
    def advice(self) -> str:
        """What to do about it."""
        return kind_of(self.code).advice

    @property
    def alarm(self) -> bool:
        """Whether the result cannot be trusted as long as the note stands."""
        return kind_of(self.code).alarm

    def __str__(self) -> str:
        return f"{self.code} {self.title}: {self.text}"

    def to_dict(self) -> dict[str, str]:
        """Return code, title, text and advice."""
        return {"code": self.code, "title": self.title, "text": self.text, "advice": self.advice}


def note(code: str, text: str) -> Note:
    """Make a note; codes that are not declared are refused."""
    kind_of(code)
    return Note(code, text)


def merge_notes(*groups: tuple[Note, ...]) -> tuple[Note, ...]:
    """Join groups of notes, each note once, in order of first appearance."""
    return tuple(dict.fromkeys(n for group in groups for n in group))


# codes that methods, designs and tables give, which check no data or run
declare_notes(
    NoteKind("U007", "interval clipped", "The interval reached past the range of the loss and was cut at its end."),
    NoteKind("U008", "failed fits", "Some fits failed and were left out. The report lists the reasons."),
    NoteKind(
        "U010",
        "zero variance",
        "All splits gave the same value. A spread of zero does not mean that the error is certain.",
    ),
    NoteKind(
        "U011",
        "splits redrawn",
        "Splits whose training part lacked a class were drawn again, so the splits are not quite simple random.",
    ),
    NoteKind("U012", "units never tested", "Some units were in no test part. Means over units leave them out."),
    NoteKind("U013", "liberal method", "This method understates the uncertainty. Use it for comparison only."),
    NoteKind("U014", "vacuous bound", "The bound is above the largest possible loss, so it says nothing."),
    NoteKind(
        "U015",
        "large test share",
        "The corrected t interval covers too little if the test part is large. Test about 10% of the rows per split.",
    ),
    NoteKind("U016", "assumption", "The number rests on an assumption about the data that was not checked."),
    NoteKind("U017", "weights", "Rows are weighted. Every mean of losses is a weighted mean."),
    NoteKind("U018", "interrupted", "The run was stopped before its end. What was finished is shown."),
    NoteKind("U019", "budget", "The number of splits or resamples was reduced to keep the time within bounds."),
    NoteKind(
        "U020", "classes dropped", "A class is so small that some training parts lack it. Collect more rows of it."
    ),
    NoteKind("U021", "rows left out", "Rows without a usable value were left out."),
    NoteKind("U022", "extrapolation", "The figure goes beyond the sizes or times that were observed."),
    NoteKind("U023", "plug-in", "The method takes a quantity as known that was estimated from the same data."),
    NoteKind(
        "U024", "selection", "The winner was chosen on the same data, so its own error estimate is too optimistic."
    ),
    NoteKind("U025", "unmatched rows", "Some rows had no partner and were left out."),
    NoteKind("U026", "method chosen", "The method was chosen by rule. Name one with `method=` to fix the choice."),
    NoteKind(
        "U027",
        "printed form",
        "This is the formula as printed. It does not give the table published with it; see the method's page.",
    ),
    NoteKind(
        "U028",
        "measure undefined",
        "The measure does not exist on some test parts, often because a class is missing. Use larger test parts.",
    ),
    NoteKind(
        "U030",
        "unlike the study",
        "Such samples were not studied, so that this method has no interval for them. Read the headline, which has one.",
    ),
    NoteKind(
        "U039",
        "cheaper stand-in",
        "Part of the computation used some of the points only. What that changes is in the integration error.",
    ),
    NoteKind(
        "U043",
        "rows without a target",
        "Rows without a target were left out. Ask why they lack it: if that depends on the outcome, the error is of other rows "
        "than those to come. `missing_target='error'` refuses such data.",
    ),
    NoteKind(
        "U044",
        "identifier left out",
        "A text that differs in every row only names it, so it was left out of the features. If it is one, turn it into a "
        "feature first.",
    ),
    NoteKind(
        "U045",
        "convention",
        "The measure has more than one convention for more than two classes. Compare only values of the same one.",
    ),
    NoteKind(
        "U046",
        "scaling not in the file",
        "The model file does not show how the model scales its columns, so kernels are as wide as the spread of each column says. "
        "A skops file of the whole pipeline shows it.",
    ),
    NoteKind(
        "U035",
        "copies kept together",
        "Rows with equal features count as one unit and stay on one side of every split. If such rows recur in the population, "
        "use `duplicates='apart'`.",
    ),
    NoteKind(
        "U036",
        "recurring rows",
        "Rows with equal features are split like any others, because such rows recur by chance. If they are copies, use "
        "`duplicates='together'`.",
    ),
    NoteKind(
        "U048",
        "small slices",
        "Slices with few independent units have wide intervals that rest on assumptions. Join slices, or collect more rows.",
    ),
    NoteKind(
        "U049",
        "extreme probabilities",
        "Probabilities of 0 or 1 have no finite logit and were moved to the nearest one that has. Slope and curve lean on them.",
    ),
    NoteKind(
        "U050",
        "many columns",
        "Importance was not measured for so many columns. Name columns that belong together, and each group is permuted as one.",
    ),
    NoteKind(
        "U053",
        "part of the rows",
        "There was no time for a fit on all rows, so the answer is about a model trained on fewer. Give a larger budget.",
    ),
)
