"""Check that nets trained side by side on a GPU are the nets trained one by one on a CPU, in every way that `fit_many` knows.

`PYTHONPATH=src python3 studies/gpu_check_fit_many.py [--seconds 120] [--only WORD]` (numpy and torch alone). Without a GPU the same cases
compare the batched programs with one-by-one training on the CPU. One line per case and kind of number: what carried the nets, the largest
difference of logits (all rows of X) and buffers, and a verdict. float64 must agree to 1e-8 with the same stopping points; float32 to a share of
the largest logit, over the nets that stopped at the same epoch. Ends with 1 where a case differs or fails.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from gpu_same_numbers import awkward_cnn
from torch import nn
from torch.nn import functional as F

from unseen.nets import fit_many, flips_and_crops, make_lenet5, make_mlp, make_nin, make_vgg
from unseen.nets.training import loop as group_module
from unseen.nets.zoo.grids import early_pooled_nin

THERE = "cuda" if torch.cuda.is_available() else "cpu"
EXACT, LOOSE = 1e-8, 2e-2


def blobs(n: int = 70, seed: int = 0, gap: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of six features in three classes."""
    y = np.arange(n) % 3
    return np.random.default_rng(seed).normal(size=(n, 6)) + gap * np.eye(3, 6)[y], y


def images(n: int = 60, side: int = 14, channels: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return noise with a square whose brightness depends on the class."""
    y = np.arange(n) % 3
    X = np.random.default_rng(0).normal(size=(n, channels, side, side))
    X[:, :, 2:8, 2:8] += y[:, None, None, None]
    return X, y


def norm_mlp(n_features: int, n_classes: int) -> nn.Module:
    """Return a perceptron with batch normalisation."""
    return nn.Sequential(nn.Linear(n_features, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, n_classes))


def norm_cnn(n_features: Any, n_classes: int) -> nn.Module:
    """Return a small convolution net with batch normalisation."""
    return nn.Sequential(
        nn.Conv2d(n_features[0], 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16, n_classes),
    )


def group_norm_cnn(n_features: Any, n_classes: int) -> nn.Module:
    """Return convolutions with group normalisation, with and without weights of its own, and a layer normalisation."""
    return nn.Sequential(
        nn.Conv2d(n_features[0], 6, 3, padding=1),
        nn.GroupNorm(3, 6),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 4, 3),
        nn.GroupNorm(2, 4, affine=False),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 8),
        nn.LayerNorm(8),
        nn.GroupNorm(2, 8),
        nn.Tanh(),
        nn.Linear(8, n_classes),
    )


def deep_norms(n_features: int, n_classes: int, depth: int = 16, shifts: bool = True) -> nn.Module:
    """Return many normalised layers: what a resting net or a padded row leaves behind grows from layer to layer."""
    layers = (part for _ in range(depth) for part in (nn.Linear(6, 6, bias=shifts), nn.BatchNorm1d(6, affine=shifts)))
    return nn.Sequential(*layers, nn.Linear(6, n_classes))


def shared_dropout(n_features: int, n_classes: int) -> nn.Module:
    """Return a net whose one dropout layer stands in two places."""
    twice = nn.Dropout(0.4)
    return nn.Sequential(nn.Linear(n_features, 8), twice, nn.Linear(8, 8), twice, nn.Linear(8, n_classes))


def frozen_mlp(n_features: int, n_classes: int) -> nn.Module:
    """Return a perceptron whose first weights are not to move."""
    net = make_mlp(n_features, n_classes, dropout=0.1)
    net[0].weight.requires_grad_(False)
    return net


def with_softmax(n_features: int, n_classes: int) -> nn.Module:
    """Return a net that gives probabilities."""
    return nn.Sequential(make_mlp(n_features, n_classes), nn.Softmax(dim=1))


class Base(nn.Module):
    """Two dense layers and one that is never used; the cases differ in their forward pass."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__()
        self.hidden, self.out = nn.Linear(n_features, 8), nn.Linear(8, n_classes)
        self.unused, self.drop = nn.Linear(2, 2), nn.Dropout(0.5)
        self.gate = nn.Parameter(torch.ones(n_features))
        self.register_buffer("seen", torch.zeros(8))


class Halving(Base):
    """Differs while training."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.hidden(x))
        return self.out(0.5 * x if self.training else x)


class DroppingTwice(Base):
    """Calls one dropout layer twice."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.drop(torch.relu(self.hidden(self.drop(x)))))


class Gated(Base):
    """Has a parameter outside any layer: only vmap can batch it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.drop(torch.relu(self.hidden(x * self.gate))))


class ZeroHead(Base):
    """Overwrites what it reads again, behind a last layer of zeros."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__(n_features, n_classes)
        nn.init.zeros_(self.out.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.hidden(x)
        return self.out(F.relu(x, inplace=True) + x)


class Shifting(Base):
    """Writes to its input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(torch.relu(self.hidden(x.sub_(1.0))))


class Branching(Base):
    """Looks at its values."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.hidden(x) if float(x.sum()) > -1e9 else self.hidden(-x))


class Skipping(Base):
    """Leaves a layer out in half of the steps, drawn from torch's own generator."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.hidden(x)
        return self.out(x if self.training and torch.rand(1).item() < 0.5 else torch.relu(x))


class Centred(Base):
    """Lets the examples of a batch meet."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.hidden(x)
        return self.out(torch.relu(x - x.mean(0)))


class Remembering(Base):
    """Writes to a buffer."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.hidden(x)
        if self.training:
            self.seen.mul_(0.9).add_(0.1 * x.detach()[0])
        return self.out(torch.relu(x - self.seen))


class Replacing(Base):
    """Puts another tensor in the place of a buffer."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.hidden(x)
        if self.training:
            self.seen = 0.9 * self.seen + 0.1 * x.detach()[0]
        return self.out(torch.relu(x - self.seen))


class Residual(nn.Module):
    """Skips, views and functions."""

    def __init__(self, n_features: Any, n_classes: int) -> None:
        super().__init__()
        self.conv, self.again = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)
        self.out = nn.Linear(3 * 49, n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.conv(x))
        x = F.max_pool2d(x + 0.5 * self.again(x).tanh(), 2)
        return self.out(x.view(x.size(0), -1))


@dataclass
class Case:
    """One training to be repeated on both devices."""

    name: str
    module: Any
    data: tuple[np.ndarray, np.ndarray]
    sets: list[np.ndarray] | None
    options: dict[str, Any]
    loose: float = LOOSE
    around: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext


@contextlib.contextmanager
def dropping_at_once() -> Iterator[None]:
    """Drop stopped nets, and capture a new graph, as soon as half have stopped, whatever that costs."""
    before, group_module.EPOCHS_AHEAD = group_module.EPOCHS_AHEAD, 10**12
    try:
        yield
    finally:
        group_module.EPOCHS_AHEAD = before


ROWS, RAGGED = blobs(), [np.arange(70), np.arange(33), np.arange(5, 50)]
WEIGHTS = np.random.default_rng(3).integers(0, 4, 70).astype(float)
SCALARS = {"lr": [0.02, 0.05, 0.1], "momentum": [0.0, 0.5, 0.9], "weight_decay": [0.0, 0.01, 0.1]}
EARLY = {"lr": [0.3, 0.1, 0.01], "epochs": 25, "stop": "train-loss", "stop_at": 0.6}


def patient(**options: Any) -> dict[str, Any]:
    """Return options under which nets stop at different epochs by their validation loss."""
    return {"stop": "patience", "patience": 3, "epochs": 20, "lr": [0.5, 0.3, 0.02], **options}


def mlp_cases() -> Iterator[Case]:
    """Yield perceptrons under every option of training."""
    dropping = partial(make_mlp, depth=2, width=12, dropout=0.3)
    repeats = [np.random.default_rng(k).integers(0, 70, 70) for k in range(3)]
    named = [np.arange(40 + k, 70) for k in range(3)]
    accurate = {"stop": "train-accuracy", "stop_at": 0.9, "lr": [0.05, 0.02, 0.01], "epochs": 20}
    adam = {"optimizer": "adam", "halve_every": 2, "lr": 0.01, "weight_decay": 0.01, "epochs": 6}
    parts = {"max_together": 2, "eval_batch": 8, "stop": "patience"}
    yield Case("mlp", make_mlp, ROWS, None, {})
    yield Case("mlp, sets of other sizes, scalars per net", dropping, ROWS, RAGGED, SCALARS)
    yield Case("mlp, dropout rate per net", dropping, ROWS, RAGGED, {"dropout": [0.0, 0.2, 0.6]})
    yield Case("mlp, no hidden layer", partial(make_mlp, depth=0), ROWS, RAGGED, {})
    yield Case("mlp, patience", dropping, ROWS, RAGGED, patient(validation=0.2))
    yield Case("mlp, patience, rows drawn with repeats", make_mlp, ROWS, repeats, patient())
    yield Case("mlp, patience, named validation rows", make_mlp, ROWS, [np.arange(40)] * 3, patient(validation=named))
    yield Case("mlp, training accuracy reached", make_mlp, blobs(gap=4.0), RAGGED, accurate)
    yield Case("mlp, stopped nets dropped, graph anew", dropping, ROWS, RAGGED, EARLY, around=dropping_at_once)
    yield Case("mlp, adam, halved every 2 epochs", make_mlp, ROWS, RAGGED, adam)
    yield Case("mlp, sgd, halved every epoch", make_mlp, ROWS, RAGGED, {"halve_every": 1, **SCALARS})
    yield Case("mlp, row weights, some zero", make_mlp, ROWS, RAGGED, {"sample_weight": WEIGHTS})
    yield Case("mlp, row weights, patience", make_mlp, ROWS, RAGGED, patient(sample_weight=WEIGHTS))
    yield Case("mlp, balanced classes", make_mlp, ROWS, RAGGED, {"class_weight": "balanced"})
    yield Case("mlp, two nets at a time, small evaluations", make_mlp, ROWS, RAGGED, parts)
    yield Case("mlp, looked at after every epoch", make_mlp, ROWS, RAGGED, {"after_epoch": lambda epoch, running: None})
    yield Case("mlp, one net diverges", make_mlp, (50 * ROWS[0], ROWS[1]), RAGGED, {"lr": [0.001, 1e30, 0.001]})
    yield Case("frozen weights", frozen_mlp, ROWS, RAGGED, {})
    yield Case("softmax taken off", with_softmax, ROWS, RAGGED, {})


def norm_cases() -> Iterator[Case]:
    """Yield perceptrons with batch normalisation."""
    lonely = [np.arange(65), np.arange(49), np.arange(64)]
    many, unlike = blobs(96), [np.arange(96), np.arange(40), np.arange(70)]
    rests = {"seeds": [1, 2, 3], "epochs": 8, "lr": [0.02, 0.002, 0.01], "stop": "train-loss", "stop_at": 1.05}
    rests |= {"momentum": 0.9, "weight_decay": 0.01}
    unshifted = partial(deep_norms, shifts=False)  # Adam makes whole steps of shifts whose gradients are rounding alone
    twice = [np.arange(64), np.array([3, 3]), np.arange(64)]
    yield Case("batch norm, whole batches", norm_mlp, blobs(64), None, {})
    yield Case("batch norm, padded last batch", norm_mlp, ROWS, RAGGED, {})
    yield Case("batch norm, last batch of one row", norm_mlp, blobs(65), lonely, {})
    yield Case("batch norm, row weights", norm_mlp, ROWS, RAGGED, {"sample_weight": WEIGHTS})
    yield Case("batch norm, some stop early, whole batches", norm_mlp, blobs(64), None, EARLY)
    yield Case("batch norm, some stop early, padded", norm_mlp, ROWS, RAGGED, EARLY)
    yield Case("batch norm, stopped nets dropped", norm_mlp, ROWS, RAGGED, EARLY, around=dropping_at_once)
    yield Case("16 batch norms, nets that rest, sgd", deep_norms, many, unlike, rests, 0.1)
    yield Case("16 batch norms, nets that rest, adam", unshifted, many, unlike, {**rests, "optimizer": "adam"}, 0.1)
    deepest, slow = partial(deep_norms, depth=50), {"lr": 0.002, "epochs": 2}
    yield Case("50 batch norms, a set of one row twice", deepest, blobs(64), twice, slow, 0.2)


def forward_cases() -> Iterator[Case]:
    """Yield forward passes with ways of their own."""
    yield Case("one dropout layer in two places", shared_dropout, ROWS, RAGGED, {})
    yield Case("one dropout layer called twice", DroppingTwice, ROWS, RAGGED, {})
    yield Case("one dropout layer called twice, vmap", DroppingTwice, ROWS, RAGGED, {"strategy": "vmap"})
    yield Case("self.training asked", Halving, ROWS, RAGGED, {"weight_decay": 0.01})
    yield Case("parameter outside a layer (vmap)", Gated, ROWS, RAGGED, {"momentum": 0.9})
    yield Case("last layer of zeros (vmap)", ZeroHead, ROWS, RAGGED, {})
    yield Case("input written to", Shifting, ROWS, RAGGED, {})
    yield Case("values looked at", Branching, ROWS, RAGGED, {})
    yield Case("random numbers of its own", Skipping, ROWS, RAGGED, {})
    yield Case("mean over the batch", Centred, ROWS, RAGGED, {})
    yield Case("buffer written to", Remembering, ROWS, RAGGED, {})
    yield Case("buffer replaced", Replacing, ROWS, RAGGED, {})


def image_cases() -> Iterator[Case]:
    """Yield nets for small images."""
    data, ragged, colour = images(), [np.arange(60), np.arange(45), np.arange(10, 55)], images(side=16, channels=3)
    moving = {"momentum": 0.9, "batch_size": 11}
    slow = {**moving, "lr": 0.01}
    stops = {**EARLY, "epochs": 12, "stop_at": 0.9}
    flat, adam = (data[0].reshape(60, -1), data[1]), {"optimizer": "adam", "lr": 0.002}
    yield Case("lenet-5", make_lenet5, data, ragged, slow)
    yield Case("lenet-5, flat rows, adam", make_lenet5, flat, ragged, adam)
    yield Case("vgg", partial(make_vgg, width=16, dropout=0.2), data, ragged, slow)
    yield Case("network in network", partial(make_nin, width=12, dropout=0.2), data, ragged, slow)
    pooled = partial(early_pooled_nin, blocks=2, width=12, dropout=0.2)
    yield Case("network in network, batch norm, dropout", pooled, data, ragged, slow)
    yield Case("residual", Residual, data, ragged, slow)
    yield Case("every awkward layer", awkward_cnn, data, ragged, slow)
    whole = [np.arange(48), np.arange(12, 60)]
    yield Case("conv batch norm, whole batches", norm_cnn, data, whole, {"batch_size": 12})
    yield Case("conv batch norm, padded last batch", norm_cnn, data, ragged, moving)
    yield Case("conv batch norm, some stop early", norm_cnn, data, ragged, stops)
    yield Case("conv batch norm, stopped nets dropped", norm_cnn, data, ragged, stops, around=dropping_at_once)
    yield Case("conv batch norm, patience", norm_cnn, data, ragged, patient())
    yield Case("group norm, whole batches", group_norm_cnn, data, None, {"batch_size": 12, "momentum": 0.9})
    yield Case("group norm, padded last batch", group_norm_cnn, data, ragged, moving)
    yield Case("group norm, some stop early", group_norm_cnn, data, ragged, stops)
    yield Case("group norm, three channels", group_norm_cnn, colour, ragged, moving)
    flipped = {**moving, "lr": 0.005, "augment": partial(flips_and_crops, shift=2)}
    yield Case("flips and crops, vgg", partial(make_vgg, width=16), colour, ragged, flipped)
    yield Case("flips and crops, batch norm", norm_cnn, data, ragged, {**moving, "augment": flips_and_crops})


def trained(case: Case, device: str, dtype: str, **forced: Any) -> Any:
    """Train the nets of a case on a device."""
    options = {"epochs": 4, "batch_size": 16, "lr": 0.05, "stop": "none", "seeds": range(len(case.sets or [0] * 3))}
    with case.around():
        return fit_many(
            case.module, *case.data, case.sets, **{**options, **case.options, **forced}, device=device, dtype=dtype
        )


def compared(case: Case, dtype: str) -> tuple[str, float, str]:
    """Return how the nets were trained, the largest difference from nets trained one by one on the CPU, and a verdict."""
    there, here = trained(case, THERE, dtype), trained(case, "cpu", dtype, strategy="one-by-one")
    X, held = case.data[0], ~here.failed  # in which epoch a net diverges is a matter of rounding
    same = (there.epochs == here.epochs) & (there.best_epochs == here.best_epochs)
    usable = np.flatnonzero(same & held)
    pairs = [(there.logits(X).cpu(), here.logits(X))]
    pairs += [(there.buffers[k].cpu(), v) for k, v in here.buffers.items() if not k.endswith((".key", ".rate"))]
    gaps = [float((a[usable].double() - b[usable].double()).abs().max()) for a, b in pairs if len(usable)]
    largest = float(np.max(gaps)) if gaps else np.nan  # a NaN stays one, and is no agreement
    size = max([1.0, *(float(b[usable].abs().max()) for _, b in pairs if len(usable))])
    words = [note for note in there.notes if "CUDA graph" in note or "memory" in note]
    if not same[held].all():
        words.append(f"other epochs: {there.epochs.tolist()} / {here.epochs.tolist()}")
    agree = largest <= (EXACT if dtype == "float64" else case.loose * size) and np.array_equal(there.failed, ~held)
    if dtype == "float64":
        agree = agree and bool(same[held].all())
        agree = agree and all(there.reasons[i] == here.reasons[i] for i in np.flatnonzero(held))
    return there.how, largest, "; ".join(["ok" if agree else "DIFFERS", *words])


def line(case: Case, dtype: str) -> tuple[str, str, str]:
    """Return how a case was trained, its verdict and the line that reports it."""
    start = time.perf_counter()
    try:
        how, largest, verdict = compared(case, dtype)
    except Exception as error:  # one case that fails must not hide the others
        how, largest, verdict = "-", np.nan, f"error {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    took = time.perf_counter() - start
    return how, verdict, f"{case.name:44} {dtype} {took:5.1f} s  {largest:8.1e}  {how[:60]:60}  {verdict}"


def main() -> int:
    """Run all cases and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="begin no further case after so long")
    parser.add_argument("--only", default="", help="cases whose name holds this word")
    given = parser.parse_args()
    torch.set_num_threads(1)
    where = f"{torch.cuda.get_device_name()} against its CPU" if THERE == "cuda" else "CPU: batched against one by one"
    print(f"torch {torch.__version__}, {where}", flush=True)
    begun, counts = time.perf_counter(), {"ok": 0, "DIFFERS": 0, "error": 0, "not begun": 0, "with a CUDA graph": 0}
    cases = [c for c in (*mlp_cases(), *norm_cases(), *forward_cases(), *image_cases()) if given.only in c.name]
    for case, dtype in ((c, d) for c in cases for d in ("float64", "float32")):
        if time.perf_counter() - begun > given.seconds:
            counts["not begun"] += 1
            continue
        how, verdict, text = line(case, dtype)
        counts[next(k for k in counts if verdict.startswith(k))] += 1
        counts["with a CUDA graph"] += "CUDA graph" in how
        print(text, flush=True)
    print(", ".join(f"{number} {what}" for what, number in counts.items()), f"in {time.perf_counter() - begun:.0f} s")
    return int(counts["DIFFERS"] + counts["error"] > 0)


if __name__ == "__main__":
    sys.exit(main())
