"""What every shortcut shares: which scikit-learn models it knows, when it declines, and how it proves itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.engine.threads import limited_threads

__all__ = ["Exact", "Sample", "decide", "exponentials", "is_sklearn", "largest_distances", "probabilities", "steps_of"]

MAX_COUNTS = 400_000_000  # fits times rows; their counts then take 400 MB
MAX_WANTED = 50_000_000  # predictions; beyond that the engine refits split by split
_proved: dict[type[Any], bool] = {}  # shortcuts that this process has compared with refitting
AGREES = 1e-6  # how far scores may be from scikit-learn's on the rows of the proof


@dataclass(frozen=True, eq=False)
class Sample:
    """The sample as the shortcuts take it: features in double precision, and weights if the learner uses them."""

    X: Floats
    data: Data
    weights: Floats | None = None

    @property
    def codes(self) -> Array:
        """Class of each row."""
        return self.data.codes

    @property
    def n_classes(self) -> int:
        """Number of classes of the data."""
        return 0 if self.data.classes is None else len(self.data.classes)


class Exact:
    """A learner whose fits on parts of the data need no refitting; registers in the group `exact` for the engine.

    A file names the classes of scikit-learn that it knows, gives `examples` of them, and answers. Before its first use in a process
    the answer is compared with refitting on a few rows: a release of scikit-learn that computes something else gets no shortcut.
    """

    group: ClassVar[str] = "exact"
    id: ClassVar[str] = ""
    learners: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for, the plainest first; the contract of shortcuts tries them all."""
        raise NotImplementedError

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None if this model must be refitted.

        Parameters
        ----------
        scalers : sequence
            Transformers in front of the model.
        final : object
            The unfitted estimator, exactly of one of the classes in `learners`.
        sample : Sample
            Features in double precision, and weights.
        fits : ManyFits
            What is fitted on what, and which predictions are wanted.
        """
        raise NotImplementedError

    def knows(self, model: Any, data: Data) -> bool:
        """Say whether this learner is behind a model, so that it is worth asking."""
        final = steps_of(getattr(model, "estimator", None))[1]
        if not any(is_sklearn(final, name) for name in self.learners) or _routing():
            return False
        from sklearn.base import ClassifierMixin

        return isinstance(final, ClassifierMixin) == (data.task == "classification")

    def fit_many(self, model: Any, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits of a model, or None if it must be refitted."""
        scalers, final = steps_of(model.estimator)
        if len(fits) * fits.data.n > MAX_COUNTS or len(fits.row) > MAX_WANTED or fits.data.sample_shape:
            return None
        X = numbers(fits.data.X)
        weights = fits.data.weights
        if weights is not None and model.weight_key is None:
            weights = None
        if X is None or (weights is not None and not np.all(weights > 0)) or not agrees(type(self)):
            return None
        # one thread, as every fit has, so that the main process gets the bits that workers would
        with limited_threads(1), np.errstate(all="ignore"):
            return self.answer(scalers, final, Sample(X, fits.data, weights), fits)


def steps_of(estimator: Any) -> tuple[list[Any], Any]:
    """Return the transformers and the final estimator of a pipeline, or of a bare estimator."""
    if is_sklearn(estimator, "Pipeline"):
        steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
        return (steps[:-1], steps[-1]) if steps else ([], None)
    return [], estimator


def is_sklearn(thing: Any, name: str) -> bool:
    """Say whether an object is exactly the scikit-learn class of this name, not a class derived from it."""
    return type(thing).__name__ == name and type(thing).__module__.startswith("sklearn.")


def _routing() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


def numbers(X: Any) -> Floats | None:
    """Return features as float64, or None if they are not a dense table of finite numbers in double precision."""
    if X is None or hasattr(X, "tocsr"):
        return None
    if hasattr(X, "dtypes") and not all(getattr(kind, "kind", "O") in "fiu" for kind in X.dtypes):
        return None
    values = np.asarray(X)
    # single precision is fitted in single precision by scikit-learn, so its numbers are not these
    if (
        values.dtype.kind not in "fiu"
        or values.dtype == np.float32
        or values.ndim != 2
        or not np.all(np.isfinite(values))
    ):
        return None
    return np.ascontiguousarray(values, dtype=float)


