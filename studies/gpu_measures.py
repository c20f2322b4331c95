"""Seconds of every measure of generalization for one network on 5,000 images, and whether GPU and CPU agree.

    PYTHONPATH=src python3 studies/gpu_measures.py

Needs numpy and torch alone; the images are noise, since only time is measured. Writes measures_time.csv under $OUT.
"""

from __future__ import annotations

import csv
import dataclasses
import os
import sys
import time
from pathlib import Path

import torch

from unseen.core.errors import UnseenError
from unseen.nets import Copy80, Net, build_measure, known_measures, make_vgg, sample_net

LIMIT = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
IMAGES = int(sys.argv[2]) if len(sys.argv) > 2 else 5000


def moved(net: Net, device: str) -> Net:
    copy = None if net.copy80 is None else Copy80(net.copy80.module.to(device), net.copy80.held_out.to(device))
    initial = None if net.initial is None else {k: v.to(device) for k, v in net.initial.items()}
    return dataclasses.replace(
        net,
        module=net.module.to(device),
        X_train=net.X_train.to(device),
        y_train=net.y_train.to(device),
        initial=initial,
        copy80=copy,
    )


def vgg(device: str) -> Net:
    torch.manual_seed(0)
    X, y = torch.rand(IMAGES, 3, 32, 32), torch.arange(IMAGES) % 10
    module, other = make_vgg((3, 32, 32), 10), make_vgg((3, 32, 32), 10)
    initial = {k: v.clone() for k, v in module.state_dict().items()}
    with torch.no_grad():
        for p in module.parameters():
            p.add_(0.01 * torch.randn(p.shape))
    copy = Copy80(other, torch.arange(IMAGES // 5))
    return moved(Net(module, X, y, initial=initial, hyper={"a": 1}, copy80=copy, epochs=9, train_loss=0.1), device)


def agreement(device: str) -> list[dict]:
    """Values of the tiny sample network on the CPU and on the device."""
    rows = []
    for name in known_measures():
        try:
            cpu = build_measure(name)(sample_net("conv"), draws=3).value
            other = build_measure(name)(moved(sample_net("conv"), device), draws=3).value
        except UnseenError as error:
            print(f"{name:24s} {error}")
            continue
        relative = abs(cpu - other) / max(abs(cpu), 1e-12)
        rows.append({"measure": name, "cpu": cpu, "device": other, "relative": relative})
    return rows


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out, begun = Path(os.environ.get("OUT", ".")), time.time()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(device, torch.__version__, f"{IMAGES} images", flush=True)
    differ = [r for r in agreement(device) if r["relative"] > 1e-3]
    print(
        "CPU and device differ by more than 0.1 %:",
        [(r["measure"], r["cpu"], r["device"]) for r in differ] or "none",
        flush=True,
    )
    net, rows = vgg(device), []
    first = ["weighted-augment", "multi-augment", "par-search"]
    for name in [*first, *(n for n in known_measures() if n not in first)]:
        if time.time() - begun > LIMIT:
            print(f"time is up before {name}")
            break
        try:
            if name in first:
                build_measure(name)(net, draws=1)  # kernels are chosen in the first call
            result = build_measure(name)(net)
        except UnseenError as error:
            print(f"{name:24s} {error}", flush=True)
            continue
        rows.append({"measure": name, "seconds": result.seconds, "draws": result.draws, "value": result.value})
        print(f"{name:24s} {result.seconds:9.4f} s  {result.draws:4d} draws  {result.value:.6g}", flush=True)
    with (out / "measures_time.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["measure", "seconds", "draws", "value"])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
