"""Which columns matter: permutation importance on rows a model had not seen, with a corrected interval (Breiman, 2001)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName
from unseen.core.model import Fitted
from unseen.core.notes import Note, note
from unseen.core.rng import stream
from unseen.core.training import codes_of
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.request.request import Request

__all__ = ["ColumnGroup", "Importance", "column_groups", "permutation_importance"]

# more columns take longer than the rest of a diagnosis; related ones can be permuted together
MOST_COLUMNS = 60
FOLDS = 10
# permutations of a column in each test part; the folds average over many more
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
    """By how much the loss on unseen rows grows if a column is permuted, so that it says nothing any more.

    Parameters
    ----------
    names : tuple of str
        Columns, or groups of columns, the most important first.
    value, std_error, low, high : ndarray
        Growth of the mean loss, its corrected standard error, and limits that hold for all columns together.
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
    but many are useful. JMLR 20(177). Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52,
    239-281 (the variance over splits that share training rows). Molnar, C. et al. (2023). Relating the partial dependence plot and
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
            f"{100 * v + 0.0:.1f}" if share else f"{v:.3g}" for v in (self.value[0], self.low[0], self.high[0])
        )
        grows = f"the error grows by {value} points" if share else f"the loss grows by {value}"
        top = f"{self.names[0]} matters most: without it {grows} ({low} to {high})"
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
    """Measures, for one trained model, how much the loss of its test rows grows under permutation of each group of columns."""

    groups: tuple[ColumnGroup, ...]
    measure: Any
    seed: int

    def __call__(self, fitted: Fitted, train: Data, test: Data) -> Floats:
        """Return the mean loss as it is, then its growth for each group."""
        plain = self._loss(fitted, test, test.X)
        rng = stream(self.seed, "importance", test.fingerprint, int(np.asarray(test.source).sum()))
        orders = [rng.permutation(test.n) for _ in range(SHUFFLES)]
        grown = [
            np.mean([self._loss(fitted, test, _permuted(test.X, group.columns, order)) for order in orders]) - plain
            for group in self.groups
        ]
        return np.array([plain, *grown])

    def _loss(self, fitted: Fitted, test: Data, X: Any) -> float:
        score = fitted.scores(X) if self.measure.needs_score else None
        value = codes_of(fitted.predict(X), test)
        losses = self.measure.per_example(test.target, value, None if score is None else score[0])
        return float(np.average(losses, weights=test.weights))


def _permuted(X: Any, columns: tuple[int, ...], order: Ints) -> Any:
    """Return features in which some columns are those of other rows."""
    if hasattr(X, "iloc"):
        out = X.copy()
        for k in columns:
            out[X.columns[k]] = (
                X.iloc[order, k].to_numpy() if X.dtypes.iloc[k] != "category" else X.iloc[order, k].array
            )
        return out
    if hasattr(X, "tolil"):
        sparse = X.tolil(copy=True)
        sparse[:, list(columns)] = X[order][:, list(columns)]
        return sparse.tocsr()
    out = np.array(X, copy=True)
    out[:, list(columns)] = np.asarray(X)[order][:, list(columns)]
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
    loss = request.loss
    measure = _loss_of(loss, data)
    table = request.run(RepeatedKFold(FOLDS, rounds), probes={"importance": _Probe(groups, measure, request.seed)})
    found = np.array([row for row in table.probes["importance"] if row is not None])
    n_test, n_train = table.plan.mean_sizes()
    mean, values = found[:, 0].mean(), found[:, 1:]
    splits = len(values)
    error = values.std(axis=0, ddof=1) * np.sqrt(1 / splits + n_test / n_train)
    # further rounds test the same rows again, so that only the folds of one round count as independent
    freedom = min(splits, FOLDS) - 1
    quantile = float(stdtrit(freedom, (1 + _level_of_each(values, request.level, request.seed)) / 2))
    value = values.mean(axis=0)
    order = np.argsort(-value, kind="stable")
    made = Importance(
        names=tuple(groups[k].name for k in order),
        value=value[order],
        std_error=error[order],
        low=(value - quantile * error)[order],
        high=(value + quantile * error)[order],
        loss=measure.id,
        error=float(mean),
        level=request.level,
        n_splits=splits,
    )
    return made, ()


def _loss_of(loss: Any, data: Data) -> Any:
    from unseen.core.registry import find

    if isinstance(loss, str):
        name = ("zero-one" if data.task == "classification" else "squared") if loss == "auto" else loss
        return find(name, "measures")()
    return loss


def _level_of_each(values: Floats, level: float, seed: int) -> float:
    """Return the level at which each interval must hold so that all do, by the correlation of the columns over splits."""
    from scipy.special import ndtr

    spread = values.std(axis=0)
    moving = spread > 0
    if moving.sum() < 2:
        return level
    z = (values[:, moving] - values[:, moving].mean(axis=0)) / spread[moving]
    drawn = stream(seed, "importance", "max").standard_normal((DRAWS, len(z))) @ z / np.sqrt(len(z))
    return float(2 * ndtr(np.quantile(np.abs(drawn).max(axis=1), level)) - 1)
