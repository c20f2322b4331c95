"""Nearest neighbours in bounded memory: a tree in few dimensions, blocks of matrix products in many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unseen.core.arrays import Floats, Ints

__all__ = ["exact_rows", "gaps_by_column", "k_nearest", "k_nearest_in_parts", "nearest_distances"]

# measured: up to these dimensions a tree among so many rows is quicker than matrix products
TREES = ((6, 500), (12, 10_000))
BLOCK = 2**21  # numbers in one block of similarities: 16 MB
# points that ask, and points among which they ask, at a time: they stay in a cache, so that the cost is linear in both
TILE = (256, 2048)
# Rows among which all neighbours are looked for by default, for the points themselves and for points of their kernels (at least
# ten times as many), up to a dimension. Measured on one core: a tree asks a million points in 4 dimensions in 6 s and 200,000 in
# 6 dimensions in 3 s; products ask 30,000 in 10 dimensions in 3 s and in 100 in 6 s. More costs with the square.
EXACT = ((4, None, None), (6, 200_000, 50_000), (100, 30_000, 12_500))
MANY_DIMENSIONS = 12_500  # the same in more dimensions than the table has
QUERIES = 5_000  # points of a larger class that are asked for their nearest neighbour
FEW = 64  # rows up to which all distances at once are quicker than anything that is cleverer


def _use_tree(n: int, d: int) -> bool:
    return any(d <= dimensions and n >= rows for dimensions, rows in TREES)


def _similarity_blocks(points: Floats, among: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield x.t - |t|^2/2 block by block, largest where t is nearest to x; centred so that little cancels."""
    centre = among.mean(axis=0)
    targets = among - centre
    half = 0.5 * np.einsum("ij,ij->i", targets, targets)
    rows = max(1, BLOCK // len(among))
    for start in range(0, len(points), rows):
        block = slice(start, min(start + rows, len(points)))
        similarity = (points[block] - centre) @ targets.T
        similarity -= half
        yield block, similarity


def exact_rows(d: int, kernels: bool = False) -> int | None:
    """Return how many rows are looked through whole by default in d dimensions; None if there is no limit.

    Parameters
    ----------
    d : int
        Dimension.
    kernels : bool
        Neighbours of points drawn from the kernels, of which there are many for each row.

    Examples
    --------
    >>> exact_rows(3), exact_rows(10), exact_rows(10, kernels=True)
    (None, 30000, 12500)
    """
    for dimensions, rows, rows_of_kernels in EXACT:
        if d <= dimensions:
            return rows_of_kernels if kernels else rows
    return MANY_DIMENSIONS


def nearest_distances(points: Floats, max_queries: int | None = None) -> Floats:
    """Return each point's distance to the nearest other one.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        At least two points.
    max_queries : int or None
        With more points than this in more than four dimensions, only so many of them (drawn with a fixed seed) are asked for
        their neighbour among all, which keeps the cost linear in n. None asks all of up to `exact_rows` points, and 5,000 of
        more. In up to four dimensions a tree asks all of them at little cost, and must: the few wide gaps at the ends make much
        of the mean, and some of the points would miss them.

    Examples
    --------
    >>> nearest_distances(np.array([[0.0], [1.0], [3.0]])).tolist()
    [1.0, 1.0, 2.0]
    """
    n, d = points.shape
    if n <= FEW:
        from scipy.spatial.distance import cdist

        between = cdist(points, points)
        np.fill_diagonal(between, np.inf)
        return np.asarray(between.min(axis=1))
    asked = np.arange(n)
    limit = exact_rows(d)
    if limit is not None and n > (limit if max_queries is None else max_queries):
        count = QUERIES if max_queries is None else max_queries
        asked = np.sort(np.random.default_rng(0).choice(n, count, replace=False))
    if d <= TREES[0][0] and _use_tree(n, d):  # so few points are asked that products stay ahead in more dimensions
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(points).query(points[asked], k=[2])[0], dtype=float)[:, 0]
    nearest = _nearest_others(points, asked)
    gap = points[asked] - points[nearest]  # distances anew: differences of squares would lose digits
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", gap, gap)))


def _nearest_others(points: Floats, asked: Ints) -> Ints:
    """Return the row of the nearest other point to each of the rows asked, the first of equally near ones."""
    centred = points - points.mean(axis=0)
    half = 0.5 * np.einsum("ij,ij->i", centred, centred)
    nearest = np.empty(len(asked), dtype=np.int64)
    for start in range(0, len(asked), TILE[0]):
        own = asked[start : start + TILE[0]]
        row, found, best = np.arange(len(own)), np.zeros(len(own), dtype=np.int64), np.full(len(own), -np.inf)
        for begin in range(0, len(points), TILE[1]):
            part = slice(begin, begin + TILE[1])
            similarity = centred[own] @ centred[part].T
            similarity -= half[part]
            inside = (own >= part.start) & (own < part.stop)
            similarity[row[inside], own[inside] - begin] = -np.inf
            most = similarity.argmax(axis=1)
            better = similarity[row, most] > best
            best[better] = similarity[row, most][better]
            found[better] = most[better] + begin
        nearest[start : start + TILE[0]] = found
    return nearest


