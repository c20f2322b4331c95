"""Many nets at once on a GPU: correctness against a float64 CPU run, then time per net and step, beside the card's ceilings.

`PYTHONPATH=src python3 studies/gpu_fit_many.py` (numpy and torch alone). `--tiny` runs the same code in seconds on a CPU. Results go to the
folder OUT: `gpu_fit_many.csv`.
"""

from __future__ import annotations

import csv
import os
import sys
import time
import traceback
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from unseen.nets import fit_many, make_lenet5, make_nin, make_vgg
from unseen.nets.modules.device import exact_float32
from unseen.nets.training.dropout import dropouts_of, with_seeded_dropout
from unseen.nets.training.executors import Executor, Grouped, Vmapped
from unseen.nets.training.index_sets import make_sets
from unseen.nets.training.initial_weights import fresh_nets, stacked_state
from unseen.nets.training.loop import NetGroup, TrainingJob
from unseen.nets.training.settings import TrainingSettings

TINY = "--tiny" in sys.argv
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS: list[dict[str, object]] = []
FAILURES: list[str] = []


class Streamed(Executor):
    """A batched program run net by net on several CUDA streams at once: for nets too large to share a kernel."""

    how = "net by net on parallel streams"

    def __init__(self, inner: Grouped, streams: int = 8) -> None:
        self.inner = inner
        self.streams = [torch.cuda.Stream() for _ in range(streams)]

    def __call__(self, params, buffers, x, *, train, shared=False, valid=None):
        """Fork the current stream, run each net on its own branch, join."""
        main = torch.cuda.current_stream()
        each = {k: v.unbind(0) for k, v in params.items()}
        rows = None if shared else x.unbind(0)
        nets = next(iter(params.values())).shape[0]
        outs: list[torch.Tensor] = []
        used = self.streams[:nets]
        for stream in used:
            stream.wait_stream(main)
        for s in range(nets):
            with torch.cuda.stream(used[s % len(used)]):
                state = {k: v[s][None] for k, v in each.items()}, {k: v[s : s + 1] for k, v in buffers.items()}
                seen = None if valid is None else valid[s : s + 1]
                batch = x if rows is None else rows[s][None]
                outs.append(self.inner(*state, batch, train=train, shared=shared, valid=seen))
        for stream in used:
            main.wait_stream(stream)
        return torch.cat(outs)


def report(part: str, what: str, value: float, unit: str, note: str = "") -> None:
    ROWS.append({"part": part, "what": what, "value": f"{value:.6g}", "unit": unit, "note": note})
    print(f"{part:12} {what:58} {value:12.5g} {unit:14} {note}", flush=True)


def wait() -> None:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def awkward_net() -> nn.Sequential:
    """Every layer kind that needs care: batch normalisation, both kinds of dropout, pooling, dense layers."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 5, padding=2),
        nn.BatchNorm2d(4),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Dropout2d(0.1),
        nn.Conv2d(4, 8, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 25, 24),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(24, 3),
    )


def check_correct() -> None:
    """Compare logits after training on the device with one-by-one training on the CPU in float64."""
    rng = np.random.default_rng(time.time_ns() % 2**32)
    y = np.arange(240) % 3
    X = rng.normal(size=(240, 1, 24, 24))
    X[:, 0, 4:10, 4:10] += y[:, None, None]
    sets = [rng.permutation(240)[: 90 + 9 * k] for k in range(6)]
    options = {
        "seeds": range(6),
        "epochs": 4,
        "batch_size": 16,
        "lr": [0.02, 0.05] * 3,
        "momentum": 0.5,
        "weight_decay": 1e-3,
    }
    truth = fit_many(awkward_net, X, y, sets, device="cpu", dtype="float64", strategy="one-by-one", **options).logits(X)
    for dtype in ("float64", "float32"):
        for strategy in ("grouped",) if dtype == "float64" else ("grouped", "one-by-one"):
            fits = fit_many(awkward_net, X, y, sets, device=DEVICE, dtype=dtype, strategy=strategy, **options)
            got = fits.logits(X).double().cpu()
            error = float((got - truth).norm() / truth.norm())
            report(
                "correct",
                f"{dtype}, {fits.how[:40]}",
                error,
                "rel. error",
                "4 epochs, ragged sets, dropout, batch norm",
            )
            if not error < (1e-9 if dtype == "float64" else 5e-3):
                FAILURES.append(f"{dtype}, {strategy}: relative error {error:.3g}")
    long = fit_many(awkward_net, X, y, sets, device=DEVICE, **{**options, "epochs": 60, "patience": 4})
    report(
        "correct", f"auto: {long.how}", float(np.mean(long.epochs)), "mean epochs", "patience 4, compaction on the way"
    )


def job_for(make, shape, nets, n, batch, program_kind, graph, tf32_rows=None):
    """Return a training job and its first group: `nets` nets, each with n rows of its own."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(min(nets * n, 20_000), *shape, generator=generator).to(DEVICE)
    y = torch.randint(0, 10, (len(X),), generator=generator).to(DEVICE)
    rows = [np.arange(k * n, (k + 1) * n) % len(X) for k in range(nets)]
    net = with_seeded_dropout(fresh_nets(make, [0])[0])
    few = [with_seeded_dropout(m) for m in fresh_nets(make, range(min(nets, 4)))]
    params, buffers = stacked_state([few[k % len(few)] for k in range(nets)], DEVICE, torch.float32)
    settings = TrainingSettings(
        epochs=1,
        batch_size=batch,
        lr=(0.02,) * nets,
        momentum=(0.9,) * nets,
        weight_decay=(0.0,) * nets,
        dropout=None,
        patience=10,
        stop="none",
        stop_at=None,
        optimizer="sgd",
        halve_every=None,
        augment=None,
        strategy="auto",
        eval_batch=None,
    )
    executor = program_kind(net.to(DEVICE))
    job = TrainingJob(
        executor=executor,
        X=X,
        y=y,
        sets=make_sets(rows, list(range(nets)), 0),
        seeds=list(range(nets)),
        weights=None,
        settings=settings,
        trainable=tuple(params),
        dropouts=tuple(f"{path}.key" for path, _ in dropouts_of(net)),
        normalised=False,
        eval_batch=4096,
        graph=graph,
    )
    for path, layer in dropouts_of(net):
        buffers[f"{path}.rate"] = torch.full((nets,), float(layer.rate), dtype=torch.float64, device=DEVICE)
    return NetGroup(job, list(range(nets)), params, buffers)


