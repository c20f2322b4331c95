"""A full-factorial grid of networks: hyper-parameters as whole numbers, every combination once per seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen.core.errors import InputError, KindError

__all__ = ["NetworkGrid", "as_grid", "one_number_each"]


@dataclass(frozen=True)
class NetworkGrid:
    """Networks placed on a grid.

    Parameters
    ----------
    names : tuple of str
        Hyper-parameters.
    values : tuple of tuple
        Values of each, in order of first appearance.
    codes : numpy.ndarray
        Shape (networks, hyper-parameters): number of the value each network has.
    seed : numpy.ndarray
        Number of the seed of each network; all 0 if none were given.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    codes: NDArray[np.int64]
    seed: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Number of networks."""
        return len(self.codes)

    @property
    def n_seeds(self) -> int:
        """Number of seeds."""
        return int(self.seed.max()) + 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of each hyper-parameter."""
        return tuple(len(v) for v in self.values)

    def code_of(self, columns: Sequence[int]) -> NDArray[np.int64]:
        """Return one number per network for its values of some hyper-parameters."""
        code = np.zeros(self.n, dtype=np.int64)
        for k in columns:
            code = code * self.shape[k] + self.codes[:, k]
        return code

    def tables(self) -> list[NDArray[np.int64]]:
        """Return for each seed the rows of its networks, in the order of the grid's cells."""
        cell = self.code_of(range(len(self.names)))
        return [np.flatnonzero(self.seed == s)[np.argsort(cell[self.seed == s])] for s in range(self.n_seeds)]


def as_grid(grid: Any, n: int, seeds: ArrayLike | None = None, *, complete: bool = True) -> NetworkGrid:
    """Turn named columns of hyper-parameters into a grid, refusing one that is not complete.

    Parameters
    ----------
    grid : mapping or DataFrame
        Name of each hyper-parameter to its value in each network.
    n : int
        Number of networks.
    seeds : array-like, optional
        Seed of each network, if configurations were trained more than once.
    complete : bool
        Demand every combination exactly once per seed.

    Examples
    --------
    >>> as_grid({"depth": [1, 1, 11, 11], "width": ["a", "b", "a", "b"]}, 4).shape
    (2, 2)
    >>> as_grid({"depth": [1, 1, 2], "width": [8, 9, 8]}, 3)
    Traceback (most recent call last):
    ...
    unseen.core.errors.InputError: the grid is not complete: no network has depth=2, width=9 ...
    """
    columns = _columns(grid)
    for name, column in columns.items():
        if len(column) != n:
            raise InputError(f"hyper-parameter {name!r} has {len(column)} values for {n} networks.")
    coded = [_codes(name, column) for name, column in columns.items()]
    seed_codes = np.zeros(n, dtype=np.int64)
    if seeds is not None:
        given = list(np.asarray(seeds, dtype=object))
        if len(given) != n:
            raise InputError(f"{len(given)} seeds were given for {n} networks.")
        seed_codes, _ = _codes("seed", given)
    codes = np.stack([c for c, _ in coded], axis=1)
    made = NetworkGrid(tuple(columns), tuple(v for _, v in coded), codes, seed_codes)
    if complete:
        _check_complete(made, seeds is not None)
    return made


def _columns(grid: Any) -> dict[str, list[Any]]:
    if hasattr(grid, "to_dict") and hasattr(grid, "columns"):
        grid = {str(name): list(grid[name]) for name in grid.columns}
    if not isinstance(grid, Mapping):
        raise KindError(f"grid is a {type(grid).__name__}; give a mapping of hyper-parameter names to their values.")
    if not grid:
        raise InputError("grid names no hyper-parameter; at least one is needed.")
    return {str(name): list(column) for name, column in grid.items()}


def _codes(name: str, column: list[Any]) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    known: dict[Any, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for i, value in enumerate(column):
        plain = value.item() if isinstance(value, np.generic) else value
        if plain is None or plain != plain:  # a value unlike itself is NaN
            raise InputError(f"{name!r} has no value for network {i}; every network needs one.")
        codes[i] = known.setdefault(plain, len(known))
    return codes, tuple(known)


def _check_complete(grid: NetworkGrid, has_seeds: bool) -> None:
    counts = Counter(zip(grid.seed.tolist(), map(tuple, grid.codes.tolist())))
    cells = list(product(*(range(k) for k in grid.shape)))
    twice = list(dict.fromkeys(cell for (_, cell), count in counts.items() if count > 1))
    if twice:
        advice = "" if has_seeds else "; if they differ by their seed, give `seeds` (--seed-column)"
        raise InputError(
            f"more than one network has {_cell_names(grid, twice)}; each combination may be there once{advice}."
        )
    missing = [cell for s in range(grid.n_seeds) for cell in cells if (s, cell) not in counts]
    if missing:
        raise InputError(
            f"the grid is not complete: no network has {_cell_names(grid, list(dict.fromkeys(missing)))} "
            f"({len(missing)} of {len(cells) * grid.n_seeds} cells are empty). Train them, or leave out a whole value of a hyper-parameter."
        )


def _cell_names(grid: NetworkGrid, cells: list[tuple[int, ...]], most: int = 5) -> str:
    texts = [
        ", ".join(f"{name}={values[k]}" for name, values, k in zip(grid.names, grid.values, cell))
        for cell in cells[:most]
    ]
    rest = f"; and {len(cells) - most} more" if len(cells) > most else ""
    return "; ".join(texts) + rest


def one_number_each(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return numbers, one per network, refusing NaN, one network only and other shapes."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise KindError(f"{name} must hold one number per network: {error}.") from error
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; one number per network is needed.")
    bad = np.flatnonzero(np.isnan(array)) + 1
    if bad.size:
        where = ", ".join(map(str, bad[:8])) + (", ..." if bad.size > 8 else "")
        raise InputError(
            f"{name} is not a number for {bad.size} of {array.size} networks (row {where}; counted from 1)."
        )
    if array.size < 2:
        raise InputError(f"{name} holds {array.size} value; ordering needs at least two networks.")
    return array
