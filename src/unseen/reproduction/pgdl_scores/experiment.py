"""Ten scores of the PGDL competition (NeurIPS 2020), from the predictions and gaps that the BrAIn team published."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.registry import register
from unseen.core.rng import task_seed
from unseen.engine.events import Reporter
from unseen.reproduction.published_numbers import read_published
from unseen.reproduction.record import Cell, Check, Reproduction

__all__ = ["PgdlScores"]

ROUNDING = 1e-12 / math.sqrt(12)  # standard deviation of a number printed to twelve decimals
REMARKS = (
    "The competition's program conditions on exactly two hyper-parameters, pairs each network with itself, counts ties as smaller and weighs "
    "all cells alike; the papers describe another formula.",
    "It is not blind to the sign: the same measure with both signs scores differently. Without self pairs both score the same.",
    "The repository's files of predictions for WCV and VR are exchanged; the names here follow its README.",
    "The floor is the 95% quantile of the scores of the first measure permuted over the networks.",
)


@register
@dataclass(frozen=True)
class PgdlScores:
    """Published CMI scores of five measures on tasks 1 and 2 beside ours, with noise floors.

    References
    ----------
    Jiang, Y. et al. (2020). NeurIPS 2020 competition: predicting generalization in deep learning. arXiv:2012.07976.
    Predictions and scores: repository cadurosar/pgdl.

    Examples
    --------
    >>> PgdlScores().id
    'pgdl-scores'
    """

    group: ClassVar[str] = "reproduction"
    id: ClassVar[str] = "pgdl-scores"
    title: ClassVar[str] = "Scores of the PGDL competition"
    source: ClassVar[str] = "Jiang, Y. et al. (2020), arXiv:2012.07976; predictions and scores of the BrAIn team"
    replications: ClassVar[int] = 200
    extra: ClassVar[str] = ""
    minutes: ClassVar[float] = 0.1

    def run(self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None) -> Reproduction:
        """Score every measure; `replications` counts the permutations behind the noise floor."""
        from unseen.nets import cmi

        tasks = {task: _task(task) for task in (1, 2)}
        reporter.expect(2, self.id)
        cells, both_signs = [], []
        for row in read_published("pgdl_scores"):
            gap, grid, columns = tasks[row["task"]]
            label = f"task {row['task']} {row['measure']}"
            measure = _measure(columns, row["measure"])
            ours = cmi(gap, measure, grid)
            cells.append(
                Cell("CMI, the competition's", label, published=row["value"], ours=ours.value, mc_error=ROUNDING)
            )
            honest = cmi(gap, measure, grid, self_pairs=False).value
            cells.append(Cell("CMI without self pairs", label, published=None, ours=honest))
            both_signs.append(abs(honest - cmi(gap, -measure, grid, self_pairs=False).value))
        for task, (gap, grid, columns) in tasks.items():
            floor = cmi(gap, columns["vpm1"], grid).noise_floor(replications, random_state=task_seed(seed, task))
            cells.append(Cell("noise floor", f"task {task}, 95%", published=None, ours=floor.quantile))
            reporter.advance(1)
        worst = max(abs(c.ours - c.published) for c in cells if c.published is not None)
        top = max(cmi(gap, gap, grid).value for gap, grid, _ in tasks.values())
        checks = (
            Check("largest difference from a published score", worst, high=1e-10),
            Check("score of the gap itself", top, 1 - 1e-9, 1 + 1e-9),
            Check("largest difference between both signs without self pairs", max(both_signs), high=1e-9),
        )
        return Reproduction(
            experiment=self.id,
            title=self.title,
            source=self.source,
            cells=tuple(cells),
            checks=checks,
            replications=replications,
            seed=seed,
            seconds=0.0,
            remarks=REMARKS,
        )


def _task(number: int) -> tuple[Any, dict[str, list[Any]], dict[str, Any]]:
    """Gap, grid and measures of a task."""
    rows = read_published(f"pgdl_task{number}")
    grid = {name: [row[name] for row in rows] for name in rows[0] if name.startswith("h")}
    names = [name for name in rows[0] if name != "network" and name not in grid]
    columns = {name: np.array([row[name] for row in rows], dtype=float) for name in names}
    return columns.pop("gap"), grid, columns


def _measure(columns: dict[str, Any], name: str) -> Any:
    return -columns[name.removeprefix("minus_")] if name.startswith("minus_") else columns[name]
