"""Means over kernels by Monte Carlo, block by block on the device, in memory that does not grow with the sample."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError, UnknownName
from unseen.nets.estimates.progress import current_reporter

__all__ = ["KernelMeans", "KernelPoints", "Kernels", "kernel_means"]

SAMPLERS = ("plain", "antithetic")
CPU_BLOCK, GPU_BLOCK = 2**21, 2**26  # numbers drawn at a time


@dataclass(frozen=True)
class KernelPoints:
    """How many kernel points, of which kind, from which seed.

    Parameters
    ----------
    n_mc : int
        Points per kernel; made even and at least 4 for "antithetic".
    sampler : {"plain", "antithetic"}
        Independent points, or pairs z and -z.
    seed : int
        The same seed gives the same points to every net on one kind of device.

    Examples
    --------
    >>> KernelPoints(5, "antithetic", 0).groups
    (3, 2)
    """

    n_mc: int
    sampler: str
    seed: int

    def __post_init__(self) -> None:
        if isinstance(self.n_mc, bool) or not isinstance(self.n_mc, (int, np.integer)) or self.n_mc < 2:
            raise InputError(f"n_mc is {self.n_mc!r}; the number of points per kernel is a whole number of at least 2.")
        if self.sampler not in SAMPLERS:
            raise UnknownName("sampler", self.sampler, SAMPLERS)

    @property
    def groups(self) -> tuple[int, int]:
        """Number of independent groups per kernel, and points in a group."""
        return (int(self.n_mc), 1) if self.sampler == "plain" else (max(2, -(-int(self.n_mc) // 2)), 2)

    @property
    def per_kernel(self) -> int:
        """Points per kernel actually used."""
        count, size = self.groups
        return count * size

    def __str__(self) -> str:
        kind = "Monte Carlo" if self.sampler == "plain" else "antithetic Monte Carlo"
        return f"{kind}, {self.per_kernel} points per kernel"

    def blocks(self, n: int, d: int, device: torch.device, dtype: torch.dtype) -> Iterator[tuple[slice, Any]]:
        """Yield (kernels, standard normal numbers of shape (kernels, groups, size, d)); a kernel may come in several parts.

        The blocks depend on the numbers per kernel and the kind of device alone, so the numbers do too.
        """
        count, size = self.groups
        budget = GPU_BLOCK if device.type == "cuda" else CPU_BLOCK
        rows = max(1, budget // (count * size * d))
        part = count if count * size * d <= budget else max(1, budget // (size * d))
        generator = torch.Generator(device=device)
        for start in range(0, n, rows):
            block = slice(start, min(start + rows, n))
            for first in range(0, count, part):
                groups = min(part, count - first)
                generator.manual_seed(_mix_seeds(self.seed, start, first))
                z = torch.randn((block.stop - start, groups, 1, d), generator=generator, device=device, dtype=dtype)
                yield block, z if size == 1 else torch.cat([z, -z], dim=2)


def _mix_seeds(*parts: int) -> int:
    digest = hashlib.sha256(":".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


@dataclass(frozen=True, eq=False)
class Kernels:
    """Gaussian kernels around points of several classes.

    Parameters
    ----------
    centres : tensor of shape (n, ...)
        The points.
    codes : tensor of int
        Their classes.
    sizes : tensor of shape (c,) or (c, d)
        Standard deviation of each class, or of each class and coordinate.
    scale : float
        Factor kappa on all of them.

    Examples
    --------
    >>> kernels = Kernels(torch.zeros(3, 2), torch.tensor([0, 1, 1]), torch.tensor([1.0, 2.0]), scale=0.5)
    >>> kernels.bandwidth.tolist()
    [0.5, 1.0]
    """

    centres: Any
    codes: Any
    sizes: Any
    scale: float = 1.0

    @property
    def bandwidth(self) -> Any:
        """Root mean variance over coordinates of each class."""
        sizes = self.sizes if self.sizes.ndim == 1 else self.sizes.square().mean(1).sqrt()
        return (sizes * self.scale).double().cpu().numpy()

    def points_at(self, rows: slice, z: Any) -> Any:
        """Turn standard normal numbers into kernel points, in place, one row for each."""
        sizes = self.sizes[self.codes[rows]] * self.scale
        sizes = sizes[:, None, None, None] if sizes.ndim == 1 else sizes[:, None, None, :]
        z *= sizes
        z += self.centres[rows].flatten(1)[:, None, None, :]
        return z.reshape(-1, *self.centres.shape[1:])


@dataclass(frozen=True, eq=False)
class KernelMeans:
    """A number for each kernel, the Monte-Carlo variance of it, and how it was found."""

    values: Any
    variances: Any
    how: str

    def error(self, weights: Any) -> float:
        """Return the Monte-Carlo standard error of the weighted sum of the values."""
        return float(np.sqrt(np.square(weights) @ self.variances))


Integrand = Callable[[Any, Any], Any]


@torch.no_grad()
def kernel_means(kernels: Kernels, points: KernelPoints, integrand: Integrand) -> KernelMeans:
    """Average `integrand(points, rows)` over each kernel; `rows` says whose kernel each point was drawn from.

    Examples
    --------
    >>> x = torch.zeros(2, 1, dtype=torch.float64)
    >>> k = Kernels(x, torch.tensor([0, 1]), torch.tensor([1.0, 2.0], dtype=torch.float64))
    >>> m = kernel_means(k, KernelPoints(4000, "plain", 0), lambda p, rows: p[:, 0].square())
    >>> [round(float(v)) for v in m.values]
    [1, 4]
    """
    centres = kernels.centres
    n, d = len(centres), centres[0].numel()
    total = torch.zeros((2, n), dtype=torch.float64, device=centres.device)
    index = torch.arange(n, device=centres.device)
    reporter = current_reporter()
    if reporter is not None:
        reporter.expect(n * points.per_kernel, "kernel points")
    for rows, z in points.blocks(n, d, centres.device, centres.dtype):
        shape = z.shape[:3]
        moved = kernels.points_at(rows, z)
        each = integrand(moved, index[rows].repeat_interleave(shape[1] * shape[2]))
        if reporter is not None:
            reporter.advance(len(each))
        groups = each.reshape(shape).double().mean(2)
        total[0, rows] += groups.sum(1)
        total[1, rows] += groups.square().sum(1)
    count = points.groups[0]
    mean = total[0] / count
    spread = (total[1] / count - mean.square()).clamp_min(0) * count / (count - 1)
    return KernelMeans(mean.cpu().numpy(), (spread / count).cpu().numpy(), str(points))
