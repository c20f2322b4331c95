"""Whether a GPU gives the numbers of a CPU: estimates, measures and training in float64, with the same weights and the same points.

`PYTHONPATH=src python3 studies/gpu_same_numbers.py` prints the differences and ends with 1 where one is too large. numpy and torch alone; the tests that want a GPU
(tests/unit/nets) call the same functions.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import nn

from unseen import nets
from unseen.core.errors import UnseenError
from unseen.nets.estimates.kernels import KernelPoints

ROWS, POINTS = 45, 6
ESTIMATES = (
    "resub",
    "bolster",
    "naive-bayes-bolster",
    "posterior",
    "bolster-posterior",
    "naive-bayes-bolster-posterior",
)


def given_points(self: KernelPoints, n: int, d: int, device: Any, dtype: Any) -> Iterator[tuple[slice, Any]]:
    """Yield the same numbers on every device, drawn by numpy, in blocks that end between rows."""
    z = np.random.default_rng(self.seed % 2**32).standard_normal((n, self.groups[0], 1, d))
    for start in range(0, n, 7):
        block = slice(start, min(start + 7, n))
        yield block, torch.as_tensor(z[block], dtype=dtype, device=device)


def small_net() -> nn.Module:
    """Return a net of eight features in float64, the same at every call."""
    torch.manual_seed(3)
    return nn.Sequential(nn.Flatten(), nn.Linear(8, 5), nn.Tanh(), nn.Linear(5, 3)).double()


def small_sample() -> tuple[np.ndarray, np.ndarray]:
    """Return 45 rows in three classes that overlap."""
    rng = np.random.default_rng(1)
    y = np.arange(ROWS) % 3
    return 0.7 * rng.standard_normal((ROWS, 8)) + y[:, None] * np.array([1.0, -1.0] * 4), y


def double_net(device: str) -> nets.Net:
    """Return the sample net of convolutions with its images in float64."""
    net = nets.sample_net("conv")
    return dataclasses.replace(
        net,
        module=net.module.double().to(device),
        X_train=net.X_train.double().to(device),
        y_train=net.y_train.to(device),
        initial=None if net.initial is None else {k: v.double().to(device) for k, v in net.initial.items()},
        copy80=None,
    )


def images(n: int = 60, side: int = 14, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return noise with a square whose brightness tells the class."""
    y = np.arange(n) % 3
    X = np.random.default_rng(seed).normal(size=(n, 1, side, side))
    X[:, 0, 2:8, 2:8] += y[:, None, None]
    return X, y


def awkward_cnn(n_features: Any, n_classes: int) -> nn.Module:
    """Return a small net with every kind of layer that has a batched form of its own."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Dropout2d(0.2),
        nn.Conv2d(4, 4, 3, groups=2),
        nn.GroupNorm(2, 4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 8),
        nn.BatchNorm1d(8),
        nn.LayerNorm(8),
        nn.Dropout(0.3),
        nn.Linear(8, n_classes),
    )


def difference_of_estimates(method: str, device: str) -> float:
    """Return the largest difference between a CPU and a device in the contributions of all rows, the estimate, and its Monte-Carlo error."""
    X, y = small_sample()
    with patch.object(KernelPoints, "blocks", given_points):
        here, there = (
            nets.estimate(small_net().to(place), X, y, method=method, n_mc=POINTS, draws=11, device=place)
            for place in ("cpu", device)
        )
    rows = np.abs(there.contributions - here.contributions).max()
    return float(max(rows, abs(there.value - here.value), abs((there.mc_error or 0.0) - (here.mc_error or 0.0))))


def difference_of_measures(name: str, device: str) -> float:
    """Return the relative difference of a measure between a CPU and a device; `UnseenError` if the sample net lacks what it needs."""
    with patch.object(KernelPoints, "blocks", given_points):
        here, there = (nets.build_measure(name)(double_net(place), draws=3).value for place in ("cpu", device))
    return abs(there - here) / max(abs(here), 1e-2)


def difference_of_training(device: str) -> float:
    """Return the largest difference in logits of three nets that a CPU and a device trained side by side."""
    X, y = images()
    options: dict[str, Any] = {"seeds": [5, 6, 7], "epochs": 4, "batch_size": 11, "momentum": 0.9, "dtype": "float64"}
    sets = [np.arange(60), np.arange(45), np.arange(10, 55)]
    here, there = (nets.fit_many(awkward_cnn, X, y, sets, device=place, **options) for place in ("cpu", device))
    if device == "cuda" and there.how != "grouped convolutions, CUDA graph":
        raise UnseenError(f"the nets were trained by {there.how}, not in a CUDA graph.")
    return float((here.logits(X) - there.logits(X).cpu()).abs().max())


def main() -> int:
    """Print every difference; return 1 if one is too large."""
    device, bad = "cuda" if torch.cuda.is_available() else "cpu", 0
    jobs = [(f"estimate {m}", difference_of_estimates, (m, device), 1e-10) for m in ESTIMATES]
    jobs += [(f"measure {m}", difference_of_measures, (m, device), 1e-8) for m in nets.known_measures()]
    jobs.append(("training", difference_of_training, (device,), 1e-9))
    for name, check, arguments, most in jobs:
        try:
            found = check(*arguments)
        except UnseenError as error:
            print(f"{name:40s} left out: {error}", flush=True)
            continue
        bad += found > most
        print(f"{name:40s} {found:9.2g}  {'agrees' if found <= most else 'DIFFERS'}", flush=True)
    print(f"{device}: {len(jobs)} checks, {bad} differ")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
