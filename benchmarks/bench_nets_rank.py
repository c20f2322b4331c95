"""Ranking 40 checkpoints with the default measure: from a folder of files to the advice, on 2,000 images with nets of 100,000 weights.

`python -m benchmarks.bench_nets_rank [cpu|cuda]` prints the seconds of each part; numpy and torch alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NETS, IMAGES, SIDE = 40, 2000, 32
TARGETS = {"cpu": 600.0, "cuda": 60.0}  # seconds: two cores, one data-centre GPU


def make_net(width: int = 40) -> Any:
    """Return a convolution net of 98,090 weights for 32 x 32 pixels in colour."""
    from torch import nn

    layers: list[Any] = [nn.Conv2d(3, width, 3, stride=2, padding=1), nn.ReLU()]
    layers += [nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU()]
    layers += [nn.Conv2d(2 * width, 2 * width, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(16 * 2 * width, 10))


def write_checkpoints(folder: Path) -> tuple[Any, Any]:
    """Train one net for a few steps, keep it 40 times on the way, and return the images and their classes."""
    import torch

    torch.manual_seed(0)
    y = torch.arange(IMAGES) % 10
    centres = torch.rand(10, 3, SIDE, SIDE)
    X = (0.5 * centres[y] + 0.5 * torch.rand(IMAGES, 3, SIDE, SIDE)).clamp(0, 1)
    net = make_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for k in range(NETS):
        rows = torch.randperm(IMAGES)[:64]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(X[rows]), y[rows]).backward()
        optimizer.step()
        torch.save({"epoch": k, "model": net.state_dict()}, folder / f"epoch-{k:02d}.pt")
    return X, y


def rank_folder(folder: Path, X: Any, y: Any, device: str) -> tuple[float, float]:
    """Return the seconds of reading the folder and of ranking what is in it."""
    from unseen import nets

    start = time.perf_counter()
    found = nets.read_networks(folder, (X, y), make=make_net, device=device)
    read = time.perf_counter()
    ranking = nets.rank(found, device=device, random_state=0, progress=False)
    assert len(ranking.names) == NETS
    assert ranking.advice.startswith("Take")
    return read - start, time.perf_counter() - read


def measure_time(device: str) -> tuple[float, float]:
    """Make the files, and time reading and ranking."""
    with tempfile.TemporaryDirectory() as folder:
        return rank_folder(Path(folder), *write_checkpoints(Path(folder)), device)


def run() -> list[dict]:
    """Return the rows of this benchmark; none without torch."""
    if find_spec("torch") is None:
        return []
    import torch

    from benchmarks.timing import row

    device = "cuda" if torch.cuda.is_available() else "cpu"
    read, ranked = measure_time(device)
    target, taken = TARGETS[device], read + ranked
    name = f"rank {NETS} checkpoints by the default, {IMAGES} images, {device}"
    remark = f"{read:.2g} s to read the files, {ranked:.3g} s to rank; one thread on a CPU"
    return [row(name, taken, target, "the target", f"under {target:.0f} s", taken < target, remark)]


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    parts = measure_time(where)
    print(f"{where}: read {parts[0]:.2f} s, ranked {parts[1]:.2f} s, target {TARGETS[where]:.0f} s")
