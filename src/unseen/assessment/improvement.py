"""Whether a learning curve still improves at its end (Nadeau & Bengio, 2003, on differences between two sizes)."""

from __future__ import annotations

import numpy as np

from unseen.core.losses import LossTable

__all__ = ["still_improves"]

BACK = 2  # steps of the curve to look back: of five equal steps, from 60% to 100% of the training units
LEVEL = 0.95  # one-sided: a flat curve is called falling in at most one of twenty samples


def still_improves(table: LossTable) -> bool:
    """Say whether the loss at the largest training size is below that two sizes earlier, by more than chance.

    Models of a repetition are tested on the same units, so that differences are paired; repetitions share the sample, which
    the corrected variance (1/R + n2/n1) S^2 allows for.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("iris").xy
    >>> curve = unseen.designs.LearningCurve(5, 5)
    >>> still_improves(unseen.run("dummy", X, y, design=curve, random_state=0).losses())
    False
    """
    from scipy.special import stdtrit

    done = table.completed
    splits = [table.plan.splits[j] for j in done]
    means = {(s.repeat, s.part): float(m) for s, m in zip(splits, table.split_means()) if np.isfinite(m)}
    last = max((part for _, part in means), default=0)
    pairs = [(means.get((r, last - BACK)), means.get((r, last))) for r in {repeat for repeat, _ in means}]
    gain = np.array([a - b for a, b in pairs if a is not None and b is not None])
    if len(gain) < 2 or not gain.mean() > 0:
        return False
    n_test, n_train = table.plan.sizes[done[[s.part == last for s in splits]]].mean(axis=0)
    error = gain.std(ddof=1) * np.sqrt(1 / len(gain) + n_test / n_train)
    return bool(gain.mean() > stdtrit(len(gain) - 1, LEVEL) * error)
