"""How far the headline moves with the seed: 20 seeds on one sample of each size, from the families that were judged first, against the half-width of the interval.

python -m studies.headline_seeds    # writes docs/tables/headline_seeds.md; some two minutes of one core
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import unseen
from studies.combination_evidence import markdown
from studies.interval_families import USED_FAMILY_OF, Cell, cells, drawn
from studies.small_samples import FURTHER_RULES, RULES, rule
from unseen.core.rng import stream

PAGE = Path(__file__).parent.parent / "docs" / "tables" / "headline_seeds.md"
SEEDS = 20
SEED = 61
SAMPLES = 1  # of each size
QUICK = (*RULES, FURTHER_RULES[-1])


def one(cell: Cell, method: str) -> tuple[float, float]:
    """Return the standard deviation of the headline over seeds, and the mean half-width."""
    X, y, *_ = drawn(cell, stream(SEED, "draw", cell.set, cell.kind, cell.n), 1)
    made = [
        unseen.estimate(rule(method), X, y, method="auto", random_state=seed, n_jobs=1, progress=False)
        for seed in range(SEEDS)
    ]
    return float(np.std([e.value for e in made], ddof=1)), float(np.mean([e.interval.width for e in made]) / 2)


def main() -> None:
    """Write the table."""
    warnings.simplefilter("ignore")
    every = [cell for cell in cells(USED_FAMILY_OF) if cell.kind == "two"]
    lines, turn = [], 0
    with threadpool_limits(1):
        for n in (20, 40, 100, 200, 400):
            of_size = [cell for cell in every if cell.n == n]
            chosen = [of_size[i] for i in stream(SEED, "cells", n).permutation(len(of_size))[:SAMPLES]]
            for cell in chosen:
                method, turn = QUICK[turn % len(QUICK)], turn + 1
                lines.append((cell.set, str(n), method, *one(cell, method)))
    ratios = [spread / half for *_, spread, half in lines]
    rows = [[*line[:3], f"{line[3]:.4f}", f"{line[4]:.4f}", f"{r:.3f}"] for line, r in zip(lines, ratios)]
    text = (
        f"Largest ratio {max(ratios):.3f}, median {np.median(ratios):.3f}; asked was a tenth at most.\n\n"
        + markdown(["set", "rows", "rule", "standard deviation over 20 seeds", "half-width", "ratio"], rows)
        + "\n"
    )
    PAGE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
