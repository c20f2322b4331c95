"""Mass of kernels outside their own decision region: in closed form if there is one, else by batches of points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.resubstitution._decision_regions import Regions
from unseen.resubstitution._decision_rules import Linear
from unseen.resubstitution._kernel_draws import KernelDraws
from unseen.resubstitution.kernels import Spread

__all__ = ["Integral", "kernel_means", "misclassified_at", "misclassified_mass"]

LATTICE_SHIFTS, LATTICE_POINTS = 4, 128  # random shifts, from which the error is estimated, and points of each
DEGREES = 12  # degrees of freedom that give a standard error to some 20%
ENOUGH = 10  # points per kernel that hardly miss a share that matters
BATCH = 2**21  # numbers in the points of one call of predict


@dataclass(frozen=True, eq=False)
class Integral:
    """A number for each kernel, its Monte-Carlo variance (independent between kernels), and how it was found."""

    values: Floats
    variances: Floats
    how: str

    def error(self, weights: Floats) -> float:
        """Return the Monte-Carlo standard error of the weighted sum of the values."""
        return float(np.sqrt(weights**2 @ self.variances))


Mask = npt.NDArray[np.bool_]
Integrand = Callable[[Floats, Ints], Floats]  # of points, and of the kernel each point belongs to


def kernel_means(
    centres: Floats,
    codes: Ints,
    spread: Spread,
    draws: KernelDraws,
    integrand: Integrand,
    rows: Ints | None = None,
    weights: Floats | None = None,
) -> Integral:
    """Average `integrand(points, kernels)` over each kernel.

    `rows` names the kernels that are evaluated; the others keep 0. Points are drawn for all, so that a kernel's points
    depend on nothing but the seed and its place in the sample. The error is estimated from independent groups of these points;
    if few kernels decide, by further groups of points around those, which leave the means as they are. `weights` say how
    much each kernel counts in the sum whose error is wanted, equally much by default.
    """
    if not np.isfinite(spread.factor).all():
        raise InputError(
            "the bandwidth is infinite, which only the exact integral of a linear two-class model can be; give a large number."
        )
    n = len(centres)
    wanted = np.ones(n, dtype=bool) if rows is None else np.isin(np.arange(n), rows)
    work = _KernelAverage(centres, codes, spread, integrand)
    found = work.moments(draws, np.arange(n), wanted)
    count = draws.groups[0]
    groups = np.full(n, count)
    chosen, more = _deciding_kernels(found.inside if weights is None else found.inside * weights**2, wanted, draws)
    if more:
        again = work.moments(draws.further(more), chosen, np.ones(len(chosen), dtype=bool))
        gap = found.values[chosen] - again.values
        found.between[chosen] += again.between + gap**2 * count * more / (count + more)
        groups[chosen] += more
    between = found.between / np.maximum(groups - 1, 1)
    between += _one_point_of_all(found, wanted & work.wide) / (groups * draws.groups[1] ** 2)
    return Integral(found.values, between / count, str(draws))


def _deciding_kernels(parts: Floats, wanted: Mask, draws: KernelDraws) -> tuple[Ints, int]:
    """Return the kernels that decide the error, and how many more groups of points they need if they are few.

    `parts` are the kernels' parts in the variance of the weighted sum of single points.
    """
    if not parts.any():
        return np.empty(0, dtype=np.int64), 0
    kernels = parts.sum() ** 2 / (parts**2).sum()  # as many alike would have the same relative error
    missing = DEGREES - kernels * (draws.groups[0] - 1)
    # so few points as to miss what decides say nothing of a kernel by their agreement
    known = parts >= parts.max() / 10 if draws.per_kernel >= ENOUGH else wanted
    return np.flatnonzero(known), max(0, int(np.ceil(missing / kernels)))


def _one_point_of_all(found: _KernelMoments, drawn: Mask) -> Floats:
    """Return the square of what one point may change, shared out among the kernels that decide, or all if none does.

    Points that agree by chance, or miss what is rare, leave an error of at least this.
    """
    where = found.inside > 0 if found.inside.any() else drawn
    change = found.reach.max() or 1.0
    return np.asarray(np.where(where, change**2 / max(1, int(where.sum())), 0.0))


@dataclass(frozen=True, eq=False)
class _KernelMoments:
    """Of each kernel: the mean, the sum of squares between the groups' means, the variance and the range of single points."""

    values: Floats
    between: Floats
    inside: Floats
    reach: Floats


