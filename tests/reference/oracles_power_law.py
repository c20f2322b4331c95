"""Make `power_law.json`: what weightwatcher finds in the layers of a small network with heavy-tailed weights.

Run with an interpreter that has weightwatcher: `python tests/reference/oracles_power_law.py`. The weights are a closed formula of their indices (sines),
written here and in the test, so that nothing random and nothing of the package is used.
"""

from __future__ import annotations

import json
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from torch import nn


def heavy(shape: tuple[int, ...], phase: float) -> np.ndarray:
    """Return sines of squared indices, scaled so that rows differ by powers: a spectrum with a tail."""
    k = np.arange(np.prod(shape), dtype=float)
    base = np.sin(0.7 * k**1.5 + phase).reshape(shape)
    rows = (1.0 + np.arange(shape[0])) ** -0.6
    return base * rows.reshape(-1, *([1] * (len(shape) - 1)))


def network() -> nn.Module:
    net = nn.Sequential(
        nn.Conv2d(3, 24, 3), nn.ReLU(), nn.Conv2d(24, 32, 3), nn.Flatten(), nn.Linear(128, 60), nn.Linear(60, 40)
    )
    with torch.no_grad():
        for number, layer in enumerate(m for m in net if hasattr(m, "weight")):
            layer.weight.copy_(torch.from_numpy(heavy(tuple(layer.weight.shape), number)))
    return net


def main() -> None:
    import weightwatcher

    warnings.simplefilter("ignore")
    found = weightwatcher.WeightWatcher(model=network()).analyze(plot=False, randomize=False)
    layers = [
        {
            "name": str(row["longname"]),
            "n": int(row["num_evals"]),
            "alpha": float(row["alpha"]),
            "xmin": float(row["xmin"]),
            "D": float(row["D"]),
            "largest": float(row["lambda_max"]),
            "alpha_hat": float(row["alpha_weighted"]),
        }
        for _, row in found.iterrows()
    ]
    names = ("weightwatcher", "powerlaw", "torch", "numpy")
    record = {"source": {name: version(name) for name in names}, "layers": layers}
    Path(__file__).with_name("power_law.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
