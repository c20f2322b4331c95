"""Training progress of anything that trains by steps: errors, Pineda's P and the weight vector by epoch (Hutton, 1992)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError, KindError
from unseen.core.result import Result

__all__ = ["TrainingProgress", "monitor", "outputs_of", "steps_of", "targets_of", "weight_summary", "weights_of"]


def weight_summary(weights: Floats) -> tuple[float, float, float]:
    """Return the angle of a weight vector to the all-equal vector (radians), its length, and its normalised variance.

    The variance of the normalised vector is sin^2(angle) / n.

    Examples
    --------
    >>> angle, length, variance = weight_summary(np.array([3.0, 4.0]))
    >>> length, bool(np.isclose(np.sin(angle) ** 2 / 2, variance))
    (5.0, True)
    """
    length = float(np.linalg.norm(weights))
    if length == 0:
        return float("nan"), 0.0, float("nan")
    unit = weights / length
    cosine = float(np.clip(unit.sum() / np.sqrt(len(unit)), -1, 1))
    return float(np.arccos(cosine)), length, float(unit.var())


def weights_of(estimator: Any) -> Floats | None:
    """Return all weights of a fitted estimator as one vector, or None if it has none to show."""
    parts: list[Any] = []
    for name in ("coefs_", "intercepts_"):
        parts += list(getattr(estimator, name, ()))
    for name in ("coef_", "intercept_"):
        if hasattr(estimator, name):
            parts.append(getattr(estimator, name))
    return np.concatenate([np.ravel(p) for p in parts]).astype(float) if parts else None


def targets_of(y: Array, classes: Array | None) -> Floats:
    """Return targets as columns: numbers, or 0 and 1 for each class (one column for two classes)."""
    if classes is None:
        return np.asarray(y, dtype=float).reshape(len(y), -1)
    codes = np.searchsorted(classes, y)
    return (codes == 1).astype(float)[:, None] if len(classes) == 2 else np.eye(len(classes))[codes]


def outputs_of(estimator: Any, X: Any, classes: Array | None) -> Floats:
    """Return outputs as columns that go with `targets_of`: numbers, probabilities, or decisions if there are none."""
    if classes is None:
        return np.asarray(estimator.predict(X), dtype=float).reshape(len(X), -1)
    if hasattr(estimator, "predict_proba"):
        p = np.asarray(estimator.predict_proba(X))
        return p[:, 1:] if len(classes) == 2 else p
    return targets_of(np.asarray(estimator.predict(X)), classes)


def steps_of(estimator: Any, X: Any, y: Array, classes: Array | None, epochs: int) -> Iterator[Any]:
    """Yield the estimator after each epoch (`partial_fit`) or each stage of a boosted model; a generator that fits it.

    A boosted model is yielded refitted with that many stages, which costs one fit each for those without `staged_predict`.
    """
    if hasattr(estimator, "partial_fit"):
        options = {} if classes is None else {"classes": classes}
        for _ in range(epochs):
            estimator.partial_fit(X, y, **options)
            options = {}
            yield estimator
        return
    stages = _stages_of(estimator)
    estimator.set_params(warm_start=True)
    for k in range(1, epochs + 1):
        estimator.set_params(**{stages: k}).fit(X, y)
        yield estimator


def _stages_of(estimator: Any) -> str:
    """Return the parameter that counts the stages of a boosted model."""
    there = estimator.get_params()
    if "warm_start" in there and "n_estimators" in there:
        return "n_estimators"
    if "warm_start" in there and {"max_iter", "max_leaf_nodes"} <= there.keys():  # boosted trees on histograms
        return "max_iter"
    raise KindError(
        f"{type(estimator).__name__} does not train by steps; give one with partial_fit, or a boosted model with "
        "n_estimators and warm_start."
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingProgress(Result):
    """What was recorded after each epoch.

    Parameters
    ----------
    train_error, monitor_error : ndarray
        E_m, the mean squared difference of targets and outputs, on the training and on the monitored part.
    train_p, monitor_p : ndarray
        Pineda's P = 1 - E_m / s_t^2; 0 once the prior is learnt.
    angle, rate, length, variance : ndarray
        Weight vector: angle to the all-equal vector, its change per epoch, length, variance of the normalised vector
        (NaN if the model shows no weights).
    target_variance : float
        s_t^2 of the training part.
    """

    shown_by: ClassVar[str] = "unseen.diagnosis"

    train_error: Floats
    monitor_error: Floats
    train_p: Floats
    monitor_p: Floats
    angle: Floats
    rate: Floats
    length: Floats
    variance: Floats
    target_variance: float

    @property
    def best(self) -> int:
        """Epoch, counted from 1, with the smallest error on the monitored part."""
        return int(np.argmin(np.nan_to_num(self.monitor_error, nan=np.inf))) + 1  # training that diverged ends in NaN

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per epoch."""
        names = ("train_error", "monitor_error", "train_p", "monitor_p", "angle", "rate", "length", "variance")
        columns = zip(*(getattr(self, name) for name in names))
        return [{"epoch": k, **dict(zip(names, map(float, line)))} for k, line in enumerate(columns, 1)]

    def __str__(self) -> str:
        return (
            f"{len(self.train_error)} epochs: training error {self.train_error[-1]:.4g}, monitored error smallest "
            f"({self.monitor_error[self.best - 1]:.4g}) at epoch {self.best} and {self.monitor_error[-1]:.4g} at the end."
        )


