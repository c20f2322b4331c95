"""A forest's own out-of-bag votes: each row judged by the trees that did not learn it (Breiman, 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Target
from unseen.core.kinds import DirectMethod
from unseen.core.notes import Note, note
from unseen.core.registry import find, register
from unseen.core.training import codes_of, fit_once
from unseen.estimators._linear import features_and_final

__all__ = ["ForestOutOfBag"]


@register
@dataclass(frozen=True)
class ForestOutOfBag(DirectMethod):
    """Mean loss of each row under the votes of the trees whose bootstrap samples left it out; nothing is refitted.

    For random forests and extra trees that draw bootstrap samples. A row is judged by some 37% of the trees, so that a forest of few
    trees looks a little worse than it is. The votes are found from the samples of the trees; the forest need not have been made with
    `oob_score=True`. The rows must be those that the forest learned, in the same order: the sizes of its leaves tell.

    Parameters
    ----------
    loss : str
        Loss of single rows; "auto" is zero-one for classes and squared error for numbers.

    References
    ----------
    Breiman, L. (2001). Random forests. Machine Learning 45, 5-32.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> forest = RandomForestClassifier(200, oob_score=True, random_state=0).fit(X, y)
    >>> e = unseen.estimate(forest, X, y, method="forest-out-of-bag", fitted=True)
    >>> abs(e.value - (1 - forest.oob_score_)) < 1e-12, e.n_fits
    (True, 0)
    """

    loss: str = "auto"
    id: ClassVar[str] = "forest-out-of-bag"
    target: ClassVar[Target] = Target.MODEL
    weighted: ClassVar[bool] = True
    whole_model: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U012", "U016"})

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> Estimate:
        """Return the out-of-bag error."""
        measure = _loss_of_rows(self.loss, data)
        if data.n_units < data.n:
            raise NotApplicable(f"{self.id} needs independent rows, and these are grouped; use a resampling method.")
        training = fit_once(model, data, rng)
        Z, forest = features_and_final(training.fitted, data.X)
        votes, times = _out_of_bag_votes(forest, Z)
        seen = times > 0
        if not seen.any():
            raise NotApplicable(f"{self.id}: every tree learned every row; there are {len(forest.estimators_)} trees.")
        mean = votes[seen] / times[seen, None]
        if data.classes is None:
            value, score = mean[:, 0], None
        else:
            value = codes_of(np.asarray(forest.classes_)[mean.argmax(axis=1)], data)
            score = np.zeros((len(mean), len(data.classes)))
            score[:, codes_of(np.asarray(forest.classes_), data)] = mean
        losses = measure.per_example(data.target[seen], value, score)
        weights = None if data.weights is None else data.weights[seen]
        return Estimate(
            value=float(np.average(losses, weights=weights)),
            std_error=None,
            interval=None,
            df=None,
            method=self.id,
            target=self.target.at_share(data),
            loss=measure.id,
            n_units=data.n_units,
            n_fits=training.n_fits,
            seconds=training.seconds,
            notes=_notes(int(np.sum(~seen)), len(getattr(training.fitted.native, "steps", ())) > 1, data),
        )


def _notes(missed: int, steps: bool, data: Data) -> tuple[Note, ...]:
    assumed = ["the steps before the forest learned nothing of the target: they saw all rows"] if steps else []
    if data.order is not None:
        assumed.append("rows do not depend on time: a tree judges rows that are older than those it learned")
    found = (note("U012", f"{missed} rows were in the sample of every tree"),) if missed else ()
    return (*found, *((note("U016", "; ".join(assumed)),) if assumed else ()))


def _loss_of_rows(name: str, data: Data) -> Any:
    usual = "zero-one" if data.task == "classification" else "squared"
    measure = find(usual if name == "auto" else name, "measures")()
    if measure.task not in (data.task, "any") or measure.kind == "set":
        raise InputError(
            f"forest-out-of-bag is a mean over rows for {data.task}, and {measure.id} is not; give a loss such as {usual}."
        )
    return measure


def _out_of_bag_votes(forest: Any, Z: Floats) -> tuple[Floats, Array]:
    """Return the sum of the votes that each row gets from trees that did not learn it, and the number of these trees."""
    if not (hasattr(forest, "estimators_samples_") and hasattr(forest, "estimators_") and hasattr(forest, "apply")):
        raise NotApplicable(f"forest-out-of-bag is for random forests; {type(forest).__name__} is none.")
    if not forest.bootstrap:
        raise NotApplicable("forest-out-of-bag needs trees that leave rows out; this forest has bootstrap=False.")
    X = Z.astype(np.float32)  # what scikit-learn's trees compare with their thresholds
    votes: Floats | None = None
    times = np.zeros(len(X), dtype=np.int64)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_):
        learned = np.zeros(len(X), dtype=bool)
        if rows.max() < len(X):
            learned[rows] = True
        _check_leaves(tree, X[learned])
        out = ~learned
        if not out.any():
            continue
        given = tree.predict_proba(X[out]) if hasattr(tree, "predict_proba") else tree.predict(X[out])[:, None]
        votes = np.zeros((len(X), given.shape[1])) if votes is None else votes
        votes[out] += given
        times[out] += 1
    return np.zeros((len(X), 1)) if votes is None else votes, times


def _check_leaves(tree: Any, X: Array) -> None:
    """Refuse rows of which a leaf holds another number than it learned."""
    inner = tree.tree_
    leaf = inner.children_left == -1
    found = np.bincount(tree.apply(X), minlength=inner.node_count) if len(X) else np.zeros(inner.node_count)
    if not np.array_equal(found[leaf], inner.n_node_samples[leaf]):
        raise NotApplicable("forest-out-of-bag needs the rows that the forest learned, in the order of that fit.")
