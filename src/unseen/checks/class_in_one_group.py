"""U038: all rows of a class stand in one group, so that no model is both trained and tested on it."""

from __future__ import annotations

import numpy as np

from unseen.checks.registry import check
from unseen.core.data import Data
from unseen.core.notes import Note, note
from unseen.core.training import classes_in_one_group

__all__ = ["class_in_one_group"]

# a class with a smaller share moves the error by less than an interval usually is wide
LEAST_SHARE = 0.05
LISTED = 5  # a line holds about so many names


@check(
    "U038",
    "data",
    alarm=True,
    title="class in one group",
    sentence=f"All rows of a class stand in one group, and such classes hold at least {LEAST_SHARE:.0%} of the rows. Whole groups are left "
    "out, so whoever is tested on the class was not trained on it. Groups that each hold one class are fine as long as every class has "
    "several groups.",
    advice="The groups and the classes are one and the same here. Collect more groups of the class, or give other groups.",
)
def class_in_one_group(data: Data) -> tuple[Note, ...]:
    """Return U038 if classes stand in one group each.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> X, y = [[float(k)] for k in range(40)], [0, 1] * 20
    >>> class_in_one_group(as_data(X, y, groups=y))[0].text
    "no model is trained on a class that it is tested on, because all rows of '0', '1' stand in one group"
    >>> class_in_one_group(as_data(X, y, groups=[k % 4 for k in range(40)]))
    ()
    """
    alone = classes_in_one_group(data)
    if data.classes is None or not alone.any():
        return ()
    sizes = np.bincount(data.codes, minlength=len(data.classes))
    if sizes[alone].sum() < LEAST_SHARE * data.n:
        return ()
    names = [repr(str(label)) for label in data.classes[alone]]
    listed = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    text = f"no model is trained on a class that it is tested on, because all rows of {listed} stand in one group"
    return (note("U038", text),)
