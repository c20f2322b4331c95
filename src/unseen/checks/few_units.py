"""U009: there are few independent units."""

from __future__ import annotations

from unseen.checks.registry import check
from unseen.core.data import Data
from unseen.core.estimate import count_of
from unseen.core.notes import Note, note

__all__ = ["few_units"]

# with 19 degrees of freedom a t interval is 7% wider than a normal one; with fewer units its assumptions matter more
FEW_UNITS = 20


@check(
    "U009",
    "data",
    title="few units",
    sentence=f"There are fewer than {FEW_UNITS} independent units (rows, or groups). "
    "Methods give it too if what they count is small, such as tested units or labels.",
    advice="With so few units the interval rests on its assumptions more than on the data. Collect more units.",
)
def few_units(data: Data) -> tuple[Note, ...]:
    """Return U009 if there are fewer than 20 independent units.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> few_units(as_data([[1.0], [2.0], [3.0]], [0, 1, 0]))[0].text
    'there are only 3 rows'
    """
    if data.n_units >= FEW_UNITS:
        return ()
    return (note("U009", f"there are only {count_of(data.n_units, data.unit)}"),)
