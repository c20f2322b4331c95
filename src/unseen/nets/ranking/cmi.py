"""The score of the PGDL competition: conditional mutual information of gap and measure (Jiang et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Interval, check_level
from unseen.core.notes import Note, note
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed, stream
from unseen.nets.ranking.grid import NetworkGrid, as_grid, one_number_each
from unseen.nets.ranking.noise_floor import NoiseFloor

__all__ = ["CmiScorer", "NoiseFloor", "Score", "cmi", "scorer_of"]


Floats = NDArray[np.float64]
MOST_PERMUTATIONS = 1_000_000  # far beyond what a p-value needs; the scores of all are kept in memory
FEW_NETWORKS = 48  # per seed: with fewer a random measure scores well above 0


@dataclass(frozen=True, kw_only=True)
class Score(Result):
    """Conditional mutual information of gap and measure over the entropy of the gap: 0 no information, 1 the order of the gap.

    Parameters
    ----------
    value : float
        The score as a fraction; leaderboards print 100 times that. With several seeds the mean over seeds.
    by_set : dict
        Score of every set of hyper-parameters held fixed, mean over seeds; the smallest decides. NaN if the gap has no order
        left within the set's cells.
    by_seed : tuple of float
        Score of each seed's grid.
    interval : Interval or None
        Bootstrap over seeds, if there are several.
    n_networks : int
        Number of networks.
    sizes, self_pairs, ties
        As asked for.
    notes : tuple of Note
        Statistical weakness.
    """

    shown_by: ClassVar[str] = "unseen.nets"

    value: float
    by_set: dict[tuple[str, ...], float]
    by_seed: tuple[float, ...]
    interval: Interval | None
    n_networks: int
    sizes: tuple[int, ...]
    self_pairs: bool
    ties: str
    notes: tuple[Note, ...] = ()
    parts: Any = field(default=None, repr=False, compare=False, metadata={"shown": False})

    kept_as = "nets-score"

    @property
    def binding(self) -> tuple[str, ...]:
        """The set of hyper-parameters whose score is smallest."""
        defined = {k: v for k, v in self.by_set.items() if v == v}
        return min(defined, key=lambda k: defined[k])

    @cached_property
    def p_value(self) -> float:
        """Permutation p-value from 999 permutations with seed 0; `noise_floor` gives others."""
        return self.noise_floor(999).p_value

    def noise_floor(self, n_permutations: int = 200, *, random_state: RandomState = 0) -> NoiseFloor:
        """Score the measure permuted over the networks (of each seed), many times.

        Examples
        --------
        >>> import itertools
        >>> a, b, c = zip(*itertools.product(range(4), repeat=3))
        >>> gap = np.array(a) + 0.1 * np.array(b) + 0.01 * np.array(c)
        >>> floor = cmi(gap, gap, {"a": a, "b": b, "c": c}).noise_floor(99)
        >>> floor.p_value, floor.mean < 0.1
        (0.01, True)
        """
        if isinstance(n_permutations, bool) or not isinstance(n_permutations, int) or n_permutations < 1:
            raise InputError(f"n_permutations is {n_permutations!r}; it must be a whole number of at least 1.")
        if n_permutations > MOST_PERMUTATIONS:
            raise InputError(f"n_permutations is {n_permutations}; give at most {MOST_PERMUTATIONS:,}.")
        if self.parts is None:
            raise InputError(
                "this score was read back from a store, without the networks behind it; score the measure again."
            )
        rng = stream(root_seed(random_state), "cmi", "permutations")
        total = np.zeros(n_permutations)
        for scorer, measure in self.parts:
            shuffled = rng.permuted(np.tile(measure, (n_permutations, 1)), axis=1)
            chunks = np.array_split(shuffled, max(1, n_permutations // 50))
            total += np.concatenate([np.nanmin(scorer.scores(part), axis=1) for part in chunks])
        scores = total / len(self.parts)
        p = (1 + int(np.sum(scores >= self.value - 1e-12))) / (1 + n_permutations)
        return NoiseFloor(
            mean=float(scores.mean()),
            quantile=float(np.quantile(scores, 0.95)),
            p_value=p,
            n_permutations=n_permutations,
            scores=scores,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per set of hyper-parameters held fixed."""
        return [{"fixed": " ".join(names), "score": value} for names, value in self.by_set.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, the sets as a list."""
        return {
            **super().to_dict(),
            "by_set": [{"fixed": list(k), "score": None if v != v else v} for k, v in self.by_set.items()],
            "binding": list(self.binding),
        }

    def __str__(self) -> str:
        between = "" if self.interval is None else f" [{100 * self.interval.low:.2f}, {100 * self.interval.high:.2f}]"
        held = " and ".join(self.binding) or "nothing"
        return f"CMI {100 * self.value:.2f}{between} of 100, least with {held} fixed ({self.n_networks} networks)"


def cmi(
    gap: ArrayLike,
    measure: ArrayLike,
    grid: Any,
    *,
    sizes: Sequence[int] = (2,),
    self_pairs: bool = True,
    ties: str = "negative",
    seeds: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 400,
    random_state: RandomState = 0,
) -> Score:
    """Score a measure of generalization as the PGDL competition's program did.

    For every set of two hyper-parameters, pairs of networks are sorted into cells by both networks' values; within cells
    the mutual information of "larger gap" and "larger measure" is taken, averaged over cells, and divided by the averaged
    entropy of "larger gap". The smallest set decides.

    Parameters
    ----------
    gap : array-like
        Training accuracy minus test accuracy of each network.
    measure : array-like
        The measure of each network; larger shall mean a larger gap, since the program is not blind to the sign.
    grid : mapping or DataFrame
        Hyper-parameter names to values, one per network; every combination must be there exactly once (per seed).
    sizes : sequence of int
        Sizes of the sets that are held fixed. The program takes exactly 2; (0, 1, 2) is what the paper says.
    self_pairs : bool
        Pair each network with itself, as the program does. Without, a measure and its negative score the same.
    ties : str
        "negative": a tie counts as not larger, as in the program; "half": as half of each.
    seeds : array-like, optional
        Seed of each network; each seed's grid is scored by itself, the value is the mean.
    level : float
        Of the interval over seeds.
    n_bootstrap : int
        Replications behind the interval.
    random_state : int, Generator or None
        Of the bootstrap.

    Returns
    -------
    Score

    References
    ----------
    Jiang, Y., Foret, P., Yak, S., Roy, D. M., Mobahi, H., Dziugaite, G. K., Bengio, S., Gunasekar, S., Guyon, I. and
    Neyshabur, B. (2020). NeurIPS 2020 competition: predicting generalization in deep learning. arXiv:2012.07976.

    Examples
    --------
    >>> import itertools
    >>> a, b, c = zip(*itertools.product([1, 11], [8, 16], [0.0, 0.5]))
    >>> gap = [0.1, 0.2, 0.3, 0.4, 0.15, 0.25, 0.36, 0.45]
    >>> score = cmi(gap, gap, {"depth": a, "width": b, "dropout": c})
    >>> round(score.value, 9), cmi(gap, [0] * 8, {"depth": a, "width": b, "dropout": c}).value
    (1.0, 0.0)
    """
    g, m = one_number_each("gap", gap), one_number_each("measure", measure)
    if g.shape != m.shape:
        raise InputError(f"gap holds {g.size} networks, measure {m.size}; give both for the same networks.")
    made = as_grid(grid, g.size, seeds)
    columns = _check(g, made, sizes, ties)
    check_level(level)
    parts = [(scorer_of(g[rows], made, rows, columns, self_pairs, ties), m[rows]) for rows in made.tables()]
    by_part = np.stack([scorer.scores(values)[0] for scorer, values in parts])
    undefined = np.isnan(by_part).any(axis=0)
    if undefined.all():
        raise InputError(
            "the gap has no order left within any set of hyper-parameters that is held fixed; give more hyper-parameters or "
            "smaller sets (`sizes=(1,)`)."
        )
    by_seed = by_part[:, ~undefined].min(axis=1)
    names = [tuple(made.names[k] for k in held) for held in columns]
    # noise floor and bootstrap look at the sets behind the value, otherwise they would be smallest over more sets than it is
    parts = [(scorer.without(undefined), values) for scorer, values in parts]
    interval = None
    if made.n_seeds > 1:
        used = [held for held, left_out in zip(columns, undefined) if not left_out]
        interval = _interval(
            g, m, made, used, (self_pairs, ties), float(by_seed.mean()), level, n_bootstrap, random_state
        )
    by_set = dict(zip(names, np.where(undefined, np.nan, by_part.mean(axis=0)).tolist()))
    return Score(
        value=float(by_seed.mean()),
        by_set=by_set,
        by_seed=tuple(by_seed.tolist()),
        interval=interval,
        n_networks=g.size,
        sizes=tuple(sizes),
        self_pairs=self_pairs,
        ties=ties,
        notes=_notes(g, made, [names[k] for k in np.flatnonzero(undefined)]),
        parts=parts,
    )


def _check(gap: Floats, grid: NetworkGrid, sizes: Sequence[int], ties: str) -> list[tuple[int, ...]]:
    if ties not in ("negative", "half"):
        raise UnknownName("treatment of ties", ties, ["negative", "half"])
    if not np.isfinite(gap).all():
        raise InputError("gap holds infinite values; a gap of accuracies lies between -1 and 1.")
    if np.ptp(gap) == 0:
        raise InputError(f"all networks have the gap {gap[0]:g}; a constant gap has no order to predict.")
    p = len(grid.names)
    if not sizes or any(isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 0 <= k <= p for k in sizes):
        raise InputError(f"sizes is {sizes!r}; with {p} hyper-parameters give whole numbers from 0 to {p}.")
    return [held for k in sorted(set(sizes)) for held in combinations(range(p), k)]


def _interval(
    gap: Floats,
    measure: Floats,
    grid: NetworkGrid,
    columns: list[tuple[int, ...]],
    how: tuple[bool, str],
    value: float,
    level: float,
    count: int,
    random_state: RandomState,
) -> Interval:
    """Percentile bootstrap: each cell of the grid draws its networks anew from its own seeds.

    A cell with s networks shows (s - 1) / s of their variance to the bootstrap; deviations are widened by that.
    """
    rng = stream(root_seed(random_state), "cmi", "seeds")
    rows = np.stack(grid.tables())
    n_seeds, n_cells = rows.shape
    scores = np.empty((count, n_seeds))
    for b in range(count):
        for s in range(n_seeds):
            drawn = rows[rng.integers(0, n_seeds, n_cells), np.arange(n_cells)]
            scorer = scorer_of(gap[drawn], grid, drawn, columns, *how)
            one = scorer.scores(measure[drawn])[0]
            scores[b, s] = np.nan if np.isnan(one).all() else np.nanmin(one)
    means = np.nanmean(scores, axis=1)
    wide = np.sqrt(n_seeds / (n_seeds - 1))
    low, high = value + wide * (np.quantile(means, [(1 - level) / 2, (1 + level) / 2]) - means.mean())
    return Interval(max(0.0, float(low)), min(1.0, float(high)), level)


def _notes(gap: Floats, grid: NetworkGrid, undefined: list[tuple[str, ...]]) -> tuple[Note, ...]:
    found = []
    per_seed = grid.n // grid.n_seeds
    if undefined:
        text = "; ".join(" and ".join(names) for names in undefined[:5])
        found.append(note("N001", f"{len(undefined)} sets of hyper-parameters left out: {text}"))
    if per_seed < FEW_NETWORKS:
        found.append(note("N002", f"{per_seed} networks; compare with the noise floor"))
    if gap.std() < 0.02:
        found.append(note("N003", f"the gaps' standard deviation is {gap.std():.3g}"))
    return tuple(found)


@dataclass(frozen=True)
class CmiScorer:
    """What does not depend on the measure: the gap's order, the sets' cells and their sizes."""

    gap: Floats
    cells: tuple[Floats, ...]  # one indicator matrix (networks, cells) per set
    self_pairs: bool
    ties: str

    def without(self, left_out: NDArray[np.bool_]) -> CmiScorer:
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
    gap: Floats, grid: NetworkGrid, rows: NDArray[np.int64], columns: list[tuple[int, ...]], self_pairs: bool, ties: str
) -> CmiScorer:
    """Return the scorer of some rows of the grid for sets of columns held fixed."""
    indicators = []
    for held in columns:
        code, size = grid.code_of(held)[rows], int(np.prod([grid.shape[k] for k in held], dtype=int))
        indicators.append(np.eye(size)[code])
    return CmiScorer(gap, tuple(indicators), self_pairs, ties)
