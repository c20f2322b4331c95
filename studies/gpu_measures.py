"""Seconds of every measure of generalization for one network on 5,000 images, and whether GPU and CPU agree.

    PYTHONPATH=src python3 studies/gpu_measures.py [--trained] [--seconds 120] [--images 5000] [--profile kv-margin,multi-augment]

Needs numpy and torch alone. The images are noise and the net is hardly trained, since only time is measured; with --trained they show patterns that the net has learned, as the searches of some
measures take longer or shorter then. Every measure is timed twice: with what a first call costs, and again. --profile prints where the time of some measures goes instead. Writes measures_time.csv under $OUT.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import os
import time
from pathlib import Path

import torch

from unseen.core.errors import UnseenError
from unseen.nets import Copy80, Net, build_measure, known_measures, make_vgg, sample_net


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


def vgg(device: str, images: int, trained: bool) -> Net:
    """Return a VGG of 85,138 weights with a copy: trained to fit patterns in noise, or hardly trained on noise."""
    torch.manual_seed(0)
    y = torch.arange(images) % 10
    X = torch.rand(images, 3, 32, 32)
    module, other = make_vgg((3, 32, 32), 10), make_vgg((3, 32, 32), 10)
    initial = {k: v.clone() for k, v in module.state_dict().items()}
    held = torch.arange(images // 5)
    if trained:
        X = (0.35 * torch.rand(10, 3, 32, 32)[y] + 0.65 * X).clamp(0, 1)
        fit(module, X, y, device)
        fit(other, X[len(held) :], y[len(held) :], device)
    else:
        with torch.no_grad():
            for p in module.parameters():
                p.add_(0.01 * torch.randn(p.shape))
    copy = Copy80(other, held)
    return moved(Net(module, X, y, initial=initial, hyper={"a": 1}, copy80=copy, epochs=9, train_loss=0.1), device)


def fit(module: torch.nn.Module, X: torch.Tensor, y: torch.Tensor, device: str, epochs: int = 12) -> None:
    """Train a net a few epochs by SGD."""
    module.to(device)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.02, momentum=0.9)
    for _ in range(epochs):
        for rows in torch.randperm(len(X)).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(X[rows].to(device)), y[rows].to(device)).backward()
            optimizer.step()


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


def profile(net: Net, names: list[str]) -> None:
    """Print the kernels and calls that take most of the time of each measure."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiler

    kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])
    key = "self_device_time_total" if torch.cuda.is_available() else "self_cpu_time_total"
    for name in names:
        build_measure(name)(net)
        with profiler(activities=kinds) as seen:
            build_measure(name)(net)
        for order in dict.fromkeys((key, "self_cpu_time_total")):
            print(name, "by", order)
            print(seen.key_averages().table(sort_by=order, row_limit=9, max_name_column_width=60), flush=True)


def seconds_of(name: str, net: Net) -> dict | None:
    """Return the seconds of a measure when it is called first and when it is called again; None if it does not apply."""
    try:
        first = build_measure(name)(net)
        again = build_measure(name)(net)
    except UnseenError as error:
        print(f"{name:24s} {error}", flush=True)
        return None
    print(
        f"{name:24s} {first.seconds:9.4f} s first {again.seconds:9.4f} s again  {first.draws:4d} draws  {first.value:.6g}",
        flush=True,
    )
    return {
        "measure": name,
        "seconds": first.seconds,
        "again": again.seconds,
        "draws": first.draws,
        "value": first.value,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--trained", action="store_true")
    parser.add_argument("--agreement", action="store_true", help="compare with the CPU first")
    parser.add_argument("--profile", default="", help="measures with commas")
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out, begun = Path(os.environ.get("OUT", ".")), time.time()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(device, torch.__version__, f"{given.images} images", flush=True)
    if given.agreement:
        differ = [(r["measure"], r["cpu"], r["device"]) for r in agreement(device) if r["relative"] > 1e-3]
        print("CPU and device differ by more than 0.1%:", differ or "none", flush=True)
    net, rows = vgg(device, given.images, given.trained), []
    print(f"training accuracy {net.training_accuracy():.4f}")
    if given.profile:
        profile(net, given.profile.split(","))
        return
    for name in known_measures():
        if time.time() - begun > given.seconds:
            print(f"time is up before {name}")
            break
        if row := seconds_of(name, net):
            rows.append(row)
    print(
        f"{len(rows)} measures: {sum(r['seconds'] for r in rows):.2f} s first, {sum(r['again'] for r in rows):.2f} s again"
    )
    with (out / f"measures_time{'_trained' if given.trained else ''}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
