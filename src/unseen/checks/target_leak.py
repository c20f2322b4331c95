"""U005: one feature alone predicts the target almost perfectly, which suggests that it became known after the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.checks.registry import check
from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.notes import Note, note

__all__ = ["Suspect", "leak_suspects", "target_leak"]

# honest measurements are rarely that good
MAX_BALANCED_ERROR = 0.01
MIN_SHARE_EXPLAINED = 0.999
# in fewer rows a perfect cut means little
LEAST_ROWS = 20
# how often an unrelated feature may raise the suspicion, over all features together
BY_CHANCE = 1e-3
# a leak shows in a sample of the rows too; these bound time and memory
MAX_ROWS = 2_000
MAX_CELLS = 20_000_000
# a category with more levels than this share of the rows predicts by memory
MOST_LEVELS = 0.1
LISTED = 3  # suspects named in the note


@dataclass(frozen=True)
class Suspect:
    """A feature and what it alone achieves."""

    name: str
    finding: str


@check(
    "U005",
    "features",
    alarm=True,
    title="possible target leak",
    sentence="One feature alone, cut into as many intervals as there are classes (or by its levels, or by being missing), leaves a "
    f"balanced error of at most {MAX_BALANCED_ERROR:.0%} on the rows themselves, if chance does that in fewer than 1 in 1,000 data "
    f"sets of that size; in regression, it explains at least {MIN_SHARE_EXPLAINED:.1%} of the variance in values or ranks. Honest "
    "measurements can be that good: two species of iris, or one gene in a small study. It is a suspicion, not a proof.",
    advice="One feature alone predicts the target almost perfectly. Ask whether it was known before the target.",
)
def target_leak(data: Data) -> tuple[Note, ...]:
    """Return U005 if features alone predict the target almost perfectly.

    Examples
    --------
    >>> import unseen
    >>> target_leak(unseen.datasets.load("wine"))
    ()
    """
    suspects = leak_suspects(data)
    if not suspects:
        return ()
    listed = "; ".join(f"{s.name} ({s.finding})" for s in suspects[:LISTED]) + (
        "; ..." if len(suspects) > LISTED else ""
    )
    what = "target" if data.classes is None else "class"
    text = f"one column alone gives the {what} away: {listed}; this is a suspicion, not a proof"
    return (note("U005", text),)


def leak_suspects(data: Data) -> list[Suspect]:
    """Return the features that alone predict the target almost perfectly.

    Classes: cutting one feature into as many intervals as there are classes (for a category: taking the most frequent
    class of each level; for gaps: missing or not) leaves a balanced error of at most 1% on the rows themselves, and
    such a cut would come about by chance in fewer than 1 in 1,000 data sets of so many rows and features. Numbers: one
    feature explains at least 99.9% of the target's variance, in values or in ranks. From 20 rows on; of more than
    2,000 rows every k-th is used. Honest measurements can be that good: it is a suspicion, not a proof.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 60)
    >>> X = np.column_stack([rng.standard_normal(60), y + 0.1 * rng.random(60)])
    >>> from unseen.datasets import as_data
    >>> [s.name for s in leak_suspects(as_data(X, y))]
    ['x1']
    """
    p = data.n_features
    step = max(1, -(-data.n // MAX_ROWS), -(-data.n * p // MAX_CELLS))
    rows = np.arange(0, data.n, step)
    if len(rows) < LEAST_ROWS:
        return []
    target = data.target[rows]
    if data.classes is not None and (len(np.unique(target)) < 2 or _chance_bound(target, p) > BY_CHANCE):
        return []
    X = data.X.iloc[rows] if hasattr(data.X, "iloc") else data.X[rows]
    suspects = []
    for name, values, is_category in _columns(X, data.names):
        if values is None:
            continue
        if data.classes is None:
            finding = _number_finding(values, target, is_category)
        else:
            finding = _class_finding(values, target, is_category)
        if finding:
            suspects.append(Suspect(name, finding))
    return suspects


def _columns(X: Any, names: tuple[str, ...]) -> Any:
    """Yield name, values and whether they are levels; a column with gaps also as missing or not."""
    from_frame = hasattr(X, "iloc")
    matrix = X.tocsc() if hasattr(X, "tocsr") else X
    for k, name in enumerate(names):
        column = X.iloc[:, k] if from_frame else matrix[:, [k]].toarray()[:, 0] if hasattr(X, "tocsr") else X[:, k]
        if from_frame and (not isinstance(column.dtype, np.dtype) or column.dtype.kind == "O"):
            codes = column.astype("category").cat.codes.to_numpy().astype(np.int64)
            yield name, codes, True
            continue
        array = np.asarray(column)
        if array.dtype.kind in "mM":
            array = np.where(np.isnat(array), np.nan, array.astype("int64").astype(float))
        gaps = np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=bool)
        if gaps.any():
            yield f"{name} missing or not", gaps.astype(np.int64), True
            array = np.where(gaps, np.nanmin(array) - 1 if not gaps.all() else 0.0, array)
        yield name, array, False


def _chance_bound(codes: Ints, n_features: int) -> float:
    """Bound the probability that some unrelated feature cuts the classes with at most 1% errors (a union bound)."""
    from scipy.special import gammaln

    n, counts = len(codes), np.unique(codes, return_counts=True)[1]
    errors = int(MAX_BALANCED_ERROR * n)
    orderings = gammaln(n + 1) - gammaln(counts + 1).sum()
    ways = gammaln(len(counts) + 1) + gammaln(n + 1) - gammaln(errors + 1) - gammaln(n - errors + 1)
    return float(np.exp(min(0.0, np.log(n_features) + ways + errors * np.log(len(counts)) - orderings)))


def _balanced_error(codes: Ints, predicted: Ints) -> float:
    classes, place = np.unique(codes, return_inverse=True)
    wrong = np.bincount(place.reshape(-1), codes != predicted, len(classes)) / np.bincount(place.reshape(-1))
    return float(wrong.mean())


def _class_finding(values: Array, codes: Ints, is_category: bool) -> str:
    if is_category:
        table = np.zeros((int(values.max()) + 2, int(codes.max()) + 1))
        np.add.at(table, (values + 1, codes), 1)
        used = int((table.sum(axis=1) > 0).sum())
        if used > MOST_LEVELS * len(codes):
            return ""
        error = _balanced_error(codes, (table / table.sum(axis=0).clip(1)).argmax(axis=1)[values + 1])
        rule = f"its {used} levels"
    else:
        n_classes = len(np.unique(codes))
        if _changes(values, codes) > n_classes - 1 + 2 * MAX_BALANCED_ERROR * len(codes):
            return ""
        error, rule = _interval_error(values, codes, n_classes), f"{n_classes} intervals of it"
    return f"{rule} give the class with a balanced error of {error:.1%}" if error <= MAX_BALANCED_ERROR else ""


def _changes(values: Array, codes: Ints) -> int:
    """Return how often the class changes along the feature; ties are ordered to change least."""
    return int(np.count_nonzero(np.diff(codes[np.lexsort((codes, values))])))


def _interval_error(values: Array, codes: Ints, n_classes: int) -> float:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_leaf_nodes=n_classes, class_weight="balanced", random_state=0)
    column = values.astype(float).reshape(-1, 1)
    return _balanced_error(codes, tree.fit(column, codes).predict(column))


def _number_finding(values: Array, target: Floats, is_category: bool) -> str:
    spread = float(np.var(target))
    if spread == 0:
        return ""
    if is_category:
        counts = np.bincount(values + 1)
        if np.count_nonzero(counts) > MOST_LEVELS * len(target):
            return ""
        means = np.bincount(values + 1, target) / np.maximum(counts, 1)
        share = float(np.var(means[values + 1])) / spread
    else:
        from scipy.stats import rankdata

        share = max(
            _squared_correlation(values.astype(float), target), _squared_correlation(rankdata(values), rankdata(target))
        )
    return f"explains {share:.2%} of the target's variance" if share >= MIN_SHARE_EXPLAINED else ""


def _squared_correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    scale = float(a @ a) * float(b @ b)
    return float(a @ b) ** 2 / scale if scale > 0 and np.isfinite(scale) else 0.0