def decide(
    fits: ManyFits, joint: Floats, tolerance: Any, safe: Array, scores: Floats | None = None, kind: str | None = None
) -> ManyAnswers:
    """Return the class with the largest value, the first of equals; a fit with a lead within `tolerance` is not safe.

    Parameters
    ----------
    fits : ManyFits
        What was asked.
    joint : ndarray, (predictions, classes)
        Values to compare; minus infinity for a class that the fit has not seen.
    tolerance : float or ndarray
        Largest rounding error of a difference.
    safe : ndarray of bool
        Fits that are safe otherwise.
    scores, kind
        As in `ManyAnswers`; left out if no scores were asked for.
    """
    if joint.shape[1] == 2:
        lead = joint[:, 1] - joint[:, 0]
        values = (lead > 0).astype(np.int64)
        sure = ~(np.abs(lead) <= tolerance) & np.isfinite(np.maximum(joint[:, 0], joint[:, 1]))
    else:
        values = joint.argmax(axis=1).astype(np.int64)
        two = np.partition(joint, -2, axis=1)[:, -2:]
        sure = ~(two[:, -1] - two[:, 0] <= tolerance) & np.isfinite(two[:, -1])
    if not sure.all():
        safe = safe.copy()
        safe[fits.fit[~sure]] = False
    if not fits.scores:
        scores = kind = None
    return ManyAnswers(values=values, safe=safe, scores=scores, score_kind=kind)


def largest_distances(fits: ManyFits, there: Array, distance: Floats) -> Floats:
    """Return the largest size of each wanted prediction's distances, those from classes that its fit has not seen left out."""
    out = np.zeros(len(distance))
    for k in range(distance.shape[1]):
        np.maximum(out, np.where(fits.per_prediction(there[:, k]), np.abs(distance[:, k]), 0.0), out=out)
    return out


def probabilities(joint: Floats) -> Floats:
    """Return exp(joint) with rows that sum to one, two classes by the logistic function, as linear models of scikit-learn do.

    Close to one there are few numbers, and a measure of order such as the AUC sees which of them are equal: so the formula counts.
    """
    if joint.shape[1] == 2:
        second = expit(joint[:, 1] - joint[:, 0])
        return np.column_stack([1 - second, second])
    rest = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(rest / rest.sum(axis=1, keepdims=True))


def exponentials(joint: Floats) -> Floats:
    """Return exp(joint) with rows that sum to one, by logarithms, as Gaussian models of scikit-learn do."""
    rest = joint - joint.max(axis=1, keepdims=True)
    return np.asarray(np.exp(rest - np.log(np.exp(rest).sum(axis=1, keepdims=True))))


def agrees(cls: type[Exact]) -> bool:
    """Say whether a shortcut gives what refitting gives on a few rows, here and now, for each learner that it knows."""
    if cls not in _proved:
        plainest = {type(model).__name__: model for model in reversed(cls.examples())}
        _proved[cls] = all(_agrees(cls, model) for model in plainest.values())
    return _proved[cls]


def _agrees(cls: type[Exact], estimator: Any) -> bool:
    from unseen.models.sklearn import as_model

    data = _proof(estimator)
    train = [np.flatnonzero(np.arange(data.n) % 5 != k) for k in range(5)]
    row = np.concatenate([np.flatnonzero(np.arange(data.n) % 5 == k) for k in range(5)])
    fits = ManyFits(data=data, train=train, fit=np.repeat(np.arange(5), len(row) // 5), row=row, scores=True)
    model: Any = as_model(estimator)
    with limited_threads(1), np.errstate(all="ignore"):
        got = cls().answer([], estimator, Sample(data.X, data), fits)
    if got is None or not got.safe.all():
        return False
    for j in range(5):
        fitted, here = model.fit(data.take(train[j]), 0), fits.wanted(j)
        values, scores = fitted.predict(data.X[row[here]]), fitted.scores(data.X[row[here]])
        if not np.allclose(values, got.values[here], atol=AGREES) or (scores is None) != (got.scores is None):
            return False
        if scores is not None and (scores[1] != got.score_kind or not _close(scores[0], got.scores[here])):  # type: ignore[index]
            return False
    return True


def _close(a: Floats, b: Floats) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, atol=AGREES))


def _proof(estimator: Any) -> Data:
    """Return 30 rows that no learner finds singular or separable, and whose best class is never in doubt."""
    from sklearn.base import ClassifierMixin

    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    if not isinstance(estimator, ClassifierMixin):
        return Data(X, X[:, 0] + rng.standard_normal(30), "regression")
    y = (X[:, 0] + rng.standard_normal(30) > 0).astype(np.int64)
    return Data(X, y, "classification", np.array([0, 1]))