def k_nearest(points: Floats, among: Floats, k: int, own: Ints | None = None) -> Ints:
    """Return the indices of the k nearest rows of `among` to each point, nearest first.

    Parameters
    ----------
    points, among : ndarray of shape (m, d) and (n, d)
        Where to look from, and the rows looked among.
    k : int
        Number of neighbours, at most n.
    own : ndarray of int, optional
        Row of `among` that each point is; it counts as the first neighbour whatever its ties.

    Examples
    --------
    >>> k_nearest(np.array([[0.9]]), np.array([[0.0], [1.0], [3.0]]), 2).tolist()
    [[1, 0]]
    """
    if _use_tree(*among.shape):
        found = _by_tree(points, among, k, own)
    else:
        found = np.empty((len(points), k), dtype=np.int64)
        for block, similarity in _similarity_blocks(points, among):
            if own is not None:
                similarity[np.arange(len(similarity)), own[block]] = np.inf
            found[block] = _top(similarity, k)
    return found


def k_nearest_in_parts(
    sample: Floats,
    k: int,
    largest: int | None,
    points: Floats | None = None,
    of: Ints | None = None,
    own: bool = False,
) -> Ints:
    """Return the k nearest rows of a sample among those of one part of it: each row's own part, itself the first.

    A sample of more than `largest` rows is cut at random, with a fixed seed, into equal parts of at most so many: in ten
    dimensions a tree's search widens with the number of rows, and the parts keep the cost linear in it. With `of`, the
    neighbours are those of `points`, each in the part of the row of the sample it was drawn around, or with `own` is itself.

    Examples
    --------
    >>> x = np.arange(6.0)[:, None]
    >>> k_nearest_in_parts(x, 2, None)[0].tolist(), k_nearest_in_parts(x, 2, 3).shape
    ([0, 1], (6, 2))
    """
    n = len(sample)
    if largest is None or n <= largest:
        if points is None:
            return k_nearest(sample, sample, k, np.arange(n))
        return k_nearest(points, sample, k, of if own else None)
    place = np.arange(n) if of is None else of
    asking = sample if points is None else points
    found = np.empty((len(asking), k), dtype=np.int64)
    part_of, within = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    parts = np.array_split(np.random.default_rng(0).permutation(n), -(-n // largest))
    for number, part in enumerate(parts):
        part_of[part], within[part] = number, np.arange(len(part))
    for number, part in enumerate(parts):
        asked = part if points is None else np.flatnonzero(part_of[place] == number)
        if len(asked):
            itself = within[place[asked]] if points is None or own else None
            found[asked] = part[k_nearest(asking[asked], sample[part], k, itself)]
    return found


def _by_tree(points: Floats, among: Floats, k: int, own: Ints | None) -> Ints:
    from scipy.spatial import cKDTree

    tree, wanted = cKDTree(among, leafsize=32), [*range(1, k + 1)]
    if own is None:
        return np.asarray(tree.query(points, k=wanted)[1], dtype=np.int64)
    place = np.empty(len(among), dtype=np.int64)
    place[tree.indices] = np.arange(len(among))
    order = np.argsort(place[own])  # leaf by leaf, so that what is read stays near the processor
    found = np.empty((len(points), k), dtype=np.int64)
    found[order] = tree.query(points[order], k=wanted)[1]
    place = np.where((found == own[:, None]).any(axis=1), (found == own[:, None]).argmax(axis=1), k - 1)
    for j in range(k - 1, 0, -1):  # move the point itself to the front, or in place of the last
        later = place >= j
        found[later, j] = found[later, j - 1]
    found[:, 0] = own
    return found


def _top(similarity: Floats, k: int) -> Ints:
    if k > 8:
        best = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(similarity, best, axis=1), axis=1, kind="stable")
        return np.take_along_axis(best, order, axis=1).astype(np.int64)
    rows = np.arange(len(similarity))
    best = np.empty((len(similarity), k), dtype=np.int64)
    for j in range(k):  # a few passes of argmax are quicker than a partition
        best[:, j] = similarity.argmax(axis=1)
        similarity[rows, best[:, j]] = -np.inf
    return best


def gaps_by_column(points: Floats, distinct: bool) -> Floats:
    """Return, for each column, the mean distance of a value to the nearest one of the other rows.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        At least two rows.
    distinct : bool
        Measure to the nearest *different* value; a constant column gets 0. Otherwise a tie counts as distance 0.

    Examples
    --------
    >>> x = np.array([[0.0], [0.0], [2.0]])
    >>> gaps_by_column(x, distinct=True).tolist(), gaps_by_column(x, distinct=False).round(4).tolist()
    ([2.0], [0.6667])
    """
    ordered = np.sort(points, axis=0)
    steps = np.diff(ordered, axis=0)
    edge = np.full((1, points.shape[1]), np.inf)
    if distinct:
        steps = np.where(steps > 0, steps, np.nan)
        before = _fill_down(np.vstack([edge, steps]))
        after = _fill_down(np.vstack([steps, edge])[::-1])[::-1]
    else:
        before, after = np.vstack([edge, steps]), np.vstack([steps, edge])
    nearest = np.minimum(before, after)
    return np.asarray(np.where(np.isfinite(nearest), nearest, 0.0).mean(axis=0))


def _fill_down(values: Floats) -> Floats:
    """Replace NaN by the last number above it in the same column."""
    row = np.where(np.isnan(values), 0, np.arange(len(values))[:, None])
    return np.take_along_axis(values, np.maximum.accumulate(row, axis=0), axis=0)