@dataclass(frozen=True, eq=False)
class _KernelAverage:
    """What is averaged, over which kernels."""

    centres: Floats
    codes: Ints
    spread: Spread
    integrand: Integrand

    @property
    def wide(self) -> Mask:
        """Which kernels are more than a point."""
        return np.asarray(self.spread.bandwidth[self.codes] > 0)

    def moments(self, draws: KernelDraws, index: Ints, wanted: Mask) -> _KernelMoments:
        """Return the moments of the kernels `index`, 0 for those not wanted, whose points are drawn all the same."""
        found = _KernelMoments(*(np.zeros(len(index)) for _ in range(4)))
        count, size = draws.groups
        for block, parts in draws.blocks(len(index), self.centres.shape[1]):
            chosen = np.flatnonzero(wanted[block])
            totals, squares = np.zeros((len(chosen), count)), np.zeros(len(chosen))
            low, high = np.full(len(chosen), np.inf), np.full(len(chosen), -np.inf)
            for groups, z in parts:
                if len(chosen):
                    values = self.at(index[chosen + block.start], z if len(chosen) == len(z) else z[chosen])
                    totals[:, groups] += values.sum(axis=2)
                    squares += (values**2).sum(axis=(1, 2))
                    low, high = np.minimum(low, values.min(axis=(1, 2))), np.maximum(high, values.max(axis=(1, 2)))
            means, place = totals / size, chosen + block.start
            found.values[place] = means.mean(axis=1)
            found.between[place] = _without_rounding(means.var(axis=1) * count, 1e-20)
            found.inside[place] = _without_rounding(squares / (count * size) - found.values[place] ** 2, 1e-12)
            found.reach[place] = high - low
        return found

    def at(self, index: Ints, z: Floats) -> Floats:
        """Return the integrand at the points of each kernel of `index` and group."""
        m, groups, size, d = z.shape
        kernels = np.repeat(index, groups * size)
        points = self.spread.displace(z.reshape(-1, d), self.codes[kernels])
        points.reshape(m, groups * size, d)[...] += self.centres[index][:, None, :]
        return np.asarray(_in_batches(self.integrand, points, kernels).reshape(m, groups, size))


def _without_rounding(values: Floats, rounding: float) -> Floats:
    """Return 0 if sums of equal numbers differ by rounding alone."""
    return np.asarray(np.where(values > rounding, values, 0.0))


