"""What one shared test set does to the true errors of Ghane's tables 2.1 and 2.2: the standard deviation it adds to their means.

    python -m studies.ghane_test_set    # writes src/unseen/reproduction/ghane_synthetic/published/ghane_test_set.csv, about five minutes

The dissertation approximates the true error "using a large test data set of size 5000". If all classifiers of a rule are tried on the same 5,000 points, their mean error carries the luck of that set
however many there are: the variance over points of p(x), the chance that a classifier of the rule errs at x, over 5,000. With two independent classifiers on the same points, the share on which both
err has the mean E p(x)^2.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from unseen.core.rng import stream
from unseen.datasets.populations import GaussianBlocks
from unseen.reproduction.ghane_synthetic.checks import RULES
from unseen.reproduction.ghane_synthetic.trial import N_TEST, Rule

OUT = (
    Path(__file__).parent.parent
    / "src"
    / "unseen"
    / "reproduction"
    / "ghane_synthetic"
    / "published"
    / "ghane_test_set.csv"
)
SIZES = (20, 40, 60, 80, 100)
PAIRS = 300


def spread(rule: str, n: int) -> float:
    """Return the standard deviation of a rule's mean error on one set of 5,000 points, over such sets."""
    population, both, single = GaussianBlocks(), [], []
    for k in range(PAIRS):
        test = population.draw(N_TEST, stream(0, "test", rule, n, k))
        wrong = [
            Rule(rule).fit(population.draw(n, stream(0, "sample", rule, n, k, which)), k).predict(test.X) != test.y
            for which in (0, 1)
        ]
        both.append(np.mean(wrong[0] & wrong[1]))
        single += [wrong[0].mean(), wrong[1].mean()]
    return float(np.sqrt((np.mean(both) - np.mean(single) ** 2) / N_TEST))


def main() -> None:
    """Write the table."""
    cells = [(rule, n) for rule in RULES for n in SIZES]
    found = Parallel(n_jobs=2)(delayed(spread)(rule, n) for rule, n in cells)
    lines = [f"{rule},{n},{value:.5f}" for (rule, n), value in zip(cells, found)]
    source = "# Standard deviation that one shared test set of 5,000 points adds to a mean true error; studies/ghane_test_set.py"
    OUT.write_text("\n".join([source, "rule,n,spread", *lines]) + "\n")
    print(OUT.read_text())


if __name__ == "__main__":
    main()
