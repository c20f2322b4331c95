"""Coded checks of data and of runs: a check is one file, and the reports and the page of notes find it there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from unseen.core.data import Data
from unseen.core.losses import LossTable, PredictionTable
from unseen.core.notes import Note, NoteKind, declare_notes, known_notes

__all__ = ["CodedCheck", "check", "data_notes", "known_checks", "run_notes"]

Subject = Literal["data", "features", "run", "rows", "model"]
F = TypeVar("F", bound=Callable[..., "Iterable[Note]"])


@dataclass(frozen=True, kw_only=True)
class CodedCheck(NoteKind):
    """A coded check: what it looks for, what to do about it, and the function that finds it.

    Parameters
    ----------
    code, title, advice, alarm
        As in `NoteKind`.
    sentence : str
        When the note is given; the page of notes shows it.
    of : {"data", "features", "run", "rows", "model"}
        What `find` takes: the data, data that have features, the losses of a run, these losses and data that have features, or a
        model with its run.
    find : callable
        Returns the notes, none if all is well.

    Examples
    --------
    >>> known_checks()["U003"].of
    'features'
    """

    sentence: str
    of: Subject
    find: Callable[..., Iterable[Note]]


def check(code: str, of: Subject, *, title: str, sentence: str, advice: str, alarm: bool = False) -> Callable[[F], F]:
    """Register the decorated function as the check that gives a code.

    Examples
    --------
    >>> from unseen.checks.few_units import few_units
    >>> known_checks()["U009"].find is few_units
    True
    """

    def register(find: F) -> F:
        made = CodedCheck(code=code, title=title, advice=advice, alarm=alarm, sentence=sentence, of=of, find=find)
        declare_notes(made)
        return find

    return register


def known_checks() -> dict[str, CodedCheck]:
    """Return every check by its code.

    Examples
    --------
    >>> list(known_checks())[:3]
    ['U001', 'U002', 'U003']
    """
    return {code: kind for code, kind in known_notes("U").items() if isinstance(kind, CodedCheck)}


def _notes(subjects: tuple[Any, ...], *kinds: Subject) -> tuple[Note, ...]:
    return tuple(found for one in known_checks().values() if one.of in kinds for found in one.find(*subjects))


def data_notes(data: Data) -> tuple[Note, ...]:
    """Return the notes that the data bring and those that the checks of data give.

    Parameters
    ----------
    data : Data
        The sample.

    Returns
    -------
    tuple of Note
        In the order of their codes; none if no check finds anything.

    Examples
    --------
    >>> import unseen
    >>> [n.code for n in data_notes(unseen.datasets.load("wine"))]
    []
    """
    found = _notes((data,), "data") if data.X is None else _notes((data,), "data", "features")
    return (*data.notes, *found)


def run_notes(losses: LossTable | PredictionTable, data: Data | None = None) -> tuple[Note, ...]:
    """Return the notes that the checks of a run give.

    Parameters
    ----------
    losses : LossTable
        Losses of a run, or its table of predictions (then the task's default loss is used). Differences of losses and measures
        of whole test parts are not checked.
    data : Data, optional
        The sample with its features, which a table does not keep; some checks need both.

    Returns
    -------
    tuple of Note
        In the order of their codes; none if no check finds anything.

    Examples
    --------
    >>> import unseen
    >>> t = unseen.run("lda", unseen.datasets.load("iris"), random_state=0)
    >>> run_notes(t.losses())
    ()
    """
    table = losses.losses() if isinstance(losses, PredictionTable) else losses
    if table.is_difference or table.by_split:
        return ()
    of_rows = () if data is None or data.X is None else _notes((table, data), "rows")
    return (*_notes((table,), "run"), *of_rows)
