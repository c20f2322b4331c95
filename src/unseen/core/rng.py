"""Randomness: one seed at the boundary, one derived stream per named purpose."""

from __future__ import annotations

import hashlib

import numpy as np

from unseen.core.errors import KindError

__all__ = ["LARGEST_SEED", "RandomState", "root_seed", "stream", "task_seed"]

LARGEST_SEED = 2**63 - 1  # the largest integer that stores and files of arrays keep

RandomState = int | np.integer | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None


def root_seed(random_state: RandomState) -> int:
    """Turn what scikit-learn users pass as `random_state` into one integer.

    Examples
    --------
    >>> root_seed(7)
    7
    >>> root_seed(np.random.default_rng(0)) == root_seed(np.random.default_rng(0))
    True
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(random_state, bool):
        raise KindError("random_state is a truth value; give a whole number, a Generator or None.")
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise KindError(f"random_state is {random_state}; a seed is a whole number of at least 0.")
        if random_state > LARGEST_SEED:
            raise KindError(f"random_state is {random_state}; a seed is a whole number of at most 2^63 - 1.")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.SeedSequence):
        return int(random_state.generate_state(1, np.uint64)[0] >> np.uint64(1))
    raise KindError(f"random_state is a {type(random_state).__name__}; give a whole number, a Generator or None.")


def _digest(seed: int, parts: tuple[object, ...]) -> bytes:
    text = "\x1f".join([str(seed), *map(str, parts)])
    return hashlib.sha256(text.encode()).digest()


def stream(seed: int, *parts: object) -> np.random.Generator:
    """Return the generator that belongs to a purpose named by `parts`, the same on every machine.

    Examples
    --------
    >>> bool(stream(0, "plan").random() == stream(0, "plan").random())
    True
    >>> bool(stream(0, "plan").random() == stream(0, "fit").random())
    False
    """
    return np.random.default_rng(int.from_bytes(_digest(seed, parts)[:16], "little"))


def task_seed(seed: int, *parts: object) -> int:
    """Return a 31-bit seed for one task, derived from the run's seed and the task's name.

    Examples
    --------
    >>> task_seed(0, "fit", 3) == task_seed(0, "fit", 3) != task_seed(0, "fit", 4)
    True
    """
    return int.from_bytes(_digest(seed, parts)[:4], "little") >> 1
