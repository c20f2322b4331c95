"""Nearest neighbours on parts of the data, from one search among all rows (Fix & Hodges, 1951)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.learner import Exact, Sample, decide
from unseen.models.exact.scaling import Scaling, scaling_of

__all__ = ["NearestNeighbours"]

ROUNDING = 1e-13  # of a squared distance that is computed from squared norms, over the largest of these
DENSE_ROWS = 4000  # up to which all squared distances are made at once, 128 MB
CHUNK_NUMBERS = 1 << 20  # of intermediate numbers, 8 MB
SPARE = 3  # candidates beyond those expected to be needed, so that hardly any prediction must look at all rows


@register
@dataclass(frozen=True)
class NearestNeighbours(Exact):
    """scikit-learn's KNeighborsClassifier and KNeighborsRegressor by Euclidean distance, bare or behind scalers.

    The neighbours of a row in a training part are the nearest of its neighbours in the sample that the part has, as often as it
    has them. A fit is refitted if rows of different targets compete for the last place at the same distance.

    References
    ----------
    Fix, E. and Hodges, J. L. (1951). Discriminatory analysis. Nonparametric discrimination: consistency properties.
    Report 4, USAF School of Aviation Medicine.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("wine").xy
    >>> model = KNeighborsClassifier(3)
    >>> quick, slow = (unseen.run(model, X, y, design="loo", shortcuts=s).test.value for s in (True, False))
    >>> bool(np.array_equal(quick, slow))
    True
    """

    id: ClassVar[str] = "nearest-neighbours"
    learners: ClassVar[tuple[str, ...]] = ("KNeighborsClassifier", "KNeighborsRegressor")

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        return [
            KNeighborsClassifier(3),
            KNeighborsClassifier(1),
            KNeighborsClassifier(4, weights="distance", algorithm="brute"),
            KNeighborsRegressor(3),
            KNeighborsRegressor(4, weights="distance"),
        ]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        k = final.n_neighbors
        euclidean = final.metric == "euclidean" or (final.metric == "minkowski" and final.p == 2)
        if (
            not euclidean
            or final.metric_params
            or final.weights not in ("uniform", "distance")
            or not 1 <= k < len(sample.X)
        ):
            return None
        scaling = scaling_of(scalers, sample, fits)
        if scaling is None:
            return None
        targets = sample.codes if sample.data.task == "classification" else np.asarray(sample.data.y, dtype=float)
        search = _NeighbourSearch(
            sample.X, scaling, targets, sample.n_classes, int(k), final.weights == "distance", fits
        )
        out, sure = search.vote()
        safe = scaling.safe & (fits.sizes >= k)
        safe[fits.fit[~sure]] = False
        if not sample.n_classes:
            return ManyAnswers(values=out[:, 0], safe=safe)
        total = out.sum(axis=1, keepdims=True)
        # counts of votes have no rounding error; sums of weights have
        return decide(
            fits, out, -1.0 if final.weights == "uniform" else 1e-9 * total[:, 0], safe, out / total, "probability"
        )


class _NeighbourSearch:
    """Neighbours of all wanted rows among all rows, and the votes of those that a fit has."""

    def __init__(
        self, X: Floats, scaling: Scaling, targets: Array, n_classes: int, k: int, by_distance: bool, fits: ManyFits
    ) -> None:
        self.units = np.median(scaling.scale, axis=0)
        self.X = (X - X.mean(axis=0)) / self.units
        self.scaling, self.targets, self.n_classes = scaling, targets, n_classes
        self.k, self.by_distance, self.fits = k, by_distance, fits
        largest = np.square((np.abs(X).max(axis=0) + np.abs(scaling.shift)) / scaling.scale).sum(axis=1)
        self.tolerance = ROUNDING * np.broadcast_to(largest, (len(fits),))

    def vote(self) -> tuple[Floats, Array]:
        """Return the votes of each wanted prediction (or its mean target), and whether no tie is in doubt."""
        fits, n = self.fits, len(self.X)
        wanted, place = np.unique(fits.row, return_inverse=True) if len(fits.row) < n else (np.arange(n), fits.row)
        share = 1.0 if fits.left_out is not None else np.count_nonzero(fits.counts) / fits.counts.size
        m = (
            self.k + 1 + SPARE
            if fits.left_out is not None
            else int(np.ceil((self.k + 2) / share + SPARE * np.sqrt(self.k + 2)))
        )
        if not self.scaling.plain:
            m *= 2  # each fit has its own distances, so that more rows may be among the nearest
        m = min(m, n)
        candidates, distances = self._nearest(wanted, m)
        out = np.zeros((len(fits.row), max(self.n_classes, 1)))
        sure = np.ones(len(fits.row), dtype=bool)
        known = np.ones(len(fits.row), dtype=bool)
        p = self.X.shape[1]
        step = max(1, CHUNK_NUMBERS // (m if self.scaling.plain else m * p))
        for start in range(0, len(fits.row), step):
            part = slice(start, min(start + step, len(fits.row)))
            near, apart = candidates[place[part]], distances[place[part]]
            limit = np.full(len(near), np.inf) if m == n else apart[:, -1]
            out[part], sure[part], known[part] = self._count(part, near, apart, limit)
        rest = np.flatnonzero(~known)
        step = max(1, CHUNK_NUMBERS // n)
        for start in range(0, len(rest), step):
            some = rest[start : start + step]
            order, apart = self._nearest(fits.row[some], n)
            out[some], sure[some], _ = self._count(some, order, apart, np.full(len(some), np.inf))
        return out, sure

    def _nearest(self, rows: Ints, m: int) -> tuple[Ints, Floats]:
        """Return the m nearest rows of each row, itself included, with their squared distances in ascending order."""
        n = len(self.X)
        if n > DENSE_ROWS and m < n:
            from sklearn.neighbors import NearestNeighbors as Tree

            apart, near = Tree(n_neighbors=m).fit(self.X).kneighbors(self.X[rows])
            return near.astype(np.int64), apart**2
        near = np.empty((len(rows), m), dtype=np.int64)
        apart = np.empty((len(rows), m))
        norms = np.square(self.X).sum(axis=1)
        step = max(1, 4 * CHUNK_NUMBERS // n)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            at = rows[part]
            rough = norms - 2 * (self.X[at] @ self.X.T)
            chosen = (
                np.argpartition(rough, m - 1, axis=1)[:, :m] if m < n else np.broadcast_to(np.arange(n), rough.shape)
            )
            distance = np.take_along_axis(rough, chosen, axis=1) + norms[at, None]
            order = np.argsort(distance, axis=1, kind="stable")
            near[part] = np.take_along_axis(chosen, order, axis=1)
            apart[part] = np.take_along_axis(distance, order, axis=1)
        return near, apart

    def _count(self, part: Any, near: Ints, apart: Floats, limit: Floats) -> tuple[Floats, Array, Array]:
        """Return votes, whether they are beyond doubt, and whether the candidates were enough."""
        fits, k = self.fits, self.k
        fit, tolerance = fits.fit[part], self.tolerance[fits.fit[part]][:, None]
        if not self.scaling.plain or self.by_distance:
            weight = np.square(self.units / self.scaling.scale)
            weight = np.broadcast_to(weight, (len(fits), weight.shape[1]))[fit]
            away = self.X[near] - self.X[fits.row[part], None, :]
            apart = np.einsum("imp,ip->im", away * away, weight)
            limit = limit * weight.min(axis=1)
        if not self.scaling.plain:
            order = np.argsort(apart, axis=1, kind="stable")
            near, apart = np.take_along_axis(near, order, axis=1), np.take_along_axis(apart, order, axis=1)
        times = fits.times(fit[:, None], near)
        upto = np.cumsum(times, axis=1)
        last = np.minimum((upto < k).sum(axis=1), near.shape[1] - 1)
        farthest = np.take_along_axis(apart, last[:, None], axis=1)
        known = (upto[:, -1] >= k) & (farthest[:, 0] + tolerance[:, 0] < limit)
        taken = np.clip(k - (upto - times), 0, times)
        # rows that might change places with the last one that counts
        level = (np.abs(apart - farthest) <= tolerance) & (times > 0)
        contested = np.any(level & (taken < times), axis=1)
        target = self.targets[near]
        sure = np.ones(len(near), dtype=bool)
        if contested.any():
            at = np.flatnonzero(contested)
            one = np.take_along_axis(target[at], last[at, None], axis=1)
            sure[at] = ~np.any(level[at] & (target[at] != one), axis=1)
        share: Any = taken
        if self.by_distance:
            # how scikit-learn treats a distance of zero depends on its rounding errors
            sure &= ~np.any((taken > 0) & (apart <= tolerance), axis=1)
            share = np.where(taken > 0, taken / np.sqrt(np.maximum(apart, 1e-300)), 0.0)
        if not self.n_classes:
            total = share.sum(axis=1)
            return ((share * target).sum(axis=1) / total)[:, None], sure, known
        votes = np.stack([(share * (target == c)).sum(axis=1) for c in range(self.n_classes)], axis=1)
        return votes.astype(float), sure, known
