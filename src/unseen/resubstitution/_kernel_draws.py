"""Standard normal points for kernels, block by block, the same whatever the size of the blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, UnknownName

__all__ = ["SAMPLERS", "KernelDraws"]

SAMPLERS = ("plain", "antithetic", "sobol")
BUDGET = 2**21  # numbers in one block: 16 MB, a few times that with copies
SOBOL_GROUPS = 2  # independent randomisations per kernel, from which the error is estimated


@dataclass(frozen=True)
class KernelDraws:
    """How many kernel points, of which kind, from which seed.

    Parameters
    ----------
    n_mc : int
        Points per kernel; made even and at least 4 for "antithetic", twice a power of 2 for "sobol".
    sampler : {"plain", "antithetic", "sobol"}
        Independent points, pairs z and -z, or scrambled Sobol points shifted at random for every kernel.
    seed : int
        The same seed gives the same points to every model.
    count : int or None
        Number of independent groups of points, if it is not that of `n_mc`.

    Examples
    --------
    >>> [(rows.stop, [z.shape for _, z in parts]) for rows, parts in KernelDraws(6, "antithetic", 0).blocks(4, 2)]
    [(4, [(4, 3, 2, 2)])]
    """

    n_mc: int
    sampler: str
    seed: int
    count: int | None = None

    def __post_init__(self) -> None:
        if self.sampler not in SAMPLERS:
            raise UnknownName("sampler", self.sampler, SAMPLERS)
        if isinstance(self.n_mc, bool) or not isinstance(self.n_mc, (int, np.integer)) or self.n_mc < 2:
            raise InputError(f"n_mc is {self.n_mc!r}; the number of points per kernel is a whole number of at least 2.")

    @property
    def groups(self) -> tuple[int, int]:
        """Number of independent groups of points per kernel, and points in a group."""
        if self.sampler == "plain":
            count, size = int(self.n_mc), 1
        elif self.sampler == "antithetic":
            count, size = max(2, -(-int(self.n_mc) // 2)), 2
        else:
            count, size = SOBOL_GROUPS, 2 ** int(np.ceil(np.log2(max(1, self.n_mc / SOBOL_GROUPS))))
        return self.count or count, size

    @property
    def per_kernel(self) -> int:
        """Points per kernel actually used."""
        count, size = self.groups
        return count * size

    def __str__(self) -> str:
        kind = {"plain": "Monte Carlo", "antithetic": "antithetic Monte Carlo", "sobol": "quasi Monte Carlo (Sobol)"}
        return f"{kind[self.sampler]}, {self.per_kernel} points per kernel"

    def quasi(self, d: int) -> KernelDraws:
        """Return as many Sobol points if they exist in d dimensions, else these."""
        from scipy.stats import qmc

        return replace(self, sampler="sobol") if d <= qmc.Sobol.MAXDIM else self

    def further(self, count: int) -> KernelDraws:
        """Return so many more groups of the same size, independent of these."""
        seed = int(np.random.SeedSequence([self.seed, count]).generate_state(1, np.uint64)[0])
        return replace(self, seed=seed, count=count)

    def blocks(self, n: int, d: int) -> Iterator[tuple[slice, Iterator[tuple[slice, Floats]]]]:
        """Yield kernels and their points: parts (groups, standard normal points of shape (kernels, groups, size, d)).

        A kernel with more numbers than fit into a block comes in several parts, of whole groups or, for "sobol", of
        points of all groups. All parts must be taken before the next kernels.
        """
        rng = np.random.default_rng(self.seed)
        count, size = self.groups
        sobol = _Sobol(count, size, d, rng) if self.sampler == "sobol" else None
        rows = max(1, BUDGET // (count * size * d))
        for start in range(0, n, rows):
            block = slice(start, min(start + rows, n))
            m = block.stop - block.start
            yield block, self._pairs(m, d, rng) if sobol is None else sobol.parts(rng.random((m, count, 1, d)))

    def _pairs(self, m: int, d: int, rng: np.random.Generator) -> Iterator[tuple[slice, Floats]]:
        """Yield independent points, alone or with their mirror images, some groups of m kernels at a time."""
        count, size = self.groups
        step = count if m > 1 else max(1, BUDGET // (size * d))
        for first in range(0, count, step):
            groups = slice(first, min(first + step, count))
            half = rng.standard_normal((m, groups.stop - first, 1, d))
            yield groups, half if size == 1 else np.concatenate([half, -half], axis=2)


class _Sobol:
    """Scrambled Sobol points, kept if they fit into a block and made again part by part if they do not."""

    def __init__(self, count: int, size: int, d: int, rng: np.random.Generator) -> None:
        from scipy.stats import qmc

        if d > qmc.Sobol.MAXDIM:
            raise InputError(
                f"Sobol points exist for at most {qmc.Sobol.MAXDIM} dimensions, here are {d}; use sampler='plain'."
            )
        self._engine = qmc.Sobol(d, rng=rng)
        self._size, self._step = size, size
        self._kept: Floats | None = None
        if size * d * count > BUDGET:
            self._step = 2 ** int(np.log2(max(1, BUDGET // (count * d))))
        else:
            self._kept = np.asarray(self._engine.random_base2(int(np.log2(size))))

    def parts(self, shifts: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the points of all groups, shifted, some of the sequence at a time."""
        for start in range(0, self._size, self._step):
            if self._kept is None:
                self._engine.reset()
                if start:
                    self._engine.fast_forward(start)
            base = self._engine.random(self._step) if self._kept is None else self._kept
            u = (base + shifts) % 1.0
            yield slice(0, shifts.shape[1]), ndtri(np.clip(u, 2.0**-53, 1 - 2.0**-53))
