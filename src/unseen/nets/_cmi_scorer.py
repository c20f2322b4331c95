"""Counts behind the CMI score: pairs of networks sorted into cells by products of indicator matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unseen.nets._grid import Grid

__all__ = ["Scorer", "scorer_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scorer:
    """What does not depend on the measure: the gap's order, the sets' cells and their sizes."""

    gap: Floats
    cells: tuple[Floats, ...]  # one indicator matrix (networks, cells) per set
    self_pairs: bool
    ties: str

    def without(self, left_out: NDArray[np.bool_]) -> Scorer:
        """Return the scorer of the sets that are not left out."""
        return replace(self, cells=tuple(cells for cells, out in zip(self.cells, left_out) if not out))

    def scores(self, measure: Floats) -> Floats:
        """Return the score of every set, for one measure (networks,) or many (count, networks); shape (count, sets)."""
        many = np.atleast_2d(measure)
        greater, above = self._greater(self.gap[None])[0], self._greater(many)
        both = greater * above
        total = np.ones_like(greater)
        if not self.self_pairs:
            off = 1 - np.eye(len(self.gap))
            greater, above, both, total = greater * off, above * off, both * off, off
        return np.stack([self._score(c, total, greater, above, both) for c in self.cells], axis=-1)

    def _greater(self, values: Floats) -> Floats:
        if self.ties == "negative":
            return (values[:, :, None] > values[:, None, :]).astype(float)
        with np.errstate(invalid="ignore"):
            return (1 + np.sign(np.nan_to_num(values[:, :, None] - values[:, None, :]))) / 2

    def _score(self, cells: Floats, total: Floats, greater: Floats, above: Floats, both: Floats) -> Floats:
        n, n_gap = cells.T @ total @ cells, cells.T @ greater @ cells
        n_mu, n_both = cells.T @ above @ cells, cells.T @ both @ cells
        with np.errstate(divide="ignore", invalid="ignore"):
            p_gap, p_mu, p_both = n_gap / n, n_mu / n, n_both / n
            joint = (
                (1 - p_gap - p_mu + p_both, 1 - p_gap, 1 - p_mu),
                (p_mu - p_both, 1 - p_gap, p_mu),
                (p_gap - p_both, p_gap, 1 - p_mu),
                (p_both, p_gap, p_mu),
            )
            information = np.sum([_part(p, g, m) for p, g, m in joint], axis=0)
            entropy = -np.sum([p * np.log2(p + 1e-12) for p in (p_gap, 1 - p_gap)], axis=0)
        filled = n > 0
        mean_entropy = float(entropy[filled].mean()) if filled.any() else 0.0
        if mean_entropy < 1e-9:
            return np.full(len(above), np.nan)
        return information[:, filled].mean(axis=1) / mean_entropy


def _part(p: Floats, g: Floats, m: Floats) -> Floats:
    """Term of the mutual information; differences of counts below rounding are empty."""
    there = p > 1e-12
    return np.where(there, p * np.log2(np.where(there, p, 1) / np.where(there, g * m, 1)), 0.0)


def scorer_of(
    gap: Floats, grid: Grid, rows: NDArray[np.int64], columns: list[tuple[int, ...]], self_pairs: bool, ties: str
) -> Scorer:
    """Return the scorer of some rows of the grid for sets of columns held fixed."""
    indicators = []
    for held in columns:
        code, size = grid.code_of(held)[rows], int(np.prod([grid.shape[k] for k in held], dtype=int))
        indicators.append(np.eye(size)[code])
    return Scorer(gap, tuple(indicators), self_pairs, ties)