def us_per_step(group: NetGroup, nets: int, budget: float = 2.0) -> float:
    """Return microseconds per net and step, the median of single steps, each waited for, after a warm-up."""
    group.prepare(0)
    for _ in range(2):
        group.cursor.zero_()
        group.run_batch(0)
    wait()
    start = time.perf_counter()
    times: list[float] = []
    while len(times) < 5 or (time.perf_counter() - start < budget and len(times) < 200):
        group.cursor.zero_()
        wait()
        before = time.perf_counter()
        group.run_batch(0)
        wait()
        times.append(time.perf_counter() - before)
    return float(np.median(times)) * 1e6 / nets


def eager_one(make, shape, batch: int) -> float:
    """Return microseconds per step of one net in plain torch: index, forward, backward, torch.optim.SGD."""
    net = make().to(DEVICE).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    X, y = torch.rand(4096, *shape, device=DEVICE), torch.randint(0, 10, (4096,), device=DEVICE)
    order = torch.randperm(4096, device=DEVICE)

    def steps(count: int) -> float:
        wait()
        start = time.perf_counter()
        for k in range(count):
            rows = order[(k * batch) % 2048 : (k * batch) % 2048 + batch]
            optimizer.zero_grad()
            F.cross_entropy(net(X[rows]), y[rows]).backward()
            optimizer.step()
        wait()
        return (time.perf_counter() - start) / count * 1e6

    steps(3 if TINY else 30)
    return float(np.median([steps(2 if TINY else 40) for _ in range(3 if TINY else 7)]))


FORMS = {
    "vmap, eager": (Vmapped, False, False),
    "grouped convolution, eager": (Grouped, False, False),
    "vmap, CUDA graph": (Vmapped, True, False),
    "grouped convolution, CUDA graph": (Grouped, True, False),
    "convolution net by net, CUDA graph": (partial(Grouped, convolution="looped"), True, False),
    "grouped convolution, CUDA graph, TF32": (Grouped, True, True),
    "convolution net by net, CUDA graph, TF32": (partial(Grouped, convolution="looped"), True, True),
    "parallel streams, CUDA graph": (lambda net: Streamed(Grouped(net, "looped")), True, False),
}


def time_forms(label, make, shape, nets, batch, names, flops, budget=1.5) -> None:
    """Time one-at-a-time torch and the named forms; `flops` are per net and step."""
    with exact_float32(False):
        eager = eager_one(make, shape, batch)
    report(label, "one net at a time, eager torch", eager, "us/net/step", f"{flops / eager / 1e6:.2f} TFLOP/s")
    for name in names:
        kind, graph, tf32 = FORMS[name]
        if DEVICE.type != "cuda" and (graph or "streams" in name):
            graph, kind = False, Grouped if "streams" in name else kind
        try:
            with exact_float32(tf32):
                group = job_for(make, shape, nets, 2 * batch, batch, kind, graph)
                us = us_per_step(group, nets, budget)
            report(
                label, f"{nets} nets, {name}", us, "us/net/step", f"{eager / us:.1f} x, {flops / us / 1e6:.2f} TFLOP/s"
            )
            del group
        except Exception as error:  # one form that fails must not cost the others' numbers
            report(
                label, f"{nets} nets, {name}", float("nan"), "us/net/step", f"{type(error).__name__}: {str(error)[:90]}"
            )
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()


