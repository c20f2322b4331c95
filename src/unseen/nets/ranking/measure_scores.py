"""Several measures of generalization scored on the same networks, with their noise floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, KindError
from unseen.core.notes import Note, merge_notes
from unseen.core.result import Result, plain
from unseen.core.rng import RandomState, root_seed
from unseen.nets.ranking.cmi import Score, cmi
from unseen.nets.ranking.noise_floor import NoiseFloor, adjusted_p_values
from unseen.nets.ranking.rank_scores import kendall_tau

__all__ = ["MeasureScores", "score_measures"]


@dataclass(frozen=True, kw_only=True)
class MeasureScores(Result):
    """Scores of measures on one table of networks, in the order the measures were given.

    Parameters
    ----------
    scores : dict of str to Score
        Measure to its score.
    floors : dict of str to NoiseFloor
        Measure to what it scores when permuted over the networks.
    gap : numpy.ndarray
        Gaps of the networks.
    values : dict of str to numpy.ndarray
        Every measure's values, in the order of `gap`.
    axes : dict of str to list
        Hyper-parameters of the networks.
    adjusted : dict of str to float
        Measure to its p-value adjusted for looking at all of them.
    """

    shown_by: ClassVar[str] = "unseen.nets"

    scores: dict[str, Score]
    floors: dict[str, NoiseFloor]
    gap: Floats = field(repr=False)
    values: dict[str, Floats] = field(repr=False)
    axes: dict[str, list[Any]] = field(repr=False)
    adjusted: dict[str, float] = field(default_factory=dict)

    kept_as = "nets-cmi"

    @property
    def title(self) -> str:
        """Heading of its report."""
        return f"Measures of generalization on {len(self.gap)} networks"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Statistical weakness, each remark once."""
        return merge_notes(*(score.notes for score in self.scores.values()))

    def best_first(self) -> list[str]:
        """Return the measures from the largest score to the smallest."""
        return sorted(self.scores, key=lambda name: -self.scores[name].value)

    def tau(self, measure: str) -> float | None:
        """Return Kendall's correlation of a measure with the gap: its direction, to which the score is nearly blind."""
        found = kendall_tau(self.gap, self.values[measure])
        return None if np.isnan(found) else found

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per measure, scores out of 100."""
        found = []
        for name, score in self.scores.items():
            low, high = (None, None) if score.interval is None else (100 * end for end in score.interval)
            floor = self.floors[name]
            found.append(
                {
                    "measure": name,
                    "cmi": 100 * score.value,
                    "lower": low,
                    "upper": high,
                    "floor": 100 * floor.quantile,
                    "p": floor.p_value,
                    "adjusted": self.adjusted.get(name),
                    "tau": self.tau(name),
                    "least with fixed": " ".join(score.binding),
                    "networks": score.n_networks,
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: a list of scores with their noise floors."""
        scored = [
            {
                "measure": name,
                **score.to_dict(),
                "noise_floor": self.floors[name].to_dict(),
                "p_value": self.floors[name].p_value,
                "adjusted_p_value": self.adjusted.get(name),
                "kendall_tau": self.tau(name),
            }
            for name, score in self.scores.items()
        ]
        return {"measures": scored}

    def to_record(self) -> dict[str, Any]:
        """Return plain values with the gaps, the measures' values and the hyper-parameters."""
        return {**self.to_dict(), **{name: plain(getattr(self, name)) for name in ("gap", "values", "axes")}}

    def _direction(self, measure: str) -> str:
        tau = self.tau(measure)
        return "" if tau is None else f"; Kendall's tau {tau:.2f}"

    def _adjusted_p(self, measure: str) -> str:
        """Return the adjusted p-value in words; nothing for a single measure."""
        if len(self.scores) < 2 or measure not in self.adjusted:
            return ""
        return f", {self.adjusted[measure]:.3g} adjusted for {len(self.scores)} measures"

    def __str__(self) -> str:
        lines = [
            f"{name}: {score}; {self.floors[name]}{self._adjusted_p(name)}{self._direction(name)}"
            for name, score in self.scores.items()
        ]
        return "\n".join([*lines, *map(str, self.notes)])


def score_measures(
    gap: ArrayLike,
    measures: Mapping[str, ArrayLike],
    grid: Any,
    *,
    sizes: Sequence[int] = (2,),
    self_pairs: bool = True,
    ties: str = "negative",
    seeds: ArrayLike | None = None,
    level: float = 0.95,
    n_permutations: int = 999,
    random_state: RandomState = 0,
) -> MeasureScores:
    """Score several measures on the same networks, each beside its noise floor.

    Parameters
    ----------
    gap : array-like
        Training accuracy minus test accuracy of each network.
    measures : mapping of str to array-like
        Name of each measure to its values; larger shall mean a larger gap.
    grid : mapping or DataFrame
        Hyper-parameter names to values, one per network; every combination must be there exactly once (per seed).
    sizes, self_pairs, ties, seeds, level
        As in `cmi`.
    n_permutations : int
        Behind noise floors and p-values.
    random_state : int, Generator or None
        Of bootstrap and permutations; all measures meet the same draws.

    Returns
    -------
    MeasureScores

    References
    ----------
    Y. Jiang and others (2020). NeurIPS 2020 competition: predicting generalization in deep learning. arXiv:2012.07976.

    Examples
    --------
    >>> import itertools
    >>> a, b, c = zip(*itertools.product([1, 11], [8, 16], [0.0, 0.5]))
    >>> gap = [0.1, 0.2, 0.3, 0.4, 0.15, 0.25, 0.36, 0.45]
    >>> found = score_measures(gap, {"flat": [0] * 8, "gap": gap}, {"depth": a, "width": b, "dropout": c}, n_permutations=20)
    >>> found.best_first(), round(found.scores["gap"].value, 9), found.scores["flat"].value
    (['gap', 'flat'], 1.0, 0.0)
    """
    if not isinstance(measures, Mapping):
        raise KindError(f"measures is a {type(measures).__name__}; give a mapping of names to values.")
    if not measures:
        raise InputError("measures names no measure; at least one is needed.")
    seed = root_seed(random_state)
    options = {"sizes": sizes, "self_pairs": self_pairs, "ties": ties, "seeds": seeds, "level": level}
    scores = {
        str(name): cmi(gap, column, grid, random_state=seed, **options)  # type: ignore[arg-type]
        for name, column in measures.items()
    }
    floors = {name: score.noise_floor(n_permutations, random_state=seed) for name, score in scores.items()}
    values = {str(name): np.asarray(column, dtype=float) for name, column in measures.items()}
    columns = grid.columns if hasattr(grid, "columns") else grid
    axes = {str(name): np.asarray(grid[name], dtype=object).tolist() for name in columns}
    adjusted = adjusted_p_values({name: score.value for name, score in scores.items()}, floors)
    return MeasureScores(
        scores=scores, floors=floors, gap=np.asarray(gap, dtype=float), values=values, axes=axes, adjusted=adjusted
    )