def _in_batches(integrand: Integrand, points: Floats, kernels: Ints) -> Floats:
    rows = max(1, BATCH // points.shape[1])
    if len(points) <= rows:
        return np.asarray(integrand(points, kernels), dtype=float)
    parts = [integrand(points[a : a + rows], kernels[a : a + rows]) for a in range(0, len(points), rows)]
    return np.concatenate(parts).astype(float)


def misclassified_mass(
    regions: Regions,
    spread: Spread,
    draws: KernelDraws,
    *,
    exact: bool = True,
    rows: Ints | None = None,
    centres: Floats | None = None,
    codes: Ints | None = None,
    weights: Floats | None = None,
) -> Integral:
    """Return the share of each kernel that the model assigns to another class than the kernel's own.

    `centres` and `codes` default to the sample's points; `rows` and `weights` as in `kernel_means`.
    """
    places = regions.points if centres is None else centres
    own = regions.codes if codes is None else codes
    form = regions.form if exact else None
    assign = regions.assign
    if form is not None:
        if len(form.offsets) == 1:
            return _two_class(form, places, own, spread)
        found = None if spread.ball else _multi_class(form, places, own, spread, draws.seed)
        if found is not None:
            return found
        draws, assign = draws.quasi(places.shape[1]), form.assign
    wrong = lambda points, kernels: assign(points) != own[kernels]  # noqa: E731
    return kernel_means(places, own, spread, draws, wrong, rows, weights)


def misclassified_at(regions: Regions, spread: Spread, draws: KernelDraws, rows: Ints, *, exact: bool = True) -> Floats:
    """Return the misclassified share of the kernels of some training points; their points are those of the first kernels."""
    centres, codes = regions.points[rows], regions.codes[rows]
    return misclassified_mass(regions, spread, draws, exact=exact, centres=centres, codes=codes).values


def _two_class(form: Linear, centres: Floats, codes: Ints, spread: Spread) -> Integral:
    direction = form.weights[0]
    margin = (centres @ direction + form.offsets[0]) * np.where(codes == 0, 1.0, -1.0)  # positive on the wrong side
    sd = spread.along(direction)[codes]
    with np.errstate(divide="ignore", invalid="ignore"):
        mass = spread.below(margin / sd)
    point = sd == 0  # a kernel without width is a point; on the boundary it belongs to class 0
    wrong = np.where(codes == 0, margin > 0, margin >= 0)
    values = np.where(point | np.isnan(mass), wrong.astype(float), mass)
    return Integral(values, np.zeros(len(values)), "exact")


def _multi_class(form: Linear, centres: Floats, codes: Ints, spread: Spread, seed: int) -> Integral | None:
    """Integrate linear regions of several classes as orthants, by randomly shifted lattices; None if degenerate."""
    rng = np.random.default_rng(seed)
    values, variances = np.zeros(len(centres)), np.zeros(len(centres))
    shifts = max(LATTICE_SHIFTS, 256 // len(centres))  # few kernels leave few degrees of freedom to their error
    for code in np.unique(codes):
        others = np.delete(np.arange(len(form.offsets)), code)
        directions = form.weights[code] - form.weights[others]
        rows = np.flatnonzero(codes == code)
        root = spread.project(directions, int(code))
        sd = np.linalg.norm(root, axis=1)
        if not np.all(sd > 0) or not np.all(np.isfinite(sd)):
            return None
        unit = root / sd[:, None]
        correlation = unit @ unit.T
        if np.linalg.eigvalsh(correlation)[0] < 1e-9:
            return None
        margins = (centres[rows] @ directions.T + form.offsets[code] - form.offsets[others]) / sd
        inside = _orthants(margins, np.linalg.cholesky(correlation), shifts, rng)
        values[rows] = 1 - inside.mean(axis=1)
        variances[rows] = inside.var(axis=1, ddof=1) / inside.shape[1]
    how = f"orthant probabilities, {shifts} x {LATTICE_POINTS} lattice points per kernel"
    return Integral(values, variances, how)


def _orthants(margins: Floats, root: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return P(every coordinate of margin + root z > 0) for each row, once per random shift (Genz, 1992)."""
    n, m = margins.shape
    # generators of a rank-1 lattice: square roots of primes; the tent transform smooths its edges
    lattice = np.outer(np.arange(1, LATTICE_POINTS + 1), np.sqrt(_primes(max(m - 1, 1))))
    out = np.empty((n, count))
    step = max(1, BATCH // (count * LATTICE_POINTS * m))
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        shifts = rng.random((block.stop - start, count, 1, max(m - 1, 1)))
        u = np.abs(2 * ((lattice + shifts) % 1.0) - 1)
        product = np.ones(u.shape[:3])
        z = np.zeros((*u.shape[:3], m))
        for k in range(m):
            bound = margins[block, k][:, None, None] + z[..., :k] @ root[k, :k]
            share = ndtr(bound / root[k, k])
            product *= share
            if k < m - 1:
                z[..., k] = -ndtri(np.clip(u[..., k] * share, 1e-300, 1 - 2.0**-53))
        out[block] = product.mean(axis=2)
    return out


def _primes(count: int) -> Floats:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % p for p in found if p * p <= candidate):
            found.append(candidate)
        candidate += 1
    return np.array(found, dtype=float)
