"""Controls that know the gaps of other networks: what a bench compares measures with."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.nets._grid import as_grid

__all__ = ["bench_controls"]


def bench_controls(gap: np.ndarray, seeds: np.ndarray, axes: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    """Return controls that know other networks' gaps: what hyper-parameters alone predict, and what the other seed says."""
    found = {"hyper-parameters": _ridge(gap, axes)}
    if len(np.unique(seeds)) > 1:
        made = as_grid(axes, len(gap), seeds)
        cell = made.code_of(range(len(made.names)))
        found["other-seed"] = np.array([gap[(cell == cell[k]) & (seeds != seeds[k])].mean() for k in range(len(gap))])
    return found


def _ridge(gap: np.ndarray, axes: dict[str, list[Any]], penalty: float = 1.0) -> np.ndarray:
    """Predict each cell's gap from the main effects of the hyper-parameters, fitted to all other cells."""
    blocks = [
        np.eye(len(set(column)))[np.unique([str(v) for v in column], return_inverse=True)[1]]
        for column in axes.values()
    ]
    design = np.concatenate(blocks, axis=1)
    cell = np.unique(design, axis=0, return_inverse=True)[1].ravel()
    out = np.empty(len(gap))
    for c in np.unique(cell):
        own = cell == c
        X, mean = design[~own], gap[~own].mean()
        beta = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ (gap[~own] - mean))
        out[own] = mean + design[own] @ beta
    return out
