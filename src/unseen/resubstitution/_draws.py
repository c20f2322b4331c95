"""Standard normal points for kernels, block by block, the same whatever the size of the blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, UnknownName

__all__ = ["SAMPLERS", "Draws"]

SAMPLERS = ("plain", "antithetic", "sobol")
BUDGET = 2**21  # numbers in one block: 16 MB, a few times that with copies
SOBOL_GROUPS = 2  # independent randomisations per point, from which the error is estimated


@dataclass(frozen=True)
class Draws:
    """How many kernel points, of which kind, from which seed.

    Parameters
    ----------
    n_mc : int
        Points per kernel; made even and at least 4 for "antithetic", twice a power of 2 for "sobol".
    sampler : {"plain", "antithetic", "sobol"}
        Independent points, pairs z and -z, or scrambled Sobol points shifted at random for every kernel.
    seed : int
        The same seed gives the same points to every model.

    Examples
    --------
    >>> [(z.shape, rows.stop) for rows, z in Draws(6, "antithetic", 0).blocks(4, 2)]
    [((4, 3, 2, 2), 4)]
    """

    n_mc: int
    sampler: str
    seed: int

    def __post_init__(self) -> None:
        if self.sampler not in SAMPLERS:
            raise UnknownName("sampler", self.sampler, SAMPLERS)
        if isinstance(self.n_mc, bool) or not isinstance(self.n_mc, (int, np.integer)) or self.n_mc < 2:
            raise InputError(f"n_mc is {self.n_mc!r}; the number of points per kernel is a whole number of at least 2.")

    @property
    def groups(self) -> tuple[int, int]:
        """Number of independent groups of points per kernel, and points in a group."""
        if self.sampler == "plain":
            return int(self.n_mc), 1
        if self.sampler == "antithetic":
            return max(2, -(-int(self.n_mc) // 2)), 2
        return SOBOL_GROUPS, 2 ** int(np.ceil(np.log2(max(1, self.n_mc / SOBOL_GROUPS))))

    @property
    def per_kernel(self) -> int:
        """Points per kernel actually used."""
        count, size = self.groups
        return count * size

    def __str__(self) -> str:
        kind = {"plain": "Monte Carlo", "antithetic": "antithetic Monte Carlo", "sobol": "quasi Monte Carlo (Sobol)"}
        return f"{kind[self.sampler]}, {self.per_kernel} points per kernel"

    def blocks(self, n: int, d: int) -> Iterator[tuple[slice, Floats]]:
        """Yield (kernels, standard normal points of shape (kernels, groups, size, d)) until n kernels are served."""
        rng = np.random.default_rng(self.seed)
        count, size = self.groups
        base = self._sobol(size, d, rng) if self.sampler == "sobol" else None
        rows = max(1, BUDGET // (count * size * d))
        for start in range(0, n, rows):
            block = slice(start, min(start + rows, n))
            m = block.stop - block.start
            if base is not None:
                u = (base + rng.random((m, count, 1, d))) % 1.0
                z = ndtri(np.clip(u, 2.0**-53, 1 - 2.0**-53))
            elif self.sampler == "antithetic":
                half = rng.standard_normal((m, count, 1, d))
                z = np.concatenate([half, -half], axis=2)
            else:
                z = rng.standard_normal((m, count, 1, d))
            yield block, z

    def _sobol(self, size: int, d: int, rng: np.random.Generator) -> Floats:
        from scipy.stats import qmc

        if d > qmc.Sobol.MAXDIM:
            raise InputError(
                f"Sobol points exist for at most {qmc.Sobol.MAXDIM} dimensions, here are {d}; use sampler='plain'."
            )
        return np.asarray(qmc.Sobol(d, rng=rng).random_base2(int(np.log2(size))))
