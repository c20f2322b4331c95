"""Which columns matter: permutation importance on rows a model had not seen, with limits for all (Fisher et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName
from unseen.core.losses import PredictionTable
from unseen.core.model import Fitted
from unseen.core.notes import Note, note
from unseen.core.rng import stream
from unseen.core.scale import measure_name
from unseen.core.training import codes_of
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.evaluation.slices import fold_spread, skewed_ends
from unseen.request.request import Request
from unseen.show.text import three_digits

__all__ = ["ColumnGroup", "Importance", "column_groups", "permutation_importance"]

# more columns take longer than the rest of a diagnosis; related ones can be permuted together
MOST_COLUMNS = 60
FOLDS = 10
# other rows that lend each test row their value in every round; the rounds average over more
SHUFFLES = 5
# the Monte-Carlo error of a quantile at 95% is then .01 standard errors
DRAWS = 10_000


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that are permuted together, under one name."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Importance:
    """By how much the loss of this model on unseen rows grows if a column is permuted, so that it says nothing any more.

    A test row takes the column's value from other test rows, never from itself or its own group, so that the mean over all such pairs
    of rows is unbiased. A row counts in the variance for what it adds as taker and as giver (the projection of a U-statistic). The
    variance is widened for models that share training rows, is at least that over splits, and the limits follow the skewness of these
    contributions.

    Parameters
    ----------
    names : tuple of str
        Columns, or groups of columns, the most important first.
    value, std_error, low, high : ndarray
        Growth of the mean loss, its corrected standard error, and limits that hold for all columns together. They are of the model
        trained on all rows; one trained on another sample may lean on other columns.
    loss : str
        Id of the loss.
    error : float
        Mean loss with all columns as they are.
    level : float
        Confidence of all limits together.
    n_splits : int
        Models behind it.

    References
    ----------
    Breiman, L. (2001). Random forests. Machine Learning 45, 5-32. Fisher, A., Rudin, C. and Dominici, F. (2019). All models are wrong,
    but many are useful. JMLR 20(177) (pairs of rows). Hoeffding, W. (1948). A class of statistics with asymptotically normal
    distribution. Annals of Mathematical Statistics 19, 293-325. Nadeau, C. and Bengio, Y. (2003). Inference for the generalization
    error. Machine Learning 52, 239-281 (the variance over splits that share training rows). Hall, P. (1992). On the removal of
    skewness by transformation. JRSS B 54, 221-228. Molnar, C. et al. (2023). Relating the partial dependence plot and
    permutation feature importance to the data generating process. xAI 2023, 456-479 (corrected intervals of importance).
    """

    names: tuple[str, ...]
    value: Floats
    std_error: Floats
    low: Floats
    high: Floats
    loss: str
    error: float
    level: float
    n_splits: int

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per column."""
        return [
            {
                "column": name,
                "importance": float(self.value[k]),
                "std_error": float(self.std_error[k]),
                "lower": float(self.low[k]),
                "upper": float(self.high[k]),
                "matters": bool(self.low[k] > 0),
            }
            for k, name in enumerate(self.names)
        ]

    def sentence(self) -> str:
        """Say which columns matter."""
        matter = [name for name, low in zip(self.names, self.low) if low > 0]
        if not matter:
            return f"For none of the {len(self.names)} columns is it shown that permuting it makes predictions worse."
        share = self.loss == "zero-one"
        value, low, high = (
            f"{100 * v + 0.0:.1f}" if share else three_digits(v) for v in (self.value[0], self.low[0], self.high[0])
        )
        grows = f"the error grows by {value} points" if share else f"the {measure_name(self.loss)} grows by {value}"
        top = f"{self.names[0]} matters most: if it is permuted {grows} ({low} to {high})"
        rest = f"{len(matter)} of {len(self.names)} columns are shown to matter"
        return f"{top}; {rest} ({100 * self.level:g}% confidence for all columns together)."


