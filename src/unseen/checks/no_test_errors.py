"""U004: no test prediction of a run was wrong."""

from __future__ import annotations

import numpy as np

from unseen.checks.registry import check
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note

__all__ = ["no_test_errors"]


@check(
    "U004",
    "run",
    title="perfect separation",
    sentence="No test prediction of any split was wrong.",
    advice="No error was seen in any split. Look for a leak before you believe it.",
)
def no_test_errors(table: LossTable) -> tuple[Note, ...]:
    """Return U004 if a classifier made no error in any split.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> y = np.arange(40) % 2
    >>> table = unseen.run("lda", y[:, None] + np.linspace(0, 0.1, 40)[:, None], y, random_state=0)
    >>> [n.code for n in no_test_errors(table.losses())]
    ['U004']
    """
    if table.data.task != "classification" or table.loss != "zero-one" or np.any(table.test.value > 0):
        return ()
    text = f"none of the {len(table.test.value)} test predictions in {len(table.completed)} splits was wrong"
    return (note("U004", text),)
