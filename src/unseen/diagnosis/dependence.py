"""Is there any dependence between features and target: permute the target, and cross-validate again (Ojala & Garriga, 2010)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.notes import Note, note
from unseen.core.rng import stream
from unseen.designs.kfold import KFold
from unseen.request.request import Request

__all__ = ["Dependence", "dependence_test"]


@dataclass(frozen=True, eq=False)
class Dependence:
    """Test of any dependence between features and target, by permuting the target.

    Parameters
    ----------
    error : float
        Cross-validated error on the data.
    permuted : ndarray
        The same on permuted targets.
    """

    error: float
    permuted: Floats

    @property
    def p(self) -> float:
        """Share of permutations with an error at most as large, the data counted among them."""
        return float((1 + self._as_small) / (1 + len(self.permuted)))

    @property
    def _as_small(self) -> int:
        return int(np.sum(self.permuted <= self.error + 1e-12))

    @property
    def p_in_words(self) -> str:
        """The p-value; "at most" if no permutation has an error as small, since more of them could make it smaller.

        Examples
        --------
        >>> Dependence(0.1, np.array([0.4, 0.5, 0.6])).p_in_words, Dependence(0.5, np.array([0.4, 0.5, 0.6])).p_in_words
        ('p at most 0.25', 'p = 0.75')
        """
        return f"p {'=' if self._as_small else 'at most'} {self.p:.3g}"


def dependence_test(request: Request, permutations: int) -> tuple[Dependence | None, tuple[Note, ...]]:
    """Permute the target over independent units and cross-validate again."""
    data = request.data
    if permutations < 1:
        return None, ()
    if data.order is not None:
        text = "rows in time cannot be exchanged freely; no test of dependence by permutation was made"
        return None, (note("U016", text),)
    first = np.zeros(data.n_units, dtype=np.int64)
    first[data.units[::-1]] = np.arange(data.n)[::-1]
    if data.grouped and np.any(data.y != data.y[first][data.units]):
        text = "targets differ within groups (or copies of a row), so they cannot be permuted over these; no test of dependence was made"
        return None, (note("U016", text),)
    rng = stream(request.seed, "permute")
    design = KFold(min(5, data.n_units))
    observed = float(request.run(design).losses(request.loss).split_means().mean())
    errors = []
    for _ in range(permutations):
        y = data.y[first][rng.permutation(data.n_units)][data.units]
        errors.append(float(request.run(design, data=replace(data, y=y)).losses(request.loss).split_means().mean()))
    return Dependence(observed, np.array(errors)), ()