def column_groups(data: Data, together: Mapping[str, Sequence[str]] | None) -> tuple[ColumnGroup, ...]:
    """Return the columns to permute: those named together as one, every other one alone.

    Examples
    --------
    >>> from unseen.datasets import load
    >>> groups = column_groups(load("iris"), {"petal": ["petal length (cm)", "petal width (cm)"]})
    >>> [(g.name, g.columns) for g in groups]
    [('petal', (2, 3)), ('sepal length (cm)', (0,)), ('sepal width (cm)', (1,))]
    """
    names = list(data.names)
    used: dict[str, str] = {}
    out = []
    for group, members in (together or {}).items():
        for name in members:
            if name not in names:
                raise UnknownName("column", name, names)
            if name in used:
                raise InputError(f"column {name!r} stands in {used[name]!r} and in {group!r}; name it once.")
            used[name] = group
        if not members:
            raise InputError(f"the group of columns {group!r} is empty; name its columns.")
        out.append(ColumnGroup(group, tuple(names.index(name) for name in members)))
    return (*out, *(ColumnGroup(name, (k,)) for k, name in enumerate(names) if name not in used))


@dataclass(frozen=True)
class _Probe:
    """Measures, for one trained model, how much the loss of test rows grows if they take a column's value from each other."""

    groups: tuple[ColumnGroup, ...]
    measure: Any
    seed: int

    def __call__(self, fitted: Fitted, train: Data, test: Data) -> Floats:
        """Return one line per test row: the weight of its pairs, then their weighted growth for each group of columns.

        A pair counts for the row that takes a value and for the row that gives it.
        """
        rng = stream(self.seed, "importance", test.fingerprint, int(np.asarray(test.source).sum()))
        order = rng.permutation(test.n)
        # along a random circle everyone gives as often as he takes, and nobody takes from himself
        givers = np.empty((max(1, min(SHUFFLES, test.n - 1)), test.n), dtype=np.int64)
        for k, giver in enumerate(givers, start=1):
            giver[order] = np.roll(order, k)
        weight = np.ones(test.n) if test.weights is None else test.weights
        pairs = weight * weight[givers] * (test.units[givers] != test.units)
        plain = self._losses(fitted, test, test.X, 1)
        taken = np.tile(np.arange(test.n), len(givers))
        out = np.empty((test.n, 1 + len(self.groups)))
        out[:, 0] = self._of_both(pairs, givers)
        for j, group in enumerate(self.groups):
            moved = _with_columns_of(test.X, group.columns, taken, givers.ravel())
            grown = self._losses(fitted, test, moved, len(givers)).reshape(givers.shape) - plain
            out[:, 1 + j] = self._of_both(pairs * grown, givers)
        return out

    def _losses(self, fitted: Fitted, test: Data, X: Any, copies: int) -> Floats:
        score = fitted.scores(X) if self.measure.needs_score else None
        value = codes_of(fitted.predict(X), test)
        target = np.tile(test.target, copies)
        return np.asarray(self.measure.per_example(target, value, None if score is None else score[0]), dtype=float)

    @staticmethod
    def _of_both(values: Floats, givers: Ints) -> Floats:
        """Return the sum over all pairs that a row is in, one line of `values` for each round of giving."""
        given = np.bincount(givers.ravel(), values.ravel(), values.shape[1])
        return np.asarray(values.sum(axis=0) + given)


def _with_columns_of(X: Any, columns: tuple[int, ...], rows: Ints, givers: Ints) -> Any:
    """Return rows of features in which some columns are those of other rows."""
    if hasattr(X, "iloc"):
        out = X.iloc[rows].copy()
        for k in columns:
            given = X.iloc[givers, k]
            out[X.columns[k]] = given.to_numpy() if X.dtypes.iloc[k] != "category" else given.array
        return out
    if hasattr(X, "tolil"):
        sparse = X[rows].tolil()
        sparse[:, list(columns)] = X[givers][:, list(columns)]
        return sparse.tocsr()
    out = np.asarray(X)[rows]
    out[:, list(columns)] = np.asarray(X)[givers][:, list(columns)]
    return out


