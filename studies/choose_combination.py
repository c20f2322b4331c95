"""Chooses the members and weights of `combined` and `auto-resub`, and measures what every estimator is worth on small samples.

    python -m studies.choose_combination run --minutes 20    # resumable; writes combination_runs.csv.gz
    python -m studies.choose_combination fit                 # writes the tables, the weights and the shipped evidence
    python -m studies.choose_combination evidence            # writes the shipped evidence alone

Weights are always fitted on other families of data sets than they are judged on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from studies.combination_rows import append_rows
from studies.small_samples import FAMILY_OF, RULES, Drawn, Rule, draw
from unseen.core.errors import UnseenError
from unseen.core.registry import build
from unseen.core.rng import stream, task_seed
from unseen.designs.bootstrap import Bootstrap
from unseen.designs.kfold import KFold
from unseen.engine.run import execute

HERE = Path(__file__).parent
PACKED = HERE / "combination_runs.csv.gz"
SEED = 20
N_BOOTSTRAP = 50
DIRECT = {
    "resub": ("resub", {}),
    "bolster": ("bolster", {}),
    "bolster-class": ("bolster", {"average": "class"}),
    "semi-bolster": ("semi-bolster", {}),
    "semi-bolster-class": ("semi-bolster", {"average": "class"}),
    "posterior": ("posterior", {}),
    "bolster-posterior": ("bolster-posterior", {}),
    "bolster-posterior-accuracy": ("bolster-posterior-accuracy", {}),
    "naive-bayes-bolster": ("naive-bayes-bolster", {}),
    "bayesian": ("bayesian", {"n_mc": 1000}),
}
BOOTSTRAPPED = ("bootstrap-zero", "bootstrap-loo", "632", "632plus")
COLUMNS = (*DIRECT, "kfold", *BOOTSTRAPPED)
SIZES = ((40, 1), (20, 3), (100, 3))  # every third draw also at the other sizes


def tasks(draws: int) -> Iterator[tuple[str, int, str, int]]:
    """Yield (set, n, rule, draw) so that every prefix is balanced over sets and rules."""
    for k in range(draws):
        for n, every in SIZES:
            if k % every == every - 1:
                for name in FAMILY_OF:
                    for method in RULES:
                        yield name, n, method, k


def one(
    name: str, n: int, method: str, k: int, direct: Mapping[str, tuple[str, dict[str, Any]]] = DIRECT
) -> dict[str, float] | None:
    """Return the true error and every estimate for one draw, or None where the set is too small."""
    drawn = draw(name, n, stream(SEED, "draw", name, n, k))
    return None if drawn is None else all_estimates(drawn, method, task_seed(SEED, name, n, method, k), direct)


def all_estimates(
    drawn: Drawn, method: str, seed: int, direct: Mapping[str, tuple[str, dict[str, Any]]] = DIRECT
) -> dict[str, float]:
    """Return the true error and every estimate for one sample."""
    model, data = Rule(method), drawn.sample
    fitted = model.fit(data, seed)
    out = {
        "d": data.n_features,
        "classes": len(data.classes),
        "truth": float(np.mean(fitted.predict(drawn.X_test) != drawn.y_test)),
    }
    for column, (id, options) in direct.items():
        made = build(id, "resubstitution", options=options)
        try:
            out[column] = made(fitted, data, rng=stream(seed, column), level=0.95).value
        except UnseenError:
            out[column] = float("nan")
    folds = execute(model, data, KFold(10).plan(data, stream(seed, "kfold")), seed=seed, n_jobs=1)
    out["kfold"] = build("kfold", "estimators")(folds.losses()).value
    plan = Bootstrap(N_BOOTSTRAP).plan(data, stream(seed, "bootstrap"))
    losses = execute(model, data, plan, seed=seed, train=True, full=True, n_jobs=1).losses()
    for column in BOOTSTRAPPED:
        out[column] = build(column, "estimators")(losses).value
    return out


def run(minutes: float, draws: int, share: tuple[int, int]) -> None:
    """Append rows of a part of the study until the time is used up."""
    part, parts = share
    own = islice(tasks(draws), part, None, parts)
    append_rows(HERE / f"combination_runs.{part}.csv", PACKED, own, one, COLUMNS, minutes)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("run", "fit", "evidence"))
    parser.add_argument("--minutes", type=float, default=20.0, help="CPU time")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--part", default="0/1", help="k/m: this process does every m-th task, starting at the k-th")
    given = parser.parse_args()
    if given.do == "run":
        part, parts = map(int, given.part.split("/"))
        run(given.minutes, given.draws, (part, parts))
    else:
        from studies.combination_tables import write_evidence, write_tables

        (write_tables if given.do == "fit" else write_evidence)()


if __name__ == "__main__":
    main()
