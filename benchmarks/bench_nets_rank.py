"""Ranking 40 checkpoints with the default measure: from a folder of files to the advice, on 2,000 images with nets of 100,000 weights.

`python -m benchmarks.bench_nets_rank [cpu|cuda]` prints the seconds of each part; numpy and torch alone.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.timing import Time, row, same_numbers, time_of

NETS, IMAGES, SIDE = 40, 2000, 32
TARGETS = {"cpu": 600.0, "cuda": 60.0}  # seconds: two cores, one data-centre GPU


def make_net(width: int = 40) -> Any:
    """Return a convolution net of 100,490 weights for 32 x 32 pixels in colour."""
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


def rank_folder(folder: Path, X: Any, y: Any, device: str) -> tuple[Time, Time]:
    """Return the time of reading the folder, with what was found, and of ranking it, with the ranking."""
    from unseen import nets

    read = time_of(lambda: nets.read_networks(folder, (X, y), make=make_net, device=device), 1)
    ranked = time_of(lambda: nets.rank(read.result, device=device, random_state=0, progress=False), 1)
    assert len(ranked.result.names) == NETS
    assert ranked.result.advice.startswith("Take")
    return read, ranked


def accuracies(folder: Path, X: Any, y: Any) -> dict[str, float]:
    """Return the training accuracy of each file, by torch alone."""
    import torch

    found, net = {}, make_net()
    for file in sorted(folder.glob("*.pt")):
        net.load_state_dict(torch.load(file, weights_only=True)["model"])
        with torch.no_grad():
            found[file.name] = float((net(X).argmax(1) == y).double().mean())
    return found


def measure_time(device: str) -> tuple[Time, Time, dict[str, float]]:
    """Make the files, time reading and ranking, and return torch's training accuracies beside the times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X, y = write_checkpoints(folder)
        return *rank_folder(folder, X, y, device), accuracies(folder, X, y)


def run() -> list[dict]:
    """Return the rows of this benchmark; none without torch."""
    if find_spec("torch") is None:
        return []
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    read, ranked, known = measure_time(device)
    target, ranking = TARGETS[device], ranked.result
    taken = Time(read.cpu + ranked.cpu, read.wall + ranked.wall)
    expected = [known[name] for name in ranking.names]
    return [
        row(
            f"rank {NETS} checkpoints by the default, {IMAGES} images, {device}",
            taken,
            same=same_numbers(ranking.accuracy, expected, "training accuracies and torch's, one net after the other,"),
            target=f"under {target:.0f} s on the clock",
            met=taken.wall < target,
            remark=f"{read.wall:.2g} s to read the files, {ranked.wall:.3g} s to rank; one thread on a CPU",
        )
    ]


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    parts = measure_time(where)
    print(f"{where}: read {parts[0].wall:.2f} s, ranked {parts[1].wall:.2f} s, target {TARGETS[where]:.0f} s")
