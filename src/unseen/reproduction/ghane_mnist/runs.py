"""The repetitions of the MNIST experiment: nets trained side by side, four error estimates of each, written row by row.

Needs numpy and torch alone, so that it runs from the source tree on a bare GPU machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.core.rng import stream, task_seed
from unseen.reproduction.rows import RowFile

__all__ = ["COLUMNS", "ROWS", "MnistSetting", "make_net", "noisy_digits", "read_mnist", "run_size"]

COLUMNS = (
    "n", "repetition", "true_error", "resub", "nb_bolster", "calibrated_r1", "calibrated_r5", "kappa_r1", "kappa_r5",
    "epochs", "best_epoch", "left_out_error", "seconds_resub", "seconds_nb", "seconds_r1", "seconds_r5",
)  # fmt: skip
ROWS = RowFile(columns=COLUMNS, whole=("n", "repetition", "epochs", "best_epoch"), line_end="\r\n")
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class MnistSetting:
    """How the nets are trained and the errors estimated; defaults as published or, if that is silent, as in the remarks."""

    seed: int = 0
    repeats: int = 5
    n_mc: int = 100
    calibration_mc: int = 100
    lr: float = 0.02
    batch_size: int = 32
    epochs: int = 200
    patience: int = 10
    validation: float = 0.1
    nearest: str = "distinct"
    initial: str = "glorot"


def make_net(initial: str) -> Any:
    """Return LeNet-5 with the weights a fresh layer has in Keras ("glorot") or in torch ("torch").

    torch's first weights are so small that, with a patience of 10 epochs, some nets stop before they have learnt anything.
    """
    from torch import nn

    from unseen.nets import make_lenet5

    net = make_lenet5()
    if initial not in ("glorot", "torch"):
        raise InputError(f"initial is {initial!r}; it is 'glorot' or 'torch'.")
    if initial == "glorot":
        for part in net.modules():
            if isinstance(part, (nn.Linear, nn.Conv2d)):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)
    return net


def read_mnist(folder: str | os.PathLike[str]) -> tuple[Any, Any, Any, Any]:
    """Return training and test images in [0, 1] with their labels from a folder of IDX files."""
    from unseen.nets import read_examples

    train = read_examples(folder, part="train", n_classes=10)
    test = read_examples(folder, part="test", n_classes=10)
    return train.X, train.y, test.X, test.y


def subsets(
    y: np.ndarray, n: int, repetition: int, setting: MnistSetting
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the rows of one training set and, as places in it, the rows of each 80/20 split."""
    from unseen.nets.estimates import EstimateOptions, splits_of

    rng = stream(setting.seed, "ghane-mnist", n, repetition)
    while True:
        rows = rng.choice(len(y), n, replace=False)
        if np.bincount(y[rows], minlength=10).min() >= 4:
            break
    return rows, splits_of(y[rows], EstimateOptions(repeats=setting.repeats), rng)


def run_size(
    data: tuple[Any, Any, Any, Any],
    n: int,
    repetitions: range,
    setting: MnistSetting,
    *,
    device: str,
    out: Path | None,
    say: Say,
    chunk: int = 200,
) -> list[dict[str, float]]:
    """Return one row per repetition; rows found in `out` are kept, new ones are added to it as they come."""
    done = {} if out is None else {int(row["repetition"]): row for row in ROWS.read(out, setting) if row["n"] == n}
    missing = [k for k in repetitions if k not in done]
    for start in range(0, len(missing), chunk):
        for row in _train_and_estimate(data, n, missing[start : start + chunk], setting, device, say):
            done[int(row["repetition"])] = row
            if out is not None:
                ROWS.append(out, [row], setting)
    return [done[k] for k in repetitions]


