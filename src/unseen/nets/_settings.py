"""How nets are trained: the options of `fit_many`, checked once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unseen.core.errors import InputError, KindError, UnknownName

__all__ = ["Settings", "device_of", "exact_float32", "per_net"]

STOPS = {"patience": None, "train-accuracy": 0.95, "train-loss": 0.02, "none": None}
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True, kw_only=True)
class Settings:
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


GIVEN_ELSEWHERE = ("module", "X", "y", "index_sets", "seeds", "device", "dtype", "n_classes")


def training_options(given: Any) -> dict[str, Any]:
    """Return how copies of a net are trained after checking the names against those of `fit_many`."""
    from unseen.nets._fit_many import fit_many

    if not isinstance(given, dict):
        raise KindError(f"training is a {type(given).__name__}; give a dict such as dict(epochs=200, lr=0.02).")
    known = [name for name in inspect.signature(fit_many).parameters if name not in GIVEN_ELSEWHERE]
    for name in given:
        if name not in known:
            raise UnknownName("option of training", name, known)
    return given


def whole(name: str, value: Any) -> int:
    """Return a whole number of at least 1."""
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a whole number; it is {value!r}.") from error
    if number < 1 or number != value:
        raise InputError(f"{name} must be a whole number of at least 1; it is {value!r}.")
    return number


def maybe_whole(name: str, value: Any) -> int | None:
    """Return a whole number of at least 1, or None where none is given."""
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


def tensor_of(values: Any) -> Tensor:
    """Return an array as a tensor; one that must not be written to is copied, since torch cannot promise to leave it alone."""
    return torch.as_tensor(np.require(values, requirements="W"))


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


def device_of(device: Any) -> torch.device:
    """Return a device; "auto" takes a GPU where there is one."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InputError(f"the device {device!r} is not known to torch; give 'auto', 'cpu' or 'cuda'.") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError("device='cuda' was asked for, but torch sees no GPU here; give device='auto' or 'cpu'.")
    return chosen


def dtype_of(dtype: Any) -> torch.dtype:
    """Return float32 or float64."""
    found = DTYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype
    if found is None:
        return torch.float32
    if isinstance(found, torch.dtype) and found in DTYPES.values():
        return found
    try:
        return DTYPES[np.dtype(dtype).name]
    except (KeyError, TypeError) as error:
        raise KindError(f"dtype must be float32 or float64; it is {dtype!r}.") from error


class exact_float32:
    """Context in which float32 products on a GPU are not rounded to TF32 (10-bit mantissas), unless asked for.

    Torch has an old and a new way to say so and refuses to read the old one after the new was used.
    """

    def __init__(self, tf32: bool = False) -> None:
        self.tf32 = tf32

    def __enter__(self) -> None:
        products, convolutions = torch.backends.cuda.matmul, torch.backends.cudnn
        self.kept: list[tuple[Any, str, Any]] = [(convolutions, "benchmark", convolutions.benchmark)]
        try:
            self.kept += [(part, "allow_tf32", part.allow_tf32) for part in (products, convolutions)]
            value: Any = self.tf32
        except RuntimeError:
            places = (products, convolutions.conv)
            self.kept = [self.kept[0], *((part, "fp32_precision", part.fp32_precision) for part in places)]
            value = "tf32" if self.tf32 else "ieee"
        for part, name, _ in self.kept:
            setattr(part, name, True if name == "benchmark" else value)

    def __exit__(self, *error: object) -> None:
        for part, name, value in self.kept:
            setattr(part, name, value)


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
