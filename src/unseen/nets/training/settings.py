"""How nets are trained: the options of `fit_many`, checked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from unseen.core.errors import InputError, KindError, UnknownName

__all__ = ["TrainingSettings", "per_net"]

STOPS = {"patience": None, "train-accuracy": 0.95, "train-loss": 0.02, "none": None}


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Options that all nets of a call share, and those with one value per net."""

    epochs: int
    batch_size: int
    lr: tuple[float, ...]
    momentum: tuple[float, ...]
    weight_decay: tuple[float, ...]
    dropout: tuple[float, ...] | None
    patience: int
    stop: str
    stop_at: float | None
    optimizer: str
    halve_every: int | None
    augment: Callable[..., Tensor] | None
    strategy: str
    eval_batch: int | None
    after_epoch: Callable[[int, Any], Any] | None = None

    def __post_init__(self) -> None:
        if not (
            self.stop_at is None or (isinstance(self.stop_at, (int, float, np.number)) and np.isfinite(self.stop_at))
        ):
            raise InputError(f"stop_at must be a finite number; it is {self.stop_at!r}.")
        if not (self.augment is None or callable(self.augment)):
            raise KindError(f"augment is a {type(self.augment).__name__}; give a function of a batch and a draw.")
        for name, known in (
            ("stop", tuple(STOPS)),
            ("optimizer", ("sgd", "adam")),
            ("strategy", ("auto", "grouped", "vmap", "one-by-one")),
        ):
            if getattr(self, name) not in known:
                raise UnknownName(name, getattr(self, name), known)
        if self.dropout is not None and not all(0 <= r < 1 for r in self.dropout):
            raise InputError(f"dropout must be at least 0 and below 1; it is {max(self.dropout)}.")

    @property
    def target(self) -> float | None:
        """Value at which training stops, for the rules that have one."""
        return STOPS[self.stop] if self.stop_at is None else self.stop_at


def whole(name: str, value: Any) -> int:
    """Return a whole number of at least 1."""
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a whole number; it is {value!r}.") from error
    if number < 1 or number != value:
        raise InputError(f"{name} must be a whole number of at least 1; it is {value!r}.")
    return number


def whole_or_none(name: str, value: Any) -> int | None:
    """Return a whole number of at least 1, or None if none is given."""
    return None if value is None else whole(name, value)


def per_net(name: str, value: Any, count: int, low: float = 0.0) -> tuple[float, ...]:
    """Return one number per net from a number or one per net."""
    try:
        numbers = np.asarray(value.cpu() if isinstance(value, Tensor) else value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be one number or one per net; it is {value!r}.") from error
    if numbers.ndim == 0:
        numbers = np.full(count, float(numbers))
    if numbers.shape != (count,):
        raise InputError(f"{name} must be one number or one per net ({count}); it has shape {numbers.shape}.")
    if not np.all(np.isfinite(numbers)) or numbers.min() < low:
        raise InputError(f"{name} must be finite and at least {low:g}; it is {numbers.min()}.")
    return tuple(float(v) for v in numbers)


def seed_of(random_state: Any) -> int:
    """Return the seed of a net: the number given, or one drawn."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(2**31 - 1))
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    if draw is None:
        raise InputError(f"random_state must be a whole number, a Generator or None; it is {random_state!r}.")
    return int(draw(2**31 - 1))


def weights_of_rows(sample_weight: Any, n: int) -> np.ndarray | None:
    """Return one weight per row of X, or None."""
    if sample_weight is None:
        return None
    given = sample_weight.detach().cpu() if isinstance(sample_weight, Tensor) else sample_weight
    try:
        weights = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must hold one number per row of X ({n}); {error}.") from error
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InputError(f"sample_weight has shape {weights.shape}; it must hold one weight per row of X ({n}).")
    if not np.all(np.isfinite(weights)) or weights.min() < 0:
        raise InputError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise InputError("sample_weight is zero for all rows; there is nothing to learn from.")
    return weights


def weights_by_number(class_weight: Any, classes: np.ndarray) -> Any:
    """Return weights of classes given by label as weights by class number, and anything else as it is."""
    if not isinstance(class_weight, dict):
        return class_weight
    known = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise InputError(f"class_weight names {unknown[0]!r}, which is no label of y: {list(known)[:10]}.")
    return {known[label]: w for label, w in class_weight.items()}


def class_weights(
    class_weight: Any,
    y: np.ndarray,
    sets: Sequence[np.ndarray],
    n_classes: int,
    row_weights: np.ndarray | None = None,
) -> np.ndarray | None:
    """Return weights (S, c): None, "balanced" (by each net's own rows), {class: weight}, (c,) or (S, c)."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise UnknownName("class_weight", class_weight, ("balanced",))
        each = np.ones(len(y)) if row_weights is None else row_weights
        counts = np.stack([np.bincount(y[s], each[s], minlength=n_classes) for s in sets])
        present = np.maximum((counts > 0).sum(1, keepdims=True), 1)
        share = counts.sum(1, keepdims=True) / (present * np.where(counts > 0, counts, 1))
        return np.where(counts > 0, share, 1.0)
    if isinstance(class_weight, dict):
        wrong = [k for k in class_weight if not isinstance(k, (int, np.integer)) or not 0 <= int(k) < n_classes]
        if wrong:
            raise InputError(f"class_weight names the class {wrong[0]!r}, but there are classes 0 to {n_classes - 1}.")
        class_weight = [class_weight.get(k, 1.0) for k in range(n_classes)]
    weights = np.asarray(class_weight, dtype=float)
    if weights.shape not in ((n_classes,), (len(sets), n_classes)) or not np.all(weights >= 0) or not weights.any():
        raise InputError(
            f"class_weight must hold one non-negative weight per class ({n_classes}); it has shape {weights.shape}."
        )
    return np.broadcast_to(weights, (len(sets), n_classes)).copy()