def flops_of(make, shape, batch: int) -> float:
    """Return floating-point operations of one step: forward, and twice that backward, convolutions and products only."""
    total = [0.0]

    def count(layer: nn.Module, _: object, out: torch.Tensor) -> None:
        per = layer.weight[0].numel()
        total[0] += 2.0 * per * out.numel()

    net = make()
    for layer in net.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            layer.register_forward_hook(count)
    net(torch.zeros(batch, *shape))
    return 3 * total[0]


def median_seconds(function, *args, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        function(*args)
        wait()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def ceilings() -> None:
    """Measure what the card can do at best: a large copy and large products."""
    size, repeats = (256, 3) if TINY else (8192, 10)
    big = torch.rand(2**20 if TINY else 2**30, device=DEVICE)
    seconds = median_seconds(torch.empty_like(big).copy_, big, repeats=repeats)
    report("ceiling", "copy, bytes read and written", 8 * big.numel() / seconds / 1e12, "TB/s")
    del big
    for name, dtype in (("float32", torch.float32), ("tf32", torch.float32), ("bfloat16", torch.bfloat16)):
        a, b = (torch.randn(size, size, device=DEVICE, dtype=dtype) for _ in range(2))
        with exact_float32(name == "tf32"):
            torch.matmul(a, b)
            seconds = median_seconds(torch.matmul, a, b, repeats=repeats)
        report("ceiling", f"matrix product, {name}", 2 * size**3 / seconds / 1e12, "TFLOP/s")


def end_to_end() -> None:
    """Time a whole call: making, training with early stopping, and logits."""
    nets, n = (3, 64) if TINY else (200, 400)
    generator = np.random.default_rng(0)
    y = np.arange(4000) % 10
    X = (generator.random((4000, 1, 28, 28)) + 0.3 * np.eye(28)[y][:, None, None, :]).astype(np.float32)
    sets = [generator.permutation(4000)[:n] for _ in range(nets)]
    start = time.perf_counter()
    fits = fit_many(make_lenet5, X, y, sets, seeds=0, epochs=2 if TINY else 30, device=DEVICE)
    trained = time.perf_counter() - start
    error = float((fits.logits(X).argmax(2).cpu().numpy() != y).mean())
    wait()
    report(
        "whole call",
        f"{nets} LeNet-5, n = {n}, to {int(fits.epochs.max())} epochs",
        trained,
        "s",
        f"{fits.how}; error {error:.3f}",
    )
    report("whole call", f"logits of {nets} x 4000 images", time.perf_counter() - start - trained, "s")
    report(
        "whole call",
        "the same per net and step",
        trained * 1e6 / (fits.epochs.sum() * -(-n * 0.9 // 32)),
        "us/net/step",
    )


def main() -> None:
    start = time.perf_counter()
    name = torch.cuda.get_device_name() if DEVICE.type == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}, numpy {np.__version__}", flush=True)
    jobs = [ceilings, check_correct, end_to_end]
    lenet, vgg = make_lenet5, partial(make_vgg, blocks=3, width=64, dense=2, dropout=0.5)
    nets, few = (4, 2) if TINY else (200, 16)
    every = list(FORMS)
    jobs.append(
        lambda: time_forms(
            "lenet b32",
            lenet,
            (1, 28, 28),
            nets,
            32,
            [n for n in every if "streams" not in n and "by net" not in n],
            flops_of(lenet, (1, 28, 28), 32),
        )
    )
    if not TINY:
        jobs.append(
            lambda: time_forms(
                "lenet b32",
                lenet,
                (1, 28, 28),
                1000,
                32,
                ["grouped convolution, CUDA graph"],
                flops_of(lenet, (1, 28, 28), 32),
            )
        )
    graphs = [n for n in every if "graph" in n]
    for batch in (8,) if TINY else (64, 512):
        jobs.append(
            lambda b=batch: time_forms(f"vgg b{b}", vgg, (3, 32, 32), few, b, graphs, flops_of(vgg, (3, 32, 32), b))
        )
    nin = partial(make_nin, blocks=3, width=128)
    if not TINY:
        jobs.append(
            lambda: time_forms(
                "nin b64",
                nin,
                (3, 32, 32),
                16,
                64,
                [n for n in graphs if "TF32" not in n],
                flops_of(nin, (3, 32, 32), 64),
            )
        )
    for job in jobs:
        try:
            job()
        except Exception as error:  # a part that fails must not cost the others' numbers
            traceback.print_exc()
            FAILURES.append(f"{type(error).__name__}: {str(error)[:200]}")
    report("all", "seconds of this script", time.perf_counter() - start, "s", name)
    folder = Path(os.environ.get("OUT", "."))
    with (folder / "gpu_fit_many.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    if FAILURES:
        sys.exit("failed: " + "; ".join(FAILURES))


if __name__ == "__main__":
    main()