def _train_and_estimate(
    data: tuple[Any, Any, Any, Any], n: int, repetitions: list[int], setting: MnistSetting, device: str, say: Say
) -> Iterator[dict[str, float]]:
    import torch

    from unseen.nets import fit_many
    from unseen.nets.modules import device_of

    where = device_of(device)
    X, y, X_test, y_test = (torch.as_tensor(part, device=where) for part in data)
    samples = [subsets(data[1], n, k, setting) for k in repetitions]
    sets, seeds = [], []
    for k, (rows, splits) in zip(repetitions, samples):
        sets += [rows, *(rows[train] for train, _ in splits)]
        seeds += [task_seed(setting.seed, "ghane-mnist", n, k, part) for part in range(1 + setting.repeats)]
    start = time.perf_counter()
    fits = fit_many(
        partial(make_net, setting.initial),
        X,
        y,
        sets,
        seeds=seeds,
        epochs=setting.epochs,
        batch_size=setting.batch_size,
        lr=setting.lr,
        patience=setting.patience,
        validation=setting.validation,
        stop="patience",
        device=where,
    )
    per_net = (time.perf_counter() - start) / len(sets)
    torch.backends.cudnn.benchmark = True  # a few batch sizes come again and again
    say(f"n={n}: {len(sets)} nets trained in {per_net * len(sets):.0f} s")
    width = 1 + setting.repeats
    for k, (repetition, (rows, splits)) in enumerate(zip(repetitions, samples)):
        modules = [fits.module(k * width + j).to(where) for j in range(width)]
        mine = torch.as_tensor(rows, device=where)
        row = estimates_of(
            modules, X[mine], y[mine], (X_test, y_test), splits, setting, task_seed(setting.seed, "mc", n, repetition)
        )
        row["seconds_r1"] += per_net
        row["seconds_r5"] += per_net * setting.repeats
        best = getattr(fits, "best_epochs", fits.epochs)
        yield {
            "n": n,
            "repetition": repetition,
            "epochs": int(fits.epochs[k * width]),
            "best_epoch": int(best[k * width]),
            **row,
        }
        if (k + 1) % 20 == 0:
            say(f"n={n}: {k + 1} of {len(repetitions)} estimated, {time.perf_counter() - start:.0f} s")


def estimates_of(
    modules: list[Any], X: Any, y: Any, test: tuple[Any, Any], splits: list[Any], setting: MnistSetting, seed: int
) -> dict[str, float]:
    """Return true error and estimates of the first net; the others are its copies trained on 80%."""
    from dataclasses import replace

    from unseen.nets.estimates import EstimateOptions, KernelPoints, problem_of, search_kappa, trials_of_modules
    from unseen.nets.modules import LogitFunction, eval_mode

    options = EstimateOptions(n_mc=setting.n_mc, repeats=setting.repeats, nearest=setting.nearest)
    view = LogitFunction(raw=modules[0], module=modules[0], device=X.device, dtype=X.dtype)
    clock = time.perf_counter
    times = [clock()]
    problem = problem_of(view, X, y, options)
    resub = float((problem.assigned != problem.codes).double().mean())
    times.append(clock())
    kernels = problem.kernels("diagonal", options)
    points = KernelPoints(setting.n_mc, "plain", task_seed(seed, "points"))

    def bolster(kappa: float) -> float:
        return float(problem.weights @ problem.misclassified_share(replace(kernels, scale=kappa), points).values)

    plain = bolster(1.0)
    times.append(clock())
    trials = trials_of_modules(
        problem, modules[1:], splits, "diagonal", replace(options, n_mc=setting.calibration_mc), seed
    )
    kappa_1 = search_kappa(lambda kappa: trials.deviations(kappa, count=1))[0]
    times.append(clock())
    first = bolster(kappa_1)
    kappa_5 = search_kappa(trials.deviations)[0]
    all_five = bolster(kappa_5)
    times.append(clock())
    with eval_mode(modules[0]):
        truth = float((view.all_logits(test[0]).argmax(1) != test[1]).double().mean())
    spent = np.diff(times)
    return {
        "true_error": truth,
        "resub": resub,
        "nb_bolster": plain,
        "calibrated_r1": first,
        "calibrated_r5": all_five,
        "kappa_r1": kappa_1,
        "kappa_r5": kappa_5,
        "left_out_error": float(trials.errors.mean()),
        "seconds_resub": spent[0],
        "seconds_nb": spent[1],
        "seconds_r1": spent[1] + spent[2],
        "seconds_r5": spent[1] + spent[2] + spent[3],
    }


def noisy_digits(X: np.ndarray, y: np.ndarray, kappas: tuple[float, ...], seed: int) -> np.ndarray:
    """Return one image of each digit with noise of its class's kernel: shape (kappas, 10, 28, 28)."""
    import torch

    from unseen.nets.estimates import diagonal_sizes

    sizes = diagonal_sizes(torch.as_tensor(X).flatten(1), torch.as_tensor(y), 10).numpy()
    first = [int(np.flatnonzero(y == digit)[0]) for digit in range(10)]
    z = np.random.default_rng(seed).standard_normal((10, X[0].size)).astype(np.float32)
    images = X[first].reshape(10, -1)
    return np.stack([images + kappa * sizes * z for kappa in kappas]).reshape(len(kappas), 10, *X.shape[-2:])
