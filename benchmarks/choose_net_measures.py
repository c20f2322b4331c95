"""Choose the measures that `unseen.nets.rank` combines by default: on all zoos but one, tested on the one left out.

    python benchmarks/choose_net_measures.py

Reads benchmarks/zoo/{networks,measures}_<zoo>.csv. A combination is the mean place of a network over its measures; measures are added one by one while the mean CMI over the
choosing zoos rises. Controls, and what needs a copy trained on 80 % of the data, are no candidates. Writes benchmarks/zoo/combination.csv.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unseen.nets import bench_of
from unseen.nets._bench_record import CONTROLS, Bench
from unseen.nets._bench_rows import write_table
from unseen.nets._cmi import cmi

FOLDER = Path(__file__).parent / "zoo"
NOT_CANDIDATES = {*CONTROLS, "par-search", "resubstitution"}
MOST = 5


def places(bench: Bench, name: str) -> np.ndarray:
    """Return the place of each network among those of its seed, 0 to 1, ties sharing their mean."""
    out = np.empty(len(bench.gap))
    for seed in np.unique(bench.seeds):
        own = bench.seeds == seed
        v = bench.values[name][own]
        out[own] = ((v[:, None] > v).sum(1) + ((v[:, None] == v).sum(1) - 1) / 2) / (len(v) - 1)
    return out


def score(bench: Bench, names: list[str]) -> float:
    combined = np.mean([places(bench, name) for name in names], axis=0)
    return 100 * cmi(bench.gap, combined, bench.axes, seeds=bench.seeds, n_bootstrap=2).value


def chosen(benches: list[Bench]) -> list[str]:
    """Add measures one by one while the mean score rises."""
    candidates = sorted(set.intersection(*(set(b.values) for b in benches)) - NOT_CANDIDATES)
    kept: list[str] = []
    best = -np.inf
    while len(kept) < MOST:
        tried = {name: np.mean([score(b, [*kept, name]) for b in benches]) for name in candidates if name not in kept}
        name = max(tried, key=tried.__getitem__)
        if tried[name] <= best:
            break
        kept, best = [*kept, name], tried[name]
    return kept


def main() -> None:
    zoos = sorted(path.stem.removeprefix("networks_") for path in FOLDER.glob("networks_*.csv"))
    benches = {z: bench_of(FOLDER / f"networks_{z}.csv", FOLDER / f"measures_{z}.csv", n_permutations=20) for z in zoos}
    rows = []
    for held in zoos:
        others = [benches[z] for z in zoos if z != held]
        if not others:
            continue
        names = [name for name in chosen(others) if name in benches[held].values]
        single = {line.measure: line.cmi for line in benches[held].lines if line.measure not in NOT_CANDIDATES}
        best = max(single, key=single.__getitem__)
        rows.append(
            {
                "held_out": held, "chosen_on": " ".join(z for z in zoos if z != held), "measures": " ".join(names),
                "cmi": round(score(benches[held], names), 3), "best_single": best, "best_single_cmi": round(single[best], 3),
                "beats_all_singles": score(benches[held], names) > single[best],
            }
        )  # fmt: skip
    everywhere = chosen(list(benches.values()))
    scores = {z: round(score(b, everywhere), 3) for z, b in benches.items()}
    for row in rows:
        print(row)
    print("chosen on all zoos:", everywhere, scores)
    if rows:
        write_table(FOLDER / "combination.csv", rows)


if __name__ == "__main__":
    main()
