"""One size of the MNIST experiment on a GPU machine with numpy and torch alone; resumable, rows written as they come.

python3 studies/gpu_ghane_mnist.py --data carry/mnist --size 800 --repeats 200 --out "$OUT"
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np
import torch

from unseen.core.summary import summarize
from unseen.reproduction.ghane_mnist.runs import MnistSetting, read_mnist, run_size

COLUMNS = ("resub", "nb_bolster", "calibrated_r1", "calibrated_r5")


def speed_of_one(data: tuple, device: str) -> float:
    """Return milliseconds of one bolstered estimate with n = 800, M = 100: 80,000 images through one LeNet-5."""
    from unseen.nets import estimate, make_lenet5

    net = make_lenet5().to(device)
    X, y = torch.as_tensor(data[0][:800], device=device), data[1][:800]
    times = []
    for k in range(6):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        estimate(net, X, y, method="naive-bayes-bolster", n_mc=100, device=device, random_state=k)
        times.append(1000 * (time.perf_counter() - start))
    return min(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n-mc", type=int, default=100)
    parser.add_argument("--calibration-mc", type=int, default=100)
    parser.add_argument("--chunk", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--initial", default="glorot")
    parser.add_argument("--name", default="ghane_mnist")
    parser.add_argument("--skip-speed", action="store_true")
    given = parser.parse_args()
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    data = read_mnist(given.data)
    print(f"data read in {time.perf_counter() - start:.1f} s", flush=True)
    if not given.skip_speed:
        print(f"one estimate, 80,000 images: {speed_of_one(data, given.device):.1f} ms", flush=True)
        torch.backends.cudnn.benchmark = True
        print(f"the same with cudnn.benchmark: {speed_of_one(data, given.device):.1f} ms", flush=True)
    setting = replace(
        MnistSetting(),
        n_mc=given.n_mc,
        calibration_mc=given.calibration_mc,
        epochs=given.epochs,
        lr=given.lr,
        initial=given.initial,
    )
    rows = run_size(
        data,
        given.size,
        range(given.repeats),
        setting,
        device=given.device,
        out=out / f"{given.name}.csv",
        say=lambda text: print(text, flush=True),
        chunk=given.chunk,
    )
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    summaries = [summarize(table[name], table["true_error"], name) for name in COLUMNS]
    print(f"n={given.size}: true error {table['true_error'].mean():.4f}, epochs {table['epochs'].mean():.0f}")
    for summary in summaries:
        print(summary)
    print(
        f"kappa r=1 {table['kappa_r1'].mean():.2f}, r=5 {table['kappa_r5'].mean():.2f}; {time.perf_counter() - start:.0f} s"
    )
    (out / f"{given.name}_{given.size}.json").write_text(json.dumps([s.to_dict() for s in summaries], indent=1))


if __name__ == "__main__":
    main()