def permutation_importance(
    request: Request, rounds: int, together: Mapping[str, Sequence[str]] | None = None
) -> tuple[Importance | None, tuple[Note, ...]]:
    """Return how much each column matters on rows that were not trained on, from rounds of ten-fold cross-validation.

    Parameters
    ----------
    request : Request
        Model, data, loss, level and seed.
    rounds : int
        Rounds of cross-validation; 0 leaves it out.
    together : mapping of str to sequence of str, optional
        Columns that are permuted as one: correlated columns hide each other if each is permuted alone.
    """
    from scipy.special import stdtrit

    data = request.data
    if rounds < 1 or data.n_units < FOLDS:
        return None, ()
    groups = column_groups(data, together)
    if len(groups) > MOST_COLUMNS:
        return None, (
            note("U050", f"there are {len(groups)} columns or groups, and at most {MOST_COLUMNS} are permuted"),
        )
    measure = _loss_of(request.loss, data)
    # at least two units in each test part, one to take a value and one to give it
    design = RepeatedKFold(min(FOLDS, data.n_units // 2), rounds)
    table = request.run(design, train=False, probes={"importance": _Probe(groups, measure, request.seed)})
    pairs = _row_sums(table)
    losses = table.losses(measure)
    value = pairs[:, 1:].sum(axis=0) / pairs[:, 0].sum()
    moved = 2 * (pairs[:, 1:] - pairs[:, :1] * value) / pairs[:, 0].sum()
    pull: Floats = np.zeros((data.n_units, len(groups)))
    np.add.at(pull, data.units, moved)
    n = data.n_units
    plain = np.sqrt(np.square(pull).sum(axis=0) * n / (n - 1))
    error = np.maximum(plain * fold_spread(losses), _error_over_splits(table))
    quantile = float(stdtrit(n - 1, (1 + _level_of_each(pull, request.level, request.seed)) / 2))
    scale = np.sqrt(np.square(pull).mean(axis=0))
    skewness = (pull**3).mean(axis=0) / np.where(scale > 0, scale, 1.0) ** 3
    ends = skewed_ends(value, error, skewness, np.full(len(value), n), np.full(len(value), quantile))
    order = np.argsort(-value, kind="stable")
    made = Importance(
        names=tuple(groups[k].name for k in order),
        value=value[order],
        std_error=error[order],
        low=ends[order, 0],
        high=ends[order, 1],
        loss=measure.id,
        error=float(losses.split_means().mean()),
        level=request.level,
        n_splits=len(losses.completed),
    )
    return made, ()


def _error_over_splits(table: PredictionTable) -> Floats:
    """Return the standard errors over splits (Nadeau & Bengio, 2003): models that differ make splits vary more than rows tell."""
    sums = np.array([found.sum(axis=0) for found in table.probes["importance"] if found is not None])
    n_test, n_train = table.plan.mean_sizes()
    sums = sums[sums[:, 0] > 0]
    each = sums[:, 1:] / sums[:, :1]
    return np.asarray(each.std(axis=0, ddof=1) * np.sqrt(1 / len(each) + n_test / n_train))


def _row_sums(table: PredictionTable) -> Floats:
    """Return for each row what the probes of all splits found: the weight and the growth of its pairs."""
    found = [(s.test, f) for s, f in zip(table.plan.splits, table.probes["importance"]) if f is not None]
    total = np.zeros((table.data.n, found[0][1].shape[1]))
    for rows, sums in found:
        total[rows] += sums
    return total


def _loss_of(loss: Any, data: Data) -> Any:
    from unseen.core.registry import find

    if isinstance(loss, str):
        name = ("zero-one" if data.task == "classification" else "squared") if loss == "auto" else loss
        return find(name, "measures")()
    return loss


def _level_of_each(pull: Floats, level: float, seed: int) -> float:
    """Return the level at which each interval must hold so that all do, by the correlation of what units add to the columns."""
    from scipy.special import ndtr

    spread = np.sqrt(np.square(pull).sum(axis=0))
    moving = spread > 0
    if moving.sum() < 2:
        return level
    z = pull[:, moving] / spread[moving]
    size, vectors = np.linalg.eigh(z.T @ z)
    drawn = stream(seed, "importance", "max").standard_normal((DRAWS, len(size)))
    drawn = drawn @ (vectors * np.sqrt(np.maximum(size, 0.0))).T
    return float(2 * ndtr(np.quantile(np.abs(drawn).max(axis=1), level)) - 1)
