"""Device, precision, memory and threads with which nets compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unseen.core.errors import InputError, KindError

__all__ = [
    "device_of",
    "dtype_of",
    "exact_float32",
    "is_out_of_memory",
    "limited_torch",
    "rows_at_once",
    "tensor_of",
    "use_threads",
]


DTYPES = {"float32": torch.float32, "float64": torch.float64}


def tensor_of(values: Any) -> Tensor:
    """Return an array as a tensor; one that must not be written to is copied, since torch cannot promise to leave it alone."""
    return torch.as_tensor(np.require(values, requirements="W"))


def device_of(device: Any, module: Any = None) -> torch.device:
    """Return the device asked for; "auto" is the one that holds the module, or without a module a GPU if there is one.

    Parameters
    ----------
    device : str, torch.device or None
        "auto" (or None), "cpu", "cuda", or whatever torch knows.
    module : nn.Module, optional
        Whose device "auto" means.

    Examples
    --------
    >>> device_of("cpu"), device_of("auto", nn.Linear(2, 2))
    (device(type='cpu'), device(type='cpu'))
    """
    if device is None or device == "auto":
        first = next(module.parameters(), None) if isinstance(module, nn.Module) else None
        if first is not None:
            return first.device
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

    Parameters
    ----------
    tf32 : bool
        Allow the rounding, for speed.

    Examples
    --------
    >>> with exact_float32():
    ...     float((torch.tensor([[3.0]]) @ torch.tensor([[1.0009765625]])).item())
    3.0029296875
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


# numbers of inputs in one evaluation pass: enough to keep the device busy, with room for the activations of wide layers
CPU_NUMBERS = 4_000_000
GPU_NUMBERS = 32_000_000


def rows_at_once(sample_shape: Sequence[int], device: torch.device) -> int:
    """Return how many examples, summed over nets, one evaluation pass takes."""
    numbers = GPU_NUMBERS if device.type == "cuda" else CPU_NUMBERS
    return max(256, min(32_768, numbers // max(1, int(np.prod(sample_shape)))))


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out."""
    words = str(error).lower()
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in words or "can't allocate memory" in words


# one thread unless the user asks for more: small nets lose time to threads that wait for each other, and sums of several
# threads depend on how many there are
_threads: ContextVar[int] = ContextVar("unseen_nets_threads", default=1)


@contextmanager
def use_threads(number: int) -> Iterator[None]:
    """Let nets compute with several threads of the CPU inside this context; without it they take one.

    Whatever trains, samples, estimates or measures nets sets torch's threads when it starts and restores them when it ends.
    Sums may differ in the last digits from those of one thread.

    Parameters
    ----------
    number : int
        Threads of one operation of torch.

    Examples
    --------
    >>> import unseen.nets as nets
    >>> X, y = np.eye(4), np.arange(4) % 2
    >>> with nets.use_threads(2):
    ...     fits = nets.fit_many(nets.make_mlp, X, y, seeds=[0], epochs=1, stop="none", device="cpu")
    """
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise InputError(f"the number of threads is {number!r}; it is a whole number of at least 1.")
    token = _threads.set(int(number))
    try:
        yield
    finally:
        _threads.reset(token)


@contextmanager
def limited_torch() -> Iterator[None]:
    """Give torch one thread, or as many as `use_threads` says, and restore its number at the end.

    Examples
    --------
    >>> with limited_torch():
    ...     torch.get_num_threads()
    1
    """
    before, wanted = torch.get_num_threads(), _threads.get()
    if before == wanted:
        yield
        return
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)