def monitor(
    estimator: Any, X: Any, y: Any, X_monitor: Any, y_monitor: Any, *, epochs: int = 100, random_state: int | None = 0
) -> TrainingProgress:
    """Train an estimator step by step and record its progress; the estimator itself is not changed.

    Parameters
    ----------
    estimator : estimator with partial_fit, or boosted model with n_estimators and warm_start
        MLPClassifier, SGDRegressor, GradientBoostingClassifier, ...
    X, y, X_monitor, y_monitor : array-like
        What is trained on, and what is only looked at.
    epochs : int
        Passes through the training part, or stages.
    random_state : int or None
        Set on the estimator if it has that parameter unset.

    Returns
    -------
    TrainingProgress

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 3))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(100)
    >>> p = monitor(SGDRegressor(), X[:50], y[:50], X[50:], y[50:], epochs=20)
    >>> bool(p.monitor_p[-1] > 0.9), bool(p.rate[-1] < p.rate[1])
    (True, True)
    """
    from sklearn.base import clone, is_classifier

    if epochs < 1:
        raise InputError(f"epochs is {epochs}; at least one is needed.")
    fresh = clone(estimator)
    if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
        fresh.set_params(random_state=random_state)
    y, y_monitor = np.asarray(y), np.asarray(y_monitor)
    _check_parts(X, y, X_monitor, y_monitor, is_classifier(fresh) and not hasattr(fresh, "partial_fit"))
    classes = np.unique(np.concatenate([y, y_monitor])) if is_classifier(fresh) else None
    targets = [targets_of(part, classes) for part in (y, y_monitor)]
    errors, summaries = [], []
    for stage in steps_of(fresh, X, y, classes, epochs):
        errors.append([_mean_square(t, outputs_of(stage, part, classes)) for t, part in zip(targets, (X, X_monitor))])
        weights = weights_of(stage)
        summaries.append((np.nan, np.nan, np.nan) if weights is None else weight_summary(weights))
    train, watched = np.array(errors).T
    angle, length, variance = np.array(summaries).T
    spread = [float(t.var(axis=0).mean()) for t in targets]
    rate = np.abs(np.diff(angle, prepend=np.nan))
    return TrainingProgress(
        train_error=train,
        monitor_error=watched,
        train_p=_p(train, spread[0]),
        monitor_p=_p(watched, spread[1]),
        angle=angle,
        rate=rate,
        length=length,
        variance=variance,
        target_variance=spread[0],
    )


def _check_parts(X: Any, y: Array, X_monitor: Any, y_monitor: Array, learns_classes: bool) -> None:
    """Refuse parts that do not fit each other; a boosted model knows only the classes of its training part."""
    for what, rows, labels in (("X and y", X, y), ("X_monitor and y_monitor", X_monitor, y_monitor)):
        if np.shape(rows)[0] != len(labels) or not len(labels):
            raise InputError(f"{what} have {np.shape(rows)[0]} and {len(labels)} rows; give as many of each, and some.")
    strange = np.setdiff1d(y_monitor, y if learns_classes else y_monitor)
    if len(strange):
        raise InputError(f"the monitored part holds the class {strange[0].item()!r}, which the training part lacks.")


def _p(error: Floats, spread: float) -> Floats:
    return 1 - error / spread if spread > 0 else np.full_like(error, np.nan)


def _mean_square(target: Floats, output: Floats) -> float:
    return float(np.square(target - output).mean())
