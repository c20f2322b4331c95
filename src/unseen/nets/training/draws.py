"""Random numbers by counting: each net draws from its own stream, whatever its companions, device or batch width.

A number is a hash of (key, counter), the SplitMix64 finaliser (Steele, Lea & Flood, 2014, "Fast splittable pseudorandom
number generators", OOPSLA), in whole numbers only, so that CPU and GPU draw the same and a captured graph can draw at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["bits", "derive", "keep_mask", "keys_of", "shuffle_positions", "uniform"]

# constants of SplitMix64 as signed 64-bit numbers: the increment (the golden ratio) and the two multipliers
GOLDEN = -7046029254386353131
FIRST = -4658895280553007687
SECOND = -7723592293110705685
MAX63 = (1 << 63) - 1
MAX64 = (1 << 64) - 1


def bits(x: Tensor) -> Tensor:
    """Return 64 well mixed bits for each whole number (int64, wrapping)."""
    y = x >> 30  # written over from here on: masks of many nets are made in every step
    y &= (1 << 34) - 1
    y ^= x
    y *= FIRST
    z = y >> 27
    z &= (1 << 37) - 1
    y ^= z
    y *= SECOND
    z = y >> 31
    z &= (1 << 33) - 1
    y ^= z
    return y


def keys_of(seeds: Sequence[int], purpose: str, device: torch.device | str = "cpu") -> Tensor:
    """Return one key per seed for a named purpose.

    Examples
    --------
    >>> a, b = keys_of([1, 2], "batches"), keys_of([2], "batches")
    >>> bool(a[1] == b[0]), bool(a[0] == a[1]), bool(keys_of([1], "dropout")[0] == a[0])
    (True, False, False)
    """
    tag = int.from_bytes(purpose.encode()[:8].ljust(8, b"\0"), "little")
    words = [(int(s) & MAX64) for s in seeds]
    signed = torch.tensor([w - (1 << 64) if w > MAX63 else w for w in words], dtype=torch.int64)
    tag_signed = tag - (1 << 64) if tag > MAX63 else tag
    return derive(bits(signed + GOLDEN), tag_signed).to(device)


def derive(keys: Tensor, number: Tensor | int) -> Tensor:
    """Return new keys from keys and a whole number (an epoch, a step, a layer)."""
    return bits(
        bits(keys + GOLDEN) + number * GOLDEN
        if isinstance(number, Tensor)
        else bits(keys + GOLDEN) + _wrap(number * GOLDEN)
    )


def _wrap(value: int) -> int:
    value &= MAX64
    return value - (1 << 64) if value > MAX63 else value


def _at(keys: Tensor, shape: Sequence[int]) -> Tensor:
    """Return bits of shape (*keys.shape, *shape); the value at a position does not depend on the first axis' length."""
    count = math.prod(int(size) for size in shape)
    position = torch.arange(1, count + 1, dtype=torch.int64, device=keys.device) * GOLDEN
    return bits(keys[..., None] + position).reshape(*keys.shape, *shape)


def uniform(keys: Tensor, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> Tensor:
    """Return uniform numbers in [0, 1) of shape (*keys.shape, *shape), 24 random bits each."""
    return ((_at(keys, shape) >> 40) & ((1 << 24) - 1)).to(dtype) * 2.0**-24


def _quarters(hashes: Tensor) -> Tensor:
    """Return the four signed 16-bit parts of each hash, the lowest first, along the last axis."""
    try:
        return hashes.view(torch.int16)
    except RuntimeError:  # torch before 2.13 cannot reinterpret numbers under vmap
        shifts = torch.arange(0, 64, 16, device=hashes.device)  # made there: no copy inside a CUDA graph
        return (hashes[..., None] >> shifts).to(torch.int16).flatten(-2)


def keep_mask(keys: Tensor, rate: Tensor, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> Tensor:
    """Return 1 where a unit is kept, with probability 1 - rate, and 0 elsewhere, per key.

    Examples
    --------
    >>> keys = keys_of([0, 1], "dropout")
    >>> kept = keep_mask(keys, torch.tensor([0.25, 0.5]), (10_000,)).double().mean(1)
    >>> bool((kept - torch.tensor([0.75, 0.5])).abs().max() < 0.02)
    True
    """
    count = math.prod(int(size) for size in shape)
    drawn = _quarters(_at(keys, (-(-count // 4),)))[..., :count]  # four draws of 16 bits from each hash
    floor = ((rate.double() * 2.0**16).round() - 2.0**15).clamp(max=2.0**15 - 1)
    # whole numbers at or above the floor give 1, those below 0: on a CPU a third of the time of comparing 16 bits
    above = drawn.to(dtype) - (floor - 1).to(dtype)[..., None]
    return above.clamp(0, 1).reshape(*keys.shape, *shape)


def shuffle_positions(keys: Tensor, lengths: Tensor, width: int) -> Tensor:
    """Return positions 0 .. width - 1 per net, its own 0 .. length - 1 first in random order, the padding after them.

    The order of a net depends on its key and length alone.

    Examples
    --------
    >>> order = shuffle_positions(keys_of([3, 4], "order"), torch.tensor([3, 5]), 5)
    >>> sorted(order[0, :3].tolist()), order[0, 3:].tolist()
    ([0, 1, 2], [3, 4])
    """
    rank = (_at(keys, (width,)) >> 1) & (MAX63 >> 1)
    position = torch.arange(width, device=keys.device)
    rank = torch.where(position < lengths[:, None], rank, MAX63)
    return torch.argsort(rank, dim=1, stable=True)
