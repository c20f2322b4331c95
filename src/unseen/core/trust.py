"""Whether a result can be trusted: notes that are alarms change the headline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unseen.core.notes import Note

__all__ = ["Trust", "trust"]


@dataclass(frozen=True)
class Trust:
    """Whether a result can be trusted, and why not.

    Examples
    --------
    >>> Trust().warning()
    ''
    >>> print(Trust(("a column gives the class away",)).warning())
    Do not trust this number: a column gives the class away.
    """

    reasons: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons

    def __bool__(self) -> bool:
        return self.ok

    def warning(self) -> str:
        """Return the sentence that the headline begins with; empty if nothing speaks against the result."""
        return "" if self.ok else f"Do not trust this number: {'; '.join(self.reasons)}."

    def before(self, sentence: str) -> str:
        """Return a sentence about the result, after the warning if there is one.

        Examples
        --------
        >>> Trust().before("The error is 3%.")
        'The error is 3%.'
        """
        return " ".join(filter(None, (self.warning(), sentence)))


def trust(notes: Iterable[Note]) -> Trust:
    """Return whether the notes leave a result trustworthy.

    Parameters
    ----------
    notes : iterable of Note
        The notes of a result.

    Returns
    -------
    Trust
        Its reasons are the texts of the notes whose code is an alarm, each once.

    Examples
    --------
    >>> from unseen.core.notes import note
    >>> trust([note("U009", "there are only 12 rows")]).ok
    True
    >>> trust([note("U005", "x3 gives the class away")]).reasons
    ('x3 gives the class away',)
    """
    return Trust(tuple(dict.fromkeys(n.text for n in notes if n.alarm)))
