"""Estimates of nets with five copies, judged on networks of the zoos whose test error is known; resumable within a time limit, numpy and torch alone.

    bash studies/gpu_share.sh "PYTHONPATH=src python3 studies/gpu_copies.py --seconds 200 --workers 12"

Reads `carry/<data>.xz` (made by zoo_data.py). Of every zoo some ten cells are taken, every fifth or seventh, so that all hyper-parameters vary. Each network is trained as its zoo was, and
`unseen.nets.estimate` is asked for its error as a user would, with the factory and how the net was trained. Writes copies.csv under $OUT, kept as zoo/copies.csv.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing as mp
import os
import time
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import zoo_data as packs

from unseen import nets
from unseen.core.rng import task_seed
from unseen.nets.estimates import methods
from unseen.nets.zoo.data import ZooData, zoo_data
from unseen.nets.zoo.grids import ZooGrid, zoo_grid

# every how-manieth cell: prime to the lengths of the axes, so that all values occur; the dear zoos last
STRIDES = {
    "letter-noise": 5,
    "mnist-mlp": 5,
    "fashion-mlp": 5,
    "fashion-noise": 5,
    "mnist-noise": 5,
    "cifar-noise": 5,
    "fashion-vgg": 13,
    "cifar-vgg": 13,
    "cifar-nin": 13,
}
POINTS = 25  # of a kernel
COPIES = 5


@cache
def data_of(name: str) -> ZooData:
    """Return the data of a zoo."""
    return zoo_data(packs.read(Path("carry") / f"{name}.xz"))


def how_trained(grid: ZooGrid, cell: dict[str, Any], epochs: int | None) -> dict[str, Any]:
    """Return the options with which the zoo trained a network of a cell."""
    return {
        "epochs": epochs or grid.epochs,
        "batch_size": cell.get("batch_size", grid.batch_size),
        "lr": grid.lr_of(cell),
        "momentum": grid.momentum,
        "weight_decay": cell.get("weight_decay", 0.0),
        "dropout": cell["dropout"] if grid.has_dropout else None,
        "stop": "train-loss",
        "stop_at": grid.stop_loss,
        "augment": grid.augment if cell.get("augment", True) else None,
        "halve_every": grid.halve_every,
    }


def share_wrong(module: torch.nn.Module, X: torch.Tensor, y: torch.Tensor) -> float:
    """Return the share of rows that a net gets wrong."""
    with torch.no_grad():
        return float(
            torch.cat([module(a).argmax(1) != b for a, b in zip(X.split(2000), y.split(2000))]).double().mean()
        )


def judge(job: tuple[str, int], device: str, epochs: int | None, rows: int | None) -> dict[str, Any]:
    """Train a network, estimate its error with copies, and return both with what the estimate rests on."""
    (zoo, number), begun = job, time.time()
    grid, data = zoo_grid(zoo), data_of(zoo_grid(zoo).data)
    cell = grid.cells()[number]
    there, training, seed = data.of_cell(cell).to(device), how_trained(grid, cell, epochs), task_seed(0, zoo, number)
    X, y = there.X_train[:rows], there.y_train[:rows]
    shape = tuple(X.shape[1:])
    make = partial(grid.maker(cell), shape[0] if len(shape) == 1 else shape, data.n_classes)
    fits = nets.fit_many(make, X, y, None, seeds=[seed], device=device, n_classes=data.n_classes, **training)
    module = fits.module(0).to(device).eval()
    seen: list[Any] = []

    def keep(*arguments: Any) -> Any:
        seen.append(train_trials(*arguments))
        return seen[-1]

    train_trials = methods.train_trials
    with patch.object(methods, "train_trials", keep):
        e = nets.estimate(
            module,
            X,
            y,
            method="calibrated-bolster",
            bidirectional=True,  # as the default does
            factory=make,
            training=training,
            repeats=COPIES,
            n_mc=POINTS,
            device=device,
            classes=np.arange(data.n_classes),
            random_state=seed,
        )
    (trials,) = seen
    wrong, noise = share_wrong(module, there.X_test, there.y_test), float(cell.get("label_noise", 0.0))
    return {
        "zoo": zoo,
        "cell": number,
        "rows": len(X),
        "label_noise": noise,
        "train_error": share_wrong(module, X, y),
        # on labels as noisy as those of the training rows
        "test_error": wrong + noise * (1 - wrong - wrong / (data.n_classes - 1)),
        "estimate": e.value,
        "calibration_error": e.calibration_error,
        "kappa": e.kappa,
        "uncalibrated": e.uncalibrated,
        "low": e.interval.low,
        "high": e.interval.high,
        "copies_error": float(np.mean([own.mean() for own in trials.wrong()])),
        "first_copy_error": float(trials.wrong()[0].mean()),
        "different_rows": len(np.unique(np.concatenate(trials.left_out))),
        "rows_left_out": len(trials.left_out[0]),
        "temperature": e.temperature.value,
        "notes": " ".join(n.code for n in e.notes),
        "seconds": round(time.time() - begun, 2),
    }


def safely(job: tuple[str, int], **options: Any) -> tuple[tuple[str, int], dict[str, Any] | str]:
    """Return the row of a job, or what went wrong: one failure must not hide the others."""
    torch.set_num_threads(1)
    try:
        return job, judge(job, **options)
    except Exception as error:
        return job, repr(error)


def jobs_of(zoos: list[str], most: int | None) -> list[tuple[str, int]]:
    """Return zoo and cell of every network, zoo by zoo."""
    cells = {zoo: list(range(0, zoo_grid(zoo).n, STRIDES[zoo]))[:most] for zoo in zoos}
    return [(zoo, cell) for zoo in zoos for cell in cells[zoo]]


def main() -> None:
    """Judge networks until the time is over; rows are written as they come."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--zoos", default=",".join(STRIDES))
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--most", type=int, help="networks of a zoo")
    parser.add_argument("--epochs", type=int, help="for a trial")
    parser.add_argument("--rows", type=int, help="for a trial")
    given = parser.parse_args()
    begun, target = time.time(), Path(os.environ.get("OUT", ".")) / "copies.csv"
    jobs = jobs_of(given.zoos.split(","), given.most)
    work = partial(safely, device=given.device, epochs=given.epochs, rows=given.rows)
    rows: list[dict[str, Any]] = []
    with mp.get_context("spawn").Pool(given.workers) as pool:
        found = pool.imap_unordered(work, jobs)
        while len(rows) < len(jobs):
            try:
                job, row = found.next(timeout=max(0.1, begun + given.seconds - time.time()))
            except mp.TimeoutError:
                print("the time is over", flush=True)
                break
            except StopIteration:
                break
            if isinstance(row, str):
                print(job, row, flush=True)
                continue
            rows.append(row)
            print(
                f"{time.time() - begun:6.1f} s",
                {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()},
                flush=True,
            )
            with target.open("w", newline="") as file:
                writer = csv.DictWriter(file, list(row))
                writer.writeheader()
                writer.writerows(sorted(rows, key=lambda r: jobs.index((r["zoo"], r["cell"]))))
        pool.terminate()
    print(f"{len(rows)} of {len(jobs)} networks in {time.time() - begun:.0f} s")


if __name__ == "__main__":
    main()
